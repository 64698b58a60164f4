"""The cases of what a session holds; what is right stands in `fixtures/cases/<case>/expected.md`."""

import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path

from tests.conftest import BuildCase
from tests.layout import lay_out
from tests.test_cases_damage import CREATED, session_id


def test_011_fork_copies_history(build_case: BuildCase) -> None:
    lake = build_case("011-fork-copies-history")
    forked = datetime(2026, 9, 15, 8, 59, 58)

    assert lake.rows(
        "select session_id, started_utc, user_turns, assistant_turns from sessions order by session_id"
    ) == [(session_id(17), CREATED, 8, 8), (session_id(18), forked, 9, 8)]
    lines = lake.rows(
        "select session_id, list(source_line order by sequence) from timeline where kind = 'message' "
        "group by all order by session_id"
    )
    assert lines == [(session_id(17), list(range(1, 17))), (session_id(18), list(range(1, 18)))]
    assert lake.messages()[-1] == ("user", "and now differently")
    assert lake.rows(
        "select distinct session_id, timestamp_utc, event_utc, event_basis from timeline order by all"
    ) == [
        (session_id(17), CREATED, CREATED, "session"),
        (session_id(18), forked, forked, "session"),
    ]
    assert lake.has_no_problem()


def test_013_content_shapes(build_case: BuildCase) -> None:
    lake = build_case("013-content-shapes")

    assert lake.row("select session_id, user_turns, assistant_turns from sessions") == (session_id(20), 3, 1)
    assert lake.rows("select source_line, kind, turn_type, text from timeline order by sequence") == [
        (0, "session", "system", "session start: Tidy the loader items=9 dateCreated unknown"),
        (1, "message", "user", "plain"),
        (2, "message", "user", "see this\n[image]"),
        (6, "message", "assistant", '{"kind":"weird"}'),
        (7, "message", "user", "12"),
        (8, "message", "thinking", "hmm"),
        (9, "message", "system", "banana: ??"),
    ]
    assert not lake.count("timeline", "contains(text, 'iVBORw0KGgo')")
    assert lake.losses() == []
    notes = [(line, reason) for _, line, reason in lake.notes()]
    assert set(notes) <= {(6, "wrong_type"), (7, "wrong_type")}
    assert len(notes) == len(set(notes))


def test_014_legacy_single_toolcallstate(build_case: BuildCase) -> None:
    lake = build_case("014-legacy-single-toolCallState")

    assert lake.row(
        "select session_id, tool_use_id, tool_name, arguments, status, output, requested_utc from tool_calls"
    ) == (
        session_id(21),
        "old_1",
        "builtin_run_terminal_command",
        '{"command":"make lint"}',
        "done",
        "ok",
        None,
    )
    assert lake.rows(
        "select kind, turn_type, text, tool_use_id from timeline where call_key is not null order by sequence"
    ) == [
        ("tool_call", "tool_use", '{"command":"make lint"}', "old_1"),
        ("tool_result", "tool_result", "ok", "old_1"),
    ]
    assert not lake.count("timeline", "kind = 'permission_decision'")
    assert lake.has_no_problem()


def test_015_reused_tool_call_ids(build_case: BuildCase) -> None:
    lake = build_case("015-reused-tool-call-ids")

    assert lake.rows(
        "select session_id, source_line, tool_use_id, arguments, status, output from tool_calls order by sequence"
    ) == [
        (session_id(22), 2, "call_0", '{"filepath":"a"}', "done", "A"),
        (session_id(22), 4, "call_0", '{"filepath":"b"}', "done", "B"),
        (session_id(22), 6, "call_0", '{"filepath":"c"}', "generated", None),
        (session_id(22), 7, "only_msg", '{"command":"whoami"}', None, None),
        (session_id(22), 7, None, "{}", None, None),
    ]
    assert lake.value("select count(distinct call_key) from tool_calls") == 5
    assert lake.count("timeline", "turn_type = 'tool_use'") == 5
    assert lake.rows(
        "select result.text, result.source_line, call.source_line from timeline as result "
        "left join tool_calls as call using (call_key) where result.turn_type = 'tool_result' "
        "order by result.sequence"
    ) == [("A", 3, 2), ("B", 5, 4)]
    assert lake.has_no_problem()


def test_017_canceled_is_not_refused(build_case: BuildCase) -> None:
    lake = build_case("017-canceled-is-not-refused")

    assert lake.rows(
        "select session_id, tool_use_id, status, coalesce(output, '') from tool_calls order by sequence"
    ) == [
        (session_id(24), "none", "canceled", ""),
        (session_id(24), "emptylist", "canceled", ""),
        (session_id(24), "rejected", "canceled", "The person skipped it"),
        (session_id(24), "stopped", "canceled", "partial"),
        (session_id(24), "streamed_empty", "canceled", ""),
        (session_id(24), "toolitem", "canceled", "late output"),
        (session_id(24), "err", "errored", "exit 1"),
    ]
    assert lake.value("select output from tool_calls where tool_use_id = 'none'") is None
    canceled = "permission decision: canceled"
    assert lake.rows(
        "select tool_use_id, kind, text, source_line from timeline where tool_use_id is not null "
        "and kind <> 'tool_call' order by sequence"
    ) == [
        ("none", "permission_decision", canceled, 2),
        ("emptylist", "permission_decision", canceled, 3),
        ("rejected", "tool_result", "[canceled] The person skipped it", 4),
        ("rejected", "permission_decision", canceled, 4),
        ("stopped", "tool_result", "[canceled] partial", 5),
        ("stopped", "permission_decision", canceled, 5),
        ("streamed_empty", "tool_result", "[canceled]", 6),
        ("streamed_empty", "permission_decision", canceled, 6),
        ("toolitem", "tool_result", "late output", 8),
        ("toolitem", "permission_decision", canceled, 8),
        ("err", "tool_result", "[errored] exit 1", 9),
    ]
    assert lake.column(
        "select earlier.kind || ' ' || earlier.tool_use_id from timeline as decision "
        "join timeline as earlier on earlier.sequence = decision.sequence - 1 "
        "where decision.kind = 'permission_decision' order by decision.sequence"
    ) == [
        "tool_call none",
        "tool_call emptylist",
        "tool_result rejected",
        "tool_result stopped",
        "tool_result streamed_empty",
        "tool_result toolitem",
    ]
    assert lake.has_no_problem()


def test_018_cli_permission_and_bang_shell(build_case: BuildCase) -> None:
    lake = build_case("018-cli-permission-and-bang-shell")
    clocked, typed = "shell-1789461060000-k3q9zz", datetime(2026, 9, 15, 8, 31)

    assert lake.rows(
        "select session_id, project_path, tool_use_id, requested_utc from tool_calls order by sequence"
    ) == [
        (session_id(25), "/home/dana/cli", "d1", None),
        (session_id(25), "/home/dana/cli", "d2", None),
        (session_id(25), "/home/dana/cli", "d3", None),
        (session_id(25), "/home/dana/cli", clocked, typed),
        (session_id(25), "/home/dana/cli", "shell-abc", None),
    ]
    assert lake.rows(
        "select kind, tool_use_id, event_utc, event_basis from timeline where event_utc is not null "
        "or event_basis is not null order by sequence"
    ) == [("tool_call", clocked, typed, "call_id")]
    assert lake.rows(
        "select tool_use_id, kind, text, source_line from timeline where kind in "
        "('tool_result', 'permission_decision') order by sequence"
    ) == [
        ("d1", "tool_result", "[canceled] Permission denied by user", 2),
        ("d1", "permission_decision", "permission decision: canceled reason=user", 2),
        ("d2", "tool_result", "[canceled] Command blocked by security policy", 3),
        ("d2", "permission_decision", "permission decision: canceled reason=policy", 3),
        ("d3", "tool_result", "Permission denied by user", 4),
        (clocked, "tool_result", "clean", 5),
        ("shell-abc", "tool_result", "f", 6),
    ]
    assert lake.row("select title, in_index, started_basis from sessions") == (
        "Untitled Session",
        False,
        "file",
    )
    assert lake.row("select text, timestamp_utc from timeline where kind = 'session'") == (
        "session start: Untitled Session items=6 promptTokens=0 completionTokens=0 totalCost=0 dateCreated unknown",
        None,
    )
    assert not lake.count("timeline", "kind in ('model', 'permission_mode')")
    assert lake.has_no_problem()


def test_031_token_and_cost_oddities(build_case: BuildCase) -> None:
    lake = build_case("031-token-and-cost-oddities")
    file = f"{session_id(61)}.json"

    assert lake.row(
        "select session_id, prompt_tokens, completion_tokens, total_cost_usd, cached_tokens from sessions"
    ) == (session_id(61), None, None, None, 5)
    assert [(reason, line) for name, line, reason in lake.notes() if name == file] == [
        ("value_out_of_range", 0),
        ("wrong_type", 0),
    ]
    assert lake.losses() == []
    assert lake.messages() == [("user", "x")]
    text = lake.value("select text from timeline where kind = 'session'")
    assert text.startswith("session start: Tidy the loader items=1")
    assert text.endswith(" dateCreated unknown")


def test_034_huge_single_document(build_case: BuildCase, tmp_path: Path) -> None:
    case = lay_out("cases/034-huge-single-document", tmp_path / "034-huge-single-document")
    subprocess.run([sys.executable, "make.py"], cwd=case, check=True)
    lake = build_case("034-huge-single-document")

    assert lake.row("select session_id, user_turns, assistant_turns from sessions") == (
        session_id(80),
        100,
        100,
    )
    turns = [(turn, f"{turn[0].replace('u', 'q')}{n}") for n in range(100) for turn in ("user", "assistant")]
    assert lake.messages() == turns
    assert lake.rows("select text, source_line from timeline where kind = 'model'") == [("model: M", 2)]
    assert lake.row("select name, provider, content_bytes, length(content) from context_items") == (
        "big.log",
        "file",
        20971520,
        20971520,
    )
    assert not lake.count("timeline", "contains(text, 'xxxxxxxx') or contains(text, 'yyyyyyyy')")
    assert lake.has_no_problem()


def test_039_placeholder_overwrote_history(build_case: BuildCase) -> None:
    lake = build_case("039-placeholder-overwrote-history")

    assert lake.rows(
        "select session_id, agent, title, index_message_count, user_turns, assistant_turns, damaged, "
        "started_utc from sessions where agent = 'continue' order by session_id"
    ) == [
        (session_id(106), "continue", "New Session", 9, 1, 1, False, CREATED),
        (session_id(107), "continue", "Tidy the loader", 1, 1, 1, False, CREATED),
    ]
    assert Counter(lake.messages()) == {("user", "a"): 2, ("assistant", "b"): 2}
    assert lake.has_no_problem()
