"""Which files a build has: of what its batches made, and of what the lake has already."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline import lake as lakes
from pipeline.batch import Result, Work
from pipeline.carried import places
from pipeline.history import History
from pipeline.lake import Files, LakeError, Manifest
from pipeline.parquet import write_file
from pipeline.parts import Part
from pipeline.plan import bucket_of
from pipeline.rewrite import Job, link, make
from pipeline.tables import TABLES
from pipeline.tables.inventory import COLLECTIONS, PROBLEMS
from pipeline.workers import Died, run_all

Streams = dict[int, list[Part]]
"""Parts in the order of the lake, by what tells streams of one file apart."""

_UNHOMED = -1
"""The stream of rows that belong to no home."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What a build puts into its files.

    `results` are those of its batches, in order, `touched` the lake's histories of homes whose rows these replace.
    `collections` and `unhomed` are rows of no home; the latter null where they are the lake's own. `ids` gives what is
    stored for what stands in `collection_id`.
    """

    results: Sequence[Result]
    touched: Sequence[History]
    collections: Sequence[Part]
    unhomed: Sequence[Part] | None
    ids: Mapping[str, str]


def write_files(work: Work, folder: Path, previous: Manifest | None, rows: Rows) -> Files:
    """Make the files of a build in `folder`; a table without rows is one empty file.

    Raises LakeError where a worker dies over one.
    """
    tables = {table.name: table for table in TABLES}
    gone = _gone(work.folder, rows.touched, previous.buckets if previous else 1)
    fresh = _fresh(rows)
    found = {Path(path): entry for path, entry in previous.files.items() if entry[0]} if previous else {}
    old = {path: entry for path, entry in found.items() if path.parts[0] != COLLECTIONS.name}
    files: Files = {}
    jobs = []
    for path in sorted(old.keys() | fresh.keys()):
        table, bucket = tables[path.parts[0]], int(path.stem)
        is_unhomed = table is PROBLEMS and bucket == 0 and rows.unhomed is not None
        if path not in fresh and bucket not in gone and not is_unhomed:
            link(_build(previous) / path, folder / path)
            files[path.as_posix()] = old[path]
            continue
        streams = [made for _, made in sorted(fresh.get(path, {}).items())]
        known = _build(previous) / path if path in old else None
        jobs.append(Job(table, folder, path, streams, known, gone.get(bucket), is_unhomed, rows.ids, work.memory))
    jobs.sort(key=lambda job: -sum(part.rows for stream in job.parts for part in stream))
    for job, made in run_all(make, jobs, min(work.workers, len(jobs))):
        path = job.path
        if isinstance(made, Died):
            raise LakeError(f"a worker was killed twice over {path}: it ran out of memory?")
        if made.rows is None:
            files[path.as_posix()] = old[path]
        elif made.rows:
            files[path.as_posix()] = made.rows, made.counts or []
    for name in tables.keys() - {Path(path).parts[0] for path in files}:
        path = lakes.path_of(tables[name], None, 0)
        files[path.as_posix()] = write_file(tables[name], (), folder / path), []
    return dict(sorted(files.items()))


def _build(previous: Manifest | None) -> Path:
    if previous is None:
        raise ValueError("a new lake has no files yet")
    return previous.build


def _fresh(rows: Rows) -> dict[Path, Streams]:
    """What the build made, by the file that it goes into."""
    fresh: defaultdict[Path, Streams] = defaultdict(dict)
    tables = {table.name: table for table in TABLES}
    for bucket, stream, part in _parts(rows):
        fresh[lakes.path_of(tables[part.table], part, bucket)].setdefault(stream, []).append(part)
    return fresh


def _parts(rows: Rows) -> Iterator[tuple[int, int, Part]]:
    """Parts with their buckets and streams."""
    for result in rows.results:
        yield from ((result.bucket, result.share, part) for part in result.parts)
    for part in (*rows.collections, *(rows.unhomed or ())):
        yield 0, _UNHOMED, part


def _gone(folder: Path, touched: Iterable[History], buckets: int) -> dict[int, Path]:
    """By the bucket, an Arrow file with the places of the lake's rows that are made anew."""
    by_bucket: defaultdict[int, list[History]] = defaultdict(list)
    for history in touched:
        by_bucket[bucket_of((history.host, history.user), buckets)].append(history)
    made: dict[int, Path] = {}
    for bucket, histories in by_bucket.items():
        made[bucket] = folder / f"{bucket:02}.gone.arrow"
        places(histories).write_ipc(made[bucket])
    return made
