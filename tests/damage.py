"""Strategies that damage files: their bytes, and the values of their JSON."""

import codecs
import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

PIECES = (
    b"\0",
    b"\0" * 40,
    b"\xff",
    b"\xed\xa0\x80",
    b"\xc3",
    codecs.BOM_UTF8,
    codecs.BOM_UTF16_LE,
    b"\\ud800",
    b"\\u0000",
    b"\\",
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\n",
    b"\r\n",
    b"\x85",
    b"\xe2\x80\xa8",
    b"null",
    b"NaN",
    b"1e999",
    b"-0.0",
    b"9" * 40,
    b"[" * 1100,
    b'{"a":' * 300,
    b"<<<<<<< HEAD\n",
    b"- ",
    b"&a *a\n",
    b"<execute_command><command>",
    b"</command>",
    b"2026-09-15T08:30:00.000Z ",
    b"=" * 74 + b"\n",
    b'{"sessionId":[1],"history":{}}',
    b'"timestamp":"2026-13-45",',
)
"""What is put into files besides any bytes."""

_MARKS = b'[]{},:"\n<>='
_NUMBERS = ("1e400", "-1", "-0", "0.1e-5000", "1E5", "9" * 30, "-9223372036854775809", "1789461000000", "1e12", "00")

Edit = Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class Raw:
    """JSON as it is to be written, which no value of Python gives."""

    text: str


@dataclass(frozen=True, slots=True)
class Pairs:
    """An object in which keys can come twice."""

    items: tuple[tuple[str, object], ...]


def _place(data: bytes, at: int, *, is_snapped: bool) -> int:
    """A place in `data`, `at` millionths behind its start; snapped to the next character with a meaning."""
    place = len(data) * at // 1_000_000
    if not is_snapped:
        return place
    return next((n for n in range(place, min(len(data), place + 400)) if data[n] in _MARKS), place)


_PLACES = st.tuples(st.integers(0, 1_000_000), st.booleans())
_SIZES = st.one_of(st.integers(0, 8), st.integers(0, 600))
_INSERTED = st.one_of(st.sampled_from(PIECES), st.binary(max_size=12))
_CODECS = st.sampled_from(("utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "latin-1", "utf-32"))


@st.composite
def _cuts(draw: st.DrawFn) -> Edit:
    at, is_snapped = draw(_PLACES)
    return lambda data: data[: _place(data, at, is_snapped=is_snapped)]


@st.composite
def _splices(draw: st.DrawFn) -> Edit:
    """Another piece in the place of some bytes: without bytes an insertion, without a piece a hole."""
    (at, is_snapped), size, piece = draw(_PLACES), draw(_SIZES), draw(st.one_of(st.just(b""), _INSERTED))

    def edit(data: bytes) -> bytes:
        start = _place(data, at, is_snapped=is_snapped)
        return data[:start] + piece + data[start + size :]

    return edit


@st.composite
def _fills(draw: st.DrawFn) -> Edit:
    """Bytes of one value over some bytes, as a lost write leaves them."""
    (at, is_snapped), size, value = draw(_PLACES), draw(_SIZES), draw(st.sampled_from((0, 0xFF, 0x20)))

    def edit(data: bytes) -> bytes:
        start = _place(data, at, is_snapped=is_snapped)
        return data[:start] + bytes((value,)) * min(size, len(data) - start) + data[start + size :]

    return edit


@st.composite
def _copies(draw: st.DrawFn) -> Edit:
    """Some bytes once more at another place."""
    (source, _), (dest, is_snapped), size = draw(_PLACES), draw(_PLACES), draw(_SIZES)

    def edit(data: bytes) -> bytes:
        start, end = (_place(data, at, is_snapped=is_snapped) for at in (source, dest))
        return data[:end] + data[start : start + size] + data[end:]

    return edit


@st.composite
def _swaps(draw: st.DrawFn) -> Edit:
    """Two halves behind each other the other way round."""
    at, is_snapped = draw(_PLACES)

    def edit(data: bytes) -> bytes:
        place = _place(data, at, is_snapped=is_snapped)
        return data[place:] + data[:place]

    return edit


@st.composite
def _recoded(draw: st.DrawFn) -> Edit:
    name = draw(_CODECS)
    return lambda data: data.decode("utf-8", "replace").encode(name, "replace")


def byte_edits() -> st.SearchStrategy[Edit]:
    """Edits of a file's bytes, of any format."""
    return st.one_of(_cuts(), _splices(), _fills(), _copies(), _swaps(), _recoded())


_TEXTS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        (
            "",
            " ",
            "\0",
            "\ud800",
            "a\udfffb\ud83d",
            "\0" * 30,
            "file:///c%3A/x%ff",
            "../../x",
            "2026-09-15T08:30:00Z",
            "1789461000000",
            "user",
            "assistant",
            "tool",
            "tool_result",
            "done",
            "canceled",
            "<task>x</task><read_file><path>a</path></read_file>",
            "[ERROR] x",
            "{",
            '{"command":[]}',
            "Permission denied by user",
        )
    ),
)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-5, 5),
        st.sampled_from((*_NUMBERS, "[" * 600 + "]" * 600)).map(Raw),
        _TEXTS,
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.sampled_from(("id", "type", "content", "text", "ts")), _TEXTS), inner, max_size=3),
    ),
    max_leaves=6,
)
"""JSON of every type."""


def encoded(value: object, *, is_ascii: bool = True) -> bytes:
    """JSON of a value as bytes; half a surrogate pair stands in it as it can."""
    return _text(value, is_ascii=is_ascii).encode("utf-8", "surrogatepass")


def _text(value: object, *, is_ascii: bool) -> str:
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, list | tuple):
        return f"[{','.join(_text(each, is_ascii=is_ascii) for each in value)}]"
    if not isinstance(value, dict | Pairs):
        return json.dumps(value, ensure_ascii=is_ascii)
    items: Iterable[tuple[Any, object]] = value.items if isinstance(value, Pairs) else value.items()
    pairs = (f"{json.dumps(key, ensure_ascii=is_ascii)}:{_text(each, is_ascii=is_ascii)}" for key, each in items)
    return f"{{{','.join(pairs)}}}"


@st.composite
def json_edits(draw: st.DrawFn) -> Edit:
    """Another value, a missing one, one more, or a key that comes twice, somewhere in JSON or in a line of it."""
    steps, value = draw(st.lists(st.integers(0, 1_000), min_size=1, max_size=7)), draw(VALUES)
    how, is_ascii = draw(st.sampled_from(("set", "remove", "double", "wrap"))), draw(st.booleans())

    def edit(data: bytes) -> bytes:
        whole = edited(data, steps)
        if whole is not None:
            return whole
        lines = data.split(b"\n")
        number = steps[0] % len(lines)
        lines[number] = edited(lines[number], steps[1:]) or lines[number]
        return b"\n".join(lines)

    def edited(data: bytes, steps: list[int]) -> bytes | None:
        with suppress(ValueError, RecursionError):
            found = json.loads(data)
            if isinstance(found, list | dict):
                return encoded(_edited(found, steps, value, how), is_ascii=is_ascii)
        return None

    return edit


def _edited(found: Any, steps: list[int], value: object, how: str) -> Any:
    """`found` with an edit at the place to which the steps lead."""
    if not steps or not isinstance(found, list | dict) or not found:
        return [found, value] if how == "wrap" else value
    key = steps[0] % len(found) if isinstance(found, list) else list(found)[steps[0] % len(found)]
    is_here = len(steps) == 1 or not isinstance(found[key], list | dict)
    if is_here and how == "remove":
        del found[key]
    elif is_here and how == "double":
        if isinstance(found, dict):
            return Pairs(((str(key), value), *found.items(), (str(key), value)))
        found.append(found[key])
    else:
        found[key] = _edited(found[key], steps[1:], value, how)
    return found
