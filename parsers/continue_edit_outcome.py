"""Continue: whether the user kept an edit, one event an edit that was accepted or rejected.

File: `~/.continue/dev_data/0.2.0/editOutcome.jsonl` (schemas/data/editOutcome; written by
extensions/vscode/src/extension/EditOutcomeTracker.ts and gui/src/util/editOutcomeLogger.ts). It names neither session
nor call. An edit that could not be applied is accepted, with an empty path and no lines.
"""

import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from parsers._event_rows import (
    faults,
    model,
    number_fault,
    rows,
    shown_number,
    shown_text,
    shown_truth,
    timed,
    truth_fault,
)
from parsers._events import Event, Kind
from parsers._json import token
from pipeline.schema import TEXT, Column
from pipeline.source import Row, Source


class Outcome(Event, rename="camel", gc=False):
    """`editOutcome`, without the code."""

    model_title: str | None = None
    model_name: str | None = None
    accepted: Any = None
    previous_code_lines: Any = None
    new_code_lines: Any = None
    filepath: str | None = None


def _values(event: Outcome) -> Row:
    return (
        event.model_title,
        event.model_name,
        token(event.accepted),
        token(event.previous_code_lines),
        token(event.new_code_lines),
        event.filepath,
    )


KIND = Kind(
    Outcome,
    (
        Column("model_title", TEXT, "`modelTitle`."),
        Column("model_name", TEXT, "`modelName`."),
        Column("accepted", TEXT, "`accepted`, a JSON token."),
        Column("lines_before", TEXT, "`previousCodeLines`, a JSON token."),
        Column("lines_after", TEXT, "`newCodeLines`, a JSON token."),
        Column("filepath", TEXT, "`filepath`, as written."),
    ),
    _values,
    marks=("accepted", "filepath"),
    unread=("prompt", "completion", "modelProvider", "previousCode", "newCode", "lineChange"),
)


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """One row an event: the decision."""
    events = timed(raw)
    decision = pl.format(
        "permission decision: edit accepted={} file={} lines {} -> {}",
        shown_truth("accepted"),
        shown_text("filepath"),
        shown_number("lines_before"),
        shown_number("lines_after"),
    )
    numbers = [number_fault("previousCodeLines", "lines_before"), number_fault("newCodeLines", "lines_after")]
    return {
        "drafts": rows(events, 0, ("permission_decision", "system"), decision, model=model()),
        "faults": faults(events, [truth_fault("accepted", "accepted"), *numbers]),
    }


SOURCE = Source(
    name="continue.edit_outcome",
    agent="continue",
    pattern=re.compile(r"dev_data/(?:[^/]+/)?editOutcome\.jsonl"),
    tables=(KIND.table(),),
    read=KIND.read,
    stage=stage,
)
