"""The unpacked bytes of a file, compressed or not, read once from their start."""

from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from pipeline.decoders import Codec, Fault, Source, gunzip, note, plain, unzstd


class Stream:
    """The unpacked bytes of a file. `faults` are what was found wrong with it so far; `limit` bytes are unpacked."""

    def __init__(self, path: str, codec: Codec, limit: int) -> None:
        self._file: BinaryIO = Path(path).open("rb")  # noqa: SIM115  (closed with the stream)
        self.faults: list[Fault] = []
        self.position = 0
        self._limit = limit
        self._held = memoryview(b"")
        source = Source(self._file)
        unpack = {Codec.NONE: plain, Codec.GZIP: gunzip, Codec.ZSTD: unzstd}[codec]
        self._chunks = unpack(source, self.faults)

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def read(self, count: int) -> bytes:
        """Next bytes; fewer at the end."""
        parts: list[bytes] = []
        while count > 0 and self._fetch():
            parts.append(bytes(self._held[:count]))
            self._advance(len(parts[-1]))
            count -= len(parts[-1])
        return b"".join(parts)

    def skip(self, count: int) -> int:
        """Go past bytes; return how many there were."""
        skipped = 0
        while skipped < count and self._fetch():
            step = min(count - skipped, len(self._held))
            self._advance(step)
            skipped += step
        return skipped

    def _advance(self, step: int) -> None:
        self._held = self._held[step:]
        self.position += step

    def _fetch(self) -> bool:
        """Have bytes at hand; say whether there are any."""
        while not self._held:
            try:
                chunk = next(self._chunks, None)
            except Fault as fault:
                note(self.faults, fault)
                return False
            if chunk is None:
                return False
            if self.position + len(chunk) > self._limit:
                note(self.faults, Fault("archive_truncated", "limit"))
                self._chunks = iter(())
            self._held = memoryview(chunk)[: self._limit - self.position]
        return True
