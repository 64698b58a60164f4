"""The bytes of files in archives: where they are, and how they are read when a worker wants them.

Nothing here writes a file under a name from an archive. Members of a plain tar are read where they lie, those of a zip
are inflated one by one. A compressed tar can only be read from its start: what is needed of it is written once into one
file in the build's own directory, at the places that it has in the unpacked tar (`fill`), and read from there.
"""

import bz2
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import zstandard

from pipeline.decoders import CHUNK, Codec
from pipeline.model import Artifact, Home, Status
from pipeline.streams import Stream
from pipeline.workers import run_all

Pieces = tuple[tuple[int, int, int], ...]
"""Where a member's bytes are: position in the member, position in the tar, length. Between them are NUL bytes."""


@dataclass(slots=True, eq=False)
class Tar:
    """A tar file; `spool` is the file that holds what is needed of an unpacked one. `limit` is in bytes, unpacked."""

    path: str
    codec: Codec
    limit: int
    spool: str | None = None

    def ranges(self, wanted: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, bytes]]:
        """Yield bytes of ranges (start, length; in order, apart) with the range's start and their place in the tar."""
        plain = self.path if self.codec is Codec.NONE else self.spool
        if plain is not None:
            with Path(plain).open("rb") as file:
                for start, length in wanted:
                    file.seek(start)
                    yield start, start, file.read(length)
            return
        with Stream(self.path, self.codec, self.limit) as stream:
            for start, length in wanted:
                stream.skip(start - stream.position)
                while stream.position < start + length:
                    at = stream.position
                    data = stream.read(min(CHUNK, start + length - at))
                    if not data:
                        break
                    yield start, at, data


@dataclass(frozen=True, slots=True)
class TarContent:
    """A member of a tar: `size` bytes."""

    tar: Tar
    pieces: Pieces
    size: int

    def read_bytes(self) -> bytes:
        """Read it. Raises OSError where the archive cannot be read, or is another one by now."""
        places = {start: at for at, start, _ in self.pieces}
        wanted = sorted((start, length) for _, start, length in self.pieces if length)
        data, held = bytearray(), 0
        for start, at, found in self.tar.ranges(wanted):
            if len(found) == self.size:  # whole and in one piece, as nearly all are
                return found
            data = data or bytearray(self.size)
            into = places[start] + at - start
            data[into : into + len(found)] = found
            held += len(found)
        if held < sum(length for _, length in wanted):
            raise OSError(None, "archive changed while it was read")
        return bytes(data or self.size)


@dataclass(frozen=True, slots=True)
class ZipContent:
    """A member of a zip: its compressed bytes, and how they are inflated to at most `size`."""

    path: str
    header: int
    packed: int
    method: int
    size: int

    def read_bytes(self) -> bytes:
        """Read it, as far as it can be inflated. Raises OSError where the archive cannot be read."""
        with Path(self.path).open("rb") as file:
            file.seek(self.header)
            local = file.read(30)
            if len(local) < 30 or not local.startswith(b"PK\x03\x04"):
                raise OSError(None, "no header of a member")
            file.seek(int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little"), 1)
            data = bytearray()
            inflate = INFLATERS[self.method]()
            rest = self.packed
            while rest > 0 and len(data) < self.size and not inflate.eof:
                chunk = file.read(min(CHUNK, rest))
                rest -= len(chunk)
                if not chunk or not self._add(inflate, chunk, data):
                    break
            return bytes(data)

    def is_longer(self) -> bool:
        """Whether there is more of it than the archive says. Raises OSError where the archive cannot be read."""
        return len(replace(self, size=self.size + 1).read_bytes()) > self.size

    def _add(self, inflate: "Inflater", chunk: bytes, data: bytearray) -> bool:
        """Inflate a chunk into `data`, byte by byte where it is damaged; say whether there is more."""
        while True:
            wanted = self.size - len(data)
            try:
                found, chunk = inflate.step(chunk, wanted)
            except (zlib.error, zstandard.ZstdError, OSError):
                return False
            data += found
            if wanted <= len(found):
                return False
            if not chunk and not found:
                return True


class Inflater(Protocol):
    """Inflates a member of a zip piece by piece."""

    @property
    def eof(self) -> bool:
        """Whether the member ended."""
        ...

    def step(self, data: bytes, most: int) -> tuple[bytes, bytes]:
        """Inflate to at most `most` bytes; return them and what of `data` is left."""
        ...


class _Stored:
    eof = False

    def step(self, data: bytes, most: int) -> tuple[bytes, bytes]:
        return data[:most], data[most:]


class _Deflated:
    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(-15)

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    def step(self, data: bytes, most: int) -> tuple[bytes, bytes]:
        spare = self._inflate.copy()
        try:
            return self._inflate.decompress(data, most), self._inflate.unconsumed_tail
        except zlib.error:
            if len(data) == 1:
                raise
            self._inflate = spare
            half = len(data) // 2
            found, left = self.step(data[:half], most)
            return found, left + data[half:]


class _Bzip2:
    def __init__(self) -> None:
        self._inflate = bz2.BZ2Decompressor()

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    def step(self, data: bytes, most: int) -> tuple[bytes, bytes]:
        if self._inflate.eof:
            return b"", b""
        return self._inflate.decompress(data, most), b""


class _Zstandard:
    def __init__(self) -> None:
        self._inflate = zstandard.ZstdDecompressor().decompressobj()

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    def step(self, data: bytes, most: int) -> tuple[bytes, bytes]:
        if self._inflate.eof or not data:
            return b"", b""
        # A block of 4 bytes can stand for 128 kB: small steps keep what is inflated at once small.
        return self._inflate.decompress(data[:2048])[:most], data[2048:]


INFLATERS: dict[int, type[Inflater]] = {0: _Stored, 8: _Deflated, 12: _Bzip2, 93: _Zstandard}
"""By the number that a zip gives a method of compression (APPNOTE 4.4.5)."""


@dataclass(frozen=True, slots=True, eq=False)
class _Unpacking:
    """A tar of which ranges are to be unpacked into the file `path`."""

    tar: Tar
    ranges: Sequence[tuple[int, int]]
    path: Path


def fill(count: int, homes: Iterable[Home], folder: Path) -> None:
    """Unpack what homes need of compressed tars, each tar into one file in `folder`, by `count` workers.

    A tar at which a worker dies is read from its start for each file.
    """
    wanted: dict[Tar, list[tuple[int, int]]] = {}
    for home in homes:
        for content in _needed(home.artifacts):
            if content.tar.codec is not Codec.NONE:
                ranges = wanted.setdefault(content.tar, [])
                ranges.extend((start, length) for _, start, length in content.pieces if length)
    jobs = [
        _Unpacking(tar, ranges, folder / f"{number:06}.unpacked") for number, (tar, ranges) in enumerate(wanted.items())
    ]
    for job, outcome in run_all(_unpack, jobs, min(count, len(jobs))):
        if outcome is None:
            job.tar.spool = str(job.path)


def _needed(artifacts: Iterable[Artifact]) -> Iterator[TarContent]:
    """Yield the members that are read or looked at, and those whose names begin like theirs (`-wal` of a database).

    What stands in for a file is looked at before it is known whether it is read.
    """
    read: str | None = None
    for artifact in sorted(artifacts, key=lambda artifact: artifact.home_path):
        is_read = artifact.status is Status.PARSED
        if is_read:
            read = artifact.home_path
        beside = read is not None and artifact.home_path.startswith(read) and artifact.status is Status.KNOWN
        if isinstance(artifact.location, TarContent) and (is_read or beside or artifact.stands_in):
            yield artifact.location


def _unpack(job: _Unpacking) -> None:
    """Write ranges of an unpacked tar into a file, where they are in the tar; the rest of it stays a hole."""
    with job.path.open("wb") as file:
        job.path.chmod(0o600)
        for _, at, data in job.tar.ranges(_merged(job.ranges)):
            file.seek(at)
            file.write(data)


def _merged(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Ranges in order, those that touch as one."""
    begin = end = 0
    for start, length in sorted(set(ranges)):
        if start > end:
            if end > begin:
                yield begin, end - begin
            begin = start
        end = max(end, start + length)
    if end > begin:
        yield begin, end - begin
