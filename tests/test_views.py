"""The views that answer an analyst's questions, over a small home."""

from pathlib import Path
from typing import Any

import pytest

from pipeline.join import selects
from tests.conftest import OpenLake
from tests.lake import Lake, homelake
from tests.made import MadeHome, at, call, exchange, reply, usage, user
from tests.made_pear import MadePear

RUN = "Bash"


def command(call_id: str, line: str, **state: Any) -> Any:
    return call(call_id, f'{{"command":"{line}"}}', name=RUN, **state)


@pytest.fixture
def lake(tmp_path: Path, open_lake: OpenLake) -> Lake:
    home = MadeHome(tmp_path / "home")
    edit = '{"filepath":"a.py","old_string":"x\\ny","new_string":"x\\nz\\nw"}'
    home.session(
        "s1",
        user("do it"),
        reply("", command("c1", "ls"), command("c2", "ls")),
        reply("", command("c3", "rm", status="canceled", output="Permission denied by user")),
        reply("", command("c4", "sudo", status="canceled", output="Command blocked by security policy")),
        reply("", command("c5", "make", status="errored", output="Error executing tool Bash: Error (exit code 2): no")),
        reply("done", call("c6", edit, name="single_find_and_replace", output="ok")),
    )
    home.session("s0", user("do it"), created=-100)
    home.session("s2", user("first"), reply("one"), created=10)
    home.session("s3", user("first"), reply("one"), user("second"), created=20)
    home.events("toolUsage", usage(86_400, "c1", '{"command":"ls"}', name=RUN))
    home.events("chatInteraction", exchange(5, "p", "q", session="gone"))
    home.file("permissions.yaml", "allow:\n  - Read\n  - Bash(git*)\n")
    outcome = homelake("build", home.path, "-o", tmp_path / "lake", "--workers", "1", "--host", "h", "--user", "u")
    assert outcome.exit_code == 0, outcome.stderr
    return open_lake(tmp_path / "lake")


def test_commands_that_ran_by_host_and_day(lake: Lake) -> None:
    assert lake.rows("select host, day, command, runs, failures from commands_run order by day, command") == [
        ("h", at(0).date(), "ls", 1, 0),
        ("h", at(0).date(), "make", 1, 1),
        ("h", at(86_400).date(), "ls", 1, 0),
    ]


def test_files_changed(lake: Lake) -> None:
    assert lake.rows(
        "select project_path, file_path, edits, sessions, lines_added, lines_removed from files_changed"
    ) == [("/w", "a.py", 1, 1, 2, 1)]


def test_calls_stopped(lake: Lake) -> None:
    assert lake.rows("select command, decision, decision_reason from calls_stopped order by command") == [
        ("rm", "denied", "user"),
        ("sudo", "blocked", "policy"),
    ]


def test_standing_permissions_are_those_for_commands(lake: Lake) -> None:
    assert lake.column("select rule from standing_permissions") == ["Bash(git*)"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"alwaysAllowExecute": True, "allowedCommands": ["tsc"]}, ["allowedCommands", "alwaysAllowExecute"]),
        ({"allowedCommands": ["tsc"]}, ["allowedCommands"]),
        ({"alwaysAllowExecute": None, "allowedCommands": None}, ["alwaysAllowExecute"]),
        ({"alwaysAllowExecute": False, "allowedCommands": ["tsc"]}, []),
        ({"autoApprovalEnabled": False, "alwaysAllowExecute": True, "allowedCommands": ["tsc"]}, []),
        ({"autoApprovalEnabled": True, "alwaysAllowWrite": False, "allowedCommands": []}, []),
    ],
)
def test_standing_permissions_are_no_settings_that_are_switched_off(
    settings: dict[str, Any], expected: list[str], tmp_path: Path, open_lake: OpenLake
) -> None:
    MadePear(tmp_path / "homes/alice").listed(**settings)
    MadePear(tmp_path / "homes/bob").listed(alwaysAllowExecute=True)

    homelake("build", tmp_path / "homes", "-o", tmp_path / "lake", "--workers", "1")

    found = open_lake(tmp_path / "lake").rows('select "user", rule from standing_permissions order by all')
    assert found == [*(("alice", rule) for rule in expected), ("bob", "alwaysAllowExecute")]


def test_sessions_deleted(lake: Lake) -> None:
    assert lake.rows("select session_id, has_file, in_index, started_utc from sessions_deleted") == [
        ("gone", False, False, at(5))
    ]


def test_tool_failures(lake: Lake) -> None:
    assert lake.rows(
        "select tool_name, calls, ran, not_run, not_known, failures, denied, blocked, failure_rate from tool_failures "
        "order by tool_name"
    ) == [
        ("Bash", 5, 3, 2, 0, 1, 1, 1, 1 / 3),
        ("single_find_and_replace", 1, 1, 0, 0, 0, 0, 0, 0.0),
    ]


def test_tool_failures_of_real_homes_add_up(corpus_lake: Lake) -> None:
    found = corpus_lake.rows("select calls, ran, not_run, not_known, failures, failure_rate from tool_failures")

    assert sum(row[0] for row in found) == corpus_lake.count("tool_calls")
    assert corpus_lake.count("tool_calls", "status = 'errored' and not ran") > 0
    for calls, ran, not_run, not_known, failures, rate in found:
        assert calls == ran + not_run + not_known
        assert failures <= ran
        assert rate == (failures / ran if ran else None)


def test_every_column_of_every_view_has_a_meaning(lake: Lake) -> None:
    views = set(selects("views"))
    columns = lake.rows("select table_name, column_name, comment from duckdb_columns() where not internal")

    assert {view for view, _, _ in columns} >= views
    assert [(view, column) for view, column, comment in columns if view in views and not comment] == []


def test_sessions_count_what_their_calls_did(lake: Lake) -> None:
    assert lake.rows(
        "select tool_calls, tool_errors, denied_calls, edits, lines_added, lines_removed from sessions "
        "where session_id = 's1'"
    ) == [(6, 1, 1, 1, 2, 1)]


def test_a_fork_names_the_longest_session_that_it_begins_with(lake: Lake) -> None:
    """One message is no talk: `s1` begins with the only one of `s0`."""
    assert lake.rows(
        "select fork.session_id, origin.session_id, fork.forked_at_item from sessions as fork "
        "join sessions as origin on origin.session_key = fork.forked_from"
    ) == [("s3", "s2", 3)]


def test_own_turns_leave_out_what_a_fork_copied(lake: Lake) -> None:
    assert lake.rows(
        "select text from own_turns where session_id in ('s2', 's3') and kind = 'message' order by session_id, sequence"
    ) == [("first",), ("one",), ("second",)]


def test_copies_of_a_session_are_named_and_counted_once(tmp_path: Path, open_lake: OpenLake) -> None:
    for name in ("dana", "dana.bak"):
        MadeHome(tmp_path / "homes" / name).session("s1", user("q"), reply("a"))
    homelake("build", tmp_path / "homes", "-o", tmp_path / "lake", "--workers", "1")

    lake = open_lake(tmp_path / "lake")

    assert lake.rows('select copy, "user" from session_copies order by copy') == [(1, "dana"), (2, "dana.bak")]
    assert lake.rows("select \"user\", count(*) from own_turns where kind = 'message' group by all") == [("dana", 2)]


def test_a_session_can_be_taken_up_again(lake: Lake) -> None:
    assert lake.column("select resume_command from sessions where session_id in ('s1', 'gone') order by 1") == [
        "cd /w && cn --fork s1",
        None,
    ]


@pytest.mark.parametrize(
    ("workspace", "expected"),
    [
        ("", "cn --fork s"),
        ("/it's here", """cd '/it'"'"'s here' && cn --fork s"""),
        ("file:///c%3A/My%20Work", "cd 'c:/My Work' && cn --fork s"),
        ("/a;rm -rf ~", "cd '/a;rm -rf ~' && cn --fork s"),
    ],
)
def test_resume_commands_are_quoted(workspace: str, expected: str, tmp_path: Path, open_lake: OpenLake) -> None:
    home = MadeHome(tmp_path / "home")
    home.session("s", user("q"), workspaceDirectory=workspace, created=None)
    homelake("build", home.path, "-o", tmp_path / "lake", "--workers", "1")

    assert open_lake(tmp_path / "lake").value("select resume_command from sessions") == expected
