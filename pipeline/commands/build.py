"""`homelake build`."""

import dataclasses
import os
from pathlib import Path
from typing import Annotated

import duckdb
import typer

import parsers
from pipeline.archives import Sizes
from pipeline.build import Inputs as Found
from pipeline.build import Settings, known
from pipeline.build import build as build_lake
from pipeline.commands._inputs import collections_of, has_artifacts, leave
from pipeline.commands._options import (
    ARCHIVE_MB,
    INPUT_MISSING,
    MEMBER_MB,
    ArchiveLimit,
    CollectedAt,
    ContinueDir,
    Host,
    Inputs,
    Json,
    MemberLimit,
    PearaiDir,
    PearaiTasks,
    Template,
    User,
    discovery,
    fail,
    plural,
)
from pipeline.commands._progress import progress
from pipeline.commands._told import as_object, told
from pipeline.lake import LakeError
from pipeline.memory import Gate
from pipeline.paths import resolved
from pipeline.textgrid import safe


def build(
    inputs: Inputs,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="LAKE", help="Directory of the lake to make.")],
    workers: Annotated[
        int, typer.Option(min=1, metavar="N", help="Worker processes.", show_default="all cores")
    ] = os.cpu_count() or 1,
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
        bool,
        typer.Option(
            "--full", help="Read all inputs again, and make the rows of collections that the lake holds anew."
        ),
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Start empty: forget what the lake holds.")] = False,
    completion_text: Annotated[
        bool,
        typer.Option(
            "--completion-text",
            help="Keep the texts of the editor's completions, which are many; of homes that are read (see --full).",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Build a lake from home directories, or add what they hold to a lake that is there.

    A lake keeps every row that any collection of a home held, in whatever order they come; `current` tells those of
    the newest. Inputs are only read. A lake that is there stays whole and readable until the new build is finished.
    """
    moved = {"continue": continue_dir, "pearai": pearai_dir}
    sizes = Sizes(member_limit << 20, archive_limit << 20)
    options = discovery((host, user, path_template), collected_at, moved, {"pearai": pearai_tasks}, sizes)
    _refuse_place(output, inputs)
    settings = Settings(workers, buckets, replace, completion_text, full)
    try:
        held, memory = known(output, settings)
        gate = Gate(memory.archives, options.told())
        collections, opened_all = collections_of(inputs, dataclasses.replace(options, gate=gate, workers=workers))
        if not has_artifacts(collections) and not gate.unchanged:
            leave(collections, opened_all)
        found = Found([collection for collection in collections if collection.homes or collection.problems], gate, held)
        with progress() as report:
            summary = build_lake(output, found, parsers.SOURCES, settings, report)
    except OSError as error:
        fail(safe(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)))
    except (LakeError, duckdb.IOException) as error:
        fail(str(error).splitlines()[0])
    typer.echo(as_object(summary, output) if as_json else told(summary, output))
    if summary.failed:
        typer.echo(
            f"homelake: {plural(summary.failed, 'home')} not read: a worker was killed over them, twice, most likely "
            "for the memory that it took; try --workers 1",
            err=True,
        )
    if not opened_all or summary.failed:
        raise typer.Exit(INPUT_MISSING)


def _refuse_place(lake: Path, inputs: list[str]) -> None:
    """Refuse to write a lake into an input, or where DuckDB cannot open a file."""
    try:
        str(lake.absolute()).encode()
    except UnicodeEncodeError:
        fail("the path of a lake must be UTF-8")
    if "\\" in str(lake.absolute()):
        fail(f"{lake}: the path of a lake cannot hold a backslash")
    for name in inputs:
        if name and resolved(lake).is_relative_to(resolved(Path(name))) and Path(name).is_dir():
            fail(f"{lake}: lies inside the input {name}")
