"""Find the homes of a loose tree: directories that hold an agent directory. No link is followed."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from pipeline.agentdirs import PASSED_BY, AgentDir, AgentDirs, Kind, has_state, is_directory, is_moved, is_regular
from pipeline.paths import joined
from pipeline.volume import DISK

HOLDERS = ("home", "Users")
"""Directories that hold homes, by their name."""
_ABOVE_HOLDERS = (*HOLDERS, "export", "usr", "var")
"""Where a whole system's homes can lie, below its root directory."""
_LIVE = ("/proc", "/sys")
"""A running system's own trees: endless, and no one's files."""

_SYSTEM = frozenset(("bin", "etc", "usr", "var", "System", "Library", "Windows", "Program Files"))
"""What a whole system's root holds, at least two of them: archives in it were not put there as inputs."""
_PERSONAL = frozenset(
    (
        "Desktop",
        "Documents",
        "Downloads",
        "AppData",
        ".cache",
        ".config",
        ".local",
        ".ssh",
        ".bashrc",
        ".profile",
        ".zshrc",
    )
)
"""What a home holds that has no assistant."""
_MANIFEST, _HEAD, _FILES = "manifest.jsonl", "collection.json", "fs"
"""What makes a directory a collection that a collector made; without `fs` where it holds no other directory either."""

Parts = tuple[str, ...]


@dataclass(slots=True)
class Found:
    """A home in a loose tree.

    `parts` is its path below the input and `top` that of its collection's topmost directory, `place` its real
    path, `named` its absolute path as the input was named. `dirs` has its agent directories by their path
    below the home, `links` the links in the place of one.
    """

    parts: Parts
    top: Parts
    place: str
    named: str
    dirs: dict[str, AgentDir]
    links: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Tree:
    """What a tree holds: homes; links and directories that cannot be listed, outside of all homes.

    `collected` are directories that a collector filled, `files` those that may be archives, beside and above the homes.
    """

    homes: list[Found] = field(default_factory=list)
    links: list[Parts] = field(default_factory=list)
    closed: list[Parts] = field(default_factory=list)
    collected: list[Parts] = field(default_factory=list)
    files: list[Parts] = field(default_factory=list)


@dataclass(slots=True)
class _Directory:
    """A directory that was listed: directories and files in it, agent directories, links in the place of one."""

    path: str
    parts: Parts
    names: list[str]
    dirs: dict[str, AgentDir]
    links: list[str]
    is_closed: bool
    files: list[str]

    @property
    def is_collected(self) -> bool:
        """Whether a collector filled it."""
        return _MANIFEST in self.files and (_FILES in self.names or (_HEAD in self.files and not self.names))


def find_homes(place: str, named: str, agents: AgentDirs) -> Tree:
    """Find the homes of the tree at the real path `place`; `named` is its absolute path as it was given.

    A home is a directory with an agent directory that holds state. Where none is found, the input itself is
    one if it holds, or is, a moved agent directory.
    """
    for path, kind in agents.paths.items():
        for name in (named, place):
            is_one = agents.volume is DISK and name.endswith(f"/{path}") and has_state(DISK, name, kind.root)
            if is_one:
                return Tree([_home_above(name, path, kind)])
    walk = _Walk(named, agents)
    start = walk.look(place, ())
    walk.run(start)
    if walk.tree.homes or walk.tree.collected:
        return walk.tree
    if agents.volume is DISK and is_moved(DISK, place) and place != "/":
        return Tree([_home_above(place, place.rpartition("/")[2], agents.owner(place))])
    walk.add_moved(start, ())
    return walk.tree


def _home_above(location: str, path: str, kind: Kind) -> Found:
    """The home above an input that is an agent directory, at `path` below that home."""
    home = location.removesuffix(f"/{path}") or "/"
    dirs = {path: AgentDir(kind, DISK.real(location))}
    return Found((), (), DISK.real(home), home, dirs)


class _Walk:
    """One walk through a tree."""

    def __init__(self, named: str, agents: AgentDirs) -> None:
        self.tree = Tree()
        self._named = named
        self._agents = agents
        self._rest: list[tuple[_Directory, Parts]] = []

    def run(self, start: _Directory) -> None:
        """Add all homes at and below a directory.

        The topmost directory that is a home, or whose children are, makes a collection, which has all homes
        below it. A home is not walked further, unless children of it are homes, too, or it is a whole
        system's root.
        """
        stack: list[tuple[_Directory, Parts | None]] = [(start, None)]
        lived_in: set[Parts] = set()
        while stack:
            at, top = stack.pop()
            if at.is_collected:
                self.tree.collected.append(at.parts)
                continue
            children = list(self._children(at))
            has_homes = any(child.dirs and not child.is_collected for child in children)
            if top is None and (at.dirs or has_homes):
                top = at.parts
            self._add(at, top or ())
            if at.parts[:-1] in lived_in or self._is_lived_in(at):
                lived_in.add(at.parts)
            else:
                self.tree.files.extend((*at.parts, name) for name in at.files)
            for child in children:
                if child.is_collected or child.dirs or has_homes or not at.dirs or child.parts[-1] in _ABOVE_HOLDERS:
                    stack.append((child, top))
            if not at.dirs and (has_homes or (at.parts and at.parts[-1] in HOLDERS)):
                self._rest.extend((child, at.parts if top is None else top) for child in children if not child.dirs)
        self._add_rest()
        places = {home.place for home in self.tree.homes}
        for home in self.tree.homes:
            home.dirs.update(self._agents.moved(home.place, home.dirs, places))

    def look(self, path: str, parts: Parts) -> _Directory:
        """List a directory."""
        entries, error = self._agents.volume.listed(path)
        dirs, links = self._agents.at(path, entries)
        is_closed = error is not None and not isinstance(error, FileNotFoundError | NotADirectoryError)
        names = [entry.name for entry in entries if is_directory(entry)]
        files = [entry.name for entry in entries if is_regular(entry)]
        return _Directory(path, parts, names, dirs, links, is_closed, files)

    def add_moved(self, at: _Directory, top: Parts) -> bool:
        """Add a directory as a home if moved agent directories lie below it."""
        dirs = self._agents.moved(at.path, {}, set())
        if dirs:
            self._add_home(at, top, dirs)
        return bool(dirs)

    def _children(self, at: _Directory) -> Iterator[_Directory]:
        passed_by = PASSED_BY.union(self._agents.names, at.dirs)
        for name in at.names:
            path = joined(at.path, name)
            if name not in passed_by and path not in _LIVE:
                yield self.look(path, (*at.parts, name))

    def _is_lived_in(self, at: _Directory) -> bool:
        """Whether a directory is a home, holds homes, or is a system's: archives in it are somebody's own."""
        name = at.parts[-1] if at.parts else self._named.rpartition("/")[2]
        is_system = len(_SYSTEM.intersection(at.names)) > 1
        return bool(at.dirs) or is_system or name in HOLDERS or not _PERSONAL.isdisjoint((*at.names, *at.files))

    def _add(self, at: _Directory, top: Parts) -> None:
        if at.dirs:
            self._add_home(at, top, at.dirs)
            return
        self.tree.links.extend((*at.parts, link) for link in at.links)
        if at.is_closed:
            self.tree.closed.append(at.parts)

    def _add_home(self, at: _Directory, top: Parts, dirs: dict[str, AgentDir]) -> None:
        named = joined(self._named, *at.parts)
        self.tree.homes.append(Found(at.parts, top, at.path, named, dirs, at.links if at.dirs else []))

    def _add_rest(self) -> None:
        """Add homes beside others that have moved agent directories alone: the deepest that can be one."""
        above = {home.parts[:depth] for home in self.tree.homes for depth in range(len(home.parts) + 1)}
        for at, top in sorted(self._rest, key=lambda entry: -len(entry[0].parts)):
            if at.parts not in above and self.add_moved(at, top):
                above.update(at.parts[:depth] for depth in range(len(at.parts) + 1))
