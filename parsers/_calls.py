"""What the arguments of a tool call say: the command, the file, and the text that an edit replaces and writes.

Names of arguments: Continue's `core/tools/definitions` and `extensions/cli/src/tools`, the agent's
`src/core/prompts/tools`. Arguments are an object, or a text that holds one, also once more.
"""

import re
from typing import Any, NamedTuple

import msgspec

from parsers._json import Json, parse, skip_space
from parsers._line_changes import line_changes
from parsers._text import WHITE, Cleaner
from parsers._tool_names import spelled, tool_kind

_COMMANDS = spelled("Bash", "run_terminal_command", "execute_command")
_LAZY_EDITS = spelled("edit_existing_file")
_WRITERS = ("write", "edit")
_READERS = ("read", "search", "list", "fetch", "command", "subagent")
_TEXTS_IN_TEXTS = 3

_LAZY_LONGEST = 200
_LEFT_ALONE = re.compile(
    r"\s*(?:[^\w\s.]{1,5}|rem)\s*(?:\.{3}|…)\s*"
    r"(?:existing code\s*(?:\.{3}|…)?"
    r"|[^.…]*\b(?:existing|unchanged|rest of|remaining|other code)\b[^.…]*(?:\.{3}|…))"
    r"\s*[^\w\s.]{0,5}\s*",
    re.IGNORECASE,
)


class Said(NamedTuple):
    """What a call's arguments say; the columns of `tool_calls` of these names."""

    command: str | None = None
    file_path: str | None = None
    old_text: str | None = None
    new_text: str | None = None
    lines_added: int | None = None
    lines_removed: int | None = None


class _Target(msgspec.Struct, gc=False):
    """Arguments that say what a call works on."""

    command: Any = None
    filepath: Any = None
    file_path: Any = None
    camel_file_path: Any = msgspec.field(default=None, name="filePath")
    camel_dir_path: Any = msgspec.field(default=None, name="dirPath")
    dirpath: Any = None
    path: Any = None


class _Edit(_Target, gc=False):
    """Arguments that also say what it changes."""

    old_string: Any = None
    new_string: Any = None
    edits: Any = None
    content: Any = None
    contents: Any = None
    changes: Any = None


_DECODERS: dict[type[_Target], msgspec.json.Decoder[_Target]] = {
    kind: msgspec.json.Decoder(kind) for kind in (_Target, _Edit)
}
_NOTHING = _Target()
_WRITTEN = (str, msgspec.Raw)


def read_call(name: str | None, stored: tuple[Json, ...], *, is_done: bool, cleaner: Cleaner) -> Said:
    """Read a call of the tool `name` by the first of its `stored` arguments that is an object with any member.

    They are objects, texts or raw JSON; what is no object says nothing. The edit of a call that is not done is not
    told. Texts are cleaned: a NUL or half a surrogate pair may hide in the escapes of a text.
    Raises UnicodeDecodeError for raw JSON with other bytes than UTF-8.
    """
    kind = tool_kind(name)
    arguments, is_odd = _arguments(stored, _Edit if is_done and kind not in _READERS else _Target)
    command = _text(arguments.command, is_odd, cleaner) if name in _COMMANDS else None
    path = _text(_path(arguments), is_odd, cleaner)
    if not isinstance(arguments, _Edit):
        return Said(command, path, None, None, None, None)
    replaced, written = _texts(name, kind, arguments)
    old, new = _text(replaced, is_odd, cleaner), _text(written, is_odd, cleaner)
    return Said(command, path, old, new, *line_changes(old, new))


def _text(value: Json, is_odd: bool, cleaner: Cleaner) -> str | None:
    """Return a text, cleaned where it needs it; null for what is none."""
    if not isinstance(value, str):
        return None
    return cleaner.text(value) if is_odd or "\0" in value else value


def _arguments(stored: tuple[Json, ...], kind: type[_Target]) -> tuple[_Target, bool]:
    """Return the known arguments, and whether their texts may hold what no column takes but NULs."""
    for value in stored:
        if not _is_blank(value):
            found, is_odd = _object(value, kind)
            if found is not None:
                return found, is_odd
    return _NOTHING, False


def _is_blank(value: Json) -> bool:
    """Say whether a value is nothing, or an object without members."""
    if isinstance(value, msgspec.Raw):
        return len(memoryview(value)) <= len("{}")
    return value is None or value in ("", "{}", {})


def _object(value: Json, kind: type[_Target]) -> tuple[_Target | None, bool]:
    """Return an object's known arguments, null for what is none, and whether their texts may hold half pairs.

    msgspec refuses half surrogate pairs, and depths that Python's reader still takes.
    """
    is_odd = False
    for _ in range(_TEXTS_IN_TEXTS):
        if isinstance(value, dict):
            return msgspec.convert(value, kind), True
        if not isinstance(value, _WRITTEN):
            break
        try:
            return _DECODERS[kind].decode(value), is_odd
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            is_odd = True
            value = _value(value)
    return None, is_odd


def _value(value: str | msgspec.Raw) -> Json:
    """Parse a text, null for one that is no JSON."""
    text = value if isinstance(value, str) else bytes(value).decode()
    try:
        parsed, end = parse(text, skip_space(text, 0))
    except (ValueError, RecursionError):
        return None
    return None if text[end:].strip(WHITE) else parsed


def _path(said: _Target) -> Json:
    """Return the path that arguments name, under the first of its names that has one."""
    for path in (said.filepath, said.file_path, said.camel_file_path, said.camel_dir_path, said.dirpath, said.path):
        if path and isinstance(path, str):
            return path
    return None


def _texts(name: str | None, kind: str, said: _Edit) -> tuple[Json, Json]:
    """Return the text that an edit replaces and the one that it writes."""
    if isinstance(said.old_string, str) or isinstance(said.new_string, str):
        return said.old_string, said.new_string
    if isinstance(said.edits, list):
        return _joined(said.edits, "old_string"), _joined(said.edits, "new_string")
    if kind not in _WRITERS:
        return None, None
    written = next((text for text in (said.content, said.contents) if isinstance(text, str)), None)
    if written is None and name in _LAZY_EDITS and isinstance(said.changes, str):
        written = without_left_alone(said.changes)
    return None, written


def _joined(edits: list[Json], side: str) -> str | None:
    """Return one side of several edits, joined by a line feed; null where none has it."""
    found = [edit.get(side) for edit in edits if isinstance(edit, dict)]
    texts = [text for text in found if isinstance(text, str)]
    return "\n".join(texts) if texts else None


def without_left_alone(changes: str) -> str:
    """Leave out the lines that only stand for code left alone: a comment of `... existing code ...` or the like.

    `LAZY_COMMENT_REGEX` of Continue's core/edit/lazy/deterministic.ts takes any words between two ellipses; here they
    must say so.
    """
    if not _is_elliptic(changes):
        return changes
    return "\n".join([line for line in changes.split("\n") if not (_is_elliptic(line) and _is_left_alone(line))])


def _is_elliptic(text: str) -> bool:
    return "..." in text or "…" in text


def _is_left_alone(line: str) -> bool:
    return len(line) <= _LAZY_LONGEST and _LEFT_ALONE.fullmatch(line) is not None
