"""Continue: what was sent to the model and what came back, one event a model request of the chat.

File: `~/.continue/dev_data/0.2.0/chatInteraction.jsonl` (schemas/data/chatInteraction; written by
gui/src/redux/thunks/streamNormalInput.ts). `prompt` is all that was sent; `completion` can begin with a line
`<assistant>`. `modelTitle` is missing before 1.2.
"""

import re
from collections.abc import Mapping

import polars as pl

from parsers._event_rows import faults, filled, model, sides, timed, together
from parsers._events import Event, Kind
from parsers._exchange import exchange
from pipeline.normalize import has_text, trim
from pipeline.schema import COUNT, TEXT, Column
from pipeline.source import Row, Source

_ROLE_LINE = r"^<assistant>[ \t]*(?:\r?\n|$)"


class Interaction(Event, rename="camel", gc=False):
    """`chatInteraction`."""

    prompt: str | None = None
    completion: str | None = None
    model_title: str | None = None
    model_name: str | None = None
    session_id: str | None = None


def _values(event: Interaction) -> Row:
    return (
        event.prompt,
        event.completion,
        event.model_title,
        event.model_name,
        event.session_id,
        exchange(event.prompt, event.completion),
    )


KIND = Kind(
    Interaction,
    (
        Column("prompt", TEXT, "`prompt`."),
        Column("completion", TEXT, "`completion`."),
        Column("model_title", TEXT, "`modelTitle`."),
        Column("model_name", TEXT, "`modelName`."),
        Column("session_id", TEXT, "`sessionId`."),
        Column("exchange", COUNT, "Hash of prompt and completion, of this process."),
    ),
    _values,
    marks=("prompt", "completion"),
    unread=("modelProvider", "tools", "rules"),
)


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Two rows an event: the prompt, the completion. An event that has neither gives none."""
    events = timed(raw)
    drafts = together(sides(events, 0, model(), named_session=filled("session_id")))
    reply = trim(trim(pl.col("completion")).str.replace(_ROLE_LINE, ""))
    exchanges = events.select(
        "artifact",
        "line",
        "record",
        "utc",
        "exchange",
        session_id=filled("session_id"),
        reply=pl.when(has_text(reply)).then(reply),
    )
    silent = events.join(drafts, on=("artifact", "record"), how="anti")
    return {
        "drafts": drafts,
        "exchanges": exchanges,
        "silent": silent.group_by("artifact", maintain_order=True).agg(records=pl.len()),
        "faults": faults(events),
    }


SOURCE = Source(
    name="continue.chat_interaction",
    agent="continue",
    pattern=re.compile(r"dev_data/(?:[^/]+/)?chatInteraction\.jsonl"),
    tables=(KIND.table(),),
    read=KIND.read,
    stage=stage,
)
