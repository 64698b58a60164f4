"""Compressed streams, read once from their start, and read on as far as damage allows.

gzip: RFC 1952, also several members one behind the other and NUL bytes between and behind them. Zstandard: RFC 8878,
also several frames and skippable ones. A checksum is compared here, not by a library that would keep what it guards.
"""

import struct
import zlib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

import zstandard

CHUNK = 1 << 16
_MOST = 1 << 20
_ZSTD_STEP = 2048
"""A block of 4 bytes can stand for 128 kB: small steps keep what is unpacked at once small."""
_ZSTD_FRAME = b"\x28\xb5\x2f\xfd"
_WINDOW = 1 << 27


class Codec(StrEnum):
    """How a tar is compressed."""

    NONE = "none"
    GZIP = "gzip"
    ZSTD = "zstd"


def codec_of(head: bytes) -> Codec:
    """Tell by the first bytes of a file."""
    if head.startswith(b"\x1f\x8b"):
        return Codec.GZIP
    if head.startswith(_ZSTD_FRAME) or (head[1:4] == b"\x2a\x4d\x18" and head[:1] and head[0] >> 4 == 5):
        return Codec.ZSTD
    return Codec.NONE


class Fault(Exception):  # noqa: N818  (most are noted, few end a stream)
    """What is wrong with a stream: a reason of `pipeline.reasons`, of which part, and whether something is lost."""

    def __init__(self, reason: str, part: str, *, lost: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.parts = [part]
        self.lost = lost


def note(faults: list[Fault], fault: Fault) -> None:
    """Add a fault; of several for one reason there is one, of all their parts, and what one of them lost is lost."""
    same = next((known for known in faults if known.reason == fault.reason), None)
    if same is None:
        faults.append(fault)
    else:
        same.lost |= fault.lost
        same.parts += [part for part in fault.parts if part not in same.parts]


class Source:
    """A file that is read piece by piece, and of which what was read too much is put back."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._held = b""
        self.position = 0

    def some(self, most: int = CHUNK) -> bytes:
        """Next bytes, at most so many; none at the end."""
        data = self._held or self._file.read(CHUNK)
        self._held = data[most:]
        self.position += len(data[:most])
        return data[:most]

    def again(self, start: int, end: int) -> Iterator[bytes]:
        """Yield bytes that were read before, in small steps."""
        with Path(self._file.name).open("rb") as file:
            file.seek(start)
            while data := file.read(min(_ZSTD_STEP, end - file.tell())):
                yield data

    def exactly(self, count: int) -> bytes:
        """Next bytes; fewer at the end."""
        data = b""
        while len(data) < count and (more := self.some(count - len(data))):
            data += more
        return data

    def back(self, data: bytes) -> None:
        """Put bytes back."""
        self._held = data + self._held
        self.position -= len(data)

    def past_padding(self) -> bool:
        """Go past NUL bytes; say whether something comes behind them."""
        while data := self.some():
            rest = data.lstrip(b"\0")
            if rest:
                self.back(rest)
                return True
        return False


def plain(source: Source, faults: list[Fault]) -> Iterator[bytes]:
    """Yield a file as it is."""
    while data := source.some():
        yield data


def gunzip(source: Source, faults: list[Fault]) -> Iterator[bytes]:
    """Yield what the gzip members of a file hold. Raises Fault where nothing more can be read."""
    is_first = True
    while is_first or source.past_padding():
        try:
            _gzip_header(source)
        except Fault as fault:
            # What is no gzip behind a whole one hides nothing.
            raise fault if is_first else Fault("archive_damaged", "trailing data", lost=False) from None
        is_first = False
        checksum = length = 0
        for data in _inflated(source):
            checksum, length = zlib.crc32(data, checksum), length + len(data)
            yield data
        trailer = source.exactly(8)
        if trailer != struct.pack("<II", checksum, length & 0xFFFFFFFF):
            note(faults, Fault("archive_damaged", "crc32", lost=False))


def _gzip_header(source: Source) -> None:
    head = source.exactly(10)
    if len(head) < 10:
        raise Fault("archive_truncated", "gzip")
    if not head.startswith(b"\x1f\x8b\x08"):
        raise Fault("archive_damaged", "gzip")
    flags = head[3]
    if flags & 4:
        source.exactly(int.from_bytes(source.exactly(2), "little"))
    for flag in (8, 16):
        while flags & flag and (byte := source.some(1)) != b"\0":
            if not byte:
                raise Fault("archive_truncated", "gzip")
    if flags & 2:
        source.exactly(2)


def _inflated(source: Source) -> Iterator[bytes]:
    """Yield what a deflate stream holds, up to its first damaged byte."""
    inflate = zlib.decompressobj(-15)
    data = b""
    while not inflate.eof:
        spare = inflate.copy()
        try:
            found = inflate.decompress(data, _MOST)
        except zlib.error:
            yield from _salvaged(spare, data)
            raise Fault("archive_damaged", "gzip") from None
        if found:
            yield found
        data = inflate.unconsumed_tail
        if not data and len(found) < _MOST and not inflate.eof:
            data = source.some()
            if not data:
                raise Fault("archive_truncated", "gzip")
    source.back(inflate.unused_data)


def _salvaged(inflate: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    """Yield what comes before the damaged byte."""
    for byte in data:
        try:
            found = inflate.decompress(bytes((byte,)))
        except zlib.error:
            return
        if found:
            yield found


def unzstd(source: Source, faults: list[Fault]) -> Iterator[bytes]:
    """Yield what the frames of a file hold. Raises Fault where nothing more can be read."""
    is_first = True
    while is_first or source.past_padding():
        magic = source.exactly(4)
        if codec_of(magic) is not Codec.ZSTD:
            raise Fault("archive_damaged", "zstd" if is_first else "trailing data", lost=is_first)
        is_first = False
        if magic == _ZSTD_FRAME:
            source.back(magic)
            yield from _frame(source, faults)
            continue
        size = int.from_bytes(source.exactly(4), "little")
        while size > 0 and (data := source.some(size)):
            size -= len(data)


def _frame(source: Source, faults: list[Fault]) -> Iterator[bytes]:
    """Yield what a frame holds.

    A step that fails is done again byte by byte, on a decoder that has read what came before: the library gives
    nothing of a step with an error.
    """
    inflate, start = _decoder(), source.position
    while not inflate.eof:
        data = source.some(_ZSTD_STEP)
        if not data:
            raise Fault("archive_truncated", "zstd")
        try:
            found = inflate.decompress(data)
        except zstandard.ZstdError:
            yield from _salvaged_frame(start, data, source, faults)
            return
        if found:
            yield found
    source.back(inflate.unused_data)


def _salvaged_frame(start: int, data: bytes, source: Source, faults: list[Fault]) -> Iterator[bytes]:
    """Yield what a step held before its damage; only a wrong checksum, which is a frame's last, lets read on."""
    inflate = _decoder()
    for before in source.again(start, source.position - len(data)):
        inflate.decompress(before)
    for at in range(len(data)):
        try:
            found = inflate.decompress(data[at : at + 1])
        except zstandard.ZstdError as error:
            if "checksum" not in str(error):
                raise Fault("archive_damaged", "zstd") from None
            note(faults, Fault("archive_damaged", "checksum", lost=False))
            source.back(data[at + 1 :])
            return
        if found:
            yield found


def _decoder() -> "zstandard.ZstdDecompressionObj":
    return zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
