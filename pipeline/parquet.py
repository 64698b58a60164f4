"""Parquet files of a lake: row groups that are a function of the rows alone, whatever pieces they come in."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from pipeline.schema import TEXT, Table

GROUP_ROWS = 65_536
GROUP_BYTES = 32 << 20
"""A row group is closed at so many rows, or so many bytes of text."""


def write_file(table: Table, rows: Iterable[pl.DataFrame], path: Path) -> int:
    """Write one file of the lake from frames with its columns, whose rows are in order; return how many there are."""
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
            arrow = group.select(schema.names).to_arrow(compat_level=pl.CompatLevel.oldest())
            writer.write_table(arrow.cast(schema), row_group_size=GROUP_ROWS)
            height += group.height
    return height


def _groups(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Cut rows into row groups, each in one piece."""
    held: list[pl.DataFrame] = []
    rows = size = 0
    for frame in frames:
        sizes = _sizes(frame)
        start = 0
        while start < len(sizes):
            # How many further rows fit: `until[k]` is the group's size with the rows up to `start + k`.
            until = sizes[start : start + GROUP_ROWS - rows].cum_sum() + size
            fits = int(until.search_sorted(GROUP_BYTES, side="right"))
            if fits == 0 and rows == 0:
                fits = 1
            held.append(frame.slice(start, fits))
            rows, start = rows + fits, start + fits
            size = int(until[fits - 1]) if fits else size
            if start < len(sizes):
                yield pl.concat(held, rechunk=True)
                held, rows, size = [], 0, 0
    if rows:
        yield pl.concat(held, rechunk=True)


def _sizes(frame: pl.DataFrame) -> pl.Series:
    """Bytes of text of each row."""
    lengths = [pl.col(name).str.len_bytes().cast(pl.Int64) for name, dtype in frame.schema.items() if dtype == TEXT]
    return frame.select(pl.sum_horizontal(lengths).alias("bytes"))["bytes"]
