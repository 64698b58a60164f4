"""PearAI: tokens of model requests, one line a request, without a time.

File: `~/.pearai/dev_data/tokens_generated.jsonl` (core/llm/index.ts, core/util/devdata.ts).
"""

import re
from collections.abc import Mapping

import polars as pl

from parsers import _token_events
from parsers._event_rows import filled, rows, shown_number, shown_text, timed
from pipeline.source import Source


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """One row of token usage a line, and one of the timeline."""
    used = pl.format(
        "tokens generated: model={} provider={} promptTokens={} generatedTokens={}",
        shown_text("model"),
        shown_text("provider"),
        shown_number("prompt_tokens"),
        shown_number("generated_tokens"),
    )
    drafts = rows(timed(raw), 0, ("usage", "system"), used, model=filled("model"))
    return {**_token_events.stage(raw), "drafts": drafts}


SOURCE = Source(
    name="pearai.tokens_generated",
    agent="pearai",
    pattern=re.compile(r"dev_data/tokens_generated\.jsonl"),
    tables=(_token_events.KIND.table(),),
    read=_token_events.KIND.read,
    stage=stage,
)
