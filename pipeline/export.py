"""A lake's timeline and sessions as the analyzer's JSON lines: `timeline.jsonl` and `sessions.jsonl`.

Compact objects, a line each, in UTF-8: `""` for what is not there, times such as `2026-10-03T16:55:31.123Z`, U+2028
and U+2029 escaped, so that every reader sees the same lines.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import duckdb
import msgspec

from pipeline import answer
from pipeline.join import selects
from pipeline.paths import resolved
from pipeline.query import QueryError, one_line, opened

BATCH_ROWS = 1024
"""Rows held at a time; one of them can hold megabytes."""

_ESCAPED = {"\u2028".encode(): b"\\u2028", "\u2029".encode(): b"\\u2029"}


def export(lake: Path, folder: Path) -> dict[str, int]:
    """Write both files into `folder`, which is made if it is missing; return the lines of each.

    A file is replaced in one step, and only by a whole one. Raises QueryError for what is no lake, and for a folder
    inside it.
    """
    if resolved(folder).is_relative_to(resolved(lake)):
        raise QueryError(f"{folder}: the folder lies in the lake; name one outside of it")
    if folder.exists() and not folder.is_dir():
        raise QueryError(f"{folder}: not a directory")
    written = {}
    with one_line(), opened(lake) as connection:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("timeline", "sessions"):
            path = folder / f"{name}.jsonl"
            with answer.replaced(path) as sink:
                written[path.name] = _write(sink, connection, selects("export")[name])
    return written


def _write(sink: BinaryIO, connection: duckdb.DuckDBPyConnection, select: str) -> int:
    """Write the rows of a SELECT; return how many."""
    count = 0
    for line in _lines(connection, select):
        sink.write(line)
        count += 1
    return count


def _lines(connection: duckdb.DuckDBPyConnection, select: str) -> Iterator[bytes]:
    """Yield a line for each row."""
    encode = msgspec.json.Encoder().encode
    for batch in connection.sql(select).to_arrow_reader(BATCH_ROWS):
        for row in batch.to_pylist():
            line = encode(row)
            for mark, escape in _ESCAPED.items():
                line = line.replace(mark, escape)
            yield line + b"\n"
