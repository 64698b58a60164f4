"""Paths as the assistants store them."""

import codecs
import re

SCRATCH = r"(?:^|[/\\])cn-review-\d+-\d+$"
"""Temporary worktree of `cn review` (extensions/cli/src/commands/review/worktree.ts)."""

_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_DRIVE = re.compile(r"/[A-Za-z]:(?:/|$)")


def _keep_escape(error: UnicodeError) -> tuple[str, int]:
    """Write bytes that are not UTF-8 as the escapes they were."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(f"%{byte:02X}" for byte in error.object[error.start : error.end]), error.end


codecs.register_error("homelake.keep_escape", _keep_escape)


def _unescape(match: re.Match[str]) -> str:
    decoded = bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "homelake.keep_escape")
    return decoded.replace("\0", "%00")


def project_path(stored: str | None) -> str | None:
    """Path of a stored workspace directory: a `file://` URI decoded, anything else as stored, null for `''`.

    `file:///c%3A/x` is `c:/x`, `file://host/x` is `//host/x`; an escape that is not UTF-8 is kept.
    """
    if not stored:
        return None
    if not stored.startswith("file://"):
        return stored
    path = _ESCAPES.sub(_unescape, stored.removeprefix("file://"))
    if not path.startswith("/"):
        return f"//{path}" if path else None
    return path[1:] if _DRIVE.match(path) else path
