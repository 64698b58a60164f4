"""Messages between PearAI's agent and its model: `api_conversation_history.json`, an array of `ApiMessage`.

Shape: src/core/task-persistence/apiMessages.ts and src/core/Cline.ts of PearAI's fork of Roo Code 3.15: `role`,
`content` (a text or parts) and `ts`, which old files lack. A call is a tag in the model's text; its result is in the
next message, in blocks behind a header that names the tool. Files from before the tags have `tool_use` and
`tool_result` parts with ids.
"""

from dataclasses import dataclass, field

import polars as pl

from parsers import _api_texts
from parsers._api_calls import Calls, Row
from parsers._api_prompts import Prompt, text_of
from parsers._faults import Element
from parsers._json import Json, as_text, clean, compact, token
from parsers._task import head, is_api_message, read_messages
from parsers._task_calls import Asked
from parsers._text import Cleaner
from parsers._xml_calls import Said, split
from pipeline.schema import Column, Table
from pipeline.source import Records

TEXT, NUMBER = pl.String(), pl.Int32()

MESSAGES = Table(
    "messages",
    "one record per message",
    ("artifact", "position"),
    (
        Column("position", NUMBER, "1-based position in the file."),
        Column("ts", TEXT, "`ts`, a JSON token (ms since 1970)."),
        Column("role", TEXT, "`role`."),
    ),
)
ROWS = Table(
    "rows",
    "one record per thing that a message says",
    ("artifact", "position", "part"),
    (
        Column("position", NUMBER, "1-based position of its message."),
        Column("part", NUMBER, "Order in its message, from 0."),
        Column("kind", TEXT, "`timeline.kind`."),
        Column("turn_type", TEXT, "`timeline.turn_type`."),
        Column("text", TEXT, "What it says."),
        Column("tool_name", TEXT, "Tool of its call."),
        Column("tool_use_id", TEXT, "Position of its call's message, with a number from the second call on, or an id."),
        Column("call_no", NUMBER, "Number of its call in the file."),
    ),
)


@dataclass(frozen=True, slots=True)
class _Message:
    """A message in its place."""

    position: int
    ts: str | None
    role: str
    parts: list[Json]


@dataclass(slots=True)
class _File:
    """One file being read."""

    messages: list[_Message] = field(default_factory=list)
    calls: Calls = field(default_factory=Calls)
    workspace: str | None = None


def read(data: bytes, path: str, records: Records) -> None:
    """Read the messages. What a reply holds is told with a look at the message behind it."""
    file = _File()
    if not read_messages(data, records, is_api_message, lambda *message: _keep(file, *message)):
        return
    for index, message in enumerate(file.messages):
        following = file.messages[index + 1] if index + 1 < len(file.messages) else None
        rows = _rows(file, message, following)
        records.rows["messages"].append((message.position, message.ts, message.role))
        records.rows["rows"].extend((message.position, part, *row.raw()) for part, row in enumerate(rows))
    records.rows["calls"].extend(call.row() for call in file.calls.all)
    records.rows["heads"].append(head(path, workspace=file.workspace))


def _keep(file: _File, value: dict[str, Json], element: Element, cleaner: Cleaner, wrong: list[str]) -> None:
    """Keep a message until all are read."""
    message = clean(value, cleaner)
    if isinstance(message, dict):
        content = message.get("content")
        if not isinstance(content, str | list | None):
            wrong.append("content")
        parts = content if isinstance(content, list) else [] if content is None else [as_text(content)]
        role = as_text(message.get("role"))
        file.messages.append(_Message(element.position, token(message.get("ts")), role, parts))


def _rows(file: _File, message: _Message, following: _Message | None) -> list[Row]:
    """Return the rows of a message."""
    if message.role == "assistant":
        file.calls.begin_reply()
        return _Reply(file.calls, message, _answered(following)).read()
    if message.role == "user":
        prompt = Prompt(file.calls)
        rows = prompt.read(message.parts)
        file.workspace = file.workspace or prompt.workspace
        return rows
    text = "\n".join(map(text_of, message.parts)).strip()
    return [Row("message", "system", f"{message.role}: {text}")] if text else []


def _answered(following: _Message | None) -> set[str]:
    """Tools whose calls the message behind a reply answers."""
    tools = set()
    if following is not None and following.role == "user":
        for part in following.parts:
            for block in map(str.strip, _api_texts.blocks(text_of(part))):
                header = _api_texts.header(block)
                tools.add(header.tool if header else _api_texts.not_run(block))
    return {tool for tool in tools if tool}


@dataclass(slots=True)
class _Reply:
    """One message of the model: its rows in order, and the text that was not looked at yet."""

    calls: Calls
    message: _Message
    answered: set[str]
    rows: list[Row] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    made: int = 0

    def read(self) -> list[Row]:
        """Return the rows of the message."""
        for part in self.message.parts:
            kind = part.get("type") if isinstance(part, dict) else None
            if kind in ("tool_use", "thinking", "redacted_thinking") and isinstance(part, dict):
                self._end_text()
                self._native(kind, part)
            else:
                self.texts.append(text_of(part))
        self._end_text()
        return self.rows

    def _end_text(self) -> None:
        """Add what the text so far says, and the calls in it."""
        text, self.texts = "\n".join(self.texts), []
        for piece in split(text, self.answered):
            if isinstance(piece, Said):
                self.rows.append(Row("message", "thinking" if piece.is_thinking else "assistant", piece.text))
            else:
                stored = compact(piece.arguments) if piece.arguments else piece.body
                self._add_call(Asked(piece.tool, piece.arguments, stored))

    def _native(self, kind: object, part: dict[str, Json]) -> None:
        """Add a part from before calls were tags. Thinking that the provider has encrypted says nothing."""
        if kind == "thinking":
            self.rows.append(Row("message", "thinking", as_text(part.get("thinking"))))
        elif kind == "tool_use":
            tool, identifier, given = part.get("name"), part.get("id"), part.get("input")
            arguments = given if isinstance(given, dict) else None
            asked = Asked(tool if isinstance(tool, str) else None, arguments, as_text(given))
            self._add_call(asked, identifier if isinstance(identifier, str) else None)

    def _add_call(self, asked: Asked, identifier: str | None = None) -> None:
        """Add a call; one without an id is named by the position of its message and its number in it."""
        self.made += 1
        place = f"{self.message.position}.{self.made}" if self.made > 1 else str(self.message.position)
        call = self.calls.add(identifier or place, asked)
        if identifier:
            self.calls.by_id.setdefault(identifier, []).append(call)
        self.rows.append(Row("tool_call", "tool_use", call.text, call))
