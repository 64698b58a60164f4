"""Stage three: from staged frames to the lake's tables, by the SELECTs of `sql/`, in DuckDB."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files
from typing import Any, Self, cast

import duckdb
import polars as pl

from pipeline.schema import Table
from pipeline.staging import conform
from pipeline.tables import LONG, TABLES

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


@dataclass(frozen=True, slots=True)
class Limits:
    """What a join may use: a directory for what does not fit into `memory` (a DuckDB size such as `1GB`)."""

    spill: str
    memory: str


class Joined:
    """The lake's tables of a batch, made of its staged frames; used as a context."""

    def __init__(self, staged: Mapping[str, pl.DataFrame], limits: Limits, variables: Mapping[str, bool]) -> None:
        settings: dict[str, Any] = {
            "threads": 1,
            "temp_directory": limits.spill,
            "memory_limit": limits.memory,
            "produce_arrow_string_view": True,
        }
        self._connection = duckdb.connect(config=settings)
        for name, value in variables.items():
            self._connection.execute(f"set variable {name} = {value}")
        self._connection.execute(_macros())
        for name, frame in staged.items():
            self._connection.register(name, frame.to_arrow(compat_level=pl.CompatLevel.newest()))
        for name in step_order():
            self._connection.execute(f'create temp table "{name}" as {selects("steps")[name]}')
        for name, select in selects("joined").items():
            self._connection.execute(f'create temp view "{name}" as {select}')

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def tables(self) -> Iterator[tuple[Table, pl.DataFrame]]:
        """Yield the tables, without an order."""
        for table in TABLES:
            select = selects("tables").get(table.name)
            if select is not None:
                made = self._connection.sql(select).to_arrow_table()
                self._connection.register(table.name, made.drop_columns([n for n in made.column_names if n in LONG]))
                yield table, conform(cast("pl.DataFrame", pl.from_arrow(made)), table)

    def failures(self) -> Counter[str]:
        """Count the rows that each check finds wrong in the tables that were yielded; none for one that passes."""
        found = {name: len(self._connection.sql(select).fetchall()) for name, select in selects("checks").items()}
        return Counter({name: rows for name, rows in found.items() if rows})
