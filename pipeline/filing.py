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

_TABLES = {table.name: table for table in TABLES}


@dataclass(frozen=True, slots=True)
class Rows:
    """What a build puts into its files.

    `results` are those of its batches, in order, `touched` the lake's histories of homes whose rows these replace.
    `collections` and `unhomed` are rows of no home, null where they are the lake's own. `ids` gives what is stored for
    what stands in `collection_id`.
    """

    results: Sequence[Result]
    touched: Sequence[History]
    collections: Sequence[Part] | None
    unhomed: Sequence[Part] | None
    ids: Mapping[str, str]


def write_files(work: Work, folder: Path, previous: Manifest | None, rows: Rows) -> Files:
    """Make the files of a build in `folder`; a table without rows is one empty file.

    Raises LakeError where a worker dies over one.
    """
    gone = _gone(work.folder, rows.touched, previous.buckets if previous else 1)
    fresh = _fresh(rows)
    old = {Path(path): entry for path, entry in previous.files.items() if entry[0]} if previous else {}
    base = previous.build if previous else folder
    files: Files = {}
    jobs = []
    for path in sorted(old.keys() | fresh.keys()):
        table, bucket = _TABLES[path.parts[0]], int(path.stem)
        is_unhomed = table is PROBLEMS and bucket == 0 and rows.unhomed is not None
        touched = gone.get(bucket) if table is not COLLECTIONS else None
        known = base / path if path in old and not (table is COLLECTIONS and path in fresh) else None
        if known and path not in fresh and touched is None and not is_unhomed:
            link(known, folder / path)
            files[path.as_posix()] = old[path]
            continue
        jobs.append(Job(table, folder, path, fresh.get(path, ()), known, touched, is_unhomed, rows.ids))
    jobs.sort(key=lambda job: -sum(part.rows for part in job.parts))
    for job, made in run_all(make, jobs, min(work.workers, len(jobs))):
        if isinstance(made, Died):
            raise LakeError(f"a worker was killed twice over {job.path}: it ran out of memory?")
        if made.rows is None:
            files[job.path.as_posix()] = old[job.path]
        elif made.rows:
            files[job.path.as_posix()] = made.rows, made.counts or []
    for name in _TABLES.keys() - {Path(path).parts[0] for path in files}:
        path = lakes.path_of(_TABLES[name], None, 0)
        if previous and path.as_posix() in previous.files:
            link(base / path, folder / path)
        else:
            write_file(_TABLES[name], (), folder / path)
        files[path.as_posix()] = 0, []
    return dict(sorted(files.items()))


def _fresh(rows: Rows) -> dict[Path, list[Part]]:
    """What the build made, by the file that it goes into."""
    fresh: defaultdict[Path, list[Part]] = defaultdict(list)
    for bucket, part in _parts(rows):
        fresh[lakes.path_of(_TABLES[part.table], part, bucket)].append(part)
    return fresh


def _parts(rows: Rows) -> Iterator[tuple[int, Part]]:
    """Parts with their buckets."""
    for result in rows.results:
        yield from ((result.bucket, part) for part in result.parts)
    for part in (*(rows.collections or ()), *(rows.unhomed or ())):
        yield 0, part


def _gone(folder: Path, touched: Iterable[History], buckets: int) -> dict[int, Path]:
    """By the bucket, an Arrow file with the places of the lake's rows that are made anew."""
    by_bucket: defaultdict[int, list[History]] = defaultdict(list)
    for history in touched:
        by_bucket[bucket_of((history.host, history.user), buckets)].append(history)
    made: dict[int, Path] = {}
    for bucket, histories in by_bucket.items():
        found = places(histories)
        if not found.is_empty():
            made[bucket] = folder / f"{bucket:02}.gone.arrow"
            found.write_ipc(made[bucket])
    return made
