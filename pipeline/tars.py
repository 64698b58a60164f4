"""Headers of a tar, one after the other: POSIX ustar and pax, GNU long names and sparse files, the format before both.

Formats: POSIX.1-2017 (pax), GNU tar manual ("Basic Tar Format", "Storing Sparse Files"). Names are bytes. Behind a
damaged header the next one is searched for at each block; a tar behind a tar's end is read, too.
"""

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from pipeline.decoders import Fault, note
from pipeline.members import DIRECTORY, LINK, REGULAR, SPECIAL
from pipeline.streams import Stream

BLOCK = 512
_MOST_HEADERS = 1 << 20
"""Bytes of a long name or of a pax header that are read."""
_ZERO = bytes(BLOCK)
_KINDS = {b"2": LINK, b"3": SPECIAL, b"4": SPECIAL, b"5": DIRECTORY, b"6": SPECIAL, b"D": DIRECTORY}
_NO_DATA = (b"1", b"2", b"3", b"4", b"5", b"6")
_OTHER = (b"V", b"M", b"N", b"A", b"I")
"""Volume label, rest of a file from another volume, lists of old versions: no files."""
_OCTAL = re.compile(rb"[ \0]*([0-7]*)[ \0].*|[ \0]*([0-7]+)", re.DOTALL)

_RECORD = re.compile(rb"([0-9]{1,9}) ([^=]*)=")
_KEYS = frozenset(("path", "linkpath", "size", "mtime")) | {
    f"GNU.sparse.{name}" for name in ("major", "name", "realsize", "size", "map", "offset")
}
"""What is asked for of a pax header."""

Sparse = list[tuple[int, int]]


@dataclass(slots=True)
class Header:
    """A member: `start` is the place of its bytes in the tar, `size` their number, `held` how many of them are there.

    `sparse` are the ranges (start, length) of the file that they are, `real_size` is the file's; null for one that is
    stored whole. `linked` is the name of the file that a hard link is.
    """

    name: str
    kind: int
    start: int = 0
    size: int = 0
    held: int = 0
    mtime_ms: int = 0
    linked: str | None = None
    sparse: Sparse | None = None
    real_size: int | None = None


def is_header(block: bytes) -> bool:
    """Whether a block is a header: its checksum is right."""
    if len(block) < BLOCK or block == _ZERO:
        return False
    stored = _number(block[148:156])
    if stored is None:
        return False
    rest = block[:148] + b" " * 8 + block[156:]
    return stored in (sum(rest), sum(struct.unpack("512b", rest)))


def _number(field: bytes) -> int | None:
    """A number in octal digits, or in bytes behind a mark (GNU); null where it is none."""
    if field[0] in (0x80, 0xFF):
        number = int.from_bytes(field[1:], "big")
        return number - (1 << 8 * (len(field) - 1)) if field[0] == 0xFF else number
    found = _OCTAL.fullmatch(field)
    return int(found[1] or found[2] or b"0", 8) if found else None


def _text(value: bytes) -> str:
    """A name up to its NUL; bytes that are not UTF-8 as lone surrogates."""
    return value.partition(b"\0")[0].decode("utf-8", "surrogateescape")


@dataclass(slots=True)
class _Extended:
    """What headers in front of a member say of it."""

    values: dict[str, bytes] = field(default_factory=dict)
    sparse: Sparse = field(default_factory=list)


class TarReader:
    """Reads the headers of a tar. Faults of its structure go to the stream's."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._global: dict[str, bytes] = {}
        self._next = _Extended()
        self._end_seen = False

    def members(self) -> Iterator[Header]:
        """Yield the members in order, each once its bytes were passed."""
        while block := self._stream.read(BLOCK):
            if len(block) < BLOCK:
                if block.strip(b"\0"):
                    self._fault("archive_truncated")
                break
            if block == _ZERO:
                self._end_seen, self._next = True, _Extended()
                continue
            size = _number(block[124:136]) if is_header(block) else None
            if size is None or size < 0:
                self._damaged()
                continue
            yield from self._member(block, size)
        if not self._end_seen:
            self._fault("archive_truncated")

    def _damaged(self) -> None:
        """Note a damaged block; what stands behind a tar's end is no loss."""
        self._next = _Extended()
        note(self._stream.faults, Fault("archive_damaged", "tar header", lost=not self._end_seen))

    def _fault(self, reason: str) -> None:
        """Note that the tar ends early, unless the stream says why."""
        if not any(fault.lost for fault in self._stream.faults):
            self._stream.faults.append(Fault(reason, "tar"))

    def _member(self, block: bytes, size: int) -> Iterator[Header]:
        kind = block[156:157]
        self._end_seen = False
        if kind in (b"x", b"g", b"X", b"L", b"K"):
            self._extend(kind, size)
            return
        extended, self._next = self._next, _Extended()
        values = {**self._global, **extended.values}
        header = self._header(block, kind, values)
        size = size if "size" not in values else _whole(values["size"]) or 0
        if kind in _NO_DATA:
            size = 0
        padded = -(-size // BLOCK) * BLOCK
        end = self._stream.position + padded
        if kind == b"S" or any(name.startswith("GNU.sparse.") for name in values):
            end = self._sparse(header, block if kind == b"S" else None, (values, extended.sparse), padded)
        header.start = self._stream.position
        header.size = max(0, min(size, end - header.start))
        header.held = min(header.size, self._stream.skip(end - header.start))
        if header.held < header.size:
            self._fault("archive_truncated")
        if kind not in _OTHER and not (kind == b"D" and not header.name):
            yield header

    def _extend(self, kind: bytes, size: int) -> None:
        """Read a header that speaks of the next member, or of all that follow."""
        if size > _MOST_HEADERS:
            self._damaged()
            self._stream.skip(-(-size // BLOCK) * BLOCK)
            return
        data = self._stream.read(-(-size // BLOCK) * BLOCK)[:size]
        if len(data) < size:
            self._fault("archive_truncated")
            return
        if kind in (b"L", b"K"):
            self._next.values["path" if kind == b"L" else "linkpath"] = data.rstrip(b"\0")
            return
        values, sparse = _pax(data)
        if values is None:
            self._damaged()
        elif kind == b"g":
            self._global.update(values)
        else:
            self._next.values.update(values)
            self._next.sparse = sparse

    def _header(self, block: bytes, kind: bytes, values: Mapping[str, bytes]) -> Header:
        """A member's name, kind and time."""
        name = _text(block[:100])
        if block[257:263] == b"ustar\0" and block[345] != 0:
            name = f"{_text(block[345:500])}/{name}"
        name = _text(values["path"]) if "path" in values else name
        name = _text(values["GNU.sparse.name"]) if "GNU.sparse.name" in values else name
        linked = None
        if kind == b"1":
            linked = _text(values["linkpath"]) if "linkpath" in values else _text(block[157:257])
        is_folder = kind in (b"0", b"\0") and name.endswith("/")
        return Header(
            name,
            DIRECTORY if is_folder else _KINDS.get(kind, REGULAR),
            mtime_ms=_milliseconds(values.get("mtime"), _number(block[136:148])),
            linked=linked,
        )

    def _sparse(
        self, header: Header, block: bytes | None, told: tuple[Mapping[str, bytes], Sparse], padded: int
    ) -> int:
        """Read which ranges of a sparse file are stored; return where its bytes end in the tar."""
        values, pairs = told
        if block is not None:
            header.sparse, header.real_size = self._old_sparse(block)
            return self._stream.position + padded
        end = self._stream.position + padded
        if values.get("GNU.sparse.major") == b"1":
            header.sparse = self._stored_map(end)
        elif "GNU.sparse.map" in values:
            numbers = [_whole(number) or 0 for number in values["GNU.sparse.map"].split(b",")]
            header.sparse = list(zip(numbers[::2], numbers[1::2], strict=False))
        else:
            header.sparse = pairs
        header.real_size = _whole(values.get("GNU.sparse.realsize") or values.get("GNU.sparse.size")) or 0
        return end

    def _old_sparse(self, block: bytes) -> tuple[Sparse, int]:
        """The ranges in a GNU header and the blocks behind it, and the size of the file."""
        found: Sparse = []
        size = _number(block[483:495]) or 0
        at, count, is_more = 386, 4, block[482]
        while True:
            for place in range(at, at + 24 * count, 24):
                start, length = _number(block[place : place + 12]), _number(block[place + 12 : place + 24])
                if start is not None and length:
                    found.append((start, length))
            if not is_more or len(found) > _MOST_HEADERS // 24:
                return found, size
            block = self._stream.read(BLOCK)
            if len(block) < BLOCK:
                return found, size
            at, count, is_more = 0, 21, block[504]

    def _stored_map(self, end: int) -> Sparse:
        """The ranges in decimal lines in front of a file's bytes, whole blocks of them (version 1.0)."""
        blocks, lines, wanted = list[bytes](), 0, 1
        while self._stream.position < end and len(blocks) < _MOST_HEADERS // BLOCK and lines < wanted:
            blocks.append(self._stream.read(BLOCK))
            if lines == 0 and b"\n" in blocks[-1]:
                wanted = 1 + 2 * (_whole(b"".join(blocks).partition(b"\n")[0]) or 0)
            lines += blocks[-1].count(b"\n")
        numbers = [_whole(number) or 0 for number in b"".join(blocks).split(b"\n")[1:wanted]]
        return list(zip(numbers[::2], numbers[1::2], strict=False))


def _whole(value: bytes | None) -> int | None:
    """A decimal number that a size can be."""
    return int(value) if value is not None and re.fullmatch(rb"[0-9]{1,19}", value) else None


def _milliseconds(told: bytes | None, stored: int | None) -> int:
    """Modification time (ms since 1970) by the pax header, else the member's own."""
    if told is not None and re.fullmatch(rb"-?[0-9]{1,12}(\.[0-9]*)?", told):
        whole, _, fraction = told.lstrip(b"-").partition(b".")
        milliseconds = int(whole) * 1000 + int((fraction + b"000")[:3])
        return -milliseconds if told.startswith(b"-") else milliseconds
    return stored * 1000 if stored is not None and abs(stored) < 10**12 else 0


def _pax(data: bytes) -> tuple[dict[str, bytes] | None, Sparse]:
    """Records `<length> <key>=<value>` with a line feed; null where they are none. Pairs of sparse 0.0 apart."""
    values: dict[str, bytes] = {}
    starts: list[int] = []
    lengths: list[int] = []
    keep: Mapping[bytes, Callable[[int], None]] = {
        b"GNU.sparse.offset": starts.append,
        b"GNU.sparse.numbytes": lengths.append,
    }
    at, data = 0, data.rstrip(b"\0")
    while at < len(data):
        found = _RECORD.match(data, at)
        end = at + int(found[1]) if found else 0
        if not found or end > len(data) or end <= found.end() - 1:
            return None, []
        value = data[found.end() : end - 1]
        if found[2] in keep:
            keep[found[2]](_whole(value) or 0)
        if (key := found[2].decode("utf-8", "replace")) in _KEYS:
            values[key] = value
        at = end
    return values, list(zip(starts, lengths, strict=False))
