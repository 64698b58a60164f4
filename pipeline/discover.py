"""Discovery: from inputs to collections of homes with their artifacts.

An input is opened as what it is, and gives its collections once all inputs are open, so that a home that two
inputs hold is read once. Loose trees are the one kind so far; another kind is another class with
`collections`.
"""

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pipeline.agentdirs import AgentDirs
from pipeline.files import list_files
from pipeline.homes import HOLDERS, Found, Tree, find_homes
from pipeline.model import Collection, Home, Layout
from pipeline.owned import Classify
from pipeline.paths import Template, as_text, collected_ms, host_identity, place_identity
from pipeline.textgrid import safe


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says of the inputs.

    `host` overrides what an input says; `user` is that of a home whose path names none. `path_template` is
    matched with each home's path below its input. `collected_ms` is in milliseconds since 1970 (UTC). `moved`
    maps an agent to paths of moved agent directories below each home, `tasks` to paths below each home of directories
    that hold directories of tasks.
    """

    host: str | None = None
    user: str | None = None
    path_template: str | None = None
    collected_ms: int | None = None
    moved: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tasks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class InputError(Exception):
    """An input that cannot be opened: one line that says which and why."""


class Input(Protocol):
    """An input that was opened."""

    def collections(self) -> list[Collection]:
        """Its collections, in the order of their paths in it."""
        ...


def discover(
    inputs: Sequence[str], layouts: Sequence[Layout], classify: Classify, options: Options
) -> tuple[list[Collection], list[InputError]]:
    """Find the collections of all inputs, in the order of the inputs, and the inputs that cannot be opened.

    Nothing is opened below an input but session indexes of directories that may be moved agent directories.
    Raises ValueError, with one line, for a path template or a moved directory that cannot be meant.
    """
    template = None if options.path_template is None else Template.parse(options.path_template)
    reader = _Reader(classify, options, template)
    agents, seen = AgentDirs(layouts, options.moved, options.tasks), _Seen()
    opened: list[Input] = []
    homes: list[Found] = []
    errors: list[InputError] = []
    for name in inputs:
        try:
            place = _opened(name)
        except InputError as error:
            errors.append(error)
            continue
        named = os.path.abspath(name)  # noqa: PTH100  (without `..`, but with links as they are named)
        tree = seen.new(find_homes(place, named, agents))
        homes.extend(tree.homes)
        opened.append(LooseTree(name, tree, reader))
    if template and homes and not any(template.match(home.parts) for home in homes):
        raise ValueError(f"--path-template {options.path_template!r} matches the path of no home below its input")
    return [found for each in opened for found in each.collections()], errors


def _opened(name: str) -> str:
    """Real path of an input that is a directory and can be listed. Raises InputError for any other."""
    shown = safe(as_text(name))
    try:
        is_directory = stat.S_ISDIR(Path(name).stat().st_mode) if name else False
        if is_directory:
            os.scandir(name).close()
    except OSError as error:
        reason = error.strerror or "unknown reason"
        raise InputError(f"cannot open {shown}: {reason[:1].lower()}{reason[1:]}") from error
    if not is_directory:
        raise InputError(f"{shown or repr(name)}: not a directory")
    return os.path.realpath(name)


class _Seen:
    """The homes of the inputs so far, and their agent directories: each is read once."""

    def __init__(self) -> None:
        self._homes: dict[str, Found] = {}
        self._dirs: set[str] = set()

    def new(self, tree: Tree) -> Tree:
        """What no earlier input has of a tree; further agent directories of a known home go to that one."""
        fresh: list[Found] = []
        for home in tree.homes:
            home.dirs = {path: at for path, at in home.dirs.items() if at.location not in self._dirs}
            self._dirs.update(at.location for at in home.dirs.values())
            first = self._homes.get(home.place)
            if first is not None:
                first.dirs.update(home.dirs)
            elif home.dirs:
                self._homes[home.place] = home
                fresh.append(home)
        return Tree(fresh, tree.links, tree.closed) if fresh or not tree.homes else Tree()


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where a home comes from: host and user, its identity, and the label of when it was collected."""

    host: str | None
    user: str | None
    identity: str
    label: str | None
    group: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns homes of loose trees into homes with artifacts."""

    classify: Classify
    options: Options
    template: Template | None

    def origin(self, home: Found) -> _Origin:
        """Tell where a home comes from by the options, the template and its path.

        Homes of one `group` are one collection: those that have the same host and time by the template, else
        those below one topmost directory.
        """
        at = self.template.match(home.parts) if self.template else {}
        values = {name: as_text(home.parts[position]) for name, position in at.items()}
        label, named_host = values.get("collected"), values.get("host")
        host = as_text(self.options.host or "") or named_host
        user = values.get("user") or _user(home) or as_text(self.options.user or "") or None
        left_out = {at.get("host"), at.get("collected")}
        if host is None:
            identity = place_identity(home.place)
        else:
            kept = (part for position, part in enumerate(home.parts) if position not in left_out)
            identity = host_identity(host, user, kept)
        group = (label, named_host) if label or named_host else (home.top,)
        return _Origin(host, user, identity, label, group)

    def home(self, found: Found, origin: _Origin) -> Home:
        """A home with its artifacts."""
        files = list_files(found, self.classify)
        return Home(
            host=origin.host,
            user=origin.user,
            identity=origin.identity,
            artifacts=tuple(files.artifacts),
            links=tuple(files.links),
            session_folders=tuple(files.session_folders),
        )

    def collected(self, origin: _Origin, homes: Iterable[Home]) -> int | None:
        """When a collection was collected: by the options, its path, or its newest artifact."""
        if self.options.collected_ms is not None:
            return self.options.collected_ms
        by_path = collected_ms(origin.label) if origin.label else None
        if by_path is not None:
            return by_path
        files = (artifact for home in homes for artifact in home.artifacts if artifact.size is not None)
        return max((file.mtime_ms for file in files), default=None)


def _user(home: Found) -> str | None:
    """The user that a home's path names; null where the home is the input and its place tells nothing."""
    above, _, name = home.named.rpartition("/")
    if name == "root" or above.rpartition("/")[2] in HOLDERS:
        return as_text(name)
    return as_text(home.parts[-1]) if home.parts else None


@dataclass(frozen=True, slots=True)
class LooseTree:
    """A directory that is, or holds, homes, or an agent directory. `name` is the input as it was given."""

    name: str
    tree: Tree
    reader: _Reader

    def collections(self) -> list[Collection]:
        """The collections, by their paths; links and closed directories of no home go to the first."""
        groups: dict[tuple[object, ...], list[tuple[Found, _Origin]]] = {}
        for home in sorted(self.tree.homes, key=lambda home: home.parts):
            origin = self.reader.origin(home)
            groups.setdefault(origin.group, []).append((home, origin))
        made = [self._collection(members, is_first=at == 0) for at, members in enumerate(groups.values())]
        if not made and (self.tree.links or self.tree.closed):
            made.append(self._collection([], is_first=True))
        return made

    def _collection(self, members: Sequence[tuple[Found, _Origin]], *, is_first: bool) -> Collection:
        """One collection, of one host, its homes by user and identity."""
        homes = [self.reader.home(home, origin) for home, origin in members]
        homes.sort(key=lambda home: (home.user is None, home.user or "", home.identity))
        tops = {home.top for home, _ in members}
        top = next(iter(tops)) if len(tops) == 1 else ()
        first = members[0][1] if members else None
        return Collection(
            input=as_text(os.path.join(self.name, *top)),  # noqa: PTH118  (as it was given)
            host=first.host if first else None,
            collected_ms=self.reader.collected(first, homes) if first else None,
            homes=tuple(homes),
            links=_paths(self.tree.links) if is_first else (),
            closed=_paths(self.tree.closed) if is_first else (),
        )


def _paths(found: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Paths below the input, in order."""
    return tuple(sorted(as_text("/" + "/".join(parts)) for parts in found))
