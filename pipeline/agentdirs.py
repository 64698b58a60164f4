"""Agent directories: where they lie below a home, whether they hold state, and how moved ones are told."""

import copy
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.model import Layout, Root
from pipeline.paths import joined
from pipeline.volume import DISK, Entry, Volume

PASSED_BY = frozenset(("node_modules", ".git"))
"""Directories that are never searched for homes or agent directories."""
LEVELS = 3
"""How deep below a home a moved agent directory is found."""
_TELLING_BYTES = 64 << 20
"""How much of a session index, and of sessions that it does not tell of, is read to tell whose they are."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Whose an agent directory is, and which of its roots."""

    layout: Layout
    root: Root


@dataclass(frozen=True, slots=True)
class AgentDir:
    """An agent directory: of which kind it is, and its real path."""

    kind: Kind
    location: str


def is_directory(entry: Entry) -> bool:
    """Whether an entry is a directory, and no link to one."""
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:  # the file system keeps no types in its listings, and the entry cannot be looked at
        return False


def is_regular(entry: Entry) -> bool:
    """Whether an entry is a regular file, and no link to one."""
    try:
        return entry.is_file(follow_symlinks=False)
    except OSError:
        return False


def _mode(volume: Volume, path: str) -> int:
    """Mode of what is at a path, 0 where there is nothing."""
    try:
        return volume.look(path).st_mode
    except OSError:
        return 0


def has_state(volume: Volume, directory: str, root: Root) -> bool:
    """Whether an agent directory holds state. One that cannot be looked into counts, to be reported; so does one of
    which a collector says why it holds nothing.
    """
    if volume.facts(directory).status is not None:
        return True
    if not root.state:
        return stat.S_ISDIR(_mode(volume, directory))
    for path in root.state:
        above, _, _ = path.rpartition("/")
        if above and not stat.S_ISDIR(_mode(volume, f"{directory}/{above}")):
            continue
        try:
            volume.look(f"{directory}/{path}")
        except PermissionError:
            return True
        except OSError:
            continue
        return True
    return False


def is_moved(volume: Volume, directory: str) -> bool:
    """Whether a directory looks like a moved agent directory by what it holds."""
    return (
        stat.S_ISREG(_mode(volume, f"{directory}/sessions/sessions.json"))
        and stat.S_ISDIR(_mode(volume, f"{directory}/sessions"))
        and any(stat.S_ISDIR(_mode(volume, f"{directory}/{name}")) for name in ("dev_data", "index"))
    )


class AgentDirs:
    """Finds agent directories below a home: by name, at the paths given for some, and by search.

    `moved` maps an agent to paths below each home of its own directory, `given` of directories of sessions. Raises
    ValueError, with one line, for a path that cannot be one. `names` has the assistants by the name of their
    directory, `paths` kinds of agent directories by their path below a home. It looks at one `volume`, first the disk.
    """

    volume: Volume = DISK

    def __init__(
        self, layouts: Sequence[Layout], moved: Mapping[str, tuple[str, ...]], given: Mapping[str, tuple[str, ...]]
    ) -> None:
        self._layouts = layouts
        self.names = {layout.directory: layout for layout in layouts}
        kinds = [Kind(layout, root) for layout in layouts for root in layout.roots]
        self.paths = {path: kind for kind in kinds for path in kind.root.places}
        own = {layout.agent: Kind(layout, layout.roots[0]) for layout in layouts}
        self._add("moved directory", moved, own)
        self._add("directory of tasks", given, {x.agent: Kind(x, x.given) for x in layouts if x.given})

    def on(self, volume: Volume) -> "AgentDirs":
        """The same for the homes of another volume."""
        other = copy.copy(self)
        other.volume = volume
        return other

    def _add(self, what: str, named: Mapping[str, tuple[str, ...]], kinds: Mapping[str, Kind]) -> None:
        """Add paths that a person names."""
        for agent, path in ((agent, path) for agent, paths in named.items() for path in paths):
            parts = [part for part in path.split("/") if part not in ("", ".")]
            if agent not in kinds or path.startswith("/") or ".." in parts or not parts:
                raise ValueError(f"{what} of {agent}: {path!r} is not a path below a home")
            self.paths["/".join(parts)] = kinds[agent]

    def at(self, home: str, entries: Sequence[Entry]) -> tuple[dict[str, AgentDir], list[str]]:
        """The agent directories of a directory, by path, and paths of links in the place of one."""
        dirs: dict[str, AgentDir] = {}
        links: list[str] = []
        seen: set[tuple[int, int]] = set()
        present = {entry.name for entry in entries}
        for path, kind in self.paths.items():
            if path.partition("/")[0] not in present:
                continue
            location, link = joined(home, path), _link_on(self.volume, home, path)
            if link is not None:
                if link == path or path not in kind.root.places:
                    links.append(link)
            elif stat.S_ISDIR(_mode(self.volume, location)) and has_state(self.volume, location, kind.root):
                place = _place(self.volume, location)
                if place not in seen:  # where case makes no difference two paths are one directory
                    dirs[path] = AgentDir(kind, location)
                seen.add(place)
        return dirs, links

    def moved(self, home: str, known: Mapping[str, AgentDir], homes: set[str]) -> dict[str, AgentDir]:
        """Search for moved agent directories up to `LEVELS` below a home.

        Those `known` and other `homes` in it (real paths) are left out; nothing is searched below what is
        found.
        """
        found: dict[str, AgentDir] = {}
        above = [""]
        for depth in range(LEVELS):
            paths = [f"{up}{name}" for up in above for name in _directories(self.volume, joined(home, up.rstrip("/")))]
            above = []
            for path in paths:
                name, location = path.rpartition("/")[2], joined(home, path)
                if path in known or location in homes or (depth == 0 and name in self.names):
                    continue
                if is_moved(self.volume, location):
                    found[path] = AgentDir(self.owner(location), location)
                elif name not in self.names:
                    above.append(f"{path}/")
        return found

    def owner(self, directory: str) -> Kind:
        """Whose a moved directory is: by its name, else by its index and its sessions, else the first assistant's."""
        layout = self.names.get(directory.rpartition("/")[2]) or self._owner(directory)
        return Kind(layout, layout.roots[0])

    def _owner(self, directory: str) -> Layout:
        """Whose the first file is that tells that it is another's than the first assistant's."""
        sessions = f"{directory}/sessions"
        names = sorted(e.name for e in self.volume.listed(sessions)[0] if e.name.endswith(".json") and is_regular(e))
        left = _TELLING_BYTES
        for path in (f"{sessions}/{name}" for name in sorted(names, key=lambda name: name != "sessions.json")):
            try:
                size = self.volume.look(path).st_size
                if size > left:
                    continue
                told = self.volume.content(path).read_bytes()
            except OSError:
                continue
            left -= size
            layout = next((layout for layout in self._layouts if layout.is_moved(told)), self._layouts[0])
            if layout is not self._layouts[0]:
                return layout
        return self._layouts[0]


def _place(volume: Volume, path: str) -> tuple[int, int]:
    """What tells a directory from all others."""
    try:
        found = volume.look(path)
    except OSError:
        return 0, hash(path)
    return found.st_dev, found.st_ino or hash(path)


def _link_on(volume: Volume, home: str, path: str) -> str | None:
    """The first component of a path below a home that is a symbolic link, as a path; null without one."""
    names = path.split("/")
    paths = ("/".join(names[: depth + 1]) for depth in range(len(names)))
    return next((part for part in paths if stat.S_ISLNK(_mode(volume, joined(home, part)))), None)


def _directories(volume: Volume, directory: str) -> list[str]:
    """Names of the directories in a directory that are searched."""
    return [e.name for e in volume.listed(directory)[0] if e.name not in PASSED_BY and is_directory(e)]
