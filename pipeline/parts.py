"""What a batch leaves behind for the files of its bucket: rows in order, in Arrow files that are mapped, not read."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.ipc

from pipeline.schema import TEXT, Table

UNKNOWN = "unknown"
"""Month of rows without a time."""

SIZE = "_size"
"""Column behind those of the table: a row's bytes of text, but for its collection's id."""

SLICE_ROWS = 8192
"""Rows that are turned into Arrow's own columns at once."""

COLLECTION = "collection_id"
"""Column in which other texts are stored in the end."""


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of one table, assistant and month that a batch made: a range of rows of an Arrow file."""

    table: str
    agent: str
    month: str
    path: Path
    start: int
    rows: int


def write(table: Table, frame: pl.DataFrame, path: Path) -> list[Part]:
    """Write a batch's rows of a table, in the lake's order inside each assistant and month; return the ranges."""
    if frame.is_empty():
        return []
    month = pl.lit("") if table.time is None else pl.col(table.time).dt.strftime("%Y-%m").fill_null(UNKNOWN)
    agent = pl.lit("") if table.time is None else pl.col("agent")
    ordered = frame.with_columns(agent.alias("_agent"), month.alias("_month")).sort(
        "_agent", "_month", *table.order, nulls_last=True, maintain_order=True
    )
    stored = ordered.select(column.name for column in table.stored)
    schema = to_arrow(stored.clear()).schema
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        for rows in stored.iter_slices(SLICE_ROWS):
            writer.write_table(to_arrow(rows))
    return list(_ranges(table, ordered, path))


def to_arrow(rows: pl.DataFrame) -> pa.Table:
    """Rows for a file, with their `SIZE`."""
    texts = [pl.col(name).str.len_bytes() for name in rows.columns if rows.schema[name] == TEXT and name != COLLECTION]
    return rows.with_columns(pl.sum_horizontal(texts).alias(SIZE)).to_arrow(compat_level=pl.CompatLevel.oldest())


def _ranges(table: Table, ordered: pl.DataFrame, path: Path) -> Iterator[Part]:
    """Yield the range of each assistant and month."""
    start = 0
    for agent, month, rows in ordered.group_by("_agent", "_month", maintain_order=True).len().iter_rows():
        yield Part(table.name, agent, month, path, start, rows)
        start += rows


def read(part: Part) -> pa.Table:
    """Rows of a part; their memory is the mapped file."""
    with pa.memory_map(str(part.path)) as file:
        return pa.ipc.open_file(file).read_all().slice(part.start, part.rows)
