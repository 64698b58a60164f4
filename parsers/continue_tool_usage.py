"""Continue: calls of tools that ended, one event a call.

File: `~/.continue/dev_data/0.2.0/toolUsage.jsonl` (schemas/data/toolUsage). It names no session. `accepted` and
`succeeded`: true and true, the call ran (also a command that failed); false and false, the tool failed; false and
true, the user refused it. Calls that a policy blocked are not logged. `functionParams` is the tool's definition.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
import polars as pl

from parsers._event_rows import faults, filled, rows, shown_truth, timed, together, truth, truth_fault
from parsers._events import Event, Kind
from parsers._json import as_text, token
from pipeline.normalize import trim
from pipeline.schema import TEXT, Column
from pipeline.source import Row, Source

CALL, RESULT, DECISION = ("tool_call", "tool_use"), ("tool_result", "tool_result"), ("permission_decision", "system")


class Output(msgspec.Struct, gc=False):
    """An element of `output`, in the shape of a context item."""

    content: Any = None


class Usage(Event, rename="camel", gc=False):
    """`toolUsage`."""

    tool_call_id: str | None = None
    function_name: str | None = None
    tool_call_args: Any = None
    accepted: Any = None
    succeeded: Any = None
    output: list[Output] | None = None


def _values(event: Usage) -> Row:
    return (
        event.tool_call_id,
        event.function_name,
        as_text(event.tool_call_args),
        token(event.accepted),
        token(event.succeeded),
        "\n\n".join([as_text(item.content) for item in event.output]) if event.output else None,
    )


KIND = Kind(
    Usage,
    (
        Column("tool_call_id", TEXT, "`toolCallId`."),
        Column("function_name", TEXT, "`functionName`."),
        Column("arguments", TEXT, "`toolCallArgs` as stored."),
        Column("accepted", TEXT, "`accepted`, a JSON token."),
        Column("succeeded", TEXT, "`succeeded`, a JSON token."),
        Column("output", TEXT, "Contents of `output` joined by a blank line; null without one."),
    ),
    _values,
    marks=("toolCallId", "functionName"),
    unread=("functionParams",),
)


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Three rows an event: the call, its result, the decision."""
    events = timed(raw)
    tool = {"tool_name": filled("function_name"), "tool_use_id": filled("tool_call_id")}
    accepted = shown_truth("accepted")
    outcome = pl.format("accepted={} succeeded={}", accepted, shown_truth("succeeded"))
    result = pl.concat_str([outcome, pl.col("output")], separator="\n", ignore_nulls=True)
    usages = events.select(
        "artifact",
        "line",
        "record",
        "utc",
        **tool,
        arguments=trim(pl.col("arguments")),
        accepted=truth("accepted"),
        succeeded=truth("succeeded"),
    )
    return {
        "drafts": together(
            (
                rows(events, 0, CALL, pl.col("arguments"), **tool),
                rows(events, 1, RESULT, result, **tool),
                rows(events, 2, DECISION, pl.format("permission decision: accepted={}", accepted), **tool),
            )
        ),
        "usages": usages,
        "faults": faults(events, [truth_fault("accepted", "accepted"), truth_fault("succeeded", "succeeded")]),
    }


SOURCE = Source(
    name="continue.tool_usage",
    agent="continue",
    pattern=re.compile(r"dev_data/(?:[^/]+/)?toolUsage\.jsonl"),
    tables=(KIND.table(),),
    read=KIND.read,
    stage=stage,
)
