"""Collections from what was found: where their homes come from, when they were collected, what they hold."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from pipeline.collector import Collected
from pipeline.files import list_files
from pipeline.homes import HOLDERS, Found, Tree
from pipeline.model import Collection, Home
from pipeline.owned import Classify
from pipeline.paths import Template, as_text, collected_ms, host_identity, place_identity
from pipeline.source import Problem
from pipeline.volume import Volume


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a home comes from: host and user, its identity, and the label of when it was collected."""

    host: str | None
    user: str | None
    identity: str
    label: str | None
    group: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Reader:
    """Turns homes of loose trees into homes with artifacts."""

    classify: Classify
    host: str | None
    user: str | None
    collected_ms: int | None
    template: Template | None

    def origin(self, home: Found) -> Origin:
        """Tell where a home comes from by the options, the template and its path.

        Homes of one `group` are one collection: those that have the same host and time by the template, else
        those below one topmost directory.
        """
        at = self.template.match(home.parts) if self.template else {}
        values = {name: as_text(home.parts[position]) for name, position in at.items()}
        label, named_host = values.get("collected"), values.get("host")
        host = as_text(self.host or "") or named_host
        user = values.get("user") or _user(home) or as_text(self.user or "") or None
        left_out = {at.get("host"), at.get("collected")}
        if host is None:
            identity = place_identity(home.place)
        else:
            kept = (part for position, part in enumerate(home.parts) if position not in left_out)
            identity = host_identity(host, user, kept)
        group = (label, named_host) if label or named_host else (home.top,)
        return Origin(host, user, identity, label, group)

    def home(self, volume: Volume, found: Found, origin: Origin) -> Home:
        """A home with its artifacts."""
        files = list_files(volume, found, self.classify)
        return Home(
            host=origin.host,
            user=origin.user,
            identity=origin.identity,
            artifacts=tuple(files.artifacts),
            links=tuple(files.links),
            session_folders=tuple(files.session_folders),
            is_partial=files.is_partial,
        )

    def collected(self, origin: Origin, homes: Iterable[Home]) -> int | None:
        """When a collection was collected: by the options, its path, or its newest artifact."""
        if self.collected_ms is not None:
            return self.collected_ms
        by_path = collected_ms(origin.label) if origin.label else None
        if by_path is not None:
            return by_path
        files = (artifact for home in homes for artifact in home.artifacts if artifact.size is not None)
        return max((file.mtime_ms for file in files if file.mtime_ms), default=None)


def _user(home: Found) -> str | None:
    """The user that a home's path names; null where the home is the input and its place tells nothing."""
    above, _, name = home.named.rpartition("/")
    if name == "root" or above.rpartition("/")[2] in HOLDERS:
        return as_text(name)
    return as_text(home.parts[-1]) if home.parts else None


class Input(Protocol):
    """An input that was opened, or a part of one. `problems` are those of no home."""

    problems: list[tuple[str | None, Problem]]

    def collections(self) -> list[Collection]:
        """Its collections, in the order of their paths in it."""
        ...


@dataclass(slots=True)
class LooseTree:
    """A tree that is, or holds, homes, or an agent directory; it lies at `place`, and `name` is the input as given."""

    name: str
    place: str
    tree: Tree
    reader: Reader
    volume: Volume
    problems: list[tuple[str | None, Problem]] = field(default_factory=list)

    def collections(self) -> list[Collection]:
        """The collections, by their paths; links and closed directories of no home go to the first."""
        groups: dict[tuple[object, ...], list[tuple[Found, Origin]]] = {}
        for home in sorted(self.tree.homes, key=lambda home: home.parts):
            origin = self.reader.origin(home)
            groups.setdefault(origin.group, []).append((home, origin))
        made = [self._collection(members, is_first=at == 0) for at, members in enumerate(groups.values())]
        if not made and (self.tree.links or self.tree.closed or self.problems):
            made.append(self._collection([], is_first=True))
        return made

    def _collection(self, members: Sequence[tuple[Found, Origin]], *, is_first: bool) -> Collection:
        """One collection, of one host, its homes by user and identity."""
        homes = _marked(self.problems, (self.reader.home(self.volume, home, origin) for home, origin in members))
        homes.sort(key=_by_user)
        tops = {home.top for home, _ in members}
        top = next(iter(tops)) if len(tops) == 1 else ()
        first = members[0][1] if members else None
        return Collection(
            input=as_text(os.path.join(self.name, *top)),  # noqa: PTH118  (as it was given)
            host=first.host if first else as_text(self.reader.host or "") or None,
            collected_ms=self.reader.collected(first, homes) if first else None,
            homes=tuple(homes),
            links=_paths(self.tree.links) if is_first else (),
            closed=_paths(self.tree.closed) if is_first else (),
            problems=shown(self.problems) if is_first else (),
            place=as_text(self.place),
        )


@dataclass(slots=True)
class CollectedTree:
    """A collection that a collector made. `name` is the input as it was given, with the path in it."""

    name: str
    tree: Tree
    reader: Reader
    found: Collected
    problems: list[tuple[str | None, Problem]] = field(default_factory=list)

    def collections(self) -> list[Collection]:
        """The one collection, its homes by user and identity."""
        found, reader = self.found, self.reader
        host = as_text(reader.host or "") or found.host
        read = (reader.home(found.tree, home, self._origin(home, host)) for home in self.tree.homes)
        homes = _marked(self.problems, read)
        homes.sort(key=_by_user)
        collected = found.collected_ms
        if collected is None:
            collected = reader.collected(Origin(host, None, "", None, ()), homes)
        return [
            Collection(
                input=as_text(self.name),
                host=host,
                collected_ms=collected,
                homes=tuple(homes),
                tool=found.tool,
                version=found.version,
                links=_paths(self.tree.links),
                problems=shown([*self.problems, *found.problems]),
                place=as_text(found.tree.root),
            )
        ]

    def _origin(self, home: Found, host: str | None) -> Origin:
        """Where a home comes from: its user is the manifest's, else the one that its path names."""
        user = self.found.user_of(home.parts) or _user(home) or as_text(self.reader.user or "") or None
        identity = place_identity(home.place) if host is None else host_identity(host, user, home.parts)
        return Origin(host, user, identity, None, ())


def _marked(problems: Iterable[tuple[str | None, Problem]], homes: Iterable[Home]) -> list[Home]:
    """The homes of a tree of which `problems` tell: of an archive that was not read to its end each is partial."""
    lost = {problem.reason for name, problem in problems if name is None and problem.text is not None}
    is_cut = not lost.isdisjoint(("archive_truncated", "archive_damaged"))
    return [replace(home, is_partial=True) if is_cut else home for home in homes]


def _by_user(home: Home) -> tuple[bool, str, str]:
    return home.user is None, home.user or "", home.identity


def shown(problems: Iterable[tuple[str | None, Problem]]) -> tuple[tuple[str | None, Problem], ...]:
    """Problems with the paths of their files as texts."""
    return tuple((None if name is None else as_text(name), problem) for name, problem in problems)


def _paths(found: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Paths below the input, in order."""
    return tuple(sorted(as_text("/" + "/".join(parts)) for parts in found))
