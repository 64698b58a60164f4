"""The data dictionary: every table's grain, key and files, every column's type and meaning, from the schema
itself."""

import json
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, cast

import duckdb
import polars as pl

from pipeline.catalog import files_of, grain, is_in_path, name, statements, view_columns
from pipeline.join import selects
from pipeline.schema import COUNT, FLAG, MONEY, SMALL, TEXT, TIME, Column, Table
from pipeline.textgrid import GAP

DUCKDB_TYPES: dict[pl.DataType, str] = {
    TEXT: "VARCHAR",
    FLAG: "BOOLEAN",
    SMALL: "INTEGER",
    COUNT: "BIGINT",
    MONEY: "DOUBLE",
    TIME: "TIMESTAMP",
}
HEADINGS = ("column", "type", "null", "in", "meaning")
VIEW_HEADINGS = ("column", "type", "meaning")
Form = Literal["table", "json", "markdown"]
NARROWEST = 24
"""Where less than so many characters are left for meanings, they are not wrapped."""


def render(tables: Sequence[Table], form: Form) -> str:
    """Return the dictionary of tables: text for a terminal, a JSON array, or Markdown.

    Text is wrapped to the terminal's width; where standard output is none, each column stays on one line.
    `in` says where a column is kept: in the `file`, or in its `path` alone.
    """
    if form == "json":
        return json.dumps([_described(table) for table in tables], ensure_ascii=False, indent=2)
    section: Callable[[Table], Iterator[str]] = _markdown if form == "markdown" else _text
    return "\n\n".join("\n".join(section(table)) for table in tables)


def render_views(views: Mapping[str, str]) -> str:
    """Return what the rows of further views are, a line each; `views` are their SELECTs by name."""
    return "\n".join(f"{view:<{max(map(len, views))}}  {grain(select)}" for view, select in views.items())


def render_view(view: str, tables: Sequence[Table], views: Mapping[str, str], form: Form) -> str:
    """Return what a further view is: its rows, every column's type and meaning, and its SELECT; forms as of tables.

    `views` are the SELECTs of it and of all that it may read.
    """
    about, cells = grain(views[view]) or "", _view_cells(view, tables, views)
    if form == "json":
        described = [{"name": column, "type": kind, "description": meaning} for column, kind, meaning in cells]
        found = {"view": view, "grain": about, "columns": described, "select": views[view]}
        return json.dumps([found], ensure_ascii=False, indent=2)
    if form == "markdown":
        lines = [f"## {view}", "", about, "", *_grid(VIEW_HEADINGS, cells), "", "```sql", views[view].rstrip(), "```"]
    else:
        lines = [*_wrapped("", f"{view}: {about}", _width()), "", *columns([VIEW_HEADINGS, *cells]), "", views[view]]
    return "\n".join(lines).rstrip()


def _view_cells(view: str, tables: Sequence[Table], views: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Name, type and meaning of a further view's columns, as a database with these tables, all empty, has them."""
    with duckdb.connect() as connection:
        for statement in statements(connection, tables, {table.name: _empty(table) for table in tables}, views):
            connection.execute(statement)
        described = connection.execute(selects("prompt")["schema"], {"view": view}).fetchall()
    return [(column, kind, meaning or "") for column, kind, meaning in described]


def _empty(table: Table) -> str:
    """A SELECT with the columns of a table's view and no row."""
    typed = (f"null::{duckdb_type(column.dtype)} as {name(column.name)}" for column in view_columns(table))
    return f"select {', '.join(typed)} where false"


def duckdb_type(dtype: pl.DataType) -> str:
    """Type of a column as DuckDB names it."""
    if isinstance(dtype, pl.List):
        return f"{duckdb_type(cast('pl.DataType', dtype.inner))}[]"
    return DUCKDB_TYPES[dtype]


def _files(table: Table) -> str:
    return f"builds/<n>/{files_of(table)}"


def _kept(table: Table, column: Column) -> str:
    return "path" if is_in_path(table, column) else "file"


def _described(table: Table) -> dict[str, object]:
    """A table as JSON."""
    columns = [
        {
            "name": column.name,
            "type": duckdb_type(column.dtype),
            "nullable": column.nullable,
            "in": _kept(table, column),
            "description": column.description,
        }
        for column in view_columns(table)
    ]
    return {
        "table": table.name,
        "grain": table.grain,
        "key": table.key,
        "files": _files(table),
        "columns": columns,
    }


def _cells(table: Table) -> list[tuple[str, ...]]:
    """A table's columns as texts, in the order of the headings."""
    return [
        (c.name, duckdb_type(c.dtype), "yes" if c.nullable else "no", _kept(table, c), c.description)
        for c in view_columns(table)
    ]


def _text(table: Table) -> Iterator[str]:
    """A table as lines for a terminal or a pipe."""
    about = (f"{table.name}: {table.grain}", f"key: {', '.join(table.key)}", f"files: {_files(table)}")
    for line in about:
        yield from _wrapped("", line, _width())
    yield ""
    yield from columns([HEADINGS, *_cells(table)])


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Aligned columns, the last of which is wrapped on a terminal; the first row may be headings."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    for row in rows:
        head = GAP.join(cell.ljust(size) for cell, size in zip(row[:-1], widths, strict=True)) + GAP
        yield from _wrapped(head, row[-1], _width())


def _width() -> int | None:
    """Width of the terminal; null where standard output is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _wrapped(head: str, text: str, width: int | None) -> list[str]:
    """A text behind its head, cut at blanks into lines that begin at the same place."""
    if width is None or width - len(head) < NARROWEST:
        return [head + text]
    lines = textwrap.wrap(text, width - len(head), break_long_words=False, break_on_hyphens=False)
    return [(" " * len(head) if number else head) + line for number, line in enumerate(lines or [""])]


def _markdown(table: Table) -> Iterator[str]:
    """A table as a section of a Markdown page."""
    yield from (f"## {table.name}", "", f"{table.grain[0].upper()}{table.grain[1:]}.", "")
    key = ", ".join(f"`{column}`" for column in table.key)
    yield from (f"- Key: {key}", f"- Files: `{_files(table)}`", "")
    yield from _grid(HEADINGS, _cells(table))


def _grid(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows, the first cell of which is a name, as a table in Markdown."""
    yield f"| {' | '.join(headings)} |"
    yield "|" + " --- |" * len(headings)
    for first, *others in rows:
        cells = (f"`{first}`", *(cell.replace("|", "\\|") for cell in others))
        yield f"| {' | '.join(cells)} |"
