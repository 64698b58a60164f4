"""What the collections of a home held, in order: what a lake remembers of each home beside its rows.

A lake's rows tell the collection in which their file's present bytes were first seen. Which collections held these
bytes after it, and which lack them, follows from the phases of a home, between two of which something changed, and from
the stretches of them in which each file was there. So a night adds to a history what changed, however long it is.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from pipeline.extract import Read
from pipeline.model import Artifact, Home, Status
from pipeline.sightings import Seen, Sightings
from pipeline.source import Problem, Source

T = TypeVar("T")

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


Session = tuple[str, str]
"""Assistant, and path below the home of a session that has a file or a folder."""


@dataclass(frozen=True, slots=True)
class Held:
    """What one collection holds of a home.

    `digest` is a hash of it, `listing` one of what is known without opening a file; null where a file could not be
    read, which may be otherwise next time. `is_partial` is that of the home.
    """

    seen: Seen
    digest: str
    listing: str | None
    files: tuple[Version, ...]
    sessions: tuple[Session, ...]
    is_partial: bool = False


Owner = tuple[str | None, str | None]
"""Host and user."""


class Holding(NamedTuple):
    """What a collection, by its number in the build, holds of a home of a host and user."""

    collection: int
    identity: str
    owner: Owner
    held: Held


@dataclass(frozen=True, slots=True)
class Phase:
    """Collections in a row that found a home the same: what `Held` tells, but for the lists."""

    seen: Sightings
    digest: str
    listing: str | None
    is_partial: bool = False

    @property
    def label(self) -> str:
        """What stands for the first of the collections in `collection_id` until `named` gives the id."""
        return "+".join(self.seen.first.ids)

    @property
    def first_ms(self) -> int | None:
        """Time of the first of the collections."""
        return self.seen.first.collected_ms

    @property
    def last_ms(self) -> int | None:
        """Time of the last of the collections."""
        return self.seen.last.collected_ms


Spans = tuple[tuple[int, int], ...]
"""Positions of phases as stretches, in order: the first and the last of each."""


@dataclass(frozen=True, slots=True)
class History:
    """A home, its phases in order, and in which of them it held which files and sessions.

    `last_held` names the rows of the lake whose last collection does not follow from the lists of files, because they
    rest on several files: key of the row to the position of the phase.
    """

    identity: str
    host: str | None
    user: str | None
    phases: tuple[Phase, ...]
    files: Mapping[Version, Spans]
    sessions: Mapping[Session, Spans]
    last_held: Mapping[str, int] = field(default_factory=dict)

    @property
    def owner(self) -> Owner:
        """Host and user."""
        return self.host, self.user

    @property
    def bytes(self) -> int:
        """Size of the files that it held and that were read, each at its largest: a row that several held is one."""
        sizes: dict[str, int] = {}
        for file in self.files:
            if file.sha256:
                sizes[file.home_path] = max(file.bytes or 0, sizes.get(file.home_path, 0))
        return sum(sizes.values())

    def held(self, position: int, seen: Seen) -> Held:
        """What it held in a phase, as the collection `seen` has it."""
        phase = self.phases[position]
        files, sessions = tuple(_there(self.files, position)), tuple(_there(self.sessions, position))
        return Held(seen, phase.digest, phase.listing, files, sessions, phase.is_partial)


def _there(spans: Mapping[T, Spans], position: int) -> Iterator[T]:
    """Yield what was there in a phase."""
    return (each for each, ends in spans.items() if any(first <= position <= last for first, last in ends))


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
    digest = hash_of([sorted(listed, key=repr), sorted(home.session_folders), home.is_partial])
    listing = listing_of(home) if is_whole else None
    return Held(seen, digest, listing, tuple(versions), tuple(sorted(sessions)), home.is_partial)


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
    return hash_of([listed, sorted(home.session_folders), home.is_partial])


def _told(problem: Problem) -> tuple[object, ...]:
    return problem.position, problem.reason, problem.text, problem.detail, problem.size


def key_of(identity: str, agent: str, path: str) -> str:
    """The key of a session of a home, as the macro of that name in `sql/macros.sql` gives it."""
    return hashlib.sha256(f"{identity}\0\0{agent}\0{path}".encode()).hexdigest()[:32]


def hash_of(value: object) -> str:
    """128 bits of SHA-256 of a value's JSON, in hexadecimal."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]


Content = tuple[str, int | None, str | None]


def first_labels(history: History) -> dict[Content, str]:
    """The first of the collections that holds each file with the same bytes."""
    first: dict[Content, int] = {}
    for version, spans in history.files.items():
        content, position = version.content, spans[0][0]
        if position <= first.get(content, position):
            first[content] = position
    labels = [phase.label for phase in history.phases]
    return {content: labels[position] for content, position in first.items()}


Lookup = tuple[str, str, str, bool]


def last_positions(history: History) -> dict[Lookup, int]:
    """Position of the phase that last held a row.

    By what the row tells: the collection that first saw its file, the file's paths, and whether it is current. One
    that is not cannot be of the newest collection.
    """
    first, last = first_labels(history), dict[Lookup, int]()
    newest = len(history.phases) - 1
    for version, spans in history.files.items():
        place = first[version.content], version.home_path, version.source_file
        begin, end = spans[-1]
        if end == newest:
            last[*place, True] = newest
        if begin < newest:
            last[*place, False] = min(end, newest - 1)
        elif len(spans) > 1:
            last[*place, False] = spans[-2][1]
    return last


def absences(history: History) -> Iterator[tuple[str, str, int | None, int | None]]:
    """Sessions that are gone: assistant, path, time of the last collection that had it and of the next that lacks it.

    One that is partial lacks nothing.
    """
    for (agent, path), spans in history.sessions.items():
        before, *behind = history.phases[spans[-1][1] :]
        after = next((phase for phase in behind if not phase.is_partial), None)
        if after is not None:
            yield agent, path, before.last_ms, after.first_ms


def named(history: History, ids: Mapping[str, str]) -> History:
    """The history with collections of this build by their ids."""
    return replace(history, phases=tuple(replace(each, seen=each.seen.named(ids)) for each in history.phases))


def grouped(histories: Iterable[History]) -> dict[Owner, list[History]]:
    """Histories by host and user."""
    groups: defaultdict[Owner, list[History]] = defaultdict(list)
    for history in histories:
        groups[history.owner].append(history)
    return groups
