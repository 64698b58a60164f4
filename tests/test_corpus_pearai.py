"""The lake of the real homes against what the JSON of PearAI's tasks and chats says: the standard library alone."""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.lake import Lake
from tests.oracle import compact, content, trimmed
from tests.tasks import corpus_tasks

Json = dict[str, Any]

PANEL = {path.split("/")[-2]: messages for path, messages in corpus_tasks("ui_messages.json")}
HISTORY = {path.split("/")[-2]: messages for path, messages in corpus_tasks("api_conversation_history.json")}
USER = ("user_feedback", "user_feedback_diff")
ASSISTANT = ("text", "completion_result", "followup")
CALLS = ("tool", "command", "use_mcp_server", "browser_action_launch")
RESULTS = ("command_output", "mcp_server_response", "browser_action_result", "subtask_result")
IMAGE = re.compile(r"data:image/[a-z]+;base64,[A-Za-z0-9+/=]*")


class Row(NamedTuple):
    """A row of the timeline."""

    line: int
    kind: str
    turn_type: str
    text: str
    utc: datetime | None
    model: str | None = None
    tool_name: str | None = None
    tool_use_id: str | None = None


@pytest.fixture(scope="module")
def listed(corpus: Path) -> dict[str, Json]:
    """The list of tasks, by id."""
    path = corpus / "kim/Library/Application Support/PearAI/User/globalStorage/state.vscdb"
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        ((value,),) = connection.execute("select value from ItemTable where key = 'pearai.pearai-roo-cline'")
    return {entry["id"]: entry for entry in json.loads(value)["taskHistory"]}


def utc(ms: int) -> datetime:
    return datetime.fromtimestamp(ms // 1000, UTC).replace(tzinfo=None, microsecond=ms % 1000 * 1000)


def shown(text: str, images: list[str] | None = None) -> str:
    """A text as a row has it, an image a line."""
    return trimmed(IMAGE.sub("[image]", "\n".join([text, *["[image]"] * len(images or ())])))


def asked(message: Json) -> tuple[str, str]:
    """The tool of a call, and its arguments as the row has them."""
    name, text = message["ask"], message["text"]
    if name in ("command", "browser_action_launch"):
        return "execute_command" if name == "command" else name, text
    key = "tool" if name == "tool" else "toolName"
    arguments = json.loads(text)
    return arguments[key], compact({other: value for other, value in arguments.items() if other != key})


def question(text: str) -> str:
    told = json.loads(text)
    return "\n".join([told["question"], *(f"- {option['answer']}" for option in told["suggest"])])


def panel_rows(messages: list[Json]) -> Iterator[Row]:
    """What a task's rows are: the first text is the user's, a result is of the call before it."""
    call: tuple[str, str] | None = None
    for line, message in enumerate(messages, 1):
        name, text, at = message[message["type"]], message.get("text", ""), utc(message["ts"])
        if name in CALLS:
            tool, arguments = asked(message)
            call = (tool, str(message["ts"]))
            yield Row(line, "tool_call", "tool_use", shown(arguments), at, None, *call)
        elif name in RESULTS:
            assert call
            yield Row(line, "tool_result", "tool_result", shown(text), at, None, *call)
        elif name in (*USER, *ASSISTANT, "reasoning"):
            said = shown(question(text) if name == "followup" else text, message.get("images"))
            turn = "thinking" if name == "reasoning" else "user" if line == 1 or name in USER else "assistant"
            if said:
                yield Row(line, "message", turn, said, at)
        else:
            yield Row(line, "notice", "system", trimmed(f"{name}: {shown(text)}"), at)


def decision_rows(messages: list[Json], panel: list[Row]) -> Iterator[Row]:
    """Denials of a history beside a panel: of the last call that the panel has by then."""
    for line, message in enumerate(messages, 1):
        parts = message["content"] if isinstance(message["content"], list) else []
        texts = [part.get("text", "") for part in parts]
        for header, answer in pairwise(texts):
            found = re.fullmatch(r"\[([a-z_]+) .*\] Result:", header)
            if found and answer.startswith("The user denied this operation"):
                at = utc(message["ts"])
                calls = [row for row in panel if row.kind == "tool_call" and row.utc and row.utc <= at]
                word = "denied with feedback" if "<feedback>" in answer else "denied"
                text = f"permission decision: {word}"
                yield Row(line, "permission_decision", "system", text, at, None, found[1], calls[-1].tool_use_id)


def chats(corpus: Path) -> Iterator[tuple[str, Json, Json]]:
    """File id, session and index entry of each chat."""
    folder = corpus / "kim/.pearai/sessions"
    entries = {entry["sessionId"]: entry for entry in json.loads((folder / "sessions.json").read_bytes())}
    for file in sorted(folder.glob("*-*.json")):
        yield file.stem, json.loads(file.read_bytes()), entries[file.stem]


def chat_rows(session: Json, entry: Json) -> Iterator[Row]:
    """What a chat's rows are; an item's model is that of its last request, and holds on."""
    items, at = session["history"] + session["perplexityHistory"], utc(int(entry["dateCreated"]))
    yield Row(0, "session", "system", f"session start: {trimmed(session['title'])} items={len(items)}", at)
    model = None
    for line, item in enumerate(items, 1):
        named = [log["completionOptions"]["model"] for log in item.get("promptLogs", ())]
        if named and named[-1] != model:
            change = f"model: {model} -> {named[-1]}" if model else f"model: {named[-1]}"
            model = named[-1]
            yield Row(line, "model", "system", change, at, model)
        role, text = item["message"]["role"], trimmed(content(item["message"]["content"]))
        if text:
            yield Row(line, "message", role, text, at, model if role == "assistant" else None)


ROWS = (
    "select source_line, kind, turn_type, text, timestamp_utc, model, tool_name, tool_use_id from timeline "
    "where \"user\" = 'kim' and session_id = ? and source = ? order by sequence"
)


def test_corpus_is_what_the_comparisons_below_rest_on(corpus: Path) -> None:
    assert {task: (len(messages), len(HISTORY[task])) for task, messages in PANEL.items()} == {
        "092fc27d-8db3-4334-b552-e9317b2f737e": (6, 4),
        "768db3ac-79a3-4e25-a7c7-b42a6bd09e84": (13, 6),
        "c61dae17-f695-421f-8766-df0b18d7f9fa": (18, 3),
        "ebb3613d-c22b-4f29-ab3b-8429aa89c2f3": (2, 1),
    }
    assert len(list(chats(corpus))) == 7
    assert [message["ts"] for messages in PANEL.values() for message in messages if message.get("partial")]


@pytest.mark.parametrize("task", PANEL)
def test_every_row_of_a_task_is_what_the_json_says(corpus_lake: Lake, task: str) -> None:
    panel = list(panel_rows(PANEL[task]))

    assert [Row(*row) for row in corpus_lake.rows(ROWS, task, "pearai.ui_messages")] == panel
    decisions = list(decision_rows(HISTORY[task], panel))
    assert [Row(*row) for row in corpus_lake.rows(ROWS, task, "pearai.api_history")] == decisions


@pytest.mark.parametrize("task", PANEL)
def test_every_call_of_a_task(corpus_lake: Lake, task: str) -> None:
    panel = list(panel_rows(PANEL[task]))
    denied = {row.tool_use_id for row in decision_rows(HISTORY[task], panel)}

    expected = []
    for call in panel:
        if call.kind == "tool_call":
            outputs = [row.text for row in panel if row.tool_use_id == call.tool_use_id and row.kind == "tool_result"]
            is_denied = call.tool_use_id in denied
            decision = "denied" if is_denied else "allowed" if outputs else "unknown"
            ran = None if decision == "unknown" else not is_denied
            command = call.text if call.tool_name == "execute_command" else None
            expected.append((*call[5:], call.text, call.utc, command, "\n".join(outputs) or None, decision, ran))
    assert expected == corpus_lake.rows(
        "select model, tool_name, tool_use_id, arguments, requested_utc, command, output, decision, ran "
        "from tool_calls where session_id = ? order by sequence",
        task,
    )


@pytest.mark.parametrize("task", PANEL)
def test_every_request_of_a_task(corpus_lake: Lake, listed: dict[str, Json], task: str) -> None:
    names, entry = ("tokensIn", "tokensOut", "cacheReads", "cacheWrites", "cost"), listed[task]
    requests = [(line, m) for line, m in enumerate(PANEL[task], 1) if m.get("say") == "api_req_started"]
    used = [(line, utc(m["ts"]), [json.loads(m["text"]).get(name) for name in names]) for line, m in requests]

    assert [(line, at, *counts) for line, at, counts in used] == corpus_lake.rows(
        "select source_line, utc, prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens, cost_usd "
        "from token_usage where session_id = ? and grain = 'request' order by source_line",
        task,
    )
    # The list's own sums are those of the requests, in which a missing number is none.
    sums = corpus_lake.row(
        "select prompt_tokens, completion_tokens, cached_tokens, total_cost_usd from sessions where session_id = ?",
        task,
    )
    stated = (entry["tokensIn"], entry["tokensOut"], entry.get("cacheReads"), entry["totalCost"])
    assert sums == pytest.approx(stated)


@pytest.mark.parametrize("task", PANEL)
def test_every_task_is_a_session(corpus_lake: Lake, listed: dict[str, Json], task: str) -> None:
    panel = list(panel_rows(PANEL[task]))
    turns = Counter(row.turn_type for row in panel if row.kind == "message")

    assert corpus_lake.row(
        "select has_file, damaged, started_utc, started_basis, user_turns, assistant_turns, tool_calls, "
        "last_event_utc >= started_utc, in_index, title, project_path from sessions where session_id = ?",
        task,
    ) == (
        *(True, False, panel[0].utc, "record", turns["user"], turns["assistant"]),
        *(sum(row.kind == "tool_call" for row in panel), True),
        *(True, trimmed(listed[task]["task"]), listed[task]["workspace"]),
    )
    assert corpus_lake.rows(
        "select distinct session_key = (select session_key from sessions where session_id = $1), project_path "
        "from timeline where session_id = $1",
        task,
    ) == [(True, listed[task]["workspace"])]
    silent = len(PANEL[task]) - len(panel)
    told = {row.line for row in decision_rows(HISTORY[task], panel)}
    assert corpus_lake.rows(
        "select parse_filename(path), records, rows, losses, silent from artifacts where contains(path, ?) "
        "order by path",
        f"{task}/",
    ) == [
        ("api_conversation_history.json", len(HISTORY[task]), len(told), 0, len(HISTORY[task]) - len(told)),
        ("ui_messages.json", len(PANEL[task]), len(panel), 0, silent),
    ]


def test_every_row_of_a_chat_is_what_the_json_says(corpus_lake: Lake, corpus: Path) -> None:
    for file_id, session, entry in chats(corpus):
        rows = list(chat_rows(session, entry))

        assert [Row(*row) for row in corpus_lake.rows(ROWS, file_id, "pearai.chat_session")] == rows, file_id
        turns = Counter(row.turn_type for row in rows if row.kind == "message")
        assert corpus_lake.row(
            "select title, project_path, started_utc, started_basis, user_turns, assistant_turns, integration_type, "
            "models, damaged from sessions where file_id = ?",
            file_id,
        ) == (
            *(trimmed(session["title"]), session["workspaceDirectory"] or None, rows[0].utc, "session"),
            *(turns["user"], turns["assistant"], entry["integrationType"]),
            *(list(dict.fromkeys(row.model for row in rows if row.model)), False),
        ), file_id


def test_nothing_else_is_told_of_the_home(corpus_lake: Lake, corpus: Path) -> None:
    panels = sum(len(list(panel_rows(messages))) for messages in PANEL.values())
    chat = sum(len(list(chat_rows(session, entry))) for _, session, entry in chats(corpus))
    lines = Counter(
        {
            name: len((corpus / f"kim/.pearai/dev_data/{name}.jsonl").read_text().splitlines())
            for name in ("chat", "tokens_generated")
        }
    )

    assert corpus_lake.pairs(
        "select source, count(*) from timeline where \"user\" = 'kim' and source <> 'pearai.state' group by all"
    ) == {
        "pearai.ui_messages": panels,
        "pearai.api_history": 1,
        "pearai.chat_session": chat,
        "pearai.chat_feedback": 3 * lines["chat"],
        "pearai.tokens_generated": lines["tokens_generated"],
    }
    assert not corpus_lake.count("twins", "\"user\" = 'kim'")
