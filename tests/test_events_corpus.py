"""The event files of the real homes against what their JSON alone says: the standard library, a line at a time."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.events import event_files, staged
from tests.layout import FIXTURES
from tests.oracle import clean, trimmed

HOMES = FIXTURES / "corpus/homes"
FILES = event_files(HOMES)
Json = dict[str, Any]


class Row(NamedTuple):
    """A row of the timeline."""

    line: int
    kind: str
    turn_type: str
    text: str
    model: str | None = None
    tool_name: str | None = None
    tool_use_id: str | None = None
    session: str | None = None
    utc: datetime | None = None


def utc(event: Json) -> datetime | None:
    stamp = event.get("timestamp")
    if isinstance(stamp, str):
        return datetime.fromisoformat(stamp).astimezone(UTC).replace(tzinfo=None)
    return None if stamp is None else datetime.fromtimestamp(stamp / 1000, UTC).replace(tzinfo=None)


def events(path: Path) -> Iterator[tuple[int, Json]]:
    for number, line in enumerate(path.read_bytes().decode("utf-8").split("\n"), 1):
        if line.strip():
            yield number, json.loads(line)


def said(line: int, event: Json, prompt: str, model: str | None) -> list[Row]:
    sides = [("user", prompt, None), ("assistant", event["completion"], model)]
    session, at = event.get("sessionId"), utc(event)
    rows = [Row(line, "message", turn, trimmed(text), who, None, None, session, at) for turn, text, who in sides]
    return [row for row in rows if row.text]


def shown(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool | int) else "-"


def whole(value: float) -> int | None:
    return int(value) if value == int(value) and 0 <= value < 2**63 else None


def user(path: Path) -> str:
    return path.relative_to(HOMES).parts[0]


def chat_interaction(line: int, event: Json) -> list[Row]:
    return said(line, event, event["prompt"], event["modelTitle"])


def chat_feedback(line: int, event: Json) -> list[Row]:
    text = f"chat feedback: feedback={shown(event.get('feedback'))} model={event['modelTitle']}"
    rating = Row(line, "feedback", "system", text, session=event["sessionId"], utc=utc(event))
    return [*said(line, event, event["prompt"], event["modelTitle"]), rating]


def edit_interaction(line: int, event: Json) -> list[Row]:
    file = f"edit interaction: file={event['filepath']}"
    edit = Row(line, "edit", "system", file, event["modelTitle"], utc=utc(event))
    return [edit, *said(line, event, event["prompt"], event["modelTitle"])]


def edit_outcome(line: int, event: Json) -> list[Row]:
    text = (
        f"permission decision: edit accepted={shown(event['accepted'])} file={event['filepath']} "
        f"lines {event['previousCodeLines']} -> {event['newCodeLines']}"
    )
    return [Row(line, "permission_decision", "system", text, event["modelTitle"], utc=utc(event))]


def tool_usage(line: int, event: Json) -> list[Row]:
    accepted, succeeded = shown(event["accepted"]), shown(event["succeeded"])
    output = "\n\n".join(item["content"] for item in event.get("output") or [])
    texts = [
        ("tool_call", "tool_use", event["toolCallArgs"]),
        ("tool_result", "tool_result", f"accepted={accepted} succeeded={succeeded}\n{output}"),
        ("permission_decision", "system", f"permission decision: accepted={accepted}"),
    ]
    tool = event["functionName"], event["toolCallId"]
    return [Row(line, kind, turn, trimmed(text), None, *tool, None, utc(event)) for kind, turn, text in texts]


def pearai_feedback(line: int, event: Json) -> list[Row]:
    text = f"user feedback: {shown(event.get('feedback'))} (from dev_data/chat.jsonl)"
    rating = Row(line, "feedback", "system", text, session=event["sessionId"])
    return [*said(line, event, event["prompt"], event["completionOptions"].get("model")), rating]


def pearai_tokens(line: int, event: Json) -> list[Row]:
    text = (
        f"tokens generated: model={event['model']} provider={event['provider']} "
        f"promptTokens={event['promptTokens']} generatedTokens={event['generatedTokens']}"
    )
    return [Row(line, "usage", "system", text, event["model"])]


def none(line: int, event: Json) -> list[Row]:
    return []


RULES: dict[str, Callable[[int, Json], list[Row]]] = {
    "chatInteraction": chat_interaction,
    "chatFeedback": chat_feedback,
    "editInteraction": edit_interaction,
    "editOutcome": edit_outcome,
    "toolUsage": tool_usage,
    "chat": pearai_feedback,
    "tokens_generated": pearai_tokens,
    "tokensGenerated": none,
    "autocomplete": none,
    "nextEditOutcome": none,
}


def name_of(path: Path) -> str:
    return "-".join(path.relative_to(HOMES).parts[::3])


def named(*names: str) -> list[Path]:
    return [path for path in FILES if path.stem in names]


def test_corpus_is_what_the_comparisons_below_rest_on() -> None:
    counted = Counter({(user(path), path.stem): sum(1 for _ in events(path)) for path in FILES})

    assert counted == {
        ("heidi", "chatFeedback"): 6,
        ("heidi", "chatInteraction"): 42,
        ("heidi", "editOutcome"): 2,
        ("heidi", "tokensGenerated"): 64,
        ("heidi", "toolUsage"): 28,
        ("judy", "autocomplete"): 2,
        ("judy", "chatFeedback"): 3,
        ("judy", "chatInteraction"): 10,
        ("judy", "editInteraction"): 1,
        ("judy", "editOutcome"): 2,
        ("judy", "nextEditOutcome"): 2,
        ("judy", "tokensGenerated"): 52,
        ("judy", "toolUsage"): 204,
        ("kim", "chat"): 2,
        ("kim", "tokens_generated"): 10,
    }


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_every_row_is_what_the_json_says(path: Path) -> None:
    expected = [row for line, event in events(path) for row in RULES[path.stem](line, event)]

    found = staged(path)

    columns = ("line", "kind", "turn_type", "text", "model", "tool_name", "tool_use_id", "named_session", "own_utc")
    assert found.rows(*columns, losses=True) == [tuple(row) for row in expected]
    assert found.records == sum(1 for _ in events(path))
    assert found.losses() == []


def test_every_note_is_of_an_odd_text_or_number() -> None:
    notes = [(user(path), path.stem, *note) for path in FILES for note in staged(path).notes()]

    assert notes == [
        ("heidi", "chatInteraction", 26, "lone_surrogate", None),
        ("heidi", "chatInteraction", 26, "nul_character", None),
        ("heidi", "chatInteraction", 27, "lone_surrogate", None),
        ("heidi", "chatInteraction", 27, "nul_character", None),
        ("heidi", "toolUsage", 28, "nul_character", None),
        ("judy", "chatInteraction", 3, "lone_surrogate", None),
        ("judy", "chatInteraction", 4, "nul_character", None),
        ("judy", "tokensGenerated", 52, "value_out_of_range", "generatedTokens"),
        ("judy", "tokensGenerated", 52, "wrong_type", "promptTokens"),
        ("judy", "toolUsage", 4, "lone_surrogate", None),
        ("kim", "chat", 2, "lone_surrogate", None),
    ]


@pytest.mark.parametrize("path", named("tokensGenerated", "tokens_generated"), ids=name_of)
def test_every_count_of_tokens(path: Path) -> None:
    found = staged(path)

    columns = ("line", "own_utc", "model", "provider", "prompt_tokens", "completion_tokens", "grain")
    assert found.rows(*columns, frame="tokens") == [
        (line, utc(e), e["model"], e["provider"], whole(e["promptTokens"]), whole(e["generatedTokens"]), "request")
        for line, e in events(path)
    ]


@pytest.mark.parametrize("path", named("autocomplete", "nextEditOutcome"), ids=name_of)
def test_every_suggestion(path: Path) -> None:
    found = staged(path)

    columns = ("line", "utc", "model", "provider", "file_path", "accepted", "latency_ms", "cache_hit", "completion")
    assert found.rows(*columns, frame="suggestions") == [
        (
            line,
            utc(e),
            e["modelName"],
            e["modelProvider"],
            "/home/judy/proj/a.py",
            e.get("accepted"),
            e.get("time", e.get("elapsed")),
            e.get("cacheHit"),
            e["completion"],
        )
        for line, e in events(path)
    ]


@pytest.mark.parametrize("path", named("chatInteraction"), ids=name_of)
def test_every_exchange(path: Path) -> None:
    found = staged(path)

    pairs = [
        (line, e["sessionId"], utc(e), hash((clean(e["prompt"]), clean(e["completion"])))) for line, e in events(path)
    ]
    assert found.rows("line", "session_id", "utc", "exchange", frame="exchanges") == pairs
    replies = [trimmed(trimmed(e["completion"]).removeprefix("<assistant>\n")) or None for _, e in events(path)]
    assert [reply for (reply,) in found.rows("reply", frame="exchanges")] == replies


@pytest.mark.parametrize("path", named("toolUsage"), ids=name_of)
def test_every_tool_usage(path: Path) -> None:
    found = staged(path)

    columns = ("line", "utc", "tool_use_id", "tool_name", "arguments", "accepted", "succeeded")
    assert found.rows(*columns, frame="usages") == [
        (line, utc(e), e["toolCallId"], e["functionName"], trimmed(e["toolCallArgs"]), e["accepted"], e["succeeded"])
        for line, e in events(path)
    ]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_tokens_of_users_are_nowhere(path: Path) -> None:
    secrets = {event["userId"] for _, event in events(path) if event.get("userId")}

    for frame in staged(path).frames.values():
        assert not any(secret in frame.write_csv() for secret in secrets)
