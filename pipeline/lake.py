"""A lake's directory: builds beside each other, the current one behind a link that is switched in one step."""

import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import cast

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline import history, parts
from pipeline.history import History
from pipeline.parts import Part
from pipeline.schema import TEXT, Table
from pipeline.tables import FORMAT_VERSION

GROUP_ROWS = 65_536
GROUP_BYTES = 32 << 20
"""A row group is closed at so many rows, or so many bytes of text."""

CURRENT, CATALOG, MANIFEST, BUILDS = "current", "lake.duckdb", "manifest.json", "builds"
UNFINISHED = ".unfinished"
SHARE = "share"
"""What the manifest of a share has, and says how it was made."""
OWN = {CURRENT, CATALOG, BUILDS, f".{CURRENT}.new", f".{CATALOG}.new"}
"""Names that a build makes in a lake."""


class LakeError(Exception):
    """A directory that is no lake, or one that this version cannot update; one clear line."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a build says of itself: its directory, the lake's number of buckets, and the homes that it holds."""

    build: Path
    buckets: int
    homes: list[History]


def manifest(lake: Path) -> Manifest | None:
    """Return the manifest of the lake's current build; null where there is no lake yet.

    Raises LakeError where it cannot be used: it is damaged, or of another version of the format.
    """
    if not (lake / CURRENT).is_symlink():
        return None
    build = lake / (lake / CURRENT).readlink()
    try:
        found = json.loads((build / MANIFEST).read_bytes())
        usable = found["format"] == FORMAT_VERSION and found["buckets"] > 0
        homes = [history.loaded(home) for home in found["homes"]] if usable else []
    except (OSError, ValueError, TypeError, LookupError) as error:
        raise LakeError(f"{lake}: the current build has no readable manifest; --replace starts anew") from error
    if not usable:
        raise LakeError(f"{lake}: a lake of another version; --replace starts anew")
    return Manifest(build, found["buckets"], homes)


def check(lake: Path) -> None:
    """Raise LakeError where a directory holds something else than a lake, which a build must not touch."""
    check_place(lake)
    if is_share(lake):
        raise LakeError(f"{lake}: made by `homelake share`, which no build can add to; name another directory")


def check_place(lake: Path) -> None:
    """Raise LakeError where a directory holds what no build of any kind makes in one."""
    if not lake.exists():
        return
    if not lake.is_dir():
        raise LakeError(f"{lake}: not a directory")
    entries = [*lake.iterdir(), *((lake / BUILDS).iterdir() if (lake / BUILDS).is_dir() else ())]
    if not all(entry.name in OWN or _is_build(entry) for entry in entries):
        raise LakeError(f"{lake}: not a lake, and not empty")


def is_share(lake: Path) -> bool:
    """Whether the current build of a lake is a share of another one, by its manifest."""
    try:
        return SHARE in json.loads((lake / CURRENT / MANIFEST).read_bytes())
    except (OSError, ValueError, TypeError):
        return False


def _is_build(entry: Path) -> bool:
    return entry.parent.name == BUILDS and entry.name.removesuffix(UNFINISHED).isdecimal() and entry.is_dir()


@contextmanager
def locked(lake: Path) -> Iterator[None]:
    """Hold a lake for one build. Raises LakeError where another build holds it."""
    builds = lake / BUILDS
    builds.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(builds, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise LakeError(f"{lake}: another build is writing this lake") from error
    finally:
        os.close(descriptor)


def start(lake: Path) -> Path:
    """Make the directory of a new build, and remove what a killed one left."""
    current = _current(lake)
    for entry in (lake / BUILDS).iterdir():
        if not entry.name.isdecimal() or int(entry.name) > current:
            shutil.rmtree(entry)
    build = lake / BUILDS / f"{current + 1}{UNFINISHED}"
    (build / "parts").mkdir(parents=True)
    return build


def _current(lake: Path) -> int:
    """Number of the current build, 0 without one."""
    name = (lake / CURRENT).readlink().name if (lake / CURRENT).is_symlink() else ""
    return int(name) if name.isdecimal() else 0


def write_manifest(build: Path, content: Mapping[str, object]) -> None:
    """Write a build's manifest."""
    text = json.dumps(content, ensure_ascii=False)
    (build / MANIFEST).write_text(text + "\n", encoding="utf-8", errors="backslashreplace")


def finish(build: Path) -> Path:
    """Give an unfinished build its final directory; it is not the current one yet."""
    return build.rename(build.with_name(build.name.removesuffix(UNFINISHED)))


def publish(lake: Path, build: Path, keep: int = 1) -> None:
    """Make a finished build the current one, in one step.

    The one before stays for queries that are running on it; those before that are removed. `keep` is how many stay.
    """
    for name, target in ((CURRENT, f"{BUILDS}/{build.name}"), (CATALOG, f"{CURRENT}/{CATALOG}")):
        fresh = lake / f".{name}.new"
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(target)
        fresh.replace(lake / name)
    for entry in (lake / BUILDS).iterdir():
        if entry.name.isdecimal() and int(entry.name) < int(build.name) - keep:
            shutil.rmtree(entry)


def path_of(table: Table, part: Part | None, bucket: int) -> Path:
    """Path below a build of the file that holds a part's rows; of an empty table without one."""
    name = f"{bucket:02}.parquet"
    if table.time is None:
        return Path(table.name, name)
    agent, month = (part.agent, part.month) if part else ("none", parts.UNKNOWN)
    return Path(table.name, f"agent={agent}", f"month={month}", name)


def write_file(table: Table, rows: Sequence[Part], path: Path, collections: Mapping[str, str]) -> int:
    """Write one file of the lake from parts in order; return its rows.

    `collections` gives the id that each number in `collection_id` stands for.
    """
    return write_tables(table, map(parts.read, rows), path, collections)


def write_tables(table: Table, tables: Iterable[pa.Table], path: Path, collections: Mapping[str, str]) -> int:
    """Write one file of the lake from its rows in order; return how many.

    Row groups are a function of the rows alone, whatever tables they come in. Texts are Arrow's `large_string`.
    """
    rows = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = table.arrow()
    options: dict[str, object] = {
        "compression": "zstd",
        "compression_level": 1,
        "use_dictionary": [column.name for column in table.stored if column.repeats],
        "write_statistics": [column.name for column in table.stored if column.repeats or column.dtype != TEXT],
        "store_schema": True,
        "data_page_size": 1 << 20,
    }
    with pq.ParquetWriter(path, schema, **options) as writer:
        for group in _groups(tables):
            writer.write_table(_stored(group, schema, collections), row_group_size=GROUP_ROWS)
            rows += group.num_rows
    return rows


def _stored(group: pa.Table, schema: pa.Schema, collections: Mapping[str, str]) -> pa.Table:
    """The rows as the file holds them: collections by their ids, in one chunk, of the declared types."""
    if collections:
        at = group.schema.get_field_index("collection_id")
        numbers = pl.Series(values=group.column(at)).replace(dict(collections)).to_arrow()
        group = group.set_column(at, "collection_id", numbers.cast(pa.string()))
    return group.cast(schema).combine_chunks()


def _groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Cut rows into row groups."""
    held: list[pa.Table] = []
    rows = size = 0
    for table in tables:
        sizes = _sizes(table)
        start = 0
        while start < len(sizes):
            # How many further rows fit: `until[k]` is the group's size with the rows up to `start + k`.
            until = sizes[start : start + GROUP_ROWS - rows].cum_sum() + size
            fits = int(until.search_sorted(GROUP_BYTES, side="right"))
            if fits == 0 and rows == 0:
                fits = 1
            held.append(table.slice(start, fits))
            rows, start = rows + fits, start + fits
            size = int(until[fits - 1]) if fits else size
            if start < len(sizes):
                yield pa.concat_tables(held)
                held, rows, size = [], 0, 0
    if rows:
        yield pa.concat_tables(held)


def _sizes(table: pa.Table) -> pl.Series:
    """Bytes of text of each row."""
    texts = [table.column(field.name) for field in table.schema if pa.types.is_large_string(field.type)]
    lengths = [pc.fill_null(pc.binary_length(text), 0) for text in texts]
    return cast("pl.Series", pl.from_arrow(reduce(pc.add, lengths)))
