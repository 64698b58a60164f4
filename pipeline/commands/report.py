"""`homelake report`."""

from pathlib import Path
from typing import Annotated

import typer

from pipeline import query
from pipeline.commands._options import Lake, fail
from pipeline.report.display import size


def report(
    lake: Lake,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="File for the page, such as report.html.")
    ],
) -> None:
    """Write what a lake tells as one HTML page: figures, charts and tables, to read offline, print or hand on.

    The page asks for nothing from a network. It shows names of users and hosts, permission rules, and titles of deleted
    sessions, which can be the first words of a prompt; no other text of a transcript.
    """
    from pipeline.report import page  # the drawing library is large, and no other command needs it

    try:
        written = page.write(lake, output)
    except query.QueryError as error:
        fail(error)
    typer.echo(f"{output}: {size(written)}")
