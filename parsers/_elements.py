"""The elements of an array, of which some may be damaged: one run of garbage is one fault in the place of one."""

import re

from parsers._faults import Element, Fault
from parsers._json import Json, NotJsonError, parse, reason_of, skip_space
from parsers._text import WHITE
from parsers._walk import Walk

MOST_FAULTS, _MOST_FOREIGN = 1000, 100_000
"""With more faults, or elements that are no objects, a document is garbage from there on: one fault to its end."""


def walk_array(walk: Walk, position: int, *, is_open: bool = True) -> tuple[list[Element], int, bool]:
    """Read elements from behind an opening bracket; return them, where reading ended, and whether it was closed.

    Without the bracket (`is_open` false) a closing one before the first whole element is that of something else.
    """
    text = walk.text
    elements: list[Element] = []
    foreign = 0
    while True:
        position = skip_space(text, position)
        if elements and text.startswith(",", position):
            position = skip_space(text, position + 1)
        if position >= len(text):
            return elements, position, False
        if text[position] == "]" and is_open:
            return elements, position + 1, True
        number, start = len(elements) + 1, position
        behind: int | None = None
        is_garbage = walk.faults >= MOST_FAULTS or foreign == _MOST_FOREIGN
        value: Json | Fault
        try:
            if is_garbage:
                raise NotJsonError("too many faults")
            value, position = _parse_element(text, start)
            if walk.is_overgrown(start, position):
                raise NotJsonError("others inside")
        except (ValueError, RecursionError) as error:
            if elements and walk.is_array(start):  # the array has lost its bracket alone
                return elements, start, True
            position, behind = (len(text), None) if is_garbage else _damage_end(walk, start, error)
            if behind == start:
                return elements, behind, True
            value = _run(text, start, position)
        walk.faults += isinstance(value, Fault)
        foreign += not isinstance(value, dict)
        is_open = is_open or walk.whole(value)
        elements.append(Element(number, value, value.text if isinstance(value, Fault) else text[start:position]))
        if behind is not None:
            return elements, behind, True
        if isinstance(value, Fault) and position >= len(text):
            return elements, position, False


def _run(text: str, start: int, end: int) -> Fault:
    """The fault of text[start:end]. A comma behind it is no part of it, unless it is cut there or is commas alone."""
    run = text[start:end].rstrip(WHITE)
    if end < len(text):
        run = run.rstrip(WHITE + ",") or run
    reason = reason_of(run)
    return Fault("json_invalid" if reason in (None, "trailing_data") else reason, run)


def _char(text: str, position: int) -> str:
    return text[position : position + 1]


def _parse_element(text: str, start: int) -> tuple[Json, int]:
    """Parse one element. What is no object, and no element's end behind it, is garbage that happens to parse."""
    value, end = parse(text, start)
    behind = _char(text, skip_space(text, end)) if not isinstance(value, dict) else ""
    if behind not in ("", ",", "]"):
        raise NotJsonError("no element")
    return value, end


def _damage_end(walk: Walk, start: int, error: Exception) -> tuple[int, int | None]:
    """Say where the damage at `start` ends, and where reading goes on behind the array; null where that goes on."""
    text = walk.text
    deep = walk.skip_deep(start) if isinstance(error, RecursionError) else None
    if deep is not None:
        return deep, None
    key = walk.find_key(start, r"\]\s*,") if walk.keys else None
    limit = key.start() if key else len(text)
    whole = walk.find_whole(start + 1, limit)
    if whole is not None:
        return whole, None
    if key:
        return limit, limit + 1
    own = walk.find_line(start)
    own = walk.find_tail(start) if own is None else own
    if own is not None:
        return own, own
    return _closing(text, start, r"\]\s*\}\s*$" if walk.keys else r"\]\s*$")


def _closing(text: str, start: int, pattern: str) -> tuple[int, int | None]:
    """Find the document's own end behind damage; damage that was cut reaches to the end of the file."""
    match = re.compile(pattern).search(text, start)
    if match is None or reason_of(text[start : match.start()]) in ("json_truncated", "zero_filled"):
        return len(text), None
    return match.start(), match.start() + 1
