"""PearAI: replies that the user rated, one line a model request of the reply, without a time.

File: `~/.pearai/dev_data/chat.jsonl` (gui/src/components/gui/StepContainer.tsx): a prompt log, which is the model's
options, prompt and completion, with the rating and the session.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
import polars as pl

from parsers._event_rows import faults, filled, rows, shown_truth, sides, timed, together, truth_fault
from parsers._events import Event, Kind
from parsers._json import token
from parsers._prompts import last_user_block
from pipeline.schema import TEXT, Column
from pipeline.source import Row, Source, TwinRule


class Options(msgspec.Struct, gc=False):
    """`completionOptions` as far as they name the model."""

    model: str | None = None


class Rating(Event, rename="camel", gc=False):
    """A line of `chat.jsonl`."""

    completion_options: Options | None = None
    prompt: str | None = None
    completion: str | None = None
    feedback: Any = None
    session_id: str | None = None


def _values(event: Rating) -> Row:
    said = last_user_block(event.prompt or "")
    return (
        event.prompt if said is None else said,
        event.completion,
        event.completion_options.model if event.completion_options else None,
        token(event.feedback),
        event.session_id,
    )


KIND = Kind(
    Rating,
    (
        Column("prompt", TEXT, "The last user message of `prompt`; all of it where it is in another form."),
        Column("completion", TEXT, "`completion`."),
        Column("model", TEXT, "`completionOptions.model`."),
        Column("feedback", TEXT, "`feedback`, a JSON token."),
        Column("session_id", TEXT, "`sessionId`."),
    ),
    _values,
    marks=("prompt", "completion", "feedback"),
    unread=("modelTitle",),
)


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Three rows a line: the prompt, the completion, the rating."""
    events, session = timed(raw), filled("session_id")
    rating = pl.format("user feedback: {} (from dev_data/chat.jsonl)", shown_truth("feedback"))
    rated = rows(events, 2, ("feedback", "system"), rating, named_session=session)
    return {
        "drafts": together((*sides(events, 0, filled("model"), named_session=session), rated)),
        "faults": faults(events, [truth_fault("feedback", "feedback")]),
    }


SOURCE = Source(
    name="pearai.chat_feedback",
    agent="pearai",
    pattern=re.compile(r"dev_data/chat\.jsonl"),
    tables=(KIND.table(),),
    read=KIND.read,
    stage=stage,
    twin_rule=TwinRule.RATING,
)
