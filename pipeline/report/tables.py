"""Answers as tables of the page."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.report.display import Cell, Kind, cell, heading, kind_of
from pipeline.report.facts import Answer, Facts

MOST = 50
"""Rows of a table."""


@dataclass(frozen=True, slots=True)
class Heading:
    """Head of a column; `sort` is the order in which the rows come, if this column gives it."""

    text: str
    is_number: bool
    sort: str | None


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: its caption, heads and rows, the sums of all rows, and how many rows are left out."""

    caption: str
    heads: list[Heading]
    rows: list[list[Cell]]
    sums: list[Cell]
    count: int
    left: int


def table(facts: Facts, select: str, summed: Sequence[str] = (), *, by: str | None = None) -> Grid:
    """The table of an answer; `summed` are the columns that its last row sums, `by` the one that orders it, downwards.

    Only what adds up is summed: the same user can be counted in several rows.
    """
    answer = facts.answer(select, MOST, summed)
    kinds = {column: kind_of(column, dtype) for column, dtype in answer.columns.items()}
    heads = [
        Heading(heading(column), kind != "text", "descending" if column == by else None)
        for column, kind in kinds.items()
    ]
    rows = [[cell(column, kind, row[column]) for column, kind in kinds.items()] for row in answer.rows]
    sums = _sums(answer, kinds) if summed and answer.count > 1 else []
    return Grid(answer.question, heads, rows, sums, answer.count, answer.left)


def _sums(answer: Answer, kinds: dict[str, Kind]) -> list[Cell]:
    """The last row: the number of rows, then the sums below their columns."""
    sums = [
        cell("", kinds[column], answer.sums[column]) if answer.sums.get(column) is not None else Cell("")
        for column in list(kinds)[1:]
    ]
    return [Cell(f"all {answer.count:,}"), *sums]
