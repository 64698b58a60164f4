"""Archives of generated homes as a collector makes them: `manifest.jsonl`, `collection.json`, `fs/<original path>`."""

import gzip
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import zstandard

FORMS = ("tar.zst", "tar.gz", "tar.zst", "tar.gz", "tar", "zip")
"""Endings of the archives of a fleet, taken in turn."""

COLLECTED = datetime(2026, 11, 1, 2, 30, tzinfo=UTC)

Member = tuple[str, bytes, float]
"""Name, bytes, modification time (s since 1970)."""


def pack(home: Path, archive: Path, host: str, days: int = 0) -> None:
    """Write the archive of a home, in the form that its ending names, as collected so many days after the first."""
    members = list(_members(home))
    lines = [_line(home.name, member) for member in members]
    finished = (COLLECTED + timedelta(days=days)).isoformat()
    head = {"hostname": host, "started": finished, "finished": finished, "tool": "bench", "version": "1"}
    told = [
        ("manifest.jsonl", b"".join(orjson.dumps(line) + b"\n" for line in lines), 0.0),
        ("collection.json", orjson.dumps(head), 0.0),
    ]
    archive.parent.mkdir(parents=True, exist_ok=True)
    stored = [*told, *((f"fs/home/{home.name}/{name}", data, mtime) for name, data, mtime in members)]
    archive.write_bytes(_zipped(stored) if archive.suffix == ".zip" else _tarred(stored, archive.suffix))


def _line(user: str, member: Member) -> dict[str, object]:
    """What the manifest tells of a file."""
    name, data, mtime = member
    return {
        "user": user,
        "home": f"/home/{user}",
        "path": f"/home/{user}/{name}",
        "archive_path": f"fs/home/{user}/{name}",
        "type": "file",
        "size": len(data),
        "mtime": mtime,
        "sha256": hashlib.sha256(data).hexdigest(),
        "secret": False,
        "status": "collected",
    }


def _members(home: Path) -> Iterator[Member]:
    for path in sorted(home.rglob("*")):
        if path.is_file():
            yield path.relative_to(home).as_posix(), path.read_bytes(), path.stat().st_mtime


def _tarred(members: list[Member], ending: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, data, mtime in members:
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), int(mtime)
            tar.addfile(info, io.BytesIO(data))
    match ending:
        case ".gz":
            return gzip.compress(file.getvalue(), compresslevel=1, mtime=0)
        case ".zst":
            return zstandard.ZstdCompressor(level=1).compress(file.getvalue())
    return file.getvalue()


def _zipped(members: list[Member]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
        for name, data, _ in members:
            made.writestr(name, data)
    return file.getvalue()
