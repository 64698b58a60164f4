"""Options that several commands have, the codes that a command ends with, and how it says what is wrong."""

import textwrap
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from pipeline.archives import Sizes
from pipeline.discover import Options

MEMBER_MB, ARCHIVE_MB = Sizes().member >> 20, Sizes().archive >> 20
NOTHING_FOUND, WRONG_USE, INPUT_MISSING, INTERRUPTED = 1, 2, 3, 130
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

EXIT_CODES = (
    "Exit codes: 0 done, 1 no file of an assistant found, 2 wrong command line, no input could be opened or the "
    "lake cannot be written, 3 an input could not be opened or a home not be read (the others were), 130 stopped with "
    "Ctrl-C."
)
LAKE_CODES = (
    "Exit codes: 0 done, 2 wrong command line, no lake there, a query that is refused or fails, or a file that cannot "
    "be read or written, 130 stopped with Ctrl-C."
)
SCHEMA_CODES = "Exit codes: 0 done, 2 wrong command line, or no such table, 130 stopped with Ctrl-C."

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else, on standard output.")]

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...",
        help="Homes, directories of homes, archives of these, collections, directories above several; a `.continue`.",
    ),
]
Lake = Annotated[Path, typer.Argument(metavar="LAKE", help="Directory of the lake.")]
Host = Annotated[str | None, typer.Option(metavar="H", help="Host that the homes were collected from.")]
User = Annotated[str | None, typer.Option(metavar="U", help="User of a home whose path names none.")]
Template = Annotated[
    str | None,
    typer.Option(
        metavar="T",
        help="What the path of a home below the input says: '{host}/home/{user}', '{collected}/{user}' ...",
    ),
]
CollectedAt = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="When the homes were collected: ISO 8601, UTC where it has no offset."),
]
ContinueDir = Annotated[
    list[str] | None,
    typer.Option(metavar="PATH", help="Moved `.continue`, relative to each home, such as work-state."),
]
PearaiDir = Annotated[
    list[str] | None,
    typer.Option(metavar="PATH", help="Moved `.pearai`, relative to each home."),
]
PearaiTasks = Annotated[
    list[str] | None,
    typer.Option(metavar="PATH", help="Directory that holds PearAI's directories of tasks, relative to each home."),
]
MemberLimit = Annotated[
    int, typer.Option(min=1, metavar="MB", help="Files of an archive that are larger, unpacked, are not read.")
]
ArchiveLimit = Annotated[int, typer.Option(min=1, metavar="MB", help="How much of an archive is read, unpacked.")]


def fail(message: object, code: int = WRONG_USE) -> NoReturn:
    """Print one line and leave with `code`."""
    typer.echo(f"homelake: {message}", err=True)
    raise typer.Exit(code)


def plural(count: int, thing: str) -> str:
    """A number with its noun."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def completions(told: Mapping[str, str], incomplete: str) -> list[tuple[str, str]]:
    """Words that begin as typed, each with what it is, on one line of the shell's menu."""
    shortened = {word: textwrap.shorten(text, 60, placeholder="...") for word, text in told.items()}
    return [(word, text) for word, text in shortened.items() if word.startswith(incomplete)]


def discovery(
    origin: tuple[str | None, str | None, str | None],
    collected: str | None,
    moved: dict[str, list[str] | None],
    tasks: dict[str, list[str] | None],
    sizes: Sizes,
) -> Options:
    """Options of discovery, from those of the command line; `origin` are host, user and path template."""
    directories, folders = ({agent: tuple(paths or ()) for agent, paths in named.items()} for named in (moved, tasks))
    return Options(*origin, _milliseconds(collected), directories, folders, sizes)


def _milliseconds(text: str | None) -> int | None:
    """ISO 8601 to milliseconds since 1970."""
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        fail(f"--collected-at: {text!r} is no time (write 2026-09-18T10:00:00Z)")
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - EPOCH) // timedelta(milliseconds=1)
