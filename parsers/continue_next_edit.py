"""Continue: next edits that the editor offered, one event an edit.

File: `~/.continue/dev_data/0.2.0/nextEditOutcome.jsonl` (schemas/data/nextEditOutcome). `timestamp` is a number of ms.
They give no row of the timeline.
"""

import re
from functools import partial
from typing import Any

from parsers._events import Event, Kind
from parsers._json import token
from parsers._paths import project_path
from parsers._suggestions import COLUMNS, stage
from pipeline.source import Row, Source


class NextEdit(Event, rename="camel", gc=False):
    """`nextEditOutcome`, without the user's edits and the code around."""

    model_name: str | None = None
    model_provider: str | None = None
    file_uri: str | None = None
    accepted: Any = None
    elapsed: Any = None
    prompt: str | None = None
    completion: str | None = None


def _values(event: NextEdit) -> Row:
    return (
        event.model_name,
        event.model_provider,
        project_path(event.file_uri),
        token(event.accepted),
        token(event.elapsed),
        None,
        event.prompt,
        event.completion,
    )


KIND = Kind(
    NextEdit,
    COLUMNS,
    _values,
    marks=("completionId", "elapsed", "fileUri"),
    unread=(
        *("completionOptions", "completionId", "requestId", "gitRepo", "uniqueId", "workspaceDirUri", "userEdits"),
        *("userExcerpts", "originalEditableRange", "cursorPosition", "aborted"),
    ),
)

SOURCE = Source(
    name="continue.next_edit",
    agent="continue",
    pattern=re.compile(r"dev_data/(?:[^/]+/)?nextEditOutcome\.jsonl"),
    tables=(KIND.table(),),
    read=KIND.read,
    stage=partial(stage, latency="elapsed"),
)
