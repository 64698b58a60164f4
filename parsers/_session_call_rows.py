"""What the tool calls of a chat session mean: their rows, those of their results, and the decisions on them."""

import polars as pl

from pipeline.normalize import clock, has_text, trim

CHANGE, THINKING, SUMMARY, MESSAGE, CALL, RESULT = range(6)
"""Order of an item's rows."""

AT = ("artifact", "position")
"""What tells an item."""

_CALL_CLOCK = r"^(?:shell-|bg-[0-9]+-)([0-9]{13})(?:-|$)"
HANDED = (
    *("artifact", "call_no", "records", "arguments", "status", "output", "output_bytes", "typed"),
    *("tool_kind", "decision", "decision_reason", "ran", "command", "file_path", "old_text", "new_text"),
    *("lines_added", "lines_removed", "exit_code"),
)
"""Columns of the frame `calls`."""


def with_facts(calls: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Calls with trimmed texts, the facts of their item, and where their result stands."""
    facts = items.select(*AT, "model", reasoning_utc="ended")
    replies = items.filter(has_text(pl.col("text"))).select("artifact", answered="position", reply_line="position")
    return (
        calls.join(facts, on=AT, how="left", maintain_order="left")
        .join(replies, on=("artifact", "answered"), how="left", maintain_order="left")
        .with_columns(
            trim(pl.col("arguments")),
            trim(pl.col("output")),
            output_bytes=pl.col("output").str.len_bytes().cast(pl.Int64),
            typed=pl.when(
                (pl.col("tool_name") == "Bash") & pl.col("tool_use_id").str.contains("^shell-[0-9]{13}-")
            ).then(pl.format("!{}", trim(pl.col("command")).fill_null(""))),
            has_result=pl.col("outputs").fill_null(0) > 0,
        )
    )


def drafts(items: pl.DataFrame, calls: pl.DataFrame) -> list[pl.DataFrame]:
    """The rows of calls that have their facts, of their results and of the decisions on them."""
    return [_call_rows(calls), _results(calls), _answers(items, calls), _decisions(calls)]


def _call_columns(text: pl.Expr, kind: str, turn_type: str) -> list[pl.Expr]:
    """Columns that every row of a call has."""
    return [
        pl.col("artifact"),
        pl.lit(kind).alias("kind"),
        pl.lit(turn_type).alias("turn_type"),
        text.alias("text"),
        pl.col("tool_name"),
        pl.col("tool_use_id"),
        pl.col("reasoning_utc"),
        pl.col("call_no"),
    ]


def _call_rows(calls: pl.DataFrame) -> pl.DataFrame:
    """The `tool_use` rows."""
    return calls.select(
        *_call_columns(pl.col("arguments"), "tool_call", "tool_use"),
        line="position",
        order_line="position",
        rank=pl.lit(CALL),
        part="call_no",
        sub=pl.lit(0),
        model="model",
        call_id_utc=clock(pl.col("tool_use_id").str.extract(_CALL_CLOCK)),
        key=pl.concat_str(pl.col("tool_name").fill_null(""), pl.lit("\0"), pl.col("tool_use_id").fill_null("")),
        keyed_by_text=pl.lit(value=True),
    )


def _results(calls: pl.DataFrame) -> pl.DataFrame:
    """The `tool_result` rows of states that no `tool` message repeats."""
    unfinished = pl.when(pl.col("status") != "done").then("status")
    text = pl.coalesce(trim(pl.format("[{}] {}", unfinished, "output")), "output")
    return calls.filter(pl.col("has_result") & pl.col("reply_line").is_null()).select(
        *_call_columns(text, "tool_result", "tool_result"),
        line="position",
        order_line="position",
        rank=pl.lit(RESULT),
        part="call_no",
        sub=pl.lit(0),
        model="model",
        keyed_by_text=pl.lit(value=False),
    )


def _answers(items: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """The `tool_result` rows of `tool` messages; one that answers no call stays, without a tool's name."""
    names = calls.select("artifact", "tool_name", "tool_use_id", "call_no", answers="call_no")
    return (
        items.filter((pl.col("role") == "tool") & has_text(pl.col("text")))
        .join(names, on=("artifact", "answers"), how="left", maintain_order="left")
        .select(
            "artifact",
            "text",
            "model",
            "tool_name",
            "call_no",
            tool_use_id=pl.coalesce("tool_use_id", "tool_call_id"),
            kind=pl.lit("tool_result"),
            turn_type=pl.lit("tool_result"),
            reasoning_utc="ended",
            line="position",
            order_line="position",
            rank=pl.lit(MESSAGE),
            part=pl.lit(0),
            sub=pl.lit(0),
            keyed_by_text=pl.col("call_no").is_null(),
        )
    )


def _decisions(calls: pl.DataFrame) -> pl.DataFrame:
    """The decision rows, each right behind its call's result, else behind the call."""
    blocked = pl.col("output_names").str.contains(r"(?m)^Security Policy Violation$")
    text = (
        pl.when((pl.col("status") == "canceled") & (pl.col("output") == "Permission denied by user"))
        .then(pl.lit("permission decision: canceled reason=user"))
        .when((pl.col("status") == "canceled") & (pl.col("output") == "Command blocked by security policy"))
        .then(pl.lit("permission decision: canceled reason=policy"))
        .when(pl.col("status") == "canceled")
        .then(pl.lit("permission decision: canceled"))
        .when((pl.col("status") == "errored") & blocked)
        .then(pl.lit("permission decision: errored reason=policy"))
    )
    answered = pl.col("reply_line").is_not_null()
    rank = pl.when(answered).then(MESSAGE).when("has_result").then(RESULT).otherwise(CALL)
    line = pl.coalesce("reply_line", "position")
    return calls.select(
        *(c for c in _call_columns(text, "permission_decision", "system") if c.meta.output_name() != "reasoning_utc"),
        reasoning_utc=pl.when(~answered).then("reasoning_utc"),
        line=line,
        order_line=line,
        rank=rank,
        part=pl.when(answered).then(0).otherwise("call_no"),
        sub=pl.lit(1),
        keyed_by_text=pl.lit(value=False),
    ).filter(pl.col("text").is_not_null())
