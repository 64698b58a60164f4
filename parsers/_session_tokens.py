"""Tokens of the replies of a chat session: `message.usage` of its items.

The `cn` CLI stores what the API sent (`prompt_tokens`), with the model and the cost in whole cents; some files have the
words of the editor's core (`promptTokens`). An item has no time of its own.
"""

import polars as pl

from parsers._json import token
from parsers._session_types import REPLY_COUNTS, ReplyDetails, ReplyUsage
from pipeline.normalize import amount, count, count_fault, notes

_NONE = ReplyDetails()
_STATED = (*REPLY_COUNTS, "cost_cents")
_CENTS = 100
NOTHING_STATED = (None, *(None for _ in _STATED))
"""What a reply without `usage` states."""


def stated(usage: ReplyUsage) -> tuple[str | None, ...]:
    """Return the model of a reply, the JSON tokens of its counts in the order of `REPLY_COUNTS`, and of its cost."""
    details = usage.prompt_tokens_details or usage.core_details or _NONE
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    read = details.cached_tokens if details.cached_tokens is not None else details.cache_read_tokens
    write = details.cache_write_tokens
    return (
        usage.model if isinstance(usage.model, str) and usage.model else None,
        token(usage.core_prompt if prompt is None else prompt),
        token(usage.core_completion if completion is None else completion),
        token(details.core_cached if read is None else read),
        token(details.core_cache_write if write is None else write),
        token(usage.cost_cents),
    )


def states_tokens() -> pl.Expr:
    """Say whether an item states a count of tokens or a cost."""
    return pl.any_horizontal(pl.col(name).is_not_null() for name in _STATED)


def tokens(items: pl.DataFrame) -> pl.DataFrame:
    """The replies that state tokens or a cost."""
    return items.filter(states_tokens()).select(
        "artifact",
        *(count(pl.col(name)) for name in REPLY_COUNTS),
        line="position",
        grain=pl.lit("reply"),
        model=pl.coalesce("usage_model", "model"),
        cost_usd=amount(pl.col("cost_cents")) / _CENTS,
        key=pl.concat_str((pl.col(name).fill_null("") for name in _STATED), separator=" "),
    )


def token_notes(items: pl.DataFrame) -> pl.DataFrame:
    """Notes on counts and costs that are none."""
    faults = [
        (f"message.usage.{field}", count_fault(pl.col(name), count(pl.col(name))))
        for name, field in REPLY_COUNTS.items()
    ]
    cost = count_fault(pl.col("cost_cents"), amount(pl.col("cost_cents")))
    return notes(items, pl.col("position"), [*faults, ("message.usage.cost_cents", cost)])
