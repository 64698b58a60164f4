"""List the files of agent directories in a loose tree as artifacts."""

import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cache
from pathlib import Path

from pipeline.agentdirs import AgentDir, listed
from pipeline.homes import Found
from pipeline.model import Artifact, Layout, Status
from pipeline.paths import as_text

Classify = Callable[[str, str], str | None]
"""(agent, path below the agent directory) to the name of the source that reads the file, null for none."""


@dataclass(slots=True)
class Files:
    """What a home's agent directories hold: artifacts, (home_path, source_file) of special files, links."""

    artifacts: list[Artifact] = field(default_factory=list)
    links: list[str] = field(default_factory=list)


def list_files(home: Found, classify: Classify) -> Files:
    """List a home's files by `home_path`; directories are walked without following a link."""
    above = as_text("/" + "".join(f"{part}/" for part in home.parts))
    listing = _Listing(above, classify, {found.location for found in home.dirs.values()})
    for path, agent_dir in home.dirs.items():
        listing.add(path, agent_dir)
    files = listing.files
    files.artifacts.sort(key=lambda artifact: artifact.home_path)
    files.links = sorted((*files.links, *(above + as_text(link) for link in home.links)))
    return files


@dataclass(frozen=True, slots=True)
class _At:
    """A path below an agent directory, where it is, and what is there (null: it cannot be looked at)."""

    below: str
    location: str
    found: os.stat_result | None


@cache
def _secrets(layout: Layout) -> re.Pattern[str]:
    """What matches the path of a secret below the agent directory."""
    return re.compile("|".join(map(translate, layout.secrets)) or r"(?!)")


class _Listing:
    """Lists the agent directories of one home. `above` is the home's own part of every `source_file`."""

    def __init__(self, above: str, classify: Classify, agent_dirs: set[str]) -> None:
        self.files = Files()
        self._above = above
        self._classify = classify
        self._agent_dirs = agent_dirs

    def add(self, path: str, agent_dir: AgentDir) -> None:
        """Add the files of the agent directory at `path` below the home."""
        self._layout = agent_dir.layout
        self._path = as_text(path)
        stack = [(agent_dir.location, "")]
        while stack:
            directory, below = stack.pop()
            entries, error = listed(directory)
            if error is not None and not isinstance(error, FileNotFoundError | NotADirectoryError):
                self._add(_At(below.rstrip("/"), directory, _look(directory)), Status.UNREADABLE)
            for entry in entries:
                if self._is_walked(entry, below + entry.name):
                    stack.append((entry.path, f"{below}{entry.name}/"))

    def _is_walked(self, entry: os.DirEntry[str], below: str) -> bool:
        """Add what an entry is; say whether it is a directory to walk."""
        try:
            found = entry.stat(follow_symlinks=False)
        except FileNotFoundError:  # removed since the directory was listed
            return False
        except OSError:
            self._add(_At(below, entry.path, None), Status.UNREADABLE)
            return False
        if stat.S_ISREG(found.st_mode):
            self._add_file(_At(below, entry.path, found))
        elif stat.S_ISDIR(found.st_mode):
            if below not in self._layout.whole:
                return entry.path not in self._agent_dirs
            self._add_whole(_At(below, entry.path, found))
        elif stat.S_ISLNK(found.st_mode):
            self.files.links.append(self._above + self._home_path(below))
        else:
            self._add(_At(below, entry.path, found), Status.SKIPPED)
        return False

    def _add_file(self, at: _At) -> None:
        path = as_text(at.below)
        if _secrets(self._layout).match(path):
            self._add(at, Status.SECRET)
            return
        source = self._classify(self._layout.agent, path)
        self._add(at, Status.PARSED if source else Status.KNOWN, source)

    def _add_whole(self, at: _At) -> None:
        """Add a directory as one artifact, and the secrets that are known by name to lie in it."""
        self._add(at, Status.KNOWN)
        for path in self._layout.secrets:
            if path.startswith(f"{at.below}/") and not re.search(r"[*?[]", path):
                location = at.location + path.removeprefix(at.below)
                found = _look(location)
                if found is not None and stat.S_ISREG(found.st_mode):
                    self._add(_At(path, location, found), Status.SECRET)

    def _home_path(self, below: str) -> str:
        return f"{self._path}/{as_text(below)}" if below else self._path

    def _add(self, at: _At, status: Status, source: str | None = None) -> None:
        home_path = self._home_path(at.below)
        self.files.artifacts.append(
            Artifact(
                agent=self._layout.agent,
                source=source,
                status=status,
                home_path=home_path,
                source_file=self._above + home_path,
                location=Path(at.location),
                size=at.found.st_size if at.found and stat.S_ISREG(at.found.st_mode) else None,
                mtime_ms=at.found.st_mtime_ns // 1_000_000 if at.found else 0,
            )
        )


def _look(location: str) -> os.stat_result | None:
    """What is at a path itself, null where that cannot be told."""
    try:
        return os.lstat(location)
    except OSError:
        return None
