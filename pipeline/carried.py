"""Rows of the lake as it was, of the homes of one batch: read from the files of their bucket, never the whole lake."""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path

import polars as pl

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
            with reading(file):
                rows = pl.scan_parquet(file, glob=False, hive_partitioning=False).filter(near(self.found)).collect()
            told = list(at(table).values())
            rows = rows.join(self.found, left_on=told, right_on=list(PLACES), how="semi", nulls_equal=True)
            frames.append(conform(rows.with_columns(agent=pl.lit(agent)) if agent else rows, table))
        return pl.concat(frames)

    def _files(self, table: Table) -> Iterator[tuple[Path, str | None]]:
        """The table's files of the bucket, with the assistant that the path tells."""
        name = f"{self.bucket:02}.parquet"
        if table.time is None:
            files = [self.build / table.name / name]
            yield from ((file, None) for file in files if file.exists())
            return
        for file in sorted((self.build / table.name).glob(f"agent=*/month=*/{name}")):
            yield file, file.parent.parent.name.removeprefix("agent=")
