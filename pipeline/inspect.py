"""What a build would read: the data behind `homelake inspect`, and its text."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from rich.cells import cell_len

from pipeline.model import Artifact, Collection, Home, Status
from pipeline.textgrid import grid, safe, shown

MOST_PATHS = 20
"""Paths of one kind that are shown; the rest is counted."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class CollectionFound:
    """One collection. `collected_utc` is ISO 8601 in UTC; null where it holds no file."""

    input: str
    host: str | None
    collected_utc: str | None
    homes: int
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class HomeFound:
    """One home: `path` is its path below the input, `agents` are those that it holds state of."""

    host: str | None
    user: str | None
    path: str
    agents: list[str]
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class FilesFound:
    """Files of one agent, source (null: no parser reads them) and status; `bytes` leaves folders out."""

    agent: str
    source: str | None
    status: str
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Overview:
    """What discovery found; `dataclasses.asdict` of it is JSON.

    Paths in `links` (symbolic links, not followed), `closed` (directories that could not be listed) and `odd`
    (pipes, sockets, devices, not opened) are below the input.
    """

    collections: list[CollectionFound]
    hosts: list[str]
    agents: list[str]
    homes: list[HomeFound]
    files: list[FilesFound]
    links: list[str]
    closed: list[str]
    odd: list[str]


def overview(collections: Sequence[Collection]) -> Overview:
    """Count what collections hold."""
    homes = [home for found in collections for home in found.homes]
    return Overview(
        collections=[_collection(found) for found in collections],
        hosts=sorted({home.host for home in homes if home.host is not None}),
        agents=sorted({artifact.agent for home in homes for artifact in home.artifacts}),
        homes=[_home(home) for home in homes],
        files=_files(artifact for home in homes for artifact in home.artifacts),
        links=[link for found in collections for link in (*found.links, *_each_link(found.homes))],
        closed=[path for found in collections for path in found.closed],
        odd=[a.source_file for home in homes for a in home.artifacts if _is_odd(a)],
    )


def render(found: Overview) -> str:
    """An overview as plain text: what there is in all, then a table each of collections, homes and files.

    Texts of the inputs are made safe to print; nothing is cut to the width of a terminal.
    """
    sections = [
        _totals(found),
        _table(
            ("input", "host", "collected (UTC)", "homes", "files", "bytes"),
            [(c.input, c.host, c.collected_utc, c.homes, c.files, c.bytes) for c in found.collections],
        ),
        _table(
            ("host", "user", "home", "assistants", "files", "bytes"),
            [(h.host, h.user, h.path, ", ".join(h.agents), h.files, h.bytes) for h in found.homes],
        ),
        _table(
            ("assistant", "source", "status", "files", "bytes"),
            [(f.agent, f.source or "-", f.status, f.files, f.bytes) for f in found.files],
        ),
        _paths("Symbolic links, not followed:", found.links),
        _paths("Directories that cannot be listed:", found.closed),
        _paths("Pipes, sockets and devices, not opened:", found.odd),
    ]
    return "\n\n".join(section for section in sections if section)


def _is_odd(artifact: Artifact) -> bool:
    """Whether it is a pipe, a socket or a device: a file that a collector left out is skipped, too."""
    reasons = {problem.reason for problem in artifact.problems}
    return artifact.status is Status.SKIPPED and not reasons.isdisjoint(("special_file", "archive_member_rejected"))


def _each_link(homes: Iterable[Home]) -> list[str]:
    return [link for home in homes for link in home.links]


def _collection(found: Collection) -> CollectionFound:
    artifacts = [artifact for home in found.homes for artifact in home.artifacts]
    return CollectionFound(
        input=found.input,
        host=found.host,
        collected_utc=_utc(found.collected_ms),
        homes=len(found.homes),
        files=len(artifacts),
        bytes=_bytes(artifacts),
    )


def _home(home: Home) -> HomeFound:
    first = next(iter(home.artifacts), None)
    above = first.source_file[: -len(_told_below(first))] if first else "/"
    return HomeFound(
        host=home.host,
        user=home.user,
        path=above.rstrip("/\\") or "/",
        agents=sorted({artifact.agent for artifact in home.artifacts}),
        files=len(home.artifacts),
        bytes=_bytes(home.artifacts),
    )


def _told_below(artifact: Artifact) -> str:
    """The end of an artifact's path on its host that lies below the home, also with the separators of Windows."""
    end = artifact.source_file[-len(artifact.home_path) :]
    is_below = end.replace("\\", "/") == artifact.home_path.replace("\\", "/")
    return end if is_below else artifact.source_file


def _files(artifacts: Iterable[Artifact]) -> list[FilesFound]:
    """Count files by agent, status and source: those that are read first."""
    groups: defaultdict[tuple[str, bool, str, str], list[Artifact]] = defaultdict(list)
    for artifact in artifacts:
        source = "" if artifact.status is Status.KNOWN else artifact.source or ""
        groups[artifact.agent, not source, source, artifact.status.value].append(artifact)
    return [
        FilesFound(agent, source or None, status, len(members), _bytes(members))
        for (agent, _, source, status), members in sorted(groups.items())
    ]


def _bytes(artifacts: Iterable[Artifact]) -> int:
    return sum(artifact.size or 0 for artifact in artifacts)


def _utc(milliseconds: int | None) -> str | None:
    """Milliseconds since 1970 as ISO 8601; null also for what a calendar cannot hold."""
    if milliseconds is None:
        return None
    try:
        time = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _totals(found: Overview) -> str:
    files, size = sum(group.files for group in found.files), sum(group.bytes for group in found.files)
    counts = [
        _count(len(found.collections), "collection"),
        _count(len(found.hosts), "host"),
        _count(len(found.homes), "home"),
        _count(files, "file"),
    ]
    return ", ".join((*counts, f"{size / 1e6:,.1f} MB"))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _table(names: Sequence[str], rows: Sequence[Sequence[str | int | None]]) -> str:
    """Aligned columns; numbers to the right. Nothing where there are no rows."""
    if not rows:
        return ""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(names, *cells, strict=True)]
    return "\n".join(grid(names, cells, widths, [isinstance(value, int) for value in rows[0]]))


def _cell(value: str | int | None) -> str:
    return f"{value:,}" if isinstance(value, int) else shown(value)


def _paths(title: str, paths: Sequence[str]) -> str:
    """A list of paths, one a line. Nothing where there are none."""
    if not paths:
        return ""
    more = [f"  and {len(paths) - MOST_PATHS:,} more"] if len(paths) > MOST_PATHS else []
    return "\n".join((title, *(f"  {safe(path)}" for path in paths[:MOST_PATHS]), *more))
