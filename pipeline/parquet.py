"""Parquet files of a lake: row groups that are a function of the rows alone, whatever pieces they come in."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.parts import COLLECTION, SIZE
from pipeline.schema import TEXT, Table

GROUP_ROWS = 65_536
GROUP_BYTES = 32 << 20
"""A row group is closed at so many rows, or so many bytes of text."""


def write_file(table: Table, rows: Iterable[pa.Table], path: Path) -> int:
    """Write one file of the lake from rows in order, with their `parts.SIZE`; return how many there are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = table.arrow()
    options: dict[str, object] = {
        "compression": "zstd",
        "compression_level": 1,
        "use_dictionary": [column.name for column in table.stored if column.repeats],
        "write_statistics": [column.name for column in table.stored if column.repeats or column.dtype != TEXT],
        "store_schema": True,
        "data_page_size": 1 << 20,
    }
    height = 0
    with pq.ParquetWriter(path, schema, **options) as writer:
        for group in _groups(rows):
            writer.write_table(group.select(schema.names).combine_chunks().cast(schema), row_group_size=GROUP_ROWS)
            height += group.num_rows
    return height


def _groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Cut rows into row groups."""
    held: list[pa.Table] = []
    rows = size = 0
    for table in tables:
        sizes = _sizes(table)
        start = 0
        while start < len(sizes):
            # How many further rows fit: `until[k]` is the group's size with the rows up to `start + k`.
            until = sizes[start : start + GROUP_ROWS - rows].cum_sum() + size
            fits = int(until.search_sorted(GROUP_BYTES, side="right"))
            if fits == 0 and rows == 0:
                fits = 1
            held.append(table.slice(start, fits))
            rows, start = rows + fits, start + fits
            size = int(until[fits - 1]) if fits else size
            if start < len(sizes):
                yield pa.concat_tables(held)
                held, rows, size = [], 0, 0
    if rows:
        yield pa.concat_tables(held)


def _sizes(table: pa.Table) -> pl.Series:
    """Bytes of text of each row."""
    sizes = pc.add(table.column(SIZE), pc.binary_length(table.column(COLLECTION)))
    return cast("pl.Series", pl.from_arrow(sizes))
