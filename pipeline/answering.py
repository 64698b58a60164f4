"""Answer a SELECT that passed the checks: onto standard output or into a file, in whole or its first rows."""

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO, TypeVar

import duckdb

from pipeline import answer, textgrid
from pipeline.answer import Form
from pipeline.answertable import TERMINAL_ROWS, View, table_lines
from pipeline.selected import Select


@dataclass(frozen=True, slots=True)
class How:
    """How to answer: values of the query's parameters, most rows (null: all, of a table on a terminal the first 1,000;
    0: all), and whether a table has a block of lines per row.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    max_rows: int | None = None
    expanded: bool = False


PLAIN = How()
Result = TypeVar("Result")


def write_answer(
    connection: duckdb.DuckDBPyConnection, select: Select, form: Form, output: Path | None, how: How
) -> int | None:
    """Write the answer of a query that passed to `output`, or to standard output; return its rows, null for a plan.

    Of CSV, JSON and Parquet that `max_rows` cuts, a line on standard error says so. A plan is a table. Raises errors of
    DuckDB, of Arrow and of the file system.
    """
    fields = [] if form == "table" else select.fields(connection)
    some = answer.Some(how.max_rows or None)
    with answer.printed() if output is None else answer.replaced(output) as sink:
        if form == "table":
            terminal = None if output else sys.stdout
            encoding = (terminal and terminal.encoding) or "utf-8"
            lines = _lines(connection, select, terminal, how, some)
            sink.writelines(f"{line}\n".encode(encoding, "backslashreplace") for line in lines)
        elif form == "parquet":
            reader = select.batches(connection, fields)
            answer.write_parquet(reader.schema, some.batches(reader), sink)
        else:
            chunks = answer.csv_chunks if form == "csv" else answer.json_chunks
            sink.writelines(chunks(fields, some.rows(select.rows(connection, fields, form))))
    if some.are_left:
        print(f"homelake: there are more rows than the {some.most:,} that were written", file=sys.stderr)
    return None if select.explain else some.written


def interruptible(connection: duckdb.DuckDBPyConnection, work: Callable[[], Result]) -> Result:
    """Do work that asks DuckDB, in a thread: so an interrupt (Ctrl-C) stops a query at once, and is raised."""
    with ThreadPoolExecutor(1) as executor:
        future = executor.submit(work)
        try:
            return future.result()
        except KeyboardInterrupt:
            # Between two of its queries an interrupt is lost.
            while not future.done():
                connection.interrupt()
                wait([future], timeout=0.1)
            raise


def _lines(
    connection: duckdb.DuckDBPyConnection, select: Select, terminal: TextIO | None, how: How, some: answer.Some
) -> Iterator[str]:
    """Lines of a table, or of a plan; `terminal` is standard output, if that is where they go; `some` counts rows."""
    if select.explain:
        return map(textgrid.safe, select.plan(connection))
    width = shutil.get_terminal_size().columns if terminal and terminal.isatty() else None
    most = how.max_rows if how.max_rows is not None else TERMINAL_ROWS if width else 0
    view = View(most or None, width, how.expanded)
    fields = select.fields(connection)
    # One character more than is shown, so that a cut is seen.
    longest = view.longest and view.longest + 1
    return table_lines(fields, some.counted(select.rows(connection, fields, "table", longest)), view)
