"""What the state of PearAI's agent means: stage two of `pearai.state`.

A task is a row at the time of its last message, an entry of a list of sessions, and tokens; a setting is a row at the
file's time, and a rule.
"""

from collections.abc import Mapping

import polars as pl

from parsers._event_rows import shown_number, shown_text
from pipeline.normalize import amount, count, count_fault, moment, notes, trim

COUNTS = {
    "prompt_tokens": "tokensIn",
    "completion_tokens": "tokensOut",
    "cache_read_tokens": "cacheReads",
    "cache_write_tokens": "cacheWrites",
}
"""Raw columns that hold counts, and their fields in the file."""


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Turn the raw items and settings into the frames of `pipeline.staging`."""
    items = raw["items"].with_columns(
        own_utc=moment(pl.col("ts")), line="position", named_session="session_id", key="session_id"
    )
    rules = raw["rules"].with_columns(line=pl.lit(0), scope=pl.lit("setting"), key="rule")
    return {
        "drafts": pl.concat([_tasks(items), _settings(rules)], how="diagonal_relaxed"),
        "entries": _entries(items),
        "tokens": _tokens(items),
        "rules": rules,
        "faults": _faults(items),
    }


def _tasks(items: pl.DataFrame) -> pl.DataFrame:
    """One row per item."""
    created = pl.format(
        " | creator mode: newProjectType={} newProjectPath={}", shown_text("new_type"), shown_text("new_path")
    )
    text = pl.format(
        "task: {} | tokensIn={} tokensOut={} totalCost={} number={}{}",
        shown_text("task"),
        shown_number("prompt_tokens"),
        shown_number("completion_tokens"),
        shown_number("cost"),
        shown_number("number"),
        pl.when("is_created").then(created).otherwise(pl.lit("")),
    )
    return items.select(
        "artifact",
        "line",
        "key",
        "named_session",
        "own_utc",
        own_basis=pl.lit("record"),
        order_line="line",
        rank=pl.lit(0),
        part=pl.lit(0),
        sub=pl.lit(0),
        kind=pl.lit("task"),
        turn_type=pl.lit("system"),
        text=trim(text),
        keyed_by_text=pl.lit(value=False),
    )


def _settings(rules: pl.DataFrame) -> pl.DataFrame:
    """One row per setting."""
    place = "(from state.vscdb pearai.pearai-roo-cline, file mtime)"
    return rules.select(
        "artifact",
        "line",
        "record",
        "key",
        own_basis=pl.lit("file"),
        order_line="line",
        rank="record",
        part=pl.lit(0),
        sub=pl.lit(0),
        kind=pl.lit("permission_setting"),
        turn_type=pl.lit("system"),
        text=pl.format(f"permission setting: {{}}={{}} {place}", "rule", "value"),
        keyed_by_text=pl.lit(value=False),
    )


def _entries(items: pl.DataFrame) -> pl.DataFrame:
    """The tasks, as entries of a list of sessions."""
    return items.select(
        "artifact",
        "position",
        "session_id",
        "workspace_directory",
        "project_path",
        title=trim(trim(pl.col("task")).str.extract(r"^([^\r\n]*)")),
        created_utc="own_utc",
        basis=pl.lit("task_list"),
        scratch=pl.lit(value=False),
    )


def _tokens(items: pl.DataFrame) -> pl.DataFrame:
    """The tokens of each task that states some; of several items of one id those of the last."""
    last = items.unique(("artifact", "session_id"), keep="last", maintain_order=True)
    return last.select(
        "artifact",
        "line",
        "key",
        "named_session",
        "own_utc",
        *(count(pl.col(name)) for name in COUNTS),
        grain=pl.lit("task"),
        cost_usd=amount(pl.col("cost")),
    ).filter(pl.any_horizontal(pl.col(*COUNTS, "cost_usd").is_not_null()))


def _faults(items: pl.DataFrame) -> pl.DataFrame:
    """Notes on times and numbers that are none."""
    bad_time = pl.when(pl.col("ts").is_not_null() & pl.col("own_utc").is_null()).then(pl.lit("bad_timestamp"))
    counts = [(field, count_fault(pl.col(name), count(pl.col(name)))) for name, field in COUNTS.items()]
    cost = ("totalCost", count_fault(pl.col("cost"), amount(pl.col("cost"))))
    number = ("number", pl.when(~pl.col("number").str.contains(r"^-?[0-9]")).then(pl.lit("wrong_type")))
    return notes(items, pl.col("line"), [("ts", bad_time), *counts, cost, number])
