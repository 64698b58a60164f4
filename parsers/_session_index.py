"""The session index of Continue and its forks: a JSON array with an entry a session.

File: `<state>/sessions/sessions.json`, rewritten whole on every save. Entry: `BaseSessionMetadata` of Continue's
core/index.d.ts; `dateCreated` is a text of ms since 1970 and is set once. An entry keyed by `session_id` is of before
version 1.0 and is passed over, as the extension does (core/util/history.ts).
"""

from collections.abc import Mapping
from typing import Any

import msgspec
import polars as pl

from parsers._documents import Element, Fault, read_array, size_of
from parsers._fit import fit
from parsers._json import Json, clean, compact, token
from parsers._paths import SCRATCH, project_path
from parsers._text import Cleaner, decode
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
    decoded = decode(data)
    if not decoded.text.strip():
        records.lose(0, "empty_file", "parser: unreadable (empty_file)", size=len(data))
        return
    found = read_array(decoded.text, is_entry)
    if isinstance(found, Fault):
        text = "not a JSON array" if found.reason == "not_an_object" else f"unreadable ({found.reason})"
        records.lose(0, found.reason, f"parser: {text}", size=len(data))
        return
    elements, faults, closed = found
    seen: set[str] = set()
    for element in elements:
        _add(element, Cleaner(decoded.bad), seen, records)
    for fault in faults:
        text = "parser: unparseable data after the JSON array"
        records.lose(0, fault.reason, text, size=size_of(fault.text))
    if not closed and not (elements and isinstance(elements[-1].value, Fault)):
        records.lose(0, "json_truncated", f"parser: array cut off after record {len(elements)}", size=0)


def _add(element: Element, cleaner: Cleaner, seen: set[str], records: Records) -> None:
    """Add one entry, or its loss."""
    value, position, wrong = element.value, element.position, list[str]()
    try:
        if isinstance(value, Fault):
            _lose(records, element, value.reason, cleaner.text(value.text))
        elif is_entry(value) and isinstance(value, dict):
            entry = fit(Entry, value, cleaner, wrong)
            _add_entry(entry, position, seen, records)
        elif isinstance(value, dict) and isinstance(value.get("session_id"), str):
            records.count += 1
            records.silent += 1
        else:
            _lose(records, element, "index_entry_invalid", compact(clean(value, cleaner)))
    except RecursionError:
        _lose(records, element, "nesting_too_deep", cleaner.text(element.raw))
        return
    if not isinstance(value, Fault):
        records.note_all(position, cleaner.reasons, wrong)


def _lose(records: Records, element: Element, reason: str, text: str) -> None:
    text = f"parser: unparseable record {element.position} ({reason}): {text}"
    records.lose(element.position, reason, text, size=element.size)


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
        title=trim(pl.col("title")),
        scratch=pl.col("workspace_directory").str.contains(SCRATCH).fill_null(value=False),
        message_count="messages",
    )
    return {"entries": staged, "faults": faults}
