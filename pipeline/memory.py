"""What a build remembers of its inputs, so that the next one need not open what did not change.

It lies beside the manifest, in a file of its own: it is true on the machine that built the lake, and no row rests on
it.
"""

import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.history import hash_of
from pipeline.model import Home, Status

NAME = "inputs.json"

SETTLED_NS = 100_000_000
"""A file that changed so shortly before it was looked at may change again without another time."""


@dataclass(slots=True)
class Memory:
    """What was read: homes by their identity, archives by their paths.

    Of a home its fingerprints, each with the digest of what it held; of an archive its stamp.
    """

    homes: dict[str, dict[str, str]] = field(default_factory=dict)
    archives: dict[str, str] = field(default_factory=dict)

    def after(self, now: "Memory") -> "Memory":
        """What is remembered once a build that remembers `now` followed: archives that are gone are forgotten."""
        kept = {path: stamp for path, stamp in self.archives.items() if Path(path).exists()}
        return Memory({**self.homes, **now.homes}, {**kept, **now.archives})


class Gate:
    """Lets by the archives that changed since a build read them, and tells which did and which did not.

    `options` are what else decides what is found in an archive.
    """

    def __init__(self, known: Mapping[str, str], options: Sequence[str]) -> None:
        self.changed: dict[str, str] = {}
        self.unchanged: dict[str, str] = {}
        self._known = known
        self._options = options

    def is_known(self, path: str) -> bool:
        """Whether an archive is what it was when it was read."""
        stamp = archive_stamp(path, self._options)
        if stamp is None:
            return False
        is_known = self._known.get(path) == stamp
        (self.unchanged if is_known else self.changed)[path] = stamp
        return is_known

    def failed(self, path: str) -> None:
        """Forget an archive that could not be opened."""
        self.changed.pop(path, None)


def load(build: Path) -> Memory:
    """The memory of a build; an empty one where it cannot be read."""
    try:
        found = json.loads((build / NAME).read_bytes())
        homes = {identity: dict(entries) for identity, entries in found["homes"].items()}
        return Memory(homes, dict(found["archives"]))
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return Memory()


def write(build: Path, memory: Memory) -> None:
    """Write a build's memory."""
    text = json.dumps({"homes": memory.homes, "archives": memory.archives}, sort_keys=True)
    (build / NAME).write_text(text + "\n", encoding="utf-8")


def fingerprint(home: Home) -> str | None:
    """A hash of the places and times of a home's files, which is another one when a file was changed or replaced.

    Null where they are in an archive, or changed just now.
    """
    stamps = []
    for artifact in home.artifacts:
        if isinstance(artifact.location, Path):
            stamps.append(_stamp(os.fspath(artifact.location)))
        elif artifact.status in (Status.PARSED, Status.KNOWN):
            return None
    return hash_of(stamps) if None not in stamps else None


def archive_stamp(path: str, options: Sequence[str]) -> str | None:
    """A hash of an archive's time, size and place on its disk, those of what lies beside it, and of the options.

    Null where it changed just now.
    """
    stamps = [_stamp(path), _stamp(f"{path}.sha256", is_there=False)]
    return hash_of([stamps, options]) if None not in stamps else None


def _stamp(path: str, *, is_there: bool = True) -> list[Any] | None:
    """Facts of a file that change when it does; null where it changed just now, or is not there though it should be."""
    now = time.time_ns()
    try:
        look = os.lstat(path)
    except OSError:
        return None if is_there else []
    newest = max(look.st_mtime_ns, look.st_ctime_ns)
    if 0 <= now - newest < SETTLED_NS:
        return None
    return [path, look.st_size, look.st_mtime_ns, look.st_ctime_ns, look.st_ino, look.st_dev]


def remembered(found: Iterable[tuple[str, str | None, str]]) -> dict[str, dict[str, str]]:
    """Memory of homes, from identities, fingerprints and digests."""
    homes: dict[str, dict[str, str]] = {}
    for identity, mark, digest in found:
        if mark is not None:
            homes.setdefault(identity, {})[mark] = digest
    return homes
