"""Continue: edits that the user asked for in the editor's edit mode, one event when the model's answer is complete.

File: `~/.continue/dev_data/0.2.0/editInteraction.jsonl` (schemas/data/editInteraction; written by
extensions/vscode/src/extension/VsCodeMessenger.ts). `completion` is the file after the edit. It names no session.
"""

import re
from collections.abc import Mapping

import polars as pl

from parsers._event_rows import faults, model, rows, shown_text, sides, timed, together
from parsers._events import Event, Kind
from pipeline.schema import TEXT, Column
from pipeline.source import Row, Source


class Edit(Event, rename="camel", gc=False):
    """`editInteraction`."""

    prompt: str | None = None
    completion: str | None = None
    model_title: str | None = None
    model_name: str | None = None
    filepath: str | None = None


def _values(event: Edit) -> Row:
    return event.prompt, event.completion, event.model_title, event.model_name, event.filepath


KIND = Kind(
    Edit,
    (
        Column("prompt", TEXT, "`prompt`."),
        Column("completion", TEXT, "`completion`."),
        Column("model_title", TEXT, "`modelTitle`."),
        Column("model_name", TEXT, "`modelName`."),
        Column("filepath", TEXT, "`filepath`, as written."),
    ),
    _values,
    marks=("prompt", "completion", "filepath"),
    unread=("modelProvider",),
)


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Three rows an event: the file, the prompt, the completion."""
    events = timed(raw)
    edit = pl.format("edit interaction: file={}", shown_text("filepath"))
    file = rows(events, 0, ("edit", "system"), edit, model=model())
    return {"drafts": together((file, *sides(events, 1, model()))), "faults": faults(events)}


SOURCE = Source(
    name="continue.edit_interaction",
    agent="continue",
    pattern=re.compile(r"dev_data/(?:[^/]+/)?editInteraction\.jsonl"),
    tables=(KIND.table(),),
    read=KIND.read,
    stage=stage,
)
