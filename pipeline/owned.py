"""What in an agent directory is the assistant's: told from paths alone, and from the names beside them."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from enum import Enum
from fnmatch import fnmatchcase, translate
from functools import cache

from pipeline.model import Artifact, Root, Status
from pipeline.source import Source

Classify = Callable[[str, str, str], str | None]
"""(agent, path below a root, name of the root) to the name of the source of the file there, null for none."""


class Share(Enum):
    """Whether what is at a path is the assistant's, or can only hold what is, or neither."""

    OWN = 1
    ABOVE = 2
    NONE = 3


def share(root: Root, path: str) -> Share:
    """Tell whose the file or directory at a path below a root is; the root's own path is empty."""
    if root.own == ("**",):
        return Share.OWN
    parts = path.split("/") if path else []
    found = {_share(pattern.split("/"), parts) for pattern in root.own}
    return next((each for each in Share if each in found), Share.NONE)


def _share(pattern: list[str], parts: list[str]) -> Share:
    """Tell by one pattern."""
    fixed = pattern[:-1] if pattern[-1] == "**" else pattern
    if not all(map(fnmatchcase, parts, fixed)):
        return Share.NONE
    if len(parts) < len(fixed):
        return Share.ABOVE
    return Share.OWN if len(parts) == len(fixed) or fixed is not pattern else Share.NONE


def is_searched(root: Root, path: str) -> bool:
    """Whether directories of sessions can lie at and below a path below a root."""
    return root.inner is not None and f"{path}/".startswith(f"{root.inner.searched}/".lstrip("/"))


@cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)) or r"(?!)")


def is_any(patterns: tuple[str, ...], path: str) -> bool:
    """Whether a path matches one of some glob patterns."""
    return _any_of(patterns).match(path) is not None


def named(classify: Classify, agent: str, root: Root, path: str) -> tuple[str | None, bool]:
    """Name the source of the file at a path below a root, and say whether it stands in for another of that source."""
    source = classify(agent, path, root.name)
    if source is None and root.stands_for is not None:
        folder, slash, name = path.rpartition("/")
        real = root.stands_for(name)
        source = classify(agent, f"{folder}{slash}{real}", root.name) if real else None
        return source, source is not None
    return source, False


def place_of(artifact: Artifact) -> tuple[str, str | None]:
    """The directory and the source of an artifact: what stands in for a file has those of that file."""
    return artifact.home_path.rpartition("/")[0], artifact.source


def told_path(artifact: Artifact, source: Source | None) -> str:
    """Path below the home of the file that an artifact stands in for; of any other its own."""
    if not artifact.stands_in or source is None or source.file is None:
        return artifact.home_path
    folder, slash, _ = artifact.home_path.rpartition("/")
    return f"{folder}{slash}{source.file}"


_NOTHING = 3
"""Bytes up to which a file may hold nothing: an array without an element, white space."""


def _is_there(artifact: Artifact) -> bool:
    """Whether a file of a source is there, and too large to hold nothing."""
    is_read = artifact.status is Status.PARSED and not artifact.stands_in
    return is_read and artifact.source is not None and (artifact.size or 0) > _NOTHING


def planned(artifacts: Iterable[Artifact]) -> list[Artifact]:
    """Plan not to read what stands in for a file that is there and holds something."""
    listed = list(artifacts)
    there = {place_of(artifact) for artifact in listed if _is_there(artifact)}
    return [
        replace(artifact, status=Status.KNOWN) if artifact.stands_in and place_of(artifact) in there else artifact
        for artifact in listed
    ]
