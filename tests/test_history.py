"""What a lake remembers of a home: collections in any order, one at a time or together, give one history."""

import hashlib
from collections.abc import Sequence
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import entries, sightings
from pipeline.history import Held, History, Version, absences, first_labels, last_positions, named
from pipeline.runs import Found, composed, runs
from pipeline.sightings import Seen, Sightings

OWNER = ("box", "ann")


def held(collected_ms: int | None, files: frozenset[str]) -> Held:
    """What a collection of a time holds: files of one letter, each with the bytes that the letter's case says."""
    name = hashlib.sha256(repr((collected_ms, sorted(files))).encode()).hexdigest()[:32]
    versions = tuple(Version(file.lower(), f"/{file.lower()}", 1, file) for file in sorted(files))
    return Held(Seen(collected_ms, (name,)), repr(sorted(files)), "", versions, tuple(("x", file) for file in files))


def added(known: History | None, found: Sequence[Held]) -> History:
    """A history after a build that finds something, as the next build reads it."""
    line = runs(known, [Found(number, each) for number, each in enumerate(found)], {})
    history = named(composed("home", OWNER, known, line), {})
    return entries.loaded(entries.dumped(history, 0))


HELD = st.builds(
    held,
    st.none() | st.integers(-3, 30),
    st.frozensets(st.sampled_from("aAbBcC")).filter(lambda files: len({file.lower() for file in files}) == len(files)),
)


@given(found=st.lists(HELD, min_size=1, max_size=12), data=st.data())
@settings(max_examples=200, deadline=None)
def test_any_order_of_collections_gives_one_history(found: list[Held], data: st.DataObject) -> None:
    history = None
    shuffled = data.draw(st.permutations(found))
    while shuffled:
        count = data.draw(st.integers(1, len(shuffled)))
        history = added(history, shuffled[:count])
        shuffled = shuffled[count:]

    assert history == added(None, found)


@given(found=st.lists(HELD, min_size=1, max_size=12))
@settings(max_examples=200, deadline=None)
def test_a_history_tells_what_each_collection_held(found: list[Held]) -> None:
    history = added(None, found)

    ordered = sorted({each.seen.ids: each for each in found}.values(), key=lambda each: (each.seen.at, each.seen.ids))
    phases = [list(same) for _, same in groupby(ordered, key=lambda each: each.digest)]
    assert [list(phase.seen) for phase in history.phases] == [[each.seen for each in phase] for phase in phases]
    for position, (first, *_) in enumerate(phases):
        told = history.held(position, first.seen)
        assert (set(told.files), set(told.sessions)) == (set(first.files), set(first.sessions))
    labels = {file.content: phase[0].seen.ids[0] for phase in reversed(phases) for file in phase[0].files}
    assert first_labels(history) == labels
    assert last_positions(history) == {
        (labels[file.content], file.home_path, file.source_file, position == len(phases) - 1): position
        for position, phase in enumerate(phases)
        for file in phase[0].files
    }
    last = {session: position for position, phase in enumerate(phases) for session in phase[0].sessions}
    assert sorted(absences(history), key=repr) == sorted(
        (
            (*session, phases[position][-1].seen.collected_ms, phases[position + 1][0].seen.collected_ms)
            for session, position in last.items()
            if position + 1 < len(phases)
        ),
        key=repr,
    )


def test_what_is_over_is_not_taken_apart() -> None:
    """A night adds to a history of a thousand nights without a look at each of them."""
    nights = [held(night, frozenset("a")) for night in range(1000)]
    before = added(None, [*nights, held(1000, frozenset("b"))])

    line = runs(before, [Found(0, held(1001, frozenset("c")))], {})

    assert [run.phase for run in line[:2]] == list(before.phases)
    assert all(run.phase is phase for run, phase in zip(line, before.phases, strict=False))


def test_a_collection_that_is_partial_tells_of_no_deletion() -> None:
    """A session that it lacks is gone where the next whole one lacks it, too."""
    names = [f"{number:032}" for number in range(4)]
    found = [
        Held(Seen(number, (names[number],)), str(number), "", (), sessions, is_partial)
        for number, (sessions, is_partial) in enumerate(
            [((("x", "a"), ("x", "b")), False), ((("x", "b"),), True), ((), True), ((("x", "b"),), False)]
        )
    ]

    assert list(absences(added(None, found[:3]))) == []
    assert list(absences(added(None, found))) == [("x", "a", 0, 3)]


def test_a_file_that_grows_counts_once() -> None:
    versions = [Version("s.json", "/s.json", size, str(size)) for size in (10, 30, 20)]
    found = [Held(Seen(size, (f"{size:032}",)), str(size), "", (file,), ()) for size, file in enumerate(versions)]

    assert added(None, found).bytes == 30


@pytest.mark.parametrize("packed", [b"", b"x" * 23])
def test_what_is_no_list_of_collections_is_refused(packed: bytes) -> None:
    with pytest.raises(ValueError, match="no sightings"):
        sightings.loaded(packed)


def test_collections_without_a_time_are_packed() -> None:
    seen = (Seen(None, ("0" * 32,)), Seen(-5, ("ab" * 16,)))

    packed = Sightings(b"", seen).named({})

    assert (packed.fresh, tuple(packed)) == ((), seen)
    assert (packed.first, packed.last) == seen
