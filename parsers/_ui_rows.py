"""What the messages of an agent's panel mean: stage two of `ui_messages.json`, in polars expressions alone."""

from collections.abc import Mapping

import polars as pl

from parsers._task import bad_time, key, said, sessions, silent, timed
from parsers._task_calls import calls
from parsers._ui_messages import CALLS_ASKED, RESULTS, TOKENS
from pipeline.normalize import amount, count, count_fault, has_text, moment, notes, trim

_TURN = {
    **dict.fromkeys(("task", "user_feedback", "user_feedback_diff"), "user"),
    **dict.fromkeys(("text", "completion_result", "followup"), "assistant"),
    "reasoning": "thinking",
    **dict.fromkeys(CALLS_ASKED, "tool_use"),
    **dict.fromkeys(RESULTS, "tool_result"),
}
_KIND = {
    **dict.fromkeys(("user", "assistant", "thinking"), "message"),
    "tool_use": "tool_call",
    "tool_result": "tool_result",
    "system": "notice",
}
_COUNTS = {name: field for name, field in TOKENS.items() if name != "cost"}


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Turn the raw tables of `parsers._ui_messages` into the frames of `pipeline.staging`."""
    messages = raw["messages"]
    drafts = _drafts(messages)
    return {
        "drafts": drafts,
        "calls": calls(raw["calls"]),
        "tokens": _tokens(messages),
        "session_files": sessions(raw["heads"], messages, drafts),
        "faults": _notes(messages),
        "silent": silent(messages, drafts),
    }


def _drafts(messages: pl.DataFrame) -> pl.DataFrame:
    """A row per message that says something."""
    known = pl.col("name").replace_strict(_TURN, default="system", return_dtype=pl.String)
    # An empty answer counts where a tool gave it.
    keeps_empty = (pl.col("type") == "say") & (pl.col("name") != "browser_action_result")
    rows = timed(messages).with_columns(
        turn_type=pl.when("is_first").then(pl.lit("user")).otherwise(known), said=said(pl.col("text"))
    )
    is_system = pl.col("turn_type") == "system"
    speaks = has_text(pl.col("said")) | pl.col("turn_type").replace_strict(
        {"tool_use": True, "system": True}, default=False, return_dtype=pl.Boolean
    )
    return rows.filter(speaks | ((pl.col("turn_type") == "tool_result") & keeps_empty)).select(
        "artifact",
        "turn_type",
        "tool_name",
        "tool_use_id",
        "call_no",
        "own_utc",
        "own_basis",
        "keyed_by_text",
        line="position",
        order_line="position",
        rank=pl.lit(0),
        part=pl.lit(0),
        sub=pl.lit(0),
        kind=pl.col("turn_type").replace_strict(_KIND, return_dtype=pl.String),
        text=pl.when(is_system).then(trim(pl.format("{}: {}", "name", "said"))).otherwise("said"),
        key=key(pl.col("type"), pl.col("name")),
    )


def _tokens(messages: pl.DataFrame) -> pl.DataFrame:
    """What the requests used, of those that state any of it."""
    return messages.filter(pl.any_horizontal(pl.col(name).is_not_null() for name in TOKENS)).select(
        "artifact",
        line="position",
        grain=pl.lit("request"),
        own_utc=moment(pl.col("ts")),
        prompt_tokens=count(pl.col("tokens_in")),
        completion_tokens=count(pl.col("tokens_out")),
        cache_read_tokens=count(pl.col("cache_reads")),
        cache_write_tokens=count(pl.col("cache_writes")),
        cost_usd=amount(pl.col("cost")),
        key=key(pl.col("type"), pl.col("name")),
    )


def _notes(messages: pl.DataFrame) -> pl.DataFrame:
    """Notes on times, counts and costs that are none."""
    faults = [(field, count_fault(pl.col(name), count(pl.col(name)))) for name, field in _COUNTS.items()]
    faults.append(("cost", count_fault(pl.col("cost"), amount(pl.col("cost")))))
    return notes(messages, pl.col("position"), [("ts", bad_time()), *faults])
