"""What session files hold, by their JSON alone: a second opinion that shares no code with the pipeline.

Plain standard library, one item at a time, written from the row rules. It knows healthy files and files that
were cut; `Session.rows` is what the timeline should hold of a file, in order.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

Json = dict[str, Any]

SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""Unicode's White_Space, which is what polars' `strip_chars` trims; Python's own `strip` trims more."""

ROLES = {
    "user": "user",
    "assistant": "assistant",
    "thinking": "thinking",
    "tool": "tool_result",
    "system": "system",
}
SCRATCH = re.compile(r"(^|[/\\])cn-review-[0-9]+-[0-9]+$")
DENIALS = {
    ("canceled", "Permission denied by user"): "canceled reason=user",
    ("canceled", "Command blocked by security policy"): "canceled reason=policy",
}


class Row(NamedTuple):
    """A row of the timeline, without what the whole session shares."""

    line: int
    kind: str
    turn_type: str
    text: str
    model: str | None = None
    tool_name: str | None = None
    tool_use_id: str | None = None


class Context(NamedTuple):
    """A row of `context_items`."""

    line: int
    provider: str | None
    name: str | None
    description: str | None
    uri: str | None
    content: str | None


@dataclass(slots=True)
class Call:
    """A call with the state that pairs with it, and the `tool` message that answers it."""

    line: int
    name: str | None
    id: str | None
    arguments: str
    status: str | None
    output_items: list[Json]
    model: str | None
    answer_line: int | None = None
    answer: str | None = None

    @property
    def state_output(self) -> str:
        """Contents of the state's output items."""
        return "\n\n".join(content(item.get("content")) for item in self.output_items)

    @property
    def output(self) -> str | None:
        """What the tool returned."""
        return trimmed(self.state_output) if self.output_items else self.answer

    @property
    def decision(self) -> str | None:
        """The decision that its state tells."""
        if self.status == "errored" and any(
            item.get("name") == "Security Policy Violation" for item in self.output_items
        ):
            return "errored reason=policy"
        if self.status != "canceled":
            return None
        return DENIALS.get((self.status, trimmed(self.state_output)), "canceled")


@dataclass(slots=True)
class Session:
    """A session file: its head, its items, its entry of the home's index. A `cut` file ends in an item."""

    user: str
    path: Path
    head: Json
    items: list[Json]
    cut: bool
    entry: Json | None
    calls: list[Call] = field(default_factory=list)
    contexts: list[Context] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Its own title, else the index's."""
        return trimmed(self.head.get("title") or (self.entry or {}).get("title") or "")

    def count(self, kind: str, turn_type: str) -> int:
        """Number of its rows of a kind and turn type."""
        return sum(row.kind == kind and row.turn_type == turn_type for row in self.rows)


def clean(text: str) -> str:
    """Text as a column takes it: no NUL, no lone surrogate."""
    text = re.sub("\0{17,}", "\ufffd", text).replace("\0", "\ufffd")
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def trimmed(text: str) -> str:
    """Text without white space at both ends."""
    return clean(text).strip(SPACE)


def compact(value: object) -> str:
    """JSON as row texts write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def content(value: object) -> str:
    """Text of a message, or of an output item."""
    if value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(map(part, value))
    return value if isinstance(value, str) else compact(value)


def part(value: object) -> str:
    """Text of one part of a message."""
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return str(value["text"])
    if isinstance(value, dict) and value.get("type") == "imageUrl":
        return "[image]"
    return content(value)


def number(value: object) -> str | None:
    """Number as row texts write it."""
    return None if value is None else str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def source_file(session: Session) -> str:
    """Path of a session's file below its directory of homes."""
    return f"/{session.user}/.continue/sessions/{session.path.name}"


def sessions(homes: Path) -> list[Session]:
    """All Continue sessions of a directory of homes, by path."""
    files = sorted(homes.glob("*/.continue/sessions/*.json"))
    return [read(path, path.relative_to(homes).parts[0]) for path in files if path.name != "sessions.json"]


def read(path: Path, user: str) -> Session:
    """Read a session file and say what it should give."""
    entries = {entry["sessionId"]: entry for entry in reversed(index(path.with_name("sessions.json")))}
    head, items, cut = document(path.read_bytes())
    session = Session(user, path, head, items, cut, entries.get(path.stem) or entries.get(head.get("sessionId")))
    session.rows.extend(head_rows(session))
    _Reader(session).read()
    return session


def index(path: Path) -> list[Json]:
    """Entries of a healthy index."""
    entries: list[Json] = json.loads(path.read_bytes())
    return entries


def document(data: bytes) -> tuple[Json, list[Json], bool]:
    """Head and items of a session document, and whether it was cut behind them."""
    try:
        whole: Json = json.loads(data)
    except ValueError:
        text = data.decode(errors="ignore")
        start = text.index('"history"')
        head: Json = json.loads(text[:start].rstrip().removesuffix(",") + "}")
        return head, list(whole_items(text, text.index("[", start) + 1)), True
    return whole, whole.get("history", []), False


def whole_items(text: str, position: int) -> Iterator[Json]:
    """Items of an array that ends in one, from behind its bracket."""
    decoder = json.JSONDecoder()
    while True:
        position = len(text) - len(text[position:].lstrip(" \t\r\n,"))
        try:
            item, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError:
            return
        yield item


def head_rows(session: Session) -> Iterator[Row]:
    """Rows of the session as a whole. How many items a cut file had nobody knows: its row names none here."""
    head, usage = session.head, session.head.get("usage") or {}
    facts = {
        "mode": head.get("mode"),
        "items": None if session.cut else number(len(session.items)),
        "promptTokens": number(usage.get("promptTokens")),
        "completionTokens": number(usage.get("completionTokens")),
        "totalCost": number(usage.get("totalCost")),
    }
    words = ["session start:", session.title, *(f"{name}={value}" for name, value in facts.items() if value)]
    words.append("" if session.entry else "dateCreated unknown")
    yield Row(0, "session", "system", " ".join(filter(None, words)))
    if model := head.get("chatModelTitle"):
        yield Row(0, "model", "system", f"model: {model}", model)
    if mode := head.get("mode"):
        yield Row(0, "permission_mode", "system", f"permission mode: {mode}")
    if SCRATCH.search(workspace := head.get("workspaceDirectory") or ""):
        yield Row(0, "scratch_directory", "system", f"scratch directory: {workspace} (cn review worktree)")


class _Reader:
    """One walk over a session's items."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.title: str | None = session.head.get("chatModelTitle") or None
        self.usage_model: str | None = None
        self.model = self.title

    def read(self) -> None:
        """Fill in calls, context items and rows; a call's later answer decides where its decision stands."""
        drafts = [self.item_rows(line, item) for line, item in enumerate(self.session.items, 1)]
        for line, (said, calls) in enumerate(drafts, 1):
            self.session.rows.extend(said)
            answered = [call for call in self.session.calls if call.answer_line == line and call.answer]
            self.session.rows.extend(row for call in answered for row in decision(call, line))
            self.session.rows.extend(row for call in calls for row in requested(call))
            self.session.rows.extend(row for call in calls for row in returned(call))

    def item_rows(self, line: int, item: Json) -> tuple[list[Row], list[Call]]:
        """Rows of what an item says, and its calls."""
        rows, message = list(self.model_rows(line, item)), item["message"]
        if thought := trimmed((item.get("reasoning") or {}).get("text") or ""):
            rows.append(Row(line, "message", "thinking", thought, self.model))
        summary = trimmed(item.get("conversationSummary") or "")
        if summary:
            rows.append(Row(line, "summary", "system", f"conversation summary: {summary}"))
        rows.extend(self.said(line, message, summary))
        calls = list(self.calls(line, item))
        self.session.calls.extend(calls)
        self.session.contexts.extend(context(line, value) for value in item.get("contextItems") or ())
        return rows, calls

    def model_rows(self, line: int, item: Json) -> Iterator[Row]:
        """The row of another model than before; an item of the CLI is compared with the CLI's last."""
        logs = [log for log in item.get("promptLogs") or () if isinstance(log, dict) and log.get("modelTitle")]
        title = logs[-1]["modelTitle"] if logs else None
        own = title or (item["message"].get("usage") or {}).get("model")
        if not own:
            return
        before = self.title if title else self.usage_model
        if before and before != own:
            yield Row(line, "model", "system", f"model: {before} -> {own}", own)
        elif not self.model:
            yield Row(line, "model", "system", f"model: {own}", own)
        self.model = own
        if title:
            self.title = own
        else:
            self.usage_model = own

    def said(self, line: int, message: Json, summary: str) -> Iterator[Row]:
        """The row of a message, if it says anything."""
        role, words = message["role"], content(message.get("content"))
        text = trimmed(words if role in ROLES else f"{role}: {words}")
        if role == "tool":
            yield from self.answer(line, message, text)
        elif text and text != summary:
            model = self.model if role in ("assistant", "thinking") else None
            yield Row(line, "message", ROLES.get(role, "system"), text, model)

    def answer(self, line: int, message: Json, text: str) -> Iterator[Row]:
        """The result that a `tool` message is: that of the nearest earlier unanswered call of its id."""
        name, same = (
            message.get("toolCallId"),
            [call for call in self.session.calls if call.answer_line is None],
        )
        call = next((call for call in reversed(same) if name and call.id == name), None)
        if call:
            call.answer_line, call.answer = line, text
        if text:
            yield Row(line, "tool_result", "tool_result", text, self.model, call.name if call else None, name)

    def calls(self, line: int, item: Json) -> Iterator[Call]:
        """An item's calls in order, then the states that pair with none of them."""
        states = list(item.get("toolCallStates") or [])
        states += [item["toolCallState"]] if not states and item.get("toolCallState") else []
        waiting: dict[str | None, list[Json]] = defaultdict(list)
        for state in states:
            waiting[state.get("toolCallId")].append(state)
        paired: list[int] = []
        for place, call in enumerate(item["message"].get("toolCalls") or ()):
            same = waiting[call.get("id")] if call.get("id") else states[place : place + 1]
            state = same.pop(0) if same else {}
            paired.append(id(state))
            yield self.call(line, call, state)
        for state in states:
            if id(state) not in paired:
                yield self.call(line, state.get("toolCall") or {}, state)

    def call(self, line: int, call: Json, state: Json) -> Call:
        """A call with its state (`{}` without one)."""
        function = call.get("function") or {}
        arguments = function.get("arguments")
        if arguments in (None, ""):
            arguments = state.get("parsedArgs")
        return Call(
            line,
            function.get("name") or None,
            call.get("id") or state.get("toolCallId") or None,
            trimmed(content(arguments)),
            state.get("status"),
            state.get("output") or [],
            self.model,
        )


def requested(call: Call) -> Iterator[Row]:
    """The row of a call, and of its decision where no row tells its result."""
    yield Row(call.line, "tool_call", "tool_use", call.arguments, call.model, call.name, call.id)
    if not call.answer and not (call.output_items and call.answer_line is None):
        yield from decision(call, call.line)


def returned(call: Call) -> Iterator[Row]:
    """The row of the state's output where no `tool` message repeats it, and of the decision behind it."""
    if call.output_items and call.answer_line is None:
        prefix = "" if call.status == "done" else f"[{call.status}] "
        text = trimmed(prefix + call.state_output)
        yield Row(call.line, "tool_result", "tool_result", text, call.model, call.name, call.id)
        yield from decision(call, call.line)


def decision(call: Call, line: int) -> Iterator[Row]:
    """The row of a call's decision, if there was one."""
    if call.decision:
        text = f"permission decision: {call.decision}"
        yield Row(line, "permission_decision", "system", text, None, call.name, call.id)


def context(line: int, item: Json) -> Context:
    """A row of `context_items`."""
    texts = (item.get("id") or {}).get("providerTitle"), item.get("name"), item.get("description")
    stored = (*texts, (item.get("uri") or {}).get("value"), item.get("content"))
    return Context(line, *(None if text is None else clean(content(text)) for text in stored))


def odd_texts(session: Session) -> set[tuple[int, str]]:
    """Line and reason of the notes on texts that no column takes as they are; line 0 is the head."""
    head = [session.head.get(name) for name in ("title", "workspaceDirectory", "mode", "chatModelTitle")]
    return {(0, reason) for reason in odd(head)}.union(
        (line, reason) for line, item in enumerate(session.items, 1) for reason in odd(read_parts(item))
    )


def read_parts(item: Json) -> list[object]:
    """What of an item goes into the lake."""
    message, states = item["message"], item.get("toolCallStates") or []
    read = [item.get(name) for name in ("reasoning", "conversationSummary", "contextItems")]
    called = [state.get(name) for state in states for name in ("toolCall", "output")]
    return [message.get("content"), message.get("toolCalls"), *read, *called]


def odd(value: object) -> set[str]:
    """Reasons for notes on the texts of a JSON value."""
    if isinstance(value, str):
        found = {"nul_character"} if "\0" in value else set()
        return found | ({"lone_surrogate"} if re.search("[\ud800-\udfff]", value) else set())
    members = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    return set().union(*map(odd, members))
