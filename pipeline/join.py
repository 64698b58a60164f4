"""Stage three: from staged frames to the lake's tables, by the SELECTs of `sql/`, in DuckDB."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files
from typing import Any, cast

import duckdb
import polars as pl

from pipeline.schema import TABLES, Table
from pipeline.staging import conform

_READ = re.compile(r"\b(?:from|join)\s+(\w+)")


@cache
def selects(folder: str) -> dict[str, str]:
    """SELECTs of a folder of `sql/`, by name."""
    found = (entry for entry in files("sql").joinpath(folder).iterdir() if entry.name.endswith(".sql"))
    return {entry.name.removesuffix(".sql"): entry.read_text(encoding="utf-8") for entry in sorted(found, key=str)}


@cache
def _macros() -> str:
    return files("sql").joinpath("macros.sql").read_text(encoding="utf-8")


@cache
def step_order() -> tuple[str, ...]:
    """Steps, each behind those that it reads."""
    steps = selects("steps")
    # DuckDB lists a query's tables only where it can bind it, and the tables are not there yet.
    reads = {name: set(_READ.findall(select)) & steps.keys() for name, select in steps.items()}
    return tuple(TopologicalSorter(reads).static_order())


def join(staged: Mapping[str, pl.DataFrame], spill: str, memory: str) -> Iterator[tuple[Table, pl.DataFrame]]:
    """Yield the lake's tables made of the staged frames, without an order.

    `spill` is a directory for what does not fit into `memory` (a DuckDB size such as `1GB`).
    """
    settings: dict[str, Any] = {
        "threads": 1,
        "temp_directory": spill,
        "memory_limit": memory,
        "produce_arrow_string_view": True,
    }
    with duckdb.connect(config=settings) as connection:
        connection.execute(_macros())
        for name, frame in staged.items():
            connection.register(name, frame.to_arrow(compat_level=pl.CompatLevel.newest()))
        for name in step_order():
            connection.execute(f'create temp table "{name}" as {selects("steps")[name]}')
        for name, select in selects("joined").items():
            connection.execute(f'create temp view "{name}" as {select}')
        for table in TABLES:
            select = selects("tables").get(table.name)
            if select is not None:
                made = pl.from_arrow(connection.sql(select).to_arrow_table())
                yield table, conform(cast("pl.DataFrame", made), table)
