"""What the collections of a home held, in order: what a lake remembers of each home beside its rows.

A lake's rows tell the collection in which their file's present bytes were first seen. Which collections held these
bytes after it, and which lack them, follows from the lists of files that the manifest keeps of every collection.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from pipeline.extract import Read
from pipeline.model import Artifact, Home, Status
from pipeline.source import Source

Order = tuple[bool, int, str]


class Version(NamedTuple):
    """A file of a home as a collection holds it. A folder that is a session has neither `source_file` nor content."""

    home_path: str
    source_file: str | None
    bytes: int | None = None
    sha256: str | None = None

    @property
    def content(self) -> tuple[str, int | None, str | None]:
        """What makes it the same file with the same bytes in two collections."""
        return self.home_path, self.bytes, self.sha256


@dataclass(frozen=True, slots=True)
class Held:
    """What one collection holds of a home.

    `ids` are those of the collections that hold exactly this at exactly that time, mostly one; a collection of this
    build is known by its number until all of it was read. `sessions` are the assistant and the path below the home of
    each session that has a file or a folder. `digest` tells two collections of one time apart, and orders them.
    """

    ids: tuple[str, ...]
    collected_ms: int | None
    digest: str
    files: tuple[Version, ...]
    sessions: tuple[tuple[str, str], ...]

    @property
    def order(self) -> Order:
        """Place among the collections of the home."""
        return self.collected_ms is not None, self.collected_ms or 0, self.digest

    @property
    def label(self) -> str:
        """What stands for it in `collection_id` until `named` gives the id."""
        return "+".join(self.ids)


@dataclass(frozen=True, slots=True)
class History:
    """A home and what its collections held, in order.

    `last_held` names the rows of the lake whose last collection does not follow from the lists of files, because they
    rest on several files: key of the row to the position of the collection.
    """

    identity: str
    host: str | None
    user: str | None
    held: tuple[Held, ...]
    last_held: Mapping[str, int] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """Size of the different files that it held and that were read."""
        return sum({f.content: f.bytes or 0 for held in self.held for f in held.files if f.sha256}.values())


def held_of(
    home: Home,
    files: Iterable[tuple[Artifact, Read]],
    sources: Mapping[str, Source],
    collection: tuple[int, int | None],
) -> Held:
    """What a collection, by its number in a build and its time, holds of a home, of which `files` were read."""
    number, collected_ms = collection
    versions: list[Version] = []
    listed: list[tuple[object, ...]] = []
    sessions = set(home.session_folders)
    for artifact, read in files:
        source = sources.get(artifact.source or "")
        if source and source.session and read.status in (Status.PARSED, Status.UNREADABLE):
            sessions.add((artifact.agent, source.session.path_of(artifact.home_path)))
        versions.append(Version(artifact.home_path, artifact.source_file, artifact.size, read.sha256))
        listed.append((*versions[-1], artifact.source, artifact.mtime_ms, read.status.value))
    versions.extend(Version(path, None) for _, path in home.session_folders)
    in_order = tuple(sorted(sessions))
    digest = hash_of([sorted(listed, key=repr), sorted(home.session_folders)])
    return Held((str(number),), collected_ms, digest, tuple(versions), in_order)


def hash_of(value: object) -> str:
    """128 bits of SHA-256 of a value's JSON, in hexadecimal."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]


def first_labels(held: Iterable[Held]) -> dict[tuple[str, int | None, str | None], str]:
    """The first of the collections, in order, that holds each file with the same bytes."""
    first: dict[tuple[str, int | None, str | None], str] = {}
    for each in held:
        for version in each.files:
            first.setdefault(version.content, each.label)
    return first


Lookup = tuple[str, str, str | None, bool]


def last_positions(held: Sequence[Held]) -> dict[Lookup, int]:
    """Position of the collection that last held a row.

    By what the row tells: the collection that first saw its file, the file's paths, and whether it is current. One
    that is not cannot be of the newest collection.
    """
    first, last = first_labels(held), dict[Lookup, int]()
    for position, each in enumerate(held):
        is_newest = position == len(held) - 1
        for version in each.files:
            last[first[version.content], version.home_path, version.source_file, is_newest] = position
    return last


def absences(history: History) -> Iterator[tuple[str, str, int | None, int | None]]:
    """Sessions that the newest collection lacks: assistant, path, time of the last that had it and of the next."""
    last = {session: position for position, held in enumerate(history.held) for session in held.sessions}
    for (agent, path), position in last.items():
        if position + 1 < len(history.held):
            before, after = history.held[position : position + 2]
            yield agent, path, before.collected_ms, after.collected_ms


def named(history: History, ids: Mapping[str, str]) -> History:
    """The history with collections of this build by their ids; of several of one content the least stands for all."""
    held = (replace(held, ids=(min(ids.get(each, each) for each in held.ids),)) for held in history.held)
    return replace(history, held=tuple(held))


def dumped(history: History) -> dict[str, Any]:
    """A history for the manifest: every file and session once, collections by their positions in these lists."""
    files = sorted({version for held in history.held for version in held.files}, key=repr)
    sessions = sorted({session for held in history.held for session in held.sessions})
    file_at = {version: at for at, version in enumerate(files)}
    session_at = {session: at for at, session in enumerate(sessions)}
    collections = [
        {
            "id": held.label,
            "collected_ms": held.collected_ms,
            "digest": held.digest,
            "files": sorted(file_at[version] for version in held.files),
            "sessions": [session_at[session] for session in held.sessions],
        }
        for held in history.held
    ]
    known = {"identity": history.identity, "host": history.host, "user": history.user, "files": files}
    return {
        **known,
        "sessions": sessions,
        "collections": collections,
        "last_held": dict(sorted(history.last_held.items())),
    }


def loaded(entry: Mapping[str, Any]) -> History:
    """A history from the manifest. Raises KeyError, IndexError, TypeError or ValueError where it is none."""
    files = [Version(*values) for values in entry["files"]]
    sessions = [(agent, path) for agent, path in entry["sessions"]]
    held = tuple(
        Held(
            (each["id"],),
            each["collected_ms"],
            each["digest"],
            tuple(files[at] for at in each["files"]),
            tuple(sessions[at] for at in each["sessions"]),
        )
        for each in entry["collections"]
    )
    if not held or not isinstance(entry["identity"], str):
        raise ValueError("no home")
    return History(entry["identity"], entry["host"], entry["user"], held, entry["last_held"])


def grouped(histories: Iterable[History]) -> dict[tuple[str | None, str | None], list[History]]:
    """Histories by host and user."""
    groups: defaultdict[tuple[str | None, str | None], list[History]] = defaultdict(list)
    for history in histories:
        groups[history.host, history.user].append(history)
    return groups
