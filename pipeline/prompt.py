"""What the prompt of `homelake sql` does with a line: it runs queries and dot commands over a lake that stays open."""

import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import cast, get_args

import duckdb

from pipeline import examples
from pipeline.answer import Form
from pipeline.answering import How, interruptible, write_answer
from pipeline.dictionary import columns
from pipeline.join import selects
from pipeline.query import QueryError, checked, one_line
from pipeline.textgrid import GAP, safe, shown

FORMS = tuple(form for form in get_args(Form) if form != "parquet")
"""Forms that can be printed."""

COMMANDS = {
    ".tables": ("", "List the lake's views: what a row of each is."),
    ".schema": ("VIEW", "List a view's columns: type and meaning."),
    ".examples": ("", "List the queries that come along, and the values that they need."),
    ".example": ("NAME [PARAMETER=VALUE]...", "Run one of them."),
    ".param": ("[NAME=VALUE]", "Set the value of $NAME for the queries that follow; list the values that are set."),
    ".format": ("[table|csv|json]", "Write answers so."),
    ".max-rows": ("[N]", "Show the first N rows, 0 for all."),
    ".expanded": ("[on|off]", "Show a row as a block of lines, a line per value."),
    ".help": ("", "List these commands."),
    ".quit": ("", "Leave, as Ctrl-D does, and `quit` and `exit`, alone on a line."),
}
"""Dot commands: what they take and what they do."""
BARE = {"exit": ".quit", "quit": ".quit", "help": ".help", "tables": ".tables"}
"""Words that stand for a dot command where they are all that is typed."""


class Prompt:
    """A lake's connection, and the settings of a session at the prompt."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, form: Form, how: How) -> None:
        self._connection = connection
        self._form = form
        self._how = how
        self._commands: dict[str, Callable[[str], None]] = {
            ".tables": lambda _: self._listed("tables"),
            ".schema": self._schema,
            ".examples": lambda _: print(examples.listed()),
            ".example": self._example,
            ".param": self._param,
            ".format": self._set_form,
            ".max-rows": self._set_max_rows,
            ".expanded": self._set_expanded,
            ".help": lambda _: print(helped()),
        }

    def run(self, text: str) -> bool:
        """Run a dot command, or each statement of a text; return whether to go on. Raises QueryError."""
        words = text.strip().rstrip(";").split(maxsplit=1)
        if not words:
            return True
        if is_bare(text):
            words = [BARE[words[0].lower()]]
        if words[0] in (".quit", ".exit"):
            return False
        if not words[0].startswith("."):
            self._queries(text)
        elif words[0] in self._commands:
            self._commands[words[0]](words[1].strip() if words[1:] else "")
        else:
            raise QueryError(f"no command {words[0]}: .help lists them")
        return True

    def _queries(self, text: str, values: dict[str, str] | None = None) -> None:
        known = {**self._how.values, **(values or {})}
        with one_line():
            text.encode()  # DuckDB's own error for half a surrogate pair is a TypeError
            for statement in self._connection.extract_statements(text):
                needed = statement.named_parameters
                if missing := sorted(needed - known.keys()):
                    raise QueryError(f"the query needs {', '.join(f'.param {name}=...' for name in missing)}")
                self._answer(statement.query, self._form, {name: known[name] for name in needed})

    def _answer(self, text: str, form: Form, values: dict[str, str]) -> None:
        select = checked(self._connection, text, values)
        form = "table" if select.explain else form
        interruptible(self._connection, partial(write_answer, self._connection, select, form, None, self._how))

    def _listed(self, name: str, **values: str) -> None:
        """Print what a SELECT of `sql/prompt/` tells of the lake; the last column is wrapped."""
        with one_line():
            rows = self._connection.execute(selects("prompt")[name], values or None).fetchall()
        for line in columns([[safe(cell or "") for cell in row] for row in rows]):
            print(line.rstrip())

    def _schema(self, view: str) -> None:
        if view not in views_of(self._connection):
            raise QueryError(f"no view {view!r}: .tables lists them" if view else "which view? .tables lists them")
        self._listed("schema", view=view)

    def _example(self, words: str) -> None:
        try:
            name, *given = shlex.split(words) or [""]
        except ValueError:
            raise QueryError("a quotation mark is not closed") from None
        if name not in examples.EXAMPLES:
            raise QueryError(f"no example {name!r}: .examples lists them" if name else "which one? see .examples")
        self._queries(examples.EXAMPLES[name], dict(map(pair, given)))

    def _param(self, words: str) -> None:
        if words:
            name, value = pair(words)
            self._how = replace(self._how, values={**self._how.values, name: value})
        values = [(name, value)] if words else sorted(self._how.values.items())
        print("\n".join(f"${safe(name)} = {shown(value)}" for name, value in values) or "no value is set")

    def _set_form(self, word: str) -> None:
        if word and word not in FORMS:
            raise QueryError(f"the forms are {', '.join(FORMS)}; Parquet is written by `homelake sql ... -o FILE`")
        self._form = cast("Form", word or self._form)
        print(f"format {self._form}")

    def _set_max_rows(self, word: str) -> None:
        if word:
            if not (word.isascii() and word.isdigit()):
                raise QueryError("write .max-rows N, 0 for all")
            self._how = replace(self._how, max_rows=int(word))
        most = self._how.max_rows
        print("max-rows " + ("1,000 of a table" if most is None else "all" if most == 0 else f"{most:,}"))

    def _set_expanded(self, word: str) -> None:
        if word not in ("", "on", "off"):
            raise QueryError("write .expanded on, or off")
        self._how = replace(self._how, expanded=word == "on" if word else not self._how.expanded)
        print(f"expanded {'on' if self._how.expanded else 'off'}")


def is_bare(text: str) -> bool:
    """Whether a text is a word that stands for a dot command, and nothing else."""
    return text.strip().rstrip(";").rstrip().lower() in BARE


def pair(text: str) -> tuple[str, str]:
    """Name and value of `name=value`; the name may have its `$`. Raises QueryError."""
    name, sign, value = text.partition("=")
    name = name.strip().removeprefix("$")
    if not sign or not name:
        raise QueryError(f"{text!r}: write NAME=VALUE")
    return name, value


def views_of(connection: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    """Columns of every view of a lake, in order."""
    views: dict[str, list[str]] = {}
    for view, column in connection.execute(selects("prompt")["columns"]).fetchall():
        views.setdefault(view, []).append(column)
    return views


def helped() -> str:
    """A line for each dot command."""
    usages = {f"{name} {takes}".rstrip(): does for name, (takes, does) in COMMANDS.items()}
    widest = max(map(len, usages))
    lines = [f"{usage:<{widest}}{GAP}{does}" for usage, does in usages.items()]
    return "\n".join(("A query ends with `;` and may have many lines. Ctrl-C stops it, or drops the line.", *lines))
