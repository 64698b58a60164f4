"""PearAI: the files that an agent's task had before it, `tasks/<id>/task_metadata.json`.

Shape: `TaskMetadata` of src/core/context-tracking/FileContextTrackerTypes.ts of PearAI's fork of Roo Code 3.15: an
object with the list `files_in_context`, rewritten whole. An entry is added each time that the agent or the user touches
a file, with the time of that in one of its dates and the file's latest dates in the others (FileContextTracker.ts): a
date that an earlier entry of the file has is no other event.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
import polars as pl

from parsers._array import lose
from parsers._documents import read_object
from parsers._faults import Document, Element, Fault, size_of
from parsers._fit import fit
from parsers._json import Json, clean, compact, token
from parsers._task import HEADS, head, task_path
from parsers._text import Cleaner, decode
from pipeline.normalize import moment, notes, trim
from pipeline.schema import Column, Table
from pipeline.source import Records, Session, Source

TEXT, NUMBER = pl.String(), pl.Int32()

_FILES = "files_in_context"
_DATES = {"read": "roo_read_date", "edit": "roo_edit_date", "user edit": "user_edit_date"}

EVENTS = Table(
    "events",
    "one record per dated event",
    ("artifact", "position", "part"),
    (
        Column("position", NUMBER, "1-based position of its entry."),
        Column("part", NUMBER, "Order in its entry."),
        Column("event", TEXT, "What was done: `read`, `edit`, `user edit`."),
        Column("field", TEXT, "Field that dates it."),
        Column("path", TEXT, "`path`."),
        Column("ts", TEXT, "The date, a JSON token (ms since 1970)."),
    ),
)


class Entry(msgspec.Struct, gc=False):
    """`FileMetadataEntry` as far as it is read."""

    path: str | None = None
    roo_read_date: Any = None
    roo_edit_date: Any = None
    user_edit_date: Any = None


def is_entry(value: Json) -> bool:
    """Say whether a value is an entry: it names a file."""
    return isinstance(value, dict) and isinstance(value.get("path"), str) and bool(value["path"])


def read(data: bytes, path: str, records: Records) -> None:
    """Read the list entry by entry, on past damage."""
    decoded = decode(data)
    if not decoded.text.strip():
        records.lose(0, "empty_file", "parser: unreadable (empty_file)", size=len(data))
        return
    document = read_object(decoded.text, (_FILES,), (), is_entry)
    if isinstance(document, Fault):
        records.lose(0, document.reason, f"parser: unreadable ({document.reason})", size=len(data))
        return
    if document.head.get(_FILES) is not None:
        records.lose(0, "wrong_type", "parser: unreadable (wrong_type)", detail=_FILES, size=len(data))
        return
    elements = document.arrays.get(_FILES, [])
    seen: set[tuple[object, ...]] = set()
    for element in elements:
        _add(element, Cleaner(decoded.bad), seen, records)
    _lose_around(document, elements, records, Cleaner(decoded.bad))
    records.rows["heads"].append(head(path))


def _add(element: Element, cleaner: Cleaner, seen: set[tuple[object, ...]], records: Records) -> None:
    """Add the events of one entry that no earlier one told of, or its loss."""
    value, wrong = element.value, list[str]()
    try:
        if isinstance(value, Fault):
            lose(records, element, value.reason, cleaner.text(value.text))
        elif is_entry(value) and isinstance(value, dict):
            _add_entry(fit(Entry, value, cleaner, wrong), element.position, seen, records)
            records.note_all(element.position, cleaner.reasons, wrong)
        else:
            reason = "wrong_type" if isinstance(value, dict) else "not_an_object"
            lose(records, element, reason, compact(clean(value, cleaner)))
    except RecursionError:
        lose(records, element, "nesting_too_deep", cleaner.text(element.raw))


def _add_entry(entry: Entry, position: int, seen: set[tuple[object, ...]], records: Records) -> None:
    """Add the events of an entry; one without any is silent."""
    dates = [(event, name, token(getattr(entry, name))) for event, name in _DATES.items()]
    rows = [
        (position, part, event, name, entry.path, ts)
        for part, (event, name, ts) in enumerate(dates)
        if ts is not None and (entry.path, event, ts) not in seen
    ]
    seen.update((entry.path, event, ts) for event, _, ts in dates)
    records.count += 1
    records.silent += not rows
    records.rows["events"].extend(rows)


def _lose_around(document: Document, elements: list[Element], records: Records, cleaner: Cleaner) -> None:
    """Record what was lost beside the entries."""
    for fault in document.faults:
        text = f"parser: unparseable record 0 ({fault.reason}): {cleaner.text(fault.text)}"
        records.lose(0, fault.reason, text, size=size_of(fault.text))
    if _FILES in document.cut and not (elements and isinstance(elements[-1].value, Fault)):
        text = f"parser: array cut off after record {len(elements)}"
        records.lose(0, "json_truncated", text, size=0)
    if document.trailing is not None:
        text = "parser: unparseable data after the JSON document"
        records.lose(0, document.trailing.reason, text, size=size_of(document.trailing.text))


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Turn the events into the frames of `pipeline.staging`."""
    events = raw["events"].with_columns(own_utc=moment(pl.col("ts")))
    drafts = events.select(
        "artifact",
        "part",
        "own_utc",
        line="position",
        order_line="position",
        rank=pl.lit(0),
        sub=pl.lit(0),
        kind=pl.lit("file_context"),
        turn_type=pl.lit("system"),
        text=trim(pl.format("file {}: {}", "event", "path")),
        own_basis=pl.when(pl.col("own_utc").is_not_null()).then(pl.lit("record")),
        key="ts",
        keyed_by_text=pl.lit(value=True),
    )
    bad = [
        (name, pl.when((pl.col("field") == name) & pl.col("own_utc").is_null()).then(pl.lit("bad_timestamp")))
        for name in _DATES.values()
    ]
    heads = raw["heads"].select("artifact", "session_id")
    return {"drafts": drafts, "session_files": heads, "faults": notes(events, pl.col("position"), bad)}


SOURCE = Source(
    name="pearai.task_metadata",
    agent="pearai",
    root="tasks",
    pattern=task_path("task_metadata.json"),
    file="task_metadata.json",
    tables=(HEADS, EVENTS),
    read=read,
    stage=stage,
    session=Session.FOLDER,
)
