"""Where files are: a disk, or the members of an archive. Discovery looks at both through the same few calls.

Paths are absolute. What lies in an archive has the archive's own path in front, so that no two places are one.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pipeline.model import Content, Status
from pipeline.source import Problem


class Look(Protocol):
    """What is at a path itself: the part of `os.stat_result` that is asked for."""

    @property
    def st_mode(self) -> int:
        """Kind, as of `stat`."""
        ...

    @property
    def st_size(self) -> int:
        """Size (bytes)."""
        ...

    @property
    def st_mtime_ns(self) -> int:
        """Modification time (ns since 1970, UTC)."""
        ...

    @property
    def st_dev(self) -> int:
        """Device: with `st_ino`, what tells it from all others."""
        ...

    @property
    def st_ino(self) -> int:
        """Number on its device."""
        ...


class Entry(Protocol):
    """What a directory lists: the part of `os.DirEntry` that is asked for."""

    @property
    def name(self) -> str:
        """Name in the directory."""
        ...

    @property
    def path(self) -> str:
        """Path with the directory's."""
        ...

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Whether it is a directory."""
        ...

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Whether it is a regular file."""
        ...

    def stat(self, *, follow_symlinks: bool = True) -> Look:
        """What it is."""
        ...


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a file besides its bytes.

    `status` overrides what its name tells, `source_file` what its place tells. `sha256` and `crc32` are what its bytes
    must have, `problems` what went wrong with it on the way.
    """

    status: Status | None = None
    source_file: str | None = None
    sha256: str | None = None
    crc32: int | None = None
    problems: tuple[Problem, ...] = ()


NOTHING = Facts()


class Volume(Protocol):
    """A tree of files."""

    def listed(self, directory: str) -> tuple[Sequence[Entry], OSError | None]:
        """The entries of a directory, and the error that kept from reading (all of) them."""
        ...

    def look(self, path: str) -> Look:
        """What is at a path itself, no link followed. Raises OSError."""
        ...

    def real(self, path: str) -> str:
        """The path without links."""
        ...

    def content(self, path: str) -> Content:
        """The bytes of a file, to be read later."""
        ...

    def facts(self, path: str) -> Facts:
        """What else is known of a file."""
        ...


class Disk:
    """The files of this machine."""

    def listed(self, directory: str) -> tuple[Sequence[Entry], OSError | None]:
        """List a directory."""
        entries: list[Entry] = []
        try:
            with os.scandir(directory) as found:
                entries.extend(found)
        except OSError as error:
            return entries, error
        return entries, None

    def look(self, path: str) -> Look:
        """Look at a path."""
        return os.lstat(path)

    def real(self, path: str) -> str:
        """Resolve links."""
        return os.path.realpath(path)

    def content(self, path: str) -> Content:
        """The path: it is read from where it is."""
        return Path(path)

    def facts(self, path: str) -> Facts:
        """Nothing."""
        return NOTHING


DISK = Disk()
