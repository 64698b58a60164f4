"""Open an archive: what it is is told by its first bytes, what it holds becomes a tree of members."""

import hashlib
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.content import INFLATERS, Pieces, Tar, TarContent, ZipContent
from pipeline.decoders import Codec, Fault, codec_of, note
from pipeline.members import REGULAR, REJECTED, SPECIAL, Member, MemberTree, unreadable
from pipeline.source import Problem
from pipeline.streams import Stream
from pipeline.tars import BLOCK, Header, TarReader, is_header
from pipeline.volume import Facts
from pipeline.zips import ZipMember, zip_members

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is unpacked at most (bytes): of one member, and of one archive."""

    member: int = 1 << 30
    archive: int = 1 << 36


@dataclass(slots=True)
class Archive:
    """An archive that was opened: its members, and problems (by member's name, null: the archive) of no home."""

    tree: MemberTree
    problems: list[tuple[str | None, Problem]] = field(default_factory=list)


class NotAnArchiveError(Exception):
    """A file that is no archive."""


def is_archive(path: str) -> bool:
    """Whether a file is an archive: a zip, or a tar, plain or compressed, by its first bytes."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(BLOCK)
        if head.startswith(_ZIP):
            return True
        codec = codec_of(head)
        if codec is Codec.NONE:
            return is_header(head)
        with Stream(path, codec, 1 << 24) as stream:
            return is_header(stream.read(BLOCK))
    except OSError:
        return False


def open_archive(path: str, sizes: Sizes) -> Archive:
    """List the members of the archive at a real path. Raises OSError, and NotAnArchiveError for any other file."""
    with Path(path).open("rb") as file:
        head = file.read(BLOCK)
    archive = Archive(MemberTree(path))
    faults: list[Fault] = []
    if head.startswith(_ZIP):
        found = _add_zip(archive.tree, path, sizes, faults)
    elif (codec := codec_of(head)) is not Codec.NONE or is_header(head):
        found = _add_tar(archive.tree, Tar(path, codec, sizes.archive), sizes, faults)
    else:
        raise NotAnArchiveError
    if not found and faults:
        raise NotAnArchiveError
    archive.tree.settle()
    _verify(path, faults)
    archive.problems += [(None, _problem(fault)) for fault in faults]
    archive.problems += archive.tree.problems
    return archive


def _problem(fault: Fault) -> Problem:
    lost = f"parser: unreadable ({fault.reason})" if fault.lost else None
    return Problem(0, fault.reason, lost, ", ".join(fault.parts))


def _add_tar(tree: MemberTree, tar: Tar, sizes: Sizes, faults: list[Fault]) -> int:
    """Add the members of a tar; return how many there were."""
    found = 0
    with Stream(tar.path, tar.codec, tar.limit) as stream:
        for header in TarReader(stream).members():
            found += 1
            tree.add(_tar_member(header, tar, sizes))
        faults += stream.faults
    return found


def _tar_member(header: Header, tar: Tar, sizes: Sizes) -> Member:
    """A member of a tar. One that is cut off is as long as what is there of it."""
    member = Member(header.name, header.kind, mtime_ms=header.mtime_ms, linked=header.linked)
    if header.kind == SPECIAL:
        member.facts = Facts(problems=(Problem(0, REJECTED, None),))
    if header.kind != REGULAR or header.linked is not None:
        return member
    pieces: Pieces = ((0, header.start, header.held),)
    member.size = header.held
    if header.sparse is not None:
        member.size = header.real_size or 0
        pieces = _pieces(header, member.size)
    if member.size > sizes.member:
        member.facts = unreadable("unreadable", member.size)
    else:
        member.content = TarContent(tar, pieces, member.size)
    return member


def _pieces(header: Header, size: int) -> tuple[tuple[int, int, int], ...]:
    """Where the stored ranges of a sparse file are, as far as they are there and lie in the file."""
    found: list[tuple[int, int, int]] = []
    start, end = header.start, header.start + header.held
    for at, length in header.sparse or ():
        kept = min(length, end - start, size - at)
        if kept > 0:
            found.append((at, start, kept))
        start += length
    return tuple(found)


def _add_zip(tree: MemberTree, path: str, sizes: Sizes, faults: list[Fault]) -> int:
    """Add the members of a zip; return how many there were."""
    found = total = 0
    for entry in zip_members(path, faults):
        found += 1
        total += entry.size
        tree.add(_zip_member(entry, path, sizes, is_too_much=total > sizes.archive))
    return found or not faults


def _zip_member(entry: ZipMember, path: str, sizes: Sizes, *, is_too_much: bool) -> Member:
    """A member of a zip."""
    kind = stat.S_IFMT(entry.mode)
    if entry.name.endswith("/"):
        kind = stat.S_IFDIR
    elif kind not in (stat.S_IFLNK, stat.S_IFDIR, stat.S_IFREG, 0):
        kind = SPECIAL
    member = Member(entry.name, kind or REGULAR, entry.size, entry.mtime_ms)
    if kind == SPECIAL:
        member.facts = Facts(problems=(Problem(0, REJECTED, None),))
    elif entry.is_encrypted:
        member.facts = unreadable(REJECTED, entry.size)
    elif entry.method not in INFLATERS or entry.size > sizes.member or is_too_much:
        member.facts = unreadable("unreadable", entry.size)
    else:
        member.content = ZipContent(path, entry.header, entry.packed, entry.method, entry.size)
        member.facts = Facts(crc32=entry.crc32)
    return member


def _verify(path: str, faults: list[Fault]) -> None:
    """Compare an archive with the SHA-256 in the file beside it, if there is one."""
    try:
        told = re.match(rb"\s*\\?([0-9A-Fa-f]{64})\b", Path(f"{path}.sha256").read_bytes()[:1024])
    except OSError:
        return
    if told is None:
        return
    with Path(path).open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != os.fsdecode(told[1]).lower():
        note(faults, Fault("archive_damaged", "sha256", lost=False))
