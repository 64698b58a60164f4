"""Run the command as people do, and read the lake that it made with a plain DuckDB client."""

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pytest

ROOT = Path(__file__).resolve().parent.parent
COMMAND = (sys.executable, "-m", "pipeline.cli")
Row = tuple[Any, ...]

SESSION_ROWS = """
create temp view session_rows as
select * from timeline where source = 'continue.session' and kind <> 'problem'
"""
"""What the session files hold, whatever other sources tell."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended, and what it printed."""

    exit_code: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Loss:
    """A row of `problems` with `lost`, and the text of its row in the timeline."""

    file: str
    line: int
    reason: str
    text: str


def homelake(*arguments: str | Path) -> Outcome:
    """Run the command in this process."""
    from pipeline import cli  # not at the top: a broken command line must not hide what the other tests say

    out, err = io.StringIO(), io.StringIO()
    argv = ["homelake", *map(str, arguments)]
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", argv),
        pytest.raises(SystemExit) as end,
    ):
        cli.main()
    code = end.value.code
    return Outcome(code if isinstance(code, int) else int(code is not None), out.getvalue(), err.getvalue())


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    """Start the command in a process group of its own, so that its workers can be ended with it."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run(*arguments: str | Path) -> Outcome:
    """Run the command as a process of its own and wait for it."""
    with start(*arguments) as process:
        stdout, stderr = process.communicate(timeout=300)
    return Outcome(process.returncode, stdout, stderr)


@dataclass(frozen=True, slots=True)
class Lake:
    """A lake that is open for reading."""

    path: Path
    connection: duckdb.DuckDBPyConnection

    def rows(self, query: str, *parameters: Any) -> list[Row]:
        """Rows of a query's answer."""
        return self.connection.execute(query, parameters).fetchall()

    def row(self, query: str, *parameters: Any) -> Row:
        """The only row of a query's answer."""
        (row,) = self.rows(query, *parameters)
        return row

    def value(self, query: str, *parameters: Any) -> Any:
        """The only value of a query's answer."""
        (value,) = self.row(query, *parameters)
        return value

    def column(self, query: str, *parameters: Any) -> list[Any]:
        """The only column of a query's answer."""
        return [value for (value,) in self.rows(query, *parameters)]

    def pairs(self, query: str, *parameters: Any) -> dict[Any, Any]:
        """An answer of two columns, the second by the first."""
        return dict(self.rows(query, *parameters))

    def count(self, table: str, where: str = "true") -> Any:
        """Number of a table's rows."""
        return self.value(f"select count(*) from {table} where {where}")

    def messages(self) -> list[Row]:
        """Turn type and text of the messages of all session files, a file's in their order."""
        return self.rows(
            "select turn_type, text from session_rows where kind = 'message' order by source_file, sequence"
        )

    def losses(self) -> list[Loss]:
        """All losses by file and line; every one has its row in the timeline, and only losses have one."""
        problems = self.rows(
            "select parse_filename(source_file), source_line, reason from problems where lost "
            "order by source_file, source_line, reason"
        )
        texts = self.rows(
            "select parse_filename(source_file), source_line, text from timeline where kind = 'problem' "
            "order by source_file, source_line, sequence"
        )
        assert sorted((file, line) for file, line, _ in problems) == sorted((file, line) for file, line, _ in texts)
        return list(_paired(problems, texts))

    def notes(self) -> list[Row]:
        """File, line and reason of all notes."""
        return self.rows(
            "select parse_filename(source_file), source_line, reason from problems where not lost "
            "order by source_file, source_line, reason"
        )

    def has_no_problem(self) -> bool:
        """Whether nothing was lost or noted."""
        return not self.count("problems") and not self.count("timeline", "kind = 'problem'")


def _paired(problems: list[Row], texts: list[Row]) -> Iterator[Loss]:
    """Join losses with their texts, of several in one line the one that names the reason first."""
    left = list(texts)
    for file, line, reason in problems:
        same = [text for text in left if text[:2] == (file, line)]
        found = next((text for text in same if f"({reason})" in text[2]), same[0])
        left.remove(found)
        yield Loss(file, line, reason, found[2])


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Lake]:
    """Open a lake for reading."""
    with duckdb.connect(str(path / "lake.duckdb"), read_only=True) as connection:
        connection.execute(SESSION_ROWS)
        yield Lake(path, connection)


def parquet_files(path: Path) -> dict[str, bytes]:
    """Bytes of every Parquet file of the finished build by its path."""
    build = path / "current"
    return {file.relative_to(build).as_posix(): file.read_bytes() for file in build.rglob("*.parquet")}
