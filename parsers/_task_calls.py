"""Calls of an agent's task, whichever transcript tells of them: what was asked for and what came of it.

Texts of answers: src/core/prompts/responses.ts and src/core/tools/ of PearAI's fork of Roo Code 3.15. No transcript
states how a call ended: its status here is `done`, `errored` or `canceled` by its result, null without one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from parsers._call_outcome import BLOCKED, DENIED, NOT_RUN, Outcome, agent_exit_code, agent_outcome
from parsers._calls import read_call
from parsers._json import Json
from parsers._task import said
from parsers._text import Cleaner
from parsers._tool_names import tool_kind
from pipeline.normalize import trim
from pipeline.schema import Column, Table

TEXT, NUMBER, COUNT = pl.String(), pl.Int32(), pl.Int64()

CALLS = Table(
    "calls",
    "one record per call",
    ("artifact", "call_no"),
    (
        Column("call_no", NUMBER, "Number of the call in the file."),
        Column("arguments", TEXT, "Arguments as JSON without the tool's name, else as written."),
        Column("status", TEXT, "How it ended, by its result."),
        Column("output", TEXT, "What it gave back."),
        Column("tool_kind", TEXT, "`tool_calls.tool_kind`."),
        Column("decision", TEXT, "`tool_calls.decision`."),
        Column("decision_reason", TEXT, "`tool_calls.decision_reason`."),
        Column("ran", pl.Boolean(), "`tool_calls.ran`."),
        Column("command", TEXT, "`tool_calls.command`."),
        Column("file_path", TEXT, "`tool_calls.file_path`."),
        Column("old_text", TEXT, "`tool_calls.old_text`."),
        Column("new_text", TEXT, "`tool_calls.new_text`."),
        Column("lines_added", COUNT, "`tool_calls.lines_added`."),
        Column("lines_removed", COUNT, "`tool_calls.lines_removed`."),
        Column("exit_code", COUNT, "`tool_calls.exit_code`."),
    ),
)

_FAILED = "The tool execution failed with the following error:"
_REJECTED = "Changes were rejected by the user."
_IGNORED = re.compile(
    rf"\s*(?:{_FAILED}\s*<error>\s*|<file><path>[^<]*</path><error>)"
    r"Access to [^\n]+ is blocked by the \S+ file settings\."
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A call: its tool, its arguments where they are known, and as written."""

    tool: str | None
    arguments: Mapping[str, Json] | None
    stored: str
    is_mcp: bool = False


def call_row(number: int, asked: Asked, output: str | None, *, is_skipped: bool = False) -> tuple[object, ...]:
    """Row of `CALLS`: a call with the text of its results, null without one; `is_skipped` if it was passed over."""
    outcome = NOT_RUN if is_skipped else _outcome(output)
    status = None if output is None else _status(outcome, output)
    arguments = dict(asked.arguments) if asked.arguments is not None else asked.stored
    return (
        number,
        asked.stored,
        status,
        output,
        "mcp" if asked.is_mcp else tool_kind(asked.tool),
        *outcome,
        *read_call(asked.tool, (arguments,), is_done=status == "done", cleaner=Cleaner()),
        agent_exit_code(output) if output is not None else None,
    )


def _outcome(output: str | None) -> Outcome:
    """Say what became of a call: also of an edit that was shown and rejected, and of a file that a rule keeps away."""
    if output is not None and output.strip() == _REJECTED:
        return DENIED
    if output is not None and _IGNORED.match(output):
        return BLOCKED
    return agent_outcome(output)


def _status(outcome: Outcome, output: str) -> str:
    if outcome.decision in ("denied", "blocked"):
        return "canceled"
    return "errored" if output.lstrip().startswith(_FAILED) else "done"


def calls(raw: pl.DataFrame) -> pl.DataFrame:
    """The `calls` of a transcript, whose messages are records by themselves."""
    return raw.with_columns(
        trim(pl.col("arguments")),
        said(pl.col("output")),
        records=pl.lit(0, pl.Int32),
        output_bytes=pl.col("output").str.len_bytes().cast(pl.Int64),
    )
