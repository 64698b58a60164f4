"""What the collections of a home held, in order: what a lake remembers of each home beside its rows.

A lake's rows tell the collection in which their file's present bytes were first seen. Which collections held these
bytes after it, and which lack them, follows from the lists of files that the manifest keeps of every collection.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, NamedTuple

import msgspec

from pipeline.extract import Read
from pipeline.model import Artifact, Home, Status
from pipeline.source import Problem, Source

_THERE = frozenset((Status.PARSED, Status.UNREADABLE, Status.SKIPPED, Status.MISSING))
"""What a file that is a session's can be: a collection that lists one, without its bytes, does not lack it."""


class Version(NamedTuple):
    """A file of a home as a collection holds it; or a folder that is a session, which has no content.

    Of a folder `source_file` is the session's key: a row that rests on no file tells it in the place of one.
    """

    home_path: str
    source_file: str
    bytes: int | None = None
    sha256: str | None = None

    @property
    def content(self) -> tuple[str, int | None, str | None]:
        """What makes it the same file with the same bytes in two collections."""
        return self.home_path, self.bytes, self.sha256


class Seen(NamedTuple):
    """A collection of a home: its time (ms since 1970, UTC), and its id.

    `ids` are several where several collections hold the same at one time; a collection of this build is known by its
    number until all of it was read.
    """

    collected_ms: int | None
    ids: tuple[str, ...]

    @property
    def at(self) -> tuple[bool, int]:
        """Place in time, unknown first."""
        return self.collected_ms is not None, self.collected_ms or 0

    def named(self, ids: Mapping[str, str]) -> str:
        """The id, of a collection of this build by its number; of several the least stands for all."""
        return min(ids.get(one, one) for one in self.ids)


@dataclass(frozen=True, slots=True)
class Held:
    """What one collection, or several in a row, hold of a home.

    `seen` are these collections, in order. `sessions` are the assistant and the path below the home of each session
    that has a file or a folder. `digest` is a hash of what is held, `listing` one of what is known without opening a
    file; null where a file could not be read, which may be otherwise next time.
    """

    seen: tuple[Seen, ...]
    digest: str
    listing: str | None
    files: tuple[Version, ...]
    sessions: tuple[tuple[str, str], ...]

    @property
    def label(self) -> str:
        """What stands for the first of the collections in `collection_id` until `named` gives the id."""
        return "+".join(self.seen[0].ids)

    @property
    def first_ms(self) -> int | None:
        """Time of the first of the collections."""
        return self.seen[0].collected_ms

    @property
    def last_ms(self) -> int | None:
        """Time of the last of the collections."""
        return self.seen[-1].collected_ms


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


def held_of(home: Home, files: Iterable[tuple[Artifact, Read]], sources: Mapping[str, Source], seen: Seen) -> Held:
    """What a collection holds of a home, of which `files` were read."""
    versions: list[Version] = []
    listed: list[tuple[object, ...]] = []
    sessions = set(home.session_folders)
    is_whole = True
    for artifact, read in files:
        source = sources.get(artifact.source or "")
        if source and source.session and read.status in _THERE:
            sessions.add((artifact.agent, source.session.path_of(artifact.home_path)))
        versions.append(Version(artifact.home_path, artifact.source_file, artifact.size, read.sha256))
        found = [list(_told(problem)) for problem in read.found]
        listed.append((*versions[-1], artifact.source, artifact.mtime_ms, read.status.value, found))
        is_whole = is_whole and not read.is_closed
        is_whole = is_whole and (read.status is not Status.UNREADABLE or artifact.status is Status.UNREADABLE)
    versions.extend(Version(path, key_of(home.identity, agent, path)) for agent, path in home.session_folders)
    digest = hash_of([sorted(listed, key=repr), sorted(home.session_folders)])
    listing = listing_of(home) if is_whole else None
    return Held((seen,), digest, listing, tuple(versions), tuple(sorted(sessions)))


def listing_of(home: Home) -> str:
    """A hash of what discovery tells of a home: of equal bytes, equal listings give equal rows."""
    listed = [
        (
            *(artifact.home_path, artifact.source_file, artifact.agent, artifact.source, artifact.status.value),
            *(artifact.size, artifact.mtime_ms, artifact.stands_in, artifact.sha256, artifact.crc32),
            [list(_told(problem)) for problem in artifact.problems],
        )
        for artifact in home.artifacts
    ]
    return hash_of([listed, sorted(home.session_folders)])


def _told(problem: Problem) -> tuple[object, ...]:
    return problem.position, problem.reason, problem.text, problem.detail, problem.size


def key_of(identity: str, agent: str, path: str) -> str:
    """The key of a session of a home, as the macro of that name in `sql/macros.sql` gives it."""
    return hashlib.sha256(f"{identity}\0\0{agent}\0{path}".encode()).hexdigest()[:32]


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


Lookup = tuple[str, str, str, bool]


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
            yield agent, path, before.last_ms, after.first_ms


def named(history: History, ids: Mapping[str, str]) -> History:
    """The history with collections of this build by their ids."""
    held = (
        replace(held, seen=tuple(Seen(each.collected_ms, (each.named(ids),)) for each in held.seen))
        for held in history.held
    )
    return replace(history, held=tuple(held))


_Position = Annotated[int, msgspec.Meta(ge=0)]


class EntryHeld(msgspec.Struct):
    """What a collection, or several in a row, hold of a home: `Held`, with positions in the lists of the entry."""

    seen: list[tuple[int | None, str]]
    digest: str
    listing: str | None
    files: list[_Position]
    sessions: list[_Position]


class Entry(msgspec.Struct):
    """A history as the manifest has it, every file and session once, with the home's bucket."""

    identity: str
    host: str | None
    user: str | None
    bucket: int
    files: list[Version]
    sessions: list[tuple[str, str]]
    collections: list[EntryHeld]
    last_held: dict[str, _Position]


def dumped(history: History, bucket: int) -> Entry:
    """A history for the manifest."""
    files = sorted({version for held in history.held for version in held.files}, key=_order)
    sessions = sorted({session for held in history.held for session in held.sessions})
    file_at = {version: at for at, version in enumerate(files)}
    session_at = {session: at for at, session in enumerate(sessions)}
    collections = [
        EntryHeld(
            [(seen.collected_ms, seen.ids[0]) for seen in held.seen],
            held.digest,
            held.listing,
            sorted(file_at[version] for version in held.files),
            [session_at[session] for session in held.sessions],
        )
        for held in history.held
    ]
    last_held = dict(sorted(history.last_held.items()))
    return Entry(history.identity, history.host, history.user, bucket, files, sessions, collections, last_held)


def _order(version: Version) -> tuple[str, str, int, str]:
    size = -1 if version.bytes is None else version.bytes
    return version.home_path, version.source_file, size, version.sha256 or ""


def loaded(entry: Entry) -> History:
    """A history from the manifest. Raises IndexError or ValueError where it is none."""
    held = tuple(
        Held(
            tuple(Seen(collected_ms, (name,)) for collected_ms, name in each.seen),
            each.digest,
            each.listing,
            tuple(entry.files[at] for at in each.files),
            tuple(entry.sessions[at] for at in each.sessions),
        )
        for each in entry.collections
    )
    is_whole = all(each.seen for each in held) and all(at < len(held) for at in entry.last_held.values())
    if not held or not is_whole:
        raise ValueError("no home")
    return History(entry.identity, entry.host, entry.user, held, entry.last_held)


def grouped(histories: Iterable[History]) -> dict[tuple[str | None, str | None], list[History]]:
    """Histories by host and user."""
    groups: defaultdict[tuple[str | None, str | None], list[History]] = defaultdict(list)
    for history in histories:
        groups[history.host, history.user].append(history)
    return groups
