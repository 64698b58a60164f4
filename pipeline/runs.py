"""The collections of a home in a row: what the lake knows of them, and what a build finds, put in order of time."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pipeline.history import Held, History, Seen


class Found(NamedTuple):
    """What a build finds of a home: the number that the home has in its batch, null if it was not read."""

    number: int | None
    held: Held


@dataclass(frozen=True, slots=True)
class Run:
    """Collections in a row that hold the same: `before` is its position in the history as the lake has it.

    `numbers` tell the home's numbers in the batch, of those that were read.
    """

    held: Held
    before: int | None
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Element:
    """One time at which a content was seen."""

    before: int | None
    number: int | None
    seen: Seen
    held: Held


def runs(known: History | None, found: Iterable[Found], ids: Mapping[str, str]) -> list[Run]:
    """The collections of a home over time: those that the lake knows, and those found.

    Two that hold the same at one time are one. Of two contents of one time one in which a file could not be read comes
    first: what was read after it holds. Else their ids order them, which `ids` gives for the numbers of collections of
    this build, as far as they are known.
    """
    elements = [
        *(
            _Element(before, None, seen, held)
            for before, held in enumerate(known.held if known else ())
            for seen in held.seen
        ),
        *(_Element(None, number, seen, held) for number, held in found for seen in held.seen),
    ]
    by_content: defaultdict[tuple[tuple[bool, int], str], list[_Element]] = defaultdict(list)
    for element in elements:
        by_content[element.seen.at, element.held.digest].append(element)
    made: list[Run] = []
    for now in sorted(map(_moment, by_content.values()), key=lambda run: _order(run.held, run.held.seen[0], ids)):
        if made and made[-1].held.digest == now.held.digest:
            last = made.pop()
            held = replace(last.held, seen=last.held.seen + now.held.seen)
            before = last.before if now.before is None else now.before
            now = Run(held, before, last.numbers + now.numbers)
        made.append(now)
    return made


def _moment(same: Sequence[_Element]) -> Run:
    """What was seen of one content at one time."""
    first = same[0]
    ids = tuple(sorted({one for element in same for one in element.seen.ids}))
    before = next((element.before for element in same if element.before is not None), None)
    numbers = tuple(element.number for element in same if element.number is not None)
    return Run(replace(first.held, seen=(Seen(first.seen.collected_ms, ids),)), before, numbers)


_Order = tuple[tuple[bool, int], bool, str]


def _order(held: Held, seen: Seen, ids: Mapping[str, str]) -> _Order:
    return seen.at, held.listing is not None, seen.named(ids)


def is_in_order(history: History, ids: Mapping[str, str]) -> bool:
    """Whether the collections of a home are in order by the ids that those of this build were given."""
    order = [_order(held, seen, ids) for held in history.held for seen in held.seen]
    return order == sorted(order)


def tied(known: History | None, found: Iterable[Found]) -> set[tuple[bool, int]]:
    """Times at which a home was seen with several contents, the order of which rests on the ids of collections."""
    contents: defaultdict[tuple[bool, int], set[str]] = defaultdict(set)
    for held in (*(known.held if known else ()), *(each.held for each in found)):
        for seen in held.seen:
            contents[seen.at].add(held.digest)
    return {at for at, digests in contents.items() if len(digests) > 1}


def is_same_but_for_time(before: History, after: History) -> bool:
    """Whether the rows of a home are what they were: it was only seen again, as it was.

    Rows rest on which contents followed each other, on what is the first collection of each, and on the times around
    those that were followed by others.
    """
    firsts = [[(held.digest, held.label, held.first_ms) for held in each.held] for each in (before, after)]
    lasts = [[held.last_ms for held in each.held[:-1]] for each in (before, after)]
    return firsts[0] == firsts[1] and lasts[0] == lasts[1]
