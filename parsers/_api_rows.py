"""What the messages between an agent and its model mean: stage two of the history, in polars expressions alone.

Every row but a decision stands by: it holds only where the task's folder has no better transcript.
"""

from collections.abc import Mapping

import polars as pl

from parsers._task import bad_time, key, said, sessions, silent, timed
from parsers._task_calls import calls
from pipeline.normalize import has_text, notes


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Turn the raw tables of `parsers._api_history` into the frames of `pipeline.staging`."""
    messages = raw["messages"]
    drafts = _drafts(raw["rows"], messages)
    return {
        "drafts": drafts,
        "calls": calls(raw["calls"]),
        "session_files": sessions(raw["heads"], messages, drafts),
        "faults": notes(messages, pl.col("position"), [("ts", bad_time())]),
        "silent": silent(messages, drafts),
    }


def _drafts(rows: pl.DataFrame, messages: pl.DataFrame) -> pl.DataFrame:
    """The rows that say something, with the times of their messages."""
    placed = rows.join(messages, on=("artifact", "position"), how="left", maintain_order="left")
    is_decision = pl.col("kind") == "permission_decision"
    speaks = has_text(pl.col("text")) | pl.col("kind").is_in(["tool_call", "tool_result"])
    # A tool tells the calls of a message apart: its results and decisions have the call's own key.
    named = pl.when(pl.col("kind") == "tool_call").then(pl.col("tool_name").fill_null("")).otherwise("kind")
    return (
        timed(placed)
        .with_columns(text=said(pl.col("text")))
        .filter(speaks)
        .select(
            "artifact",
            "part",
            "kind",
            "turn_type",
            "text",
            "tool_name",
            "tool_use_id",
            "call_no",
            "own_utc",
            "own_basis",
            "keyed_by_text",
            line="position",
            order_line="position",
            rank=pl.lit(0),
            sub=pl.lit(0),
            standby=~is_decision,
            key=key(pl.col("role"), named),
        )
    )
