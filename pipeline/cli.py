"""The command `homelake`. Each command parses its options, calls one function and prints what it returns."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, NoReturn

import duckdb
import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

import parsers
from pipeline import dictionary, inspect, query
from pipeline.archives import Sizes
from pipeline.build import Progress as Report
from pipeline.build import Settings, Summary
from pipeline.build import build as build_lake
from pipeline.discover import Options, discover
from pipeline.export import export as export_lake
from pipeline.join import selects
from pipeline.lake import LakeError
from pipeline.model import Collection
from pipeline.share.command import share
from pipeline.tables import TABLES

MEMBER_MB, ARCHIVE_MB = Sizes().member >> 20, Sizes().archive >> 20
NOTHING_FOUND, WRONG_USE, INPUT_MISSING = 1, 2, 3
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

EXIT_CODES = (
    "Exit codes: 0 done, 1 no file of an assistant found, 2 wrong command line or no input could be opened, "
    "3 one input could not be opened (the others were read)."
)

app = typer.Typer(
    name="homelake",
    help="Turn collected home directories of AI coding assistants into a lake of Parquet tables, and query it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=False,
)

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


class QueryForm(StrEnum):
    """How `homelake sql` writes a result."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


class SchemaForm(StrEnum):
    """How `homelake schema` writes the dictionary."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


def fail(message: object, code: int = WRONG_USE) -> NoReturn:
    """Print one line and leave with `code`."""
    typer.echo(f"homelake: {message}", err=True)
    raise typer.Exit(code)


@app.callback(invoke_without_command=True)
def _root(
    *, show_version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False
) -> None:
    if show_version:
        typer.echo(f"homelake {version('homelake')}")
        raise typer.Exit


@app.command(epilog=EXIT_CODES)
def build(
    inputs: Inputs,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="LAKE", help="Directory of the lake to make.")],
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Worker processes.")] = os.cpu_count() or 1,
    host: Host = None,
    user: User = None,
    path_template: Template = None,
    collected_at: CollectedAt = None,
    continue_dir: ContinueDir = None,
    pearai_dir: PearaiDir = None,
    pearai_tasks: PearaiTasks = None,
    member_limit: MemberLimit = MEMBER_MB,
    archive_limit: ArchiveLimit = ARCHIVE_MB,
    buckets: Annotated[
        int | None,
        typer.Option(
            min=1, max=256, metavar="N", help="Files that users are spread over; fixed when the lake is made."
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Make the rows of collections that the lake holds anew from the inputs.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Start empty: forget what the lake holds.")] = False,
    completion_text: Annotated[
        bool, typer.Option("--completion-text", help="Keep the texts of the editor's completions, which are many.")
    ] = False,
) -> None:
    """Build a lake from home directories, or add what they hold to a lake that is there.

    A lake keeps every row that any collection of a home held, in whatever order they come; `current` tells those of
    the newest. Inputs are only read. A lake that is there stays whole and readable until the new build is finished.
    """
    moved = {"continue": continue_dir, "pearai": pearai_dir}
    sizes = Sizes(member_limit << 20, archive_limit << 20)
    options = _options((host, user, path_template), collected_at, moved, {"pearai": pearai_tasks}, sizes)
    _refuse_place(output, inputs)
    collections, opened_all = _discover(inputs, options)
    if not _has_artifacts(collections):
        _leave(collections, opened_all)
    try:
        with _progress() as report:
            settings = Settings(workers, buckets, replace, completion_text, full)
            found = [collection for collection in collections if collection.homes or collection.problems]
            summary = build_lake(output, found, parsers.SOURCES, settings, report)
    except (LakeError, OSError, duckdb.IOException) as error:
        fail(str(error).splitlines()[0])
    typer.echo(_told(summary, output))
    _leave(collections, opened_all)


@app.command("inspect", epilog=EXIT_CODES)
def inspect_inputs(
    inputs: Inputs,
    host: Host = None,
    user: User = None,
    path_template: Template = None,
    continue_dir: ContinueDir = None,
    pearai_dir: PearaiDir = None,
    pearai_tasks: PearaiTasks = None,
    member_limit: MemberLimit = MEMBER_MB,
    archive_limit: ArchiveLimit = ARCHIVE_MB,
) -> None:
    """Show what a build would read: collections, hosts, homes, assistants, files by source. Builds nothing."""
    moved = {"continue": continue_dir, "pearai": pearai_dir}
    sizes = Sizes(member_limit << 20, archive_limit << 20)
    options = _options((host, user, path_template), None, moved, {"pearai": pearai_tasks}, sizes)
    collections, opened_all = _discover(inputs, options)
    typer.echo(inspect.render(inspect.overview(collections)))
    _leave(collections, opened_all)


# A query may begin with a comment, `-- ...`, which is no option.
@app.command(context_settings={"ignore_unknown_options": True})
def sql(
    lake: Lake,
    statement: Annotated[
        str | None,
        typer.Argument(metavar="[QUERY]", help="One SELECT over the lake's views (see `homelake schema`)."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="Read the query from a file, `-` for input.")
    ] = None,
    example: Annotated[
        str | None, typer.Option("--example", metavar="NAME", help="Run a query that comes along; `list` names them.")
    ] = None,
    form: Annotated[
        QueryForm | None, typer.Option("--format", help="How to write the result: by the ending of FILE, else a table.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="File for the result; needed for Parquet.")
    ] = None,
) -> None:
    """Run one SELECT over a lake. It can read nothing but the lake; its answer is printed, or written into FILE.

    homelake sql LAKE "select kind, count(*) from timeline group by all"

    PIVOT needs its values, `pivot ... on x in ('a', 'b')`, or write `sum(y) filter (where x = 'a')`. Times are UTC.
    """
    if example == "list":
        typer.echo("\n".join(f"{name:<22}{_question(select)}" for name, select in selects("examples").items()))
        return
    asked = _asked(statement, file, example)
    by_ending = {f".{known.value}": known for known in QueryForm}
    chosen = form or (by_ending.get(output.suffix) if output else None) or QueryForm.TABLE
    try:
        query.run_query(lake, asked, form=chosen.value, output=output)
    except query.QueryError as error:
        fail(error)


def _question(select: str) -> str:
    """What an example asks, by its first line."""
    return select.splitlines()[0].removeprefix("-- ")


def _asked(statement: str | None, file: Path | None, example: str | None) -> str:
    """The query of the command line: itself, a file's, or an example's."""
    if sum(given is not None for given in (statement, file, example)) != 1:
        fail("give one of QUERY, --file and --example")
    if example is not None:
        found = selects("examples").get(example)
        return found if found is not None else fail(f"no example {example!r}: `--example list` names them")
    if file is None:
        return statement or ""
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        fail(f"{file}: not UTF-8")
    except OSError as error:
        fail(f"{file}: {error.strerror}")


@app.command()
def export(
    lake: Lake,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Directory for the two files.")],
) -> None:
    """Write a lake's timeline and sessions as JSON lines: `timeline.jsonl` and `sessions.jsonl`.

    Rows that the last collection of a home holds, without those that repeat others, in order of time.
    """
    try:
        for name, lines in export_lake(lake, output).items():
            typer.echo(f"{output / name}: {_plural(lines, 'line')}")
    except query.QueryError as error:
        fail(error)


@app.command()
def schema(
    table: Annotated[str | None, typer.Argument(metavar="[TABLE]", help="One table; all of them without it.")] = None,
    form: Annotated[SchemaForm, typer.Option("--format", help="How to write the dictionary.")] = SchemaForm.TABLE,
) -> None:
    """Describe the lake's tables: grain, key, and every column's type and meaning; of a further view its query."""
    chosen = [known for known in TABLES if table in (None, known.name)]
    if table in selects("views"):
        typer.echo(f"{table}: {dictionary.render_views({table: selects('views')[table]}).removeprefix(table).strip()}")
        typer.echo(f"\n{selects('views')[table]}", nl=False)
        return
    if not chosen:
        fail(f"no table {table!r}; there are {', '.join(known.name for known in TABLES)}")
    typer.echo(dictionary.render(chosen, form.value))
    if table is None and form is SchemaForm.TABLE:
        typer.echo(f"\nfurther views\n{dictionary.render_views(selects('views'))}")


def _options(
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


def _discover(inputs: list[str], options: Options) -> tuple[list[Collection], bool]:
    """Find the collections; print a line for each input that cannot be opened. Say whether all could."""
    try:
        collections, errors = discover(inputs, parsers.LAYOUTS, parsers.classify, options)
    except ValueError as error:
        fail(error)
    for unopened in errors:
        typer.echo(f"homelake: {unopened}", err=True)
    for found in collections:
        for path in found.closed:
            typer.echo(f"homelake: {found.input}: cannot list {path}", err=True)
    if sum(error.is_whole for error in errors) == len(inputs):
        raise typer.Exit(WRONG_USE)
    return collections, not errors


def _refuse_place(lake: Path, inputs: list[str]) -> None:
    """Refuse to write a lake into an input, or where DuckDB cannot open a file."""
    try:
        str(lake.absolute()).encode()
    except UnicodeEncodeError:
        fail("the path of a lake must be UTF-8")
    if "\\" in str(lake.absolute()):
        fail(f"{lake}: the path of a lake cannot hold a backslash")
    for name in inputs:
        if name and lake.resolve().is_relative_to(Path(name).resolve()) and Path(name).is_dir():
            fail(f"{lake}: lies inside the input {name}")


def _has_artifacts(collections: list[Collection]) -> bool:
    return any(home.artifacts for found in collections for home in found.homes)


def _leave(collections: list[Collection], opened_all: bool) -> None:
    """Leave with the code that the outcome has."""
    if not opened_all:
        raise typer.Exit(INPUT_MISSING)
    if not _has_artifacts(collections):
        fail("no file of an assistant found", NOTHING_FOUND)


@contextmanager
def _progress() -> Iterator[Report]:
    """Report to a progress bar on a terminal, to nothing elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda done, total: None
        return
    columns = (
        TextColumn("reading"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _told(summary: Summary, lake: Path) -> str:
    """The summary of a build, as text."""
    lines = [
        f"{lake}: {_plural(summary.homes, 'home')}, {_plural(summary.files, 'file')}, "
        f"{summary.bytes / 1e6:,.1f} MB read in {summary.seconds:.1f} s",
        "",
        "files     " + ", ".join(f"{status} {count:,}" for status, count in sorted(summary.statuses.items())),
        "tables    " + ", ".join(f"{name} {count:,}" for name, count in sorted(summary.tables.items())),
    ]
    agents = sorted({agent for agent, _ in summary.rows})
    lines.extend(
        f"{agent:<9} " + ", ".join(f"{kind} {n:,}" for (a, kind), n in sorted(summary.rows.items()) if a == agent)
        for agent in agents
    )
    for lost, label in ((True, "losses"), (False, "notes")):
        counts = [f"{reason} {n:,}" for (reason, is_loss), n in sorted(summary.problems.items()) if is_loss == lost]
        lines.append(f"{label:<9} " + (", ".join(counts) or "none"))
    wrong = [f"{name} {_plural(rows, 'row')}" for name, rows in sorted(summary.failures.items())]
    lines.append(f"checks    {'FAILED: ' + ', '.join(wrong) if wrong else 'all passed'}")
    if summary.nameless:
        lines.append(f"users     {_plural(summary.nameless, 'home')} without a user: its path names none, see --user")
    return "\n".join(lines)


def _plural(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


app.command()(share)


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
    except KeyboardInterrupt:
        print("homelake: stopped", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
