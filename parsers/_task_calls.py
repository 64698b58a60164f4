"""Calls of an agent's task, whichever transcript tells of them: what was asked for and what came of it.

Texts of answers: src/core/prompts/responses.ts and src/core/tools/ of PearAI's fork of Roo Code 3.15.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from parsers._json import Json
from pipeline.normalize import trim
from pipeline.schema import Column, Table

TEXT, NUMBER, FLAG = pl.String(), pl.Int32(), pl.Boolean()

CALLS = Table(
    "calls",
    "one record per call",
    ("artifact", "call_no"),
    (
        Column("call_no", NUMBER, "Number of the call in the file."),
        Column("arguments", TEXT, "Arguments as JSON without the tool's name, else as written."),
        Column("output", TEXT, "What the call gave back."),
        Column("tool_kind", TEXT, "`tool_calls.tool_kind`."),
        Column("decision", TEXT, "`tool_calls.decision`."),
        Column("decision_reason", TEXT, "`tool_calls.decision_reason`."),
        Column("ran", FLAG, "`tool_calls.ran`."),
        Column("command", TEXT, "`tool_calls.command`."),
        Column("file_path", TEXT, "`tool_calls.file_path`."),
        Column("new_text", TEXT, "`tool_calls.new_text`."),
        Column("exit_code", pl.Int64(), "`tool_calls.exit_code`."),
    ),
)

_WRITES = ("write_to_file", "insert_content", "newFileCreated")
_EXIT = re.compile(r"Command executed in terminal [^\n]*\. (?:[^\n]*\n)?Exit code: ([1-9][0-9]*)\n")
_FAILED = "The tool execution failed with the following error:"
_IGNORED = re.compile(r"Access to .+ is blocked by the \S+ file settings\.")


@dataclass(frozen=True, slots=True)
class Asked:
    """A call: its tool, and its arguments where they are known."""

    tool: str | None
    arguments: Mapping[str, Json] | None = None
    is_mcp: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call: its output, null for none; whether the user refused it, or the agent passed it over."""

    output: str | None = None
    is_denied: bool = False
    is_skipped: bool = False


def call_row(number: int, asked: Asked, stored: str, outcome: Outcome) -> tuple[object, ...]:
    """Row of `CALLS`."""
    arguments, output = asked.arguments or {}, outcome.output
    decision, reason, ran = _decided(outcome)
    is_done = ran is True and not (output or "").startswith(_FAILED)
    exit_code = _EXIT.match(output or "") if asked.tool == "execute_command" else None
    return (
        number,
        stored,
        output,
        "mcp" if asked.is_mcp else None,
        decision,
        reason,
        ran,
        _text(arguments, "command") if asked.tool == "execute_command" else None,
        _text(arguments, "path"),
        _text(arguments, "content") if asked.tool in _WRITES and is_done else None,
        int(exit_code[1]) if exit_code else None,
    )


def _decided(outcome: Outcome) -> tuple[str, str | None, bool | None]:
    """Decision, its reason, and whether the tool ran."""
    if outcome.is_denied:
        return "denied", "user", False
    if outcome.is_skipped:
        return "unknown", None, False
    if outcome.output is None:
        return "unknown", None, None
    if _IGNORED.search(outcome.output, 0, 2000):
        return "blocked", "policy", False
    return "allowed", None, True


def _text(arguments: Mapping[str, Json], key: str) -> str | None:
    value = arguments.get(key)
    return value if isinstance(value, str) else None


def calls(raw: pl.DataFrame) -> pl.DataFrame:
    """The `calls` of a transcript, whose messages are records by themselves."""
    return raw.with_columns(
        trim(pl.col("arguments")),
        trim(pl.col("output")),
        records=pl.lit(0, pl.Int32),
        output_bytes=pl.col("output").str.len_bytes().cast(pl.Int64),
    )
