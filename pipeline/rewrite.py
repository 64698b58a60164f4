"""The files of a build: those that hold rows of homes that changed are written, all others are linked.

A file's rows are in one total order. They are sorted by their keys alone; whole rows, which stay in mapped files until
then, are gathered for one stretch of the order after the other.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

import polars as pl
import pyarrow.parquet as pq

from pipeline.carried import PLACES, at
from pipeline.lake import reading
from pipeline.parquet import GROUP_ROWS, write_file
from pipeline.parts import Part, read_frame, write_frame
from pipeline.schema import Table

_COLLECTION = "collection_id"
"""Column in which other texts are stored in the end."""

Counts = list[list[Any]]
"""Values of the columns that a table is counted by, each followed by their rows."""


@dataclass(frozen=True, slots=True)
class Job:
    """One file to be made.

    `path` is its place in the build `folder`, `parts` are what batches made for it. `old` is the lake's own file, of
    which the rows of the places in the Arrow file `gone` are left out, and with `is_unhomed` those of no home. `ids`
    gives what is stored for what stands in `collection_id`.
    """

    table: Table
    folder: Path
    path: Path
    parts: Sequence[Part]
    old: Path | None
    gone: Path | None
    is_unhomed: bool
    ids: Mapping[str, str]


class Made(NamedTuple):
    """A file that was made: its rows and their counts."""

    rows: int
    counts: Counts


def make(job: Job) -> Made:
    """Make a file; none where it has no row."""
    gone = None if job.gone is None else pl.read_ipc(job.gone)
    counted = _Counted(job.table)
    file = job.folder / job.path
    with tempfile.TemporaryDirectory(dir=job.folder) as spill:
        frames = [read_frame(part.path, part.start, part.rows) for part in job.parts]
        if job.old is not None:
            frames.extend(_kept(job, job.old, gone, Path(spill)))
        rows = write_file(job.table, counted.through(_named(_in_order(frames, job.table), job.ids)), file)
    if rows == 0:
        file.unlink()
    return Made(rows, counted.counts())


def _kept(job: Job, old: Path, gone: pl.DataFrame | None, spill: Path) -> Iterator[pl.DataFrame]:
    """Yield what is kept of the lake's own file, a frame a row group; their rows are in files in `spill`."""
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
            write_frame(rows, spill / f"{number}.arrow")
            yield read_frame(spill / f"{number}.arrow")


def _in_order(frames: Sequence[pl.DataFrame], table: Table) -> Iterator[pl.DataFrame]:
    """Yield the rows of frames in the order of a table, a stretch of the order at once."""
    if not frames:
        return
    names = [name for name in table.order if name in frames[0].columns]
    keys = pl.concat(
        [
            frame.select(*names, _frame=pl.lit(number, pl.Int32)).with_row_index("_at")
            for number, frame in enumerate(frames)
        ]
    )
    order = keys.select("_frame", "_at")[keys.select(pl.arg_sort_by(names, nulls_last=True)).to_series()]
    for start in range(0, order.height, GROUP_ROWS):
        yield _gathered(frames, order.slice(start, GROUP_ROWS))


def _gathered(frames: Sequence[pl.DataFrame], order: pl.DataFrame) -> pl.DataFrame:
    """The rows of frames (`_frame`) at places in them (`_at`), in order."""
    groups = order.with_row_index("_to").partition_by("_frame", maintain_order=True)
    rows: pl.DataFrame = pl.concat([frames[places["_frame"][0]][places["_at"]] for places in groups], rechunk=True)
    if len(groups) == 1:
        return rows
    return rows.select(pl.all().gather(pl.concat(places["_to"] for places in groups).arg_sort()))


def _named(frames: Iterator[pl.DataFrame], ids: Mapping[str, str]) -> Iterator[pl.DataFrame]:
    """Yield rows with their collections by their ids."""
    for frame in frames:
        yield frame.with_columns(pl.col(_COLLECTION).replace(ids))


class _Counted:
    """Counts rows by some columns of their table as they pass."""

    def __init__(self, table: Table) -> None:
        self._columns = list(table.counted)
        self._seen = Counter[tuple[Any, ...]]()

    def through(self, frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Yield rows, and count them."""
        for frame in frames:
            if self._columns:
                for *values, n in frame.group_by(self._columns).len().iter_rows():
                    self._seen[tuple(values)] += n
            yield frame

    def counts(self) -> Counts:
        """The counts, in order."""
        return [[*row, n] for row, n in sorted(self._seen.items(), key=lambda entry: entry[0])]
