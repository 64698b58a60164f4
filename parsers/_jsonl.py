"""Files of JSON objects, one a line, as disks hold them: cut, torn, joined, zero-filled, in other encodings.

A line ends at a line feed alone (U+2028 is text, a carriage return white space); a blank one is no record. `lines`
gives the lines, `split` what a line holds that is not one object and nothing else.
"""

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from parsers._json import Json, parse, reason_of, skip_space, skip_value
from parsers._text import WHITE, Text, decode_utf_8, decode_utf_16

_WHITE_BYTES = WHITE.encode()
_MARK = codecs.BOM_UTF8.decode()

_MOST_TRIES = 1000
"""With more objects that do not parse, a line is garbage from there on."""

_MOST_SPACE = 16
"""White space that is looked behind for what stands before an object."""

_RESCAN = 20
"""Looking for whole objects behind damage reads at most this many times the line's size."""


@dataclass(slots=True)
class Line:
    """A line that is not blank, without white space around it: its number, and its bytes as UTF-8.

    `text` is set where the file is not UTF-8.
    """

    number: int
    raw: bytes
    text: str | None = None

    def decoded(self) -> Text:
        """The line's text, bad bytes marked."""
        return decode_utf_8(self.raw) if self.text is None else Text(self.text)

    def size_of(self, text: str) -> int:
        """Bytes that a part of the line takes in the file."""
        if self.text is None:
            return len(text.encode(errors="surrogateescape"))
        return len(text.encode("utf-16-le", "surrogatepass"))


def lines(data: bytes) -> Iterator[Line]:
    """Yield the lines of a file, byte order marks left out."""
    wide = decode_utf_16(data)
    if wide is not None:
        for number, part in enumerate(wide.split("\n"), 1):
            text = part.strip(WHITE).removeprefix(_MARK).lstrip(WHITE)
            if text:
                yield Line(number, text.encode(errors="surrogatepass"), text)
        return
    start = number = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        raw = data[start:end].strip(_WHITE_BYTES)
        if raw.startswith(codecs.BOM_UTF8):
            raw = raw[len(codecs.BOM_UTF8) :].lstrip(_WHITE_BYTES)
        start, number = end + 1, number + 1
        if raw:
            yield Line(number, raw)


@dataclass(frozen=True, slots=True)
class Shape:
    """What tells a whole record from an inner object of a damaged one.

    `begins` matches the brace and the first key of a record; a record has one of the keys `marks`.
    """

    begins: re.Pattern[str]
    marks: frozenset[str]

    @classmethod
    def of(cls, keys: Iterable[str], marks: Iterable[str]) -> "Shape":
        """Return the shape of records that begin with any of `keys`."""
        names = "|".join(map(re.escape, sorted(keys)))
        return cls(re.compile(rf'\{{[ \t\r]*"(?:{names})"'), frozenset(marks))

    def is_record(self, value: dict[str, Json]) -> bool:
        """Say whether an object is a record of its own."""
        return not self.marks.isdisjoint(value)


@dataclass(frozen=True, slots=True)
class Object:
    """A whole object of a line: its value, its own bytes, and the mark for bytes that were not UTF-8."""

    value: dict[str, Json]
    raw: bytes
    bad: str | None


@dataclass(slots=True)
class Contents:
    """What a line holds: whole objects, and why there is something else (null: there is not), of `lost` bytes."""

    objects: list[Object] = field(default_factory=list)
    reason: str | None = None
    lost: int = 0


def split(line: Line, shape: Shape) -> Contents:
    """Find the whole objects of a line, and what else it holds.

    Where there is damage, an object is a record if `shape` says so; it does not stand inside another one.
    """
    text = line.raw.decode(errors="surrogateescape") if line.text is None else line.text
    walk, contents = _Walk(text, shape, _RESCAN * len(text)), Contents()
    found: list[tuple[int, int, dict[str, Json]]] = []
    position = 0
    while position < len(text):
        value = walk.object_at(position)
        behind = walk.resume if value is not None else walk.next_record()
        if value is not None:
            found.append((position, behind, value))
        else:
            run = text[position:behind]
            contents.reason = contents.reason or _reason(run, is_behind=bool(found))
            contents.lost += line.size_of(run.rstrip(WHITE))
        position = skip_space(text, behind)
    for start, end, value in found:
        if contents.reason is None or shape.is_record(value):
            contents.objects.append(_object(line, text[start:end], value))
        else:
            contents.lost += line.size_of(text[start:end])
    return contents


def _object(line: Line, text: str, value: dict[str, Json]) -> Object:
    """Return an object with its bytes; one with bytes that are not UTF-8 is parsed anew, with their mark."""
    if line.text is not None:
        return Object(value, text.encode(errors="surrogatepass"), None)
    raw = text.encode(errors="surrogateescape")
    decoded = decode_utf_8(raw)
    if decoded.bad is not None:
        marked, _ = parse(decoded.text)
        value = marked if isinstance(marked, dict) else value
    return Object(value, raw, decoded.bad)


def _reason(run: str, *, is_behind: bool) -> str:
    """Say why a run of a line is no record; `is_behind` where an object stands before it."""
    if is_behind and not run.startswith("{"):
        return "zero_filled" if run.startswith("\0") else "trailing_data"
    reason = reason_of(run)
    if reason == "trailing_data" and not run.startswith("{"):
        return "json_invalid"
    return reason or "not_an_object"


@dataclass(slots=True)
class _Walk:
    """One line being walked; `resume` is where to read on, `budget` what may still be read of it, in characters."""

    text: str
    shape: Shape
    budget: int
    tries: int = _MOST_TRIES
    resume: int = 0

    def object_at(self, start: int) -> dict[str, Json] | None:
        """Parse the object at `start`; null where there is none. Reading goes on behind it, or inside the damage."""
        self.resume = start + 1
        if not self.text.startswith("{", start) or self.is_spent():
            return None
        try:
            value, end = parse(self.text, start)
        except json.JSONDecodeError as error:
            # The refusal itself counts the lines before its position, at about 64 characters a step.
            self.budget -= error.pos - start + error.pos // 64
        except RecursionError:
            self.resume = skip_value(self.text, start) or len(self.text)
            self.budget -= self.resume - start
        except ValueError:
            self.budget -= min(4096, len(self.text) - start)
        else:
            if isinstance(value, dict):
                self.resume = end
                return value
        self.tries -= 1
        return None

    def next_record(self) -> int:
        """Return where the next whole record begins behind `resume`; the end of the line where there is none."""
        while not self.is_spent():
            match = self.shape.begins.search(self.text, self.resume)
            if match is None:
                break
            value = self.object_at(match.start())
            if value is not None:
                if self.shape.is_record(value) and not self._is_inside(match.start()):
                    return match.start()
                self.budget -= self.resume - match.start()
                self.tries -= 1
        return len(self.text)

    def is_spent(self) -> bool:
        """Say whether no more of the line is to be looked at."""
        return self.tries <= 0 or self.budget <= 0

    def _is_inside(self, start: int) -> bool:
        """Say whether an object from `start` to `resume` is a value of an object or array around it.

        One that was written in the middle of another stands where no value is due.
        """
        before = self.text[max(0, start - _MOST_SPACE) : start].rstrip(WHITE)
        return before.endswith((":", ",", "[")) and self.text.startswith(
            (",", "}", "]"), skip_space(self.text, self.resume)
        )
