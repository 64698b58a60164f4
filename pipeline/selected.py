"""A SELECT that passed the checks of `pipeline.query`: its columns, and its rows as a form of an answer has them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import duckdb
import pyarrow as pa

from pipeline.answer import Field, Form
from pipeline.catalog import name

TEXT_ROWS, ARROW_ROWS = 128, 2048
"""Rows fetched at a time as text and as Arrow (DuckDB's own batch); one of them can hold megabytes."""


@dataclass(frozen=True, slots=True)
class Select:
    """A query that passed: its text without an end sign, and the words of EXPLAIN before it, if any.

    `values` are those of its parameters, `$name`, by name; they are bound and never become a part of the text.
    """

    text: str
    explain: str = ""
    values: Mapping[str, str] = field(default_factory=dict)

    def fields(self, connection: duckdb.DuckDBPyConnection) -> list[Field]:
        """Columns of the answer; a name that comes twice has a number behind it."""
        described = f"describe select * from ({self.text}\n) as answer"  # noqa: S608  (a checked SELECT)
        return [Field(row[0], row[1]) for row in connection.execute(described, self.values or None).fetchall()]

    def rows(
        self, connection: duckdb.DuckDBPyConnection, fields: Sequence[Field], form: Form, longest: int | None = None
    ) -> Iterator[tuple[str | None, ...]]:
        """Rows as texts, in their order; of each value of a table so many characters."""
        connection.execute(self._as(form, fields, longest), self.values or None)
        while batch := connection.fetchmany(TEXT_ROWS):
            yield from batch

    def batches(self, connection: duckdb.DuckDBPyConnection, fields: Sequence[Field]) -> pa.RecordBatchReader:
        """Rows as Arrow, with the types that Parquet has."""
        return connection.sql(self._as("parquet", fields), params=self.values or None).to_arrow_reader(ARROW_ROWS)

    def plan(self, connection: duckdb.DuckDBPyConnection) -> list[str]:
        """Lines of DuckDB's plan for it."""
        explained = f"{self.explain} select * from ({self.text}\n) as answer"  # noqa: S608  (a checked SELECT)
        rows = connection.execute(explained, self.values or None).fetchall()
        return [line for row in rows for line in row[1].splitlines()]

    def _as(self, form: Form, fields: Sequence[Field], longest: int | None = None) -> str:
        """SQL that gives the rows as `form` wants them."""
        columns = ", ".join(f"{f.select(f'c{at}', form, longest)} as {name(f.name)}" for at, f in enumerate(fields))
        names = ", ".join(f"c{at}" for at in range(len(fields)))
        return f"select {columns} from ({self.text}\n) as answer({names})"  # noqa: S608  (a checked SELECT)
