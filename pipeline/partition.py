"""Which file of a build a row goes into: by its table, bucket, assistant and month."""

import polars as pl

from pipeline.schema import Table

UNKNOWN = "unknown"
"""Month of rows without a time."""

PARTITION = ("_agent", "_month")
"""Columns that tell the file of a row."""


def partition(table: Table) -> dict[str, pl.Expr]:
    """`PARTITION` of a table's rows; texts, empty where the table has but one file in a bucket."""
    if table.time is None:
        return dict.fromkeys(PARTITION, pl.lit(""))
    month = pl.col(table.time).dt.strftime("%Y-%m").fill_null(UNKNOWN)
    return dict(zip(PARTITION, (pl.col("agent"), month), strict=True))


def path_of(table: Table, bucket: int, agent: str = "none", month: str = UNKNOWN) -> str:
    """Path below a build of a file; of an empty table's where no assistant is given."""
    name = f"{bucket:02}.parquet"
    return f"{table.name}/{name}" if table.time is None else f"{table.name}/agent={agent}/month={month}/{name}"
