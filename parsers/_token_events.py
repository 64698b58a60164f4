"""Events of model requests that state how many tokens they took, of Continue and of PearAI.

Shape: `tokensGenerated` of Continue's schemas/data; PearAI writes the same four fields and no time (core/llm/index.ts).
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from parsers._event_rows import faults, filled, timed
from parsers._events import Event, Kind
from parsers._json import token
from pipeline.normalize import count, count_fault
from pipeline.schema import TEXT, Column
from pipeline.source import Row


class Tokens(Event, rename="camel", gc=False):
    """`tokensGenerated`."""

    model: str | None = None
    provider: str | None = None
    prompt_tokens: Any = None
    generated_tokens: Any = None


def _values(event: Tokens) -> Row:
    return event.model, event.provider, token(event.prompt_tokens), token(event.generated_tokens)


KIND = Kind(
    Tokens,
    (
        Column("model", TEXT, "`model`."),
        Column("provider", TEXT, "`provider`."),
        Column("prompt_tokens", TEXT, "`promptTokens`, a JSON token."),
        Column("generated_tokens", TEXT, "`generatedTokens`, a JSON token."),
    ),
    _values,
    marks=("promptTokens", "generatedTokens"),
)


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """One row of token usage an event."""
    events = timed(raw)
    prompt, generated = pl.col("prompt_tokens"), pl.col("generated_tokens")
    tokens = events.select(
        "artifact",
        "line",
        "record",
        "key",
        grain=pl.lit("request"),
        own_utc="utc",
        model=filled("model"),
        provider=filled("provider"),
        prompt_tokens=count(prompt),
        completion_tokens=count(generated),
    )
    counts = [
        ("promptTokens", count_fault(prompt, count(prompt))),
        ("generatedTokens", count_fault(generated, count(generated))),
    ]
    return {"tokens": tokens, "faults": faults(events, counts)}
