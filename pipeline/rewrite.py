"""The files of a build: those that hold rows of homes that changed are written, all others are linked.

A file's rows are in one total order, of which host and user come first. So what the lake has, without the homes that
changed, and what the batches made are merged owner by owner; only where one owner's rows come from several places are
they sorted.
"""

import heapq
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any, NamedTuple, cast

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline import parts
from pipeline.carried import PLACES, at
from pipeline.lake import reading
from pipeline.parquet import write_file
from pipeline.parts import COLLECTION, Part
from pipeline.plan import order_of
from pipeline.schema import TEXT, Table

_FEW = 1024
"""So many rows are sorted where they are, more by DuckDB."""

Counts = list[list[Any]]
"""Values of the columns that a table is counted by, each followed by their rows."""


@dataclass(frozen=True, slots=True)
class Job:
    """One file to be made.

    `path` is its place in the build `folder`, `parts` are lists of parts, each in the order of the lake. `old` is the
    lake's own file, of which the rows of the places in the Arrow file `gone` are left out, and with `is_unhomed` those
    of no home. `ids` gives what is stored for what stands in `collection_id`. DuckDB may hold `memory`.
    """

    table: Table
    folder: Path
    path: Path
    parts: Sequence[Sequence[Part]]
    old: Path | None
    gone: Path | None
    is_unhomed: bool
    ids: Mapping[str, str]
    memory: str


class Made(NamedTuple):
    """A file that was made: its rows and their counts."""

    rows: int
    counts: Counts


def make(job: Job) -> Made:
    """Make a file; none where it has no row."""
    gone = None if job.gone is None else pl.read_ipc(job.gone)
    streams = [_made(each, job.ids) for each in job.parts]
    if job.old is not None:
        streams.append(_kept(job, job.old, gone))
    counted = _Counted(job.table)
    file = job.folder / job.path
    rows = write_file(job.table, counted.through(_in_order(streams, job)), file)
    if rows == 0:
        file.unlink()
    return Made(rows, counted.counts())


def _made(made: Sequence[Part], ids: Mapping[str, str]) -> Iterator[pa.Table]:
    """Yield the rows of parts, collections by their ids."""
    for part in made:
        rows = parts.read(part)
        place = rows.schema.get_field_index(COLLECTION)
        told = rows.column(place).combine_chunks().dictionary_encode()
        named = pa.array([ids.get(label, label) for label in told.dictionary.to_pylist()], pa.large_string())
        yield rows.set_column(place, COLLECTION, named.take(told.indices))


def _kept(job: Job, old: Path, gone: pl.DataFrame | None) -> Iterator[pa.Table]:
    """Yield what is kept of the lake's own file, row group by row group."""
    with reading(old):
        opened = pq.ParquetFile(old, memory_map=True)
    with opened as file:
        for number in range(file.num_row_groups):
            with reading(old):
                rows = cast("pl.DataFrame", pl.from_arrow(file.read_row_group(number)))
            if job.is_unhomed:
                rows = rows.filter(pl.col(job.table.file).is_not_null())
            if gone is not None:
                told = list(at(job.table).values())
                rows = rows.join(
                    gone, left_on=told, right_on=list(PLACES), how="anti", nulls_equal=True, maintain_order="left"
                )
            yield parts.to_arrow(rows)


Key = tuple[tuple[bool, bytes], ...]
"""Values of some columns as `order_of` has them."""


class _Piece(NamedTuple):
    """Rows that follow each other in a table of a stream and share a key: so many from `start` on."""

    key: Key
    stream: int
    table: pa.Table
    start: int
    rows: int


def _cut(pieces: Iterable[_Piece], columns: Sequence[str]) -> Iterator[_Piece]:
    """Cut pieces where one of some columns of text changes."""
    for piece in pieces:
        told = cast("pl.DataFrame", pl.from_arrow(piece.table.select(columns).slice(piece.start, piece.rows)))
        start = piece.start
        for length, values in told.select(pl.struct(columns).rle().alias("run")).unnest("run").iter_rows():
            yield _Piece(order_of(tuple(values.values())), piece.stream, piece.table, start, length)
            start += length


def _in_order(streams: Sequence[Iterator[pa.Table]], job: Job) -> Iterator[pa.Table]:
    """Merge streams of rows, each in the order of the table."""
    if len(streams) == 1:
        yield from streams[0]
        return
    whole = [_whole(tables, stream) for stream, tables in enumerate(streams)]
    yield from _joined(_merged([groupby(_cut(pieces, ("host", "user")), key=_key) for pieces in whole], job))


def _whole(tables: Iterable[pa.Table], stream: int) -> Iterator[_Piece]:
    for table in tables:
        yield _Piece((), stream, table, 0, table.num_rows)


def _key(piece: _Piece) -> Key:
    return piece.key


def _merged(streams: Sequence[Iterator[tuple[Key, Iterator[_Piece]]]], job: Job) -> Iterator[_Piece]:
    """Merge the pieces of owners; those of an owner that several streams have are merged in smaller ones."""
    heads = [(*head, number) for number, stream in enumerate(streams) if (head := next(stream, None))]
    while heads:
        owner = min(key for key, _, _ in heads)
        same = [head for head in heads if head[0] == owner]
        pieces = [each for _, each, _ in same]
        yield from pieces[0] if len(pieces) == 1 else _shared(pieces, job)
        heads = [head for head in heads if head[0] != owner]
        heads += [(*head, number) for _, _, number in same if (head := next(streams[number], None))]


def _shared(streams: Sequence[Iterator[_Piece]], job: Job) -> Iterator[_Piece]:
    """Merge pieces of one owner by the texts that its rows are ordered by first.

    So no more is held than a table of each stream, and the rows that are equal in these texts.
    """
    stored = {column.name: column.dtype for column in job.table.stored}
    texts = list(takewhile(lambda name: stored[name] == TEXT, (name for name in job.table.order if name in stored)))
    merged = heapq.merge(*(_cut(pieces, texts) for pieces in streams), key=lambda piece: (piece.key, piece.stream))
    for _, pieces in groupby(merged, key=_key):
        held = list(pieces)
        yield from held if len({piece.stream for piece in held}) == 1 else _sorted(held, job)


def _joined(pieces: Iterable[_Piece]) -> Iterator[pa.Table]:
    """Yield tables, of pieces that follow each other in one table one."""
    last: _Piece | None = None
    for piece in pieces:
        if last is not None and piece.table is last.table and piece.start == last.start + last.rows:
            last = last._replace(rows=last.rows + piece.rows)
            continue
        if last is not None:
            yield last.table.slice(last.start, last.rows)
        last = piece
    if last is not None:
        yield last.table.slice(last.start, last.rows)


def _sorted(pieces: Sequence[_Piece], job: Job) -> Iterator[_Piece]:
    """Sort rows in the order of the table; what does not fit into memory is spilled."""
    schema = pieces[0].table.schema
    rows = pa.concat_tables(piece.table.slice(piece.start, piece.rows).cast(schema) for piece in pieces)
    if rows.num_rows <= _FEW:
        order = [name for name in job.table.order if name in schema.names]
        few = cast("pl.DataFrame", pl.from_arrow(rows)).sort(order, nulls_last=True)
        made = few.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(schema)
        yield _Piece(pieces[0].key, -1, made, 0, made.num_rows)
        return
    with tempfile.TemporaryDirectory(dir=job.folder) as spill:
        settings: dict[str, Any] = {"threads": 1, "temp_directory": spill, "memory_limit": job.memory}
        with duckdb.connect(config=settings) as connection:
            connection.register("rows", rows)
            order = [name for name in job.table.order if name in schema.names]
            columns = ", ".join(f'"{name}" asc nulls last' for name in order)
            for batch in connection.sql(f"select * from rows order by {columns}").to_arrow_reader(65_536):  # noqa: S608  (declared names)
                yield _Piece(pieces[0].key, -1, pa.Table.from_batches([batch]).cast(schema), 0, batch.num_rows)


class _Counted:
    """Counts rows by some columns of their table as they pass."""

    def __init__(self, table: Table) -> None:
        self._columns = list(table.counted)
        self._seen = Counter[tuple[Any, ...]]()

    def through(self, rows: Iterator[pa.Table]) -> Iterator[pa.Table]:
        """Yield rows, and count them."""
        for table in rows:
            if self._columns:
                self._seen.update(zip(*(table.column(name).to_pylist() for name in self._columns), strict=True))
            yield table

    def counts(self) -> Counts:
        """The counts, in order."""
        return [[*row, n] for row, n in sorted(self._seen.items(), key=lambda entry: entry[0])]
