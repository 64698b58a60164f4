"""Looking behind damage of a JSON document for where it can be read on, within a budget."""

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile

from parsers._json import Json, parse, reason_of, skip_space, skip_value
from parsers._text import WHITE

Whole = Callable[[Json], bool]

_RESCAN = 20
"""Looking for whole objects behind damage reads at most this many times the document's size,"""

_LEAST_LOOK = 1 << 20
"""and in a small one at most so many characters: what a refused object took is not always known."""

_STEP, _DEEP = 256, 1 << 16
"""What a member that is looked at counts for at least, and a value that nests too deep, which takes long to refuse."""

_MOST_UNCLOSED = 5
"""Values that nest too deep are followed to their ends, until so many have none."""

_OPENING = re.compile(r'\{[ \t\r\n]*"')
"""The beginning of an object with members; in a text, such as code, no bare quote follows a brace."""

_OPENED = re.compile(r'\{\r?\n( +)"')
_CLOSED = re.compile(r"\n( *)\}\Z")
"""The lines of an object that the programs lay out: every level stands two spaces further in."""

_MOST_SPACE = 64
"""White space that is looked behind for what stands before an object or a key."""

_OWN_LEVEL = 4
"""Spaces before what is as deep as an element; no member of the document stands further in."""

_NEXT = re.compile(r"\s*,\s*(?=\{)")
_ARRAY_OF = re.compile(r'"([^"\\]*)"\s*:\s*\[\s*\Z')

_INNER_END = re.compile(r'\s*(?:\}|,\s*"|\]\s*(?:,\s*"(?P<key>[^"]*)|\}\s*[,}\]]|\]))')
"""What stands behind an object inside another one, and `key` behind the end of an array that may be the document's."""


@dataclass(slots=True)
class Walk:
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
    unclosed: int = 0
    """How many values that nest too deep have no end."""

    def skip_deep(self, start: int) -> int | None:
        """Return the position behind a value that nests too deep; null where it never closes."""
        end = skip_value(self.text, start) if self.unclosed < _MOST_UNCLOSED else None
        self.unclosed += end is None
        return end

    def find_whole(self, start: int, end: int) -> int | None:
        """Return where the next whole object begins in text[start:end]."""
        while self.budget > 0 and (match := _OPENING.search(self.text, start, end)):
            position, start = match.start(), match.start() + 1
            try:
                value, behind = parse(self.text, position)
                self.budget -= behind - position
                if behind <= end and self.whole(value):
                    is_deep = self._is_deep(position, behind)
                    start = self._last_behind(behind) if is_deep is None else behind
                    if not (self._is_inside(position, behind, start) if is_deep is None else is_deep):
                        return position
            except (ValueError, RecursionError) as error:
                self._charge(error, position)
        return None

    def _charge(self, error: ValueError | RecursionError, position: int) -> None:
        """Take from the budget what the refusal of a value at a position took."""
        if isinstance(error, json.JSONDecodeError):
            # The refusal itself counts the lines before its position, at about 64 characters a step.
            self.budget -= max(error.pos - position, 64) + error.pos // 64
        else:
            self.budget -= _DEEP if isinstance(error, RecursionError) else 4096

    def _last_behind(self, end: int) -> int:
        """Return the end of the last of the objects that follow in the array of the one that ends at `end`."""
        while self.budget > 0 and (match := _NEXT.match(self.text, end)):
            try:
                _, behind = parse(self.text, match.end())
            except (ValueError, RecursionError) as error:
                self._charge(error, match.end())
                break
            self.budget -= max(behind - end, _STEP)
            end = behind
        return end

    def _is_inside(self, start: int, end: int, last: int) -> bool:
        """Say whether an object from `start` to `end` is in another one than the document, by what is around it.

        A tool's arguments, or the names of its parameters, can look like an element. `last` is the end of the last of
        the objects that follow in its array.
        """
        before = self._before(start)
        if before.endswith(":") and not _NEXT.match(self.text, end) and not self.text.startswith("]", end):
            return True
        behind = _INNER_END.match(self.text, last)
        if behind is not None:
            return behind["key"] is None or not self._continues(behind.start("key") - 1, behind["key"] in self.keys)
        array = _ARRAY_OF.search(before)
        return array is not None and array[1] not in self.walked and not self.text.startswith("]", last)

    def _is_deep(self, start: int, end: int) -> bool | None:
        """Say whether an object stands further in than an element, by its lines; null where these do not tell."""
        opened = _OPENED.match(self.text, start, end)
        closed = _CLOSED.search(self.text, max(start, self.text.rfind("\n", start, end)), end) if opened else None
        level = _OWN_LEVEL if self.keys else _OWN_LEVEL - 2
        if opened is None or closed is None or len(closed[1]) < level:
            return None
        is_even = len(opened[1]) == len(closed[1]) + 2
        if len(closed[1]) == level:  # one that began further in ends here if damage took its end
            return not is_even
        return True if is_even else None

    def _before(self, start: int) -> str:
        return self.text[max(0, start - _MOST_SPACE) : start].rstrip(WHITE)

    def _is_member_inside(self, lead: int, key: int) -> bool:
        """Say whether the key at `key`, behind what stands at `lead`, is that of an object inside the document."""
        space = self.text[lead:key].rpartition("\n")
        if space[1] and not space[2].strip(" "):
            return len(space[2]) > _OWN_LEVEL
        return self.text.startswith("{", lead) and self._before(lead).endswith((":", "[", ","))

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
        at = bisect_left(self.tail, start)
        return self.tail[at] if at < len(self.tail) else None

    def is_early(self, end: int, *read: Container[str]) -> bool:
        """Say whether the brace before `end` is none of the document's own, of which members of these names were read.

        Its own stands at the beginning of a line where its keys have lines of their own, and behind all its members.
        """
        if skip_space(self.text, end) == len(self.text):
            return False
        line, tail = self.find_line(0), self._tail(end)
        if line is not None and line < end:
            return self.text[end - 2 : end] != "\n}"
        if tail is None:
            return False
        key = self.text[tail + 1 : self.text.index('"', tail + 1)]
        return not any(key in names for names in read)

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

    def opens_document(self, brace: int) -> bool:
        """Say whether one of the document's own keys stands behind a brace."""
        key = skip_space(self.text, brace + 1)
        return re.compile(self._key()).match(self.text, key) is not None and not self._is_member_inside(brace, key)

    def is_array(self, position: int) -> bool:
        """Say whether the key of a walked array, and its bracket, stand at a position."""
        return bool(self.keys) and self._opens(position, len(self.text))

    def _key(self) -> str:
        return _pattern_of(self.keys)

    def _reads_on(self, match: re.Match[str]) -> bool:
        """Say whether the object's own members stand behind a match: an array to be walked, or all up to its end.

        An inner object can have a key of the same name (`usage` of a message), but does not end the document.
        """
        if self._is_member_inside(match.start(), match.end()):
            return False
        return self._continues(match.end(), bool(match[1] in self.walked and match[2]))

    def _continues(self, start: int, is_known: bool) -> bool:
        """Say whether what begins with a key at `start` is the document's members.

        They reach to its end. Of a key that is known they may be damaged, but do not end an object inside another.
        """
        end = self._members_end(start, len(self.text))
        if not self.text.startswith("}", end):
            return is_known
        behind = skip_space(self.text, end + 1)
        return behind == len(self.text) or (is_known and self.text[behind] not in ",]}")

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
                self.budget -= max(end - position, _STEP)
                position = skip_space(text, end + 1) if text.startswith(",", end) else end
                if position == end:
                    break
        except (ValueError, RecursionError) as error:
            self._charge(error, position)
        return position


@lru_cache(maxsize=8)
def _pattern_of(keys: tuple[str, ...]) -> str:
    """The pattern of a key, up to its colon."""
    return rf'"(?:{"|".join(map(re.escape, keys))})"\s*:'


def budget_of(text: str) -> int:
    return max(_RESCAN * len(text), _LEAST_LOOK)
