"""The session index of Continue and its forks: a JSON array with an entry a session.

File: `<state>/sessions/sessions.json`, rewritten whole on every save. Entry: `BaseSessionMetadata` of Continue's
core/index.d.ts; `dateCreated` is a text of ms since 1970 and is set once. An entry keyed by `session_id` is of before
version 1.0 and is passed over, as the extension does (core/util/history.ts).
"""

from collections.abc import Mapping
from typing import Any

import msgspec
import polars as pl

from parsers._array import fitted, read_elements
from parsers._faults import Element
from parsers._json import Json, token
from parsers._paths import SCRATCH, project_path
from parsers._text import Cleaner
from pipeline.normalize import count, count_fault, moment, notes, trim
from pipeline.schema import Column, Table
from pipeline.source import Records

TEXT, NUMBER = pl.String(), pl.Int32()

ENTRIES = Table(
    "entries",
    "one record per usable entry",
    ("artifact", "position"),
    (
        Column("position", NUMBER, "1-based position."),
        Column("session_id", TEXT, "`sessionId`."),
        Column("title", TEXT, "`title`."),
        Column("date_created", TEXT, "`dateCreated`, a JSON token (ms)."),
        Column("workspace_directory", TEXT, "`workspaceDirectory` as stored."),
        Column("project_path", TEXT, "`workspaceDirectory`, decoded."),
        Column("message_count", TEXT, "`messageCount`, a JSON token."),
        Column("integration_type", TEXT, "`integrationType`."),
    ),
)


class Entry(msgspec.Struct, rename="camel", gc=False):
    """`BaseSessionMetadata`; PearAI adds `integrationType`."""

    session_id: str | None = None
    title: str | None = None
    date_created: Any = None
    workspace_directory: str | None = None
    message_count: Any = None
    integration_type: str | None = None


def is_entry(value: Json) -> bool:
    """Say whether a value is a usable entry."""
    return isinstance(value, dict) and isinstance(value.get("sessionId"), str) and bool(value["sessionId"])


def read(data: bytes, path: str, records: Records) -> None:
    """Read the index entry by entry, on past damage."""
    seen: set[str] = set()
    read_elements(data, is_entry, records, lambda element, cleaner: _add(element, cleaner, seen, records))


def _add(element: Element, cleaner: Cleaner, seen: set[str], records: Records) -> None:
    """Add one entry, or its loss."""
    value = element.value
    if isinstance(value, dict) and not is_entry(value) and isinstance(value.get("session_id"), str):
        records.count += 1
        records.silent += 1
        return
    entry = fitted(element, Entry, is_entry, cleaner, records)
    if entry is not None:
        _add_entry(entry, element.position, seen, records)


def _add_entry(entry: Entry, position: int, seen: set[str], records: Records) -> None:
    """Add a usable entry; the second of an id is noted."""
    identifier = entry.session_id or ""
    if identifier in seen:
        records.note(position, "duplicate_id")
    records.count += 1
    records.rows["entries"].append(
        (
            position,
            identifier,
            entry.title,
            token(entry.date_created),
            entry.workspace_directory,
            project_path(entry.workspace_directory),
            token(entry.message_count),
            entry.integration_type,
        )
    )
    seen.add(identifier)


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Turn the raw entries into the frames of `pipeline.staging`."""
    entries = raw["entries"].with_columns(
        created_utc=moment(pl.col("date_created")), messages=count(pl.col("message_count"))
    )
    bad_time = pl.col("date_created").is_not_null() & pl.col("created_utc").is_null()
    faults = notes(
        entries,
        pl.col("position"),
        [
            ("dateCreated", pl.when(bad_time).then(pl.lit("bad_timestamp"))),
            ("messageCount", count_fault(pl.col("message_count"), pl.col("messages"))),
        ],
    )
    staged = entries.select(
        "artifact",
        "position",
        "session_id",
        "created_utc",
        "workspace_directory",
        "project_path",
        "integration_type",
        basis=pl.lit("session"),
        title=trim(pl.col("title")),
        scratch=pl.col("workspace_directory").str.contains(SCRATCH).fill_null(value=False),
        message_count="messages",
    )
    return {"entries": staged, "faults": faults}
