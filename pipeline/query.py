"""One SELECT over a lake, in a sandbox: it reads nothing but the lake's build, and writes nothing.

DuckDB's own settings keep files outside the build shut, but a directory that may be read may be written, too,
also where the database is opened read-only. So a query is looked at before it runs. It must be one statement
of DuckDB's type SELECT; its parse tree must hold no query that writes (`with x as (copy ... to ...) select
...` is of that type) and no function that runs SQL out of a text; and it runs as a subquery, where DuckDB
itself refuses such a WITH.
"""

import re
import tempfile
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import duckdb
import pyarrow as pa

from pipeline import textgrid
from pipeline.answer import Form
from pipeline.answering import PLAIN, How, interruptible, write_answer
from pipeline.catalog import CATALOG, literal
from pipeline.lake import LakeError, check_files
from pipeline.paths import resolved
from pipeline.selected import Select
from pipeline.sqltree import TreeError, tree

READING = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
"""Kinds of query that write nothing."""

FUNCTIONS = re.compile(
    r"(read|parquet|duckdb|pragma|pg|icu|json_each|json_tree|test)(_\w+)?"
    r"|range|generate_series|unnest|repeat|repeat_row|glob|sniff_csv|query_table|summary"
)
"""Functions that may stand for a table.

None of them runs SQL from a text, as `query` and `json_execute_serialized_sql` do (the latter writes files),
calls another function by name (`destroy_external_resource`) or changes a state (`checkpoint`,
`enable_logging`).
"""

ERROR_CHARACTERS = 400

SANDBOX = """
set autoinstall_known_extensions = false;
set autoload_known_extensions = false;
set allow_persistent_secrets = false;
set python_enable_replacements = false;
set TimeZone = 'UTC';
set enable_progress_bar = false;
set enable_external_access = false;
set lock_configuration = true;
"""

REFUSED = {
    "MULTI": "PIVOT without a list of values is refused, because it runs as several statements: "
    "write `sum(x) filter (where ...)`, or PIVOT ... ON column IN ('a', 'b')",
}

_WORD = re.compile(rb"\w+")


class QueryError(Exception):
    """A query that is refused or fails, or a directory that is no lake; one clear line."""

    def __init__(self, message: str) -> None:
        super().__init__(textgrid.safe(message))


def run_query(lake: Path, query: str, *, form: Form, output: Path | None = None, how: How = PLAIN) -> int | None:
    """Run one SELECT over a lake and write its answer to `output`, or to standard output.

    Parquet needs `output`. A file is replaced in one step, and only by a whole answer. Return the number of rows
    that were written, null for a plan. Raises QueryError.
    """
    if form == "parquet" and output is None:
        raise QueryError("Parquet is written into a file: name it with -o FILE")
    if output is not None and resolved(output).is_relative_to(resolved(lake)):
        raise QueryError(f"{output}: the file lies in the lake; name one outside of it")
    with one_line(), opened(lake) as connection:
        select = checked(connection, query, how.values)
        if select.explain and form != "table":
            raise QueryError("EXPLAIN prints a plan, and only as --format table")
        return interruptible(connection, partial(write_answer, connection, select, form, output, how))


@contextmanager
def opened(lake: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a lake read-only in the sandbox. Raises QueryError for what is no lake, or has lost a file.

    Settings are locked, temporary files go to a private directory, no extension is loaded, and no variable of
    Python can be read as a table.
    """
    build = _build_of(lake)
    try:
        check_files(build)
    except LakeError as error:
        raise QueryError(str(error)) from error
    root = str(resolved(lake))
    root.encode()  # DuckDB's own error for a name that is not UTF-8 is a RuntimeError
    # A view's glob is checked as it is written, with its signs escaped, and then each file that it finds.
    readable = [f"{path}/" for path in (str(build), re.sub(r"([][*?])", r"[\1]", str(build)))]
    with (
        tempfile.TemporaryDirectory(prefix="homelake-") as spill,
        duckdb.connect(str(build / CATALOG), read_only=True) as connection,
    ):
        connection.execute("set variable homelake = ?", [root])
        connection.execute("set temp_directory = ?", [spill])
        connection.execute(f"set allowed_directories = [{', '.join(map(literal, readable))}]")
        connection.execute(SANDBOX)
        yield connection


def _build_of(lake: Path) -> Path:
    """The directory of a lake's `lake.duckdb`: the build that its link leads to; the lake, in a copy without
    links."""
    if not lake.is_dir():
        is_inside = lake.name == CATALOG and lake.exists()
        raise QueryError(
            f"{lake}: give the lake's directory, {lake.parent}" if is_inside else f"{lake}: no such directory"
        )
    if not (lake / CATALOG).is_file():
        is_lost = (lake / CATALOG).is_symlink()
        raise QueryError(
            f"{lake}: the lake has lost its finished build; build into it again"
            if is_lost
            else f"{lake}: not a lake (it holds no {CATALOG})"
        )
    found = resolved(lake / CATALOG)
    if not found.is_relative_to(resolved(lake)):
        raise QueryError(f"{lake}: not a lake (its {CATALOG} leads out of it)")
    return found.parent


def parameters(connection: duckdb.DuckDBPyConnection, query: str) -> list[str]:
    """Names of a query's parameters, `$name`, sorted. Raises a parser error."""
    return sorted({name for statement in connection.extract_statements(query) for name in statement.named_parameters})


def checked(connection: duckdb.DuckDBPyConnection, query: str, values: Mapping[str, str] | None = None) -> Select:
    """Return a query that may run: one SELECT, or EXPLAIN of one, and a value for each of its parameters.

    Raises QueryError; nothing is run here.
    """
    for text in (query, *(values or {}).values()):
        text.encode()  # DuckDB's own error for half a surrogate pair is a TypeError
    statements = connection.extract_statements(query)
    if len(statements) != 1:
        raise QueryError("the query is empty" if not statements else f"{len(statements)} statements: give one SELECT")
    kind, text = statements[0].type, statements[0].query
    raw = text.encode()
    starts = [at for at, token in duckdb.tokenize(text) if token != duckdb.token_type.comment]
    end = len(raw)
    while raw[starts[-1] :].startswith(b";"):
        end = starts.pop()
    words = [_WORD.match(raw, at) for at in starts[:2]]
    explain = kind == duckdb.StatementType.EXPLAIN
    analyze = explain and words[1] is not None and words[1][0].lower() == b"analyze"
    select = raw[starts[explain + analyze] : end].decode()
    if explain:
        kind = _only(connection, select)
    if kind != duckdb.StatementType.SELECT:
        raise QueryError(REFUSED.get(kind.name, f"{kind.name} is refused: only a SELECT may run"))
    _check_tree(connection, select)
    _check_values(statements[0].named_parameters, values or {})
    return Select(select, "explain analyze" if analyze else "explain" if explain else "", values or {})


def _check_values(needed: Set[str], values: Mapping[str, str]) -> None:
    """Refuse values that are missing, and values of what is no parameter of the query."""
    missing, others = sorted(needed - values.keys()), sorted(values.keys() - needed)
    if missing:
        raise QueryError(f"the query needs {' '.join(f'--param {name}=...' for name in missing)}")
    if others:
        has = f"its parameters are {', '.join(f'${name}' for name in sorted(needed))}" if needed else "it has none"
        raise QueryError(f"the query has no parameter {', '.join(f'${name}' for name in others)}; {has}")


def _only(connection: duckdb.DuckDBPyConnection, explained: str) -> duckdb.StatementType:
    """Type of the statement behind EXPLAIN."""
    try:
        (statement,) = connection.extract_statements(explained)
    except (duckdb.ParserException, ValueError):
        raise QueryError("EXPLAIN takes a SELECT, and no option but ANALYZE") from None
    return statement.type


def _check_tree(connection: duckdb.DuckDBPyConnection, select: str) -> None:
    """Refuse a SELECT that holds a query that writes, or a function that is not on the list."""
    found = tree(connection, select)
    if found.nodes.keys() - READING:
        raise QueryError("a WITH that writes is refused: only a SELECT may run")
    for function in found.functions:
        if not FUNCTIONS.fullmatch(function):
            raise QueryError(f"the function {function} is refused: use the lake's views")


@contextmanager
def one_line() -> Iterator[None]:
    """Turn errors of DuckDB, Arrow and the file system into one line that can be printed."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException, TreeError) as error:
        # What follows an empty line is the text of the query, which is not quite the user's any more.
        first = " ".join(str(error).split("\n\nLINE")[0].split())
        raise QueryError(first if len(first) <= ERROR_CHARACTERS else first[:ERROR_CHARACTERS] + "…") from error
    except OSError as error:
        raise QueryError(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error
    except UnicodeEncodeError as error:
        raise QueryError("the query, or the lake's path, holds bytes that are not UTF-8") from error
