"""Make a share: a lake whose rows are chosen and masked ones of another lake, file by file.

Rows are masked before they are sorted and written, so that neither their order nor a file's statistics tell what they
were; nothing of the other lake's manifest is taken over.
"""

import json
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from pipeline import lake as lakes
from pipeline.catalog import files_of, is_in_path, name, write_catalog
from pipeline.join import selects
from pipeline.lake import LakeError
from pipeline.schema import Table
from pipeline.share.choice import Choice, condition
from pipeline.share.masks import Masking, columns, key_of, pads
from pipeline.tables import FORMAT_VERSION, TABLES

MEMORY = "1GB"
"""What DuckDB may hold before it spills."""
ARROW_ROWS = 2048
"""Rows fetched at a time, DuckDB's own batch; one of them can hold megabytes."""


def share(lake: Path, out: Path, choice: Choice, masking: Masking, key: bytes | None = None) -> dict[str, int]:
    """Write a share of a lake into `out`; return the rows of each table.

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
            if not any(rows.values()):
                raise LakeError(f"{lake}: no row is of what is asked for; nothing was written")
            lakes.write_manifest(folder, _manifest(rows, choice, masking, is_key_given=key is not None))
            shutil.rmtree(folder / "parts")
            final = lakes.finish(folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        write_catalog(final, TABLES, selects("views"))
        lakes.publish(out, final, keep=0)
    return rows


def _build_of(lake: Path) -> Path:
    """Directory of a lake's current build. Raises LakeError where there is none that this version made."""
    build = (lake / lakes.CURRENT).resolve()
    try:
        found = json.loads((build / lakes.MANIFEST).read_bytes())["format"]
    except (OSError, ValueError, TypeError, LookupError) as error:
        raise LakeError(f"{lake}: not a lake") from error
    if found != FORMAT_VERSION:
        raise LakeError(f"{lake}: a lake of another version; build it anew")
    return build


def _check_places(lake: Path, out: Path) -> None:
    """Refuse to write a share where it would touch something else, or where DuckDB cannot open a file."""
    here, there = lake.resolve(), out.resolve()
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
    """Write the files of a table, below the second of `places` from those below the first; return its rows.

    There is a file for each file, but one for those of all buckets where hosts or users are not shown, of which the
    bucket is made.
    """
    build, folder = places
    select = _select(table, choice, masking)
    sources: defaultdict[Path, list[Path]] = defaultdict(list)
    for path in sorted(build.glob(files_of(table))) if choice.has(table) else ():
        place = path.relative_to(build)
        sources[place.with_name("00.parquet") if masking.hides_homes else place].append(path)
    rows = 0
    for place, paths in sources.items():
        agent = place.parts[1].removeprefix("agent=") if table.time else None
        connection.execute("set variable files = ?", [_glob_free(paths)])
        connection.execute("set variable agent = ?", [agent])
        batches = _batches(connection, select)
        first = next(batches, None)
        if first is not None:
            rows += lakes.write_tables(table, _chain(first, batches), folder / place, {})
    if not rows:
        lakes.write_tables(table, (), folder / lakes.path_of(table, None, 0), {})
    return rows


def _select(table: Table, choice: Choice, masking: Masking) -> str:
    """The rows of a table as a share shows them, in the lake's order."""
    path = "".join(f", getvariable('agent') as {name(c.name)}" for c in table.columns if is_in_path(table, c))
    stored = ", ".join(name(column.name) for column in table.stored)
    order = ", ".join(f"{name(column)} nulls last" for column in table.order)
    return (
        f"select {stored} from (select {columns(table, masking)} "  # noqa: S608  (names of the schema, quoted)
        f"from (select *{path} from read_parquet(getvariable('files'), hive_partitioning = false)) "
        f"where {condition(table, choice)}) order by {order}"
    )


def _batches(connection: duckdb.DuckDBPyConnection, select: str) -> Iterator[pa.Table]:
    """Rows of a SELECT, some at a time."""
    for batch in connection.sql(select).to_arrow_reader(ARROW_ROWS):
        if batch.num_rows:
            yield pa.Table.from_batches([batch])


def _chain(first: pa.Table, others: Iterator[pa.Table]) -> Iterator[pa.Table]:
    yield first
    yield from others


def _glob_free(paths: Iterator[Path] | Sequence[Path]) -> list[str]:
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
