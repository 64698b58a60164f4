"""Messages that PearAI's agent showed in its panel: `ui_messages.json`, an array of `ClineMessage`.

Shapes: src/schemas/index.ts (`clineMessageSchema`) and src/shared/ExtensionMessage.ts of PearAI's fork of Roo Code
3.15. A message asks or says something of a kind. The text of some kinds is JSON. A message that is being streamed is
`partial`, and is completed in place; a crash leaves it so. A call has no id, nor has its result: what a tool gives
back follows the call.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import polars as pl

from parsers._faults import Element
from parsers._fit import fit
from parsers._json import Json, as_text, compact, token
from parsers._task import head, inner, is_ui_message, read_messages, with_images, workspace_of
from parsers._task_calls import Asked, call_row
from parsers._text import Cleaner
from pipeline.schema import Column, Table
from pipeline.source import Records

TEXT, NUMBER, FLAG = pl.String(), pl.Int32(), pl.Boolean()

TOKENS = {
    "tokens_in": "tokensIn",
    "tokens_out": "tokensOut",
    "cache_reads": "cacheReads",
    "cache_writes": "cacheWrites",
    "cost": "cost",
}
"""Columns of what a request used, and their fields in its text (`ClineApiReqInfo`)."""

MESSAGES = Table(
    "messages",
    "one record per message that no later one completes",
    ("artifact", "position"),
    (
        Column("position", NUMBER, "1-based position in the file."),
        Column("ts", TEXT, "`ts`, a JSON token (ms since 1970)."),
        Column("type", TEXT, "`ask` or `say`."),
        Column("name", TEXT, "What it asks or says: the value of `ask` or `say`."),
        Column("is_first", FLAG, "Whether it is the first text that was said: the user's task."),
        Column("text", TEXT, "What it says, taken out of its JSON, with its images."),
        Column("tool_name", TEXT, "Tool of the call, or of the call whose result it is."),
        Column("tool_use_id", TEXT, "`ts` of that call."),
        Column("call_no", NUMBER, "Number of that call in the file."),
        *(Column(name, TEXT, f"`{key}` of a request, a JSON token.") for name, key in TOKENS.items()),
    ),
)

CALLS_ASKED = ("tool", "command", "use_mcp_server", "browser_action_launch", "browser_action")
RESULTS = ("command_output", "mcp_server_response", "browser_action_result", "subtask_result")
_REQUESTS = ("api_req_started", "api_req_finished")
_NAMED_BY = {"tool": ("tool", "tool"), "use_mcp_server": ("toolName", "type"), "browser_action": ("", "")}
"""Calls whose text is JSON: the key of the tool's name in it, and the key of what stands in for one."""


class Message(msgspec.Struct, gc=False):
    """`ClineMessage`."""

    ts: Any = None
    type: str | None = None
    ask: str | None = None
    say: str | None = None
    text: Any = None
    images: list[Any] | None = None
    partial: Any = None


@dataclass(slots=True)
class _Kept:
    """A message in its place, with what was odd about its text."""

    position: int
    message: Message
    kind: str
    name: str
    text: str
    cleaner: Cleaner
    wrong: list[str]


@dataclass(slots=True)
class _Call:
    """A call, and what its results say so far: (kind, text) of each."""

    asked: Asked
    identifier: str | None
    results: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class _File:
    """One file being read."""

    records: Records
    kept: dict[int, _Kept] = field(default_factory=dict)
    partial: dict[tuple[object, ...], int] = field(default_factory=dict)
    calls: list[_Call] = field(default_factory=list)
    requests: list[tuple[int, Mapping[str, Json]]] = field(default_factory=list)
    messages: int = 0
    workspace: str | None = None


def read(data: bytes, path: str, records: Records) -> None:
    """Read the messages; one that a later one of the same time and kind completes is silent."""
    file = _File(records)
    if not read_messages(data, records, is_ui_message, lambda *message: _keep(file, *message)):
        return
    # The user's task comes first: where that is lost, what was said next is the assistant's.
    losses = [problem for problem in records.problems if problem.text is not None and problem.position == 1]
    is_open = all(loss.reason in ("not_an_object", "wrong_type") for loss in losses)
    for kept in file.kept.values():
        is_first = is_open and kept.kind == "say" and kept.name == "text"
        is_open = is_open and not is_first
        _add(file, kept, is_first=is_first)
        records.note_all(kept.position, kept.cleaner.reasons, kept.wrong)
    rows = records.rows["calls"]
    rows.extend(call_row(number, call.asked, _output(call)) for number, call in enumerate(file.calls))
    records.rows["heads"].append(head(path, file.messages, file.workspace))


def _keep(file: _File, value: dict[str, Json], element: Element, cleaner: Cleaner, wrong: list[str]) -> None:
    """Keep a message until it is known that none completes it."""
    message = fit(Message, value, cleaner, wrong)
    kind = "ask" if message.say is None or (message.type == "ask" and message.ask is not None) else "say"
    name = (message.ask if kind == "ask" else message.say) or ""
    if not isinstance(message.text, str | None):
        wrong.append("text")
    if not isinstance(message.partial, bool | None):
        wrong.append("partial")
    text = as_text(message.text)
    file.messages += 1
    same = (token(message.ts) if isinstance(message.ts, int | float | str) else None, kind, name)
    earlier = file.partial.pop(same, None)
    if earlier is not None:
        del file.kept[earlier]
        file.records.silent += 1
    if message.partial is True and same[0] is not None:
        file.partial[same] = element.position
    # What its text holds is looked at later, with notes of its own.
    file.kept[element.position] = _Kept(element.position, message, kind, name, text, Cleaner(cleaner.bad), [])


def _add(file: _File, kept: _Kept, *, is_first: bool) -> None:
    """Add a message's row, and the call that it is or whose result it is."""
    text = kept.text
    usage: Mapping[str, Json] = {}
    if kept.name == "followup":
        text = _followup(kept)
    elif kept.name in _REQUESTS:
        usage = _stated(file, kept.name, _request(file, kept))
    elif kept.name in CALLS_ASKED:
        text = _call(file, kept)
    text = with_images(text, len(kept.message.images or ()))
    call = file.calls[-1] if file.calls and kept.name in (*CALLS_ASKED, *RESULTS) else None
    if call is not None and kept.name in RESULTS and (text.strip() or answers_empty(kept.kind, kept.name)):
        call.results.append((kept.kind, text))
    file.records.rows["messages"].append(
        (
            kept.position,
            token(kept.message.ts),
            kept.kind,
            kept.name,
            is_first,
            text,
            call.asked.tool if call else None,
            call.identifier if call else None,
            len(file.calls) - 1 if call else None,
            *_counts(usage),
        )
    )


def _counts(usage: Mapping[str, Json]) -> list[str | None]:
    return [token(usage.get(key)) for key in TOKENS.values()]


def _followup(kept: _Kept) -> str:
    """Question with its options, a line each; while it was streamed the text was the question alone."""
    asked = inner(kept.text, kept.cleaner, kept.wrong) if kept.text.lstrip().startswith("{") else None
    if asked is None:
        return kept.text
    # The program that the agent was forked from names them `options`, a list of texts.
    lists = [given for given in (asked.get("suggest"), asked.get("options")) if isinstance(given, list)]
    answers = [option.get("answer") if isinstance(option, dict) else option for option in next(iter(lists), [])]
    return "\n".join([as_text(asked.get("question")), *(f"- {as_text(answer)}" for answer in answers)])


def _request(file: _File, kept: _Kept) -> Mapping[str, Json]:
    """What a request to the model states of itself."""
    if not kept.text:
        return {}
    request = inner(kept.text, kept.cleaner, kept.wrong) or {}
    prompt = request.get("request")
    if file.workspace is None and isinstance(prompt, str):
        file.workspace = workspace_of(prompt)
    return request


def _stated(file: _File, name: str, usage: Mapping[str, Json]) -> Mapping[str, Json]:
    """What a request's own row states: the end of one that states its tokens is of that one, as the panel counts it.

    Old tasks state them at the end alone (src/shared/combineApiRequests.ts).
    """
    rows = file.records.rows["messages"]
    if name == "api_req_started":
        file.requests.append((len(rows), usage))
        return usage
    number, begun = file.requests.pop() if file.requests else (0, {})
    if not any(_counts(begun)):
        return usage
    rows[number] = (*rows[number][: -len(TOKENS)], *_counts({**begun, **usage}))
    return {}


def _call(file: _File, kept: _Kept) -> str:
    """Add a call; return what its row says: the command, else the arguments as JSON without the tool's name."""
    tool, text = kept.name, kept.text
    arguments: dict[str, Json] | None = None
    if kept.name == "command":
        tool, arguments = "execute_command", {"command": text}
    elif kept.name in _NAMED_BY:
        arguments = inner(text, kept.cleaner, kept.wrong)
        if arguments is not None:
            key, other = _NAMED_BY[kept.name]
            tool = _name(arguments, key) or _name(arguments, other) or tool
            arguments = {name: value for name, value in arguments.items() if name != key or tool != value}
            text = compact(arguments)
    asked = Asked(tool, arguments, text, is_mcp=kept.name == "use_mcp_server")
    file.calls.append(_Call(asked, as_text(kept.message.ts) or None))
    return text


def _name(arguments: Mapping[str, Json], key: str) -> str | None:
    value = arguments.get(key)
    return value if isinstance(value, str) else None


def answers_empty(kind: str, name: str) -> bool:
    """Say whether a result without a text is one: a question is none, nor the mark that the browser is starting."""
    return kind == "say" and name != "browser_action_result"


def _output(call: _Call) -> str | None:
    """What a call gave back: its results together, without one that repeats the one before; null without any.

    While a command runs the panel asks whether to go on, once with its output so far and once more when it ended
    (src/shared/combineCommandSequences.ts).
    """
    parts: list[str] = []
    before: tuple[str, str] | None = None
    for kind, text in call.results:
        if text and not (before and before[0] != kind and before[1] == text):
            parts.append(text)
        before = (kind, text)
    return "\n".join(parts) if call.results else None
