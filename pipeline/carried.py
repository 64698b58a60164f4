"""Rows of the lake as it was, of the homes of one batch: read from the files of their bucket, never the whole lake."""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import cast

import polars as pl
import pyarrow.parquet as pq

from pipeline.history import History, last_positions
from pipeline.lake import reading
from pipeline.schema import TEXT, Table
from pipeline.staging import conform

PLACES = ("host", "user", "collection_id", "home_path", "source_file")
"""What tells the home of a row: no two homes share all of these."""


def places(histories: Iterable[History]) -> pl.DataFrame:
    """What the lake's rows of some homes tell of the place that they come from: `PLACES`."""
    found = {
        (history.host, history.user, label, path, source_file)
        for history in histories
        for label, path, source_file, _ in last_positions(history.held)
    }
    return pl.DataFrame(list(found), schema=dict.fromkeys(PLACES, TEXT), orient="row")


def at(table: Table) -> dict[str, pl.Expr]:
    """What a table's rows tell of `PLACES`; one that rests on no file tells the key of its session."""
    told = {name: pl.col(name) for name in PLACES} | {"home_path": pl.col(table.file)}
    if "session_key" in (column.name for column in table.columns):
        told["source_file"] = pl.coalesce("source_file", "session_key")
    return told


def near(found: pl.DataFrame) -> pl.Expr:
    """A condition on host and user that all rows of `found` fulfil, so that row groups of others are passed over."""
    hosts = set(found["host"])
    condition = _between("host", hosts)
    return condition & _between("user", set(found["user"])) if len(hosts) == 1 else condition


def _between(name: str, values: Set[str | None]) -> pl.Expr:
    """Whether a column lies between the least and the greatest of `values`, or is null where one of them is."""
    column, known = pl.col(name), [value for value in values if value is not None]
    conditions = [column.is_between(pl.lit(min(known)), pl.lit(max(known)))] if known else []
    if None in values:
        conditions.append(column.is_null())
    return reduce(or_, conditions)


@dataclass(frozen=True, slots=True)
class Carried:
    """The rows of a finished build that belong to some homes of a bucket, of which `found` has the places."""

    build: Path
    bucket: int
    found: pl.DataFrame

    def rows(self, table: Table) -> pl.DataFrame:
        """Rows of a table, without an order."""
        frames = [table.empty()]
        for file, agent in () if self.found.is_empty() else self._files(table):
            rows = self._rows(file, table)
            frames.append(conform(rows.with_columns(agent=pl.lit(agent)) if agent else rows, table))
        return pl.concat(frames)

    def _rows(self, file: Path, table: Table) -> pl.DataFrame:
        """Rows of a file: only row groups that have some are read whole."""
        with reading(file):
            places = pl.scan_parquet(file, glob=False, hive_partitioning=False).with_row_index("at").filter(
                near(self.found)
            ).select("at", **at(table)).collect()  # fmt: skip
            wanted = places.join(self.found, on=PLACES, how="semi", nulls_equal=True)["at"]
            frames, start = list[pl.DataFrame](), 0
            with pq.ParquetFile(file, memory_map=True) as opened:
                for number in range(opened.num_row_groups):
                    rows = opened.metadata.row_group(number).num_rows
                    inside = wanted.filter(wanted.is_between(start, start + rows - 1)) - start
                    if not inside.is_empty():
                        frames.append(cast("pl.DataFrame", pl.from_arrow(opened.read_row_group(number)))[inside])
                    start += rows
        return pl.concat(frames) if frames else table.empty()

    def _files(self, table: Table) -> Iterator[tuple[Path, str | None]]:
        """The table's files of the bucket, with the assistant that the path tells."""
        name = f"{self.bucket:02}.parquet"
        if table.time is None:
            files = [self.build / table.name / name]
            yield from ((file, None) for file in files if file.exists())
            return
        for file in sorted((self.build / table.name).glob(f"agent=*/month=*/{name}")):
            yield file, file.parent.parent.name.removeprefix("agent=")
