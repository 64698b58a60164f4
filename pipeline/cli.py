"""The command `homelake`: its commands, each a function of a module of its own, and how it ends."""

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from pipeline.commands._options import EXIT_CODES, WRONG_USE
from pipeline.commands.build import build
from pipeline.commands.export import export
from pipeline.commands.inspect import inspect_inputs
from pipeline.commands.report import report
from pipeline.commands.schema import schema
from pipeline.commands.sql import sql

app = typer.Typer(
    name="homelake",
    help="Turn collected home directories of AI coding assistants into a lake of Parquet tables, and query it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=False,
)


@app.callback(invoke_without_command=True)
def _root(
    *, show_version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False
) -> None:
    if show_version:
        typer.echo(f"homelake {version('homelake')}")
        raise typer.Exit


app.command(epilog=EXIT_CODES)(build)
app.command("inspect", epilog=EXIT_CODES)(inspect_inputs)
# A query may begin with a comment, `-- ...`, which is no option.
app.command(context_settings={"ignore_unknown_options": True})(sql)
app.command()(export)
app.command()(schema)
app.command()(report)


def main() -> None:
    """Run the command line."""
    try:
        app()
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        print(f"homelake: {error.strerror or error}", file=sys.stderr)
        sys.exit(WRONG_USE)


if __name__ == "__main__":
    main()
