"""PearAI's chat sessions and their index: two arrays of items, models in prompt logs, citations."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import OpenLake
from tests.lake import Lake, homelake

CREATED = datetime(2026, 9, 15, 8, 30)
TEXTS = "select source_line, text from timeline where kind = 'message' order by sequence"

TALK = ("u1", "a2", "u3", "a4")

Said = Callable[[bytes | str], Lake]


@pytest.fixture
def said(tmp_path: Path, open_lake: OpenLake) -> Said:
    """Build a home with one session and check what must hold of every lake."""

    def build(session: bytes | str) -> Lake:
        folder = tmp_path / "home/.pearai/sessions"
        folder.mkdir(parents=True)
        (folder / "x.json").write_bytes(session if isinstance(session, bytes) else session.encode())
        outcome = homelake("build", tmp_path / "home", "-o", tmp_path / "lake", "--workers", "1")
        assert outcome.exit_code == 0, outcome.stderr
        lake = open_lake(tmp_path / "lake")
        assert lake.rows("select path from artifacts where records <> rows + losses + silent") == []
        return lake

    return build


def item(role: str, content: object, **fields: object) -> dict[str, object]:
    return {"message": {"role": role, "content": content}, "contextItems": [], **fields}


def asked(*models: object) -> list[dict[str, object]]:
    """Prompt logs of requests to these models."""
    return [{"completionOptions": {"model": model}, "prompt": "p", "completion": "c"} for model in models]


def document(history: object, search: object) -> str:
    """A session as the program writes it: one line, the ids last."""
    session = {
        "history": history,
        "perplexityHistory": search,
        "title": "Two talks",
        "sessionId": "inner",
        "workspaceDirectory": "/home/dana/pear",
    }
    return json.dumps(session, separators=(",", ":"), ensure_ascii=False)


def real_sessions(corpus: Path) -> list[tuple[str, dict[str, Any]]]:
    files = sorted((corpus / "kim/.pearai/sessions").glob("*-*.json"))
    return [(file.stem, json.loads(file.read_bytes())) for file in files]


def clean(text: str) -> str:
    """A text as the lake holds it."""
    odd = (character if ord(character) < 0xD800 or ord(character) > 0xDFFF else "\ufffd" for character in text)
    return "".join(odd).replace("\0", "\ufffd").strip()


def spoken(content: Any) -> str:
    """The text of a message."""
    parts = [part.get("text", "[image]") for part in content] if isinstance(content, list) else [content]
    return clean("\n".join(parts))


def test_real_sessions_say_what_their_json_says(corpus_lake: Lake, corpus: Path) -> None:
    found: dict[str, list[Any]] = {}
    for file_id, *row in corpus_lake.rows(
        "select sessions.file_id, source_line, turn_type, text, model from timeline join sessions using (session_key) "
        "where timeline.source = 'pearai.chat_session' and kind = 'message' order by timeline.source_file, sequence"
    ):
        found.setdefault(file_id, []).append(tuple(row))

    sessions = real_sessions(corpus)
    assert len(sessions) == 7
    for file_id, session in sessions:
        items = session["history"] + session["perplexityHistory"]
        expected = [
            (line, item["message"]["role"], spoken(item["message"]["content"]), model(items[:line]))
            for line, item in enumerate(items, 1)
        ]
        assert found[file_id] == [row for row in expected if row[2]], file_id


def model(items: list[dict[str, Any]]) -> str | None:
    """The model that the last of these items has, where it is an assistant's."""
    named = [log["completionOptions"]["model"] for item in items for log in item.get("promptLogs", ())]
    return str(named[-1]) if named and items[-1]["message"]["role"] == "assistant" else None


def test_real_sessions_have_the_times_and_kinds_of_their_index(corpus_lake: Lake, corpus: Path) -> None:
    index = json.loads((corpus / "kim/.pearai/sessions/sessions.json").read_bytes())

    found = corpus_lake.rows(
        "select session_id, title, epoch_ms(started_utc), started_basis, workspace_directory, integration_type "
        "from sessions where source = 'pearai.chat_session' and in_index and has_file"
    )

    assert sorted(found) == sorted(
        (
            entry["sessionId"],
            clean(entry["title"]),
            int(entry["dateCreated"]),
            "session",
            entry["workspaceDirectory"],
            entry["integrationType"],
        )
        for entry in index
    )


def test_real_context_items_and_citations_are_kept(corpus_lake: Lake) -> None:
    assert corpus_lake.rows(
        "select provider, name, description, uri, content, source_line from context_items "
        "where source = 'pearai.chat_session' order by source_file"
    ) == [
        ("file", "a.ts", "src/a.ts", None, "x", 1),
        ("citation", "Python", None, "https://www.python.org", None, 2),
    ]


def test_cut_anywhere_keeps_the_items_before_the_cut(tmp_path: Path, open_lake: OpenLake) -> None:
    items = [
        item("user", "u1"),
        item("assistant", "a2", promptLogs=asked("m")),
        item("user", "u3"),
        item("assistant", "a4"),
    ]
    whole = document(items[:2], items[2:])
    folder = tmp_path / "home/.pearai/sessions"
    folder.mkdir(parents=True)
    for end in range(1, len(whole)):
        (folder / f"{end:04}.json").write_text(whole[:end], encoding="utf-8")
    outcome = homelake("build", tmp_path / "home", "-o", tmp_path / "lake", "--workers", "1")
    assert outcome.exit_code == 0, outcome.stderr

    lake = open_lake(tmp_path / "lake")

    said = lake.pairs(
        "select parse_filename(source_file, true), list((source_line, text) order by sequence) from timeline "
        "where kind = 'message' group by all"
    )
    raw = {
        (n, text): json.dumps(i, separators=(",", ":")) for n, (text, i) in enumerate(zip(TALK, items, strict=True), 1)
    }
    for end in range(1, len(whole)):
        expected = [row for row, written in raw.items() if written in whole[:end]]
        assert said.get(f"{end:04}", []) == expected, whole[:end]
    assert lake.rows("select distinct reason, lost from problems") == [("json_truncated", True)]
    assert lake.value("select count(distinct source_file) from problems") == len(whole) - 1


def test_cut_in_the_first_array_counts_its_items(said: Said) -> None:
    whole = document([item("user", "h1")], [item("user", "s2"), item("user", "s3")])

    lake = said(whole[: whole.index("}],") + 1])

    (loss,) = lake.losses()
    assert (loss.reason, loss.text) == ("json_truncated", "parser: array cut off after record 1")


def test_cut_in_the_second_array_counts_the_items_of_both(said: Said) -> None:
    whole = document([item("user", "h1")], [item("user", "s2"), item("user", "s3")])

    lake = said(whole[: whole.rindex("}],") + 1])

    assert lake.rows(TEXTS) == [(1, "h1"), (2, "s2"), (3, "s3")]
    (loss,) = lake.losses()
    assert (loss.line, loss.text) == (0, "parser: array cut off after record 3")


@pytest.mark.parametrize(
    "garbage", ['{"message":{"role":"user","con\0\0\0', '{"message":{"ro\x01le":', "@@@@@@@@@@@@@@@@"]
)
def test_damage_in_the_second_array_costs_one_item(said: Said, garbage: str) -> None:
    search = [item("user", "s3"), item("assistant", "damaged"), item("user", "s5")]
    whole = document([item("user", "h1"), item("assistant", "h2")], search)
    damaged = json.dumps(search[1], separators=(",", ":"))

    lake = said(whole.replace(damaged, garbage))

    assert lake.rows(TEXTS) == [(1, "h1"), (2, "h2"), (3, "s3"), (5, "s5")]
    (loss,) = lake.losses()
    assert loss.line == 4
    assert loss.text.startswith("parser: unparseable record 4 (")
    assert lake.row("select session_id, title, project_path, damaged from sessions") == (
        "inner",
        "Two talks",
        "/home/dana/pear",
        True,
    )


def test_damage_in_the_first_array_leaves_the_second(said: Said) -> None:
    whole = document([item("user", "h1"), item("user", "h2")], [item("user", "s3")])

    lake = said(whole.replace('"content":"h2"', '"con\x01tent":"h2"'))

    assert lake.rows(TEXTS) == [(1, "h1"), (3, "s3")]
    (loss,) = lake.losses()
    assert (loss.line, loss.reason) == (2, "json_invalid")


@pytest.mark.parametrize(
    ("key", "damaged"),
    [('"perplexityHistory":[', '"perplexity\x01":['), ('"history":[', "\0" * 11), ('"perplexityHistory":[', "@@@")],
)
def test_array_that_lost_its_key_is_read(said: Said, key: str, damaged: str) -> None:
    whole = document([item("user", "h1"), item("user", "h2")], [item("user", "s3")])

    lake = said(whole.replace(key, damaged, 1))

    assert lake.rows(TEXTS) == [(1, "h1"), (2, "h2"), (3, "s3")]
    (loss,) = lake.losses()
    assert loss.line == 0
    assert lake.value("select title from sessions") == "Two talks"


def test_bad_text_in_an_array_gives_the_rows_of_the_fast_way(said: Said) -> None:
    cited = [{"url": "https://example.org/\0", "title": "A"}]
    whole = document([item("user", "h1")], [item("assistant", "s2", citations=cited, promptLogs=asked("m"))])

    lake = said(whole)

    assert lake.rows(TEXTS) == [(1, "h1"), (2, "s2")]
    assert lake.rows("select name, uri, source_line from context_items") == [("A", "https://example.org/\ufffd", 2)]
    assert [(line, reason) for _, line, reason in lake.notes()] == [(2, "nul_character")]
    assert lake.value("select text from timeline where kind = 'session'") == (
        "session start: Two talks items=2 dateCreated unknown"
    )


def test_model_is_the_last_that_an_items_requests_name(said: Said) -> None:
    answers = [
        item("assistant", "a", promptLogs=asked("m1", "m2", None)),
        item("assistant", "b", promptLogs=[{"modelTitle": "m9", "completionOptions": {}}]),
        item("assistant", "c", promptLogs=asked("m3")),
    ]

    lake = said(document(answers, [item("assistant", "d", promptLogs=asked("m2", 5, ""))]))

    assert lake.rows("select source_line, kind, text, model from timeline where sequence > 0 order by sequence") == [
        (1, "model", "model: m2", "m2"),
        (1, "message", "a", "m2"),
        (2, "message", "b", "m2"),
        (3, "model", "model: m2 -> m3", "m3"),
        (3, "message", "c", "m3"),
        (4, "model", "model: m3 -> m2", "m2"),
        (4, "message", "d", "m2"),
    ]
    assert lake.value("select models from sessions") == ["m2", "m3"]


@pytest.mark.parametrize(
    ("history", "search", "lost"),
    [
        ({"a": 1}, [item("user", "s1")], '{"a":1}'),
        ([item("user", "s1")], "x", '"x"'),
    ],
)
def test_one_array_of_another_type_leaves_the_other(said: Said, history: object, search: object, lost: str) -> None:
    lake = said(document(history, search))

    assert lake.rows(TEXTS) == [(1, "s1")]
    (loss,) = lake.losses()
    assert (loss.reason, loss.text) == ("wrong_type", f"parser: unparseable record 0 (wrong_type): {lost}")


@pytest.mark.parametrize(("history", "search"), [({}, []), ({}, None), (5, "x"), (None, True)])
def test_no_array_of_items_is_an_unreadable_session(said: Said, history: object, search: object) -> None:
    lake = said(document(history, search))

    (loss,) = lake.losses()
    assert (loss.reason, loss.text) == ("wrong_type", "parser: unreadable (wrong_type)")
    assert not lake.count("sessions")


@pytest.mark.parametrize(("history", "search"), [([], []), (None, None), ([], None)])
def test_session_without_items_is_one(said: Said, history: object, search: object) -> None:
    lake = said(document(history, search))

    assert lake.row("select title, user_turns, damaged from sessions") == ("Two talks", 0, False)
    assert lake.has_no_problem()


@pytest.mark.parametrize("damage", ["", "cut", "<<<<<<< HEAD"])
def test_copy_of_the_index_is_noted(tmp_path: Path, open_lake: OpenLake, damage: str) -> None:
    folder = tmp_path / "home/.pearai/sessions"
    folder.mkdir(parents=True)
    created = int(CREATED.replace(tzinfo=UTC).timestamp() * 1000)
    entry = {"sessionId": "gone", "title": "Gone", "dateCreated": str(created), "workspaceDirectory": "/x"}
    (folder / "sessions.json").write_text(json.dumps([entry, {"title": "no id"}]), encoding="utf-8")
    copy = json.dumps([entry, entry])
    damaged = copy[:-20] if damage == "cut" else copy.replace("[", f"[{damage}", 1)
    (folder / "sessions (1).json").write_text(damaged, encoding="utf-8")
    outcome = homelake("build", tmp_path / "home", "-o", tmp_path / "lake", "--workers", "1")
    assert outcome.exit_code == 0, outcome.stderr

    lake = open_lake(tmp_path / "lake")

    assert lake.rows("select session_id, title, started_utc, has_file, source from sessions") == [
        ("gone", "Gone", CREATED, False, "pearai.index")
    ]
    assert lake.notes() == [("sessions (1).json", 0, "index_copy")]
    (loss,) = lake.losses()
    assert (loss.file, loss.line, loss.reason) == ("sessions.json", 2, "index_entry_invalid")
