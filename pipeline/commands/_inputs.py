"""The inputs of a command: find what they hold, and leave with the code that the outcome has."""

import typer

import parsers
from pipeline.commands._options import INPUT_MISSING, NOTHING_FOUND, WRONG_USE, fail
from pipeline.discover import Options, discover
from pipeline.model import Collection


def collections_of(inputs: list[str], options: Options) -> tuple[list[Collection], bool]:
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


def has_artifacts(collections: list[Collection]) -> bool:
    """Whether any file of an assistant was found."""
    return any(home.artifacts for found in collections for home in found.homes)


def leave(collections: list[Collection], opened_all: bool) -> None:
    """Leave with the code that the outcome has."""
    if not opened_all:
        raise typer.Exit(INPUT_MISSING)
    if not has_artifacts(collections):
        fail("no file of an assistant found", NOTHING_FOUND)
