"""A build: plan, work through batches, write the bucket files, publish."""

import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pipeline import lake as lakes
from pipeline import unhomed
from pipeline.batch import Result, Work, run
from pipeline.catalog import write_catalog
from pipeline.collected import collection_ids, collection_rows
from pipeline.content import fill
from pipeline.history import History, dumped, named
from pipeline.join import selects
from pipeline.lake import LakeError, Manifest
from pipeline.model import Collection, Home
from pipeline.parts import Part
from pipeline.plan import Plan, default_buckets, plan
from pipeline.source import Source
from pipeline.tables import FORMAT_VERSION, TABLES
from pipeline.textgrid import safe
from pipeline.workers import workers

MEMORY_PER_WORKER = "1GB"
"""What DuckDB may hold in a worker before it spills."""

Progress = Callable[[int, int], None]
"""Told (bytes of input done, bytes in all)."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to build: worker processes, buckets of a new lake (null: by its size), whether to start empty.

    `completion_text` keeps the texts of the editor's completions. With `full` the rows of a collection that the lake
    holds are made anew.
    """

    workers: int = 1
    buckets: int | None = None
    replace: bool = False
    completion_text: bool = False
    full: bool = False


@dataclass(slots=True)
class Summary:
    """What a build did: counts, bytes of input, seconds. Rows by (agent, kind), problems by (reason, lost)."""

    homes: int = 0
    files: int = 0
    bytes: int = 0
    seconds: float = 0.0
    rows: Counter[tuple[str, str]] = field(default_factory=Counter)
    problems: Counter[tuple[str, bool]] = field(default_factory=Counter)
    tables: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    nameless: int = 0
    """Homes without a user."""
    failures: Counter[str] = field(default_factory=Counter)
    """Rows that checks found wrong, by check; empty where all passed."""


def build(
    lake: Path,
    collections: Sequence[Collection],
    sources: Sequence[Source],
    settings: Settings,
    progress: Progress,
) -> Summary:
    """Build a lake from collections; a lake that was there stays whole until the new build is finished.

    Raises LakeError, with one line, for a lake that cannot be updated.
    """
    began = time.monotonic()
    lakes.check(lake)
    with lakes.locked(lake):
        previous = None if settings.replace else lakes.manifest(lake)
        known = previous.homes if previous else []
        collections = _with_users(collections, known)
        planned = plan(collections, _buckets(collections, settings, previous), known)
        try:
            folder = lakes.start(lake)
            with workers(settings.workers) as executor:
                variables = {"completion_text": settings.completion_text}
                held = previous.build if previous else None
                work = Work(sources, folder / "parts", MEMORY_PER_WORKER, variables, held, settings.full)
                fill(executor, (taken.home for batch in planned.batches for taken in batch.homes), work.folder)
                results = _extract(executor, planned, work, progress)
                ids = collection_ids(collections, planned, results)
                results.append(collection_rows(work.folder, collections, ids, held))
                results.append(unhomed.problems(work.folder, collections, ids, held))
                _write(executor, folder, results, ids)
            summary = _summary(planned, results)
            lakes.write_manifest(folder, _manifest(planned, results, ids, summary))
            shutil.rmtree(folder / "parts")
            final = lakes.finish(folder)
            write_catalog(final, TABLES, selects("views"))
            lakes.publish(lake, final)
        except BaseException:
            lakes.clean(lake, ignore_errors=True)
            raise
    summary.seconds = time.monotonic() - began
    return summary


def _with_users(collections: Sequence[Collection], known: Sequence[History]) -> list[Collection]:
    """The collections with the users that the lake knows of homes of which they tell none.

    A place that the lake knows by another user is refused: its rows would be two users'.
    """
    users = {history.identity: history.user for history in known}

    def settled(home: Home) -> Home:
        before = users.get(home.identity, home.user)
        if home.user not in (None, before):
            held = repr(safe(before)) if before else "no user"
            raise LakeError(
                f"a home that the lake holds as one of {held} is now one of {safe(home.user)!r}: use --replace"
            )
        return replace(home, user=before)

    return [replace(found, homes=tuple(map(settled, found.homes))) for found in collections]


def _buckets(collections: Sequence[Collection], settings: Settings, previous: Manifest | None) -> int:
    """Buckets of the lake: fixed when it was made, else as wanted, else by the size of the input."""
    if previous is None:
        return settings.buckets or default_buckets(collections)
    if settings.buckets not in (None, previous.buckets):
        raise LakeError(f"the lake has {previous.buckets} bucket(s); another number needs --replace")
    return previous.buckets


def _extract(executor: Executor, planned: Plan, work: Work, progress: Progress) -> list[Result]:
    """Run the batches; return what they gave, in order."""
    total, done = sum(batch.bytes for batch in planned.batches), 0
    progress(0, total)
    results = []
    for future in as_completed([executor.submit(run, batch, work) for batch in planned.batches]):
        result = future.result()
        results.append(result)
        done += result.bytes
        progress(done, total)
    return sorted(results, key=lambda result: result.batch)


def _write(executor: Executor, folder: Path, results: Sequence[Result], ids: dict[str, str]) -> None:
    """Write the files of the lake; a table without rows is one empty file."""
    files: defaultdict[tuple[str, Path], list[Part]] = defaultdict(list)
    tables = {table.name: table for table in TABLES}
    for result in results:
        for part in result.parts:
            files[part.table, lakes.path_of(tables[part.table], part, result.bucket)].append(part)
    for name in tables.keys() - {name for name, _ in files}:
        files[name, lakes.path_of(tables[name], None, 0)] = []
    futures = [
        executor.submit(lakes.write_file, tables[name], rows, folder / path, ids)
        for (name, path), rows in sorted(files.items(), key=lambda item: -sum(part.rows for part in item[1]))
    ]
    for future in as_completed(futures):
        future.result()


def _summary(planned: Plan, results: Sequence[Result]) -> Summary:
    """Add up what the batches counted."""
    summary = Summary(
        homes=sum(len(batch.homes) for batch in planned.batches),
        files=sum(len(taken.home.artifacts) for batch in planned.batches for taken in batch.homes),
        bytes=sum(batch.bytes for batch in planned.batches),
        nameless=sum(taken.home.user is None for batch in planned.batches for taken in batch.homes),
    )
    for result in results:
        summary.rows.update(result.rows)
        summary.problems.update(result.problems)
        summary.tables.update(result.tables)
        summary.failures.update(result.failures)
        summary.statuses.update(read.status.value for reads in result.reads for read in reads)
    return summary


def _manifest(planned: Plan, results: Sequence[Result], ids: Mapping[str, str], summary: Summary) -> dict[str, Any]:
    """What the next build, and a reader, need to know of this one: also what each check found wrong."""
    homes = [
        {**dumped(named(history, ids)), "bucket": result.bucket} for result in results for history in result.histories
    ]
    return {
        "format": FORMAT_VERSION,
        "homelake": version("homelake"),
        "buckets": planned.buckets,
        "homes": homes,
        "tables": dict(sorted(summary.tables.items())),
        "checks": {name: summary.failures[name] for name in selects("checks")},
    }
