"""Discovery: from inputs to collections of homes with their artifacts.

An input is opened as what it is, a directory or an archive, and gives its collections once all inputs are open, so that
a home that two inputs hold is read once. What a collector made, and archives, are found in a directory, too.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pipeline.agentdirs import AgentDirs
from pipeline.archives import Archive, NotAnArchiveError, Sizes, is_archive, open_archive
from pipeline.collector import read_collection
from pipeline.homes import Found, Tree, find_homes
from pipeline.memory import Gate
from pipeline.model import Collection, Layout
from pipeline.origins import CollectedTree, Input, LooseTree, Reader
from pipeline.owned import Classify
from pipeline.paths import Template, as_text, joined
from pipeline.textgrid import safe
from pipeline.volume import DISK, Volume
from pipeline.workers import Died, run_all


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says of the inputs.

    `host` overrides what an input says; `user` is that of a home whose path names none. `path_template` is
    matched with each home's path below its input. `collected_ms` is in milliseconds since 1970 (UTC). `moved`
    maps an agent to paths of moved agent directories below each home, `tasks` to paths below each home of directories
    that hold directories of tasks. `sizes` limit what is unpacked of an archive. Archives that `gate` knows are not
    opened; others in a directory are listed by so many `workers`.
    """

    host: str | None = None
    user: str | None = None
    path_template: str | None = None
    collected_ms: int | None = None
    moved: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tasks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sizes: Sizes = field(default_factory=Sizes)
    gate: Gate = field(default_factory=lambda: Gate({}, ()))
    workers: int = 1

    def told(self) -> tuple[str, ...]:
        """The options that decide what is found in an archive, as texts."""
        of_inputs = (self.host, self.user, self.path_template, self.collected_ms, self.moved, self.tasks, self.sizes)
        return tuple(map(repr, of_inputs))


class InputError(Exception):
    """An input that cannot be opened, or an archive or collection in one: one line that says which and why.

    `is_whole` tells that nothing else of the input was opened.
    """

    is_whole = True


_NAMED = re.compile(
    r".*\.(?:tar(?:\.(?:gz|zst|xz|bz2|lz4|lzma|Z))?|tgz|tzst|txz|tbz2?|zip|7z|rar)", re.IGNORECASE | re.DOTALL
)
"""Names of archives: one of these that is none is damaged, or of a form that is not read."""


_NO_ARCHIVE = "not a directory, and no archive that can be read"

_Home = tuple[tuple[str, ...], Found]


def discover(
    inputs: Sequence[str], layouts: Sequence[Layout], classify: Classify, options: Options
) -> tuple[list[Collection], list[InputError]]:
    """Find the collections of all inputs, in the order of the inputs, and the inputs that cannot be opened.

    Nothing is opened below an input but archives, manifests, and the session index and a few sessions of directories
    that may be moved agent directories. Raises ValueError, with one line, for a path template or a moved directory that
    cannot be meant.
    """
    template = None if options.path_template is None else Template.parse(options.path_template)
    reader = Reader(classify, options.host, options.user, options.collected_ms, template)
    opener = _Opener(AgentDirs(layouts, options.moved, options.tasks), reader, options)
    for name in inputs:
        opener.open(name)
    matches = (template.match(home.parts) for home in opener.homes) if template else ()
    # Archives that are not opened matched when they were.
    if template and opener.homes and not options.gate.unchanged and not any(matches):
        raise ValueError(f"--path-template {options.path_template!r} matches the path of no home below its input")
    return [found for each in opener.opened for found in each.collections()], opener.errors


def try_archive(sizes: Sizes, path: str) -> Archive | OSError | NotAnArchiveError:
    """List the members of an archive, or return the error."""
    try:
        return open_archive(path, sizes)
    except (OSError, NotAnArchiveError) as error:
        return error


class _Opener:
    """Opens inputs one after the other; each home, and each agent directory, is in the first that has it."""

    def __init__(self, agents: AgentDirs, reader: Reader, options: Options) -> None:
        self.opened: list[Input] = []
        self.errors: list[InputError] = []
        self.homes: list[Found] = []
        self._agents = agents
        self._reader = reader
        self._sizes = options.sizes
        self._gate = options.gate
        self._workers = options.workers
        self._seen = _Seen()

    def open(self, name: str) -> None:
        """Open an input as what it is."""
        try:
            place = _opened(name)
            if os.path.isdir(place):  # noqa: PTH112  (a path in text, as everywhere here)
                named = os.path.abspath(name)  # noqa: PTH100  (without `..`, but with links as they are named)
                self._directory(name, place, named)
            elif self._is_wanted(place):
                self._archive(name, self._unpacked(name, place, try_archive(self._sizes, place)))
        except InputError as error:
            self.errors.append(error)

    def _is_wanted(self, place: str) -> bool:
        """Whether an archive was not opened yet, neither by this build nor, as it is now, by one before it."""
        return self._seen.is_new(place) and not self._gate.is_known(place)

    def _unpacked(self, name: str, place: str, found: Archive | Exception | Died) -> Archive:
        """What came of the try to open an archive. Raises InputError where it could not be opened."""
        if isinstance(found, Archive):
            return found
        self._gate.failed(place)
        if isinstance(found, OSError):
            raise _cannot_open(name, found) from found
        why = "not read: a worker died over it, twice" if isinstance(found, Died) else _NO_ARCHIVE
        raise InputError(f"{safe(as_text(name))}: {why}")

    def _directory(self, name: str, place: str, named: str) -> None:
        """Add what a directory holds: loose homes, collections, archives."""
        tree = find_homes(place, named, self._agents)
        files = [
            parts for parts in sorted(tree.files) if _NAMED.fullmatch(parts[-1]) or is_archive(joined(place, *parts))
        ]
        if tree.homes or tree.links or tree.closed or not (tree.collected or files):
            self._loose(name, place, tree, DISK)
        for parts in sorted(tree.collected):
            self._collected(joined(name, *parts), DISK, joined(place, *parts))
        paths = {path: parts for parts in files if self._is_wanted(path := joined(place, *parts))}
        with closing(run_all(partial(try_archive, self._sizes), paths, min(self._workers, len(paths)))) as tried:
            found = dict(tried)
        for path, parts in paths.items():
            try:
                self._archive(joined(name, *parts), self._unpacked(joined(name, *parts), path, found[path]))
            except InputError as error:
                error.is_whole = False
                self.errors.append(error)

    def _archive(self, name: str, archive: Archive) -> None:
        """Add what an archive holds."""
        volume = archive.tree
        tree = find_homes(volume.root, "", self._agents.on(volume))
        before = len(self.opened)
        if tree.homes or not tree.collected:
            self._loose(name, volume.root, tree, volume)
        for parts in sorted(tree.collected):
            self._collected(joined(name, *parts), volume, joined(volume.root, *parts))
        if len(self.opened) > before:
            self.opened[before].problems.extend(archive.problems)

    def _loose(self, name: str, place: str, tree: Tree, volume: Volume) -> None:
        tree = self._seen.new(tree)
        self.homes.extend(tree.homes)
        self.opened.append(LooseTree(name, place, tree, self._reader, volume))

    def _collected(self, name: str, volume: Volume, place: str) -> None:
        """Add a collection that a collector made."""
        if not self._seen.is_new(joined(place, "manifest.jsonl")):
            return
        try:
            found = read_collection(volume, place)
        except OSError as error:
            unopened = _cannot_open(joined(name, "manifest.jsonl"), error)
            unopened.is_whole = False
            self.errors.append(unopened)
            return
        agents = self._agents.on(found.tree)
        homes = dict(_homes(found.tree.root, found.users, agents))
        walked = find_homes(found.tree.root, "", agents)
        for home in walked.homes:
            if not any(home.parts[: len(parts)] == parts for parts in found.users):
                homes[home.parts] = home
        links = [link for link in walked.links if link[:-1] not in homes]
        tree = self._seen.new(Tree([home for _, home in sorted(homes.items())], links))
        self.opened.append(CollectedTree(name, tree, self._reader, found))


def _homes(root: str, users: Mapping[tuple[str, ...], str | None], agents: AgentDirs) -> Iterator[_Home]:
    """Yield the homes that a manifest names, by their paths, if they have an agent directory."""
    places = {joined(root, *parts) for parts in users}
    for parts in users:
        place = joined(root, *parts)
        dirs, links = agents.at(place, agents.volume.listed(place)[0])
        dirs.update(agents.moved(place, dirs, places))
        if dirs:
            yield parts, Found(parts, (), place, joined("", *parts), dirs, links)


def _cannot_open(name: str, error: OSError) -> InputError:
    reason = error.strerror or "unknown reason"
    return InputError(f"cannot open {safe(as_text(name))}: {reason[:1].lower()}{reason[1:]}")


def _opened(name: str) -> str:
    """Real path of an input that is a directory that can be listed, or a file. Raises InputError for any other."""
    shown = safe(as_text(name))
    try:
        mode = Path(name).stat().st_mode if name else 0
        if stat.S_ISDIR(mode):
            os.scandir(name).close()
    except OSError as error:
        raise _cannot_open(name, error) from error
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise InputError(f"{shown or repr(name)}: {_NO_ARCHIVE}")
    return os.path.realpath(name)


class _Seen:
    """The homes of the inputs so far, and their agent directories: each is read once."""

    def __init__(self) -> None:
        self._homes: dict[str, Found] = {}
        self._dirs: set[str] = set()
        self._files: set[str] = set()

    def is_new(self, path: str) -> bool:
        """Whether a file, an archive or a manifest, was not seen before; it is from now on."""
        is_new = path not in self._files
        self._files.add(path)
        return is_new

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
