"""The members of an archive as a tree: names are only looked up in it, never on a disk."""

import errno
import re
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from pipeline.model import Content, Status
from pipeline.source import Problem
from pipeline.volume import NOTHING, Entry, Facts

LONGEST = 32_767
"""Longest path (bytes) that any system can have."""
DEEPEST = 1_024
REJECTED = "archive_member_rejected"
_DRIVE = re.compile(r"[A-Za-z]:(?:/|$)")

REGULAR, DIRECTORY, LINK, SPECIAL = stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK, stat.S_IFIFO


@dataclass(slots=True)
class Member:
    """A member of an archive as its header tells: kind as of `stat`, size (bytes), time (ms since 1970).

    `name` is as the archive has it, with separators `/`; bytes that are not UTF-8 are lone surrogates in it. `content`
    is null where its bytes cannot be had; `facts` then say why. `linked` is the name of the file that a hard link is.
    """

    name: str
    kind: int
    size: int = 0
    mtime_ms: int = 0
    content: Content | None = None
    facts: Facts = NOTHING
    linked: str | None = None


@dataclass(slots=True)
class _Node:
    """What is at a path."""

    number: int
    kind: int
    size: int = 0
    mtime_ms: int = 0
    content: Content | None = None
    facts: Facts = NOTHING
    children: dict[str, "_Node"] = field(default_factory=dict)

    @property
    def is_closed(self) -> bool:
        """Whether it is a directory that a collector could not list."""
        return self.kind == DIRECTORY and self.facts.status is Status.UNREADABLE

    @property
    def st_mode(self) -> int:
        return self.kind

    @property
    def st_size(self) -> int:
        return self.size

    @property
    def st_mtime_ns(self) -> int:
        return self.mtime_ms * 1_000_000

    @property
    def st_dev(self) -> int:
        return -1

    @property
    def st_ino(self) -> int:
        return self.number


@dataclass(frozen=True, slots=True)
class _Entry:
    """What a directory of the tree lists."""

    name: str
    path: str
    node: _Node

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return self.node.kind == DIRECTORY

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return self.node.kind == REGULAR

    def stat(self, *, follow_symlinks: bool = True) -> _Node:
        return self.node


class MemberError(Exception):
    """A name that is none below the archive's root."""


def parts_of(name: str) -> tuple[str, ...]:
    """Components of a member's name, `.` and `..` resolved. Raises MemberError where it leaves the archive's root."""
    parts: list[str] = []
    if len(name) > LONGEST or "\0" in name:
        raise MemberError
    for part in name.split("/"):
        if part == "..":
            if not parts:
                raise MemberError
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if len(parts) > DEEPEST:
        raise MemberError
    return tuple(parts)


def is_absolute(name: str) -> bool:
    """Whether a name begins at a root or at a drive."""
    return name.startswith("/") or _DRIVE.match(name) is not None


def unreadable(reason: str, size: int | None = None) -> Facts:
    """Facts of a file of which nothing can be read."""
    problem = Problem(0, reason, f"parser: unreadable ({reason})", None, size)
    return Facts(Status.UNREADABLE, problems=(problem,))


class MemberTree:
    """A volume made of members; `root` is the path in front of theirs.

    `problems` are those of members that are in no directory of an assistant, with the member's name.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self.problems: list[tuple[str, Problem]] = []
        self.files = 0
        self._number = 0
        self._top = _Node(0, DIRECTORY)
        self._absolute: list[Member] = []

    def add(self, member: Member) -> None:
        """Add a member. What cannot be in the tree is a problem; a later file of a name replaces an earlier one."""
        if is_absolute(member.name):
            self._absolute.append(member)
            return
        self._add(member)

    def name_folder(self, path: Sequence[str], source_file: str) -> None:
        """Tell a directory's path on the source host."""
        with suppress(OSError):
            node = self._find(path)
            node.facts = replace(node.facts, source_file=source_file)

    def settle(self) -> None:
        """Add what is named absolutely if nothing else is there: the archive's root is the root then."""
        members, self._absolute = self._absolute, []
        is_root = self.files == 0
        for member in members:
            if is_root:
                self._add(member)
            else:
                self._reject(member)

    def _add(self, member: Member) -> None:
        try:
            parts = parts_of(member.name)
        except MemberError:
            self._reject(member)
            return
        if not parts:
            return
        above = self._directory(parts[:-1])
        node = above and above.children.get(parts[-1])
        if above is None or (node and not self._replaces(member, node)):
            self._reject(member)
            return
        if node and member.kind == DIRECTORY == node.kind:
            node.mtime_ms = member.mtime_ms or node.mtime_ms
            node.facts = node.facts if member.facts is NOTHING else member.facts
            return
        if member.linked is not None:
            self._link(member, member.linked)
        made = _Node(self._next(), member.kind, member.size, member.mtime_ms, member.content, member.facts)
        if node and node.kind == REGULAR:
            lost = Problem(0, "duplicate_member", "parser: unreadable (duplicate_member)", None, node.size)
            problems = (*(p for p in node.facts.problems if p.reason == "duplicate_member"), lost)
            made.facts = replace(made.facts, problems=(*problems, *made.facts.problems))
        self.files += member.kind == REGULAR
        above.children[parts[-1]] = made

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _replaces(self, member: Member, node: _Node) -> bool:
        """Whether a member takes the place of what is there: no file or filled directory gives way to a link."""
        if node.kind == DIRECTORY:
            return member.kind == DIRECTORY or (not node.children and member.kind == REGULAR)
        return member.kind == REGULAR or node.kind != REGULAR

    def _directory(self, parts: Sequence[str]) -> _Node | None:
        """The directory at a path, made where it is missing; null where something else is on the way."""
        node = self._top
        for part in parts:
            child = node.children.get(part)
            if child is None:
                child = node.children[part] = _Node(self._next(), DIRECTORY)
            if child.kind != DIRECTORY:
                return None
            node = child
        return node

    def _reject(self, member: Member) -> None:
        lost = "parser: unreadable (archive_member_rejected)" if member.kind == REGULAR else None
        self.problems.append((member.name, Problem(0, REJECTED, lost, None, member.size if lost else None)))

    def _link(self, member: Member, linked: str) -> None:
        """Give a hard link what the file has that it is one to, which came before it."""
        with suppress(MemberError, OSError):
            node = self._find(parts_of(linked))
            if node.kind == REGULAR and node.content is not None:
                member.size, member.content = node.size, node.content
                return
        member.facts = unreadable(REJECTED)

    def _find(self, parts: Sequence[str]) -> _Node:
        node = self._top
        for part in parts:
            child = node.children.get(part)
            if child is None and node.is_closed:
                raise PermissionError(errno.EACCES, "was not listed")
            if child is None:
                raise FileNotFoundError(errno.ENOENT, "no such member")
            node = child
        return node

    def _node(self, path: str) -> _Node:
        below = path.removeprefix(self.root)
        return self._find([part for part in below.split("/") if part])

    def listed(self, directory: str) -> tuple[Sequence[Entry], OSError | None]:
        """List a directory."""
        try:
            node = self._node(directory)
        except OSError as error:
            return (), error
        entries = [_Entry(name, f"{directory.rstrip('/')}/{name}", child) for name, child in node.children.items()]
        return entries, PermissionError(errno.EACCES, "was not listed") if node.is_closed else None

    def look(self, path: str) -> _Node:
        """Look at a path. Raises FileNotFoundError, or PermissionError below what a collector could not list."""
        return self._node(path)

    def real(self, path: str) -> str:
        """The path: no link is in it."""
        return path

    def content(self, path: str) -> Content:
        """The bytes of a file; of what has none, nothing that could be read."""
        try:
            return self._node(path).content or NoContent()
        except OSError:
            return NoContent()

    def facts(self, path: str) -> Facts:
        """What else is known of a file."""
        try:
            return self._node(path).facts
        except OSError:
            return NOTHING


@dataclass(frozen=True, slots=True)
class NoContent:
    """The bytes of what has none."""

    def read_bytes(self) -> bytes:
        """Raise OSError."""
        raise OSError(errno.ENOENT, "not in the archive")
