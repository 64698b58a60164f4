"""Paths as the assistants store them."""

import re

SCRATCH = r"(?:^|[/\\])cn-review-\d+-\d+$"
"""Temporary worktree of `cn review` (extensions/cli/src/commands/review/worktree.ts)."""

_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_DRIVE = re.compile(r"/[A-Za-z]:(?:/|$)")


def _unescape(match: re.Match[str]) -> str:
    """Decode a run of escapes; those of NUL and of bytes that are not UTF-8 stay as they are written."""
    decoded = bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "surrogateescape")
    kept, position = list[str](), 0
    for char in decoded:
        size = 3 * len(char.encode("utf-8", "surrogateescape"))
        stays = char == "\0" or "\ud800" <= char <= "\udfff"
        kept.append(match[0][position : position + size] if stays else char)
        position += size
    return "".join(kept)


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
