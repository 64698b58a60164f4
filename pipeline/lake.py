"""A lake's directory: builds beside each other, the current one behind a link that is switched in one step."""

import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import polars as pl
import pyarrow as pa

from pipeline.entries import Entry, loaded
from pipeline.history import History
from pipeline.tables import FORMAT_VERSION

CURRENT, CATALOG, MANIFEST, BUILDS = "current", "lake.duckdb", "manifest.json", "builds"
UNFINISHED = ".unfinished"
SHARE = "share"
"""What the manifest of a share has, and says how it was made."""
OWN = {CURRENT, CATALOG, BUILDS, f".{CURRENT}.new", f".{CATALOG}.new"}
"""Names that a build makes in a lake."""
_END = b"PAR1"
"""The last bytes of a Parquet file (Apache Parquet's "File format")."""


Files = dict[str, tuple[int, list[list[Any]]]]
"""Rows of each file of a build, by its path there, and what they are counted by: values, followed by their rows."""


class LakeError(Exception):
    """A directory that is no lake, or one that this version cannot update; one clear line."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a build says of itself: its directory, the lake's number of buckets, and the homes that it holds.

    `files` gives of each file its rows and what they are counted by, `failures` the rows that checks found wrong.
    """

    build: Path
    buckets: int
    homes: list[History]
    files: Files
    failures: dict[str, int]


def manifest(lake: Path) -> Manifest | None:
    """Return the manifest of the lake's current build; null where there is no lake yet.

    A lake that was copied without its links, or whose first build was killed before it made them, has the newest.

    Raises LakeError where it cannot be used: it is damaged, or of another version of the format.
    """
    number = _current(lake)
    if not number:
        return None
    build = lake / BUILDS / str(number)
    try:
        data = (build / MANIFEST).read_bytes()
        usable = _decoded(data, _Head).format == FORMAT_VERSION
        content, homes = _read(data) if usable else (_Content(0, [], {}, {}), [])
    except (OSError, ValueError, LookupError) as error:
        raise LakeError(f"{lake}: the current build has no readable manifest; --replace starts anew") from error
    if content.buckets < 1:
        raise LakeError(f"{lake}: a lake of another version; --replace starts anew")
    return Manifest(build, content.buckets, homes, content.files, content.checks)


class _Head(msgspec.Struct):
    """What a manifest says of itself."""

    format: object
    share: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Content(msgspec.Struct):
    """What a build needs to know of a manifest."""

    buckets: int
    homes: list[Entry]
    files: Files
    checks: dict[str, int]


@lru_cache(maxsize=1)
def _read(data: bytes) -> tuple[_Content, list[History]]:
    """Read a manifest; a build does so before and after its inputs are listed."""
    content = _decoded(data, _Content)
    return content, [loaded(home) for home in content.homes]


Shape = TypeVar("Shape")


def _decoded(data: bytes, shape: type[Shape]) -> Shape:
    """Read JSON. Raises ValueError for any other shape."""
    try:
        try:
            return msgspec.json.decode(data, type=shape)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:  # half a surrogate pair, which names of files can have, is no error to Python
            return msgspec.convert(json.loads(data), shape)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def check(lake: Path) -> None:
    """Raise LakeError where a directory holds something else than a lake, which a build must not touch."""
    check_place(lake)
    if is_share(lake):
        raise LakeError(f"{lake}: made by `homelake share`, which no build can add to; name another directory")


def check_place(lake: Path) -> None:
    """Raise LakeError where a directory holds what no build of any kind makes in one."""
    if not lake.exists():
        return
    if not lake.is_dir():
        raise LakeError(f"{lake}: not a directory")
    entries = [*lake.iterdir(), *((lake / BUILDS).iterdir() if (lake / BUILDS).is_dir() else ())]
    if not all(entry.name in OWN or _is_build(entry) for entry in entries):
        raise LakeError(f"{lake}: not a lake, and not empty")
    if (lake / CURRENT).exists() and not (lake / CURRENT).is_symlink():
        raise LakeError(f"{lake}: `current` is no link: copied without links? Remove it, and the next build makes one")


@contextmanager
def reading(file: Path) -> Iterator[None]:
    """Read a file of a lake. Raises LakeError, with one line, where it is damaged."""
    try:
        yield
    except (pl.exceptions.PolarsError, pa.ArrowException) as error:
        raise damaged(file) from error


def damaged(file: Path) -> LakeError:
    """The error of a file of a lake that cannot be read."""
    return LakeError(f"{file}: missing or damaged; `homelake build --replace` makes the lake anew, of what it is given")


def check_files(build: Path, paths: Iterable[str] | None = None) -> None:
    """Raise LakeError where a Parquet file of a build is missing, or has lost its end, which the format marks.

    `paths` are those of the manifest, which is read for them where they are not given.
    """
    for path in _listed(build) if paths is None else paths:
        if _is_cut(build / path):
            raise damaged(build / path)


class _Listed(msgspec.Struct):
    """The paths that a manifest has of files."""

    files: dict[str, msgspec.Raw] = {}


def _listed(build: Path) -> Iterable[str]:
    """Paths of a build's files; none where its manifest does not tell."""
    try:
        return _decoded((build / MANIFEST).read_bytes(), _Listed).files
    except (OSError, ValueError):
        return ()


def _is_cut(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            opened.seek(max(opened.seek(0, os.SEEK_END) - len(_END), 0))
            return opened.read() != _END
    except FileNotFoundError:
        return True


def is_share(lake: Path) -> bool:
    """Whether the current build of a lake is a share of another one, by its manifest."""
    try:
        return _decoded((lake / CURRENT / MANIFEST).read_bytes(), _Head).share is not msgspec.UNSET
    except (OSError, ValueError):
        return False


def _is_build(entry: Path) -> bool:
    return entry.parent.name == BUILDS and entry.name.removesuffix(UNFINISHED).isdecimal() and entry.is_dir()


@contextmanager
def locked(lake: Path) -> Iterator[None]:
    """Hold a lake for one build. Raises LakeError where another build holds it."""
    builds = lake / BUILDS
    builds.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(builds, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise LakeError(f"{lake}: another build is writing this lake") from error
    finally:
        os.close(descriptor)


def start(lake: Path) -> Path:
    """Make the directory of a new build, and remove what a killed one left."""
    clean(lake)
    build = lake / BUILDS / f"{_current(lake) + 1}{UNFINISHED}"
    (build / "parts").mkdir(parents=True)
    return build


def clean(lake: Path, *, ignore_errors: bool = False) -> None:
    """Remove what there is of builds that were not published."""
    current = _current(lake)
    for entry in (lake / BUILDS).iterdir():
        if not entry.name.isdecimal() or int(entry.name) > current:
            shutil.rmtree(entry, ignore_errors)


def _current(lake: Path) -> int:
    """Number of the current build, without a link to one of the newest that is finished, 0 without any."""
    if (lake / CURRENT).is_symlink():
        name = (lake / CURRENT).readlink().name
        return int(name) if name.isdecimal() else 0
    names = [entry.name for entry in (lake / BUILDS).iterdir()] if (lake / BUILDS).is_dir() else []
    return max((int(name) for name in names if name.isdecimal()), default=0)


def write_manifest(build: Path, content: Mapping[str, object]) -> None:
    """Write a build's manifest."""
    try:
        data = msgspec.json.encode(content)
    except UnicodeEncodeError:  # half a surrogate pair
        data = json.dumps(msgspec.to_builtins(content)).encode()
    (build / MANIFEST).write_bytes(data + b"\n")


def finish(build: Path) -> Path:
    """Give an unfinished build its final directory; it is not the current one yet."""
    return build.rename(build.with_name(build.name.removesuffix(UNFINISHED)))


def publish(lake: Path, build: Path, keep: int = 1) -> None:
    """Make a finished build the current one, in one step.

    The one before stays for queries that are running on it; those before that are removed. `keep` is how many stay.
    """
    for name, target in ((CURRENT, f"{BUILDS}/{build.name}"), (CATALOG, f"{CURRENT}/{CATALOG}")):
        fresh = lake / f".{name}.new"
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(target)
        fresh.replace(lake / name)
    for entry in (lake / BUILDS).iterdir():
        if entry.name.isdecimal() and int(entry.name) < int(build.name) - keep:
            # A reader that still has it finds all of its files or none, which is an error; never some of them.
            shutil.rmtree(entry.rename(entry.with_name(entry.name + UNFINISHED)))
