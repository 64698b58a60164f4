"""The cases of what calls did and what was decided; what is right stands in `fixtures/cases/<case>/expected.md`.

Where that says `unknown` of a canceled call that ran, it is `allowed`: a call that ran was let through.
"""

from datetime import datetime

from tests.conftest import BuildCase

JUDGED = "select tool_use_id, actor, decision, decision_reason, ran from tool_calls order by sequence"


def test_014_a_single_state_is_read(build_case: BuildCase) -> None:
    lake = build_case("014-legacy-single-toolCallState")

    assert lake.rows("select tool_kind, command, decision, ran, exit_code from tool_calls") == [
        ("command", "make lint", "allowed", True, None)
    ]


def test_017_canceled_is_not_refused(build_case: BuildCase) -> None:
    lake = build_case("017-canceled-is-not-refused")

    assert lake.rows(JUDGED) == [
        ("none", "agent", "unknown", None, False),
        ("emptylist", "agent", "unknown", None, False),
        ("rejected", "agent", "denied", "user", False),
        ("stopped", "agent", "allowed", None, True),
        ("streamed_empty", "agent", "allowed", None, True),
        ("toolitem", "agent", "allowed", None, True),
        ("err", "agent", "allowed", None, True),
    ]
    assert lake.rows("select distinct command, accepted, succeeded, usage_match, exit_code from tool_calls") == [
        ("a", None, None, "none", None)
    ]
    assert lake.row("select denied_calls, tool_errors from sessions") == (1, 1)


def test_018_refused_blocked_quoted_typed(build_case: BuildCase) -> None:
    lake = build_case("018-cli-permission-and-bang-shell")

    typed = "shell-1789461060000-k3q9zz"
    assert lake.rows(JUDGED) == [
        ("d1", "agent", "denied", "user", False),
        ("d2", "agent", "blocked", "policy", False),
        ("d3", "agent", "allowed", None, True),
        (typed, "user", "allowed", None, True),
        ("shell-abc", "agent", "allowed", None, True),
    ]
    assert lake.rows("select tool_use_id, requested_utc from tool_calls where requested_utc is not null") == [
        (typed, datetime(2026, 9, 15, 8, 31))
    ]
    assert lake.value("select denied_calls from sessions") == 1


def test_071_edit_text_kept(build_case: BuildCase) -> None:
    lake = build_case("071-edit-text-kept")

    assert lake.rows(
        "select tool_use_id, tool_name, file_path, status, old_text, new_text, decision, ran from tool_calls "
        "order by sequence"
    ) == [
        ("e1", "single_find_and_replace", "a.py", "done", "x = 1\r\n", "x = 2\r\n", "allowed", True),
        ("e2", "multi_edit", "b.py", "done", "1\né", "2\ne", "allowed", True),
        ("e3", "edit_existing_file", "c.py", "canceled", None, None, "unknown", False),
        ("e4", "Edit", "d.py", "errored", None, None, "allowed", True),
    ]
    assert lake.column("select distinct tool_kind from tool_calls") == ["edit"]
    assert lake.column("select coalesce(output, '') from tool_calls order by sequence") == [
        "ok",
        "ok",
        "",
        "Read it first",
    ]
    assert lake.row("select lines_added, lines_removed from tool_calls where tool_use_id = 'e1'") == (1, 1)
    assert lake.rows(
        "select decision.text, decision.tool_use_id, call.kind from timeline as decision "
        "join timeline as call on call.sequence = decision.sequence - 1 where decision.kind = 'permission_decision'"
    ) == [("permission decision: canceled", "e3", "tool_call")]
    assert lake.has_no_problem()
