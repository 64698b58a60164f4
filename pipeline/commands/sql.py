"""`homelake sql`."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pipeline import query
from pipeline.commands._options import Lake, fail
from pipeline.join import selects


class QueryForm(StrEnum):
    """How `homelake sql` writes a result."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


def sql(
    lake: Lake,
    statement: Annotated[
        str | None,
        typer.Argument(metavar="[QUERY]", help="One SELECT over the lake's views (see `homelake schema`)."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="Read the query from a file, `-` for input.")
    ] = None,
    example: Annotated[
        str | None, typer.Option("--example", metavar="NAME", help="Run a query that comes along; `list` names them.")
    ] = None,
    form: Annotated[
        QueryForm | None, typer.Option("--format", help="How to write the result: by the ending of FILE, else a table.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="File for the result; needed for Parquet.")
    ] = None,
) -> None:
    """Run one SELECT over a lake. It can read nothing but the lake; its answer is printed, or written into FILE.

    homelake sql LAKE "select kind, count(*) from timeline group by all"

    PIVOT needs its values, `pivot ... on x in ('a', 'b')`, or write `sum(y) filter (where x = 'a')`. Times are UTC.
    """
    if example == "list":
        typer.echo("\n".join(f"{name:<22}{_question(select)}" for name, select in selects("examples").items()))
        return
    asked = _asked(statement, file, example)
    by_ending = {f".{known.value}": known for known in QueryForm}
    chosen = form or (by_ending.get(output.suffix) if output else None) or QueryForm.TABLE
    try:
        query.run_query(lake, asked, form=chosen.value, output=output)
    except query.QueryError as error:
        fail(error)


def _question(select: str) -> str:
    """What an example asks, by its first line."""
    return select.splitlines()[0].removeprefix("-- ")


def _asked(statement: str | None, file: Path | None, example: str | None) -> str:
    """The query of the command line: itself, a file's, or an example's."""
    if sum(given is not None for given in (statement, file, example)) != 1:
        fail("give one of QUERY, --file and --example")
    if example is not None:
        found = selects("examples").get(example)
        return found if found is not None else fail(f"no example {example!r}: `--example list` names them")
    if file is None:
        return statement or ""
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        fail(f"{file}: not UTF-8")
    except OSError as error:
        fail(f"{file}: {error.strerror}")
