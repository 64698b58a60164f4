"""A reader in a process of its own: asks a lake again and again, and prints a line of JSON for each answer."""

import json
import sys
from pathlib import Path

import duckdb
import polars as pl

QUESTION = "select (select count(*) from sessions), (select count(*) from timeline), (select count(*) from artifacts)"
TABLES = ("sessions/*.parquet", "timeline/*/*/*.parquet", "artifacts/*.parquet")


def by_polars(lake: Path) -> list[int]:
    """Rows of the tables of the lake's current build, whose directory is looked up once."""
    build = (lake / "current").resolve()
    return [pl.scan_parquet(build / files).select(pl.len()).collect().item() for files in TABLES]


def main(lake: Path, until: Path) -> None:
    """Ask on one connection until that fails, on a new connection each time, and by polars, until a file is there."""
    held: duckdb.DuckDBPyConnection | None = duckdb.connect(str(lake / "lake.duckdb"), read_only=True)
    is_last = False
    while not is_last:
        is_last = until.exists()
        if held is not None:
            try:
                print(json.dumps(["held", held.execute(QUESTION).fetchone()]), flush=True)
            except duckdb.Error as error:
                print(json.dumps(["failed", f"{type(error).__name__}: {error}"]), flush=True)
                held = None
        with duckdb.connect(str(lake / "lake.duckdb"), read_only=True) as fresh:
            print(json.dumps(["fresh", fresh.execute(QUESTION).fetchone()]), flush=True)
        print(json.dumps(["polars", by_polars(lake)]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
