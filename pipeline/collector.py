"""Collections that a collector made: `manifest.jsonl`, `collection.json` and `fs/<original path>`.

The manifest, one object a line, says of every file whose it is, where it was, and what became of it; what `fs` holds
besides is taken as a loose tree. Paths of the manifest are only looked up below the collection.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline import jsontext
from pipeline.members import DIRECTORY, LINK, REGULAR, Member, MemberError, MemberTree, parts_of
from pipeline.model import Status
from pipeline.paths import as_text, collected_ms, joined
from pipeline.source import Problem
from pipeline.volume import NOTHING, Facts, Volume

Json = Mapping[str, Any]
Parts = tuple[str, ...]

_WINDOWS = re.compile(r"[A-Za-z]:(?=[\\/])")
_LONG = re.compile(r"^\\\\\?\\(UNC\\)?")
"""What Windows puts in front of a path for it to be longer than 260 characters."""
_STATUSES = {
    "skipped_excluded": Status.SKIPPED,
    "skipped_size": Status.SKIPPED,
    "skipped_secret": Status.SECRET,
    "error_copy": Status.UNREADABLE,
    "error_read": Status.UNREADABLE,
}
_MARKS = frozenset(("path", "status"))
"""What tells a line of the manifest from other objects."""
_LATEST_MS = 253_402_300_799_999
"""The end of the year 9999."""


@dataclass(slots=True)
class Collected:
    """A collection: its files by their original paths, and what the collector says of it.

    `users` maps homes, as the components of their original paths, to their users, `owners` those of files that the
    manifest places in no home. `problems` are those of the manifest, with the file they are in.
    """

    tree: MemberTree
    host: str | None = None
    collected_ms: int | None = None
    tool: str | None = None
    version: str | None = None
    users: dict[Parts, str | None] = field(default_factory=dict)
    owners: dict[Parts, str] = field(default_factory=dict)
    problems: list[tuple[str | None, Problem]] = field(default_factory=list)

    def add_owner(self, path: Parts, named: str | None, user: str | None) -> None:
        """Take from a line of the manifest whose a home is, or a file in no home. Raises MemberError."""
        home = _path(named) if named else None
        if home is not None and not self.users.get(home):
            self.users[home] = user
        if user and (home is None or path[: len(home)] != home):
            self.owners[path] = user

    def user_of(self, home: Parts) -> str | None:
        """Whose a home is by the manifest: its user, else the one whose files lie in it; null for none or several."""
        told = self.users.get(home)
        if told is None:
            found = {user for path, user in self.owners.items() if path[: len(home)] == home}
            told = found.pop() if len(found) == 1 else None
        return told


def read_collection(volume: Volume, place: str) -> Collected:
    """Read the collection in a directory. Raises OSError where its manifest cannot be read."""
    files = joined(place, "fs")
    found = Collected(MemberTree(files))
    for name in ("manifest.jsonl", "collection.json"):
        found.problems += [(f"/{name}", problem) for problem in volume.facts(joined(place, name)).problems]
    found.problems += _head(volume, place, found)
    entries = list(_entries(volume.content(joined(place, "manifest.jsonl")).read_bytes(), found.problems))
    listed: dict[Parts, tuple[Json, str]] = {}
    taken: set[Parts] = set()
    for number, entry in entries:
        try:
            path = _path(entry["path"])
            held = _held(volume, place, _text(entry.get("archive_path")) or "fs/" + "/".join(path))
            found.add_owner(path, _text(entry.get("home")), as_text(_text(entry.get("user")) or "") or None)
        except MemberError:
            lost = "parser: unreadable (archive_member_rejected)"
            found.problems.append(("/manifest.jsonl", Problem(number, "archive_member_rejected", lost)))
            continue
        listed[path] = entry, joined(place, *held)
        taken.add(held)
    for parts, member in _loose(volume, place):
        if parts not in taken:
            found.tree.add(member)
    for path, (entry, source) in listed.items():
        found.tree.add(_member(volume, path, entry, source))
    for path, original in _folders(listed).items():
        found.tree.name_folder(path, original)
    found.problems += [(f"/fs/{as_text(name)}", problem) for name, problem in found.tree.problems]
    return found


def _head(volume: Volume, place: str, found: Collected) -> Iterator[tuple[str, Problem]]:
    """Read `collection.json`; yield what is wrong with it."""
    try:
        data = volume.content(joined(place, "collection.json")).read_bytes()
    except OSError:
        return
    head, reason = jsontext.document(_utf8(data).decode("utf-8-sig", "surrogateescape"))
    if reason:
        yield "/collection.json", Problem(0, reason, f"parser: unreadable ({reason})", None, len(data))
    found.host, found.tool, found.version = (_shown(head.get(name)) for name in ("hostname", "tool", "version"))
    for name in ("finished", "started"):
        if found.collected_ms is None and head.get(name) not in (None, ""):
            found.collected_ms = _moment(head[name])
            if found.collected_ms is None:
                yield "/collection.json", Problem(0, "bad_timestamp", None, name)


def _moment(value: object) -> int | None:
    """A time as a collector writes it: ISO 8601, or a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, float):
        value = int(value) if math.isfinite(value) else ""
    return collected_ms(str(value).strip())


def _entries(data: bytes, problems: list[tuple[str | None, Problem]]) -> Iterator[tuple[int, Json]]:
    """Yield the manifest's objects that name a path, with their lines; what is none is a problem."""
    for number, line in enumerate(_utf8(data).split(b"\n"), 1):
        text = line.decode("utf-8-sig" if number == 1 else "utf-8", "surrogateescape")
        read = jsontext.values(text, _MARKS)
        reason, size = read.reason, read.lost
        for entry in read.found:
            if isinstance(entry, dict) and _text(entry.get("path")):
                yield number, entry
            else:
                reason, size = "wrong_type" if isinstance(entry, dict) else "not_an_object", len(line)
        if reason:
            lost = f"parser: unparseable line ({reason})"
            problems.append(("/manifest.jsonl", Problem(number, reason, lost, None, size)))


def _utf8(data: bytes) -> bytes:
    """Bytes as UTF-8; what PowerShell writes may be UTF-16 with a mark."""
    if not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data
    return data.decode("utf-16", "replace").encode("utf-8", "replace")


def _text(value: object) -> str | None:
    """A text of the manifest as a path; of half a surrogate pair only what stands for a byte is kept."""
    if not isinstance(value, str):
        return None
    return re.sub("[\ud800-\udc7f\udd00-\udfff]", "\ufffd", value)


def _shown(value: object) -> str | None:
    """A text of `collection.json`, null where it is none or empty."""
    text = _text(value)
    return as_text(text) if text else None


def _held(volume: Volume, place: str, told: str) -> Parts:
    """Where a file lies below the collection, also where its path there has the separators of Windows."""
    held = parts_of(told)
    if "\\" in told and _look(volume, joined(place, *held)) is None:
        return parts_of(told.replace("\\", "/"))
    return held


def _path(original: object) -> Parts:
    """Components of an original path; those of Windows begin with the drive's letter. Raises MemberError."""
    text = _LONG.sub(lambda found: "\\\\" if found[1] else "", _text(original) or "")
    if _WINDOWS.match(text) or text.startswith("\\\\"):
        text = text.replace("\\", "/").replace(":", "", 1) if text[1] == ":" else text.replace("\\", "/")
    return parts_of(text)


def _loose(volume: Volume, place: str) -> Iterator[tuple[Parts, Member]]:
    """Yield what `fs` holds, with its path below the collection."""
    rest: list[Parts] = [("fs",)]
    while rest:
        above = rest.pop()
        for entry in volume.listed(joined(place, *above))[0]:
            parts = (*above, entry.name)
            try:
                look = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            kind = look.st_mode & 0o170000
            facts = volume.facts(entry.path)
            member = Member("/".join(parts[1:]), kind, look.st_size, look.st_mtime_ns // 1_000_000, facts=facts)
            if kind == REGULAR:
                member.content = volume.content(entry.path)
            elif kind == DIRECTORY:
                rest.append(parts)
            yield parts, member


def _member(volume: Volume, path: Parts, entry: Json, held: str) -> Member:
    """A file as the manifest tells of it."""
    name, original = "/".join(path), as_text(_text(entry["path"]) or "")
    size, told = entry.get("size"), _milliseconds(entry.get("mtime"))
    member = Member(name, REGULAR, size if isinstance(size, int) and 0 <= size < 1 << 62 else 0, told or 0)
    status, kind = entry.get("status"), entry.get("type")
    if kind == "dir":
        status_of_all = _STATUSES.get(str(status))
        facts = Facts(status_of_all, original) if status_of_all else NOTHING
        return Member(name, DIRECTORY, mtime_ms=told or 0, facts=facts)
    if kind == "symlink" or status == "symlink":
        return Member(name, LINK, mtime_ms=told or 0, facts=Facts(Status.SKIPPED, original))
    look = None if str(status) in _STATUSES else _look(volume, held)
    if look is None and status != "collected":
        member.facts = Facts(_STATUSES.get(str(status), Status.MISSING), original)
    elif entry.get("secret") is True:
        member.facts = Facts(Status.SECRET, original)
    elif look is None:
        lost = Problem(0, "unreadable", "parser: unreadable (unreadable)", "not in the collection")
        member.facts = Facts(Status.MISSING, original, problems=(lost,))
    else:
        facts, digest = volume.facts(held), entry.get("sha256")
        sha256 = digest.lower() if isinstance(digest, str) and re.fullmatch("[0-9A-Fa-f]{64}", digest) else None
        member.facts = Facts(facts.status, original, sha256, facts.crc32, facts.problems)
        member.size, member.content = look[0], volume.content(held)
        member.mtime_ms = told or look[1]
    return member


def _folders(listed: Mapping[Parts, tuple[Json, str]]) -> dict[Parts, str]:
    """Directories above files that are named as Windows does, with their paths in that form."""
    folders: dict[Parts, str] = {}
    for path, (entry, _) in listed.items():
        above, original = path[:-1], as_text(_text(entry["path"]) or "")
        is_posix = not _WINDOWS.match(original) and not original.startswith("\\\\")
        while above and above not in folders and not is_posix:
            original = re.split(r"[\\/][^\\/]*$", original)[0]
            folders[above] = original
            above = above[:-1]
    return folders


def _look(volume: Volume, path: str) -> tuple[int, int] | None:
    """Size and time of a file below the collection; null where there is none, or a link is on the way."""
    try:
        look = volume.look(path)
        is_there = look.st_mode & 0o170000 == REGULAR and volume.real(path) == path
    except OSError:
        return None
    return (look.st_size, look.st_mtime_ns // 1_000_000) if is_there else None


def _milliseconds(seconds: object) -> int | None:
    """A time of the manifest in ms; null for 0, which is unknown, and for what is no time."""
    if isinstance(seconds, str) and re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,9})?", seconds):
        seconds = float(seconds)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not math.isfinite(seconds):
        return None
    milliseconds = round(seconds * 1000)
    return milliseconds if 0 < milliseconds <= _LATEST_MS else None
