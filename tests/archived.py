"""Archives that a test writes: members in memory, packed in every way that is read."""

import gzip
import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import zstandard

from pipeline.archives import Archive, Sizes, open_archive
from pipeline.discover import Options, discover
from pipeline.model import Collection
from tests.trees import LAYOUTS, classify

MTIME = 1_789_462_800
FORMS = ("tar", "tar.gz", "tar.zst", "zip")
Entry = tuple[str, bytes]


def session(text: str) -> bytes:
    """A session with one prompt."""
    item = {"message": {"role": "user", "content": text}, "contextItems": []}
    return json.dumps({"sessionId": "s", "title": "t", "workspaceDirectory": "/w", "history": [item]}).encode()


def tarred(entries: Iterable[Entry | tarfile.TarInfo], form: int = tarfile.PAX_FORMAT) -> bytes:
    """A tar of files, in order; other members as they are given."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form) as archive:
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                archive.addfile(entry)
                continue
            info = tarfile.TarInfo(entry[0])
            info.size, info.mtime = len(entry[1]), MTIME
            archive.addfile(info, io.BytesIO(entry[1]))
    return made.getvalue()


def odd(name: str, kind: bytes, linked: str = "") -> tarfile.TarInfo:
    """A member that is no file."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mtime = kind, linked, MTIME
    return info


def zipped(entries: Iterable[Entry], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip of files, in order."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, data in entries:
            archive.writestr(zipfile.ZipInfo(name, (2026, 9, 15, 9, 0, 0)), data, method)
    return made.getvalue()


def packed(entries: Iterable[Entry], form: str) -> bytes:
    """An archive of one of `FORMS`."""
    if form == "zip":
        return zipped(entries)
    data = tarred(entries)
    if form == "tar.gz":
        return gzip.compress(data, mtime=0)
    if form == "tar.zst":
        return zstandard.ZstdCompressor(write_checksum=True).compress(data)
    return data


def write(path: Path, data: bytes) -> Path:
    """Write a file; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def listed(path: Path, sizes: Sizes | None = None) -> Archive:
    """An archive that was opened."""
    return open_archive(str(path), sizes or Sizes())


def faults(archive: Archive) -> list[tuple[str | None, str, bool]]:
    """Member, reason, and whether something was lost, of the problems of no home."""
    return [(name, problem.reason, problem.text is not None) for name, problem in archive.problems]


def details(archive: Archive) -> list[str | None]:
    """What the problems of no home say is wrong."""
    return [problem.detail for _, problem in archive.problems]


def texts(collections: Iterable[Collection]) -> dict[str, bytes]:
    """Bytes of the artifacts that are read, by `source_file`."""
    return {
        artifact.source_file: artifact.location.read_bytes()
        for found in collections
        for home in found.homes
        for artifact in home.artifacts
        if artifact.source
    }


def opened(*inputs: Path, options: Options | None = None) -> tuple[list[Collection], list[str]]:
    """Collections of inputs, and the lines of errors."""
    collections, errors = discover([str(path) for path in inputs], LAYOUTS, classify, options or Options())
    return collections, [str(error) for error in errors]


Line = dict[str, Any]


def line(path: str, data: bytes = b"", *, home: str = "/home/alice", user: str = "alice", **other: Any) -> Line:
    """A line of a manifest about a file that was collected, unless told otherwise."""
    parts = path.replace("\\", "/").replace("C:", "C").strip("/")
    entry: Line = {"user": user, "home": home, "agent": "continue", "path": path, "archive_path": f"fs/{parts}"}
    times = {"mtime": MTIME, "atime": 0, "ctime": 0, "btime": 0}
    rest = {"uid": 0, "gid": 0, "mode": "0644", "sha256": hashlib.sha256(data).hexdigest(), "secret": False}
    state = {"type": "file", "size": len(data), "status": "collected", "target": "", "error": ""}
    return entry | times | rest | state | other


def collected(lines: Iterable[Line | str], files: Mapping[str, bytes], **head: Any) -> list[Entry]:
    """Members of a collection: its manifest, what the collector says of itself, files by their paths below `fs`."""
    told = {"hostname": "web01", "started": "2026-09-18T09:00:00Z", "finished": "2026-09-18T10:00:00Z"}
    about = {**told, "tool": "gather", "version": "1.4", "platform": "linux", "users": 1, "homes": 1, **head}
    manifest = "".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in lines)
    entries = [("./manifest.jsonl", manifest.encode()), ("./collection.json", json.dumps(about).encode())]
    return entries + [(f"./fs/{path}", data) for path, data in files.items()]
