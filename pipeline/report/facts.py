"""What a lake is asked for the report: the SELECTs of `sql/report/`, each kept as a table of its own.

An answer can have a row per home; the page shows its first rows and the sums of all, so no more than that is taken
out of DuckDB.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import duckdb

from pipeline.catalog import name
from pipeline.join import selects

FIRST = ("collected", "homes", "days", "headline")
"""What the other SELECTs read, as `report_<name>`, in an order that gives each what it reads."""

STEPS = {"week": 760, "month": 3660}
"""Longest periods (days) that are drawn by week and by month; longer ones are drawn by year."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: its question, columns with their DuckDB types, first rows, and number and sums of all rows."""

    question: str
    columns: dict[str, str]
    rows: list[Row]
    count: int
    sums: Row

    @property
    def left(self) -> int:
        """Rows that are not shown."""
        return self.count - len(self.rows)


class Facts:
    """The lake's answers, by the name of their SELECT."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._selects = selects("report")
        for select in FIRST:
            self._keep(select)
        self.headline = self.answer("headline", 1).rows[0] | self.answer("collected", 1).rows[0]
        self.step = step(self.headline["usual_from"], self.headline["last_day"])
        self.charted_from = self._charted_from()
        connection.execute("set variable report_step = ?", [self.step])
        for select in self._selects.keys() - set(FIRST):
            self._keep(select)

    def answer(self, select: str, most: int, summed: Sequence[str] = ()) -> Answer:
        """The first rows of an answer, `most` of them, and the sums of the columns `summed` over all rows."""
        table = name(f"report_{select}")
        sums = ", ".join(f"sum({name(column)}) as {name(column)}" for column in summed)
        found = self._rows(f"select * from {table} limit {most}")  # noqa: S608  (names of our own SELECTs)
        (whole,) = self._rows(f"select count(*) as all_rows, {sums} from {table}")  # noqa: S608  (likewise)
        columns = {row[0]: row[1] for row in self._connection.execute(f"describe {table}").fetchall()}
        return Answer(question(self._selects[select]), columns, found, whole.pop("all_rows"), whole)

    def _charted_from(self) -> date | None:
        """Where the charts over time begin, if the few events before would draw them coarser; null: with the first."""
        if self.step == step(self.headline["first_day"], self.headline["last_day"]):
            return None
        query = f"select date_trunc('{self.step}', ?::date)::date as day"
        found = self._connection.execute(query, [self.headline["usual_from"]]).fetchone()
        return found[0] if found else None

    def _keep(self, select: str) -> None:
        # The order of the rows is that of the SELECT: DuckDB keeps the order in which they are inserted.
        self._connection.execute(f"create temp table {name(f'report_{select}')} as {self._selects[select]}")

    def _rows(self, query: str) -> list[Row]:
        result = self._connection.execute(query)
        columns = [column[0] for column in result.description or ()]
        return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]


def question(select: str) -> str:
    """The comment that a SELECT begins with, on one line."""
    lines = select.splitlines()
    end = next(at for at, line in enumerate(lines) if not line.startswith("--"))
    return " ".join(line.removeprefix("--").strip() for line in lines[:end])


def step(first: date | None, last: date | None) -> str:
    """What a chart over a period has a bar for: `week`, `month` or `year`."""
    days = (last - first).days if first and last else 0
    return next((unit for unit, longest in STEPS.items() if days <= longest), "year")
