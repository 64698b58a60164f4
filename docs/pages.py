"""Write the pages of `docs/` that are made of the code: `commands.md` and `tables.md`. `make docs` runs it."""

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import typer.main

from pipeline import cli
from pipeline.catalog import grain, is_in_path, view_columns
from pipeline.dictionary import duckdb_type
from pipeline.join import selects
from pipeline.prompt import COMMANDS
from pipeline.schema import TIME, Column, Table
from pipeline.tables import TABLES
from tests.layout import lay_out

FOLDER = Path(__file__).parent
EXAMPLE_CHARACTERS = 40
"""Longer examples are cut."""

HEADINGS = ("column", "type", "unit", "null", "in", "meaning", "example")
UNITS = {
    r".*_bytes|bytes|size": "bytes",
    r".*_usd": "US dollars",
    r".*_ms": "milliseconds",
    r".*_chars": "characters",
    r".*tokens": "tokens",
    r"lines_.*": "lines",
}
"""Units by the names of columns."""


def commands() -> str:
    """The page of all commands, options and exit codes."""
    group: Any = typer.main.get_command(cli.app)
    lines = [
        "# Commands",
        "",
        "Made of the command line itself by `make docs`; `homelake COMMAND --help` says the same.",
        "",
        *_parameters(group),
        "",
    ]
    for name, command in group.commands.items():
        words = [_word(p) for p in command.params if p.param_type_name == "argument"]
        required = [f"{p.opts[-1]} {_word(p)}" for p in command.params if p.param_type_name == "option" and p.required]
        lines += [f"## homelake {name}", "", f"    homelake {' '.join([name, *words, *required])} [OPTIONS]", ""]
        lines += [*_prose(command.help), "", *_parameters(command), "", command.epilog or "", ""]
    lines += ["## At the prompt of homelake sql", "", "| command | what for |", "| --- | --- |"]
    lines += [f"| `{_escaped(f'{name} {takes}'.rstrip())}` | {does} |" for name, (takes, does) in COMMANDS.items()]
    return "\n".join(lines) + "\n"


def _prose(text: str) -> list[str]:
    """Lines of a help text; a paragraph that is a command is set as code."""
    return [f"    {line}" if line.startswith("homelake ") else line for line in text.splitlines()]


def _parameters(command: Any) -> Iterator[str]:
    """A table of a command's arguments and options."""
    yield "| argument or option | what for | default |"
    yield "| --- | --- | --- |"
    for parameter in command.params:
        yield f"| {_named(parameter)} | {_escaped(parameter.help)} | {_default(parameter)} |"


def _named(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{_word(parameter)}`"
    value = "" if parameter.is_flag else f" {_escaped(_word(parameter))}"
    return ", ".join(f"`{option}{value}`" for option in (*parameter.opts, *parameter.secondary_opts))


def _word(parameter: Any) -> str:
    """What stands for a value: its name, or what it can be."""
    choices = "|".join(str(choice.value) for choice in parameter.type_descriptor.choices or ())
    return parameter.metavar or choices or str(parameter.name).upper()


def _default(parameter: Any) -> str:
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    if parameter.required:
        return "required"
    value = getattr(parameter.default, "value", parameter.default)
    return "" if value in (None, False) else f"`{value}`"


def tables(lake: Path) -> str:
    """The page of all tables and views, with examples of a lake that `make_lake` made."""
    lines = [
        "# Tables",
        "",
        "Made of the declared schema by `make docs`; `homelake schema` prints the same without examples. `in` says",
        "where a column is kept: in the Parquet `file`, or in its `path` alone; views have both. An example is",
        "the first value that a lake of the homes in `fixtures/corpus` has, cut where it is long. `sources.md` lists",
        "the sources.",
    ]
    # One thread adds numbers up in the same order each time.
    with duckdb.connect(str(lake / "lake.duckdb"), read_only=True, config={"threads": 1}) as connection:
        connection.execute("set variable made_in = ?", [f"{lake.parent}/"])
        for table in TABLES:
            lines += ["", *_table(connection, table)]
        lines += ["", "# Further views"]
        for name, select in selects("views").items():
            lines += ["", *_view(connection, name, grain(select) or "")]
    return "\n".join(lines) + "\n"


def _table(connection: duckdb.DuckDBPyConnection, table: Table) -> Iterator[str]:
    yield from (f"## {table.name}", "", f"{table.grain[0].upper()}{table.grain[1:]}.", "")
    yield f"Key: {', '.join(f'`{column}`' for column in table.key)}."
    found = sources().get(table.name)
    yield from ("", f"Read from {', '.join(f'`{source}`' for source in found)}.") if found else ()
    yield from ("", f"| {' | '.join(HEADINGS)} |", "|" + " --- |" * len(HEADINGS))
    examples = _examples(connection, table.name, table.key)
    for column in view_columns(table):
        null, kept = "yes" if column.nullable else "no", "path" if is_in_path(table, column) else "file"
        about = (duckdb_type(column.dtype), _unit(column), null, kept)
        cells = (*about, _escaped(column.description), examples[column.name])
        yield f"| `{column.name}` | {' | '.join(cells)} |"


def _view(connection: duckdb.DuckDBPyConnection, name: str, text: str) -> Iterator[str]:
    yield from (f"## {name}", "", f"{text[0].upper()}{text[1:].rstrip('.')}.", "")
    yield from ("| column | type | meaning | example |", "| --- | --- | --- | --- |")
    rows = connection.execute(
        "select column_name, data_type, coalesce(comment, '') from duckdb_columns() where table_name = ? "
        "order by column_index",
        [name],
    ).fetchall()
    examples = _examples(connection, name, [row[0] for row in rows])
    for column, kind, meaning in rows:
        yield f"| `{column}` | {kind} | {_escaped(meaning)} | {examples[column]} |"


def _unit(column: Column) -> str:
    """Unit of a column, by its type and name."""
    if column.dtype == TIME:
        return "UTC"
    return next((unit for pattern, unit in UNITS.items() if re.fullmatch(pattern, column.name)), "")


def _examples(connection: duckdb.DuckDBPyConnection, view: str, key: Sequence[str]) -> Mapping[str, str]:
    """The first value of each column of a view that says something, in the order of its key."""
    order = ", ".join(f'"{column}"' for column in key)
    described = connection.execute(f'describe "{view}"').fetchall()
    values = [f'round("{row[0]}", 3)' if row[1] == "DOUBLE" else f'"{row[0]}"' for row in described]
    texts = [f"replace({value}::varchar, getvariable('made_in'), '')" for value in values]
    says = "filter (coalesce({0}, '') not in ('', '[]'))"
    picked = ", ".join(f"first({text} order by {order}) {says.format(text)}" for text in texts)
    found = connection.execute(f'select {picked} from "{view}"').fetchone() or ()  # noqa: S608  (names of the schema)
    return {row[0]: _example(value) for row, value in zip(described, found, strict=True)}


def _example(value: str | None) -> str:
    """An example as code in a cell of a table; a text on one line, cut where it is long."""
    text = " ".join((value or "").replace("`", "'").split())
    text = text if len(text) <= EXAMPLE_CHARACTERS else f"{text[:EXAMPLE_CHARACTERS].rstrip()}..."
    return f"`{_escaped(text)}`" if text else ""


def _escaped(text: str) -> str:
    """A text as a cell of a table in Markdown."""
    return text.replace("|", "\\|")


def sources() -> dict[str, list[str]]:
    """Sources that give rows of each table, by `docs/sources.md`."""
    found: dict[str, list[str]] = {}
    for line in (FOLDER / "sources.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if line.startswith("| `"):
            named = re.findall(r"`(\w+)`", cells[3]) + (["timeline"] if cells[2] else [])
            for table in named:
                found.setdefault(table, []).append(cells[0].strip("`"))
    return found


def make_lake(folder: Path) -> Path:
    """Build a lake of the homes in `fixtures/`; but for `collections.input` it is the same wherever it is built."""
    homes = lay_out("corpus/homes", folder / "homes")
    words = ["homelake", "build", str(homes), "-o", str(folder / "lake"), "--host", "web01", "--workers", "1"]
    with redirect_stdout(StringIO()), patch("sys.argv", words):
        try:
            cli.main()
        except SystemExit as end:
            if end.code:
                raise
    return folder / "lake"


def main() -> None:
    """Write both pages."""
    with tempfile.TemporaryDirectory(prefix="homelake-") as folder:
        (FOLDER / "tables.md").write_text(tables(make_lake(Path(folder))), encoding="utf-8")
    (FOLDER / "commands.md").write_text(commands(), encoding="utf-8")


if __name__ == "__main__":
    main()
