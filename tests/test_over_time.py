"""Several collections of one home: the lake keeps every row that any of them held, in whatever order they came."""

import contextlib
import itertools
import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests import oracle
from tests.conftest import OpenLake
from tests.lake import Lake, homelake, parquet_files
from tests.layout import lay_out

Json = dict[str, Any]
State = Callable[[Path], None]

TEMPLATE = ("--host", "h", "--path-template", "{collected}/{user}")
COMPACTED, CLEARED = "16b33c9f-4da2-4fce-b346-cc90cb62b9f4", "3158810c-ab4c-4b67-934e-f1024bbef2c1"
LONG, DELETED = "7d05d9e2-7fda-4207-b12e-2b83a4aeee93", "f354e8cd-df7e-4f97-b6d7-0dee5c53cd35"
"""Two sessions of the editor, with events of both."""


def build(lake: Path, *arguments: str | Path, workers: str = "1") -> None:
    outcome = homelake("build", *arguments, "-o", lake, "--workers", workers)
    assert outcome.exit_code == 0, outcome.stderr
    assert "checks    all passed" in outcome.stdout


def differing(lake: Path, other: Path) -> list[str]:
    some, others = parquet_files(lake), parquet_files(other)
    return sorted(name for name in some.keys() | others.keys() if some.get(name) != others.get(name))


# The corpus: before a compaction, after it, and after a /clear.


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three inputs, each with one state of the home in the folder of its number."""
    root = tmp_path_factory.mktemp("states")
    return [lay_out(f"corpus/over_time/{n}", root / f"in{n}" / n).parent for n in ("1", "2", "3")]


@pytest.fixture(scope="module")
def at_once(states: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake that one build makes of the three."""
    lake = tmp_path_factory.mktemp("at_once") / "lake"
    build(lake, *states, *TEMPLATE)
    return lake


def test_a_lake_holds_every_row_of_every_state(states: list[Path], at_once: Path, open_lake: OpenLake) -> None:
    """A compaction takes no row away, and the rows of a session file are those of all its states, once."""
    held = [
        Counter(
            (session.path.stem, row.kind, row.turn_type, row.text, row.tool_use_id)
            for session in oracle.sessions(state / state.name[-1])
            for row in session.rows
            if row.line
        )
        for state in states
    ]

    found = open_lake(at_once).rows(
        "select parse_filename(source_file, true), kind, turn_type, text, tool_use_id from session_rows "
        "where source_line > 0"
    )

    assert (held[0] - held[1]).total() > 10
    assert Counter(found) == held[0] | held[1] | held[2]


def test_current_rows_are_those_of_the_newest_collection(
    states: list[Path], at_once: Path, tmp_path: Path, open_lake: OpenLake
) -> None:
    build(tmp_path / "newest", states[2], *TEMPLATE)
    newest, lake = open_lake(tmp_path / "newest"), open_lake(at_once)

    for table in ("timeline", "twins", "sessions", "tool_calls", "permissions", "token_usage"):
        columns = lake.column(f"select column_name from (describe {table}) where column_name not in ('collection_id')")
        stated = set(columns) - COUNTED if table == "sessions" else columns
        quoted = [f'"{name}"' for name in sorted(stated)]
        select = f"select {', '.join(quoted)} from {table}"
        assert lake.count(table)
        assert set(map(str, newest.rows(select))) == set(map(str, lake.rows(f"{select} where current"))), table


COUNTED = {
    *("first_event_utc", "last_event_utc", "user_turns", "assistant_turns", "tool_calls", "tool_errors"),
    *("denied_calls", "edits", "lines_added", "lines_removed", "models"),
}
"""Columns of a session that are over its rows of all collections."""


def test_a_compaction_leaves_what_it_replaced(states: list[Path], at_once: Path, open_lake: OpenLake) -> None:
    before, after = (oracle.sessions(states[n] / str(n + 1))[0] for n in (0, 2))
    asked = [
        [row.text for row in session.rows if (row.kind, row.turn_type) == ("message", "user")]
        for session in (before, after)
    ]
    lake = open_lake(at_once)

    said = "select text from session_rows where kind = 'message' and turn_type = 'user' and session_id = ? and"

    assert lake.column(f"{said} not current order by sequence", COMPACTED) == asked[0]
    assert lake.column(f"{said} current order by sequence", COMPACTED) == asked[1]
    assert lake.row(
        "select user_turns, tool_calls, compacted, has_file, current, deleted_between, title "
        "from sessions where session_id = ?",
        COMPACTED,
    ) == (len(asked[0]) + len(asked[1]), len(before.calls), True, True, True, None, "Invoice cleanup — 請求書 ✓")
    assert lake.column("select distinct text from timeline where kind = 'session' and session_id = ?", COMPACTED) == [
        "session start: Invoice cleanup — 請求書 ✓ items=3 promptTokens=11474 completionTokens=223 "
        "totalCost=0.35760000000000003"
    ]


def test_a_clear_leaves_the_session_before(at_once: Path, open_lake: OpenLake) -> None:
    lake = open_lake(at_once)

    sessions = lake.rows("select session_id, current, deleted_between from sessions order by started_utc")

    assert sessions == [(COMPACTED, True, None), (CLEARED, True, None)]
    assert not lake.count("timeline", f"session_id = '{CLEARED}' and not current")


def test_a_prompt_is_a_twin_or_recovered_as_the_newest_collection_says(at_once: Path, open_lake: OpenLake) -> None:
    """The history repeats prompts that the compaction took away: they are nowhere else in the newest state."""
    lake = open_lake(at_once)
    history = "source = 'continue.input_history' and text = 'Please grant me bash here'"

    assert lake.rows(f"select recovered, current from timeline where {history}") == [(True, True)]
    assert not lake.count("twins", history)


def test_rows_tell_the_collection_that_first_saw_their_bytes(at_once: Path, open_lake: OpenLake) -> None:
    lake = open_lake(at_once)

    seen = lake.rows(
        "select distinct epoch_ms(collected_utc), current from timeline join collections using (collection_id) "
        "where session_id = ? order by all",
        COMPACTED,
    )
    kept = lake.rows(
        "select distinct epoch_ms(collected_utc) from timeline join collections using (collection_id) "
        "where source in ('continue.cn_log', 'continue.permissions', 'continue.input_history')"
    )

    assert seen == [(1, False), (3, True)]
    assert kept == [(1,)]


@pytest.mark.parametrize("order", list(itertools.permutations((0, 1, 2))), ids=str)
def test_collections_in_any_order_give_the_same_bytes(
    order: tuple[int, ...], states: list[Path], at_once: Path, tmp_path: Path
) -> None:
    build(tmp_path / "one", *(states[n] for n in order), *TEMPLATE, workers="2")
    for n in order:
        build(tmp_path / "many", states[n], *TEMPLATE)
    build(tmp_path / "two", *(states[n] for n in order[:2]), *TEMPLATE)
    build(tmp_path / "two", *(states[n] for n in order[1:]), *TEMPLATE)

    for name in ("one", "many", "two"):
        assert differing(tmp_path / name, at_once) == [], name


def test_the_same_collection_again_changes_nothing(states: list[Path], at_once: Path, tmp_path: Path) -> None:
    shutil.copytree(at_once, tmp_path / "lake", symlinks=True)

    for inputs, options in ((states[1:2], ()), (states, ()), (states[:1], ("--full",)), (states[2:], ("--full",))):
        build(tmp_path / "lake", *inputs, *TEMPLATE, *options)
        assert differing(tmp_path / "lake", at_once) == []


def test_replace_starts_empty(states: list[Path], at_once: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    shutil.copytree(at_once, tmp_path / "lake", symlinks=True)

    build(tmp_path / "lake", states[0], *TEMPLATE, "--replace")

    assert open_lake(tmp_path / "lake").count("collections") == 1
    assert not open_lake(tmp_path / "lake").count("timeline", "not current")


# A home of the editor, whose events tell of its sessions too, with what else can happen to a session.


def rewind(home: Path) -> None:
    """Take the last items of a session away."""
    edit(home, LONG, lambda session: session.update(history=session["history"][:-4]))


def overwrite(home: Path) -> None:
    """Put an empty session in the place of one, as a placeholder that is saved too late does."""
    edit(home, LONG, lambda session: session.update(history=[], title="New Session"))


def delete(home: Path) -> None:
    """Delete a session as the editor does: its file and its entry in the index. Its events stay."""
    (home / f".continue/sessions/{DELETED}.json").unlink()
    index = home / ".continue/sessions/sessions.json"
    entries = [entry for entry in json.loads(index.read_bytes()) if entry["sessionId"] != DELETED]
    index.write_text(json.dumps(entries, ensure_ascii=False), encoding="utf-8")


def lose_events(home: Path) -> None:
    """Empty the editor's event files."""
    shutil.rmtree(home / ".continue/dev_data")


def edit(home: Path, name: str, change: Callable[[Json], object]) -> None:
    path = home / f".continue/sessions/{name}.json"
    session = json.loads(path.read_bytes())
    change(session)
    path.write_text(json.dumps(session, ensure_ascii=False), encoding="utf-8", errors="surrogatepass")


@pytest.fixture
def days(tmp_path: Path) -> Callable[..., list[Path]]:
    """Inputs with one state of the home each, a day apart: what came to pass by then."""

    def make(*states: Sequence[State]) -> list[Path]:
        made = []
        for day, changes in enumerate(states, 1):
            home = lay_out("corpus/homes/heidi", tmp_path / f"day{day}/2027-01-0{day}/heidi")
            for change in changes:
                change(home)
            made.append(home.parents[1])
        return made

    return make


def lake_of(tmp_path: Path, open_lake: OpenLake, inputs: Sequence[Path]) -> Lake:
    build(tmp_path / "lake", *inputs, *TEMPLATE)
    return open_lake(tmp_path / "lake")


def test_a_deletion_is_told_of(days: Callable[..., list[Path]], tmp_path: Path, open_lake: OpenLake) -> None:
    inputs = days((), (), (delete,), (delete, rewind))
    build(tmp_path / "before", inputs[0], *TEMPLATE)
    before = open_lake(tmp_path / "before").row(
        "select title, user_turns, assistant_turns, tool_calls from sessions where session_id = ?", DELETED
    )
    lake = lake_of(tmp_path, open_lake, inputs)

    row = lake.row(
        "select title, user_turns, assistant_turns, tool_calls, current, has_file, deleted_between "
        "from sessions where file_id = ?",
        DELETED,
    )

    assert row == (*before, False, True, [datetime(2027, 1, 2), datetime(2027, 1, 3)])
    assert not lake.count("session_rows", f"session_id = '{DELETED}' and current")
    assert lake.count("session_rows", f"session_id = '{DELETED}'") > 3
    assert lake.column("select file_id from sessions where deleted_between is not null") == [DELETED]
    assert lake.rows("select path, current from artifacts where path like ? and not current", f"%{DELETED}%")


def test_a_session_that_comes_back_was_not_deleted(
    days: Callable[..., list[Path]], tmp_path: Path, open_lake: OpenLake
) -> None:
    lake = lake_of(tmp_path, open_lake, days((), (delete,), ()))

    assert lake.row("select current, deleted_between from sessions where file_id = ?", DELETED) == (True, None)
    assert lake.count("session_rows", f"session_id = '{DELETED}' and not current") == 0


def test_a_session_that_comes_back_is_gone_in_no_view(
    days: Callable[..., list[Path]], tmp_path: Path, open_lake: OpenLake
) -> None:
    inputs = days((), (delete,), ())
    gone = lake_of(tmp_path / "gone", open_lake, inputs[:2])
    back = lake_of(tmp_path / "back", open_lake, inputs)

    deleted = "select has_file, current from sessions_deleted where session_id = ?"

    assert gone.rows(deleted, DELETED) == [(True, False)]
    assert back.rows("select has_file, current from sessions where session_id = ? order by all", DELETED) == [
        (False, False),
        (True, True),
    ]
    assert back.rows(deleted, DELETED) == []
    assert back.count("dim_session", f"is_deleted and session_id = '{DELETED}'") == 0


@pytest.mark.parametrize("change", [rewind, overwrite])
def test_what_a_session_lost_stays(
    change: State, days: Callable[..., list[Path]], tmp_path: Path, open_lake: OpenLake
) -> None:
    inputs = days((), (change,))
    rows = [
        {
            (row.kind, row.turn_type, row.text)
            for session in oracle.sessions(state)
            if session.path.stem == LONG
            for row in session.rows
            if row.line
        }
        for state in (next(each.iterdir()) for each in inputs)
    ]
    lake = lake_of(tmp_path, open_lake, inputs)

    select = "select distinct kind, turn_type, text from session_rows where source_line > 0 and session_id = ? and"

    assert len(rows[0] - rows[1]) > 2
    assert rows[0] - rows[1] <= set(lake.rows(f"{select} not current", LONG)) <= rows[0]
    assert set(lake.rows(f"{select} current", LONG)) == rows[1]
    assert lake.row("select current, deleted_between from sessions where file_id = ?", LONG) == (True, None)


def test_events_and_deletions_in_any_order_give_the_same_bytes(days: Callable[..., list[Path]], tmp_path: Path) -> None:
    """Rows of events have other values where their session is gone, and those of the newest collection hold."""
    inputs = days((), (delete, rewind), (overwrite, lose_events))
    build(tmp_path / "lake", *inputs, *TEMPLATE)

    for name, order in (("a", (2, 0, 1)), ("b", (0, 2, 1)), ("c", (1, 2, 0))):
        for n in order:
            build(tmp_path / name, inputs[n], *TEMPLATE)
        assert differing(tmp_path / name, tmp_path / "lake") == [], name


def test_a_row_that_rests_on_two_files_keeps_the_collection_that_held_it(tmp_path: Path, open_lake: OpenLake) -> None:
    """The model's history of a task is the transcript where there is no better one: here on days 1 and 2.

    All days hold the same bytes of it, and each has another project in the list of tasks.
    """
    homes = []
    for day in (1, 2, 3, 4):
        home = lay_out("cases/041-two-transcripts-of-one-task/home", tmp_path / f"day{day}")
        for path in home.rglob("ui_messages.json") if day < 3 else ():
            path.unlink()
        list_tasks(home, f"/day{day}")
        homes.append(home)

    for name, order in (("lake", (0, 1, 2, 3)), ("a", (0, 2, 3, 1)), ("b", (3, 1, 0, 2)), ("c", (2, 1, 3, 0))):
        for n in order:
            at = f"2027-01-0{n + 1}T00:00:00Z"
            build(tmp_path / name, homes[n], "--host", "h", "--user", "dana", "--collected-at", at)

    for name in "abc":
        assert differing(tmp_path / name, tmp_path / "lake") == [], name
    assert any(home["last_held"] for home in manifest(tmp_path / "lake")["homes"])
    lake = open_lake(tmp_path / "lake")
    rows = "from timeline where source = 'pearai.api_history' and kind = 'message'"
    assert lake.column(f"select distinct project_path {rows} and not current") == ["/day2"]


def list_tasks(home: Path, project: str) -> None:
    """Write the list of tasks as the editor keeps it, each with a project."""
    listed = [
        {"id": path.name, "ts": 1789461000000, "task": "x", "workspace": project} for path in home.rglob("tasks/*")
    ]
    with contextlib.closing(sqlite3.connect(home / ".config/PearAI/User/globalStorage/state.vscdb")) as database:
        database.execute("create table ItemTable (key text unique on conflict replace, value blob)")
        value = json.dumps({"taskHistory": listed})
        database.execute("insert into ItemTable values ('pearai.pearai-roo-cline', ?)", [value])
        database.commit()


def manifest(lake: Path) -> Json:
    found: Json = json.loads((lake / "current/manifest.json").read_bytes())
    return found


# What else comes and goes.


def test_a_home_that_later_inputs_lack_stays(tmp_path: Path) -> None:
    for user in ("carol", "leo", "mona", "peggy"):
        lay_out(f"corpus/homes/{user}", tmp_path / "all" / user)
    homes = tmp_path / "all"
    build(tmp_path / "at_once", *(homes / user for user in ("carol", "leo", "mona")), "--buckets", "3")
    build(tmp_path / "lake", homes / "mona", homes / "leo", "--buckets", "3")

    build(tmp_path / "lake", homes / "carol")

    assert differing(tmp_path / "lake", tmp_path / "at_once") == []


def test_homes_without_a_host_are_told_apart_by_their_place(tmp_path: Path, open_lake: OpenLake) -> None:
    """The same place again is the same home; the same home in another place is another."""
    for place in ("here", "there"):
        lay_out("corpus/homes/mona", tmp_path / place / "mona")
        build(tmp_path / "lake", tmp_path / place)
    lake = open_lake(tmp_path / "lake")
    both = {table: lake.count(table) for table in ("sessions", "timeline", "artifacts", "collections")}
    sessions = tmp_path / "here/mona/.continue/sessions"
    gone = json.loads((sessions / "sessions.json").read_bytes())[0]["sessionId"]

    (sessions / f"{gone}.json").unlink()
    later = datetime.now(UTC) + timedelta(days=1)
    build(tmp_path / "lake", tmp_path / "here", "--collected-at", later.isoformat())

    alone = tmp_path / "alone"
    build(alone, tmp_path / "there")
    one = {table: open_lake(alone).count(table) for table in both}
    assert both == {table: 2 * rows for table, rows in one.items()}
    updated = open_lake(tmp_path / "lake")
    assert updated.count("collections") == 3
    assert updated.count("artifacts") == 2 * one["artifacts"]
    assert updated.count("sessions", f"session_id = '{gone}' and file_id is not null and current") == 1
    assert updated.count("sessions", f"session_id = '{gone}' and file_id is not null and not current") == 1


def test_a_place_whose_user_changes_is_refused(tmp_path: Path) -> None:
    home = lay_out("corpus/homes/mona", tmp_path / "mona")
    build(tmp_path / "lake", home, "--user", "mona")
    held = parquet_files(tmp_path / "lake")

    outcome = homelake("build", home, "-o", tmp_path / "lake", "--user", "other", "--workers", "1")

    assert outcome.exit_code == 2
    assert len(outcome.stderr.splitlines()) == 1
    assert parquet_files(tmp_path / "lake") == held
    build(tmp_path / "lake", home)
    assert parquet_files(tmp_path / "lake") == held


def test_one_collection_at_two_places_is_one(tmp_path: Path, open_lake: OpenLake) -> None:
    for place in ("here", "there"):
        lay_out("corpus/homes/mona", tmp_path / place)
    options = ("--host", "h", "--user", "mona")
    build(tmp_path / "once", tmp_path / "here", *options)

    build(tmp_path / "lake", tmp_path / "there", tmp_path / "here", *options)
    build(tmp_path / "lake", tmp_path / "there", *options)

    assert differing(tmp_path / "lake", tmp_path / "once") == []
    assert open_lake(tmp_path / "lake").count("collections") == 1


# Case 069.


@pytest.mark.parametrize("inputs", [("mon",), ("fri",), ("mon", "fri"), ("fri", "mon")], ids=str)
def test_case_069(inputs: tuple[str, ...], tmp_path: Path, open_lake: OpenLake) -> None:
    case = lay_out("cases/069-compaction-rewrites-the-session", tmp_path / "case")
    origin = ("--host", "box", "--user", "dana")
    times = {"mon": "2026-09-15T10:00:00Z", "fri": "2026-09-18T10:00:00Z"}
    if len(inputs) == 2:
        build(tmp_path / "lake", *(case / name / "home" for name in inputs), *origin)
    else:
        others = [name for name in times if name not in inputs]
        for name in (*inputs, *others):
            build(tmp_path / "lake", case / name / "home", *origin, "--collected-at", times[name])
    lake = open_lake(tmp_path / "lake")
    first, second = (f"000000{end}-1111-4222-8333-0000000000{end}" for end in ("aa", "ab"))

    assert lake.rows(
        "select turn_type, text, current from timeline where session_id = ? and kind = 'message' "
        "order by current, sequence",
        first,
    ) == [
        *((side, f"{text} {n}", False) for n in range(3) for side, text in (("user", "ask"), ("assistant", "answer"))),
        ("user", "ask 3", True),
    ]
    assert lake.rows(
        "select kind, turn_type, text, source_line, current from timeline where session_id = ? "
        "and (kind in ('session', 'summary') or text = 'ask 3') order by sequence",
        first,
    ) == [
        ("session", "system", "session start: Tidy the loader items=2", 0, True),
        ("summary", "system", "conversation summary: SUMMARY: three questions answered", 1, True),
        ("message", "user", "ask 3", 2, True),
    ]
    assert lake.rows(
        "select kind, turn_type, text, source_line from timeline where session_id = ? and current "
        "and source_line > 0 order by sequence",
        second,
    ) == [
        ("message", "user", "q", 1),
        ("summary", "system", "conversation summary: short form", 2),
        ("message", "assistant", "kept answer", 2),
        ("message", "user", "next", 3),
    ]
    assert lake.column("select distinct timestamp_utc from timeline") == [datetime(2026, 9, 15, 8, 30)]
    assert lake.rows(
        'select session_id, host, "user", compacted, damaged, has_file, index_message_count, deleted_between, '
        "user_turns, assistant_turns from sessions order by session_id"
    ) == [
        (first, "box", "dana", True, False, True, 1, None, 4, 3),
        (second, "box", "dana", True, False, True, 1, None, 2, 1),
    ]
    assert lake.count("collections") == 2
    assert lake.has_no_problem()


def test_case_069_in_either_order_gives_the_same_bytes(tmp_path: Path) -> None:
    case = lay_out("cases/069-compaction-rewrites-the-session", tmp_path / "case")

    for name, order in (("one", ("mon", "fri")), ("other", ("fri", "mon"))):
        build(tmp_path / name, *(case / day / "home" for day in order), "--host", "box", "--user", "dana")

    assert differing(tmp_path / "one", tmp_path / "other") == []
