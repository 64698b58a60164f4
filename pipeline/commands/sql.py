"""`homelake sql`."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pipeline import examples, prompt, query, textgrid
from pipeline.answer import Form
from pipeline.answering import How
from pipeline.commands._options import Lake, completions, fail, plural


class QueryForm(StrEnum):
    """How `homelake sql` writes a result."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


def _completed(incomplete: str) -> list[tuple[str, str]]:
    """Names of examples that begin so, for the shell's completion."""
    told = {"list": "Name them all.", **{name: examples.question(name) for name in examples.EXAMPLES}}
    return completions(told, incomplete)


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
        str | None,
        typer.Option(
            "--example",
            metavar="NAME",
            help="Run a query that comes along; `list` names them and their parameters.",
            autocompletion=_completed,
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            metavar="NAME=VALUE",
            help="Value of the query's parameter $NAME, as text: `$NAME::int` casts it. One option for each.",
        ),
    ] = None,
    form: Annotated[
        QueryForm | None, typer.Option("--format", help="How to write the result: by the ending of FILE, else a table.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="File for the result; needed for Parquet.")
    ] = None,
    max_rows: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Give the first N rows, 0 for all; a table on a terminal has 1,000, all else all."
        ),
    ] = None,
    expanded: Annotated[
        bool, typer.Option("--expanded", "-x", help="Write a table as a block of lines per row, a line per value.")
    ] = False,
) -> None:
    """Run one SELECT over a lake. It can read nothing but the lake; its answer is printed, or written into FILE.

    homelake sql LAKE "select kind, count(*) from timeline group by all"

    Without a query there is a prompt, with history and completion; where standard input is no terminal, the query is
    read from it.

    PIVOT needs its values, `pivot ... on x in ('a', 'b')`, or write `sum(y) filter (where x = 'a')`. Times are UTC.
    """
    if example == "list":
        typer.echo(examples.listed())
        return
    how = How(_values(param or []), max_rows, expanded)
    chosen = form or _by_ending(output)
    try:
        if (statement, file, example, output) == (None, None, None, None) and sys.stdin.isatty():
            _talk(lake, chosen.value, how)
        else:
            rows = query.run_query(lake, _asked(statement, file, example), form=chosen.value, output=output, how=how)
            if output is not None:
                _written(output, rows)
    except query.QueryError as error:
        fail(error)


def _by_ending(output: Path | None) -> QueryForm:
    """The form that a file's ending names; a table for a text, and where there is no file."""
    ending = output.suffix.lower() if output else ""
    forms = {".txt": QueryForm.TABLE, **{f".{form.value}": form for form in QueryForm}}
    if ending and ending not in forms and not _is_device(output):
        told = textgrid.safe(f"{output}: no form has the ending {ending}")
        fail(f"{told}; name a file .csv, .json, .parquet or .txt, or give --format")
    return forms.get(ending, QueryForm.TABLE)


def _is_device(output: Path | None) -> bool:
    """Whether an answer goes into what is no regular file: a pipe, the terminal."""
    return output is not None and (Path("/dev") in output.parents or (output.exists() and not output.is_file()))


def _written(output: Path, rows: int | None) -> None:
    """Say what was written; on standard error where that can be standard output itself."""
    told = "a plan" if rows is None else plural(rows, "row")
    typer.echo(f"{textgrid.safe(str(output))}: {told}", err=_is_device(output))


def _values(given: list[str]) -> dict[str, str]:
    """Values of parameters by name, of `name=value`."""
    values: dict[str, str] = {}
    for text in given:
        try:
            name, value = prompt.pair(text)
        except query.QueryError as error:
            fail(f"--param {error}")
        if name in values:
            fail(f"--param {name}: given twice")
        values[name] = value
    return values


def _talk(lake: Path, form: Form, how: How) -> None:
    """Open the lake and ask for queries."""
    from pipeline.promptline import talk  # takes a while to load, and few commands need it

    if form == "parquet":
        fail("Parquet is written into a file: give a query, and -o FILE")
    with query.one_line(), query.opened(lake) as connection:
        views = prompt.views_of(connection)
        opening = f"{plural(len(views), 'view')}. A query ends with `;`, .help lists commands, .quit leaves."
        print(f"{textgrid.safe(str(lake))}: {opening}", file=sys.stderr)
        talk(prompt.Prompt(connection, form, how), views)


def _asked(statement: str | None, file: Path | None, example: str | None) -> str:
    """The query of the command line: itself, a file's, an example's, or what standard input holds."""
    if sum(given is not None for given in (statement, file, example)) > 1:
        fail("give one of QUERY, --file and --example")
    if example is not None:
        found = examples.EXAMPLES.get(example)
        return found if found is not None else fail(f"no example {example!r}: `--example list` names them")
    if statement is not None:
        return statement
    try:
        return sys.stdin.read() if file is None or str(file) == "-" else file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        fail(f"{file or 'standard input'}: not UTF-8")
    except OSError as error:
        fail(f"{file}: {error.strerror}")
