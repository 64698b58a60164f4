"""A build's `lake.duckdb`: views over its Parquet files, with comments, that work wherever the lake lies.

A view takes no parameters and a relative path would be looked up in the reader's working directory, so the
views ask the macro `lake_dir()`. DuckDB's default `temp_directory` is `<database file>.tmp`, absolute, also
when a file is opened read-only, and it is known when a view is bound. A client that attaches the file, or has
another temporary directory, says `set variable homelake = '<lake>'` instead. Tried with DuckDB 1.1, 1.4 and
2.0.
"""

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from graphlib import TopologicalSorter
from itertools import takewhile
from pathlib import Path

import duckdb

from pipeline.schema import TEXT, Column, Table
from pipeline.sqltree import tree

CATALOG = "lake.duckdb"

STORAGE_VERSION = "v1.0.0"
"""File format that DuckDB clients of version 1.0 and later read; the default of 2.0 shuts out all of 1.x."""

LAKE_DIR = r"""
create macro lake_dir() as regexp_replace(
    coalesce(
        regexp_replace(getvariable('homelake'), '[/\\]?$', '/'),
        regexp_replace(
            regexp_replace(
                current_setting('temp_directory'), '^([^?]*)\.tmp(\?.*[/\\]lake\.duckdb)$', '\1\2'
            ),
            '(builds[/\\][0-9]+[/\\])?[^/\\]*$',
            ''
        )
    ),
    '([][*?])',
    '[\1]',
    'g'
)
"""
"""The lake's directory with a slash behind it, its glob signs escaped.

DuckDB 2 resolves the link `lake.duckdb` (so `builds/<n>/` is cut off), 1.x does not; and 2 puts the `.tmp` in
front of a question mark in the path, as if a query string began there.
"""

_PART = r"[/\\]month=([^/\\]*)[/\\][^/\\]*$"
_SAID = re.compile(r'^.*?(\w+)"?,[ ]+-- (.+)$', re.MULTILINE)
"""A column's name at the end of a line of a SELECT, and the comment behind it."""
_written: dict[str, bytes] = {}
"""Catalogs that this process wrote, by the hash of their views: others of these views differ in one macro."""
_FROM_PATH = {"agent": r"[/\\]agent=([^/\\]*)[/\\]month=[^/\\]*[/\\][^/\\]*$", "month": _PART}


def write_catalog(build: Path, tables: Sequence[Table], views: Mapping[str, str], before: Path | None = None) -> None:
    """Write `<build>/lake.duckdb` for a build `<lake>/builds/<n>` whose Parquet files are all there.

    `views` are further SELECTs by name, over the tables' views and each other. The comment of a table's view
    is its grain; of another view, what follows `-- Grain:` in its first line. A column of a further view has the
    comment behind it in the SELECT (`..., as day,  -- Day (UTC).`), else that of the same name in what it reads.
    One with the same views that this process wrote, or that of the build `before`, is taken over: this is much faster.
    """
    # DuckDB cannot write a database below a directory with a `?` in its name.
    place = None if "?" in str(build.absolute()) else build
    with tempfile.TemporaryDirectory(prefix="homelake-", dir=place) as folder:
        written, mark = Path(folder, CATALOG), _hash(tables, views)
        if mark in _written:
            written.write_bytes(_written[mark])
            with _database(written) as connection:
                connection.execute(_build_path(build))
        elif before is None or not _taken_over(before / CATALOG, written, build, mark):
            with _database(written) as connection:
                connection.execute("set variable homelake = ?", [str(build.absolute().parent.parent)])
                connection.execute(LAKE_DIR)
                connection.execute(_build_path(build))
                connection.execute(f"create macro views_hash() as {literal(mark)}")
                reads = {table.name: _select(table) for table in tables}
                for statement in statements(connection, tables, reads, views):
                    connection.execute(statement)
            _written[mark] = written.read_bytes()
        shutil.move(written, build / CATALOG)


@contextmanager
def _database(file: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Write a database in one transaction, else each comment would be written by itself."""
    with duckdb.connect() as connection:
        connection.execute(f"attach {literal(str(file))} as lake_file (storage_version {literal(STORAGE_VERSION)})")
        connection.execute("use lake_file")
        connection.execute("begin")
        yield connection
        connection.execute("commit")
        connection.execute("use memory")
        connection.execute("detach lake_file")


def _hash(tables: Sequence[Table], views: Mapping[str, str]) -> str:
    """A hash of all that the views and their comments are made of."""
    read = [(table.grain, _select(table), *view_columns(table)) for table in tables]
    return hashlib.sha256(repr((duckdb.__version__, LAKE_DIR, read, views)).encode()).hexdigest()


def _build_path(build: Path) -> str:
    """Statement that makes the macro with a build's path below the lake: all in which catalogs of one lake differ."""
    return f"create or replace macro build_path() as {literal(f'builds/{build.name}/')}"


def _taken_over(old: Path, written: Path, build: Path, mark: str) -> bool:
    """Copy the catalog of another build for `build`, if it is whole and has the views with the hash `mark`."""
    try:
        shutil.copyfile(old, written)
        with _database(written) as connection:
            is_same = connection.execute("select views_hash()").fetchone() == (mark,)
            if is_same:
                connection.execute(_build_path(build))
    except (OSError, duckdb.Error):
        is_same = False
    if not is_same:
        written.unlink(missing_ok=True)
    return is_same


def view_columns(table: Table) -> tuple[Column, ...]:
    """Columns of a table's view: the declared ones, then `month` where the table has a file per month."""
    if table.time is None:
        return table.columns
    text = f"Month of `{table.time}` (`YYYY-MM`, UTC), `unknown` without one; part of the file's path."
    return (*table.columns, Column("month", TEXT, text, nullable=False, repeats=True))


def is_in_path(table: Table, column: Column) -> bool:
    """Whether a column is a part of the file's path, and not in the file."""
    return table.time is not None and column.name in _FROM_PATH


def files_of(table: Table) -> str:
    """Glob of a table's files below a build."""
    return f"{table.name}/*.parquet" if table.time is None else f"{table.name}/agent=*/month=*/*.parquet"


def literal(text: str) -> str:
    """A text as a SQL string."""
    return "'" + text.replace("'", "''") + "'"


def name(text: str) -> str:
    """A text as a SQL identifier."""
    return '"' + text.replace('"', '""') + '"'


def statements(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[Table],
    reads: Mapping[str, str],
    views: Mapping[str, str],
) -> Iterator[str]:
    """Statements that make the views and their comments, each to be run before the next is asked for.

    `reads` are the SELECTs of the tables' views by name, `views` those of further ones.
    """
    comments: dict[str, dict[str, str]] = {}
    for table in tables:
        comments[table.name] = {column.name: column.description for column in view_columns(table)}
        yield f"create view {name(table.name)} as {reads[table.name]}"
        yield from _comments(table.name, table.grain, comments[table.name])
    named = {view: list(tree(connection, select).tables) for view, select in views.items()}
    order = TopologicalSorter({view: views.keys() & set(names) - {view} for view, names in named.items()})
    for view in order.static_order():
        yield f"create view {name(view)} as {views[view]}"
        columns = [row[0] for row in connection.execute(f"describe {name(view)}").fetchall()]
        known = {key: text for read in reversed(named[view]) for key, text in comments.get(read, {}).items()}
        known |= dict(_SAID.findall(views[view]))
        comments[view] = {column: known[column] for column in columns if column in known}
        yield from _comments(view, grain(views[view]), comments[view])


def _select(table: Table) -> str:
    """SELECT of a table's view, over the build that the macro `build_path()` names.

    The path's columns are cut out of the file's name, and `hive_partitioning` is off: it would take a
    directory `host=x` above the lake for a column, too, and its value for that of every row. Files are left
    unread all the same where a condition on `agent` or `month` rules them out.
    """
    path = {
        column: f"regexp_extract(filename, {literal(part)}, 1) as {name(column)}" for column, part in _FROM_PATH.items()
    }
    columns = ", ".join(path[c.name] if is_in_path(table, c) else name(c.name) for c in view_columns(table))
    where = f"lake_dir() || build_path() || {literal(files_of(table))}"
    options = "hive_partitioning = false" + (", filename = true" if table.time else "")
    return f"select {columns} from read_parquet({where}, {options})"  # noqa: S608  (names and values are quoted)


def _comments(view: str, text: str | None, columns: Mapping[str, str]) -> Iterator[str]:
    """Statements that set the comments of a view and its columns."""
    if text is not None:
        yield f"comment on view {name(view)} is {literal(text)}"
    for column, description in columns.items():
        yield f"comment on column {name(view)}.{name(column)} is {literal(description)}"


def grain(select: str) -> str | None:
    """What the comment that a SELECT begins with says about its rows; null without one."""
    lines = select.lstrip().splitlines()
    if not lines[0].startswith("-- Grain:"):
        return None
    comment = takewhile(lambda line: line.startswith("--"), lines)
    return " ".join(line.removeprefix("--").strip() for line in comment).removeprefix("Grain:").strip()
