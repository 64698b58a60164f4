"""Files in a task's context: one row per dated event."""

from pathlib import Path

import pytest

from parsers.pearai_task_metadata import SOURCE
from tests.tasks import T0, TASK, moments, one, stage_fixtures, stage_task, unaccounted


def entry(path: object, **dates: object) -> dict[str, object]:
    return {"path": path, "record_state": "active", "record_source": "read_tool", **dates}


def files(*entries: object) -> dict[str, object]:
    return {"files_in_context": list(entries)}


def test_case_043_rows() -> None:
    found = stage_fixtures(SOURCE, "cases/043-checkpoint-only-and-empty-folders")

    assert found.rows("line", "kind", "turn_type", "text", "own_basis") == [
        (1, "file_context", "system", "file read: a.py", "record"),
        (2, "file_context", "system", r"file read: src\b.py", "record"),
        (2, "file_context", "system", r"file edit: src\b.py", "record"),
    ]
    assert moments(found) == [T0, T0, T0 + 5]
    assert found.losses() == found.notes() == []
    assert unaccounted(found) == []


def test_file_is_of_its_tasks_session(tmp_path: Path) -> None:
    session = one(stage_task(SOURCE, tmp_path, files()), "session_files")

    assert session["session_id"] == TASK
    assert session["messages"] is session["first_utc"] is session["title"] is None


def test_date_that_a_later_entry_repeats_is_one_event(tmp_path: Path) -> None:
    """The agent copies a file's latest dates into each new entry of it."""
    read = entry("a", roo_read_date=T0)
    edited = entry("a", roo_read_date=T0, roo_edit_date=T0 + 1, user_edit_date=None)
    changed = entry("a", roo_read_date=T0, roo_edit_date=T0 + 1, user_edit_date=T0 + 2)
    other = entry("b", roo_read_date=T0)

    found = stage_task(SOURCE, tmp_path, files(read, edited, changed, changed, other))

    assert found.rows("line", "text") == [
        (1, "file read: a"),
        (2, "file edit: a"),
        (3, "file user edit: a"),
        (5, "file read: b"),
    ]
    assert found.silent() == 1
    assert unaccounted(found) == []


def test_bad_date_is_noted(tmp_path: Path) -> None:
    found = stage_task(SOURCE, tmp_path, files(entry("a", roo_read_date="soon", user_edit_date=-1)))

    assert found.rows("text", "own_utc", "own_basis") == [
        ("file read: a", None, None),
        ("file user edit: a", None, None),
    ]
    assert found.notes() == [(1, "bad_timestamp", "roo_read_date, user_edit_date")]


def test_entries_of_other_types_are_lost_alone(tmp_path: Path) -> None:
    found = stage_task(SOURCE, tmp_path, files(5, entry("a", roo_read_date=T0), entry(None), entry("")))

    assert found.texts() == ["file read: a"]
    assert [(line, reason) for line, reason, _ in found.losses()] == [
        (1, "not_an_object"),
        (3, "wrong_type"),
        (4, "wrong_type"),
    ]
    assert unaccounted(found) == []


def test_damage_costs_one_entry(tmp_path: Path) -> None:
    data = b'{"files_in_context":[{"path":"a","roo_read_date":%d},{"path":"b\0\0},{"path":"c","roo_edit_date":%d}]}' % (
        T0,
        T0,
    )

    found = stage_task(SOURCE, tmp_path, data)

    assert found.rows("line", "text") == [(1, "file read: a"), (3, "file edit: c")]
    assert [(line, reason) for line, reason, _ in found.losses()] == [(2, "zero_filled")]
    assert unaccounted(found) == []


@pytest.mark.parametrize(
    ("data", "reason", "text"),
    [
        (b"", "empty_file", "parser: unreadable (empty_file)"),
        (b" \n", "empty_file", "parser: unreadable (empty_file)"),
        (b"\0" * 99, "zero_filled", "parser: unreadable (zero_filled)"),
        (b"[]", "not_an_object", "parser: unreadable (not_an_object)"),
        (b'{"files_in_context":{}}', "wrong_type", "parser: unreadable (wrong_type)"),
        (b'{"files_in_context":[', "json_truncated", "parser: array cut off after record 0"),
        (b'{"files_in_context":[]} x', "trailing_data", "parser: unparseable data after the JSON document"),
    ],
)
def test_damaged_documents(data: bytes, reason: str, text: str, tmp_path: Path) -> None:
    found = stage_task(SOURCE, tmp_path, data)

    assert found.losses() == [(0, reason, text)]
    assert unaccounted(found) == []


@pytest.mark.parametrize("data", [b"{}", b'{"files_in_context":null}', b'{"other":1}', b'{"files_in_context":[]}'])
def test_documents_that_list_nothing(data: bytes, tmp_path: Path) -> None:
    found = stage_task(SOURCE, tmp_path, data)

    assert found.rows("text") == found.losses() == found.notes() == []
    assert unaccounted(found) == []
