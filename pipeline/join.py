"""Stage three: from staged frames to the lake's tables, by the SELECTs of `sql/`, in DuckDB."""

import os
import re
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from graphlib import TopologicalSorter
from importlib.resources import files
from pathlib import Path
from typing import Any, Self, cast

import duckdb
import polars as pl

from pipeline.schema import COUNT, FLAG, TEXT, Table
from pipeline.staging import conform
from pipeline.tables import LONG

_READ = re.compile(r"\b(?:from|join)\s+(\w+)")

WHOLE = {"timeline": "rows", "twins": "rows", "tool_calls": "calls", "context_items": "contexts"}
"""Staged frames that have the whole texts (`LONG`) of tables, whose SELECTs give the `number` of the frame's row."""

COUNTS = {"join": COUNT, "is_table": FLAG, "name": TEXT, "rows": COUNT}
"""Rows of the staged frames, and of the tables that a join made of them, by its number."""


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
    """What joins may use: a directory for what does not fit into `memory` (a DuckDB size such as `1GB`)."""

    spill: Path
    memory: str


class _Database:
    """A database in memory for all joins of a process: each has a connection to it, and tables, of its own."""

    def __init__(self, limits: Limits) -> None:
        settings: dict[str, Any] = {
            "threads": 1,
            "temp_directory": str(limits.spill / f"spill-{os.getpid()}"),
            "memory_limit": limits.memory,
            "produce_arrow_string_view": True,
            # Joins are made in the order in which they are written. To look for a better one takes longer than to join.
            "disabled_optimizers": "join_order",
            # An ASOF join of few rows, as it guesses, would look at all pairs; the guess can be wrong.
            "asof_loop_join_threshold": 0,
        }
        self._connection = duckdb.connect(config=settings)
        self._connection.execute(_macros())
        self._statements: dict[str, duckdb.Statement] = {}

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Open a connection, which sees no other's tables."""
        return self._connection.cursor()

    def statement(self, text: str) -> duckdb.Statement:
        """The parsed form of a statement; each is parsed once."""
        if text not in self._statements:
            (self._statements[text],) = self._connection.extract_statements(text)
        return self._statements[text]


_database = lru_cache(maxsize=1)(_Database)
"""The database of this process: to open one takes as long as to join a small home."""


class Joined:
    """The lake's tables of a batch, made of its staged frames; used as a context."""

    def __init__(self, staged: Mapping[str, pl.DataFrame], limits: Limits, variables: Mapping[str, bool]) -> None:
        self._staged = dict(staged)
        self._made: dict[str, int] = {}
        self._database = _database(limits)
        self._connection = self._database.connect()
        for name, value in variables.items():
            self._run(f"set variable {name} = {value}")
        for name, frame in staged.items():
            self._register(name, frame.with_row_index("number") if name in WHOLE.values() else frame)
        for name in step_order():
            self._run(f'create temp table "{name}" as {selects("steps")[name]}')
        for name, select in selects("joined").items():
            self._run(f'create temp view "{name}" as {select}')

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def joined(self, table: Table) -> pl.DataFrame:
        """Rows that the joins make of the staged frames for a table, without an order; none where nothing makes any."""
        select = selects("tables").get(table.name)
        if select is None:
            return table.empty()
        made = self._rows(select)
        self._made[table.name] = made.height
        return conform(self._with_texts(table, made) if table.name in WHOLE else made, table)

    def _with_texts(self, table: Table, made: pl.DataFrame) -> pl.DataFrame:
        """Rows with the whole texts of the staged rows that they are made of, where the join gives none itself."""
        staged = self._staged[WHOLE[table.name]]
        found = (text.gather(made["number"]) for text in staged if text.name in LONG and text.name in table.names)
        return made.with_columns(
            _instead(text, made[text.name]) if text.name in made.columns else text for text in found
        )

    def _run(self, text: str) -> duckdb.DuckDBPyConnection:
        return self._connection.execute(self._database.statement(text))

    def _rows(self, select: str) -> pl.DataFrame:
        with warnings.catch_warnings():
            # The copy that it warns of takes less than to bind the statement twice.
            warnings.filterwarnings("ignore", "Arrow output on a DB-API result", UserWarning)
            return cast("pl.DataFrame", pl.from_arrow(self._run(select).to_arrow_table()))

    def _register(self, name: str, frame: pl.DataFrame) -> None:
        self._connection.register(name, frame.to_arrow(compat_level=pl.CompatLevel.newest()))

    def put(self, name: str, frame: pl.DataFrame) -> None:
        """Hand in a frame, or what was merged of a table, for `merged` and the checks; whole texts are left out."""
        self._register(name, frame.drop(LONG, strict=False))

    def merged(self, table: Table) -> pl.DataFrame:
        """Rows of a table that `sql/merged/` makes of the merged tables."""
        return conform(self._rows(selects("merged")[table.name]), table)

    def counts(self) -> pl.DataFrame:
        """How many rows the staged frames have, and how many the joins made of each table."""
        staged = {name: frame.height for name, frame in self._staged.items()}
        both = ((False, staged), (True, self._made))
        rows = [(id(self), is_table, *named) for is_table, heights in both for named in heights.items()]
        return pl.DataFrame(rows, schema=COUNTS, orient="row")

    def failures(self, counts: pl.DataFrame) -> Counter[str]:
        """Count the rows that each check finds wrong in the tables that were put; none for one that passes."""
        self.put("counts", counts)
        found = {name: len(self._run(select).fetchall()) for name, select in selects("checks").items()}
        return Counter({name: rows for name, rows in found.items() if rows})


def _instead(texts: pl.Series, own: pl.Series) -> pl.Series:
    """Texts with what `own` has in their places, where that is not null. None is copied, as polars does to choose."""
    is_own = own.is_not_null()
    behind = is_own.cum_sum().cast(pl.Int64) + (len(texts) - 1)
    places = pl.select(pl.when(is_own).then(behind).otherwise(pl.int_range(len(texts)))).to_series()
    return pl.concat([texts, own.filter(is_own)], rechunk=True).gather(places)
