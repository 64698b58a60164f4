"""What the records of a chat session mean: stage two of every session source, in polars expressions alone.

The order of an item's rows: a change of model, thinking, summary, message, calls, results, decisions.
"""

from collections.abc import Mapping

import polars as pl

from parsers._paths import SCRATCH
from parsers._session_call_rows import CHANGE, HANDED, MESSAGE, SUMMARY, THINKING, drafts, with_facts
from parsers._session_tokens import states_tokens, token_notes, tokens
from pipeline.normalize import amount, count, count_fault, has_text, moment, notes, trim

_TURN = {
    "user": "user",
    "assistant": "assistant",
    "thinking": "thinking",
    "tool": "tool_result",
    "system": "system",
}
_COUNTS = {
    "prompt_tokens": "usage.promptTokens",
    "completion_tokens": "usage.completionTokens",
    "cached_tokens": "usage.promptTokensDetails.cachedTokens",
}
"""Raw columns that hold counts, and their fields in the file."""


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Turn the raw tables of `parsers._session` into the frames of `pipeline.staging`."""
    heads = raw["heads"]
    items = _items(raw["items"], heads)
    calls = with_facts(raw["calls"], items)
    rows = [*_head_rows(heads), *_item_rows(items), *drafts(items, calls)]
    return {
        "drafts": pl.concat(rows, how="diagonal_relaxed"),
        "calls": calls.select(*HANDED),
        "session_files": _sessions(heads, items),
        "contexts": _contexts(raw["context"]),
        "prompt_logs": raw["prompt_logs"].rename({"position": "line"}),
        "tokens": tokens(items),
        "faults": pl.concat([_head_notes(heads), _item_notes(items), token_notes(items)]),
        "silent": _silent(items),
    }


def _items(items: pl.DataFrame, heads: pl.DataFrame) -> pl.DataFrame:
    """Items with trimmed texts, their turn type, and the model named before them and in force."""
    items = items.join(heads.select("artifact", "chat_model"), on="artifact", how="left", maintain_order="left")
    items = items.with_columns(
        trim(pl.col("reasoning")),
        trim(pl.col("summary")),
        said=trim(pl.col("text")),
        known=pl.col("role").replace_strict(_TURN, default=None, return_dtype=pl.String),
        own_model=pl.coalesce("model_title", "usage_model"),
    )
    # An item of the CLI names the provider's model, not the editor's title: each is compared with its own kind.
    before = pl.col("own_model").forward_fill().shift(1).over("artifact")
    # Null where the role is known: only the texts that get it in front are written anew.
    foreign = pl.when(pl.col("known").is_null() & has_text(pl.col("said"))).then("role")
    return items.with_columns(
        text=pl.coalesce(pl.format("{}: {}", foreign, "said"), "said"),
        turn_type=pl.col("known").fill_null("system"),
        model_before=pl.when(pl.col("model_title").is_not_null())
        .then(pl.coalesce(pl.col("model_title").forward_fill().shift(1).over("artifact"), "chat_model"))
        .otherwise(pl.col("usage_model").forward_fill().shift(1).over("artifact")),
        any_before=pl.coalesce(before, "chat_model"),
        model=pl.coalesce(pl.col("own_model").forward_fill().over("artifact"), "chat_model"),
        started=moment(pl.col("reasoning_start")),
        ended=moment(pl.col("reasoning_end")),
    )


def _number(token: pl.Expr) -> pl.Expr:
    """A number as row texts write it: `-` for a value of a wrong type, null for none."""
    return pl.when(token.str.contains(r"^-?[0-9]")).then(token).when(token.is_not_null()).then(pl.lit("-"))


def _head_rows(heads: pl.DataFrame) -> list[pl.DataFrame]:
    """Session, model, permission mode and scratch directory rows."""
    parts = {
        "mode": pl.col("mode"),
        "items": pl.col("items").cast(pl.String),
        "promptTokens": _number(pl.col("prompt_tokens")),
        "completionTokens": _number(pl.col("completion_tokens")),
        "totalCost": _number(pl.col("total_cost")),
    }
    facts = pl.concat_str(
        [pl.format(f"{name}={{}}", value) for name, value in parts.items()], separator=" ", ignore_nulls=True
    )
    texts = {
        "session": facts,
        "model": pl.format("model: {}", "chat_model"),
        "permission_mode": pl.format("permission mode: {}", "mode"),
        "scratch_directory": pl.when(pl.col("workspace_directory").str.contains(SCRATCH)).then(
            pl.format("scratch directory: {} (cn review worktree)", "workspace_directory")
        ),
    }
    return [
        heads.select(
            "artifact",
            line=pl.lit(0),
            order_line=pl.lit(0),
            rank=pl.lit(rank),
            part=pl.lit(0),
            sub=pl.lit(0),
            kind=pl.lit(kind),
            turn_type=pl.lit("system"),
            text=trim(text),
            model=pl.col("chat_model") if kind == "model" else pl.lit(None, pl.String),
            keyed_by_text=pl.lit(value=False),
        ).filter(pl.col("text").is_not_null())
        for rank, (kind, text) in enumerate(texts.items())
    ]


def _item_rows(items: pl.DataFrame) -> list[pl.DataFrame]:
    """Rows of what an item says: model change, thinking, summary, message."""
    changed = pl.col("model_before").is_not_null() & (pl.col("model_before") != pl.col("own_model"))
    change = (
        pl.when(changed)
        .then(pl.format("model: {} -> {}", "model_before", "own_model"))
        .when(pl.col("any_before").is_null())
        .then(pl.format("model: {}", "own_model"))
    )
    said = pl.when(
        (pl.col("role").fill_null("") != "tool") & ~(pl.col("summary") == pl.col("said")).fill_null(value=False)
    ).then("text")
    spoken = pl.col("turn_type").is_in(["assistant", "thinking"])
    own, none = pl.col("own_model"), pl.lit(None, pl.String)
    return [
        _rows(items, CHANGE, "model", change, turn_type=pl.lit("system"), model=own),
        _rows(
            items,
            THINKING,
            "message",
            pl.col("reasoning"),
            turn_type=pl.lit("thinking"),
            model=pl.col("model"),
            utc="started",
        ),
        _rows(
            items,
            SUMMARY,
            "summary",
            pl.when(has_text(pl.col("summary"))).then(pl.format("conversation summary: {}", "summary")),
            turn_type=pl.lit("system"),
            model=none,
        ),
        _rows(
            items,
            MESSAGE,
            "message",
            said,
            turn_type=pl.col("turn_type"),
            model=pl.when(spoken).then("model"),
        ),
    ]


def _rows(
    items: pl.DataFrame,
    rank: int,
    kind: str,
    text: pl.Expr,
    *,
    turn_type: pl.Expr,
    model: pl.Expr,
    utc: str = "ended",
) -> pl.DataFrame:
    """One row per item whose `text` is not empty."""
    return items.select(
        "artifact",
        line="position",
        order_line="position",
        rank=pl.lit(rank),
        part=pl.lit(0),
        sub=pl.lit(0),
        kind=pl.lit(kind),
        turn_type=turn_type,
        text=text,
        model=model,
        reasoning_utc=pl.col(utc),
        keyed_by_text=pl.lit(value=True),
    ).filter(has_text(pl.col("text")))


def _sessions(heads: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """The sessions that the files are."""
    compacted = items.filter(has_text(pl.col("summary"))).select("artifact", compacted=pl.lit(value=True)).unique()
    return heads.join(compacted, on="artifact", how="left", maintain_order="left").select(
        "artifact",
        "session_id",
        "workspace_directory",
        "project_path",
        "mode",
        *(count(pl.col(name)) for name in _COUNTS),
        title=trim(pl.col("title")),
        total_cost_usd=amount(pl.col("total_cost")),
        compacted=pl.col("compacted").fill_null(value=False),
        scratch=pl.col("workspace_directory").str.contains(SCRATCH).fill_null(value=False),
    )


def _contexts(context: pl.DataFrame) -> pl.DataFrame:
    """The context items, with the count of equal ones before them in the file."""
    same = ("artifact", "provider", "name", "description", "uri", "content")
    return context.select(
        "artifact",
        "sequence",
        "provider",
        "name",
        "description",
        "uri",
        "content",
        line="position",
        content_bytes=pl.col("content").str.len_bytes().cast(pl.Int64),
        occurrence=pl.int_range(pl.len(), dtype=pl.Int32).over(*same),
    )


def _head_notes(heads: pl.DataFrame) -> pl.DataFrame:
    """Notes on counts and the cost that are none."""
    faults = [(field, count_fault(pl.col(name), count(pl.col(name)))) for name, field in _COUNTS.items()]
    faults.append(("usage.totalCost", count_fault(pl.col("total_cost"), amount(pl.col("total_cost")))))
    return notes(heads, pl.lit(0, pl.Int32), faults)


def _item_notes(items: pl.DataFrame) -> pl.DataFrame:
    """Notes on times that are none."""
    faults = [
        (field, pl.when(pl.col(name).is_not_null() & pl.col(value).is_null()).then(pl.lit("bad_timestamp")))
        for field, name, value in (
            ("reasoning.startAt", "reasoning_start", "started"),
            ("reasoning.endAt", "reasoning_end", "ended"),
        )
    ]
    return notes(items, pl.col("position"), faults)


def _silent(items: pl.DataFrame) -> pl.DataFrame:
    """Count the items that give no row: no text, call or tokens (its context items are records of their own)."""
    changes = pl.col("own_model").is_not_null() & (
        pl.col("any_before").is_null() | (pl.col("model_before") != pl.col("own_model")).fill_null(value=False)
    )
    speaks = has_text(pl.col("text")) | has_text(pl.col("reasoning")) | has_text(pl.col("summary"))
    silent = items.filter(~(speaks | changes | (pl.col("calls") > 0) | states_tokens()))
    return silent.group_by("artifact", maintain_order=True).agg(records=pl.len().cast(pl.Int64))
