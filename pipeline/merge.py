"""Several collections of a home become one: of each row the values of the last collection that holds it.

A batch's new rows come with the number of their home in the batch as `collection_id`; the rows of the lake as it was
with the collection that first saw their file. Both are told apart by what the histories of the homes say, so that the
outcome depends on the collections alone, and not on the order or the builds in which they came.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from pipeline.carried import PLACES, at
from pipeline.history import Content, History, Holding, Version, absences, first_labels, grouped, last_positions
from pipeline.runs import Found, Run, composed, runs
from pipeline.schema import FLAG, TEXT, TIME, Table

AT = (*PLACES, "current")
"""What a row tells of where it comes from."""

_PLACES = {**dict.fromkeys(AT, TEXT), "current": FLAG, "home": pl.Int32(), "position": pl.Int32()}
_FIRSTS = {"home": pl.Int32(), "collection_id": TEXT, "home_path": TEXT, "first": TEXT}
_STEPS = {"home": pl.Int32(), "position": pl.Int32(), "is_newest": FLAG, "is_read_again": FLAG}


@dataclass(frozen=True, slots=True)
class Step:
    """A phase of a home: its positions in the old lake, and where the batch's rows of it are taken the home's number
    in the batch with its files."""

    before: tuple[int, ...]
    number: int | None
    files: Sequence[Version]


@dataclass(frozen=True, slots=True)
class Line:
    """A home with all its phases as steps, in order, and with what the old lake knew of it."""

    history: History
    steps: tuple[Step, ...]
    known: History | None


class Merging:
    """The rows of a batch's homes over time.

    `known` are the homes' histories in the lake, `read` what was read of the homes of the batch, in order, and `same`
    that of collections that were not read, because they hold what the lake knows. With `anew` the rows of a collection
    that was read again take the place of those of the lake. `ids` are those of collections, by their number, as far as
    they are known.
    """

    def __init__(
        self,
        known: Sequence[History],
        read: Sequence[Holding],
        same: Sequence[Holding],
        ids: Mapping[str, str],
        *,
        anew: bool,
    ) -> None:
        found: defaultdict[str, list[Found]] = defaultdict(list)
        for number, holding in enumerate(read):
            found[holding.identity].append(Found(number, holding.held))
        for holding in same:
            found[holding.identity].append(Found(None, holding.held))
        before = {history.identity: history for history in known}
        self.lines = []
        owners = {history.identity: history.owner for history in known} | {home.identity: home.owner for home in read}
        for identity, owner in sorted(owners.items()):
            history, was = before.get(identity), runs(before.get(identity), found[identity], ids)
            self.lines.append(Line(composed(identity, owner, history, was), _steps_of(was, anew=anew), history))
        self._is_plain = (
            not known
            and all(len(line.steps) == 1 for line in self.lines)
            and _are_apart([line.history for line in self.lines])
        )
        used = {
            step.number: phase.label
            for line in self.lines
            for step, phase in zip(line.steps, line.history.phases, strict=True)
            if step.number is not None
        }
        self._labels = {str(number): label for number, label in used.items()}
        self._left_out = [str(number) for number in range(len(read)) if number not in used]
        self._last_held: dict[int, dict[str, int]] = defaultdict(dict)
        if not self._is_plain:
            self._look_up()

    def _look_up(self) -> None:
        """Make the frames that tell the collections of a row."""
        self._places = pl.DataFrame(list(_places(self.lines)), schema=_PLACES, orient="row")
        self._firsts = pl.DataFrame(list(_firsts(self.lines)), schema=_FIRSTS, orient="row")
        self._steps = pl.DataFrame(list(_steps(self.lines)), schema=_STEPS, orient="row")
        self._told = _told(self.lines)
        ends = _ends([line.history for line in self.lines], lambda home, position: (home, position))
        self._ends = pl.DataFrame(list(ends), schema=_PLACES, orient="row")

    def merged(
        self, tables: Sequence[Table], fresh: Sequence[pl.DataFrame], before: Sequence[pl.DataFrame]
    ) -> list[pl.DataFrame]:
        """Merge tables that share one set of keys: of each the batch's rows and those of the lake."""
        if self._left_out:
            fresh = [new.filter(~pl.col("collection_id").is_in(self._left_out)) for new in fresh]
        if self._is_plain:
            return [new.with_columns(pl.col("collection_id").replace(self._labels)) for new in fresh]
        each = [
            (table, frame, is_old)
            for table, new, old in zip(tables, fresh, before, strict=True)
            for frame, is_old in ((new, False), (old, True))
        ]
        placed = [self._placed(table, frame, is_old=is_old) for table, frame, is_old in each]
        every = pl.concat(placed).with_columns(
            wins=~pl.col("is_passed")
            & (pl.col("position") == pl.col("position").filter(~pl.col("is_passed")).max().over("key"))
        )
        self._remember(every.filter("wins"))
        kept, start = list[pl.DataFrame](), 0
        for _, frame, _ in each:
            part = every.slice(start, frame.height)
            now = frame.with_columns(part["first"].alias("collection_id"), part["current"])
            kept.append(now.filter(part["wins"]))
            start += frame.height
        return [pl.concat(kept[at : at + 2]) for at in range(0, len(kept), 2)]

    def _placed(self, table: Table, frame: pl.DataFrame, *, is_old: bool) -> pl.DataFrame:
        """Keys of rows with their home, the position of their last collection, and the first that saw their file."""
        placed = frame.select("current", key=pl.col(table.key[0]), **at(table)).join(
            self._places, on=AT, how="left", nulls_equal=True, maintain_order="left"
        )
        if is_old and not self._told.is_empty():
            placed = placed.join(self._told, on="key", how="left", maintain_order="left").with_columns(
                home=pl.coalesce("told_home", "home"), position=pl.coalesce("told_position", "position")
            )
        placed = placed.join(
            self._firsts, on=("home", "collection_id", "home_path"), how="left", nulls_equal=True, maintain_order="left"
        ).join(self._steps, on=("home", "position"), how="left", maintain_order="left")
        if placed["first"].null_count() or placed["is_newest"].null_count():
            raise ValueError("rows of a collection that the histories do not name")
        return placed.select(
            "key", "host", "user", "home", "position", "first", "home_path", "source_file",
            current=pl.col("current") & pl.col("is_newest"),
            is_passed=pl.col("is_read_again") & pl.lit(is_old),
        )  # fmt: skip

    def _remember(self, rows: pl.DataFrame) -> None:
        """Keep the collection of the rows of which the next build would find another one."""
        found = rows.rename({"first": "collection_id"}).join(
            self._ends, on=AT, how="left", nulls_equal=True, suffix="_found"
        )
        is_found = (pl.col("home") == pl.col("home_found")) & (pl.col("position") == pl.col("position_found"))
        for home, key, position in (
            found.filter(~is_found.fill_null(value=False)).select("home", "key", "position").rows()
        ):
            self._last_held[home][key] = position

    def histories(self) -> list[History]:
        """The homes' histories with the collections of the batch, once all tables were merged."""
        return [replace(line.history, last_held=self._last_held[home]) for home, line in enumerate(self.lines)]

    def frames(self) -> dict[str, pl.DataFrame]:
        """`absences`: sessions that their home's newest collection lacks; `collected`: the collections' times."""
        gone = [(line.history.identity, *absence) for line in self.lines for absence in absences(line.history)]
        times = {phase.label: phase.first_ms for line in self.lines for phase in line.history.phases}
        schema: dict[str, Any] = {"identity": TEXT, "agent": TEXT, "session_path": TEXT, "last_utc": pl.Int64()}
        return {
            "absences": pl.DataFrame(gone, schema={**schema, "next_utc": pl.Int64()}, orient="row").cast(
                {"last_utc": TIME, "next_utc": TIME}
            ),
            "collected": pl.DataFrame(
                list(times.items()), schema={"collection_id": TEXT, "utc": pl.Int64()}, orient="row"
            ).cast({"utc": TIME}),
        }


def _steps_of(line: Iterable[Run], *, anew: bool) -> tuple[Step, ...]:
    """The runs of a home as steps. The lake's own rows of one are kept, unless it is read `anew`."""
    return tuple(
        Step(run.known, run.numbers[0], run.held.files)
        if run.held and run.numbers and (anew or not run.known)
        else Step(run.known, None, ())
        for run in line
    )


def _are_apart(histories: Sequence[History]) -> bool:
    """Whether the place of a row tells its home: no two homes of one host and user have a file of the same place."""
    for group in grouped(histories).values():
        places = [place for history in group for place in last_positions(history)] if len(group) > 1 else []
        if len(set(places)) < len(places):
            return False
    return True


def _places(lines: Sequence[Line]) -> Iterator[tuple[Any, ...]]:
    """Where a row comes from, with its home and the position of its last collection."""
    for home, line in enumerate(lines):
        for position, step in enumerate(line.steps):
            for file in step.files:
                yield (*line.history.owner, str(step.number), file.home_path, file.source_file, True, home, position)
    now = [{before: position for position, step in enumerate(line.steps) for before in step.before} for line in lines]
    yield from _ends([line.known for line in lines], lambda home, position: (home, now[home][position]))


def _ends(histories: Sequence[History | None], place: Any) -> Iterator[tuple[Any, ...]]:
    """Where a row of a lake comes from, with the home and the position that `place` makes of those that are found.

    Where two homes of a user could be meant the later position holds, for `Merging` to see that it is wrong.
    """
    found: dict[tuple[Any, ...], tuple[int, int]] = {}
    for home, history in enumerate(histories):
        if history is not None:
            for (label, path, source_file, current), position in last_positions(history).items():
                at = (*history.owner, label, path, source_file, current)
                found[at] = max(found.get(at, (position, home)), (position, home))
    for at, (position, home) in found.items():
        yield (*at, *place(home, position))


def _firsts(lines: Sequence[Line]) -> Iterator[tuple[Any, ...]]:
    """The first collection of all that saw a file, by the home, the collection that its row tells, and the path."""
    for home, line in enumerate(lines):
        first = first_labels(line.history)
        told = {(label, content[0]): first[content] for content, label in _labels_before(line)}
        for step in line.steps:
            told.update({(str(step.number), file.home_path): first[file.content] for file in step.files})
        yield from ((home, *at, label) for at, label in told.items())


def _labels_before(line: Line) -> Iterable[tuple[Content, str]]:
    return first_labels(line.known).items() if line.known else ()


def _steps(lines: Sequence[Line]) -> Iterator[tuple[int, int, bool, bool]]:
    for home, line in enumerate(lines):
        for position, step in enumerate(line.steps):
            is_read_again = bool(step.before) and step.number is not None
            yield home, position, position == len(line.steps) - 1, is_read_again


def _told(lines: Sequence[Line]) -> pl.DataFrame:
    """The rows of the lake whose last collection the histories tell by name."""
    rows = list[tuple[str, int, int]]()
    for home, line in enumerate(lines):
        now = {before: position for position, step in enumerate(line.steps) for before in step.before}
        rows.extend((key, home, now[before]) for key, before in (line.known.last_held if line.known else {}).items())
    schema = {"key": TEXT, "told_home": pl.Int32(), "told_position": pl.Int32()}
    return pl.DataFrame(rows, schema=schema, orient="row")
