"""Sessions and indexes that no program writes: no crash, no doubled key, every record accounted for."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bounded import ending
from tests.conftest import OpenLake
from tests.lake import Lake, homelake

Said = Callable[..., Lake]


@pytest.fixture
def said(tmp_path: Path, open_lake: OpenLake) -> Said:
    """Build a home of sessions (and an index) and check what must hold of every lake."""

    def build(*sessions: bytes | str, index: bytes | str = "[]") -> Lake:
        folder = tmp_path / "home/.continue/sessions"
        folder.mkdir(parents=True)
        files = {f"{n:03}.json": content for n, content in enumerate(sessions)} | {"sessions.json": index}
        for name, content in files.items():
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        outcome = homelake("build", tmp_path / "home", "-o", tmp_path / "lake", "--workers", "1")
        assert outcome.exit_code == 0, outcome.stderr
        lake = open_lake(tmp_path / "lake")
        unbalanced = "select path, records, rows, losses, silent from artifacts where records <> rows + losses + silent"
        assert lake.rows(unbalanced) == []
        for table, key in (("timeline", "row_id"), ("tool_calls", "call_key"), ("sessions", "session_key")):
            assert lake.value(f"select count(*) - count(distinct {key}) from {table}") == 0
        lake.losses()
        return lake

    return build


def history(*items: object, **head: object) -> str:
    return json.dumps({**head, "history": items})


def item(**fields: object) -> dict[str, object]:
    return {"message": {"role": "assistant", "content": ""}, **fields}


TEXTS = "select text from timeline where kind = 'message' order by source_file, sequence"
NOTES = "select source_line, reason, detail from problems where not lost order by all"


@pytest.mark.parametrize("logs", ["5", "true", "1e400", "{}", '"x"', "[5]", "[[]]", "null"])
def test_prompt_logs_of_every_type_mean_nothing(said: Said, logs: str) -> None:
    lake = said(f'{{"history":[{{"message":{{"role":"user","content":"hi"}},"promptLogs":{logs}}}]}}')

    assert lake.column(TEXTS) == ["hi"]
    assert lake.rows(NOTES) == []


def test_bad_bytes_in_arguments_that_were_parsed(said: Said) -> None:
    state = b'{"toolCallId":"c","parsedArgs":{"x":"\xff"}}'

    lake = said(b'{"history":[{"message":{"role":"assistant"},"toolCallStates":[' + state + b"]}]}")

    assert lake.rows("select tool_use_id, arguments from tool_calls") == [("c", '{"x":"\ufffd"}')]
    assert lake.rows(NOTES) == [(1, "invalid_utf8", None)]


@pytest.mark.parametrize("depth", [150, 480, 600, 900, 990, 1100, 5000])
@pytest.mark.parametrize("where", ["content", "parsedArgs", "arguments"])
def test_nesting_of_every_depth(said: Said, depth: int, where: str) -> None:
    deep = "[" * depth + "]" * depth
    content = deep if where == "content" else '"x"'
    call = f'{{"toolCallId":"c","toolCall":{{"function":{{"name":"T","arguments":{deep}}}}}}}'
    if where == "parsedArgs":
        call = f'{{"toolCallId":"c","parsedArgs":{deep}}}'
    states = "" if where == "content" else f',"toolCallStates":[{call}]'
    first = f'{{"message":{{"role":"user","content":{content}}}{states}}}'

    lake = said(f'{{"history":[{first},{{"message":{{"role":"user","content":"after"}}}}]}}')

    reasons = lake.column("select reason from problems")
    assert reasons == ([] if depth <= 200 else ["nesting_too_deep"])
    assert lake.column(TEXTS)[-1] == "after"


def test_digits_of_other_scripts_are_no_time(said: Said) -> None:
    call = {"toolCallId": "shell-１７８９４６１００００００-x", "status": "done"}

    lake = said(
        history(item(toolCallStates=[call])), index='[{"sessionId":"g","dateCreated":"１７８９４６１００００００"}]'
    )

    assert lake.rows(NOTES) == [(1, "bad_timestamp", "dateCreated")]


def test_equal_calls_are_two(said: Said) -> None:
    call = {"id": "a", "function": {"name": "T", "arguments": "{}"}}
    state = {"toolCallId": "a", "status": "canceled", "output": [{"content": "x"}]}
    again = item(message={"role": "assistant", "toolCalls": [call, call]}, toolCallStates=[state, state])

    lake = said(history(again, again))

    kinds = (
        "select kind, count(*), count(distinct call_key) from timeline where tool_use_id = 'a' group by 1 order by 1"
    )
    assert lake.count("tool_calls") == 4
    assert lake.rows(kinds) == [("permission_decision", 4, 4), ("tool_call", 4, 4), ("tool_result", 4, 4)]


def test_context_of_an_empty_message(said: Said) -> None:
    lake = said(history({"message": {"role": "user", "content": ""}, "contextItems": [{"name": "n", "content": "c"}]}))

    assert lake.rows("select name, content from context_items") == [("n", "c")]


def test_one_note_per_record_and_reason(said: Said) -> None:
    lake = said(history(title=5, usage={"promptTokens": "3"}), index='[{"sessionId":"g","title":5,"messageCount":"3"}]')

    assert lake.rows(NOTES) == [
        (0, "wrong_type", "title, usage.promptTokens"),
        (1, "wrong_type", "title, messageCount"),
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"message": {"role": "user", "content": {"a": "x\0y"}}},
        {"message": {"role": "user", "content": {"x\0y": 1}}},
        {"message": {"role": "assistant"}, "toolCallStates": [{"toolCallId": "c", "parsedArgs": {"a": "x\0y"}}]},
        {"message": {"role": "user", "content": ""}, "contextItems": [{"content": ["x\0y"]}]},
    ],
)
def test_nul_in_a_value_that_is_kept_as_json(said: Said, fields: dict[str, object]) -> None:
    lake = said(history(fields))

    kept = "select text from timeline union all select content from context_items"
    assert any("x\ufffdy" in text for text in lake.column(kept))
    assert lake.rows(NOTES) == [(1, "nul_character", None)]


def test_numbers_beyond_a_double(said: Said) -> None:
    usage = '{"promptTokens":1e400,"completionTokens":1e-7,"totalCost":1e400}'
    call = '{"toolCallId":"c","parsedArgs":{"n":1e400}}'

    lake = said(f'{{"usage":{usage},"history":[{{"message":{{"role":"assistant"}},"toolCallStates":[{call}]}}]}}')

    assert lake.value("select text from timeline where kind = 'session'") == (
        "session start: items=1 promptTokens=1e+400 completionTokens=1e-7 totalCost=1e+400 dateCreated unknown"
    )
    assert lake.column("select arguments from tool_calls") == ['{"n":1e+400}']
    assert lake.rows(NOTES) == [
        (0, "value_out_of_range", "usage.promptTokens, usage.totalCost"),
        (0, "wrong_type", "usage.completionTokens"),
    ]


@pytest.mark.parametrize("lead", ["\0" * 512, "// a comment\n", "<<<<<<< HEAD\n", "\x0c"])
def test_what_stands_behind_a_damaged_beginning_is_read(said: Said, lead: str) -> None:
    whole = history({"message": {"role": "user", "content": "q"}}, title="T")

    lake = said(lead + whole, index=lead + '[{"sessionId":"gone","title":"G"}]')

    assert lake.column(TEXTS) == ["q"]
    assert lake.column("select title from sessions order by has_file") == ["G", "T"]


def test_items_behind_a_beginning_that_was_lost(said: Said) -> None:
    lake = said("\0" * 64 + '"message":{}},{"message":{"role":"user","content":"q"}}],"title":"T"}')

    assert lake.column(TEXTS) == ["q"]
    assert lake.column("select title from sessions") == ["T"]
    assert lake.column("select reason from problems") == ["zero_filled"]


@pytest.mark.parametrize("encoding", ["utf-16-be", "utf-16-le", "utf-16"])
def test_wide_characters_with_half_a_pair(said: Said, encoding: str) -> None:
    text = '{"history":[{"message":{"role":"user","content":"a\ud83db"}}]}'

    lake = said(text.encode(encoding, "surrogatepass"))

    assert lake.column(TEXTS) == ["a\ufffdb"]
    assert lake.rows(NOTES) == [(1, "lone_surrogate", None)]


def test_elements_of_another_type_are_named(said: Said) -> None:
    lake = said(history(item(message={"role": "assistant", "toolCalls": ["ls"]}, contextItems=[1])))

    assert lake.rows(NOTES) == [(1, "wrong_type", "contextItems, toolCalls")]


@pytest.mark.parametrize(
    "text",
    [
        '{"history":[{"message":{"role":"assistant","content":"' + '\\"' * 200_000,
        '{"history":[{"message":{"role":"user","content":"' + "x" * 5_000_000,
        '{"history":[' + '{"message":{"a":[x]},{"message":{}},' * 20_000 + "]}",
        '{"history":[' + '{"message":{}},{' * 50_000,
        '{"history":[' + '"' * 2_000_000,
        '{"history":[' + 'x{"message":{"role":"user","content":"q"}},' * 40_000,
        '{"history":[{"message":{}}],' * 100_000,
    ],
    ids=["quotes", "long", "faults", "openings", "strings", "garbage", "members"],
)
def test_a_hostile_file_is_not_the_work_of_minutes(said: Said, text: str) -> None:
    with ending():
        said(text)


@pytest.mark.parametrize(
    "manifest", ["[]", "null", "{}", '{"format":999,"buckets":1,"homes":[]}', '{"format":2,"buckets":0,"homes":[]}']
)
def test_a_manifest_of_another_shape_is_one_line(tmp_path: Path, manifest: str) -> None:
    folder = tmp_path / "home/.continue/sessions"
    folder.mkdir(parents=True)
    (folder / "a.json").write_text("{}")
    build = ("build", tmp_path / "home", "-o", tmp_path / "lake", "--workers", "1")
    homelake(*build)
    (tmp_path / "lake/current/manifest.json").write_text(manifest)

    refused, anew = homelake(*build), homelake(*build, "--replace")

    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert "--replace starts anew" in refused.stderr
    assert anew.exit_code == 0, anew.stderr


def test_what_is_not_a_lake_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "home/.continue/sessions"
    folder.mkdir(parents=True)
    (folder / "a.json").write_text("{}")
    (tmp_path / "out/builds/v1.2").mkdir(parents=True)

    outcome = homelake("build", tmp_path / "home", "-o", tmp_path / "out", "--replace")

    assert outcome.exit_code == 2
    assert outcome.stderr == f"homelake: {tmp_path / 'out'}: not a lake, and not empty\n"
    assert (tmp_path / "out/builds/v1.2").is_dir()


def test_models_of_both_surfaces_are_compared_with_their_own_kind(said: Said) -> None:
    def reply(title: str | None, usage: str | None) -> dict[str, object]:
        message = {"role": "assistant", "content": "x", "usage": {"model": usage}}
        return {"message": message, "promptLogs": [{"modelTitle": title}] if title else []}

    lake = said(history(reply("A", "a"), reply(None, "b"), reply("B", None), chatModelTitle="A"))

    assert lake.column("select text from timeline where kind = 'model' order by sequence") == [
        "model: A",
        "model: a -> b",
        "model: A -> B",
    ]


def test_summary_is_compared_with_what_was_said(said: Said) -> None:
    items = [{"message": {"role": "foo", "content": text}, "conversationSummary": "S"} for text in ("S", "foo: S")]

    lake = said(history(*items))

    assert lake.column(TEXTS) == ["foo: foo: S"]


def test_scratch_directory_of_the_index(said: Said) -> None:
    entry = {"sessionId": "000", "workspaceDirectory": "/tmp/cn-review-12-1789460000000"}  # noqa: S108

    lake = said(history(), index=json.dumps([entry]))

    assert lake.value("select scratch from sessions") is True


def test_a_field_that_nests_too_deep_leaves_the_others_of_the_head(said: Said) -> None:
    deep = "[" * 600 + "]" * 600

    lake = said(f'{{"title":"T","usage":{{"promptTokens":{deep}}},"history":[]}}')

    assert lake.column("select title from sessions") == ["T"]
    assert lake.rows("select source_line, reason, detail, lost from problems") == [
        (0, "nesting_too_deep", "usage", True)
    ]


def test_the_bytes_of_a_file_of_which_nothing_is_read_are_all_its_own(said: Said) -> None:
    garbage, wide = bytes(range(128, 256)) * 2, '["no object"]'.encode("utf-16")

    lake = said(garbage, wide)

    assert lake.rows("select reason, bytes from problems order by source_file") == [
        ("json_invalid", len(garbage)),
        ("not_an_object", len(wide)),
    ]
