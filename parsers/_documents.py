"""JSON documents as disks hold them: whole, cut, zero-filled, overwritten.

Nothing readable is lost because something beside it is not: `read_array` and `read_object` walk a document element by
element. Where an element does not parse they look for the next whole object, so that one run of garbage is one fault
and what stands behind it is read.
"""

import json
import re
from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from itertools import takewhile

from parsers._json import Json, NotJsonError, parse, reason_of, skip_space, skip_value
from parsers._text import WHITE

Whole = Callable[[Json], bool]

_RESCAN = 20
"""Looking for whole objects behind damage reads at most this many times the document's size,"""

_LEAST_LOOK = 1 << 20
"""and in a small one at most so many characters: what a refused object took is not always known."""

_MOST_FAULTS, _MOST_FOREIGN = 1000, 100_000
"""With more faults, or elements that are no objects, a document is garbage from there on: one fault to its end."""


_OPENING = re.compile(r'\{[ \t\r\n]*"')
"""The beginning of an object with members; in a text, such as code, no bare quote follows a brace."""

_INNER_END = re.compile(r'\s*(?:\}|,\s*"|\]\s*(?:,\s*"(?P<key>[^"]*)|\}\s*[,}\]]|\]))')
"""What stands behind an object inside another one, and `key` behind the end of an array that may be the document's."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A run of text that is no whole element: a loss."""

    reason: str
    text: str


@dataclass(slots=True)
class Element:
    """One element of an array: its value, or the fault that stands in its place. Positions count both, from 1.

    `raw` is its text in the document.
    """

    position: int
    value: Json | Fault
    raw: str

    @property
    def size(self) -> int:
        """Bytes that it takes in the document."""
        return size_of(self.raw)


def size_of(text: str) -> int:
    """Bytes that a text takes."""
    return len(text.encode(errors="replace"))


@dataclass(slots=True)
class Document:
    """What could be read of a document that should be an object.

    `head` holds the members that are not arrays to be walked, the last of a repeated key; `arrays` the walked ones;
    `cut` the names of walked arrays that end without their bracket; `faults` what was lost beside the elements;
    `trailing` what stands behind the object.
    """

    head: dict[str, Json] = field(default_factory=dict)
    arrays: dict[str, list[Element]] = field(default_factory=dict)
    cut: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    trailing: Fault | None = None


@dataclass(slots=True)
class _Walk:
    """One document being walked; `budget` bounds what looking behind damage may read, in characters."""

    text: str
    whole: Whole
    keys: tuple[str, ...] = ()
    walked: tuple[str, ...] = ()
    budget: int = 0
    found: dict[str, tuple[int, re.Match[str] | None]] = field(default_factory=dict)
    """Where the next of the keys was looked for, and what was found, by what stands before it."""
    tail: list[int] | None = None
    """Where the keys of the object's last members stand, once they were looked for."""
    faults: int = 0
    """How many elements were damaged."""

    def find_whole(self, start: int, end: int) -> int | None:
        """Return where the next whole object begins in text[start:end]."""
        for match in _OPENING.finditer(self.text, start, end):
            position = match.start()
            if self.budget <= 0:
                break
            try:
                value, behind = parse(self.text, position)
                self.budget -= behind - position
                if behind <= end and self.whole(value) and not self._is_inside(behind):
                    return position
            except json.JSONDecodeError as error:
                # The refusal itself counts the lines before its position, at about 64 characters a step.
                self.budget -= max(error.pos - position, 64) + error.pos // 64
            except (RecursionError, ValueError):
                self.budget -= 4096
        return None

    def _is_inside(self, end: int) -> bool:
        """Say whether what stands at `end` goes on an object around the one that ends there.

        A tool's arguments, or the names of its parameters, can look like an element.
        """
        behind = _INNER_END.match(self.text, end)
        if behind is None:
            return False
        key = behind["key"]
        return key is None or not (key in self.keys or self._ends_document(behind.start("key") - 1))

    def find_key(self, start: int, lead: str) -> re.Match[str] | None:
        """Return the next of the known keys behind `lead` from which the object can be read on."""
        names = "|".join(map(re.escape, self.keys))
        return self._find(start, rf'{lead}\s*(?="({names})"\s*:\s*(\[?))', self._reads_on)

    def find_line(self, start: int) -> int | None:
        """Return the next of the known keys that begins a line, one level in as the programs write: the object's own.

        A text between quotes holds no line feed, and what is deeper stands further in.
        """
        match = self._find(start, rf"\n  (?={self._key()})", lambda match: True) if self.keys else None
        return match.end() if match else None

    def _find(self, start: int, pattern: str, is_one: Callable[[re.Match[str]], bool]) -> re.Match[str] | None:
        """Return the next match that is one. What was looked at for one damage is not looked at for the next."""
        since, match = self.found.get(pattern, (len(self.text) + 1, None))
        if start < since or (match is not None and match.start() < start):
            matches = re.compile(pattern).finditer(self.text, start)
            match = next((match for match in matches if is_one(match)), None)
            self.found[pattern] = (start, match)
        return match

    def find_tail(self, start: int) -> int | None:
        """Return the first known key in text[start:] from which all up to the object's end can be read."""
        tail = self._tail(start)
        if tail is None or tail == start or self.budget <= 0:
            return tail
        # A file that was cut behind an inner object ends like one that is whole.
        self.budget -= tail - start
        return None if reason_of(self.text[start:tail]) == "json_truncated" else tail

    def _tail(self, start: int) -> int | None:
        """Return the first known key in text[start:] from which all parses up to the text's end."""
        if self.tail is None:
            keys = [match.start() for match in re.compile(self._key()).finditer(self.text)] if self.keys else []
            self.tail = list(takewhile(self._ends_document, reversed(keys)))[::-1]
        return next((position for position in self.tail if position >= start), None)

    def is_early(self, end: int, read: Container[str]) -> bool:
        """Say whether the brace before `end` is none of the document's own, of which members of these names were read.

        Its own stands at the beginning of a line where its keys have lines of their own, and behind all its members.
        """
        if skip_space(self.text, end) == len(self.text):
            return False
        line, tail = self.find_line(0), self._tail(end)
        if line is not None and line < end:
            return self.text[end - 2 : end] != "\n}"
        return tail is not None and self.text[tail + 1 : self.text.index('"', tail + 1)] not in read

    def find_head(self, start: int, end: int) -> int | None:
        """Return the first known key in text[start:end] from which all up to a walked array's bracket can be read."""
        found = [match.start() for match in re.compile(self._key()).finditer(self.text, start, max(end, 0))]
        if not found or not self._opens(found[-1], end):
            return None
        return next((position for position in found if self._members_end(position, found[-1]) == found[-1]), None)

    def _opens(self, position: int, end: int) -> bool:
        """Say whether the key at a position is that of a walked array which begins before `end`."""
        return any(re.compile(rf'"{re.escape(name)}"\s*:\s*\[').match(self.text, position, end) for name in self.walked)

    def is_overgrown(self, start: int, end: int) -> bool:
        """Say whether an element is the last thing in the text and holds others: damage took its closing brackets."""
        return (
            bool(self.keys)
            and skip_space(self.text, end) == len(self.text)
            and self.find_whole(start + 1, len(self.text)) is not None
        )

    def is_key(self, position: int) -> bool:
        """Say whether one of the known keys stands at a position."""
        return re.compile(self._key()).match(self.text, position) is not None

    def is_array(self, position: int) -> bool:
        """Say whether the key of a walked array, and its bracket, stand at a position."""
        return bool(self.keys) and self._opens(position, len(self.text))

    def _key(self) -> str:
        return rf'"(?:{"|".join(map(re.escape, self.keys))})"\s*:'

    def _reads_on(self, match: re.Match[str]) -> bool:
        """Say whether the object's own members stand behind a match: an array to be walked, or all up to its end.

        An inner object can have a key of the same name (`usage` of a message), but does not end the document.
        """
        return bool(match[1] in self.walked and match[2]) or self._ends_document(match.end())

    def _ends_document(self, start: int) -> bool:
        """Say whether what begins with a key at `start` is the members up to the object's end, which is the text's."""
        end = self._members_end(start, len(self.text))
        return self.text.startswith("}", end) and skip_space(self.text, end + 1) == len(self.text)

    def _members_end(self, start: int, limit: int) -> int:
        """Return where the members that begin at `start` end: at `limit`, at a brace, or where they are damaged."""
        text, position = self.text, start
        try:
            while position < limit and self.budget > 0:
                key, end = parse(text, position)
                end = skip_space(text, end)
                if not isinstance(key, str) or not text.startswith(":", end):
                    break
                _, end = parse(text, skip_space(text, end + 1))
                end = skip_space(text, end)
                self.budget -= end - position
                position = skip_space(text, end + 1) if text.startswith(",", end) else end
                if position == end:
                    break
        except json.JSONDecodeError as error:
            self.budget -= max(error.pos - position, 64) + error.pos // 64
        except (RecursionError, ValueError):
            self.budget -= 4096
        return position


def _budget(text: str) -> int:
    return max(_RESCAN * len(text), _LEAST_LOOK)


def read_array(text: str, whole: Whole) -> tuple[list[Element], list[Fault], bool] | Fault:
    """Read a document that should be an array.

    Returns its elements, the faults beside them and whether it was closed; or the fault of a document of which nothing
    is read. `whole` says of an object found behind damage whether it is an element.
    """
    start = skip_space(text, 0)
    walk = _Walk(text, whole, budget=_budget(text))
    if text.startswith("[", start):
        elements, end, closed = _walk_array(walk, start + 1)
    else:
        reason = _foreign_reason(text)
        if reason is None:
            return Fault("not_an_object", text)
        elements, end, closed = _walk_array(walk, start)
        if not any(whole(element.value) for element in elements):
            return Fault(reason, text)
    rest = text[end:].strip(WHITE) if closed else ""
    return elements, [_trailing(rest)] if rest else [], closed


def _foreign_reason(text: str) -> str | None:
    """Say why a document of the wrong beginning is none; null where it is whole JSON of another type.

    One that begins with a whole value may have lost its first bracket: what stands behind is looked at.
    """
    reason = reason_of(text)
    return "not_an_object" if reason == "trailing_data" else reason


def _trailing(rest: str) -> Fault:
    return Fault("trailing_data" if rest.strip("\0" + WHITE) else "zero_filled", rest)


def _walk_array(walk: _Walk, position: int, *, is_open: bool = True) -> tuple[list[Element], int, bool]:
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
        is_garbage = walk.faults >= _MOST_FAULTS or foreign == _MOST_FOREIGN
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


def _damage_end(walk: _Walk, start: int, error: Exception) -> tuple[int, int | None]:
    """Say where the damage at `start` ends, and where reading goes on behind the array; null where that goes on."""
    text = walk.text
    deep = skip_value(text, start) if isinstance(error, RecursionError) else None
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


def read_object(text: str, walked: tuple[str, ...], known: tuple[str, ...], whole: Whole) -> Document | Fault:
    """Read a document that should be an object, its members `walked` element by element where they are arrays.

    `known` are the keys by which reading is taken up behind damage. Returns the fault of a document of which nothing
    is read.
    """
    start = skip_space(text, 0)
    walk = _Walk(text, whole, (*walked, *known), walked, _budget(text))
    document = Document()
    if text.startswith("{", start):
        end = _read_members(walk, start + 1, document)
        while document.arrays and walk.is_early(end, {*document.head, *document.arrays}):
            end = _read_members(walk, end, document)
        is_known = document.arrays or not document.head.keys().isdisjoint(walk.keys)
        if not is_known and text[end:].strip(WHITE):
            behind = _read_elements(walk, start, document)
            end = behind if document.arrays else end
    else:
        reason = _foreign_reason(text)
        if reason is None:
            return Fault("not_an_object", text)
        end = _read_headless(walk, start, document)
    if not document.head and not document.arrays:
        if reason_of(text) is None:  # an object without members
            return document
        return Fault(document.faults[0].reason if document.faults else _foreign_reason(text) or "json_invalid", text)
    rest = text[end:].strip(WHITE)
    document.trailing = _trailing(rest) if rest else None
    return document


def _read_headless(walk: _Walk, start: int, document: Document) -> int:
    """Read an object whose beginning is damaged: behind what stands in front of it, else from its first element.

    An array holds others: its first one is not the document, nor is one that more stands behind.
    """
    text = walk.text
    brace = -1 if text.startswith("[", start) else text.find("{", start)
    line = walk.find_line(0)
    own = line if line is not None and line < brace else walk.find_head(start, brace)
    if own is None and brace >= 0 and walk.is_key(skip_space(text, brace + 1)):
        own = brace
    if own is not None:
        end = _read_members(walk, own + (own == brace), document)
        if document.arrays or (document.head.keys() & set(walk.keys) and not text[end:].strip(WHITE)):
            document.faults.insert(0, _lead(text[start:own].strip(WHITE + ",")))
            return end
    document.head, document.faults = {}, []
    end = _read_elements(walk, start, document)
    if document.arrays or text.startswith("[", start):
        return end
    own = walk.find_line(start)
    own = walk.find_tail(start) if own is None else own
    if own is None:
        return end
    document.faults.append(_lead(text[start:own].strip(WHITE + ",")))
    return _read_members(walk, own, document)


def _lead(lead: str) -> Fault:
    """The fault of what stands in place of a document's beginning."""
    return Fault((reason_of(lead) if lead else None) or "json_invalid", lead)


def _read_elements(walk: _Walk, start: int, document: Document) -> int:
    """Read an object from an element of its array on, or leave it as it is; return where reading ended.

    What stands in front of the array's bracket is no element.
    """
    is_open = walk.text.startswith("[", start)
    elements, end, closed = _walk_array(walk, start + is_open, is_open=is_open)
    if not any(walk.whole(element.value) for element in elements):
        return start
    document.head, document.faults = {}, []
    first = elements[0].value
    if isinstance(first, Fault) and first.text.endswith("["):
        document.faults.append(first)
        elements = [replace(element, position=element.position - 1) for element in elements[1:]]
    document.arrays[walk.walked[0]] = elements
    if closed:
        return _read_members(walk, end, document)
    document.cut.append(walk.walked[0])
    return end


def _read_members(walk: _Walk, position: int, document: Document) -> int:
    """Read the members of an object from behind its brace into `document`; return where reading ended."""
    text, is_lost = walk.text, False
    while True:
        position = skip_space(text, position)
        if text.startswith(",", position):
            position = skip_space(text, position + 1)
        if text.startswith("}", position):
            return position + 1
        if position >= len(text):
            if not document.cut and not is_lost:
                document.faults.append(Fault("json_truncated", ""))
            return position
        try:
            position, is_lost = _read_member(walk, position, document), False
        except (ValueError, RecursionError):
            arrays = len(document.arrays)
            position = _read_on(walk, position, document)
            is_lost = len(document.arrays) == arrays  # the damage itself reaches to where reading goes on


def _read_on(walk: _Walk, position: int, document: Document) -> int:
    """Take up reading behind a damaged member: at elements, of an array that lost its key or its end, or at a key."""
    text, may_look = walk.text, len(document.faults) < _MOST_FAULTS
    key = walk.find_key(position + 1, "[,{]") if may_look else None
    end = key.start() + 1 if key else len(text)
    line = walk.find_line(position) if may_look else None
    end = end if line is None else min(end, line)
    unread = [name for name in walk.walked if name not in document.arrays and name not in document.head]
    may_look = may_look and bool(unread or document.arrays)
    whole = walk.find_whole(position, end) if may_look else None
    run = text[position : end if whole is None else whole].rstrip(WHITE + ",")
    fault = Fault(_member_reason(run), run)
    if whole is None:
        document.faults.append(fault)
        return end
    elements, end, closed = _walk_array(walk, whole)
    if unread and run.endswith("}"):  # the remains of an element
        elements = _joined([Element(1, fault, run)], elements)
    else:
        document.faults.append(fault)
    name = unread[0] if unread else list(document.arrays)[-1]
    document.arrays[name] = _joined(document.arrays.get(name, []), elements)
    if not closed:
        document.cut.append(name)
    return end


def _joined(earlier: list[Element], later: list[Element]) -> list[Element]:
    count = len(earlier)
    earlier.extend([replace(element, position=element.position + count) for element in later])
    return earlier


def _member_reason(run: str) -> str:
    """Classify a damaged member as what it would be inside an object."""
    reason = reason_of("{" + run) if run else None
    if reason == "json_truncated" and reason_of("{" + run + "}") == "nesting_too_deep":
        return "nesting_too_deep"
    return "json_invalid" if reason in (None, "trailing_data") else reason


def _read_member(walk: _Walk, position: int, document: Document) -> int:
    """Read one `"key": value` into `document`; return the position behind it. Raises as `parse` does."""
    text = walk.text
    key, position = parse(text, position)
    position = skip_space(text, position)
    if not isinstance(key, str) or not text.startswith(":", position):
        raise NotJsonError("no member")
    position = skip_space(text, position + 1)
    if key in walk.walked and text.startswith("[", position):
        elements, position, closed = _walk_array(walk, position + 1)
        document.head.pop(key, None)
        earlier = document.arrays.get(key, [])
        if any(isinstance(element.value, Fault) for element in earlier):
            # No repeated key, of which the last would hold, but one found behind damage.
            elements = _joined(earlier, elements)
        document.arrays[key] = elements
        if not closed:
            document.cut.append(key)
        return position
    value, position = parse(text, position)
    document.arrays.pop(key, None)
    document.head[key] = value
    return position
