"""Make a share: a lake whose rows are chosen and masked ones of another lake, some files at a time.

Rows are masked before they are sorted and written, so that neither their order nor a file's statistics tell what they
were; nothing of the other lake's manifest is taken over.
"""

import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa

from pipeline import lake as lakes
from pipeline.catalog import files_of, is_in_path, name, write_catalog
from pipeline.join import selects
from pipeline.lake import LakeError
from pipeline.parquet import stretch_of, write_file
from pipeline.partition import path_of
from pipeline.paths import resolved
from pipeline.schema import Table
from pipeline.share.choice import Choice, condition, is_undated
from pipeline.share.masks import Masking, columns, key_of, pads
from pipeline.tables import FORMAT_VERSION, TABLES
from pipeline.tables.inventory import COLLECTIONS

MEMORY = "1GB"
"""What DuckDB may hold before it spills."""
QUERY_BYTES = 32 << 20
"""Files are read together until they have so many bytes."""
ARROW_ROWS = 2048
"""Rows fetched at a time, DuckDB's own batch; one of them can hold megabytes."""


@dataclass(frozen=True, slots=True)
class Shared:
    """Rows of a share by table, and how many a span of time left out because they have none."""

    rows: dict[str, int]
    undated: int


def share(lake: Path, out: Path, choice: Choice, masking: Masking, key: bytes | None = None) -> Shared:
    """Write a share of a lake into `out`; return what is in it.

    Without a `key` the lake's own files make one. A share that was there is replaced in one step, and nothing of it is
    kept: it may hold what this one leaves out. Raises LakeError.
    """
    build = _build_of(lake)
    _check_places(lake, out)
    with lakes.locked(out):
        folder = lakes.start(out)
        try:
            with _connected(build, choice, masking, key) as connection:
                rows = {table.name: _write(connection, (build, folder), table, choice, masking) for table in TABLES}
                undated = _undated(connection, build, choice)
            if not any(rows[name] for name in choice.tables or rows.keys() - {COLLECTIONS.name}):
                raise LakeError(f"{lake}: no row is of what is asked for; nothing was written")
            lakes.write_manifest(folder, _manifest(rows, choice, masking, is_key_given=key is not None))
            shutil.rmtree(folder / "parts")
            final = lakes.finish(folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        write_catalog(final, TABLES, selects("views"))
        lakes.publish(out, final, keep=0)
    return Shared(rows, undated)


def _build_of(lake: Path) -> Path:
    """Directory of a lake's current build. Raises LakeError where there is none that this version made."""
    build = resolved(lake / lakes.CURRENT)
    try:
        found = json.loads((build / lakes.MANIFEST).read_bytes())["format"]
    except (OSError, ValueError, TypeError, LookupError) as error:
        raise LakeError(f"{lake}: not a lake") from error
    if found != FORMAT_VERSION:
        raise LakeError(f"{lake}: a lake of another version; build it anew")
    lakes.check_files(build)
    return build


def _check_places(lake: Path, out: Path) -> None:
    """Refuse to write a share where it would touch something else, or where DuckDB cannot open a file."""
    here, there = resolved(lake), resolved(out)
    if there.is_relative_to(here) or here.is_relative_to(there):
        raise LakeError(f"{out}: lies in the lake, or the lake in it; name another directory")
    if "\\" in str(there) or not str(there).isprintable():
        raise LakeError(f"{out}: the path of a lake must be UTF-8 and cannot hold a backslash")
    lakes.check_place(out)
    if (out / lakes.CURRENT).is_symlink() and not lakes.is_share(out):
        raise LakeError(f"{out}: a lake that is no share; name another directory")


@contextmanager
def _connected(build: Path, choice: Choice, masking: Masking, key: bytes | None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with the macros and variables that the columns and conditions of a share ask for."""
    variables: dict[str, object] = {**choice.variables(), "artifact_files": _glob_free(build.glob("artifacts/*"))}
    if masking.is_keyed:
        variables |= pads(key or key_of(path for table in TABLES for path in build.glob(files_of(table))))
    with tempfile.TemporaryDirectory(prefix="homelake-") as spill:
        settings: dict[str, Any] = {"temp_directory": spill, "memory_limit": MEMORY, "arrow_large_buffer_size": True}
        with duckdb.connect(config=settings) as connection:
            for variable, value in variables.items():
                connection.execute(f"set variable {name(variable)} = ?", [value])
            connection.execute(files("sql").joinpath("share.sql").read_text(encoding="utf-8"))
            yield connection


def _write(
    connection: duckdb.DuckDBPyConnection, places: tuple[Path, Path], table: Table, choice: Choice, masking: Masking
) -> int:
    """Write the files of a table, below the second of `places` from those below the first; return its rows."""
    build, folder = places
    select, rows = _select(table, choice, masking), 0
    connection.execute("set variable build = ?", [f"{build}/"])
    for group in _groups(sorted(build.glob(files_of(table))) if choice.has(table) else (), masking):
        connection.execute("set variable files = ?", [_glob_free(group)])
        for place, parts in groupby(_parts(connection, select), key=itemgetter(0)):
            rows += write_file(table, (stretch_of(table, part) for _, part in parts), folder / place)
    if not rows:
        write_file(table, (), folder / path_of(table, 0))
    return rows


def _undated(connection: duckdb.DuckDBPyConnection, build: Path, choice: Choice) -> int:
    """Number of rows that a span leaves out because they have no time."""
    found = 0
    for table in TABLES if choice.has_span and not choice.undated else ():
        condition = is_undated(table) if choice.has(table) else None
        if condition is not None:
            connection.execute("set variable files = ?", [_glob_free(build.glob(files_of(table)))])
            query = f"select count(*) from ({_stored(table)}) where {condition}"  # noqa: S608  (names of the schema)
            (count,) = connection.execute(query).fetchone() or (0,)
            found += count
    return found


def _groups(paths: Iterable[Path], masking: Masking) -> Iterator[list[Path]]:
    """Files to be read by one query, which takes longer to plan than a small file to copy.

    Where hosts or users are not shown, files of one directory stay together: they become one, because the file that a
    home's rows are in is made of its host and user.
    """
    held, size = list[Path](), 0
    for path in paths:
        is_next = not (held and masking.hides_homes and held[-1].parent == path.parent)
        if held and size >= QUERY_BYTES and is_next:
            yield held
            held, size = [], 0
        held.append(path)
        size += path.stat().st_size
    if held:
        yield held


def _select(table: Table, choice: Choice, masking: Masking) -> str:
    """The rows of a table as a share shows them, by the file that they go to, and there in the lake's order."""
    place = "substr(filename, length(getvariable('build')) + 1)"
    if masking.hides_homes:
        place = f"regexp_replace({place}, '[^/]*$', '00.parquet')"
    stored = ", ".join(name(column.name) for column in table.stored)
    order = ", ".join(f"{name(column)} nulls last" for column in table.order)
    return (
        f"select place, {stored} from (select place, {columns(table, masking)} "  # noqa: S608  (names of the schema)
        f"from (select *, {place} as place from ({_stored(table)})) "
        f"where {condition(table, choice)}) order by place, {order}"
    )


def _stored(table: Table) -> str:
    """The rows of a table's files as they are, with the columns that are in a file's path, and its name."""
    in_path = [column for column in table.columns if is_in_path(table, column)]
    part = r"regexp_extract(filename, '/agent=([^/]*)/month=[^/]*/[^/]*$', 1)"
    agent = "".join(f", {part} as {name(column.name)}" for column in in_path)
    read = "read_parquet(getvariable('files'), hive_partitioning = false, filename = true)"
    return f"select *{agent} from {read}"  # noqa: S608  (names of the schema)


def _parts(connection: duckdb.DuckDBPyConnection, select: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """Rows of a SELECT as a file is written from them, some at a time, with the file that they go to."""
    for batch in connection.sql(select).to_arrow_reader(ARROW_ROWS):
        rows, start = pl.DataFrame(pa.Table.from_batches([batch])), 0
        for length, place in rows["place"].rle().struct.unnest().iter_rows():
            yield place, rows.slice(start, length)
            start += length


def _glob_free(paths: Iterable[Path]) -> list[str]:
    """Paths in which DuckDB sees no glob signs."""
    return [re.sub(r"([][*?])", r"[\1]", str(path)) for path in sorted(paths)]


def _manifest(rows: dict[str, int], choice: Choice, masking: Masking, *, is_key_given: bool) -> dict[str, object]:
    """What a share says of itself: how it was made, but not of which hosts and users."""
    how = {
        "texts": masking.texts.value,
        "pseudonyms": masking.pseudonyms,
        "key": "given" if is_key_given else "of the lake" if masking.is_keyed else None,
        "left_out": sorted(".".join(pair) for pair in masking.left_out),
        "tables": sorted(table.name for table in TABLES if choice.has(table)),
        "agents": sorted(choice.agents),
        "is_part_of_homes": bool(choice.hosts or choice.users),
        "since": choice.since.isoformat() if choice.since else None,
        "until": choice.until.isoformat() if choice.until else None,
        "undated": choice.undated,
    }
    return {"format": FORMAT_VERSION, "homelake": version("homelake"), lakes.SHARE: how, "tables": rows}
