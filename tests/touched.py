"""Watch what a piece of work writes: nothing may change but the lake and the directory of temporary files.

Two watches, as neither sees everything. Python tells of each file that it opens to write, makes, renames, links or
removes, wherever it is. What libraries of machine code write shows in how a sandbox looks before and after, in which
everything lies that a relative path, or one that climbs, can lead to.
"""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_PATHS: dict[str, tuple[tuple[int, int | None], ...]] = {
    "os.mkdir": ((0, 2),),
    "os.rename": ((0, 2), (1, 3)),
    "os.remove": ((0, 1),),
    "os.rmdir": ((0, 1),),
    "os.link": ((0, 2), (1, 3)),
    "os.symlink": ((1, 2),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.utime": ((0, 3),),
    "os.truncate": ((0, None),),
    "os.setxattr": ((0, None),),
    "os.removexattr": ((0, None),),
    "sqlite3.connect": ((0, None),),
}
"""Events that change files: places of the paths among their arguments, and of the directory each is relative to."""
_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn")
_OTHER = (*_STARTS, "socket.connect", "socket.bind")

Look = tuple[int, int, int, bytes]
_watches: list["Watch"] = []


class Watch:
    """What happened outside of the places that may be written: event and path. `hidden` is not even to be read."""

    def __init__(self, sandbox: Path, allowed: tuple[Path, ...], hidden: Path) -> None:
        self.found: list[tuple[str, str]] = []
        self._sandbox = sandbox
        self._allowed = tuple(place.resolve() for place in allowed)
        self._hidden = hidden.resolve()

    def tell(self, event: str, path: Path) -> None:
        """Take up that something was changed."""
        if not _is_below(path, *self._allowed):
            self.found.append((event, str(path)))

    def tell_read(self, path: Path) -> None:
        """Take up that something was read."""
        if _is_below(path, self._hidden):
            self.found.append(("read", str(path)))

    def looks(self) -> dict[str, Look]:
        """Kind and mode, size, time, and content of everything in the sandbox that is not to be written."""
        return dict(self._looks(str(self._sandbox)))

    def _looks(self, folder: str) -> Iterator[tuple[str, Look]]:
        for entry in os.scandir(folder):
            if Path(entry.path) in self._allowed:
                continue
            found = entry.stat(follow_symlinks=False)
            content = b""
            if entry.is_symlink():
                content = os.fsencode(Path(entry.path).readlink())
            elif stat.S_ISREG(found.st_mode):
                content = Path(entry.path).read_bytes()
            yield entry.path, (found.st_mode, found.st_size, found.st_mtime_ns, content)
            if entry.is_dir(follow_symlinks=False):
                yield from self._looks(entry.path)


@contextmanager
def watched(sandbox: Path, *allowed: Path, hidden: Path) -> Iterator[Watch]:
    """Watch a sandbox, in which the `allowed` directories may be written; afterwards `found` has all that happened."""
    _listen()
    watch = Watch(sandbox, allowed, hidden)
    before = watch.looks()
    _watches.append(watch)
    try:
        yield watch
    finally:
        _watches.remove(watch)
        after = watch.looks()
        changed = (path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        watch.found.extend(("changed", path) for path in sorted(changed))


@cache
def _listen() -> None:
    """Have Python tell of what it does; that cannot be ended."""
    sys.addaudithook(_heard)


def _heard(event: str, args: tuple[Any, ...]) -> None:
    if not _watches:
        return
    for path in changed(event, args):
        for watch in _watches:
            watch.tell(event, path)
    for watch in _watches:
        if event == "open" and not isinstance(args[0], int):
            watch.tell_read(Path(os.fsdecode(args[0])).resolve())
        elif event in _OTHER:
            watch.found.append((event, repr(args)))


def changed(event: str, args: tuple[Any, ...]) -> list[Path]:
    """Paths that an event of Python's (`sys.addaudithook`) is about to change; none where it changes nothing."""
    if event != "open":
        places = _PATHS.get(event, ())
        return [_place(args[at], None if relative is None else args[relative]) for at, relative in places]
    path, mode, flags = args
    if isinstance(path, int) or not (flags & _WRITING or set(mode or "") & set("wax+")):
        return []
    return [Path(os.fsdecode(path)).resolve()]


def _place(path: Any, directory: object = None) -> Path:
    """Where a path is: links on the way resolved, but not what is at the path itself."""
    if isinstance(path, int):
        return Path(f"/proc/self/fd/{path}").readlink()
    is_given = isinstance(directory, int) and directory >= 0
    whole = (Path(f"/proc/self/fd/{directory}").readlink() if is_given else Path.cwd()) / os.fsdecode(path)
    return whole.parent.resolve() / whole.name


def _is_below(path: Path, *places: Path) -> bool:
    return any(path.is_relative_to(place) for place in places)
