"""A build: plan, work through batches, write the bucket files, publish."""

import hashlib
import json
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from pipeline import lake as lakes
from pipeline import parts, unhomed
from pipeline.batch import Result, Work, run
from pipeline.catalog import write_catalog
from pipeline.content import fill
from pipeline.join import selects
from pipeline.lake import LakeError
from pipeline.model import Collection
from pipeline.parts import Part
from pipeline.plan import Plan, default_buckets, plan
from pipeline.source import Source
from pipeline.staging import conform
from pipeline.tables import FORMAT_VERSION, TABLES
from pipeline.tables.inventory import COLLECTIONS
from pipeline.workers import workers

MEMORY_PER_WORKER = "1GB"
"""What DuckDB may hold in a worker before it spills."""

Progress = Callable[[int, int], None]
"""Told (bytes of input done, bytes in all)."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to build: worker processes, buckets of a new lake (null: by its size), whether to start empty.

    `completion_text` keeps the texts of the editor's completions.
    """

    workers: int = 1
    buckets: int | None = None
    replace: bool = False
    completion_text: bool = False


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
        _refuse_losses(lake, collections, previous)
        planned = plan(collections, _buckets(collections, settings, previous))
        folder = lakes.start(lake)
        try:
            with workers(settings.workers) as executor:
                variables = {"completion_text": settings.completion_text}
                work = Work(sources, folder / "parts", MEMORY_PER_WORKER, variables)
                fill(executor, (home for batch in planned.batches for _, home in batch.homes), work.folder)
                results = _extract(executor, planned, work, progress)
                content = _manifest(planned, results)
                _refuse_changes(lake, content, previous)
                ids = _collection_ids(collections, planned, results)
                results.append(_collections(folder / "parts", collections, ids))
                results.append(unhomed.problems(folder / "parts", collections, ids))
                _write(executor, folder, results, ids)
            summary = _summary(planned, results)
            lakes.write_manifest(folder, {**content, **_outcome(summary)})
            shutil.rmtree(folder / "parts")
            final = lakes.finish(folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        write_catalog(final, TABLES, selects("views"))
        lakes.publish(lake, final)
    summary.seconds = time.monotonic() - began
    return summary


def _refuse_losses(lake: Path, collections: Sequence[Collection], previous: dict[str, Any] | None) -> None:
    """Refuse what would lose rows: homes of the lake that are not read again, and two collections of one home."""
    homes = Counter(home.identity for collection in collections for home in collection.homes)
    if homes and homes.most_common(1)[0][1] > 1:
        raise LakeError("two collections of one home in one build: build a lake from each")
    missing = {home["identity"] for home in previous["homes"]} - homes.keys() if previous else set()
    if missing:
        raise LakeError(
            f"{lake} holds {len(missing)} home(s) that the inputs lack: name their inputs, too, or use --replace"
        )


def _refuse_changes(lake: Path, content: dict[str, Any], previous: dict[str, Any] | None) -> None:
    """Refuse to put a later collection of a home in the place of an earlier one: rows of that would be lost."""
    known = {home["identity"]: home["artifacts"] for home in previous["homes"]} if previous else {}
    changed = sum(known.get(home["identity"], home["artifacts"]) != home["artifacts"] for home in content["homes"])
    if changed:
        raise LakeError(
            f"{lake} holds an earlier collection of {changed} home(s), which would be lost: "
            "build a lake beside it, or use --replace"
        )


def _buckets(collections: Sequence[Collection], settings: Settings, previous: dict[str, Any] | None) -> int:
    """Buckets of the lake: fixed when it was made, else as wanted, else by the size of the input."""
    if previous is None:
        return settings.buckets or default_buckets(collections)
    made: int = previous["buckets"]
    if settings.buckets not in (None, made):
        raise LakeError(f"the lake has {made} bucket(s); another number needs --replace")
    return made


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


def _collection_ids(collections: Sequence[Collection], planned: Plan, results: Sequence[Result]) -> dict[str, str]:
    """Ids of collections, by their number: hashes of host, time and the artifacts' paths, sizes and hashes."""
    listed: defaultdict[int, list[tuple[str, int | None, str | None]]] = defaultdict(list)
    for batch, result in zip(planned.batches, results, strict=True):
        for (number, home), reads in zip(batch.homes, result.reads, strict=True):
            for artifact, read in zip(home.artifacts, reads, strict=True):
                listed[number].append((artifact.source_file, artifact.size, read.sha256))
    return {
        str(number): _hash([found.host, found.collected_ms, sorted(listed[number], key=repr)])
        for number, found in enumerate(collections)
    }


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]


def _collections(folder: Path, collections: Sequence[Collection], ids: dict[str, str]) -> Result:
    """The rows of the table `collections`, as a batch would leave them."""
    rows = [
        {
            "collection_id": ids[str(number)],
            "input": found.input,
            "host": found.host,
            "collected_utc": found.collected_ms,
            "tool": found.tool,
            "version": found.version,
            "homes": len(found.homes),
            "files": sum(len(home.artifacts) for home in found.homes),
            "bytes": sum(artifact.size or 0 for home in found.homes for artifact in home.artifacts),
        }
        for number, found in enumerate(collections)
    ]
    frame = pl.DataFrame(rows, schema={**COLLECTIONS.polars, "collected_utc": pl.Int64()})
    made = parts.write(COLLECTIONS, conform(frame, COLLECTIONS), folder / "collections.arrow")
    return Result(-1, 0, made, tables=Counter({COLLECTIONS.name: len(rows)}))


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
        files=sum(len(home.artifacts) for batch in planned.batches for _, home in batch.homes),
        bytes=sum(batch.bytes for batch in planned.batches),
        nameless=sum(home.user is None for batch in planned.batches for _, home in batch.homes),
    )
    for result in results:
        summary.rows.update(result.rows)
        summary.problems.update(result.problems)
        summary.tables.update(result.tables)
        summary.failures.update(result.failures)
        summary.statuses.update(read.status.value for reads in result.reads for read in reads)
    return summary


def _outcome(summary: Summary) -> dict[str, Any]:
    """Rows of each table, and of each check the rows that it found wrong."""
    checks = {name: summary.failures[name] for name in selects("checks")}
    return {"tables": dict(sorted(summary.tables.items())), "checks": checks}


def _manifest(planned: Plan, results: Sequence[Result]) -> dict[str, Any]:
    """What the next build, and a reader, need to know of this one."""
    homes = [
        {
            "identity": home.identity,
            "host": home.host,
            "user": home.user,
            "bucket": batch.bucket,
            "artifacts": [
                {"path": artifact.home_path, "bytes": artifact.size, "sha256": read.sha256}
                for artifact, read in zip(home.artifacts, reads, strict=True)
            ],
        }
        for batch, result in zip(planned.batches, results, strict=True)
        for (_, home), reads in zip(batch.homes, result.reads, strict=True)
    ]
    return {
        "format": FORMAT_VERSION,
        "homelake": version("homelake"),
        "buckets": planned.buckets,
        "homes": homes,
    }
