"""JSON that a collector wrote, as disks hold it: cut, joined, zero-filled, with something behind it."""

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field

_WHITE = " \t\r\n"
_SPACE = re.compile(f"[{_WHITE}]*")
_DECODER = json.JSONDecoder()
_CUT = re.compile(r"(?:-|t|tr|tru|f|fa|fal|fals|n|nu|nul|\\?u[0-9A-Fa-f]{0,3})\Z")
"""A word or an escape that ends before it is complete."""
_MOST_TRIES = 100
"""With more objects that do not parse, a text is garbage from there on."""


@dataclass(slots=True)
class Values:
    """Values that stand in a text one behind the other.

    `reason` is a name of the closed list where there is something else, which takes `lost` bytes of UTF-8.
    """

    found: list[object] = field(default_factory=list)
    reason: str | None = None
    lost: int = 0


def values(text: str, marks: frozenset[str] = frozenset()) -> Values:
    """Read the values of a text; behind what is none, objects that have the members `marks`, or nothing without any."""
    with suppress(ValueError, RecursionError):
        return Values([_DECODER.decode(text)])
    read, position, tries = Values(), _skip(text, 0), 0
    while position < len(text):
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError) as fault:
            read.reason = read.reason or _reason(text, position, fault, is_first=not read.found)
            value, end, tries = None, _next(text, position) if marks and tries < _MOST_TRIES else len(text), tries + 1
        if read.reason is None or (isinstance(value, dict) and marks <= value.keys()):
            read.found.append(value)
        else:
            read.lost += len(text[position:end].rstrip(_WHITE).encode(errors="surrogateescape"))
        position = _skip(text, end)
    return read


def document(text: str) -> tuple[dict[str, object], str | None]:
    """Read one object: its members, those before any damage, and why it is not one and nothing else."""
    read = values(text)
    reason = read.reason or (None if read.found else "empty_file")
    if read.found and not isinstance(read.found[0], dict):
        return {}, "not_an_object"
    if len(read.found) > 1:
        reason = reason or "trailing_data"
    return _members(text), reason


def _members(text: str) -> dict[str, object]:
    """The whole members of an object, up to damage."""
    found: dict[str, object] = {}
    position, sign = _skip(text, 0), "{"
    try:
        while text[position : position + 1] == sign:
            name, position = _DECODER.raw_decode(text, _skip(text, position + 1))
            position = _skip(text, position)
            if not isinstance(name, str) or text[position : position + 1] != ":":
                break
            value, position = _DECODER.raw_decode(text, _skip(text, position + 1))
            position, sign = _skip(text, position), ","
            if position < len(text):  # else it may be the first digits of a number
                found[name] = value
    except (ValueError, RecursionError):
        return found
    return found


def _reason(text: str, start: int, fault: ValueError | RecursionError, *, is_first: bool) -> str:
    """Why the text at `start` is no JSON."""
    kept = text.rstrip(_WHITE)
    if isinstance(fault, RecursionError):
        return "nesting_too_deep"
    if not isinstance(fault, json.JSONDecodeError):
        return "json_invalid"
    if kept[fault.pos : fault.pos + 1] == "\0":
        return "zero_filled"
    if not is_first and kept[start] != "{":
        return "trailing_data"
    is_cut = fault.pos >= len(kept) or fault.msg.startswith("Unterminated string") or _CUT.match(kept, fault.pos)
    return "json_truncated" if is_cut else "json_invalid"


def _next(text: str, position: int) -> int:
    """Where the next object may begin."""
    found = text.find("{", position + 1)
    return len(text) if found < 0 else found


def _skip(text: str, position: int) -> int:
    """The position of the next character that is not white space."""
    found = _SPACE.match(text, position)
    return found.end() if found else position
