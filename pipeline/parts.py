"""What a batch leaves behind for the files of its bucket: rows in Arrow files that are mapped, not read."""

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.ipc

from pipeline.partition import PARTITION, partition
from pipeline.schema import Table


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of one table, assistant and month that a batch made, in no order: a range of rows of an Arrow file."""

    table: str
    agent: str
    month: str
    path: Path
    start: int
    rows: int


def write(table: Table, frame: pl.DataFrame, path: Path) -> list[Part]:
    """Write a batch's rows of a table, those of an assistant and month behind each other; return the ranges."""
    if frame.is_empty():
        return []
    placed = frame.with_columns(**partition(table)).sort(PARTITION, maintain_order=True)
    write_frame(placed.select(column.name for column in table.stored), path)
    return list(_ranges(table, placed, path))


def _ranges(table: Table, placed: pl.DataFrame, path: Path) -> Iterator[Part]:
    """Yield the range of each assistant and month."""
    start = 0
    for agent, month, rows in placed.group_by(PARTITION, maintain_order=True).len().iter_rows():
        yield Part(table.name, agent, month, path, start, rows)
        start += rows


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    """Write rows for `Mapped`: texts as views, so that they are neither copied nor read to be put in order."""
    frame.write_ipc(path, compression="uncompressed", compat_level=pl.CompatLevel.newest())


class Mapped:
    """Frames that `write_frame` wrote, whose memory is the mapped file; each file is mapped once."""

    def __init__(self) -> None:
        self._maps: dict[Path, tuple[mmap.mmap, pl.DataFrame]] = {}

    def frame(self, path: Path) -> pl.DataFrame:
        """All rows of a file."""
        if path not in self._maps:
            with path.open("rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            rows = pa.ipc.open_file(pa.BufferReader(pa.py_buffer(mapped))).read_all()
            self._maps[path] = mapped, pl.DataFrame(rows.to_reader())
        return self._maps[path][1]

    def release(self) -> None:
        """Give back the memory of what was read; it is mapped again where it is read again."""
        for mapped, _ in self._maps.values():
            mapped.madvise(mmap.MADV_DONTNEED)
