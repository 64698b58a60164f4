"""A build: tell what changed, work through it in batches, write the files that it touches, publish."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pipeline import lake as lakes
from pipeline import memory as memories
from pipeline import unhomed
from pipeline.added import added
from pipeline.batch import Batch, Result, Work, run
from pipeline.catalog import write_catalog
from pipeline.changes import Changes, Working, find_changes
from pipeline.collected import collection_ids, collection_rows, labels
from pipeline.entries import dumped
from pipeline.filing import Rows, write_files
from pipeline.history import History, Holding, named
from pipeline.join import selects
from pipeline.lake import Files, LakeError, Manifest
from pipeline.memory import Gate, Memory
from pipeline.model import Collection, Home
from pipeline.plan import bucket_of, default_buckets, plan
from pipeline.runs import is_in_order
from pipeline.source import Source
from pipeline.summary import Summary
from pipeline.tables import FORMAT_VERSION, TABLES
from pipeline.tables.inventory import COLLECTIONS, PROBLEMS
from pipeline.textgrid import safe
from pipeline.workers import Died, run_all

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


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a build is given: collections, and the archives that were not opened, or were, by `gate`.

    `known` is the build by which the gate knows archives.
    """

    collections: Sequence[Collection]
    gate: Gate = field(default_factory=lambda: Gate({}, ()))
    known: Path | None = None


def known(lake: Path, settings: Settings) -> tuple[Path | None, Memory]:
    """The build of a lake, and what it remembers of inputs that the next one need not open.

    Raises LakeError, with one line, for a lake that cannot be updated.
    """
    lakes.check(lake)
    previous = None if settings.replace or settings.full else lakes.manifest(lake)
    return (previous.build, memories.load(previous.build)) if previous else (None, Memory())


def build(lake: Path, inputs: Inputs, sources: Sequence[Source], settings: Settings, progress: Progress) -> Summary:
    """Build a lake from collections; a lake that was there stays whole until the new build is finished.

    Raises LakeError, with one line, for a lake that cannot be updated.
    """
    began = time.monotonic()
    lakes.check(lake)
    with lakes.locked(lake):
        previous = None if settings.replace else lakes.manifest(lake)
        if inputs.gate.unchanged and (previous is None or previous.build != inputs.known):
            raise LakeError(f"{lake}: another build changed the lake while the inputs were listed; try again")
        if previous is not None:
            lakes.check_files(previous.build, previous.files)
        try:
            folder = lakes.start(lake)
            made = _Build(folder, previous, sources, settings)
            summary = made.run(_with_users(inputs.collections, made.homes), progress)
            lakes.write_manifest(folder, made.manifest(summary))
            memories.write(folder, made.memory(inputs.gate))
            shutil.rmtree(folder / "parts")
            final = lakes.finish(folder)
            write_catalog(final, TABLES, selects("views"), previous.build if previous else None)
            lakes.publish(lake, final)
        except BaseException:
            lakes.clean(lake, ignore_errors=True)
            raise
    summary.archives = len(inputs.gate.unchanged)
    summary.seconds = time.monotonic() - began
    return summary


class _Build:
    """One build in its folder, on the lake as it was."""

    def __init__(self, folder: Path, previous: Manifest | None, sources: Sequence[Source], settings: Settings) -> None:
        self.homes = previous.homes if previous else []
        self._folder = folder
        self._previous = previous
        self._sources = sources
        self._settings = settings
        self._before = Memory() if previous is None else memories.load(previous.build)
        self._changes = Changes()
        self._results: list[Result] = []
        self._histories: list[History] = []
        self._files: Files = {}
        self._buckets = 0

    def run(self, collections: Sequence[Collection], progress: Progress) -> Summary:
        """Read what changed, and make the files of the build."""
        settings = self._settings
        self._buckets = _buckets(collections, settings, self._previous)
        held = self._previous.build if self._previous else None
        variables = {"completion_text": settings.completion_text}
        work = Work(
            settings.workers,
            self._sources,
            self._folder / "parts",
            MEMORY_PER_WORKER,
            variables,
            held,
            settings.full,
        )
        working = Working(work.workers, work.folder)
        self._changes = find_changes(working, collections, self.homes, None if settings.full else self._before)
        batches = plan(self._changes.read, self._buckets, self._changes.touched, self._changes.holdings())
        self._work_through(batches, work, progress)
        ids = collection_ids(collections, self._holdings(), range(len(collections)))
        by_number = {str(number): name for number, name in ids.items()}
        if again := self._out_of_order(by_number):
            redone = [batch for batch in batches if batch.number in again]
            self._work_through(redone, replace(work, ids=by_number), _no_progress)
        found = [history for result in self._results for history in result.histories]
        stored = labels(ids, [*found, *self._changes.settled])
        self._histories = [named(history, stored) for history in (*found, *self._changes.settled)]
        rows = Rows(
            self._results,
            [
                added(COLLECTIONS, collection_rows(collections, ids), work.folder, held),
                added(PROBLEMS, unhomed.problems(collections, self._changes.failed, ids), work.folder, held),
            ],
            stored,
        )
        self._files = write_files(work, self._folder, self._previous, rows)
        return self._summary()

    def _work_through(self, batches: Sequence[Batch], work: Work, progress: Progress) -> None:
        """Run batches, some of which may have been run before; keep what they gave, in order."""
        results, failed = _extract(batches, work, progress)
        numbers = {batch.number for batch in batches}
        kept = [result for result in self._results if result.batch not in numbers]
        self._results = sorted([*kept, *results], key=lambda result: result.batch)
        self._changes.fail(failed)

    def _out_of_order(self, ids: Mapping[str, str]) -> set[int]:
        """Batches with collections of one home and time in another order than that of their ids.

        The ids are not known before all of a collection was read.
        """
        return {
            result.batch
            for result in self._results
            if not all(is_in_order(history, ids) for history in result.histories)
        }

    def _holdings(self) -> Iterator[Holding]:
        """What the collections hold of their homes."""
        yield from self._changes.holdings()
        for result in self._results:
            yield from result.read

    def memory(self, gate: Gate) -> Memory:
        """What the next build need not open. Archives are to be read again where a file could not be."""
        held = list(self._holdings())
        homes = memories.remembered(
            (each.identity, self._changes.marks.get((each.collection, each.identity)), each.held.digest)
            for each in held
        )
        is_whole = not self._changes.failed and all(each.held.listing for each in held)
        return self._before.after(Memory(homes, gate.unchanged | (gate.changed if is_whole else {})))

    def _summary(self) -> Summary:
        """Add up what was read, and what the lake holds."""
        read = [taken.home for taken in self._changes.read]
        has_hosts = any(history.host is not None for history in self._histories)
        summary = Summary(
            homes=len(read) + len(self._changes.same),
            unchanged=len(self._changes.same),
            files=sum(len(home.artifacts) for home in read),
            bytes=sum(home.bytes for home in read),
            nameless=sum(home.user is None for home in read),
            hostless=sum(home.host is None for home in read) if has_hosts else 0,
            failed=len(self._changes.failed),
        )
        summary.count(self._files)
        for result in self._results:
            summary.failures.update(result.failures)
        if self._previous is not None and self._changes.settled:
            summary.failures.update({name: rows for name, rows in self._previous.failures.items() if rows})
        return summary

    def manifest(self, summary: Summary) -> dict[str, Any]:
        """What the next build, and a reader, need to know of this one: also what each check found wrong."""
        homes = sorted(self._histories, key=lambda history: history.identity)
        return {
            "format": FORMAT_VERSION,
            "homelake": version("homelake"),
            "buckets": self._buckets,
            "homes": [dumped(history, bucket_of(history.owner, self._buckets)) for history in homes],
            "tables": dict(sorted(summary.tables.items())),
            "files": self._files,
            "checks": {name: summary.failures[name] for name in selects("checks")},
        }


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


def _extract(batches: Sequence[Batch], work: Work, progress: Progress) -> tuple[list[Result], list[Batch]]:
    """Run the batches; return what they gave, and those over which a worker died."""
    total, done = sum(batch.bytes for batch in batches), 0
    progress(0, total)
    results, failed = list[Result](), list[Batch]()
    with closing(run_all(partial(run, work), batches, work.workers)) as outcomes:
        for batch, result in outcomes:
            if isinstance(result, Died):
                failed.append(batch)
            else:
                results.append(result)
            done += batch.bytes
            progress(done, total)
    return results, failed


def _no_progress(done: int, total: int) -> None:
    """For work that was told of before."""
