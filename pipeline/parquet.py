"""Parquet files of a lake: row groups that are a function of the rows alone, whatever pieces they come in."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.schema import TEXT, Table

GROUP_ROWS = 65_536
GROUP_BYTES = 32 << 20
"""A row group is closed at so many rows, or so many bytes of text."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Rows in order as the files of their table have them, and the bytes of text of each."""

    stored: pa.Table
    bytes: list[int]

    def slice(self, start: int, rows: int) -> "Stretch":
        """Some of the rows."""
        return Stretch(self.stored.slice(start, rows), self.bytes[start : start + rows])


def stretch_of(table: Table, frame: pl.DataFrame) -> Stretch:
    """The rows of a frame that has the table's columns, texts copied into one piece."""
    schema = table.arrow()
    stored = frame.select(schema.names).rechunk().to_arrow(compat_level=pl.CompatLevel.oldest()).cast(schema)
    return Stretch(stored, frame.select(text_bytes()).to_series().to_list())


def text_bytes() -> pl.Expr:
    """Bytes of text of each row of a frame."""
    return pl.sum_horizontal(pl.col(TEXT).str.len_bytes()).cast(pl.Int64)


def write_file(table: Table, rows: Iterable[Stretch], path: Path) -> int:
    """Write one file of the lake from rows in order; return how many there are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    options: dict[str, object] = {
        "compression": "zstd",
        "compression_level": 1,
        "use_dictionary": [column.name for column in table.stored if column.repeats],
        "write_statistics": [column.name for column in table.stored if column.repeats or column.dtype != TEXT],
        "store_schema": True,
        "data_page_size": 1 << 20,
    }
    height = 0
    with pq.ParquetWriter(path, table.arrow(), **options) as writer:
        for group in _groups(rows):
            writer.write_table(group, row_group_size=GROUP_ROWS)
            height += group.num_rows
    return height


def _groups(stretches: Iterable[Stretch]) -> Iterator[pa.Table]:
    """Cut rows into row groups, each in one piece."""
    held: list[pa.Table] = []
    rows = size = 0
    for stretch in stretches:
        start, whole = 0, len(stretch.bytes)
        while start < whole:
            # How many further rows fit: `until[k]` is the group's size with the rows up to `start + k`.
            until = list(accumulate(stretch.bytes[start : start + GROUP_ROWS - rows], initial=size))[1:]
            fits = bisect_right(until, GROUP_BYTES)
            if fits == 0 and rows == 0:
                fits = 1
            held.append(stretch.stored.slice(start, fits))
            rows, start = rows + fits, start + fits
            size = until[fits - 1] if fits else size
            if start < whole:
                yield _one(held)
                held, rows, size = [], 0, 0
    if rows:
        yield _one(held)


def _one(tables: list[pa.Table]) -> pa.Table:
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables).combine_chunks()
