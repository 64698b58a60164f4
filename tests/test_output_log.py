"""The chat's output log: writes, their prompts and replies, models, what is no write."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from parsers.pearai_output_log import SOURCE
from pipeline.source import TwinRule
from tests import made
from tests.bounded import ending
from tests.conftest import OpenLake
from tests.lake import homelake
from tests.made_pear import MadePear
from tests.source_files import Staged, stage_bytes
from tests.tasks import stage_fixtures, unaccounted

PATH = ".config/PearAI/logs/20260915T083000/window1/exthost/output_logging_20260915T083001/1-PearAI.log"
BETWEEN = ("=" * 74 + "\n") * 2
RULE = "#" * 44
SHOWN = ("line", "kind", "turn_type", "text", "model")


def request(prompt: str, *settings: str) -> str:
    lines = "\n".join(("contextLength: 8192", *settings))
    return f"{BETWEEN}Settings:\n{lines}\n\n{RULE}\n\n{prompt}"


def reply(text: str) -> str:
    return f"{BETWEEN}Completion:\n\n{text}\n\n"


def stage(folder: Path, *writes: str) -> Staged:
    return stage_bytes(SOURCE, folder, "".join(writes), PATH)


def test_source_is_secondary_to_sessions() -> None:
    assert SOURCE.twin_rule is TwinRule.LOG
    assert SOURCE.session is None


@pytest.mark.parametrize(
    ("path", "is_log"),
    [
        (PATH, True),
        (PATH.removeprefix(".config/PearAI/"), True),
        (PATH.replace("1-PearAI", "3-Roo-Code"), False),
        (PATH.replace("/exthost", ""), False),
    ],
)
def test_pattern(path: str, is_log: bool) -> None:
    assert bool(SOURCE.pattern.fullmatch(path)) is is_log


def test_case_049_losses() -> None:
    found = stage_fixtures(SOURCE, "cases/049-output-channel-logs")

    assert found.rows("text") == found.notes() == []
    assert found.losses() == [
        (1, "unexpected_record", "parser: unparseable record (unexpected_record): first\nsecond"),
        (1, "unexpected_record", "parser: unparseable record (unexpected_record): other window"),
    ]
    assert unaccounted(found) == []


def test_chat_request_and_its_reply(tmp_path: Path) -> None:
    chat = "<system>\nBe kind.\n\n<user>\nfirst\n\n<assistant>\nyes\n\n<user>\nadd the target\n\nplease\n\n"

    found = stage(tmp_path, request(chat, "model: pearai_model", "maxTokens: 4096"), reply("Added `all:`."))

    assert found.rows(*SHOWN, "own_basis", "own_utc", "named_session") == [
        (3, "model", "system", "model: pearai_model", "pearai_model", "record", None, None),
        (3, "message", "user", "add the target\n\nplease", None, "record", None, None),
        (26, "message", "assistant", "Added `all:`.", "pearai_model", "record", None, None),
    ]
    assert found.losses() == found.notes() == []
    assert unaccounted(found) == []


def test_words_of_the_assistant_behind_a_prompt_are_none_of_it(tmp_path: Path) -> None:
    found = stage(tmp_path, request("<user>\nq\n\n<assistant>\n```py\n\n"))

    assert found.texts() == ["q"]


@pytest.mark.parametrize("prompt", ["def f(<FIM>):", "[INST] q [/INST]", "<system>\nBe kind.\n\n"])
def test_other_requests_are_told_whole(prompt: str, tmp_path: Path) -> None:
    """The prompt of a completion in the editor ends where the next write begins, without a line feed."""
    found = stage(tmp_path, request(prompt), reply("x"))

    assert found.rows("kind", "turn_type", "text") == [
        ("notice", "system", f"model request: {prompt.strip()}"),
        ("notice", "system", "model completion: x"),
    ]
    assert unaccounted(found) == []


def test_reply_is_of_the_nearest_request_without_one(tmp_path: Path) -> None:
    chat = request("<user>\nq\n\n", "model: big")

    found = stage(tmp_path, chat, request("a<FIM>b", "model: small"), reply("done"), reply("answer"), reply("stray"))

    assert found.rows("turn_type", "text", "model") == [
        ("system", "model: big", "big"),
        ("user", "q", None),
        ("system", "model: big -> small", "small"),
        ("system", "model request: a<FIM>b", None),
        ("system", "model completion: done", None),
        ("assistant", "answer", "big"),
        ("system", "model completion: stray", None),
    ]


def test_models_are_tracked_over_the_file(tmp_path: Path) -> None:
    writes = [
        request("p", *settings) for settings in (("model: a",), ("model: a",), (), ("model: undefined",), ("model: b",))
    ]

    found = stage(tmp_path, *writes)

    assert [text for text in found.texts() if text.startswith("model: ")] == ["model: a", "model: a -> b"]


def test_setting_that_holds_line_feeds(tmp_path: Path) -> None:
    found = stage(tmp_path, request("<user>\nq\n\n", "stop: \n\n,/src/", "model: m"))

    assert found.texts() == ["model: m", "q"]


def test_empty_sides_give_no_row(tmp_path: Path) -> None:
    found = stage(tmp_path, request("<user>\n\n\n"), reply(""), request(""), reply(" "))

    assert found.texts() == []
    assert found.silent() == 4
    assert unaccounted(found) == []


def test_writes_of_other_forms_are_lost_alone(tmp_path: Path) -> None:
    cut = f"{BETWEEN}Settings:\ncontextLength: 8192\nmod"

    found = stage(tmp_path, "lead\n", cut, reply("x"), f"{BETWEEN}Hello\n\n", request("<user>\nq\n\n"))

    assert found.losses() == [
        (1, "unexpected_record", "parser: unparseable record (unexpected_record): lead"),
        (4, "unexpected_record", "parser: unparseable record (unexpected_record): " + cut.removeprefix(BETWEEN)),
        (14, "unexpected_record", "parser: unparseable record (unexpected_record): Hello"),
    ]
    assert found.rows("line", "text") == [(8, "model completion: x"), (18, "q")]
    assert unaccounted(found) == []


@pytest.mark.parametrize("data", [b"", b" \n", BETWEEN.encode()])
def test_log_without_a_write(data: bytes, tmp_path: Path) -> None:
    found = stage_bytes(SOURCE, tmp_path, data, PATH)

    assert found.losses() == found.rows("text") == []
    assert found.reads[0].records == 0


@pytest.mark.parametrize("data", [bytes(100), bytes(3) + b"\n"])
def test_log_of_zeros_is_one_loss(data: bytes, tmp_path: Path) -> None:
    found = stage_bytes(SOURCE, tmp_path, data, PATH)

    assert found.losses() == [(0, "zero_filled", "parser: unreadable (zero_filled)")]
    assert unaccounted(found) == []


def test_zeros_in_the_place_of_a_write_are_lost_alone(tmp_path: Path) -> None:
    zeros, ask = "\0" * 64, request("<user>\nq\n\n")

    found = stage(tmp_path, zeros, ask, BETWEEN, zeros, ask)

    zero = "parser: unparseable record (zero_filled): \ufffd"
    assert found.losses() == [(1, "zero_filled", zero), (13, "zero_filled", zero)]
    assert found.texts() == ["q", "q"]
    assert unaccounted(found) == []


def test_line_feeds_of_windows(tmp_path: Path) -> None:
    windows = (request("<user>\na\nb\n\n", "model: m") + reply("c")).replace("\n", "\r\n")
    mixed = request("<user>\na\r\nb\n\n")

    assert stage(tmp_path, windows).texts() == ["model: m", "a\nb", "c"]
    assert stage(tmp_path, mixed).texts() == ["a\r\nb"]


def test_equals_signs_before_a_write_are_of_the_prompt(tmp_path: Path) -> None:
    found = stage(tmp_path, request("a = b ==="), reply("x"))

    assert found.texts() == ["model request: a = b ===", "model completion: x"]


def test_texts_are_trimmed_as_those_of_sessions_are(tmp_path: Path) -> None:
    found = stage(tmp_path, request("<user>\n \x1c a \x1f \n\n"), reply("\x1d b\u3000"), request("\x1e c"))

    assert found.texts() == ["\x1c a \x1f", "\x1d b", "model request: \x1e c"]
    assert stage(tmp_path, request("<user>\n\u3000\n\n"), reply("\u3000")).texts() == []


def test_secrets_are_masked(tmp_path: Path) -> None:
    secret = json.dumps({"apiKey": "FAKE-SECRET", "userId": "FAKE-SECRET"})

    found = stage(tmp_path, f"lead {secret}\n", request(f"<user>\n{secret}\n\n"), reply(secret), request(secret))

    kept = {name: frame.drop("unmasked", strict=False) for name, frame in found.frames.items()}
    assert "FAKE-SECRET" not in replace(found, frames=kept).everything()
    assert found.texts()[0] == '{"apiKey": "***", "userId": "***"}'


def test_a_text_with_a_secret_is_no_second_one(tmp_path: Path, open_lake: OpenLake) -> None:
    asked, said = 'why is {"apiKey":"FAKE"} refused?', "call(userId=7)"
    home = MadePear(tmp_path / "home")
    home.chat("s1", made.user(asked), made.reply(said))
    home.file(PATH, request(f"<user>\n{asked}\n\n") + reply(said))

    assert homelake("build", home.path, "-o", tmp_path / "lake", "--workers", "1").exit_code == 0

    lake = open_lake(tmp_path / "lake")
    assert lake.rows("select turn_type, text from twins order by sequence") == [
        ("user", 'why is {"apiKey":"***"} refused?'),
        ("assistant", "call(userId=***)"),
    ]
    assert lake.count("timeline", "recovered") == 0


def test_odd_characters_are_noted(tmp_path: Path) -> None:
    data = request("<user>\n<bad> \0\n\n").encode().replace(b"<bad>", b"\xff\xfe")

    found = stage_bytes(SOURCE, tmp_path, data, PATH)

    assert found.texts() == ["\ufffd \ufffd"]
    assert sorted(reason for _, reason, _ in found.notes()) == ["invalid_utf8", "nul_character"]


def test_equal_writes_have_one_key(tmp_path: Path) -> None:
    found = stage(tmp_path, reply("x"), reply("y"), reply("x"))

    keys = found.rows("key", "occurrence")
    assert keys[0][0] == keys[2][0] != keys[1][0]
    assert [occurrence for _, occurrence in keys] == [0, 0, 1]


@pytest.mark.parametrize("part", ["=", "=" * 74 + "\n", BETWEEN + "Completion:\n\nx\n\n", "\n\n<user>\n", "model: \n"])
def test_hostile_logs_take_no_time(part: str, tmp_path: Path) -> None:
    many = part * (1_000_000 // len(part))

    with ending():
        stage(tmp_path, many)
        stage(tmp_path, request(f"<user>\n{many}"), f"{BETWEEN}Settings:\n{many}")
