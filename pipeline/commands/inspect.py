"""`homelake inspect`."""

import json
from dataclasses import asdict

import typer

from pipeline import inspect
from pipeline.archives import Sizes
from pipeline.commands._inputs import collections_of, leave
from pipeline.commands._options import (
    ARCHIVE_MB,
    MEMBER_MB,
    ArchiveLimit,
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
)


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
    as_json: Json = False,
) -> None:
    """Show what a build would read: collections, hosts, homes, assistants, files by source. Builds nothing."""
    moved = {"continue": continue_dir, "pearai": pearai_dir}
    sizes = Sizes(member_limit << 20, archive_limit << 20)
    options = discovery((host, user, path_template), None, moved, {"pearai": pearai_tasks}, sizes)
    collections, opened_all = collections_of(inputs, options)
    found = inspect.overview(collections)
    typer.echo(json.dumps(asdict(found)) if as_json else inspect.render(found))
    leave(collections, opened_all)
