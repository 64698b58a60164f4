"""Rows of the lake as it was, of the homes of one batch: read from the files of their bucket, never the whole lake."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from pipeline.history import History, last_positions
from pipeline.lake import reading
from pipeline.schema import TEXT, Table
from pipeline.staging import conform

PLACES = ("host", "user", "collection_id", "home_path", "source_file")
"""What tells the home of a row: homes that share all of these are worked on together (`pipeline.linked`)."""


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
    """A condition on host and user that all rows of `found` fulfil, so that files' rows of others are not read."""
    return pl.all_horizontal(
        pl.col(name).is_in(found[name].unique().implode(), nulls_equal=True) for name in ("host", "user")
    )


_FILE, _AGENT = "_file", r"[/\\]agent=([^/\\]*)[/\\]month=[^/\\]*[/\\][^/\\]*$"


@dataclass(frozen=True, slots=True)
class Carried:
    """The rows of a finished build that belong to some homes of a bucket, of which `found` has the places.

    `files` are those that have some, as paths below the build, once the rows of their table were asked for.
    """

    build: Path
    bucket: int
    found: pl.DataFrame
    files: set[str] = field(default_factory=set)

    def rows(self, table: Table) -> pl.DataFrame:
        """Rows of a table, without an order."""
        folder, name = self.build / table.name, f"{self.bucket:02}.parquet"
        files = list(folder.glob(name if table.time is None else f"agent=*/month=*/{name}"))
        if self.found.is_empty() or not files:
            return table.empty()
        with reading(folder):
            scanned = pl.scan_parquet(sorted(files), glob=False, hive_partitioning=False, include_file_paths=_FILE)
            rows = scanned.filter(near(self.found)).collect()
        told = list(at(table).values())
        rows = rows.join(self.found, left_on=told, right_on=list(PLACES), how="semi", nulls_equal=True)
        depth = len(files[0].relative_to(self.build).parts)
        self.files.update("/".join(Path(file).parts[-depth:]) for file in rows[_FILE].unique())
        agent = {} if table.time is None else {"agent": pl.col(_FILE).str.extract(_AGENT)}
        return conform(rows.with_columns(**agent).drop(_FILE), table)
