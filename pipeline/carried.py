"""Rows of the lake as it was, for the homes of one batch: read from the files of their bucket, never the whole lake."""

from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path

import polars as pl

from pipeline.schema import TEXT, Table
from pipeline.staging import conform

Owner = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class Carried:
    """The rows of a finished build that belong to some hosts and users of a bucket: all their homes."""

    build: Path
    bucket: int
    owners: frozenset[Owner]

    def rows(self, table: Table) -> pl.DataFrame:
        """Rows of a table, without an order."""
        owners = pl.DataFrame(list(self.owners), schema={"host": TEXT, "user": TEXT}, orient="row")
        frames = [table.empty()]
        for file, agent in self._files(table):
            # The condition lets row groups of others be passed over; the join is exact. What has no path below a home
            # belongs to none.
            found = (
                pl.scan_parquet(file, glob=False, hive_partitioning=False)
                .filter(self._near())
                .filter(pl.col("home_path").is_not_null() if "home_path" in table.names else pl.lit(value=True))
                .collect()
                .join(owners, on=("host", "user"), how="semi", nulls_equal=True)
            )
            frames.append(conform(found.with_columns(agent=pl.lit(agent)) if agent else found, table))
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

    def _near(self) -> pl.Expr:
        hosts = {host for host, _ in self.owners}
        near = _between("host", hosts)
        return near & _between("user", {user for _, user in self.owners}) if len(hosts) == 1 else near


def _between(name: str, values: Set[str | None]) -> pl.Expr:
    """Whether a column lies between the least and the greatest of `values`, or is null where one of them is."""
    column, known = pl.col(name), [value for value in values if value is not None]
    conditions = [column.is_between(pl.lit(min(known)), pl.lit(max(known)))] if known else []
    if None in values:
        conditions.append(column.is_null())
    return reduce(or_, conditions)
