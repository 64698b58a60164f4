"""The collections of a home in a row: what the lake knows of them, and what a build finds, put in order of time."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from pipeline.history import Held, History, Owner, Phase, Spans
from pipeline.sightings import Seen, Sightings

T = TypeVar("T")


class Found(NamedTuple):
    """What a build finds of a home: the number that the home has in its batch, null if it was not read."""

    number: int | None
    held: Held


@dataclass(frozen=True, slots=True)
class Run:
    """Collections in a row that hold the same: `known` are the positions of their phases in the lake's history.

    They are several where what came between them now comes before or behind. `held` is what a collection of the build
    holds, where one has it; `numbers` tell the home's numbers in the batch, of those that were read.
    """

    phase: Phase
    known: tuple[int, ...]
    held: Held | None = None
    numbers: tuple[int, ...] = ()

    @property
    def before(self) -> int | None:
        """The last of the positions; null for what the lake does not know."""
        return self.known[-1] if self.known else None


@dataclass(frozen=True, slots=True)
class _Element:
    """One time at which a content was seen."""

    seen: Seen
    phase: Phase
    before: int | None = None
    found: Found | None = None


def runs(known: History | None, found: Iterable[Found], ids: Mapping[str, str]) -> list[Run]:
    """The collections of a home over time: those that the lake knows, and those found.

    Two that hold the same at one time are one. Of two contents of one time one in which a file could not be read comes
    first: what was read after it holds. Else their ids order them, which `ids` gives for the numbers of collections of
    this build, as far as they are known.
    """
    phases, news = known.phases if known else (), list(found)
    # What was over before the first of the new ones stays as it is: to look at a year of nights again takes long.
    settled = _since(phases, min((each.held.seen.at for each in news), default=None))
    made = [Run(phase, (before,)) for before, phase in enumerate(phases[:settled])]
    by_content: defaultdict[tuple[tuple[bool, int], str], list[_Element]] = defaultdict(list)
    for element in _elements(phases[settled:], settled, news):
        by_content[element.seen.at, element.phase.digest].append(element)
    for now in sorted(map(_moment, by_content.values()), key=lambda run: _order(run.phase, run.phase.seen.first, ids)):
        if made and made[-1].phase.digest == now.phase.digest:
            made.append(_together(made.pop(), now))
        else:
            made.append(now)
    return made


def _elements(phases: Sequence[Phase], start: int, news: Iterable[Found]) -> Iterator[_Element]:
    for before, phase in enumerate(phases, start):
        yield from (_Element(seen, phase, before) for seen in phase.seen)
    for found in news:
        held = found.held
        phase = Phase(Sightings(b"", (held.seen,)), held.digest, held.listing, held.is_partial)
        yield _Element(held.seen, phase, None, found)


def _moment(same: Sequence[_Element]) -> Run:
    """What was seen of one content at one time."""
    first = same[0]
    ids = tuple(sorted({one for element in same for one in element.seen.ids}))
    before = tuple(sorted({element.before for element in same if element.before is not None}))
    found = [element.found for element in same if element.found is not None]
    numbers = tuple(each.number for each in found if each.number is not None)
    seen = Sightings(b"", (Seen(first.seen.collected_ms, ids),))
    return Run(replace(first.phase, seen=seen), before, found[0].held if found else None, numbers)


def _together(before: Run, now: Run) -> Run:
    """Two runs that hold the same, as one."""
    return Run(
        replace(before.phase, seen=before.phase.seen + now.phase.seen),
        tuple(sorted({*before.known, *now.known})),
        before.held or now.held,
        before.numbers + now.numbers,
    )


_Order = tuple[tuple[bool, int], bool, str, str]


def _order(phase: Phase, seen: Seen, ids: Mapping[str, str]) -> _Order:
    """Place in time; collections whose files differ in their times alone have one id, too."""
    return seen.at, phase.listing is not None, seen.named(ids), phase.digest


def is_in_order(history: History, ids: Mapping[str, str]) -> bool:
    """Whether the collections of a home are in order by the ids that those of this build were given."""
    order = [_order(phase, seen, ids) for phase in history.phases for seen in phase.seen.fresh]
    return order == sorted(order)


def tied(known: History | None, found: Iterable[Found]) -> set[tuple[bool, int]]:
    """Times at which a home was seen with several contents, the order of which rests on the ids of collections."""
    contents: defaultdict[tuple[bool, int], set[str]] = defaultdict(set)
    for each in found:
        contents[each.held.seen.at].add(each.held.digest)
    phases = known.phases if known else ()
    for phase in phases[_since(phases, min(contents, default=None)) :]:
        for at, digests in contents.items():
            if any(seen.at == at for seen in phase.seen):
                digests.add(phase.digest)
    return {at for at, digests in contents.items() if len(digests) > 1}


def _since(phases: Sequence[Phase], at: tuple[bool, int] | None) -> int:
    """Position of the first phase that was not over before a time."""
    return len(phases) if at is None else bisect_left(phases, at, key=lambda phase: phase.seen.last.at)


def composed(identity: str, owner: Owner, known: History | None, line: Sequence[Run]) -> History:
    """The history of a home of which `line` are the runs in order, without what the rows tell (`last_held`)."""
    kept = next((at for at, run in enumerate(line) if run.before != at), len(line))
    files = _until(known.files if known else {}, kept)
    sessions = _until(known.sessions if known else {}, kept)
    for position, run in enumerate(line[kept:], kept):
        held = known.held(run.before, run.phase.seen.first) if known and run.before is not None else run.held
        if held is None:
            raise ValueError("a content that neither the lake nor the build holds")
        _put(files, held.files, position)
        _put(sessions, held.sessions, position)
    phases = tuple(run.phase for run in line)
    return History(identity, *owner, phases, _closed(files), _closed(sessions))


_Ends = dict[T, list[tuple[int, int]]]


def _until(spans: Mapping[T, Spans], position: int) -> _Ends[T]:
    """The stretches before a position."""
    until: _Ends[T] = {}
    for each, ends in spans.items():
        kept = [(first, min(last, position - 1)) for first, last in ends if first < position]
        if kept:
            until[each] = kept
    return until


def _put(spans: _Ends[T], held: Iterable[T], position: int) -> None:
    """Add what is held at a position behind all others."""
    for each in held:
        ends = spans.setdefault(each, [])
        if ends and ends[-1][1] == position - 1:
            ends[-1] = ends[-1][0], position
        else:
            ends.append((position, position))


def _closed(spans: _Ends[T]) -> dict[T, Spans]:
    return {each: tuple(ends) for each, ends in spans.items()}


def is_same_but_for_time(before: History, after: History) -> bool:
    """Whether the rows of a home are what they were: it was only seen again, as it was.

    Rows rest on which contents followed each other, on what is the first collection of each, and on the times around
    those that were followed by others.
    """
    if len(before.phases) != len(after.phases):
        return False
    newest = len(before.phases) - 1
    return all(
        was is now
        or (
            (was.digest, was.label, was.first_ms) == (now.digest, now.label, now.first_ms)
            and (at == newest or was.last_ms == now.last_ms)
        )
        for at, (was, now) in enumerate(zip(before.phases, after.phases, strict=True))
    )
