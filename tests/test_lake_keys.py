"""Keys stay: a home that is built again after its files changed keeps the keys of all rows it still holds."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import OpenLake
from tests.lake import Row, homelake
from tests.layout import lay_out

Json = dict[str, Any]
Build = Callable[[str], dict[str, list[Row]]]

LONG = "7d05d9e2-7fda-4207-b12e-2b83a4aeee93.json"
"""A session of the editor with calls, results, a summary and changes of the model."""

KEYED = {
    "timeline": (
        "select row_id, session_key, call_key, kind, turn_type, tool_use_id, "
        "case when source_line > 0 then text end, source_file from timeline order by row_id"
    ),
    "tool_calls": ("select row_id, session_key, call_key, arguments, status, output from tool_calls order by row_id"),
    "context_items": "select row_id, session_key, name, content from context_items order by row_id",
    "sessions": "select session_key, session_id, file_id from sessions order by session_key",
}
"""Keys with what they stand for; the texts of session-level rows change with their session."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with sessions of the editor, those of `heidi`, and of the command line, those of `carol`."""
    home = lay_out("corpus/homes/heidi/.continue/sessions", tmp_path / "heidi/.continue/sessions").parents[1]
    other = lay_out("corpus/homes/carol/.continue/sessions", tmp_path / "carol")
    entries = [json.loads((folder / "sessions.json").read_bytes()) for folder in (home / ".continue/sessions", other)]
    for path in other.iterdir():
        path.rename(home / ".continue/sessions" / path.name)
    write(home / ".continue/sessions/sessions.json", [*entries[0], *entries[1]])
    return home


@pytest.fixture
def build(home: Path, tmp_path: Path, open_lake: OpenLake) -> Build:
    """Build the home into the lake of a name and return its keyed rows."""

    def build_home(name: str) -> dict[str, list[Row]]:
        outcome = homelake("build", home, "-o", tmp_path / name, "--workers", "1", "--replace")
        assert outcome.exit_code == 0, outcome.stderr
        lake = open_lake(tmp_path / name)
        return {table: lake.rows(query) for table, query in KEYED.items()}

    return build_home


def write(path: Path, document: object) -> None:
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2), encoding="utf-8", errors="surrogatepass")


def edit(home: Path, change: Callable[[list[Json]], None]) -> None:
    """Change the items of the long session."""
    path = home / ".continue/sessions" / LONG
    session = json.loads(path.read_bytes())
    change(session["history"])
    write(path, session)


def said(text: str) -> Json:
    return {"message": {"role": "user", "content": text}, "contextItems": []}


def called(name: str) -> Json:
    call = {"id": name, "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    state = {"toolCallId": name, "toolCall": call, "status": "canceled", "output": [{"content": "part"}]}
    message = {"role": "assistant", "content": "", "toolCalls": [call]}
    return {"message": message, "contextItems": [], "toolCallStates": [state]}


def added(before: dict[str, list[Row]], after: dict[str, list[Row]]) -> dict[str, int]:
    """Number of rows that are new, by table; fails where one of the others is not there any more."""
    for table, rows in before.items():
        assert set(rows) <= set(after[table]), table
    return {table: len(after[table]) - len(rows) for table, rows in before.items() if rows != after[table]}


def test_appended_items_leave_all_other_keys(home: Path, build: Build) -> None:
    before = build("before")

    edit(home, lambda items: items.extend([said("one thing more"), called("new")]))

    assert added(before, build("after")) == {"timeline": 4, "tool_calls": 1}


def test_appended_items_leave_all_other_keys_of_the_same_lake(home: Path, build: Build) -> None:
    before = build("lake")

    edit(home, lambda items: items.append(said("one thing more")))

    assert added(before, build("lake")) == {"timeline": 1}


def test_items_in_the_middle_leave_all_other_keys(home: Path, build: Build) -> None:
    before = build("before")

    edit(home, lambda items: items.insert(3, said("said in between")))
    edit(home, lambda items: items.insert(7, called("new")))

    assert added(before, build("after")) == {"timeline": 4, "tool_calls": 1}


def test_another_time_in_the_index_changes_no_key(
    home: Path, build: Build, tmp_path: Path, open_lake: OpenLake
) -> None:
    before = build("before")
    index = home / ".continue/sessions/sessions.json"
    entries = json.loads(index.read_bytes())

    write(
        index,
        [{**entry, "dateCreated": str(int(entry["dateCreated"]) + 86_400_000 * 40)} for entry in entries],
    )

    assert build("after") == before
    times = [open_lake(tmp_path / name).value("select min(started_utc) from sessions") for name in ("before", "after")]
    assert (times[1] - times[0]).days == 40


def test_a_lost_index_changes_no_key(home: Path, build: Build) -> None:
    before = build("before")

    (home / ".continue/sessions/sessions.json").unlink()

    assert build("after") == before


def test_other_files_and_names_change_no_key(home: Path, build: Build) -> None:
    before = build("before")
    path = home / ".continue/sessions" / LONG
    session = json.loads(path.read_bytes())

    write(path, {**session, "title": "Renamed", "workspaceDirectory": "file:///elsewhere", "mode": "plan"})
    (home / ".continue/sessions/0000.json").write_text('{"history": []}', encoding="utf-8")

    assert added(before, build("after")) == {"timeline": 1, "sessions": 1}


def test_a_finished_call_keeps_its_key(home: Path, build: Build) -> None:
    """The state of a call changes while it runs; what it is does not."""
    edit(home, lambda items: items.append(called("new")))
    before = build("before")

    def finish(items: list[Json]) -> None:
        items[-1]["toolCallStates"][0] |= {"status": "done", "output": [{"content": "all of it"}]}

    edit(home, finish)
    after = build("after")

    keys = [[row[:3] for row in rows["tool_calls"]] for rows in (before, after)]
    assert keys[0] == keys[1]
    assert {row[0] for row in after["timeline"]} < {row[0] for row in before["timeline"]}


def test_homes_and_hosts_have_keys_of_their_own(home: Path, build: Build, tmp_path: Path, open_lake: OpenLake) -> None:
    here = build("here")
    outcome = homelake("build", home, "-o", tmp_path / "named", "--host", "box", "--user", "heidi", "--workers", "1")
    assert outcome.exit_code == 0, outcome.stderr
    named = open_lake(tmp_path / "named").rows(KEYED["timeline"])

    assert len(named) == len(here["timeline"])
    assert not {row[0] for row in named} & {row[0] for row in here["timeline"]}
    assert open_lake(tmp_path / "named").rows('select distinct host, "user" from timeline') == [("box", "heidi")]
