"""The prompts typed in Continue's command line: the corpus against its JSON, then files made for one point each."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from parsers.continue_input_history import SOURCE
from pipeline.source import TwinRule
from tests.bounded import ending
from tests.source_files import Staged, fixtures_of, stage_bytes, stage_files

FILES = fixtures_of(SOURCE, ".continue")
EPOCH = datetime(1970, 1, 1)
T0 = datetime(2026, 9, 15, 8, 30)
MS = 1_789_461_000_000


def staged(tmp_path: Path, data: bytes | str) -> Staged:
    return stage_bytes(SOURCE, tmp_path, data, ".continue/input_history.json")


@pytest.mark.parametrize("path", [path for path in FILES if "corpus" in path.parts], ids=lambda path: path.parts[-3])
def test_history_of_the_corpus_gives_a_row_a_prompt(path: Path) -> None:
    prompts = json.loads(path.read_text(encoding="utf-8"))

    found = stage_files(SOURCE, {path: FILES[path]})

    assert found.rows("line", "text", "own_utc") == [
        (number, prompt["text"].strip(), EPOCH + timedelta(milliseconds=prompt["timestamp"]))
        for number, prompt in enumerate(prompts, 1)
    ]
    assert (found.reads[0].records, found.losses(), found.notes()) == (len(prompts), [], [])


def test_histories_of_the_corpus_are_many() -> None:
    counts = [len(json.loads(path.read_text(encoding="utf-8"))) for path in FILES if "homes" in path.parts]

    assert sorted(counts) == [3, 3, 4, 27]


def test_case_of_odd_times_and_a_cut_end() -> None:
    path = next(path for path in FILES if "029-input-history" in path.parts)

    found = stage_files(SOURCE, {path: FILES[path]})

    assert found.rows("line", "text", "own_utc") == [
        (1, "fix tests", datetime(2026, 9, 15, 8, 40)),
        (2, "ls -la", datetime(2026, 9, 15, 8, 35)),
        (3, "old", None),
        (4, "neg", None),
    ]
    text = 'parser: unparseable record 5 (json_truncated): {\n    "text": "cut her'
    assert found.losses() == [(5, "json_truncated", text)]
    assert found.notes() == [(3, "bad_timestamp", "timestamp"), (4, "bad_timestamp", "timestamp")]


def test_columns_that_all_rows_share(tmp_path: Path) -> None:
    found = staged(tmp_path, f'[{{"text":"a","timestamp":{MS}}},{{"text":"b","timestamp":{MS}}}]')

    assert found.rows("kind", "turn_type", "own_basis", "named_session", "keyed_by_text", "record", "sequence") == [
        ("message", "user", "record", None, False, number, number - 1) for number in (1, 2)
    ]
    assert SOURCE.twin_rule is TwinRule.HISTORY


def test_key_is_text_and_time_alone(tmp_path: Path) -> None:
    one = f'{{"text":" a ","timestamp":{MS}}}'

    found = staged(tmp_path, f'[{one},{{"text":"b"}},{one}]')

    assert found.rows("key", "occurrence") == [(f"a\0{MS}", 0), ("b\0", 0), (f"a\0{MS}", 1)]


def test_text_is_trimmed_and_an_empty_one_is_silent(tmp_path: Path) -> None:
    found = staged(
        tmp_path, json.dumps([{"text": " \u3000a\n b\t\n"}, {"text": ""}, {"text": " \n\x85"}, {"text": "\x1c"}])
    )

    assert found.rows("line", "text") == [(1, "a\n b"), (4, "\x1c")]
    assert (found.silent(), found.reads[0].records) == (2, 4)


@pytest.mark.parametrize(
    ("stamp", "utc"),
    [
        (f"{MS}", T0),
        (f'"{MS}"', T0),
        (f"{MS}.0", T0),
        (f"{MS // 1000}", T0),
        ('"2026-09-15T10:30:00+02:00"', T0),
        ("null", None),
    ],
)
def test_time_in_any_form(tmp_path: Path, stamp: str, utc: datetime | None) -> None:
    found = staged(tmp_path, f'[{{"text":"a","timestamp":{stamp}}}]')

    assert found.rows("own_utc") == [(utc,)]
    assert found.notes() == []


@pytest.mark.parametrize(
    "stamp", ["0", "-5", "true", '""', '"soon"', "1e3", "9" * 5000, "{}", "[1]", '{"a":' * 300 + "1" + "}" * 300]
)
def test_time_that_is_none_is_null_with_a_note(tmp_path: Path, stamp: str) -> None:
    found = staged(tmp_path, f'[{{"text":"a","timestamp":{stamp}}}]')

    assert found.rows("text", "own_utc") == [("a", None)]
    assert found.notes() == [(1, "bad_timestamp", "timestamp")]


@pytest.mark.parametrize(
    ("element", "reason", "text"),
    [
        ('"a"', "not_an_object", '"a"'),
        ("null", "not_an_object", "null"),
        ("[ 1,\n 2.0 ]", "not_an_object", "[1,2]"),
        ("{ }", "wrong_type", "{}"),
        ('{"text": 5, "timestamp": 1}', "wrong_type", '{"text":5,"timestamp":1}'),
        ('{"text": null}', "wrong_type", '{"text":null}'),
        ('{"text": ["a"], "apiKey": "FAKE-KEY-1"}', "wrong_type", '{"text":["a"],"apiKey":"***"}'),
    ],
)
def test_element_that_is_no_prompt_is_a_loss_and_the_others_stay(
    tmp_path: Path, element: str, reason: str, text: str
) -> None:
    found = staged(tmp_path, f'[{{"text":"a"}},{element},{{"text":"b"}}]')

    assert found.losses() == [(2, reason, f"parser: unparseable record 2 ({reason}): {text}")]
    assert found.rows("line", "text") == [(1, "a"), (3, "b")]


@pytest.mark.parametrize(
    ("data", "loss"),
    [
        (b"", (0, "empty_file", "parser: unreadable (empty_file)")),
        (b" \n", (0, "empty_file", "parser: unreadable (empty_file)")),
        (b"\0" * 64, (0, "zero_filled", "parser: unreadable (zero_filled)")),
        (b'{"text":"a"}', (0, "not_an_object", "parser: not a JSON array")),
        (b"5", (0, "not_an_object", "parser: not a JSON array")),
        (b"rubbish", (0, "json_invalid", "parser: unreadable (json_invalid)")),
        (b"[" * 100_000, (1, "json_truncated", None)),
    ],
)
def test_file_without_a_prompt_is_one_loss(tmp_path: Path, data: bytes, loss: tuple[int, str, str | None]) -> None:
    found = staged(tmp_path, data)

    ((line, reason, text),) = found.losses()
    assert (line, reason) == loss[:2]
    assert loss[2] in (text, None)
    assert found.texts() == []


def test_empty_list_holds_no_record(tmp_path: Path) -> None:
    found = staged(tmp_path, "[]")

    assert (found.reads[0].records, found.losses(), found.texts()) == (0, [], [])


@pytest.mark.parametrize(
    ("data", "rows", "losses"),
    [
        ('[{"text":"a"},{"te\n,{"text":"b"}]', [(1, "a"), (3, "b")], [(2, "json_truncated")]),
        ('[{"text":"a"}', [(1, "a")], [(0, "json_truncated")]),
        ('[{"text":"a"}]}]', [(1, "a")], [(0, "trailing_data")]),
        ('[{"text":"a"}]' + "\0" * 20, [(1, "a")], [(0, "zero_filled")]),
        ('[{"text":"a"},\n' + "\0" * 20, [(1, "a")], [(2, "zero_filled")]),
        ('[{"text":"a","text":"b"}]', [(1, "b")], []),
    ],
)
def test_damage_costs_only_itself(
    tmp_path: Path, data: str, rows: list[tuple[int, str]], losses: list[tuple[int, str]]
) -> None:
    found = staged(tmp_path, data)

    assert found.rows("line", "text") == rows
    assert [(line, reason) for line, reason, _ in found.losses()] == losses
    assert found.unaccounted() == []


def test_odd_characters_are_replaced_with_a_note(tmp_path: Path) -> None:
    found = staged(tmp_path, b'[{"text":"\xff"},{"text":"\\ud83d"},{"text":"\\u0000"},{"text":"ok"}]')

    assert found.texts() == ["\ufffd", "\ufffd", "\ufffd", "ok"]
    assert found.notes() == [(1, "invalid_utf8", None), (2, "lone_surrogate", None), (3, "nul_character", None)]


def test_many_prompts_are_read_in_little_time(tmp_path: Path) -> None:
    data = json.dumps([{"text": "x" * (5_000_000 if number == 7 else 20), "timestamp": MS} for number in range(50_000)])

    with ending():
        found = staged(tmp_path, data)

    assert len(found.texts()) == 50_000
