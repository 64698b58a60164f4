"""The command `homelake`: its commands, each a function of a module of its own, and how it ends."""

import signal
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from pipeline.commands._options import EXIT_CODES, INTERRUPTED, LAKE_CODES, SCHEMA_CODES, WRONG_USE
from pipeline.commands.build import build
from pipeline.commands.export import export
from pipeline.commands.inspect import inspect_inputs
from pipeline.commands.report import report
from pipeline.commands.schema import schema
from pipeline.commands.share import share
from pipeline.commands.sql import sql
from pipeline.textgrid import safe

NAME = "homelake"

app = typer.Typer(
    name=NAME,
    help="Turn collected home directories of AI coding assistants into a lake of Parquet tables, and query it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
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
app.command(epilog=LAKE_CODES, context_settings={"ignore_unknown_options": True})(sql)
app.command(epilog=LAKE_CODES)(export)
app.command(epilog=SCHEMA_CODES)(schema)
app.command(epilog=LAKE_CODES)(report)
app.command(epilog=LAKE_CODES)(share)


def main() -> None:
    """Run the command line: what is wrong is told in one line, and the exit code says how it ended."""
    # Polars' handler lets a wait for other threads and processes go on, and Ctrl-C would not end it.
    if callable(own := signal.getsignal(signal.SIGINT)):
        signal.signal(signal.SIGINT, own)
    try:
        code = app(prog_name=NAME, standalone_mode=False)
    except typer.TyperException as error:
        code = _misused(error)
    except BrokenPipeError:
        sys.stderr.close()
        code = 0
    except OSError as error:
        print(f"homelake: {error.strerror or error}", file=sys.stderr)
        code = WRONG_USE
    if code == INTERRUPTED:
        print("homelake: stopped", file=sys.stderr)
    sys.exit(code)


def _misused(error: typer.TyperException) -> int:
    """Tell in a line what is wrong with the command line, and where help is."""
    context = getattr(error, "ctx", None)
    message = " ".join(error.format_message().rstrip(".").split()).replace("Value error, ", "")
    hint = f" (see {context.command_path} --help)" if context else ""
    # Without a word behind the command its help was printed, and there is no message.
    if message:
        print(f"{NAME}: {safe(message[0].lower() + message[1:])}{hint}", file=sys.stderr)
    return WRONG_USE


if __name__ == "__main__":
    main()
