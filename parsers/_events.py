"""Event lines: one JSON object a line, appended when something happens and never changed.

Files: `<state>/dev_data/<version>/<event>.jsonl` of Continue (core/data/log.ts; schemas in
packages/config-yaml/src/schemas/data), `<state>/dev_data/<table>.jsonl` of older versions and of PearAI
(core/util/devdata.ts). Fields of every Continue event: `BASE`; older lines, and those that a `data:` destination of the
configuration writes, lack them. `userId` is a login token: no record type has it.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from parsers._fit import fit
from parsers._json import UncleanError, token
from parsers._jsonl import Line, Object, Shape, lines, split
from parsers._text import Cleaner
from pipeline.schema import SMALL, TEXT, Column, Table
from pipeline.source import Records, Row

EVENTS = "events"
"""Name of the raw table."""

BASE = ("timestamp", "userId", "userAgent", "selectedProfileId", "eventName", "schema")

_POSITION = (
    Column("line", SMALL, "Line of the file."),
    Column("record", SMALL, "Number of the record in the file, from 1."),
    Column("key", TEXT, "Digest of the object's own bytes."),
    Column("timestamp", TEXT, "`timestamp`: a text as it is, anything else a JSON token."),
)


class Event(msgspec.Struct, rename="camel", gc=False):
    """What every event has. `timestamp` is ISO with `Z`, or a number of ms."""

    timestamp: Any = None


Record = TypeVar("Record", bound=Event)


@dataclass(frozen=True, slots=True)
class Kind(Generic[Record]):
    """One kind of event: its record type, and what the columns of its raw table hold of a record.

    `marks` are keys that tell an event from an object inside a damaged one; `unread` the keys that the type has not.
    """

    record: type[Record]
    columns: tuple[Column, ...]
    values: Callable[[Record], Row]
    marks: tuple[str, ...]
    unread: tuple[str, ...] = ()

    def table(self) -> Table:
        """Return the raw table."""
        return Table(EVENTS, "one record per event", ("artifact", "record"), (*_POSITION, *self.columns))

    def shape(self) -> Shape:
        """Return what tells an event behind damage."""
        keys = {member.encode_name for member in msgspec.structs.fields(self.record)}
        return Shape.of(keys.union(BASE, self.unread), self.marks)

    def read(self, data: bytes, path: str, records: Records) -> None:
        """Read a file line by line: the fast way where a line is healthy, else object by object."""
        decode, rows = msgspec.json.Decoder(self.record).decode, records.rows[EVENTS]
        for line in lines(data):
            values = _healthy(self, decode, line.raw)
            if values is None:
                _read_tolerant(self, line, records)
            else:
                records.count += 1
                rows.append((line.number, records.count, _digest(line.raw), *values))


def _healthy(kind: Kind[Record], decode: Callable[[bytes], Record], raw: bytes) -> Row | None:
    """Values of a line that is one object whose texts can be stored as they are; null for any other."""
    try:
        values = _values(kind, decode(raw))
    except (msgspec.DecodeError, UncleanError, RecursionError):
        return None
    for value in values:
        if isinstance(value, str) and "\0" in value:
            return None
    return values


def _values(kind: Kind[Record], event: Record) -> Row:
    stamp = event.timestamp
    return (stamp if isinstance(stamp, str) else token(stamp), *kind.values(event))


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:32]


def _read_tolerant(kind: Kind[Record], line: Line, records: Records) -> None:
    """Read what there is of a line that the fast way refuses: its whole objects, and one loss for all else."""
    contents = split(line, kind.shape())
    reason, lost = contents.reason, contents.lost
    for found in contents.objects:
        if not _is_added(kind, line, found, records):
            reason, lost = reason or "nesting_too_deep", lost + len(found.raw)
    if reason is not None:
        decoded = line.decoded()
        text = Cleaner(decoded.bad).text(decoded.text)
        records.lose(line.number, reason, f"parser: unparseable line ({reason}): {text}", size=lost)


def _is_added(kind: Kind[Record], line: Line, found: Object, records: Records) -> bool:
    """Add an object as an event; say whether it is no deeper than the reader goes."""
    cleaner, wrong = Cleaner(found.bad), list[str]()
    try:
        values = _values(kind, fit(kind.record, found.value, cleaner, wrong))
    except RecursionError:
        return False
    records.count += 1
    records.note_all(line.number, cleaner.reasons, wrong)
    records.rows[EVENTS].append((line.number, records.count, _digest(found.raw), *values))
    return True
