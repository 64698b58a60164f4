"""Rows of the lake as it was, of the homes of one batch: read from the files of their bucket, never the whole lake."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.history import History, last_positions
from pipeline.lake import reading
from pipeline.partition import PARTITION, partition, path_of
from pipeline.schema import TEXT, Table
from pipeline.staging import conform

PLACES = ("host", "user", "collection_id", "home_path", "source_file")
"""What tells the home of a row: homes that share all of these are worked on together (`pipeline.linked`)."""


def places(histories: Iterable[History]) -> pl.DataFrame:
    """What the lake's rows of some homes tell of the place that they come from: `PLACES`."""
    found = {
        (history.host, history.user, label, path, source_file)
        for history in histories
        for label, path, source_file, _ in last_positions(history)
    }
    return pl.DataFrame(list(found), schema=dict.fromkeys(PLACES, TEXT), orient="row")


def at(table: Table) -> dict[str, pl.Expr]:
    """What a table's rows tell of `PLACES`; one that rests on no file tells the key of its session."""
    told = {name: pl.col(name) for name in PLACES} | {"home_path": pl.col(table.file)}
    if "session_key" in (column.name for column in table.columns):
        told["source_file"] = pl.coalesce("source_file", "session_key")
    return told


def near(found: pl.DataFrame) -> pl.Expr:
    """A condition on host and user that all rows of `found` fulfil, so that files' rows of others are not read."""
    return pl.all_horizontal(
        pl.col(name).is_in(found[name].unique().implode(), nulls_equal=True) for name in ("host", "user")
    )


_FILE, _AGENT = "_file", r"[/\\]agent=([^/\\]*)[/\\]month=[^/\\]*[/\\][^/\\]*$"


@dataclass(frozen=True, slots=True)
class Carried:
    """The rows of a finished build that belong to some homes of a bucket, of which `found` has the places.

    `losing` are the files of which `changed` has found that these rows are others now, as paths below the build.
    """

    build: Path | None
    bucket: int
    found: pl.DataFrame
    losing: set[str] = field(default_factory=set)

    def rows(self, table: Table) -> pl.DataFrame:
        """Rows of a table, without an order."""
        if self.build is None or self.found.is_empty():
            return table.empty()
        folder, name = self.build / table.name, f"{self.bucket:02}.parquet"
        files = list(folder.glob(name if table.time is None else f"agent=*/month=*/{name}"))
        if not files:
            return table.empty()
        with reading(folder):
            scanned = pl.scan_parquet(sorted(files), glob=False, hive_partitioning=False, include_file_paths=_FILE)
            rows = scanned.filter(near(self.found)).collect()
        told = list(at(table).values())
        rows = rows.join(self.found, left_on=told, right_on=list(PLACES), how="semi", nulls_equal=True)
        agent = {} if table.time is None else {"agent": pl.col(_FILE).str.extract(_AGENT)}
        return conform(rows.with_columns(**agent).drop(_FILE), table)

    def changed(self, table: Table, before: pl.DataFrame, now: pl.DataFrame) -> pl.DataFrame:
        """The rows of files that change, where the homes have the rows `now` in the place of those `before`."""
        if before.is_empty():
            return now
        files = [_by_file(table, rows) for rows in (before, now)]
        same = [file for file in files[0].keys() & files[1].keys() if files[0][file].equals(files[1][file])]
        self.losing.update(path_of(table, self.bucket, *file) for file in files[0].keys() - set(same))
        return pl.concat([table.empty(), *(rows for file, rows in files[1].items() if file not in same)])


def _by_file(table: Table, rows: pl.DataFrame) -> dict[tuple[Any, ...], pl.DataFrame]:
    """Rows in order by what tells their file."""
    placed = rows.sort(table.order, nulls_last=True).with_columns(**partition(table))
    return placed.partition_by(PARTITION, as_dict=True, include_key=False)
