"""The files of a build that hold rows of homes that changed.

A file's rows are in one total order. They are sorted by their keys alone; whole rows, which stay in mapped files until
then, are gathered for one stretch of the order after the other.
"""

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, cast

import polars as pl
import pyarrow.parquet as pq

from pipeline.carried import at
from pipeline.lake import reading
from pipeline.parquet import GROUP_BYTES, GROUP_ROWS, Stretch, stretch_of, text_bytes, write_file
from pipeline.parts import Mapped, Part, write_frame
from pipeline.schema import Table

_COLLECTION = "collection_id"
"""Column in which other texts are stored in the end."""

Counts = list[list[Any]]
"""Values of the columns that a table is counted by, each followed by their rows."""


class Makings(NamedTuple):
    """What a file is made of: parts that batches made, and the lake's own file.

    `path` is its place below a build. Of the lake's own `old` those rows are left out whose places, or keys, are in the
    Arrow files `gone`.
    """

    path: str
    parts: Sequence[Part]
    old: Path | None = None
    gone: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """Files of one table to be made in the build `folder`; `ids` gives what is stored for what `collection_id` has."""

    table: Table
    folder: Path
    files: Sequence[Makings]
    ids: Mapping[str, str]


class Made(NamedTuple):
    """A file that was made: its path below the build, its rows and their counts."""

    path: str
    rows: int
    counts: Counts


def make(job: Job) -> list[Made]:
    """Make files; none where there is no row."""
    made, counts, mapped = list[Made](), _Counts(job.table), Mapped()
    with tempfile.TemporaryDirectory(dir=job.folder) as spill:
        frames = [
            (number, frame)
            for number, file in enumerate(job.files)
            for frame in _frames(job.table, file, mapped, Path(spill))
            if frame.height
        ]
        rows = _in_order(frames, job, counts, mapped) if frames else iter(())
        for number, found in groupby(rows, key=itemgetter(0)):
            path = job.files[number].path
            height = write_file(job.table, (each for _, each in found), job.folder / path)
            made.append(Made(path, height, counts.of(number)))
    return made


def _frames(table: Table, file: Makings, mapped: Mapped, spill: Path) -> Iterator[pl.DataFrame]:
    """Yield the rows of which a file is made, in no order."""
    for part in file.parts:
        yield mapped.frame(part.path).slice(part.start, part.rows)
    if file.old is not None:
        for number, rows in enumerate(_kept(table, file, file.old)):
            place = spill / f"{file.path.replace('/', '.')}.{number}"
            write_frame(rows, place)
            yield mapped.frame(place)


def _kept(table: Table, file: Makings, old: Path) -> Iterator[pl.DataFrame]:
    """Yield what is kept of the lake's own file, row group by row group."""
    gone = _alike(Mapped().frame(path) for path in file.gone)
    with reading(old):
        opened = pq.ParquetFile(old, memory_map=True)
    with opened:
        for number in range(opened.num_row_groups):
            with reading(old):
                rows = cast("pl.DataFrame", pl.from_arrow(opened.read_row_group(number)))
            for those in gone:
                told = [at(table).get(name, pl.col(name)) for name in those.columns]
                rows = rows.join(
                    those, left_on=told, right_on=those.columns, how="anti", nulls_equal=True, maintain_order="left"
                )
            yield rows


def _alike(frames: Iterable[pl.DataFrame]) -> list[pl.DataFrame]:
    """Frames of the same columns as one."""
    found: defaultdict[tuple[str, ...], list[pl.DataFrame]] = defaultdict(list)
    for frame in frames:
        found[tuple(frame.columns)].append(frame)
    return [pl.concat(same) for same in found.values()]


def _in_order(
    frames: Sequence[tuple[int, pl.DataFrame]], job: Job, counts: "_Counts", mapped: Mapped
) -> Iterator[tuple[int, Stretch]]:
    """Yield the rows of frames, each with the number of its file, file by file in the order of the table.

    No more than a row group is gathered at once.
    """
    whole = pl.concat((frame for _, frame in frames), rechunk=False)
    names = [name for name in job.table.order if name in whole.columns]
    each = pl.DataFrame({"_file": [file for file, _ in frames], "_rows": [frame.height for _, frame in frames]})
    places = (
        each.with_row_index("_frame")
        .select(pl.col("_file", "_frame").repeat_by("_rows"), _at=pl.int_ranges("_rows", dtype=pl.UInt32))
        .explode("_file", "_frame", "_at")
    )
    keys = whole.select(*names, _bytes=text_bytes()).hstack(places)
    place = pl.arg_sort_by("_file", *names, nulls_last=True)
    order = keys.select(pl.col("_file", "_frame", "_at", "_bytes").gather(place))
    full = (pl.col("_bytes").cum_sum() // GROUP_BYTES, pl.int_range(pl.len()) // GROUP_ROWS)
    for stretch in order.with_columns(_stretch=pl.struct(*full).rle_id()).partition_by("_stretch", maintain_order=True):
        gathered = _gathered([frame for _, frame in frames], stretch)
        counts.add(stretch["_file"], gathered)
        rows, begin = stretch_of(job.table, gathered.with_columns(pl.col(_COLLECTION).replace(job.ids))), 0
        del gathered
        mapped.release()
        for length, file in stretch["_file"].rle().struct.unnest().iter_rows():
            yield file, rows.slice(begin, length)
            begin += length


def _gathered(frames: Sequence[pl.DataFrame], order: pl.DataFrame) -> pl.DataFrame:
    """The rows of frames (`_frame`) at places in them (`_at`), in order."""
    groups = order.with_row_index("_to").partition_by("_frame", maintain_order=True)
    rows: pl.DataFrame = pl.concat([frames[places["_frame"][0]][places["_at"]] for places in groups], rechunk=True)
    if len(groups) == 1:
        return rows
    return rows.select(pl.all().gather(pl.concat(places["_to"] for places in groups).arg_sort()))


class _Counts:
    """Counts the rows of files by some columns of their table."""

    def __init__(self, table: Table) -> None:
        self._columns = list(table.counted)
        self._seen: defaultdict[int, Counter[tuple[Any, ...]]] = defaultdict(Counter)

    def add(self, files: pl.Series, rows: pl.DataFrame) -> None:
        """Count rows of files of these numbers."""
        if self._columns:
            counted = rows.select(self._columns).with_columns(files).group_by(files.name, *self._columns).len()
            for file, *values, n in counted.iter_rows():
                self._seen[file][tuple(values)] += n

    def of(self, number: int) -> Counts:
        """The counts of a file, in order."""
        return [[*values, n] for values, n in sorted(self._seen[number].items())]
