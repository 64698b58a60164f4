"""The records of a chat session as its file has them: types for decoding, raw tables for what is kept.

Shape: `Session`, `ChatHistoryItem`, `ChatMessage`, `ToolCallState` of Continue's core/index.d.ts. Version 1.0 has one
`toolCallState` object where later ones have the list `toolCallStates`; entries of `promptLogs` were lists or `{}` in
some files of 2024. Every field has a default, and a type only where another one is of no use.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import polars as pl

from parsers._exchange import Hashed
from parsers._json import Json
from parsers._text import Cleaner
from pipeline.schema import Column, Table

TEXT, NUMBER = pl.String(), pl.Int32()

REPLY_COUNTS = {
    "prompt_tokens": "prompt_tokens",
    "completion_tokens": "completion_tokens",
    "cache_read_tokens": "prompt_tokens_details.cached_tokens",
    "cache_write_tokens": "prompt_tokens_details.cache_write_tokens",
}
"""Raw columns that hold the counts of a reply, and their fields in the file (`promptTokens` and so on in some)."""

HEADS = Table(
    "heads",
    "one record per session document",
    ("artifact",),
    (
        Column("session_id", TEXT, "`sessionId`."),
        Column("title", TEXT, "`title`."),
        Column("workspace_directory", TEXT, "`workspaceDirectory` as stored."),
        Column("project_path", TEXT, "`workspaceDirectory`, decoded."),
        Column("mode", TEXT, "`mode`."),
        Column("chat_model", TEXT, "`chatModelTitle`."),
        Column("items", NUMBER, "Elements of `history`, damaged ones included; null without one."),
        Column("prompt_tokens", TEXT, "`usage.promptTokens`, a JSON token."),
        Column("completion_tokens", TEXT, "`usage.completionTokens`, a JSON token."),
        Column("cached_tokens", TEXT, "`usage.promptTokensDetails.cachedTokens`, a JSON token."),
        Column("total_cost", TEXT, "`usage.totalCost`, a JSON token."),
    ),
)

ITEMS = Table(
    "items",
    "one record per element of `history`",
    ("artifact", "position"),
    (
        Column("position", NUMBER, "1-based position."),
        Column("role", TEXT, "`message.role`."),
        Column("text", TEXT, "`message.content`, parts joined by a line feed."),
        Column("reasoning", TEXT, "`reasoning.text`."),
        Column("reasoning_start", TEXT, "`reasoning.startAt`, a JSON token (ms)."),
        Column("reasoning_end", TEXT, "`reasoning.endAt`, a JSON token (ms)."),
        Column("summary", TEXT, "`conversationSummary`."),
        Column("model_title", TEXT, "Model of the last of `promptLogs` that names one."),
        Column("usage_model", TEXT, "`message.usage.model`."),
        *(Column(name, TEXT, f"`message.usage.{field}`, a JSON token.") for name, field in REPLY_COUNTS.items()),
        Column("cost_cents", TEXT, "`message.usage.cost_cents`, a JSON token."),
        Column("tool_call_id", TEXT, "`message.toolCallId`."),
        Column("answers", NUMBER, "Number of the call that a `tool` message answers."),
        Column("calls", NUMBER, "Calls of the item."),
    ),
)

CALLS = Table(
    "calls",
    "one record per tool call, with the state that pairs with it",
    ("artifact", "call_no"),
    (
        Column("position", NUMBER, "Position of its item."),
        Column("call_no", NUMBER, "Order among the calls of the file, from 0."),
        Column("records", NUMBER, "Raw records it was made from: the call, its state, or both."),
        Column("tool_use_id", TEXT, "`id` of the call, else `toolCallId` of the state."),
        Column("tool_name", TEXT, "`function.name`."),
        Column("arguments", TEXT, "`function.arguments` as stored, else `parsedArgs` as JSON."),
        Column("status", TEXT, "`status` of the state; null without one."),
        Column("outputs", NUMBER, "Output items of the state; null without a state."),
        Column(
            "output",
            TEXT,
            "Contents of the output items joined by a blank line, else the `tool` message's text.",
        ),
        Column("output_names", TEXT, "Names of the output items, a line each."),
        Column("answered", NUMBER, "Position of the `tool` message that answers it."),
        Column("tool_kind", TEXT, "Kind of its tool."),
        Column("decision", TEXT, "What was decided about it, as far as it tells itself."),
        Column("decision_reason", TEXT, "Who decided."),
        Column("ran", pl.Boolean(), "Whether its tool ran."),
        Column("command", TEXT, "Command that its arguments name."),
        Column("file_path", TEXT, "File or directory that its arguments name."),
        Column("old_text", TEXT, "Text that its edit replaced."),
        Column("new_text", TEXT, "Text that its edit wrote."),
        Column("lines_added", NUMBER, "Lines that its edit added."),
        Column("lines_removed", NUMBER, "Lines that its edit removed."),
        Column("exit_code", pl.Int64(), "Exit code of its command."),
    ),
)

CONTEXT = Table(
    "context",
    "one record per context item",
    ("artifact", "position", "sequence"),
    (
        Column("position", NUMBER, "Position of its item."),
        Column("sequence", NUMBER, "Order among the context items of the file, from 0."),
        Column("provider", TEXT, "`id.providerTitle`."),
        Column("name", TEXT, "`name`."),
        Column("description", TEXT, "`description`."),
        Column("uri", TEXT, "`uri.value`."),
        Column("content", TEXT, "`content`."),
    ),
)

PROMPT_LOGS = Table(
    "prompt_logs",
    "one record per entry of `promptLogs` with a prompt and a completion",
    (),
    (
        Column("position", NUMBER, "Position of its item."),
        Column("exchange", pl.Int64(), "Hash of its prompt and its completion, of this process."),
    ),
)

TABLES = (HEADS, ITEMS, CALLS, CONTEXT, PROMPT_LOGS)


class Function(msgspec.Struct, gc=False):
    """`ToolCall.function`; `arguments` is a text that holds JSON."""

    name: str | None = None
    arguments: Any = None


class Call(msgspec.Struct, gc=False):
    """`ToolCall`."""

    id: str | None = None
    function: Function | None = None


class Output(msgspec.Struct, gc=False):
    """An output item of a tool, in the shape of a context item."""

    name: str | None = None
    content: Any = None
    status: Any = None


class Tool(msgspec.Struct, gc=False):
    """`ToolCallState.tool`, the tool's definition, as far as it tells who serves it."""

    uri: Any = None


class State(msgspec.Struct, rename="camel", gc=False):
    """`ToolCallState`."""

    tool_call_id: str | None = None
    tool_call: Call | None = None
    status: str | None = None
    parsed_args: msgspec.Raw = msgspec.Raw()
    output: list[Output] | None = None
    tool: Tool | None = None


class ReplyDetails(msgspec.Struct, gc=False):
    """`message.usage.prompt_tokens_details`, in the API's words or in those of the editor's core."""

    cached_tokens: Any = None
    cache_read_tokens: Any = None
    cache_write_tokens: Any = None
    core_cached: Any = msgspec.field(default=None, name="cachedTokens")
    core_cache_write: Any = msgspec.field(default=None, name="cacheWriteTokens")


class ReplyUsage(msgspec.Struct, gc=False):
    """`message.usage`, in the API's words or in those of the editor's core; the cost is in whole cents."""

    model: Any = None
    prompt_tokens: Any = None
    completion_tokens: Any = None
    prompt_tokens_details: ReplyDetails | None = None
    core_prompt: Any = msgspec.field(default=None, name="promptTokens")
    core_completion: Any = msgspec.field(default=None, name="completionTokens")
    core_details: ReplyDetails | None = msgspec.field(default=None, name="promptTokensDetails")
    cost_cents: Any = None


class Message(msgspec.Struct, rename="camel", gc=False):
    """`ChatMessage`."""

    role: str | None = None
    content: Any = None
    tool_calls: list[Call] | None = None
    tool_call_id: str | None = None
    usage: ReplyUsage | None = None


class Prompt(msgspec.Struct, rename="camel", gc=False):
    """An entry of `promptLogs`."""

    model_title: Any = None
    prompt: Hashed | None = None
    completion: Hashed | None = None

    @property
    def model(self) -> object:
        """The model that the request went to."""
        return self.model_title


class Reasoning(msgspec.Struct, rename="camel", gc=False):
    """`reasoning`; times are numbers of ms since 1970, `endAt` missing where it was cut off."""

    text: str | None = None
    start_at: Any = None
    end_at: Any = None


class Uri(msgspec.Struct, gc=False):
    """`uri` of a context item."""

    value: str | None = None


class ContextId(msgspec.Struct, rename="camel", gc=False):
    """`id` of a context item."""

    provider_title: str | None = None


class ContextItem(msgspec.Struct, gc=False):
    """`ContextItemWithId`."""

    content: Any = None
    name: str | None = None
    description: str | None = None
    uri: Uri | None = None
    id: ContextId | None = None


class Item(msgspec.Struct, rename="camel", gc=False):
    """`ChatHistoryItem`."""

    message: Message
    context_items: list[ContextItem] | None = None
    tool_call_states: list[State] | None = None
    tool_call_state: State | None = None
    prompt_logs: list[Prompt] | None = None
    reasoning: Reasoning | None = None
    conversation_summary: str | None = None

    def contexts(self) -> Sequence[ContextItem]:
        """What came with the message."""
        return self.context_items or ()


class TokenDetails(msgspec.Struct, rename="camel", gc=False):
    """`usage.promptTokensDetails`."""

    cached_tokens: Any = None


class Usage(msgspec.Struct, rename="camel", gc=False):
    """`SessionUsage`."""

    prompt_tokens: Any = None
    completion_tokens: Any = None
    total_cost: Any = None
    prompt_tokens_details: TokenDetails | None = None


class Head(msgspec.Struct, rename="camel", gc=False):
    """`Session` without its history."""

    session_id: str | None = None
    title: str | None = None
    workspace_directory: str | None = None
    mode: str | None = None
    chat_model_title: str | None = None
    usage: Usage | None = None

    def arrays(self) -> Sequence[Sequence[Item] | None]:
        """Its arrays of items, in order."""
        return ()


class Session(Head, rename="camel", gc=False):
    """`Session`, whole."""

    history: list[Item] | None = None

    def arrays(self) -> Sequence[Sequence[Item] | None]:
        """Its one array of items."""
        return (self.history,)


@dataclass(frozen=True, slots=True)
class Format:
    """How a program writes a session: what decodes a healthy document, the type of an item, and the keys of arrays.

    Items of several arrays count on from one to the next.
    """

    decoder: msgspec.json.Decoder[Any]
    item: type[Item]
    arrays: tuple[str, ...]


def decoder(session: type[Head]) -> msgspec.json.Decoder[Any]:
    """Return what decodes a session of this type, prompts hashed one by one."""
    return msgspec.json.Decoder(session, dec_hook=_hashed)


def _hashed(_kind: type[Hashed], value: Json) -> Hashed:
    """Hash a value as an event's row has it, U+FFFD in the place of what no column takes."""
    return Hashed(Cleaner().text(value) if isinstance(value, str) and "\0" in value else value)


CONTINUE = Format(decoder(Session), Item, ("history",))
