"""What discovery finds: collections hold homes, homes hold artifacts."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from pipeline.source import Problem


class Content(Protocol):
    """The bytes of a file, wherever they are. It can be handed to another process."""

    def read_bytes(self) -> bytes:
        """Read them. Raises OSError."""
        ...


class Status(StrEnum):
    """What became, or is to become, of an artifact."""

    PARSED = "parsed"
    KNOWN = "known"
    SECRET = "secret"  # noqa: S105  (a status, not a password)
    SKIPPED = "skipped"
    MISSING = "missing"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Artifact:
    """One file below a home that belongs to an assistant.

    `home_path` is its path below the home and `source_file` its path on the source host, both as text in which bytes
    that are not UTF-8 stand as `\\xNN`; `location` is where to read it. `source` names the parser's source, or is null
    for a file that no parser reads. `status` is the plan: `parsed` for a file to be read. `size` is in bytes, null for
    a folder that is listed as a whole; `mtime_ms` in milliseconds since 1970 (UTC), 0 where it is not known.
    """

    agent: str
    source: str | None
    status: Status
    home_path: str
    source_file: str
    location: Content
    size: int | None
    mtime_ms: int
    stands_in: bool = False
    """Whether it is read only in the place of another file of its source in its directory."""
    sha256: str | None = None
    crc32: int | None = None
    """What its bytes must have, by the collector and the archive."""
    problems: tuple[Problem, ...] = ()
    """What went wrong with it on the way, before its bytes are read."""


@dataclass(frozen=True, slots=True)
class Home:
    """One user's home on one host, with its artifacts in the order of `home_path`.

    `identity` names the home over time: host, user and the home's path where the host is known, else the place it was
    read from. `links` holds the source_file of symbolic links that were not followed: in the place of an agent
    directory, or in one. `session_folders` are the assistant and the path below the home of each folder that is a
    session, with files in it or without. A special file (pipe, socket, device) is an artifact with the status
    `skipped`. One that `is_partial` may have held more than was seen of it: its archive was cut, or a directory could
    not be listed.
    """

    host: str | None
    user: str | None
    identity: str
    artifacts: tuple[Artifact, ...]
    links: tuple[str, ...] = ()
    session_folders: tuple[tuple[str, str], ...] = ()
    is_partial: bool = False

    @property
    def bytes(self) -> int:
        """Size of the artifacts that are to be read."""
        return sum(artifact.size or 0 for artifact in self.artifacts if artifact.source)


@dataclass(frozen=True, slots=True)
class Collection:
    """One input gathered from one host at one time.

    `collected_ms` is in milliseconds since 1970 (UTC): what the collector, the path or the command line says, else the
    newest modification time of its artifacts. `links` and `closed` belong to no home: symbolic links that look like an
    agent directory and were not followed, and directories that could not be listed, as paths below the input. An input
    that has these alone is a collection without homes. `place` is where it was read from, whatever its input is called.
    """

    input: str
    host: str | None
    collected_ms: int | None
    homes: tuple[Home, ...]
    tool: str | None = None
    version: str | None = None
    links: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    problems: tuple[tuple[str | None, Problem], ...] = ()
    """Those of no home: of an archive (null), or of a file in it, by its path there."""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Inner:
    """Directories of sessions inside a root: those of a `name`, which become the root `root`, a directory a session.

    At the paths `sure` they are that whatever they hold; at others below the directory `searched` where a file of a
    source lies in one of their directories.
    """

    root: "Root"
    name: str
    sure: tuple[str, ...]
    searched: str


@dataclass(frozen=True, slots=True)
class Root:
    """A kind of directory in which an assistant keeps state.

    `name` tells it from the assistant's other roots, `places` are its paths below a home. One counts where one of the
    paths `state` exists in it, with none of them named where it is there. `own` are patterns of the paths in it that
    are the assistant's: components as of a glob, a last `**` for all below. `whole` are patterns (`fnmatch`) of
    directories in it that are listed as one artifact and never walked, `secrets` of files that are listed and never
    opened. `stands_for` maps the name of a file that is read only in the place of another to that one's name; null for
    any other name.
    """

    name: str
    places: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    own: tuple[str, ...] = ("**",)
    whole: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    inner: Inner | None = None
    holds_sessions: bool = False
    """Whether each directory in it is a session."""
    stands_for: Callable[[str], str | None] | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """Where an assistant keeps its state below a home.

    The first of its `roots` is its own directory, which can be moved: `is_moved` tells from the bytes of a
    file of its `sessions` whether a moved directory is this assistant's. `given` is the root of directories that a
    person names because they hold directories of sessions.
    """

    agent: str
    roots: tuple[Root, ...]
    is_moved: Callable[[bytes], bool]
    given: Root | None = None

    @property
    def directory(self) -> str:
        """Name of its own directory in a home."""
        return self.roots[0].places[0]
