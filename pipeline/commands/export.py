"""`homelake export`."""

from pathlib import Path
from typing import Annotated

import typer

from pipeline import query
from pipeline.commands._options import Lake, fail, plural
from pipeline.export import export as export_lake


def export(
    lake: Lake,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Directory for the two files.")],
) -> None:
    """Write a lake's timeline and sessions as JSON lines: `timeline.jsonl` and `sessions.jsonl`.

    Rows that the last collection of a home holds, without those that repeat others, in order of time.
    """
    try:
        for name, lines in export_lake(lake, output).items():
            typer.echo(f"{output / name}: {plural(lines, 'line')}")
    except query.QueryError as error:
        fail(error)
