"""Which rows of a lake a share has: SQL conditions over a table's rows, and the variables that they ask for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from pipeline.schema import Table

SPANS = {
    "sessions": ("coalesce(first_event_utc, started_utc)", "coalesce(last_event_utc, started_utc)"),
    "artifacts": ("mtime_utc", "mtime_utc"),
}
"""First and last time of what a row tells of, where it is not `event_utc`; a table without either has no times."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The rows to take: tables, hosts, users and assistants (none named: all), and a span of time.

    `since` is in it and `until` is not; rows without a time are taken where `undated` says so, or no span is asked for.
    """

    tables: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    undated: bool = False

    @property
    def has_span(self) -> bool:
        """Whether rows are chosen by their time."""
        return self.since is not None or self.until is not None

    def has(self, table: Table) -> bool:
        """Whether rows of a table are taken."""
        return not self.tables or table.name in self.tables

    def variables(self) -> Mapping[str, object]:
        """What `sql/share.sql` asks for."""
        lists = {"hosts": self.hosts, "users": self.users, "agents": self.agents}
        return {
            **{variable: list(values) or None for variable, values in lists.items()},
            "since": self.since,
            "until": self.until,
            "undated": self.undated or not self.has_span,
        }


def condition(table: Table, choice: Choice) -> str:
    """SQL for whether a row of a table is taken."""
    return " and ".join(_conditions(table, choice)) or "true"


def is_undated(table: Table) -> str | None:
    """SQL for whether a row of a table that a choice is of has no time; null for a table that is not chosen from."""
    return f'is_of(host, "user", agent) and {_span(table)[0]} is null' if "user" in table.names else None


def _span(table: Table) -> tuple[str, str]:
    """SQL for the first and last time of what a row tells of."""
    return SPANS.get(table.name, ("event_utc",) * 2 if "event_utc" in table.names else ("null",) * 2)


def _conditions(table: Table, choice: Choice) -> Iterator[str]:
    if "user" in table.names:
        yield 'is_of(host, "user", agent)'
        if choice.has_span:
            first, last = _span(table)
            yield f"is_in_span({first}, {last})"
        return
    # A collection is taken with the homes that are: when it was made is no time of what it holds.
    yield "is_wanted(getvariable('hosts'), host)"
    if choice.users or choice.agents:
        yield (
            "collection_id in (select collection_id "
            "from read_parquet(getvariable('artifact_files'), hive_partitioning = false) "
            'where is_of(host, "user", agent))'
        )
