"""What each kind of event line means: rows of the timeline, and what other tables are made from."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from parsers import classify
from parsers._exchange import exchange
from parsers._prompts import last_user_block
from tests.events import TIMESTAMP, Staged, lines_of, staged

AT = datetime(2026, 9, 15, 8, 31)
MS = 1789461060000
CONTINUE, PEARAI = ".continue/dev_data/0.2.0/", ".pearai/dev_data/"
ROW = ("kind", "turn_type", "text", "model", "tool_name", "tool_use_id", "named_session")

Event = dict[str, object]
Read = Callable[..., Staged]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Stage the events of a file of that path below a home."""

    def reading(below: str, *events: Event) -> Staged:
        path = tmp_path / "events"
        path.write_bytes(lines_of(*events))
        return staged(path, below)

    return reading


@pytest.mark.parametrize(
    ("agent", "path", "source"),
    [
        ("continue", "dev_data/0.2.0/chatInteraction.jsonl", "continue.chat_interaction"),
        ("continue", "dev_data/chatInteraction.jsonl", "continue.chat_interaction"),
        ("continue", "dev_data/0.2.0/x/chatInteraction.jsonl", None),
        ("continue", "dev_data/0.2.0/chatInteraction.jsonl.bak", None),
        ("continue", "dev_data/0.2.0/toolUsage.jsonl", "continue.tool_usage"),
        ("continue", "dev_data/0.2.0/editInteraction.jsonl", "continue.edit_interaction"),
        ("continue", "dev_data/0.2.0/editOutcome.jsonl", "continue.edit_outcome"),
        ("continue", "dev_data/0.1.0/chatFeedback.jsonl", "continue.chat_feedback"),
        ("continue", "dev_data/chat.jsonl", "continue.chat_feedback"),
        ("continue", "dev_data/0.2.0/tokensGenerated.jsonl", "continue.tokens_generated"),
        ("continue", "dev_data/tokens_generated.jsonl", "continue.tokens_generated"),
        ("continue", "dev_data/autocomplete.jsonl", "continue.autocomplete"),
        ("continue", "dev_data/0.2.0/nextEditOutcome.jsonl", "continue.next_edit"),
        ("continue", "dev_data/0.2.0/nextEditWithHistory.jsonl", None),
        ("continue", "dev_data/quickEdit.jsonl", None),
        ("pearai", "dev_data/chat.jsonl", "pearai.chat_feedback"),
        ("pearai", "dev_data/0.2.0/chat.jsonl", None),
        ("pearai", "dev_data/tokens_generated.jsonl", "pearai.tokens_generated"),
        ("pearai", "dev_data/autocomplete.jsonl", None),
    ],
)
def test_sources_are_known_by_path(agent: str, path: str, source: str | None) -> None:
    assert classify(agent, path) == source


def test_chat_interaction(read: Read) -> None:
    event = {
        "timestamp": TIMESTAMP,
        "prompt": " <user>\nhi\n\n",
        "completion": "<assistant>\n\n yes \n",
        "modelName": "gpt-4o",
        "modelTitle": "GPT-4o",
        "sessionId": "s",
    }

    found = read(CONTINUE + "chatInteraction.jsonl", event)

    assert found.rows(*ROW) == [
        ("message", "user", "<user>\nhi", None, None, None, "s"),
        ("message", "assistant", "<assistant>\n\n yes", "GPT-4o", None, None, "s"),
    ]
    assert set(found.rows("own_utc", "own_basis", "keyed_by_text", "line", "record")) == {(AT, "record", False, 1, 1)}
    pair = exchange(" <user>\nhi\n\n", "<assistant>\n\n yes \n")
    columns = ("line", "record", "session_id", "utc", "exchange", "reply")
    assert found.rows(*columns, frame="exchanges") == [(1, 1, "s", AT, pair, "yes")]
    assert found["silent"].height == 0


@pytest.mark.parametrize(
    ("completion", "reply"),
    [
        ("yes", "yes"),
        ("<assistant>\r\nyes\n\n<assistant>\n\nls()", "yes\n\n<assistant>\n\nls()"),
        ("\n<assistant>\nyes", "yes"),
        ("<assistant> yes", "<assistant> yes"),
        ("<assistant>", None),
        (" ", None),
        (None, None),
    ],
)
def test_reply_of_an_exchange(completion: str | None, reply: str | None, read: Read) -> None:
    found = read(CONTINUE + "chatInteraction.jsonl", {"prompt": "p", "completion": completion})

    assert found.rows("reply", frame="exchanges") == [(reply,)]


def test_empty_sides_give_no_row(read: Read) -> None:
    sides: list[Event] = [{"prompt": "p", "completion": " \n"}, {"completion": "c"}, {"prompt": ""}, {}]

    found = read(CONTINUE + "chatInteraction.jsonl", *sides)

    assert found.rows("line", "text") == [(1, "p"), (2, "c")]
    assert found.rows("records", frame="silent") == [(2,)]
    assert found["faults"].height == 0


@pytest.mark.parametrize("stamp", [TIMESTAMP, MS, str(MS), "2026-09-15T10:31:00.000+02:00"])
def test_times_of_every_form(stamp: object, read: Read) -> None:
    found = read(CONTINUE + "chatInteraction.jsonl", {"timestamp": stamp, "prompt": "p"})

    assert found.rows("own_utc", "own_basis") == [(AT, "record")]


def test_times_that_are_none(read: Read) -> None:
    stamps: list[object] = ["soon", 5, True, "2019-01-01T00:00:00Z", [], None]

    found = read(CONTINUE + "chatInteraction.jsonl", *[{"timestamp": stamp, "prompt": "p"} for stamp in stamps])

    assert found.rows("own_utc", "own_basis") == [(None, "record")] * 6
    assert found.notes() == [(line, "bad_timestamp", "timestamp") for line in range(1, 6)]


def test_names_that_are_empty_are_none(read: Read) -> None:
    found = read(
        CONTINUE + "chatInteraction.jsonl", {"completion": "c", "modelTitle": "", "modelName": "n", "sessionId": ""}
    )

    assert found.rows(*ROW) == [("message", "assistant", "c", "n", None, None, None)]


def test_tool_usage(read: Read) -> None:
    event = {
        "timestamp": TIMESTAMP,
        "toolCallId": "c1",
        "functionName": "ls",
        "functionParams": {"type": "object"},
        "toolCallArgs": ' {"dirPath": "."} ',
        "accepted": True,
        "succeeded": False,
        "output": [{"name": "a", "content": "one\n"}, {"content": None}, {"content": {"b": 1.0}}, {"content": " two "}],
    }

    found = read(CONTINUE + "toolUsage.jsonl", event)

    output = 'one\n\n\n\n\n{"b":1}\n\n two'
    assert found.rows(*ROW) == [
        ("tool_call", "tool_use", '{"dirPath": "."}', None, "ls", "c1", None),
        ("tool_result", "tool_result", f"accepted=true succeeded=false\n{output}", None, "ls", "c1", None),
        ("permission_decision", "system", "permission decision: accepted=true", None, "ls", "c1", None),
    ]
    columns = ("line", "record", "utc", "tool_use_id", "tool_name", "arguments", "accepted", "succeeded")
    assert found.rows(*columns, frame="usages") == [(1, 1, AT, "c1", "ls", '{"dirPath": "."}', True, False)]
    assert found["faults"].height == 0


@pytest.mark.parametrize("output", [None, [], [{"content": ""}], [{}]])
def test_tool_usage_without_output(output: object, read: Read) -> None:
    found = read(
        CONTINUE + "toolUsage.jsonl", {"toolCallId": "c", "accepted": False, "succeeded": True, "output": output}
    )

    assert found.texts() == ["", "accepted=false succeeded=true", "permission decision: accepted=false"]


def test_tool_usage_without_outcome(read: Read) -> None:
    found = read(
        CONTINUE + "toolUsage.jsonl", {"toolCallId": "c"}, {"toolCallId": "d", "accepted": "true", "succeeded": 1}
    )

    assert found.texts() == ["", "accepted=- succeeded=-", "permission decision: accepted=-"] * 2
    assert found.rows("accepted", "succeeded", frame="usages") == [(None, None)] * 2
    assert found.notes() == [(2, "wrong_type", "accepted, succeeded")]


def test_edit_interaction(read: Read) -> None:
    event = {"timestamp": TIMESTAMP, "prompt": "add types ", "completion": "x = 1\n", "modelTitle": "M"}

    found = read(CONTINUE + "editInteraction.jsonl", {**event, "filepath": "file:///a%20b.py"}, {"modelName": "n"})

    assert found.rows(*ROW) == [
        ("edit", "system", "edit interaction: file=file:///a%20b.py", "M", None, None, None),
        ("message", "user", "add types", None, None, None, None),
        ("message", "assistant", "x = 1", "M", None, None, None),
        ("edit", "system", "edit interaction: file=-", "n", None, None, None),
    ]


@pytest.mark.parametrize(
    ("event", "text", "notes"),
    [
        (
            {"accepted": True, "previousCodeLines": 9, "newCodeLines": 10.0},
            "accepted=true file=a.py lines 9 -> 10",
            None,
        ),
        ({"accepted": False, "newCodeLines": 0}, "accepted=false file=a.py lines - -> 0", None),
        ({"accepted": True, "filepath": ""}, "accepted=true file= lines - -> -", None),
        ({"filepath": None}, "accepted=- file=- lines - -> -", None),
        (
            {"accepted": 1, "previousCodeLines": "9", "newCodeLines": True},
            "accepted=- file=a.py lines - -> -",
            "accepted, previousCodeLines, newCodeLines",
        ),
        ({"newCodeLines": 1e300 * 10}, "accepted=- file=a.py lines - -> 1e+301", None),
        ({"newCodeLines": 12345678901234567890123}, "accepted=- file=a.py lines - -> 12345678901234567890123", None),
        ({"newCodeLines": -1.50}, "accepted=- file=a.py lines - -> -1.5", None),
    ],
)
def test_edit_outcome(event: Event, text: str, notes: str | None, read: Read) -> None:
    found = read(CONTINUE + "editOutcome.jsonl", {"prompt": "p", "modelTitle": "M", "filepath": "a.py", **event})

    decision = f"permission decision: edit {text}"
    assert found.rows(*ROW) == [("permission_decision", "system", decision, "M", None, None, None)]
    assert found.notes() == ([(1, "wrong_type", notes)] if notes else [])


@pytest.mark.parametrize("file", ["0.2.0/chatFeedback.jsonl", "chat.jsonl"])
def test_chat_feedback(file: str, read: Read) -> None:
    rated = {"timestamp": TIMESTAMP, "prompt": "p", "completion": "c", "sessionId": "s"}
    old = {"prompt": "q", "modelName": "n", "completionOptions": {}}

    found = read(
        f".continue/dev_data/{file}",
        {**rated, "modelTitle": "M", "modelName": "n", "feedback": True},
        {**old, "completion": "d", "feedback": False},
        {**old, "feedback": "yes"},
    )

    assert found.rows(*ROW) == [
        ("message", "user", "p", None, None, None, "s"),
        ("message", "assistant", "c", "M", None, None, "s"),
        ("feedback", "system", "chat feedback: feedback=true model=M", None, None, None, "s"),
        ("message", "user", "q", None, None, None, None),
        ("message", "assistant", "d", "n", None, None, None),
        ("feedback", "system", "chat feedback: feedback=false model=-", None, None, None, None),
        ("message", "user", "q", None, None, None, None),
        ("feedback", "system", "chat feedback: feedback=- model=-", None, None, None, None),
    ]
    assert found.notes() == [(3, "wrong_type", "feedback")]


def test_continue_tokens(read: Read) -> None:
    event = {"timestamp": TIMESTAMP, "model": "m", "provider": "p", "promptTokens": 12, "generatedTokens": 3.0}

    found = read(CONTINUE + "tokensGenerated.jsonl", event, {"model": "", "promptTokens": "12", "generatedTokens": 2.5})

    columns = ("line", "record", "grain", "own_utc", "model", "provider", "prompt_tokens", "completion_tokens")
    assert found.rows(*columns, frame="tokens") == [
        (1, 1, "request", AT, "m", "p", 12, 3),
        (2, 2, "request", None, None, None, None, None),
    ]
    assert found.notes() == [(2, "wrong_type", "promptTokens, generatedTokens")]
    assert found["rows"].height == 0


def test_pearai_tokens(read: Read) -> None:
    found = read(
        PEARAI + "tokens_generated.jsonl",
        {"model": "m", "provider": "pearai-server", "promptTokens": 10, "generatedTokens": 2},
        {"model": "m", "provider": "x", "promptTokens": "12", "generatedTokens": 1},
        {"promptTokens": 0},
    )

    assert found.rows("kind", "turn_type", "text", "model", "own_utc", "named_session") == [
        ("usage", "system", f"tokens generated: {text}", model, None, None)
        for text, model in (
            ("model=m provider=pearai-server promptTokens=10 generatedTokens=2", "m"),
            ("model=m provider=x promptTokens=- generatedTokens=1", "m"),
            ("model=- provider=- promptTokens=0 generatedTokens=-", None),
        )
    ]
    assert found.rows("prompt_tokens", "completion_tokens", frame="tokens") == [(10, 2), (None, 1), (0, None)]
    assert found.notes() == [(2, "wrong_type", "promptTokens")]


def test_pearai_feedback(read: Read) -> None:
    rated = {"completionOptions": {"model": "m"}, "completion": "c", "sessionId": "s"}

    found = read(
        PEARAI + "chat.jsonl",
        {
            **rated,
            "prompt": "<system>\nbe\n\n<user>\none\n\n<assistant>\ntwo\n\n<user>\nthree\n\nfour\n\n",
            "feedback": True,
        },
        {"prompt": "p", "completion": "c", "completionOptions": {}, "feedback": False},
        {"completionOptions": {"model": 5}, "prompt": "<user>\n\n"},
    )

    rating = "user feedback: {} (from dev_data/chat.jsonl)"
    assert found.rows(*ROW) == [
        ("message", "user", "three\n\nfour", None, None, None, "s"),
        ("message", "assistant", "c", "m", None, None, "s"),
        ("feedback", "system", rating.format("true"), None, None, None, "s"),
        ("message", "user", "p", None, None, None, None),
        ("message", "assistant", "c", None, None, None, None),
        ("feedback", "system", rating.format("false"), None, None, None, None),
        ("feedback", "system", rating.format("-"), None, None, None, None),
    ]
    assert set(found.rows("own_utc", "own_basis")) == {(None, "record")}
    assert found.notes() == [(3, "wrong_type", "model")]


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("", None),
        ("p", None),
        ("a prompt\n<user>\nof another form", None),
        ("<user>\na\n\n", "a\n\n"),
        ("<user>\na", "a"),
        ("<user>why", "why"),
        ("<user>\r\na", "a"),
        ("<user>\na\n\n<user>\nb\n\n", "b\n\n"),
        ("<user>\na\n\n<assistant>\nb\n\n", "a"),
        ("<user>\na\n\n<assistant>\nb\n\n<user>\n\n\n", "\n\n"),
        ("<system>\ns\n\n<user>\nxml:\n<user>\n  <name/>\n</user>\n\n", "xml:\n<user>\n  <name/>\n</user>\n\n"),
    ],
)
def test_last_user_block(prompt: str, said: str | None) -> None:
    assert last_user_block(prompt) == said


def test_autocomplete(read: Read) -> None:
    event = {"timestamp": TIMESTAMP, "modelName": "n", "modelProvider": "o", "filepath": "file:///c%3A/a.py"}
    texts = {"prompt": " <fim>é😀 ", "completion": "a: int\n"}

    found = read(
        CONTINUE + "autocomplete.jsonl",
        {**event, **texts, "accepted": True, "time": 412, "cacheHit": False},
        {"timestamp": MS, "filepath": "/home/a.py", "accepted": False, "cacheHit": True, "time": 1.5},
        {"accepted": "no", "filepath": "", "time": -1},
    )

    columns = ("line", "record", "utc", "model", "provider", "file_path", "accepted", "latency_ms", "cache_hit")
    assert found.rows(*columns, frame="suggestions") == [
        (1, 1, AT, "n", "o", "c:/a.py", True, 412, False),
        (2, 2, AT, None, None, "/home/a.py", False, None, True),
        (3, 3, None, None, None, None, None, None, None),
    ]
    counted = ("prompt_chars", "completion_chars", "prompt", "completion")
    assert found.rows(*counted, frame="suggestions")[:2] == [(9, 7, " <fim>é😀 ", "a: int\n"), (None, None, None, None)]
    assert found.notes() == [
        (2, "wrong_type", "time"),
        (3, "value_out_of_range", "time"),
        (3, "wrong_type", "accepted"),
    ]
    assert found["rows"].height == 0


def test_next_edit(read: Read) -> None:
    event = {"timestamp": MS, "elapsed": 812, "fileUri": "file:///home/a.py", "prompt": "p", "completion": "cc"}

    found = read(
        CONTINUE + "nextEditOutcome.jsonl", {**event, "aborted": True}, {**event, "accepted": True, "elapsed": "1"}
    )

    columns = ("utc", "file_path", "accepted", "latency_ms", "cache_hit", "prompt_chars", "completion_chars")
    assert found.rows(*columns, frame="suggestions") == [
        (AT, "/home/a.py", None, 812, None, 1, 2),
        (AT, "/home/a.py", True, None, None, 1, 2),
    ]
    assert found.notes() == [(2, "wrong_type", "elapsed")]


def test_equal_events_are_told_apart_by_their_count(read: Read) -> None:
    event = {"model": "m", "promptTokens": 1}

    found = read(PEARAI + "tokens_generated.jsonl", event, event, {**event, "x": 1})

    assert found.rows("occurrence") == found.rows("occurrence", frame="tokens") == [(0,), (1,), (0,)]


def test_exchange_is_of_texts_alone() -> None:
    assert exchange("p", "c") == exchange("p", "c") != exchange("c", "p")
    assert [exchange("p", None), exchange(None, "c"), exchange(1, 2)] == [None] * 3
