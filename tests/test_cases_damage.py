"""The cases of damaged files and indexes. What is right stands in `fixtures/cases/<case>/expected.md`."""

from datetime import datetime
from pathlib import Path

import polars as pl
import pyarrow.dataset as ds

from tests.conftest import BuildCase
from tests.lake import Lake, Loss

CREATED = datetime(2026, 9, 15, 8, 30)
SAVED = datetime(2026, 9, 15, 9, 0)


def session_id(number: int) -> str:
    return f"{number:08x}-1111-4222-8333-{number:012x}"


def test_001_session_cut_mid_string(build_case: BuildCase) -> None:
    lake = build_case("001-session-cut-mid-string")

    assert lake.row(
        "select session_id, title, project_path, started_utc, has_file, in_index, damaged, user_turns, "
        "assistant_turns from sessions"
    ) == (session_id(1), "Tidy the loader", "/home/dana/shop", CREATED, True, True, True, 1, 1)
    assert lake.rows(
        "select turn_type, source_line, text, timestamp_utc, timestamp_basis, event_basis from timeline "
        "where kind = 'message' order by sequence"
    ) == [
        ("user", 1, "rename the config loader", CREATED, "session", "session"),
        ("assistant", 2, "Renamed it in two files.", CREATED, "session", "session"),
    ]
    cut = '{\n      "message": {\n        "role": "user",\n        "content": "now add a tes'
    text = f"parser: unparseable record 3 (json_truncated): {cut}"
    assert lake.losses() == [Loss(f"{session_id(1)}.json", 3, "json_truncated", text)]
    assert lake.notes() == []
    assert lake.row(
        "select bytes, status, losses from artifacts where ends_with(source_file, ?)", f"{session_id(1)}.json"
    ) == (511, "parsed", 1)


def test_002_zero_byte_session(build_case: BuildCase) -> None:
    lake = build_case("002-zero-byte-session")

    assert lake.rows(
        "select session_id, project_path, started_utc, has_file, in_index, damaged, user_turns from sessions "
        "order by session_id"
    ) == [
        (session_id(2), "/home/dana/shop", CREATED, True, True, True, 0),
        (session_id(3), "/home/dana/shop", CREATED, True, True, False, 1),
    ]
    assert lake.value("select title from sessions where session_id = ?", session_id(2)) == "Lost one"
    assert lake.rows("select session_id, turn_type, text from timeline where kind = 'message'") == [
        (session_id(3), "user", "still here")
    ]
    assert lake.losses() == [Loss(f"{session_id(2)}.json", 0, "empty_file", "parser: unreadable (empty_file)")]
    assert lake.notes() == []


def test_003_zero_filled_session(build_case: BuildCase) -> None:
    lake = build_case("003-zero-filled-session")

    assert lake.row("select session_id, title, has_file, in_index, damaged, started_utc from sessions") == (
        session_id(4),
        "After the outage",
        True,
        True,
        True,
        CREATED,
    )
    losses = [loss for loss in lake.losses() if loss.file == f"{session_id(4)}.json"]
    assert losses == [Loss(f"{session_id(4)}.json", 0, "zero_filled", "parser: unreadable (zero_filled)")]
    assert lake.notes() == []
    assert not lake.count("timeline", "repeats_row_id is not null")
    assert not lake.count("timeline", "contains(text, chr(0))")


def test_005_index_blank(build_case: BuildCase) -> None:
    lake = build_case("005-index-blank")

    assert lake.row("select session_id, has_file, in_index, started_utc, started_basis from sessions") == (
        session_id(6),
        True,
        False,
        SAVED,
        "file",
    )
    assert lake.rows("select kind, turn_type, text from session_rows order by sequence") == [
        ("session", "system", "session start: Tidy the loader items=2 dateCreated unknown"),
        ("message", "user", "where is the cache"),
        ("message", "assistant", "In /tmp."),
    ]
    assert lake.rows(
        "select distinct timestamp_utc, timestamp_basis, event_utc, event_basis, month from session_rows"
    ) == [(None, None, None, None, "unknown")]
    (loss,) = lake.losses()
    assert (loss.file, loss.reason) == ("sessions.json", "empty_file")
    assert loss.text.startswith("parser: unreadable")
    assert "empty_file" in loss.text
    assert lake.row("select source, session_id, timestamp_utc from timeline where kind = 'problem'") == (
        "continue.index",
        None,
        None,
    )
    assert lake.value("select source from problems") == "continue.index"
    assert lake.notes() == []


def test_006_index_conflict_markers_and_copies(build_case: BuildCase) -> None:
    lake = build_case("006-index-conflict-markers-and-copies")

    rows = lake.rows("select session_id, file_id, title, in_index from sessions order by source_file")
    assert sorted(rows) == [
        (session_id(7), session_id(7), "Tidy the loader", True),
        (session_id(8), session_id(8), "File title", True),
        (session_id(8), f"{session_id(8)} (1)", "File title", True),
    ]
    assert sorted(lake.messages()) == [
        ("assistant", "only in the copy"),
        ("user", "a"),
        ("user", "b"),
        ("user", "b"),
    ]
    assert sorted(lake.column("select parse_filename(source_file) from timeline where text = 'b'")) == [
        f"{session_id(8)} (1).json",
        f"{session_id(8)}.json",
    ]
    assert lake.rows("select distinct timestamp_utc from session_rows") == [(CREATED,)]
    losses = lake.losses()
    assert 1 <= len(losses) <= 3
    assert {(loss.file, loss.reason) for loss in losses} == {("sessions.json", "json_invalid")}
    assert losses[0].line == 2
    assert losses[0].text == "parser: unparseable record 2 (json_invalid): <<<<<<< HEAD"
    assert not [loss for loss in losses if "Laptop title" in loss.text or "Desktop title" in loss.text]
    assert lake.rows("select distinct source from problems where lost") == [("continue.index",)]
    copy = "sessions.sync-conflict-20260915-083000-AB12CD3.json"
    assert sorted((file, reason) for file, _, reason in lake.notes()) == [
        ("sessions.json", "duplicate_id"),
        (copy, "index_copy"),
    ]
    assert lake.count("artifacts", f"ends_with(source_file, '/{copy}')") == 1


def test_009_index_duplicate_ids(build_case: BuildCase) -> None:
    lake = build_case("009-index-duplicate-ids")

    assert lake.row("select session_id, title, project_path, started_utc from sessions") == (
        session_id(14),
        "Current",
        "/home/dana/shop",
        CREATED,
    )
    assert lake.rows("select text, timestamp_utc from timeline where kind = 'message' order by sequence") == [
        ("x", CREATED),
        ("y", CREATED),
    ]
    assert lake.notes() == [("sessions.json", 2, "duplicate_id")]
    assert lake.losses() == []


def test_010_id_differs_from_file_name(build_case: BuildCase) -> None:
    lake = build_case("010-id-differs-from-file-name")

    assert lake.rows(
        "select session_id, file_id, user_turns, has_file, in_index, started_utc, title from sessions order by file_id"
    ) == [
        (session_id(16), session_id(15), 1, True, True, CREATED, "Tidy the loader"),
        (session_id(16), session_id(16), 1, True, True, CREATED, "Tidy the loader"),
    ]
    assert lake.rows(
        "select text, parse_filename(source_file), timestamp_utc from timeline where kind = 'message' order by text"
    ) == [
        ("from the copy", f"{session_id(15)}.json", CREATED),
        ("from the original", f"{session_id(16)}.json", CREATED),
    ]
    assert lake.has_no_problem()


def test_023_lone_surrogate_and_nul(build_case: BuildCase) -> None:
    lake = build_case("023-lone-surrogate-and-nul")

    texts = [
        "cut emoji \ufffd end",
        "nul \ufffd inside and bell \u0007",
        "pair \U0001f600 ok \U0001f600",
    ]
    assert lake.messages() == list(zip(("user", "assistant", "user"), texts, strict=True))
    assert lake.notes() == [
        (f"{session_id(29)}.json", 1, "lone_surrogate"),
        (f"{session_id(29)}.json", 2, "nul_character"),
    ]
    assert lake.losses() == []
    frame = pl.read_parquet(lake.path / "current/timeline").filter(kind="message").sort("sequence")
    assert frame["text"].to_list() == texts
    table = ds.dataset(lake.path / "current/timeline").to_table(["kind", "sequence", "text"])
    rows = sorted((row for row in table.to_pylist() if row["kind"] == "message"), key=lambda row: row["sequence"])
    assert [row["text"] for row in rows] == texts
    assert not lake.count("timeline", "contains(text, chr(0))")


def test_024_encodings(build_case: BuildCase) -> None:
    lake = build_case("024-encodings")

    assert lake.rows("select session_id, text from timeline where kind = 'message' order by session_id, sequence") == [
        (session_id(30), "bom ok"),
        (session_id(31), "wide ok"),
        (session_id(32), "price \ufffd\u06f8\ufffd end"),
    ]
    assert lake.column("select damaged from sessions order by session_id")[:2] == [False, False]
    assert lake.count("sessions") == 3
    assert [(file, reason) for file, _, reason in lake.notes()] == [(f"{session_id(32)}.json", "invalid_utf8")]
    assert lake.losses() == []


def test_026_wrong_json_shapes_of_documents(build_case: BuildCase) -> None:
    lake = build_case("026-wrong-json-shapes")

    for name in ("a-list", "a-null", "a-string", "a-number"):
        losses = [loss for loss in lake.losses() if loss.file == f"{name}.json"]
        assert losses == [Loss(f"{name}.json", 0, "not_an_object", "parser: unreadable (not_an_object)")]
        assert messages_of(lake, name) == []
        assert lake.rows("select damaged, user_turns from sessions where file_id = ?", name) in (
            [],
            [(True, 0)],
        )
    assert lake.rows("select session_id, title, project_path from sessions where file_id = 'a-empty-object'") == [
        ("a-empty-object", None, None)
    ]
    assert messages_of(lake, "a-empty-object") == []
    assert not [loss for loss in lake.losses() if loss.file == "a-empty-object.json"]
    (loss,) = (loss for loss in lake.losses() if loss.file == "a-history-object.json")
    assert loss.reason == "wrong_type"
    assert loss.text.startswith("parser: un")
    assert "(wrong_type)" in loss.text
    assert messages_of(lake, "a-history-object") == []
    assert lake.rows("select damaged from sessions where file_id = 'a-history-object'") in ([], [(True,)])


def test_026_wrong_json_shapes_of_items(build_case: BuildCase) -> None:
    lake = build_case("026-wrong-json-shapes")

    assert lake.rows("select session_id, damaged, user_turns from sessions where file_id = 'a-items'") == [
        ("a-items", True, 1)
    ]
    assert lake.rows(
        "select source_line, text from timeline where turn_type = 'user' and ends_with(source_file, 'a-items.json')"
    ) == [(8, "good one")]
    losses = [loss for loss in lake.losses() if loss.file == "a-items.json"]
    assert [loss for loss in losses if loss.line < 5] == [
        Loss(
            "a-items.json",
            line,
            "not_an_object",
            f"parser: unparseable record {line} (not_an_object): {text}",
        )
        for line, text in enumerate(("null", '"x"', "5", "[]"), 1)
    ]
    (sixth,) = (loss for loss in losses if loss.line == 6)
    assert sixth.reason in ("not_an_object", "wrong_type")
    assert sixth.text.startswith("parser: unparseable record 6 (")
    for line in (5, 7):
        assert lake.count("problems", f"ends_with(source_file, 'a-items.json') and source_line = {line}") <= 1
    assert lake.rows("select title, project_path from sessions where file_id = 'a-title'") == [(None, None)]
    assert messages_of(lake, "a-title") == [("ok",)]
    assert [reason for file, _, reason in lake.notes() if file == "a-title.json"] == ["wrong_type"]
    assert not [loss for loss in lake.losses() if loss.file == "a-title.json"]


def messages_of(lake: Lake, name: str) -> list[tuple[str]]:
    return lake.rows(
        "select text from timeline where kind = 'message' and parse_filename(source_file) = ?", f"{name}.json"
    )


def test_027_deep_nesting(build_case: BuildCase) -> None:
    lake = build_case("027-deep-nesting")

    assert lake.column("select session_id from sessions") == [session_id(60)]
    assert lake.rows("select source_line, turn_type, text from timeline where kind = 'message' order by sequence") == [
        (1, "user", "before"),
        (3, "user", "after"),
    ]
    if lake.has_no_problem():
        assert lake.rows("select tool_use_id, tool_name from tool_calls") == [("d", "run_terminal_command")]
    else:
        (loss,) = lake.losses()
        assert (loss.line, loss.reason) == (2, "nesting_too_deep")
        assert loss.text.startswith("parser: unparseable record 2 (nesting_too_deep): ")
        assert lake.notes() == []


def test_cases_leave_their_inputs_alone(build_case: BuildCase, tmp_path: Path) -> None:
    """A build writes nothing into an input, not even where it is damaged."""
    lake = build_case("006-index-conflict-markers-and-copies")

    files = {path.name for path in (tmp_path / "006-index-conflict-markers-and-copies").rglob("*") if path.is_file()}
    assert len(files) == lake.count("artifacts") + 1  # and expected.md
    assert {path.name for path in tmp_path.iterdir()} == {"006-index-conflict-markers-and-copies", "lake"}
