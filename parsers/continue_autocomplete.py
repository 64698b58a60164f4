"""Continue: completions that the editor offered, one event a completion.

Files: `~/.continue/dev_data/0.2.0/autocomplete.jsonl` (schemas/data/autocomplete), `dev_data/autocomplete.jsonl` of
before the versions. `timestamp` was a number of ms before version 0.2.0. They give no row of the timeline.
"""

import re
from functools import partial
from typing import Any

from parsers._events import Event, Kind
from parsers._json import token
from parsers._paths import project_path
from parsers._suggestions import COLUMNS, stage
from pipeline.source import Row, Source

_OPTIONS = (
    *("disable", "useCopyBuffer", "useFileSuffix", "maxPromptTokens", "debounceDelay", "maxSuffixPercentage"),
    *("prefixPercentage", "transform", "template", "multilineCompletions", "slidingWindowPrefixPercentage"),
    *("slidingWindowSize", "useCache", "onlyMyCode", "useRecentlyEdited", "useImports", "disableInFiles"),
    *("prefix", "suffix", "gitRepo", "completionId", "uniqueId", "completionOptions"),
    "enabledStaticContextualization",
)


class Completion(Event, rename="camel", gc=False):
    """`autocomplete`, without its options and the code around."""

    model_name: str | None = None
    model_provider: str | None = None
    filepath: str | None = None
    accepted: Any = None
    time: Any = None
    cache_hit: Any = None
    prompt: str | None = None
    completion: str | None = None


def _values(event: Completion) -> Row:
    return (
        event.model_name,
        event.model_provider,
        project_path(event.filepath),
        token(event.accepted),
        token(event.time),
        token(event.cache_hit),
        event.prompt,
        event.completion,
    )


KIND = Kind(Completion, COLUMNS, _values, marks=("completionId", "filepath", "cacheHit"), unread=_OPTIONS)

SOURCE = Source(
    name="continue.autocomplete",
    agent="continue",
    pattern=re.compile(r"dev_data/(?:[^/]+/)?autocomplete\.jsonl"),
    tables=(KIND.table(),),
    read=KIND.read,
    stage=partial(stage, latency="time"),
)
