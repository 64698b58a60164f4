"""List the files of agent directories in a loose tree as artifacts."""

import re
import stat
from dataclasses import dataclass, field, replace

from pipeline.agentdirs import PASSED_BY, AgentDir, is_directory, is_regular
from pipeline.homes import Found
from pipeline.model import Artifact, Inner, Root, Status
from pipeline.owned import Classify, Share, is_any, is_searched, named, planned, share
from pipeline.paths import as_text
from pipeline.source import Problem
from pipeline.volume import Entry, Look, Volume


@dataclass(slots=True)
class Files:
    """What a home's agent directories hold: artifacts, source_file of links, (agent, home_path) of session folders.

    `is_partial` is that of the home.
    """

    artifacts: list[Artifact] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    session_folders: list[tuple[str, str]] = field(default_factory=list)
    is_partial: bool = False


def list_files(volume: Volume, home: Found, classify: Classify) -> Files:
    """List a home's files by `home_path`; directories are walked without following a link."""
    above = as_text("/" + "".join(f"{part}/" for part in home.parts))
    listing = _Listing(volume, above, classify, {found.location for found in home.dirs.values()})
    for path, agent_dir in home.dirs.items():
        listing.add(path, agent_dir)
    files = listing.files
    files.artifacts = planned(sorted(files.artifacts, key=lambda artifact: artifact.home_path))
    files.session_folders.sort(key=lambda folder: folder[1])
    files.links = sorted({*files.links, *(above + as_text(link) for link in home.links)})
    return files


@dataclass(frozen=True, slots=True)
class _Directory:
    """A directory to list: whose it is, its root, the root's path below the home, its own below that, its place."""

    agent: str
    root: Root
    path: str
    below: str
    location: str

    def at(self, name: str) -> str:
        """Path below the root of what is in it."""
        return f"{self.below}/{name}" if self.below else name

    def home_path(self, below: str) -> str:
        """Path below the home of what is at a path below the root."""
        return f"{self.path}/{as_text(below)}" if below else self.path


@dataclass(frozen=True, slots=True)
class _At:
    """A path below a root, where it is, and what is there (null: it cannot be looked at)."""

    below: str
    location: str
    found: Look | None


class _Listing:
    """Lists the agent directories of one home. `above` is the home's own part of every `source_file`."""

    def __init__(self, volume: Volume, above: str, classify: Classify, agent_dirs: set[str]) -> None:
        self.files = Files()
        self._volume = volume
        self._above = above
        self._classify = classify
        self._agent_dirs = agent_dirs

    def add(self, path: str, agent_dir: AgentDir) -> None:
        """Add the files of the agent directory at `path` below the home."""
        kind, location = agent_dir.kind, agent_dir.location
        start = _Directory(kind.layout.agent, kind.root, as_text(path), "", location)
        inner = kind.root.inner
        if inner and kind.root is kind.layout.given and self._is_inner(start, inner, path.rpartition("/")[2], location):
            start = replace(start, root=inner.root)
        if share(start.root, "") is Share.OWN:
            self._add_left_out(start, _At("", location, self._look(location)))
        rest = [start]
        while rest:
            directory = rest.pop()
            entries, error = self._volume.listed(directory.location)
            if error is not None and not isinstance(error, FileNotFoundError | NotADirectoryError):
                self._add_closed(directory)
            for entry in entries:
                inside = self._inside(directory, entry)
                if inside is not None:
                    rest.append(inside)

    def _inside(self, directory: _Directory, entry: Entry) -> _Directory | None:
        """Add what an entry is; return it where it is a directory to list."""
        below = directory.at(entry.name)
        mine = share(directory.root, as_text(below))
        try:
            found = entry.stat(follow_symlinks=False)
        except FileNotFoundError:  # removed since the directory was listed
            return None
        except OSError:
            if mine is Share.OWN:
                self._add(directory, _At(below, entry.path, None), Status.UNREADABLE)
            return None
        if stat.S_ISDIR(found.st_mode):
            return self._walked(directory, _At(below, entry.path, found), mine)
        if stat.S_ISLNK(found.st_mode):
            if mine is not Share.NONE:
                at = _At(below, entry.path, found)
                self.files.links.append(self._source_file(directory, at))
                if mine is Share.OWN and self._volume.facts(entry.path).status is Status.SKIPPED:
                    self._add(directory, at, Status.SKIPPED)
        elif mine is Share.OWN and stat.S_ISREG(found.st_mode):
            self._add_file(directory, _At(below, entry.path, found))
        elif mine is Share.OWN:
            self._add(directory, _At(below, entry.path, found), Status.SKIPPED)
        return None

    def _walked(self, directory: _Directory, at: _At, mine: Share) -> _Directory | None:
        """Return a directory that is to be listed, or add it as a whole."""
        root, path = directory.root, as_text(at.below)
        if at.location in self._agent_dirs:
            return None
        if root.holds_sessions and "/" not in at.below:
            self.files.session_folders.append((directory.agent, directory.home_path(at.below)))
        if mine is Share.OWN and is_any(root.whole, path):
            self._add_whole(directory, at)
            return None
        if mine is Share.OWN:
            self._add_left_out(directory, at)
        name = at.below.rpartition("/")[2]
        if root.inner and name == root.inner.name and self._is_inner(directory, root.inner, path, at.location):
            return _Directory(directory.agent, root.inner.root, directory.home_path(at.below), "", at.location)
        if mine is Share.NONE and (name in PASSED_BY or not is_searched(root, path)):
            return None
        return replace(directory, below=at.below, location=at.location)

    def _is_inner(self, directory: _Directory, inner: Inner, path: str, location: str) -> bool:
        """Whether the directory at a path below a root holds sessions: by its path, or by a file in one of them."""
        if path in inner.sure:
            return True
        if not is_searched(directory.root, path):
            return False
        folders = (entry for entry in self._volume.listed(location)[0] if is_directory(entry))
        return any(
            is_regular(entry)
            and named(self._classify, directory.agent, inner.root, as_text(f"{folder.name}/{entry.name}"))[0]
            for folder in folders
            for entry in self._volume.listed(folder.path)[0]
        )

    def _add_left_out(self, directory: _Directory, at: _At) -> None:
        """Add a directory that a collector left out; what it took of it nevertheless is added, too."""
        told = self._volume.facts(at.location).status
        if told in (Status.SKIPPED, Status.SECRET):
            self._add(directory, at, told)

    def _add_closed(self, directory: _Directory) -> None:
        """Add a directory that cannot be listed, if the assistant's files lie in it."""
        if share(directory.root, as_text(directory.below)) is not Share.NONE:
            at = _At(directory.below, directory.location, self._look(directory.location))
            self._add(directory, at, Status.UNREADABLE)
            self.files.is_partial = True

    def _add_file(self, directory: _Directory, at: _At) -> None:
        path = as_text(at.below)
        if is_any(directory.root.secrets, path):
            self._add(directory, at, Status.SECRET)
            return
        source, stands_in = named(self._classify, directory.agent, directory.root, path)
        status = self._volume.facts(at.location).status or (Status.PARSED if source else Status.KNOWN)
        self._add(directory, at, status, source=source, stands_in=stands_in)

    def _add_whole(self, directory: _Directory, at: _At) -> None:
        """Add a directory as one artifact, and the secrets that are known by name to lie in it."""
        self._add(directory, at, self._volume.facts(at.location).status or Status.KNOWN)
        for path in directory.root.secrets:
            if path.startswith(f"{at.below}/") and not re.search(r"[*?[]", path):
                location = at.location + path.removeprefix(at.below)
                found = self._look(location)
                if found is not None and stat.S_ISREG(found.st_mode):
                    self._add(directory, _At(path, location, found), Status.SECRET)

    def _add(
        self, directory: _Directory, at: _At, status: Status, *, source: str | None = None, stands_in: bool = False
    ) -> None:
        facts, mode = self._volume.facts(at.location), at.found.st_mode if at.found else 0
        is_odd = status is Status.SKIPPED and not any(told(mode) for told in (stat.S_ISREG, stat.S_ISLNK, stat.S_ISDIR))
        self.files.artifacts.append(
            Artifact(
                agent=directory.agent,
                source=source,
                status=status,
                home_path=directory.home_path(at.below),
                source_file=self._source_file(directory, at),
                location=self._volume.content(at.location),
                size=at.found.st_size if at.found and stat.S_ISREG(mode) else None,
                mtime_ms=at.found.st_mtime_ns // 1_000_000 if at.found else 0,
                stands_in=stands_in,
                sha256=facts.sha256,
                crc32=facts.crc32,
                problems=facts.problems or ((Problem(0, "special_file", None),) if is_odd else ()),
            )
        )

    def _source_file(self, directory: _Directory, at: _At) -> str:
        """Path on the source host: as the collector wrote it, else below the input."""
        return self._volume.facts(at.location).source_file or self._above + directory.home_path(at.below)

    def _look(self, location: str) -> Look | None:
        """What is at a path itself, null where that cannot be told."""
        try:
            return self._volume.look(location)
        except OSError:
            return None
