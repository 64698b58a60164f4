"""Event files as disks hold them: the cases, damage, encodings, secrets; the fast way and the careful one."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from parsers import SOURCES, _events
from tests.events import TIMESTAMP, Staged, event_files, lines_of, staged
from tests.layout import FIXTURES

CASES = FIXTURES / "cases"
CHAT, USAGE = ".continue/dev_data/0.2.0/chatInteraction.jsonl", ".continue/dev_data/0.2.0/toolUsage.jsonl"
TOKENS = ".continue/dev_data/0.2.0/tokensGenerated.jsonl"
REAL = event_files(FIXTURES)
SESSION = "0000001c-1111-4222-8333-00000000001c"

Read = Callable[..., Staged]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Stage the bytes of a file of that path below a home."""

    def reading(below: str, data: bytes) -> Staged:
        path = tmp_path / "events"
        path.write_bytes(data)
        return staged(path, below)

    return reading


@pytest.fixture
def carefully(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Refuse every line to the fast way from now on."""
    return lambda: monkeypatch.setattr(_events, "_healthy", lambda *_: None)


def case(name: str, below: str) -> Staged:
    [folder] = CASES.glob(f"{name}-*")
    return staged(folder / "home" / below)


def chat(prompt: object, **fields: object) -> dict[str, object]:
    return {"timestamp": TIMESTAMP, "prompt": prompt, "completion": "c", "sessionId": "s", **fields}


def test_sources_can_be_sent_to_workers() -> None:
    sources = pickle.loads(pickle.dumps(SOURCES))  # noqa: S301

    assert [source.name for source in sources] == [source.name for source in SOURCES]


def test_case_zero_filled_end() -> None:
    found = case("003", CHAT)

    assert found.rows("line", "turn_type", "text", "own_basis", "named_session") == [
        (1, "user", "hello", "record", "00000004-1111-4222-8333-000000000004"),
        (1, "assistant", "hi", "record", "00000004-1111-4222-8333-000000000004"),
    ]
    assert found.losses() == [(2, "zero_filled", "parser: unparseable line (zero_filled): \ufffd")]
    assert found["faults"]["bytes"].to_list() == [4096]
    assert found.notes() == []


def test_case_torn_and_joined_lines() -> None:
    found = case("020", CHAT)

    prompts = [("p0", 1), ("p2", 2), ("p3", 4), ("with\u2028separator", 5), ("p4", 6), ("p5", 6)]
    assert found.rows("text", "line") == [side for prompt in prompts for side in (prompt, ("c", prompt[1]))]
    [(line, reason, text)] = found.losses()
    assert (line, reason) == (2, "json_truncated")
    torn = '{"eventName":"chatInteraction","schema":"0.2.0","timestamp":"2026-09-1{"eventName"'
    assert str(text).startswith(f"parser: unparseable line (json_truncated): {torn}")
    assert '"prompt":"p2"' in str(text)
    assert found.notes() == []


def test_case_text_after_and_instead_of_objects() -> None:
    found = case("060", CHAT)

    assert found.rows("text", "line") == [("q0", 1), ("c", 1), ("q1", 2), ("c", 2), ("q4", 6), ("c", 6)]
    losses = [tuple(map(str, loss)) for loss in found.losses()]
    assert [loss[:2] for loss in losses] == [
        ("2", "trailing_data"),
        ("3", "json_truncated"),
        ("4", "not_an_object"),
        ("5", "not_an_object"),
    ]
    assert losses[0][2].startswith('parser: unparseable line (trailing_data): {"eventName":"chatInteraction"')
    assert losses[0][2].endswith("}TRAILER")
    assert losses[1][2].endswith('"timestamp":"2026-09-15T08:31:00.000Z","us')
    assert [loss[2] for loss in losses[2:]] == [
        "parser: unparseable line (not_an_object): []",
        'parser: unparseable line (not_an_object): "x"',
    ]
    assert found.notes() == []


def test_case_numbers_and_repeated_keys() -> None:
    found = case("022", TOKENS)

    counts = found.rows("line", "prompt_tokens", "completion_tokens", "grain", "own_utc", frame="tokens")
    assert counts == [
        (line, count, 0, "request", None)
        for line, count in ((1, 2), (3, None), (4, None), (5, 3), (6, None), (7, None))
    ]
    lost = '{"model":"m","provider":"p","promptTokens":NaN,"generatedTokens":0}'
    assert found.losses() == [(2, "json_invalid", f"parser: unparseable line (json_invalid): {lost}")]
    assert found.notes() == [
        (3, "value_out_of_range", "promptTokens"),
        (4, "value_out_of_range", "promptTokens"),
        (6, "wrong_type", "promptTokens"),
        (7, "wrong_type", "promptTokens"),
    ]
    assert found.rows("kind", losses=True) == [("problem",)]


def test_case_odd_counts() -> None:
    found = case("031", TOKENS)

    assert found.rows("prompt_tokens", "completion_tokens", frame="tokens") == [(100, 7), (None, None), (0, 0)]
    assert found.notes() == [(2, "value_out_of_range", "promptTokens, generatedTokens")]
    assert found.rows("text", losses=True) == []


def test_case_token_in_user_id() -> None:
    found = case("067", CHAT)

    assert found.rows("text", "line", "named_session") == [
        (text, line, SESSION) for line, prompt in ((1, "a"), (2, "b"), (3, "c")) for text in (prompt, "c")
    ]
    assert all("FAKE-HUB-TOKEN-7" not in frame.write_csv() for frame in found.frames.values())
    assert found["faults"].height == 0


def test_case_tool_usage() -> None:
    found = case("019", USAGE)

    outcomes = [("t1", "true", "true\nok"), ("t1", "true", "false"), ("t2", "false", "false")]
    assert found.rows("line", "tool_use_id", "kind", "turn_type", "text") == [
        row
        for line, (call, accepted, succeeded) in enumerate(outcomes, 1)
        for row in (
            (line, call, "tool_call", "tool_use", '{"command":"x"}'),
            (line, call, "tool_result", "tool_result", f"accepted={accepted} succeeded={succeeded}"),
            (line, call, "permission_decision", "system", f"permission decision: accepted={accepted}"),
        )
    ]
    assert set(found.rows("tool_name", "own_basis", "named_session", "call_no")) == {
        ("run_terminal_command", "record", None, None)
    }
    assert found["faults"].height == 0


@pytest.mark.parametrize("path", REAL, ids=lambda path: "-".join(path.parts[-6:]))
def test_both_ways_give_the_same(path: Path, carefully: Callable[[], None]) -> None:
    fast = staged(path)

    carefully()
    careful = staged(path)

    assert {name: frame.to_dicts() for name, frame in fast.frames.items()} == {
        name: frame.to_dicts() for name, frame in careful.frames.items()
    }


@pytest.mark.parametrize(
    "line",
    [
        '{"prompt":"a","completion":"b"}',
        '{"prompt":"a","prompt":"b","completion":null}',
        ' {"prompt" : "\\u00e9\\ud83d\\ude00" , "x":[1e5,{"y":null}] } ',
        '{"prompt":"' + "é" * 1000 + '"}',
        '{"timestamp":1789461060000,"prompt":"a"}',
        '{"timestamp":1789461060000.0,"prompt":"a"}',
        '{"timestamp":"soon","prompt":"a"}',
        '{"timestamp":12345678901234567890123,"prompt":"a"}',
        '{"timestamp":{"a":1.50},"prompt":"a"}',
        '{"timestamp":"","sessionId":"","modelTitle":""}',
        "{}",
    ],
)
def test_both_ways_give_the_same_of_a_healthy_line(line: str, read: Read, carefully: Callable[[], None]) -> None:
    fast = read(CHAT, line.encode())
    carefully()

    careful = read(CHAT, line.encode())

    assert [frame.to_dicts() for frame in fast.frames.values()] == [f.to_dicts() for f in careful.frames.values()]
    assert fast.losses() == []


def test_texts_that_no_column_takes(read: Read) -> None:
    data = b'{"prompt":"a\\u0000b","completion":"\\ud83d x"}\n{"prompt":"\xff\xfe \xc3\xa9","userAgent":"\xff"}\n'

    found = read(CHAT, data)

    assert found.texts() == ["a\ufffdb", "\ufffd x", "\ufffd é"]
    assert found.notes() == [(1, "lone_surrogate", None), (1, "nul_character", None), (2, "invalid_utf8", None)]


def test_odd_texts_in_fields_that_are_not_read_are_no_matter(read: Read) -> None:
    data = b'{"prompt":"p","userAgent":"\xff"}\n{"prompt":"q","userAgent":"\\ud83d"}\n{"prompt":"r","x":"\\u0000"}\n'

    found = read(CHAT, data)

    assert found.texts() == ["p", "q", "r"]
    assert found["faults"].height == 0


def test_fields_of_another_type(read: Read) -> None:
    found = read(
        CHAT, lines_of({"prompt": 5, "completion": ["x"], "sessionId": {}, "modelTitle": True, "x": 1}, chat("p"))
    )

    assert found.texts() == ["p", "c"]
    assert found.notes() == [(1, "wrong_type", "completion, modelTitle, prompt, sessionId")]
    assert found.rows("records", frame="silent") == [(1,)]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_other_encodings(encoding: str, read: Read) -> None:
    lines = [json.dumps(chat(prompt), ensure_ascii=False) for prompt in ("é😀", "a\u2028b")]

    found = read(CHAT, "\r\n".join([*lines, "x", ""]).encode(encoding))

    assert found.texts() == ["é😀", "c", "a\u2028b", "c"]
    assert found.losses() == [(3, "json_invalid", "parser: unparseable line (json_invalid): x")]
    plain = read(CHAT, "\n".join(lines).encode())
    assert found.rows("key") == plain.rows("key")


def test_rows_of_joined_objects_stand_in_order_and_apart(read: Read) -> None:
    one, two = json.dumps(chat("one")), json.dumps(chat("two"))

    found = read(CHAT, f"{one}{two}{one}\n{one}\n".encode())

    assert found.texts() == ["one", "c", "two", "c", "one", "c", "one", "c"]
    assert found.rows("line", "record", "occurrence")[::2] == [(1, 1, 0), (1, 2, 0), (1, 3, 1), (2, 4, 2)]
    assert found.rows("key")[0] == found.rows("key")[4] != found.rows("key")[2]


def test_keys_are_of_an_objects_own_bytes(read: Read) -> None:
    line = json.dumps(chat("one")).encode()

    keys = {
        key
        for data in (line, b" " + line + b"\r\n", b'{"prompt":"torn' + line, line + b"x", b"\xef\xbb\xbf" + line)
        for key in read(CHAT, data).rows("key")
    }

    assert len(keys) == 1
    assert read(CHAT, lines_of(chat("two"))).rows("key")[0] not in keys


def test_no_text_shows_a_token(read: Read) -> None:
    event = chat("p", userId='to"ken-7', apiKey="token-7")
    whole = json.dumps(event)
    inner = json.dumps({"prompt": json.dumps(event), "x": 1})
    at = whole.index("ken-7") + 3

    found = read(
        CHAT,
        lines_of(whole, whole + "TRAILER", whole[:at], whole[:at] + whole, inner[:-4], "[" + whole + "]", '"' + whole),
    )

    assert found["faults"].height == 6
    for frame in found.frames.values():
        assert "ken-7" not in frame.write_csv()
        assert "token-" not in frame.write_csv()
    masked = whole.replace('to\\"ken-7', "***").replace("token-7", "***")
    assert found.losses()[0] == (2, "trailing_data", f"parser: unparseable line (trailing_data): {masked}TRAILER")


@pytest.mark.parametrize("depth", [150, 190, 250, 900, 5000, 100_000])
def test_nesting_of_every_depth_costs_at_most_its_line(depth: int, read: Read) -> None:
    deep = '{"toolCallId":"d","output":[{"content":' + "[" * depth + "]" * depth + "}]}"

    found = read(USAGE, lines_of({"toolCallId": "a"}, deep, {"toolCallId": "b"}))

    ids = [call for call, kind in found.rows("tool_use_id", "kind") if kind == "tool_call"]
    assert ids == (["a", "d", "b"] if depth < 200 else ["a", "b"])
    assert [loss[:2] for loss in found.losses()] == ([] if depth < 200 else [(2, "nesting_too_deep")])


def test_long_runs_of_nul_are_one_character(read: Read) -> None:
    found = read(
        CHAT, b'{"prompt":"a' + b"\0" * 5000 + b'b"}\n{"prompt":"c","completion":"' + b"\\u0000" * 20 + b'"}\n'
    )

    assert found.losses() == [(1, "zero_filled", 'parser: unparseable line (zero_filled): {"prompt":"a\ufffdb"}')]
    assert found.rows("line", "text") == [(2, "c"), (2, "\ufffd")]
    assert found.notes() == [(2, "zero_filled", None)]


def test_an_empty_file_holds_nothing(read: Read) -> None:
    assert (read(CHAT, b"").records, read(CHAT, b"\n \r\n").records) == (0, 0)


def test_damage_hides_no_neighbour(read: Read) -> None:
    events = [json.dumps(chat(f"p{number}")).encode() for number in range(5)]
    whole = b"\n".join(events)

    for at in range(0, len(whole), 7):
        found = read(CHAT, whole[:at] + b"\0\0\xff" + whole[at + 3 :])

        hurt = whole[:at].count(b"\n"), whole[: at + 3].count(b"\n")
        kept = {f"p{number}" for number in range(5) if number < hurt[0] or number > hurt[1]}
        assert kept <= set(found.texts())
        assert found["faults"].filter(pl.col("text").is_not_null()).height <= 1
