"""Completions and next edits that the editor offered: what their events have in common."""

from collections.abc import Mapping

import polars as pl

from parsers._event_rows import faults, filled, timed, truth, truth_fault
from pipeline.normalize import count, count_fault
from pipeline.schema import TEXT, Column

COLUMNS = (
    Column("model_name", TEXT, "`modelName`."),
    Column("model_provider", TEXT, "`modelProvider`."),
    Column("file_path", TEXT, "The file, a URI decoded."),
    Column("accepted", TEXT, "`accepted`, a JSON token; null where the user did neither."),
    Column("latency", TEXT, "How long the model took (ms), a JSON token."),
    Column("cache_hit", TEXT, "`cacheHit`, a JSON token."),
    Column("prompt", TEXT, "`prompt`."),
    Column("completion", TEXT, "`completion`."),
)


def stage(raw: Mapping[str, pl.DataFrame], latency: str) -> dict[str, pl.DataFrame]:
    """One suggestion an event; `latency` names the field of how long it took."""
    events = timed(raw)
    took = pl.col("latency")
    suggestions = events.select(
        "artifact",
        "line",
        "record",
        "key",
        "utc",
        "file_path",
        "prompt",
        "completion",
        model=filled("model_name"),
        provider=filled("model_provider"),
        accepted=truth("accepted"),
        latency_ms=count(took),
        cache_hit=truth("cache_hit"),
        prompt_chars=pl.col("prompt").str.len_chars(),
        completion_chars=pl.col("completion").str.len_chars(),
    )
    others = [
        truth_fault("accepted", "accepted"),
        truth_fault("cacheHit", "cache_hit"),
        (latency, count_fault(took, count(took))),
    ]
    return {"suggestions": suggestions, "faults": faults(events, others)}
