"""What of the inputs is new to a lake: homes that hold what it knows of them need not be read."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipeline.batch import Batch, Taken
from pipeline.collected import collection_ids
from pipeline.content import fill
from pipeline.history import Held, History, Holding, listing_of
from pipeline.linked import linked
from pipeline.memory import Memory, fingerprint
from pipeline.model import Collection, Content
from pipeline.runs import Found, is_same_but_for_time, runs, tied
from pipeline.sightings import Seen
from pipeline.workers import run_all


@dataclass(frozen=True, slots=True)
class Working:
    """How to work: by so many workers, with a folder for what is unpacked."""

    workers: int
    folder: Path


@dataclass(slots=True)
class Changes:
    """What a build has to do: homes to read, and those that hold what the lake knows, each as a collection has it.

    `marks` are fingerprints by collection and identity. `settled` are the histories of homes whose rows stay as they
    are, `touched` the lake's histories of those that change. `failed` are homes over which a worker died.
    """

    read: list[Taken] = field(default_factory=list)
    same: list[tuple[Taken, Held]] = field(default_factory=list)
    marks: dict[tuple[int, str], str | None] = field(default_factory=dict)
    settled: list[History] = field(default_factory=list)
    touched: list[History] = field(default_factory=list)
    failed: list[Taken] = field(default_factory=list)

    def holdings(self) -> Iterable[Holding]:
        """What the collections hold of the homes that are not read."""
        return (taken.holding(held) for taken, held in self.same)

    def fail(self, failed: Iterable[Batch]) -> None:
        """Take homes back that could not be worked on: what the lake has of them stays as it is."""
        for batch in failed:
            kept = {history.identity for history in batch.known}
            self.settled.extend(batch.known)
            self.touched = [history for history in self.touched if history.identity not in kept]
            self.failed.extend(batch.homes)
            lost = {history.identity for history in batch.same}
            self.same = [(taken, held) for taken, held in self.same if taken.home.identity not in lost]


def find_changes(
    work: Working, collections: Sequence[Collection], known: Sequence[History], memory: Memory | None
) -> Changes:
    """Tell which homes are to be read, by what the lake knows and remembers of them.

    Without a memory all are read. What is needed of archives is unpacked.
    """
    taken = [
        Taken(number, found.collected_ms, home) for number, found in enumerate(collections) for home in found.homes
    ]
    histories = {history.identity: history for history in known}
    changes = Changes(marks={(each.collection, each.home.identity): fingerprint(each.home) for each in taken})
    found = dict[int, Held]() if memory is None else _remembered(taken, histories, changes.marks, memory)
    fill(work.workers, (each.home for at, each in enumerate(taken) if at not in found), work.folder)
    if memory is not None:
        found.update(_compared(work.workers, taken, histories, found))
    by_home: defaultdict[str, list[int]] = defaultdict(list)
    for at, each in enumerate(taken):
        by_home[each.home.identity].append(at)
    for identity, places in by_home.items():
        known_places = {at: found[at] for at in places if at in found}
        kept = _in_a_row(histories.get(identity), {at: taken[at] for at in places}, known_places)
        changes.same.extend((taken[at], found[at]) for at in places if at in kept)
        changes.read.extend(taken[at] for at in places if at not in kept)
    _settle(changes, collections, histories)
    return changes


def _remembered(
    taken: Sequence[Taken],
    histories: Mapping[str, History],
    marks: Mapping[tuple[int, str], str | None],
    memory: Memory,
) -> dict[int, Held]:
    """Homes whose files nobody touched since a build read them."""
    found: dict[int, Held] = {}
    for at, each in enumerate(taken):
        identity = each.home.identity
        digest = memory.homes.get(identity, {}).get(marks[each.collection, identity] or "")
        if digest is not None and identity in histories:
            listing = listing_of(each.home)
            history = histories[identity]
            position = next((place for place, phase in enumerate(history.phases) if phase.digest == digest), None)
            if position is not None and history.phases[position].listing == listing:
                found[at] = history.held(position, each.seen)
    return found


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Files of the home at place `at`, and the hashes that they have if it holds `held`."""

    at: int
    held: Held
    files: Sequence[tuple[Content, str]]


def _compared(
    count: int, taken: Sequence[Taken], histories: Mapping[str, History], found: Mapping[int, Held]
) -> dict[int, Held]:
    """Homes whose files have the bytes that a collection of them had."""
    jobs = []
    for at, each in enumerate(taken):
        history = histories.get(each.home.identity)
        if at in found or history is None:
            continue
        listing = listing_of(each.home)
        candidates = {phase.digest: place for place, phase in enumerate(history.phases) if phase.listing == listing}
        contents = {artifact.home_path: artifact.location for artifact in each.home.artifacts}
        for held in (history.held(place, each.seen) for place in candidates.values()):
            files = [(contents[file.home_path], file.sha256) for file in held.files if file.sha256]
            jobs.append(_Comparison(at, held, files))
    return {job.at: job.held for job, is_held in run_all(_is_held, jobs, min(count, len(jobs))) if is_held is True}


def _is_held(job: _Comparison) -> bool:
    """Whether files have the bytes with these SHA-256 hashes."""
    try:
        return all(hashlib.sha256(content.read_bytes()).hexdigest() == sha256 for content, sha256 in job.files)
    except OSError:
        return False


def _in_a_row(history: History | None, taken: Mapping[int, Taken], found: Mapping[int, Held]) -> set[int]:
    """Those of a home's collections whose contents follow, or go before, the same contents in the lake.

    The rows of such are there. Where another content came between they are read: it may have taken rows away. So are
    those of a time at which there were several contents, and those in a row with one of them: which of them came first
    is not known yet.
    """
    if history is None:
        return set()
    line = [Found(at, found[at] if at in found else _unknown(each.seen, at)) for at, each in taken.items()]
    unclear = tied(history, line)
    followed = {
        at
        for run in runs(history, line, {})
        if run.before is not None and not (unclear and any(seen.at in unclear for seen in run.phase.seen))
        for at in run.numbers
    }
    return followed & found.keys()


def _unknown(seen: Seen, at: int) -> Held:
    """A content that is not known yet."""
    return Held(seen, str(at), None, (), ())


def _settle(changes: Changes, collections: Sequence[Collection], histories: Mapping[str, History]) -> None:
    """Tell the homes whose rows change, and give the others the collections that saw them again."""
    read = {each.collection for each in changes.read}
    whole = set(range(len(collections))) - read
    ids = collection_ids(collections, changes.holdings(), whole)
    changing = {each.home.identity for each in changes.read}
    seen: defaultdict[str, list[Found]] = defaultdict(list)
    for taken, held in changes.same:
        now = Seen(taken.collected_ms, (ids.get(taken.collection, str(taken.collection)),))
        seen[taken.home.identity].append(Found(None, replace(held, seen=now)))
    after = {
        identity: replace(history, phases=tuple(run.phase for run in runs(history, seen[identity], {})))
        if identity in seen
        else history
        for identity, history in histories.items()
    }
    leaders = linked(histories.values(), (each.home for each in changes.read))
    changing |= {each for each, history in histories.items() if not is_same_but_for_time(history, after[each])}
    changing_leaders = {leaders[each] for each in changing & leaders.keys()}
    changing |= {each for each, leader in leaders.items() if leader in changing_leaders}
    for identity, history in histories.items():
        if identity in changing:
            changes.touched.append(history)
        else:
            changes.settled.append(after[identity])
