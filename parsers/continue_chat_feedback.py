"""Continue: replies that the user rated, one event a model request of the reply.

Files: `~/.continue/dev_data/0.2.0/chatFeedback.jsonl` (schemas/data/chatFeedback; written by
gui/src/components/FeedbackButtons.tsx), `dev_data/chat.jsonl` of before the versions (core/util/paths.ts moves it).
Prompt and completion are those of the `chatInteraction` event of the request, the time is that of the click. Version
0.1.0 names the model by `modelName` alone.
"""

import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from parsers._event_rows import (
    faults,
    filled,
    model,
    rows,
    shown_text,
    shown_truth,
    sides,
    timed,
    together,
    truth_fault,
)
from parsers._events import Event, Kind
from parsers._json import token
from pipeline.schema import TEXT, Column
from pipeline.source import Row, Source, TwinRule


class Feedback(Event, rename="camel", gc=False):
    """`chatFeedback`."""

    prompt: str | None = None
    completion: str | None = None
    model_title: str | None = None
    model_name: str | None = None
    session_id: str | None = None
    feedback: Any = None


def _values(event: Feedback) -> Row:
    return (
        event.prompt,
        event.completion,
        event.model_title,
        event.model_name,
        event.session_id,
        token(event.feedback),
    )


KIND = Kind(
    Feedback,
    (
        Column("prompt", TEXT, "`prompt`."),
        Column("completion", TEXT, "`completion`."),
        Column("model_title", TEXT, "`modelTitle`."),
        Column("model_name", TEXT, "`modelName`."),
        Column("session_id", TEXT, "`sessionId`."),
        Column("feedback", TEXT, "`feedback`, a JSON token."),
    ),
    _values,
    marks=("prompt", "completion", "feedback"),
    unread=("modelProvider", "completionOptions"),
)


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Three rows an event: the prompt, the completion, the rating."""
    events, session = timed(raw), filled("session_id")
    rating = pl.format("chat feedback: feedback={} model={}", shown_truth("feedback"), shown_text("model_title"))
    rated = rows(events, 2, ("feedback", "system"), rating, named_session=session)
    return {
        "drafts": together((*sides(events, 0, model(), named_session=session), rated)),
        "faults": faults(events, [truth_fault("feedback", "feedback")]),
    }


SOURCE = Source(
    name="continue.chat_feedback",
    agent="continue",
    pattern=re.compile(r"dev_data/(?:[^/]+/)?(?:chatFeedback|chat)\.jsonl"),
    tables=(KIND.table(),),
    read=KIND.read,
    stage=stage,
    twin_rule=TwinRule.RATING,
)
