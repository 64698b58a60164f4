"""The analyzer's files from a lake."""

import json
from pathlib import Path

import pytest

from tests.lake import Lake, homelake, run
from tests.made import MadeHome, at, exchange, reply, user

COLUMNS = [
    "timestamp_utc", "host", "user", "agent", "session_id", "project_path", "git_branch",
    "turn_type", "model", "tool_name", "tool_use_id", "text", "source_file", "source_line",
]  # fmt: skip


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    home = MadeHome(tmp_path / "home")
    home.session("s1", user("a\u2028b\u2029c é"), reply("", prompt="p", completion="x"), created=60)
    home.session("s0", user("undated"), created=None)
    home.events("chatInteraction", exchange(10, "p", "alone", session="gone"), exchange(20, "p", "x"))
    homelake("build", home.path, "-o", tmp_path / "lake", "--workers", "1")
    outcome = homelake("export", tmp_path / "lake", "-o", tmp_path / "out")
    assert outcome.exit_code == 0, outcome.stderr
    return tmp_path / "out"


def test_timeline_is_in_order_of_time_then_file_and_line(exported: Path) -> None:
    rows = [json.loads(line) for line in (exported / "timeline.jsonl").read_bytes().split(b"\n")[:-1]]

    assert [list(row) for row in rows] == [COLUMNS] * len(rows)
    assert [(row["timestamp_utc"], row["text"]) for row in rows] == [
        ("2026-09-15T08:30:10.000Z", "p"),
        ("2026-09-15T08:30:10.000Z", "alone"),
        ("2026-09-15T08:30:20.000Z", "x"),
        ("2026-09-15T08:31:00.000Z", "session start: t items=2"),
        ("2026-09-15T08:31:00.000Z", "a\u2028b\u2029c é"),
        ("", "session start: t items=1 dateCreated unknown"),
        ("", "undated"),
    ]
    assert {row["host"] for row in rows} == {row["git_branch"] for row in rows} == {""}


def test_lines_are_compact_and_end_where_every_reader_ends_them(exported: Path) -> None:
    data = (exported / "timeline.jsonl").read_bytes()

    assert b"a\\u2028b\\u2029c \xc3\xa9" in data
    assert len(data.decode().splitlines()) == data.count(b"\n")
    assert data.startswith(b'{"timestamp_utc":"2026-09-15T08:30:10.000Z","host":"",')


def test_sessions_have_the_times_of_their_rows(exported: Path) -> None:
    rows = [json.loads(line) for line in (exported / "sessions.jsonl").read_text(encoding="utf-8").splitlines()]

    assert [(row["session_id"], row["first_timestamp_utc"], row["user_turns"], row["models"]) for row in rows] == [
        ("gone", "2026-09-15T08:30:10.000Z", 1, ["m"]),
        ("s1", "2026-09-15T08:30:20.000Z", 1, ["m"]),
        ("s0", "", 1, []),
    ]
    assert rows[1]["last_timestamp_utc"] == at(60).isoformat(timespec="milliseconds") + "Z"
    assert list(rows[0]) == [
        "host", "user", "agent", "session_id", "project_path", "first_timestamp_utc", "last_timestamp_utc", "models",
        "user_turns", "assistant_turns", "tool_calls", "source_file",
    ]  # fmt: skip


def test_the_real_homes_are_exported_whole(corpus_lake: Lake, tmp_path: Path) -> None:
    outcome = run("export", corpus_lake.path, "-o", tmp_path)

    assert outcome.exit_code == 0, outcome.stderr
    lines = (tmp_path / "timeline.jsonl").read_bytes().split(b"\n")[:-1]
    assert len(lines) == corpus_lake.count("timeline", "repeats_row_id is null")
    assert len([json.loads(line) for line in lines]) == len(lines)


def test_nothing_is_written_into_a_lake_or_from_none(corpus_lake: Lake, tmp_path: Path) -> None:
    inside = run("export", corpus_lake.path, "-o", corpus_lake.path / "x")
    nowhere = run("export", tmp_path / "none", "-o", tmp_path / "out")

    assert (inside.exit_code, nowhere.exit_code) == (2, 2)
    assert "the folder lies in the lake" in inside.stderr
    assert nowhere.stderr.count("\n") == 1


def test_a_file_in_the_place_of_the_folder_is_told(corpus_lake: Lake, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine", encoding="utf-8")

    outcome = run("export", corpus_lake.path, "-o", tmp_path / "out")

    assert (outcome.exit_code, outcome.stderr) == (2, f"homelake: {tmp_path / 'out'}: not a directory\n")
