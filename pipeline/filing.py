"""Which files a build has: of what its batches made, and of what the lake has already."""

import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.added import Added
from pipeline.batch import Result, Work
from pipeline.lake import Files, LakeError, Manifest
from pipeline.parquet import GROUP_ROWS, write_file
from pipeline.partition import path_of
from pipeline.parts import Part
from pipeline.rewrite import Job, Makings, make
from pipeline.schema import Table
from pipeline.tables import TABLES
from pipeline.workers import Died, run_all

_TABLES = {table.name: table for table in TABLES}


@dataclass(frozen=True, slots=True)
class Rows:
    """What a build puts into its files.

    `results` are those of its batches, in order, `added` rows of no home. `ids` gives what is stored for what stands in
    `collection_id`.
    """

    results: Sequence[Result]
    added: Sequence[Added]
    ids: Mapping[str, str]


def write_files(work: Work, folder: Path, previous: Manifest | None, rows: Rows) -> Files:
    """Make the files of a build in `folder`; a table without rows is one empty file.

    Raises LakeError where a worker dies over one.
    """
    old = previous.files if previous else {}
    base = previous.build if previous else folder
    made = _makings(work, previous, rows)
    files = {path: entry for path, entry in old.items() if entry[0] and path not in made}
    _link(base, folder, files)
    jobs = [Job(table, folder, some, rows.ids) for table, some in _shared_out(made.values(), old)]
    for job, outcome in run_all(make, jobs, min(work.workers, len(jobs))):
        if isinstance(outcome, Died):
            raise LakeError(f"a worker was killed twice over {job.files[0].path}: it ran out of memory?")
        files.update({each.path: (each.rows, each.counts) for each in outcome})
    for name in _TABLES.keys() - {path.partition("/")[0] for path in files}:
        path = path_of(_TABLES[name], 0)
        if path in old:
            _link(base, folder, [path])
        else:
            write_file(_TABLES[name], (), folder / path)
        files[path] = 0, []
    return dict(sorted(files.items()))


def _makings(work: Work, previous: Manifest | None, rows: Rows) -> dict[str, Makings]:
    """What is to be made, by path: files that get rows, and those of the lake that lose some."""
    fresh, gone = _fresh(rows), _gone(rows)
    made = {}
    for path in gone.keys() | fresh.keys():
        is_known = previous is not None and path in previous.files and previous.files[path][0] > 0
        made[path] = Makings(
            path,
            fresh.get(path, ()),
            previous.build / path if previous and is_known else None,
            gone.get(path, ()),
        )
    return made


def _shared_out(made: Collection[Makings], old: Files) -> Iterator[tuple[Table, list[Makings]]]:
    """Yield files to be made at once, largest first: small ones of a table together, a large one alone."""
    rows = {file.path: sum(part.rows for part in file.parts) + (old[file.path][0] if file.old else 0) for file in made}
    held: defaultdict[str, list[Makings]] = defaultdict(list)
    size = Counter[str]()
    for file in sorted(made, key=lambda file: (-rows[file.path], file.path)):
        name = file.path.partition("/")[0]
        held[name].append(file)
        size[name] += rows[file.path]
        if size[name] >= GROUP_ROWS:
            yield _TABLES[name], held.pop(name)
            del size[name]
    yield from ((_TABLES[name], some) for name, some in held.items())


def _link(build: Path, folder: Path, paths: Iterable[str]) -> None:
    """Give files of a build their places in another one; copies where the file system has no links."""
    made = set[str]()
    for path in paths:
        above = path.rpartition("/")[0]
        if above not in made:
            (folder / above).mkdir(parents=True, exist_ok=True)
            made.add(above)
        try:
            os.link(f"{build}/{path}", f"{folder}/{path}")
        except OSError:
            shutil.copy2(f"{build}/{path}", f"{folder}/{path}")


def _fresh(rows: Rows) -> dict[str, list[Part]]:
    """What the build made, by the file that it goes into."""
    fresh: defaultdict[str, list[Part]] = defaultdict(list)
    for bucket, part in _parts(rows):
        fresh[path_of(_TABLES[part.table], bucket, part.agent, part.month)].append(part)
    return fresh


def _parts(rows: Rows) -> Iterator[tuple[int, Part]]:
    """Parts with their buckets."""
    for result in rows.results:
        yield from ((result.bucket, part) for part in result.parts)
    for each in rows.added:
        yield from ((0, part) for part in each.parts)


def _gone(rows: Rows) -> dict[str, list[Path]]:
    """By the file of the lake that loses rows, the Arrow files with the places or the keys of these."""
    gone: defaultdict[str, list[Path]] = defaultdict(list)
    for result in rows.results:
        for path, places in result.losing.items():
            gone[path].append(places)
    for each in rows.added:
        if each.gone is not None:
            gone[each.path].append(each.gone)
    return gone
