"""`homelake schema`."""

from enum import StrEnum
from typing import Annotated

import typer

from pipeline import dictionary
from pipeline.catalog import grain
from pipeline.commands._options import completions, fail
from pipeline.join import selects
from pipeline.tables import TABLES


class SchemaForm(StrEnum):
    """How `homelake schema` writes the dictionary."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


def _completed(incomplete: str) -> list[tuple[str, str]]:
    """Tables and further views that begin so, for the shell's completion."""
    told = {table.name: table.grain for table in TABLES}
    told |= {name: grain(select) or "" for name, select in selects("views").items()}
    return completions(told, incomplete)


def schema(
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="[TABLE]", help="One table or further view; all of them without it.", autocompletion=_completed
        ),
    ] = None,
    form: Annotated[SchemaForm, typer.Option("--format", help="How to write the dictionary.")] = SchemaForm.TABLE,
) -> None:
    """Describe the lake's tables and views: grain, key, every column's type and meaning, and a view's query."""
    views = selects("views")
    if table is not None and table in views:
        typer.echo(dictionary.render_view(table, TABLES, views, form.value))
        return
    chosen = [known for known in TABLES if table in (None, known.name)]
    if not chosen:
        names = (*(known.name for known in TABLES), *views)
        fail(f"no table or view {table!r}; there are {', '.join(names)}")
    typer.echo(dictionary.render(chosen, form.value))
    if table is None and form is SchemaForm.TABLE:
        typer.echo(f"\nfurther views\n{dictionary.render_views(views)}")
