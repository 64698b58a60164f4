"""Messages of the agent's panel: rows, calls and their results, requests, what completes what, damage."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from parsers._task import shape_of
from parsers.pearai_ui_messages import SOURCE
from tests.bounded import ending
from tests.source_files import FIXTURES, Staged
from tests.tasks import (
    T0,
    TASK,
    TASKS,
    Json,
    calls,
    corpus_tasks,
    moments,
    one,
    stage_fixtures,
    stage_task,
    unaccounted,
)

WROTE = [("message", "user", "write a parser"), ("message", "assistant", "Working on it.")]
REQUEST = '{"request":"write a parser","tokensIn":100,"tokensOut":20,"cacheWrites":0,"cacheReads":0,"cost":0.01}'
COUNTS = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens", "cost_usd")
SHOWN = ("kind", "turn_type", "text")


def say(kind: str, text: object = None, **fields: object) -> Json:
    return {"type": "say", "say": kind, **({} if text is None else {"text": text}), **fields}


def ask(kind: str, text: object = None, **fields: object) -> Json:
    return {"type": "ask", "ask": kind, **({} if text is None else {"text": text}), **fields}


def stage(folder: Path, *messages: Json) -> Staged:
    """Stage messages, a second apart where they state no time."""
    return stage_task(SOURCE, folder, [{"ts": T0 + 1000 * n, **message} for n, message in enumerate(messages)])


def rows(folder: Path, *messages: Json) -> list[tuple[Any, ...]]:
    """Rows of messages behind the task's own."""
    found = stage(folder, say("text", "task"), *messages)
    assert unaccounted(found) == []
    return found.rows(*SHOWN)[1:]


@pytest.mark.parametrize("task", ["0d3e0004-aaaa-4bbb-8ccc-000000000004", "0d3e0005-aaaa-4bbb-8ccc-000000000005"])
def test_case_041_rows(task: str) -> None:
    found = stage_fixtures(SOURCE, "cases/041-two-transcripts-of-one-task")
    number = next(n for n, head in enumerate(found.frames["session_files"].to_dicts()) if head["session_id"] == task)

    assert found.rows(*SHOWN, "line", "own_basis", of=number) == [
        ("message", "user", "write a parser", 1, "record"),
        ("notice", "system", f"api_req_started: {REQUEST}", 2, "record"),
        ("message", "assistant", "Working on it.", 3, "record"),
    ]
    tokens = found.frames["tokens"].to_dicts()[number]
    assert (tokens["grain"], tokens["line"], *(tokens[name] for name in COUNTS)) == ("request", 2, 100, 20, 0, 0, 0.01)


def test_case_041_empty_array_holds_no_message() -> None:
    found = stage_fixtures(SOURCE, "cases/041-two-transcripts-of-one-task")

    assert [head["messages"] for head in found.frames["session_files"].to_dicts()] == [3, 3, 0]
    assert found.losses() == found.notes() == []
    assert unaccounted(found) == []


def test_case_043_blank_first_text_is_the_users() -> None:
    found = stage_fixtures(SOURCE, "cases/043-checkpoint-only-and-empty-folders")

    assert found.rows(*SHOWN) == [("message", "assistant", "answer")]
    assert moments(found) == [T0 + 1]
    assert found.silent() == 1
    assert one(found, "session_files")["first_text"] is None


@pytest.mark.parametrize(
    ("path", "is_task"),
    [
        (f"{TASKS}/{TASK}/ui_messages.json", True),
        ("tasks/1/ui_messages.json", True),
        ("1/ui_messages.json", True),
        (f"{TASKS}/ui_messages.json", False),
        (f"{TASKS}/{TASK}/checkpoints/src/ui_messages.json", False),
        (f"{TASKS}/{TASK}/checkpoints/tasks/1/ui_messages.json", False),
        (f"{TASKS}/{TASK}/ui_messages.json.lock", False),
    ],
)
def test_pattern(path: str, is_task: bool) -> None:
    assert bool(SOURCE.pattern.fullmatch(path)) is is_task


def test_session_is_the_folder(tmp_path: Path) -> None:
    request = json.dumps(
        {"request": "<environment_details>\n# Current Workspace Directory (c:/Users/x (y)) Files\na\n"}
    )
    session = one(stage(tmp_path, say("text", "  fix it\nnow"), say("api_req_started", request)), "session_files")

    assert session["session_id"] == TASK
    assert SOURCE.session is not None
    assert SOURCE.session.path_of(f"{TASKS}/{TASK}/ui_messages.json") == f"{TASKS}/{TASK}"
    assert (session["messages"], session["first_text"]) == (2, "fix it")
    assert session["workspace_directory"] == session["project_path"] == "c:/Users/x (y)"
    assert session["first_utc"].timestamp() * 1000 != 0


def test_rows_of_words(tmp_path: Path) -> None:
    messages = (
        say("text", "hello"),
        say("task", "old"),
        say("reasoning", "hm"),
        say("user_feedback", "no"),
        say("user_feedback_diff", '{"tool":"editedExistingFile"}'),
        say("completion_result", "done"),
        ask("completion_result", "done too"),
    )

    assert rows(tmp_path, *messages) == [
        ("message", "assistant", "hello"),
        ("message", "user", "old"),
        ("message", "thinking", "hm"),
        ("message", "user", "no"),
        ("message", "user", '{"tool":"editedExistingFile"}'),
        ("message", "assistant", "done"),
        ("message", "assistant", "done too"),
    ]


@pytest.mark.parametrize(
    "message",
    [
        ask("completion_result", ""),
        say("completion_result"),
        say("text", " \n"),
        say("user_feedback", "", images=[]),
        say("reasoning", ""),
        ask("command_output", ""),
        say("browser_action_result", ""),
    ],
)
def test_messages_that_say_nothing_are_silent(message: Json, tmp_path: Path) -> None:
    found = stage(tmp_path, say("text", "task"), message)

    assert found.texts() == ["task"]
    assert found.silent() == 1
    assert unaccounted(found) == []


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (say("error", "bad"), "error: bad"),
        (say("checkpoint_saved", "a1b2"), "checkpoint_saved: a1b2"),
        (ask("resume_task"), "resume_task:"),
        (ask("api_req_failed", "429"), "api_req_failed: 429"),
        (say("something new", "x"), "something new: x"),
        (say("api_req_started", "{}"), "api_req_started: {}"),
    ],
)
def test_other_kinds_are_notices(message: Json, text: str, tmp_path: Path) -> None:
    assert rows(tmp_path, message) == [("notice", "system", text)]


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ('{"question":"Which?","suggest":[{"answer":"A"},"B"]}', "Which?\n- A\n- B"),
        ('{"question":"Which?","options":["A","B"],"selected":"A"}', "Which?\n- A\n- B"),
        ('{"question":"Which?"}', "Which?"),
        ("Which?", "Which?"),
    ],
)
def test_question_with_its_options(asked: str, text: str, tmp_path: Path) -> None:
    found = stage(tmp_path, ask("followup", asked))

    assert found.rows(*SHOWN) == [("message", "assistant", text)]
    assert found.notes() == []


@pytest.mark.parametrize(
    ("message", "tool", "text", "kind"),
    [
        (ask("command", "ls -l"), "execute_command", "ls -l", "command"),
        (ask("tool", '{"tool": "readFile", "path": "a", "n": 1.0}'), "readFile", '{"path":"a","n":1}', "read"),
        (ask("tool", '{"tool":"newFileCreated","path":"a","content":"x"}'), "newFileCreated", None, "write"),
        (ask("tool", '{"tool":5,"path":"a"}'), "tool", '{"tool":5,"path":"a"}', "other"),
        (
            ask("use_mcp_server", '{"type":"use_mcp_tool","serverName":"s","toolName":"t","arguments":"{}"}'),
            "t",
            '{"type":"use_mcp_tool","serverName":"s","arguments":"{}"}',
            "mcp",
        ),
        (
            ask("use_mcp_server", '{"type":"access_mcp_resource","serverName":"s","uri":"u"}'),
            "access_mcp_resource",
            '{"type":"access_mcp_resource","serverName":"s","uri":"u"}',
            "mcp",
        ),
        (ask("browser_action_launch", "http://x"), "browser_action_launch", "http://x", "fetch"),
        (say("browser_action", '{"action":"click"}'), "browser_action", '{"action":"click"}', "fetch"),
    ],
)
def test_calls(message: Json, tool: str, text: str | None, kind: str, tmp_path: Path) -> None:
    found = stage(tmp_path, message)

    shown = found.rows("kind", "turn_type", "text", "tool_name", "tool_use_id", "call_no")
    text = text or '{"path":"a","content":"x"}'
    assert shown == [("tool_call", "tool_use", text, tool, str(T0), 0)]
    assert calls(found, "arguments", "tool_kind", "records", "output", "decision", "ran", "new_text") == [
        (text, kind, 0, None, "unknown", None, None)
    ]
    assert found.notes() == []


@pytest.mark.parametrize("text", ["", "{", "[1", "nope", '{"a":1} x', '{"a":NaN}'])
def test_call_whose_text_is_no_json_is_kept_as_written(text: str, tmp_path: Path) -> None:
    found = stage(tmp_path, ask("tool", text))

    assert found.rows("turn_type", "text") == [("tool_use", text)]
    assert [reason for _, reason, _ in found.notes()] == ["json_invalid"]


def test_call_whose_text_is_other_json_is_noted(tmp_path: Path) -> None:
    found = stage(tmp_path, ask("tool", "[1]"), ask("use_mcp_server", "5"))

    assert found.texts() == ["[1]", "5"]
    assert found.notes() == [(1, "wrong_type", "text"), (2, "wrong_type", "text")]


def test_results_are_of_the_latest_call(tmp_path: Path) -> None:
    messages = (
        say("command_output", "stray"),
        ask("command", "a"),
        ask("command_output", "one"),
        say("command_output", "one"),
        say("command_output", "two"),
        ask("tool", '{"tool":"newTask"}'),
        say("text", "words"),
        say("subtask_result", "sub"),
        ask("command", "c"),
        say("command_output", ""),
    )

    found = stage(tmp_path, say("text", "task"), *messages)

    results = [
        row[1:]
        for row in found.rows("turn_type", "text", "tool_name", "tool_use_id", "call_no")
        if row[0] == "tool_result"
    ]
    first, second, third = (str(T0 + 1000 * n) for n in (2, 6, 9))
    assert results == [
        ("stray", None, None, None),
        ("one", "execute_command", first, 0),
        ("one", "execute_command", first, 0),
        ("two", "execute_command", first, 0),
        ("sub", "newTask", second, 1),
        ("", "execute_command", third, 2),
    ]
    assert calls(found, "output", "output_bytes", "decision", "ran", "status") == [
        ("one\ntwo", 7, "allowed", True, "done"),
        ("sub", 3, "allowed", True, "done"),
        ("", 0, "allowed", True, "done"),
    ]
    assert unaccounted(found) == []


def test_message_that_a_later_one_completes_gives_no_row(tmp_path: Path) -> None:
    found = stage(
        tmp_path,
        say("text", "ta", ts=T0, partial=True),
        say("text", "tas", ts=T0, partial=True),
        say("text", "task", ts=T0, partial=False),
        ask("tool", '{"tool":"readFile"}', ts=T0 + 5, partial=True),
        ask("tool", '{"tool":"readFile","path":"a"}', ts=T0 + 5),
        say("text", "cut", ts=T0 + 9, partial=True),
    )

    assert found.rows("line", "turn_type", "text") == [
        (3, "user", "task"),
        (5, "tool_use", '{"path":"a"}'),
        (6, "assistant", "cut"),
    ]
    assert len(calls(found, "call_no")) == 1
    assert found.silent() == 3
    assert unaccounted(found) == []


def test_messages_of_another_time_or_kind_complete_nothing(tmp_path: Path) -> None:
    same = {"ts": T0, "partial": True}

    found = stage(
        tmp_path,
        say("text", "a", **same),
        say("text", "b", ts=T0 + 1),
        say("completion_result", "c", **same),
        ask("completion_result", "d", ts=T0),
        say("error", "e", **{**same, "ts": None}),
        say("error", "f", ts=None),
    )

    assert found.texts() == ["a", "b", "c", "d", "error: e", "error: f"]


def test_images_are_lines_of_their_own(tmp_path: Path) -> None:
    uri = "data:image/png;base64,iVBORw0KGgo="

    found = stage(tmp_path, say("text", "look", images=[uri, uri]), say("user_feedback", "", images=[uri]))

    assert found.texts() == ["look\n[image]\n[image]", "[image]"]


def test_images_of_a_result_are_in_its_calls_output(tmp_path: Path) -> None:
    found = stage(
        tmp_path, ask("use_mcp_server", '{"toolName":"t"}'), say("mcp_server_response", "a", images=["iVBOR"])
    )

    assert found.texts()[1:] == ["a\n[image]"]
    assert calls(found, "output") == [("a\n[image]",)]


def test_blank_question_answers_no_call(tmp_path: Path) -> None:
    found = stage(tmp_path, ask("command", "a"), ask("command_output", " "))

    assert found.texts() == ["a"]
    assert calls(found, "output", "ran") == [(None, None)]


def test_data_uris_are_images(tmp_path: Path) -> None:
    result = '{"screenshot":"data:image/webp;base64,UklGR+/=","logs":"data:text/plain;base64,aaaa"}'

    found = stage(
        tmp_path, say("text", "x"), say("browser_action_result", result), say("text", "a DATA:image/x;base64,")
    )

    assert found.texts()[1:] == [
        '{"screenshot":"[image]","logs":"data:text/plain;base64,aaaa"}',
        "a DATA:image/x;base64,",
    ]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"tokensIn": 5}, (5, None, None, None, None)),
        ({"cost": 0.5, "cacheReads": 1, "cacheWrites": 2}, (None, None, 1, 2, 0.5)),
        ({"tokensIn": "5", "tokensOut": -1, "cost": 1}, (None, None, None, None, 1.0)),
    ],
)
def test_requests_state_tokens(fields: Json, expected: tuple[object, ...], tmp_path: Path) -> None:
    found = stage(tmp_path, say("text", "x"), say("api_req_started", json.dumps(fields)))

    tokens = one(found, "tokens")
    assert tuple(tokens[name] for name in COUNTS) == expected
    assert (tokens["line"], tokens["grain"]) == (2, "request")


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([("started", {"request": "r"}), ("finished", {"tokensIn": 7, "cost": 0.5})], [(2, 7, 0.5)]),
        ([("started", {"tokensIn": 5}), ("finished", {"tokensIn": 7, "cost": 0.5})], [(1, 7, 0.5)]),
        ([("started", {"tokensIn": 5}), ("finished", {})], [(1, 5, None)]),
        (
            [("started", {"tokensIn": 5}), ("started", {"tokensIn": 6}), ("finished", {"cost": 1})],
            [(1, 5, None), (2, 6, 1.0)],
        ),
        ([("finished", {"tokensIn": 7}), ("finished", {"tokensIn": 8})], [(1, 7, None), (2, 8, None)]),
    ],
)
def test_request_that_tells_of_its_end_states_tokens_once(
    messages: list[tuple[str, Json]], expected: list[tuple[object, ...]], tmp_path: Path
) -> None:
    found = stage(tmp_path, *(say(f"api_req_{name}", json.dumps(fields)) for name, fields in messages))

    tokens = found.frames["tokens"].sort("line")
    assert tokens.select("line", "prompt_tokens", "cost_usd").rows() == expected
    assert len(found.texts()) == len(messages)


def test_tokens_that_are_none_are_noted(tmp_path: Path) -> None:
    found = stage(tmp_path, say("api_req_started", '{"tokensIn":"5","tokensOut":-1,"cacheReads":1.5,"cost":"x"}'))

    assert sorted(found.notes()) == [
        (1, "value_out_of_range", "tokensOut"),
        (1, "wrong_type", "tokensIn, cacheReads, cost"),
    ]


@pytest.mark.parametrize("text", ["", '{"request":"<task>"}', "{", "5"])
def test_request_that_states_none_gives_no_tokens(text: str, tmp_path: Path) -> None:
    found = stage(tmp_path, say("api_req_started", text))

    assert found.frames["tokens"].is_empty()
    assert found.texts() == [f"api_req_started: {text}".strip()]


def test_times(tmp_path: Path) -> None:
    found = stage(
        tmp_path,
        say("text", "a", ts=None),
        say("text", "b", ts="soon"),
        say("text", "c", ts=T0),
        say("text", "d", ts=str(T0 + 1)),
    )

    assert found.rows("text", "own_basis") == [("a", None), ("b", None), ("c", "record"), ("d", "record")]
    assert moments(found) == [None, None, T0, T0 + 1]
    assert found.notes() == [(2, "bad_timestamp", "ts")]
    assert one(found, "session_files")["first_utc"].isoformat() == "2026-09-15T08:30:00"


def test_keys_are_time_type_and_kind(tmp_path: Path) -> None:
    """A message that goes on being written stays the same row; one without a time is told apart by its text."""
    before = stage(tmp_path, say("text", "a"), ask("tool", '{"tool":"x"}'), say("error", "e", ts=None))
    after = stage(tmp_path, say("text", "a b"), ask("tool", '{"tool":"x","y":1}'), say("error", "f", ts=None))

    assert before.rows("key", "keyed_by_text") == after.rows("key", "keyed_by_text")
    assert [by_text for (by_text,) in after.rows("keyed_by_text")] == [False, False, True]
    assert len(set(after.rows("key"))) == 3


def test_equal_calls_of_one_moment_are_told_apart(tmp_path: Path) -> None:
    found = stage(tmp_path, ask("command", "a", ts=T0), ask("command", "a", ts=T0))

    assert found.rows("occurrence") == [(0,), (1,)]


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        (5, "not_an_object"),
        (None, "not_an_object"),
        ({"ts": 1}, "wrong_type"),
        ({"say": 5}, "wrong_type"),
        ([], "not_an_object"),
    ],
)
def test_elements_that_are_no_message(element: object, reason: str, tmp_path: Path) -> None:
    found = stage_task(SOURCE, tmp_path, [element, {"ts": T0, **say("text", "hi")}])

    assert found.losses() == [
        (1, reason, f"parser: unparseable record 1 ({reason}): {json.dumps(element, separators=(',', ':'))}")
    ]
    assert found.rows("line", "turn_type", "text") == [(2, "user", "hi")]
    assert unaccounted(found) == []


def test_fields_of_other_types_are_noted(tmp_path: Path) -> None:
    found = stage(tmp_path, say("text", {"a": 1.0}, images="x", partial="y"))

    assert found.texts() == ['{"a":1}']
    assert found.notes() == [(1, "wrong_type", "images, partial, text")]


def test_damage_costs_one_message(tmp_path: Path) -> None:
    whole = json.dumps({"ts": T0, **say("error", "kept")})
    data = (
        f'[{{"ts":1,"type":"say","say":"text","text":"lo\0\0}},{whole},{{"ts":2,"type":"say","say":"text","text":"b"}}]'
    )

    found = stage_task(SOURCE, tmp_path, data.encode())

    assert [(line, reason) for line, reason, _ in found.losses()] == [(1, "zero_filled")]
    # The lost message was the user's: what was said next is the assistant's.
    assert found.rows("line", "turn_type", "text") == [(2, "system", "error: kept"), (3, "assistant", "b")]
    assert unaccounted(found) == []


def test_cut_file(tmp_path: Path) -> None:
    data = json.dumps([{"ts": T0, **say("text", "a")}, {"ts": T0, **say("text", "b")}]).encode()

    found = stage_task(SOURCE, tmp_path, data[:-9])

    assert found.texts() == ["a"]
    assert [(line, reason) for line, reason, _ in found.losses()] == [(2, "json_truncated")]


@pytest.mark.parametrize(
    ("data", "reason", "text"),
    [
        (b"", "empty_file", "parser: unreadable (empty_file)"),
        (b"\0" * 20, "zero_filled", "parser: unreadable (zero_filled)"),
        (b"{}", "not_an_object", "parser: not a JSON array"),
        (b"[", "json_truncated", "parser: array cut off after record 0"),
        (b"[] x", "trailing_data", "parser: unparseable data after the JSON array"),
    ],
)
def test_damaged_documents(data: bytes, reason: str, text: str, tmp_path: Path) -> None:
    found = stage_task(SOURCE, tmp_path, data)

    assert found.losses() == [(0, reason, text)]
    assert unaccounted(found) == []


def test_losses_show_no_secret(tmp_path: Path) -> None:
    found = stage_task(SOURCE, tmp_path, [{"apiKey": "FAKE-SECRET"}])

    assert "FAKE-SECRET" not in found.everything()


def test_deep_values_cost_one_message(tmp_path: Path) -> None:
    deep = b'{"ts":1,"type":"say","say":"text","text":' + b"[" * 900 + b"]" * 900 + b"}"

    found = stage_task(SOURCE, tmp_path, b"[" + deep + b',{"type":"say","say":"error","text":"x"}]')

    assert [(line, reason) for line, reason, _ in found.losses()] == [(1, "nesting_too_deep")]
    assert found.texts() == ["error: x"]


@pytest.mark.parametrize("levels", [199, 200, 201])
@pytest.mark.parametrize("kind", ["tool", "use_mcp_server", "followup"])
def test_values_at_the_deepest_level_that_is_kept(tmp_path: Path, kind: str, levels: int) -> None:
    """A text inside the innermost list is a level of its own."""
    text = '{"tool":"readFile","suggest":' + "[" * levels + '"x"' + "]" * levels + "}"

    found = rows(tmp_path, ask(kind, text), say("error", "x"))

    assert [row[2] for row in found][1:] == ["error: x"]


def test_odd_characters_inside_the_json_of_a_text(tmp_path: Path) -> None:
    found = stage(tmp_path, ask("tool", '{"tool":"x\\u0000","a":"\\ud800"}'))

    assert found.rows("text", "tool_name") == [('{"a":"\ufffd"}', "x\ufffd")]
    assert sorted(reason for _, reason, _ in found.notes()) == ["lone_surrogate", "nul_character"]


@pytest.mark.parametrize(
    ("data", "source"),
    [
        (b'[{"ts":1,"type":"say","say":"text"}]', "pearai.ui_messages"),
        (b'[{"role":"user","content":"x"}]', "pearai.api_history"),
        (b'[5,{"ts":1,"ask":"tool"', "pearai.api_history"),
        (b'[5,{"ts":1,"ask":"tool"},{"role":"user"}]', "pearai.ui_messages"),
        (b"", "pearai.api_history"),
        (b"{}", "pearai.api_history"),
    ],
)
def test_shape_of_old_messages(data: bytes, source: str) -> None:
    assert shape_of(data) == source


@pytest.mark.parametrize(("task", "source"), [("13", "pearai.api_history"), ("14", "pearai.ui_messages")])
def test_case_047_shapes(task: str, source: str) -> None:
    folder = FIXTURES / "cases/047-claude-messages-legacy/home" / TASKS
    (path,) = folder.glob(f"0d3e00{task}-*/claude_messages.json")

    assert shape_of(path.read_bytes()) == source


def test_case_047_rows(tmp_path: Path) -> None:
    (path,) = (FIXTURES / "cases/047-claude-messages-legacy/home" / TASKS).glob("0d3e0014-*/claude_messages.json")

    found = stage_task(SOURCE, tmp_path, path.read_bytes(), "claude_messages.json")

    assert found.rows(*SHOWN) == [WROTE[0], ("notice", "system", f"api_req_started: {REQUEST}"), WROTE[1]]
    assert moments(found) == [T0, T0 + 1000, T0 + 2000]
    assert one(found, "session_files")["project_path"] is None


def test_corpus_holds_every_message() -> None:
    """Counted from the messages' own kinds alone."""
    files = dict(corpus_tasks("ui_messages.json"))
    found = stage_fixtures(SOURCE, "corpus")
    messages = [message for task in files.values() for message in task]
    kinds = Counter(message[message["type"]] for message in messages)
    empty = sum(m.get("ask") == "completion_result" and not m["text"] for m in messages)

    turns = Counter(turn for (turn,) in found.rows("turn_type"))

    assert len(files) == len(found.reads) == 4
    assert found.losses() == []
    assert turns["tool_use"] == sum(
        kinds[kind] for kind in ("tool", "command", "use_mcp_server", "browser_action_launch")
    )
    assert turns["tool_result"] == sum(
        kinds[k] for k in ("command_output", "mcp_server_response", "browser_action_result", "subtask_result")
    )
    assert turns["user"] == len(files) + kinds["user_feedback"] + kinds["user_feedback_diff"]
    assert turns["assistant"] == kinds["text"] - len(files) + kinds["completion_result"] - empty + kinds["followup"]
    assert turns["thinking"] == kinds["reasoning"]
    assert turns.total() == len(messages) - empty
    assert found.silent() == empty
    assert unaccounted(found) == []


def test_corpus_tokens_and_texts() -> None:
    messages = [m for _, task in corpus_tasks("ui_messages.json") for m in task]
    requests = [json.loads(m["text"]) for m in messages if m.get("say") == "api_req_started"]
    found = stage_fixtures(SOURCE, "corpus")

    tokens = found.frames["tokens"]

    assert len(tokens) == len(requests)
    assert tokens["prompt_tokens"].to_list() == [request["tokensIn"] for request in requests]
    assert tokens["cost_usd"].sum() == pytest.approx(sum(request["cost"] for request in requests))
    commands = [m["text"] for m in messages if m.get("ask") == "command"]
    assert [command for (command,) in calls(found, "command") if command is not None] == commands
    longest = max((m["text"] for m in messages if m.get("say") == "text"), key=len)
    assert longest in found.texts()
    assert "data:image" not in "".join(found.texts())
    assert sorted(reason for _, reason, _ in found.notes()) == ["lone_surrogate", "nul_character"]


@pytest.mark.parametrize(
    "message",
    [
        say("command_output", "x"),
        say("text", "x", ts=T0, partial=True),
        ask("command", "x", ts=T0),
        ask("tool", '{"tool":"x","a":[1,2,3]}'),
    ],
)
def test_many_messages_take_no_time(message: Json, tmp_path: Path) -> None:
    with ending():
        found = stage(tmp_path, ask("command", "a"), *[message] * 10_000)

    assert unaccounted(found) == []
