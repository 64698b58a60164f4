"""What a parser declares (`Source`) and what it hands on (`Records`): the one interface between engine and parsers."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import polars as pl

from pipeline.schema import SMALL, TEXT, Column, Table
from pipeline.secrets import mask

Row = tuple[object, ...]

FILES = Table(
    "files",
    "one row per artifact that was read, beside each source's raw tables",
    ("artifact",),
    (
        Column("artifact", SMALL, "The artifact's number."),
        Column("home", SMALL, "Number that artifacts of one home share."),
        Column("home_path", TEXT, "Path below the home."),
    ),
)


@dataclass(frozen=True, slots=True)
class Problem:
    """A loss (something gives no row) or a note (something odd about a record that is kept).

    `position` is the record's line or 1-based position, 0 for a whole file. `reason` is a name of `pipeline.reasons`.
    `text` is a loss's timeline text, null for a note; `size` the bytes that were not read.
    """

    position: int
    reason: str
    text: str | None
    detail: str | None = None
    size: int | None = None


@dataclass(slots=True)
class Records:
    """What one artifact holds: rows of the source's raw tables, problems, and counts of its records.

    `count` is the number of raw records seen, losses included; `silent` of those that a rule names as giving no row.
    `companions` are the bytes of files that belong to it, by the ending of their name (`Source.companions`).
    """

    rows: dict[str, list[Row]]
    problems: list[Problem] = field(default_factory=list)
    count: int = 0
    silent: int = 0
    companions: Mapping[str, bytes] = field(default_factory=dict)

    def lose(
        self, position: int, reason: str, text: str, *, detail: str | None = None, size: int | None = None
    ) -> None:
        """Record a loss; it counts as a record. Secrets in its text are masked."""
        self.count += 1
        self.problems.append(Problem(position, reason, mask(text), detail, size))

    def note(self, position: int, reason: str, detail: str | None = None) -> None:
        """Record a note."""
        self.problems.append(Problem(position, reason, None, detail))

    def note_all(self, position: int, reasons: set[str], wrong: list[str]) -> None:
        """Record the notes of one record: one per reason, and one for its fields of another type."""
        for reason in sorted(reasons):
            self.note(position, reason)
        if wrong:
            self.note(position, "wrong_type", ", ".join(sorted(set(wrong))))


class TwinRule(StrEnum):
    """How a row of a secondary source finds the row of a primary one that it repeats.

    `HISTORY`: a list of prompts, among timed rows of sessions, the last of several. `RATING`: a rated exchange, among
    the events of exchanges and then the rows of sessions. `LOG`: a log, among the rows of sessions.
    """

    HISTORY = "history"
    RATING = "rating"
    LOG = "log"


class Session(StrEnum):
    """What is a session: each file of a source, or the folder in which it lies with others."""

    FILE = "file"
    FOLDER = "folder"

    def path_of(self, home_path: str) -> str:
        """Path below the home of the session that a file is, or is part of."""
        return home_path if self is Session.FILE else home_path.rpartition("/")[0]


NO_RECORD = "no record"
"""Stands in `Source.replaced_on` for a file that is whole and has no record."""


@dataclass(frozen=True, slots=True)
class Source:
    """One kind of artifact: where it lies, how it is read, and what its records mean.

    `pattern` matches the whole path below the assistant's root of the name `root` (`pipeline.model.Root`). Stage one,
    `read(data, path, records)`, gets an artifact's bytes and its path below the home and fills `records.rows[<table>]`
    with tuples of the columns of the raw `tables` (the engine puts `artifact`, the artifact's number, in front of
    each). Stage two, `stage(raw)`, gets the raw tables and `FILES` as frames and returns frames of `pipeline.staging`,
    by name.
    """

    name: str
    agent: str
    pattern: re.Pattern[str]
    tables: tuple[Table, ...]
    read: Callable[[bytes, str, Records], None]
    stage: Callable[[Mapping[str, pl.DataFrame]], Mapping[str, pl.DataFrame]]
    root: str = "state"
    session: Session | None = None
    """Set for a source whose files are sessions, or parts of one."""
    resume: str | None = None
    """Command that takes a session up again, without the session's id, which is its last word."""
    twin_rule: TwinRule | None = None
    """Set for a secondary source: one that repeats what a primary one holds."""
    file: str | None = None
    """Name of its file in a directory, for a source of which others can stand in for that."""
    replaced_on: frozenset[str] = frozenset(("empty_file",))
    """Reasons for which nothing of a file is read where a file that stands in for it is read, too."""
    companions: tuple[str, ...] = ()
    """Endings of the names of files that belong to a file and are read with it, such as a database's log."""
    by_content: Callable[[bytes], str] | None = None
    """Names the source of a file that stands in for one of this source, where the name does not tell."""
