"""Tasks of PearAI's agent as a whole: two transcripts of one talk, times, tokens, keys, and logs beside them."""

import json
import sqlite3
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pipeline import batch
from tests.conftest import OpenLake
from tests.lake import Lake, homelake, parquet_files
from tests.made import Json, at, ms, reply, user
from tests.made_pear import LOG, MadePear, ask, completion, replied, request, say, sent
from tests.tasks import TASKS

Build = Callable[[], Lake]

EDITOR = ".config/PearAI/User/globalStorage"
RUN = "<execute_command>\n<command>{}</command>\n</execute_command>"
RESULT = "[execute_command for '{}'] Result:"
DENIED = "The user denied this operation."
DENIED_WITH = "The user denied this operation and provided the following feedback:\n<feedback>\nno\n</feedback>"
APPROVED_WITH = "The user approved this operation and provided the following context:\n<feedback>\nquick\n</feedback>"


@pytest.fixture
def home(tmp_path: Path) -> MadePear:
    return MadePear(tmp_path / "home")


@pytest.fixture
def build(home: MadePear, tmp_path: Path, open_lake: OpenLake) -> Build:
    """Build the home; its checks pass."""

    def build_home() -> Lake:
        outcome = homelake("build", home.path, "-o", tmp_path / "lake", "--workers", "1", "--replace")
        assert outcome.exit_code == 0, outcome.stderr
        assert "checks    all passed" in outcome.stdout
        return open_lake(tmp_path / "lake")

    return build_home


def answered(seconds: float | None, *answer: str, command: str = "a") -> list[Json]:
    """A call of the model's and what came of it."""
    return [replied(seconds, RUN.format(command)), sent(seconds, RESULT.format(command), *answer)]


DECISIONS = (
    "select text, tool_use_id, timestamp_utc, call_key from timeline where kind = 'permission_decision' "
    "order by source_file, sequence"
)
CALLS = "select tool_use_id, decision, decision_reason, ran, status, call_key from tool_calls order by sequence"


def test_history_beside_a_panel_tells_of_decisions_alone(home: MadePear, build: Build) -> None:
    home.ui("t", say(0, "text", "fix it"), ask(2, "command", "a"), say(4, "user_feedback", "no"))
    home.api(
        "t",
        sent(1, "<task>\nfix it\n</task>", "<environment_details>\n# Current Workspace Directory (/w) Files\n"),
        replied(3, "Well.\n" + RUN.format("a")),
        sent(5, RESULT.format("a"), DENIED_WITH),
        replied(6, "as you like"),
    )

    lake = build()

    assert lake.rows("select source, sequence, kind, text, timestamp_utc from timeline order by source, sequence") == [
        ("pearai.api_history", 0, "permission_decision", "permission decision: denied with feedback", at(5)),
        ("pearai.ui_messages", 0, "message", "fix it", at(0)),
        ("pearai.ui_messages", 1, "tool_call", "a", at(2)),
        ("pearai.ui_messages", 2, "message", "no", at(4)),
    ]
    ((*judged, key),) = lake.rows(CALLS)
    assert judged == [str(ms(2)), "denied", "user", False, "canceled"]
    assert lake.rows("select tool_use_id, call_key from timeline where kind = 'permission_decision'") == [
        (str(ms(2)), key)
    ]
    assert lake.rows("select source, records, rows, losses, silent from artifacts order by source") == [
        ("pearai.api_history", 4, 1, 0, 3),
        ("pearai.ui_messages", 3, 3, 0, 0),
    ]
    assert lake.row("select user_turns, tool_calls, denied_calls, project_path, source from sessions") == (
        *(2, 1, 1, "/w", "pearai.ui_messages"),
    )
    assert lake.column("select distinct project_path from timeline") == ["/w"]


@pytest.mark.parametrize(
    ("moments", "decided", "told"),
    [
        ((1, 2, 3), 2.5, 1),
        ((1, 2, 3), 2, 1),
        ((1, 2, 3), 9, 2),
        ((2, 2, 2), 2, 2),
        ((3, 1, 2), 2, 2),
        ((1, 2, 3), 0.5, None),
        ((1, 2, None), 9, 1),
        ((1, 2, 3), None, None),
    ],
)
def test_decision_is_told_of_the_last_call_by_then(
    home: MadePear,
    build: Build,
    moments: tuple[float | None, ...],
    decided: float | None,
    told: int | None,
) -> None:
    calls = [ask(moment, "command", f"c{number}") for number, moment in enumerate(moments)]
    home.ui("t", say(0, "text", "task"), *calls)
    home.api("t", *answered(decided, DENIED))

    lake = build()

    judged = lake.rows("select command, decision, ran from tool_calls order by sequence")
    assert judged == [
        (f"c{number}", *(("denied", False) if number == told else ("unknown", None))) for number in range(len(moments))
    ]
    ids = lake.column("select tool_use_id from timeline where kind = 'permission_decision'")
    assert ids == [None if told is None else str(ms(moments[told] or 0))]
    assert lake.column(
        "select command from timeline left join tool_calls using (call_key) where kind = 'permission_decision'"
    ) == [None if told is None else f"c{told}"]


def test_approval_lets_the_call_run(home: MadePear, build: Build) -> None:
    home.ui("t", say(0, "text", "task"), ask(1, "tool", {"tool": "readFile", "path": "a"}))
    home.api("t", *answered(2, APPROVED_WITH))

    lake = build()

    assert [row[1:5] for row in lake.rows(CALLS)] == [("allowed", None, True, None)]
    assert lake.column("select text from timeline where kind = 'permission_decision'") == [
        "permission decision: approved with feedback"
    ]


def test_decision_is_of_a_call_that_was_asked_for(home: MadePear, build: Build) -> None:
    home.ui("t", ask(0, "command", "a"), say(1, "browser_action", {"action": "click", "coordinate": "1,2"}))
    home.api("t", *answered(2, DENIED))

    assert [row[:3] for row in build().rows(CALLS)] == [
        (str(ms(0)), "denied", "user"),
        (str(ms(1)), "unknown", None),
    ]


def test_last_decision_of_a_call_holds(home: MadePear, build: Build) -> None:
    home.ui("t", say(0, "text", "task"), ask(1, "command", "a"))
    home.api("t", *answered(3, DENIED), *answered(2, APPROVED_WITH))

    lake = build()

    assert [row[1:4] for row in lake.rows(CALLS)] == [("denied", "user", False)]
    assert [row[0].removeprefix("permission decision: ") for row in lake.rows(DECISIONS)] == [
        "denied",
        "approved with feedback",
    ]


def test_decisions_of_one_moment_and_call_are_told_apart(home: MadePear, build: Build) -> None:
    home.ui("t", say(0, "text", "task"), ask(1, "command", "a"))
    twice = [RESULT.format("a"), DENIED, RESULT.format("b"), DENIED]
    home.api("t", replied(2, RUN.format("a") + "\n" + RUN.format("b")), sent(2, *twice))

    assert len({key for *_, key in build().rows(DECISIONS)}) == 1
    assert build().value("select count(distinct row_id) from timeline where kind = 'permission_decision'") == 2


def test_call_keeps_what_its_result_says_where_nothing_was_decided(home: MadePear, build: Build) -> None:
    home.ui("t", say(0, "text", "task"), ask(1, "command", "a"), say(2, "command_output", "ok"))
    home.api("t", *answered(3, "ok"))

    assert [row[1:5] for row in build().rows(CALLS)] == [("allowed", None, True, "done")]


@pytest.mark.parametrize(
    ("panel", "losses"),
    [
        (None, []),
        ("[]", []),
        ("", ["empty_file"]),
        ("\0" * 64, ["zero_filled"]),
        ('[{"ts":1,"type":"say"', ["json_truncated"]),
        ("{}", ["not_an_object"]),
        ("[5]", ["not_an_object"]),
    ],
)
def test_history_is_the_transcript_where_the_panel_has_none(
    home: MadePear, build: Build, panel: str | None, losses: list[str]
) -> None:
    if panel is not None:
        home.file(f"{TASKS}/t/ui_messages.json", panel)
    home.api("t", sent(1, "<task>\nfix it\n</task>"), *answered(2, DENIED))

    lake = build()

    assert lake.rows("select source, sequence, kind, text from timeline where kind <> 'problem' order by sequence") == [
        ("pearai.api_history", 0, "message", "fix it"),
        ("pearai.api_history", 1, "tool_call", "a"),
        ("pearai.api_history", 2, "tool_result", DENIED),
        ("pearai.api_history", 3, "permission_decision", "permission decision: denied"),
    ]
    assert lake.column("select tool_use_id from timeline where tool_use_id is not null") == ["2"] * 3
    assert [loss.reason for loss in lake.losses()] == losses
    assert lake.rows("select session_id, title, started_utc, has_file, damaged, source from sessions") == [
        ("t", "fix it", at(1), True, bool(losses), "pearai.api_history")
    ]


def test_panel_that_was_cut_behind_a_message_is_the_transcript(home: MadePear, build: Build) -> None:
    path = home.ui("t", say(0, "text", "fix it"), ask(1, "command", "a"))
    path.write_bytes(path.read_bytes()[:-10])
    home.api("t", sent(0, "<task>\nfix it\n</task>"), replied(1, "well"), *answered(2, DENIED))

    lake = build()

    assert lake.rows("select source, kind, tool_use_id from timeline where kind <> 'problem' order by source") == [
        ("pearai.api_history", "permission_decision", None),
        ("pearai.ui_messages", "message", None),
    ]
    assert not lake.count("tool_calls")


def test_old_panel_beside_a_history_is_the_transcript(home: MadePear, build: Build) -> None:
    panel = home.ui("t", say(0, "text", "fix it"), ask(1, "command", "a"))
    panel.rename(panel.with_name("claude_messages.json"))
    home.api("t", sent(0, "<task>\nfix it\n</task>"), *answered(2, DENIED))

    lake = build()

    assert lake.rows("select source, kind, parse_filename(source_file) from timeline order by source, sequence") == [
        ("pearai.api_history", "permission_decision", "api_conversation_history.json"),
        ("pearai.ui_messages", "message", "claude_messages.json"),
        ("pearai.ui_messages", "tool_call", "claude_messages.json"),
    ]


@pytest.mark.parametrize("name", ["claude_messages.json", ".ui_messages.json.bak_1_a.tmp"])
def test_transcript_without_a_message_is_replaced_by_one_that_holds_some(
    name: str, home: MadePear, build: Build
) -> None:
    panel = home.ui("t", say(0, "text", "fix it"), say(1, "api_req_started", {"tokensIn": 5}))
    panel.rename(panel.with_name(name))
    home.ui("t")

    lake = build()

    assert lake.rows("select kind, text, parse_filename(source_file) from timeline order by sequence") == [
        ("message", "fix it", name),
        ("notice", 'api_req_started: {"tokensIn": 5}', name),
    ]
    assert lake.rows("select has_file, damaged, user_turns, prompt_tokens from sessions") == [(True, False, 1, 5)]
    assert not lake.count("problems")


def test_transcript_without_a_message_is_replaced_in_an_archive_too(
    home: MadePear, tmp_path: Path, open_lake: OpenLake
) -> None:
    panel = home.ui("t", say(0, "text", "fix it"))
    panel.rename(panel.with_name("claude_messages.json"))
    home.ui("t")
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        archive.add(home.path, "home/alice")

    homelake("build", tmp_path / "a.tar", "-o", tmp_path / "lake", "--workers", "1")

    assert open_lake(tmp_path / "lake").column("select text from timeline") == ["fix it"]


def test_file_under_its_old_name_is_looked_at_in_a_compressed_archive_too(
    home: MadePear, tmp_path: Path, open_lake: OpenLake
) -> None:
    panel = home.ui("t", say(0, "text", "fix it"))
    panel.rename(panel.with_name("claude_messages.json"))
    home.api("t", sent(1, "<task>\nfix it\n</task>"), replied(2, "well"))
    leftover = home.ui("u", say(0, "text", "saved"))
    leftover.rename(leftover.with_name(".ui_messages.json.bak_1_a.tmp"))
    home.file(f"{TASKS}/u/ui_messages.json", "[\n\n\n]")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        archive.add(home.path, "home/alice")

    homelake("build", tmp_path / "a.tar.gz", "-o", tmp_path / "lake", "--workers", "1")

    assert open_lake(tmp_path / "lake").rows("select session_id, source, text from timeline order by session_id") == [
        ("t", "pearai.ui_messages", "fix it"),
        ("u", "pearai.ui_messages", "saved"),
    ]


@pytest.mark.parametrize("name", ["claude_messages.json", ".ui_messages.json.bak_1_a.tmp"])
@pytest.mark.parametrize(
    ("data", "reason"), [(b"", "empty_file"), (b"\0" * 40, "zero_filled"), (b"{}", "not_an_object")]
)
def test_only_file_of_a_task_that_cannot_be_read_is_a_loss(
    name: str, data: bytes, reason: str, home: MadePear, build: Build
) -> None:
    home.ui("t").rename(home.ui("t").with_name(name))
    next(home.path.rglob(name)).write_bytes(data)

    lake = build()

    assert lake.rows("select reason, lost, parse_filename(source_file) from problems") == [(reason, True, name)]
    assert lake.rows("select status, losses from artifacts where source is not null") == [("parsed", 1)]
    assert lake.rows("select has_file, damaged from sessions") == [(True, True)]


def test_result_of_a_call_that_was_lost_stays(home: MadePear, build: Build) -> None:
    home.api("t", sent(0, "<task>\nfix it\n</task>"), sent(1, RESULT.format("a"), "output"))

    assert build().rows("select text, tool_name, tool_use_id, call_key from timeline where kind = 'tool_result'") == [
        ("output", "execute_command", None, None)
    ]


TIMES = "select text, timestamp_utc, timestamp_basis, event_utc, event_basis from timeline order by sequence"


def test_message_without_a_time_has_the_sessions(home: MadePear, build: Build) -> None:
    home.ui("t", say(None, "text", "fix it"), say(5, "text", "well"), say(None, "text", "done"))

    lake = build()

    assert lake.rows(TIMES) == [
        ("fix it", None, None, at(5), "session"),
        ("well", at(5), "record", at(5), "record"),
        ("done", None, None, at(5), "session"),
    ]
    assert lake.rows("select started_utc, started_basis from sessions") == [(at(5), "record")]


def test_records_without_a_time_have_that_of_the_session_they_name(home: MadePear, build: Build) -> None:
    rated = {"prompt": "of a", "completion": "", "feedback": True}
    home.chat("a", user("hi"), created=ms(5))
    home.lines("chat", {**rated, "sessionId": "a"}, {**rated, "sessionId": "gone"}, rated)
    home.listed({"id": "t", "task": "listed", "tokensIn": 7})
    home.ui("t", say(3, "text", "hi"))

    lake = build()

    rows = "select timestamp_utc, event_utc, event_basis from timeline where kind = $1 order by source_line"
    assert lake.rows(rows, "feedback") == [(None, at(5), "session"), (None, None, None), (None, None, None)]
    assert lake.rows(rows, "task") == [(None, at(3), "session")]
    assert lake.rows("select utc from token_usage") == [(at(3),)]


def test_task_without_any_time_has_that_of_its_files(home: MadePear, build: Build) -> None:
    home.api("t", sent(None, "<task>\nfix it\n</task>"), replied(None, "done"))
    path = home.ui("t")

    lake = build()

    assert lake.rows(TIMES) == [("fix it", None, None, None, None), ("done", None, None, None, None)]
    ((started, basis),) = lake.rows("select epoch_ms(started_utc), started_basis from sessions")
    assert (started, basis) == (path.stat().st_mtime_ns // 1_000_000, "file")


def test_tokens_of_a_request_without_a_time_have_the_sessions(home: MadePear, build: Build) -> None:
    home.ui("t", say(3, "text", "fix it"), say(None, "api_req_started", {"tokensIn": 5, "tokensOut": 1}))

    assert build().rows("select utc, event_utc, prompt_tokens from token_usage") == [(at(3), at(3), 5)]


def test_task_of_which_the_files_hold_nothing_is_a_session(home: MadePear, build: Build) -> None:
    home.ui("t")
    home.api("t")

    lake = build()

    assert lake.rows("select session_id, title, has_file, in_index, damaged, user_turns from sessions") == [
        ("t", None, True, False, False, 0)
    ]
    assert lake.rows("select distinct records, rows, losses, silent from artifacts") == [(0, 0, 0, 0)]
    assert not lake.count("timeline")


def test_tasks_of_one_moment_are_told_apart(home: MadePear, build: Build) -> None:
    for task in ("a", "b"):
        home.ui(task, say(0, "text", "same"), ask(1, "command", "x"), say(2, "command_output", "y"))
        home.api(task, *answered(2, DENIED))
    home.file(".config/pearai/User/globalStorage/pearai.pearai-roo-cline/tasks/a/ui_messages.json", "[]")

    lake = build()

    assert lake.rows("select session_id, tool_calls, denied_calls from sessions order by all") == [
        ("a", 0, 0),
        ("a", 1, 1),
        ("b", 1, 1),
    ]
    assert lake.value("select count(distinct session_key) from sessions") == 3
    assert lake.value("select count(distinct call_key) from tool_calls") == 2
    assert lake.rows("select count(*), count(distinct row_id) from timeline") == [(8, 8)]


def test_tokens_of_requests_are_summed(home: MadePear, build: Build) -> None:
    first = {"request": "q", "tokensIn": 100, "tokensOut": 20, "cacheReads": 7, "cacheWrites": 3, "cost": 0.25}
    home.ui(
        "t",
        say(0, "text", "fix it"),
        say(1, "api_req_started", first),
        say(2, "api_req_started", {"request": "q", "tokensIn": 10, "cost": 0.5}),
        say(3, "api_req_started", {"request": "cut off"}),
    )

    lake = build()

    assert lake.rows(
        "select grain, utc, prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens, cost_usd, "
        "session_id from token_usage order by utc"
    ) == [
        ("request", at(1), 100, 20, 7, 3, 0.25, "t"),
        ("request", at(2), 10, None, None, None, 0.5, "t"),
    ]
    assert lake.row("select prompt_tokens, completion_tokens, cached_tokens, total_cost_usd from sessions") == (
        110,
        20,
        7,
        0.75,
    )


def test_list_of_tasks_tells_what_their_files_do_not(home: MadePear, build: Build) -> None:
    surroundings = "<environment_details>\n# Current Workspace Directory (/told) Files\n"
    counts = {"tokensIn": 70, "tokensOut": 7, "totalCost": 0.5}
    home.listed(
        {"id": "a", "ts": ms(9), "task": "listed\nmore", "workspace": "/listed", **counts},
        {"id": "b", "ts": ms(9), "task": "", **counts},
        {"id": "c", "ts": ms(9), "task": "gone", "workspace": "/gone", **counts},
    )
    home.ui("a", say(1, "text", "said"), say(2, "api_req_started", {"request": surroundings, "tokensIn": 5}))
    home.api("b", sent(None, "<task>\nsaid\n</task>", surroundings))

    lake = build()

    assert lake.rows(
        "select session_id, title, project_path, started_utc, started_basis, prompt_tokens, completion_tokens, "
        "total_cost_usd, has_file, in_index from sessions order by all"
    ) == [
        ("a", "listed", "/listed", at(1), "record", 5, None, None, True, True),
        ("b", "said", "/told", at(9), "task_list", 70, 7, 0.5, True, True),
        ("c", "gone", "/gone", at(9), "task_list", 70, 7, 0.5, False, True),
    ]
    assert (
        lake.rows(
            "select session_id, timestamp_utc, event_utc, event_basis from timeline where source = 'pearai.api_history'"
        )
        == [("b", None, at(9), "session")] * 2
    )
    assert lake.rows(
        "select session_id, count(distinct session_key), count(distinct project_path) from timeline "
        "group by all order by all"
    ) == [("a", 1, 1), ("b", 1, 1), ("c", 1, 1)]


def test_task_of_two_lists_states_its_tokens_once(home: MadePear, build: Build) -> None:
    home.listed({"id": "a", "ts": ms(9), "task": "t", "tokensIn": 20, "totalCost": 0.5, "workspace": "/w"})
    home.listed({"id": "a", "ts": ms(3), "task": "t", "tokensIn": 7, "totalCost": 0.1}, editor=".pearai-server/data")

    lake = build()

    assert lake.rows("select prompt_tokens, total_cost_usd, has_file from sessions") == [(20, 0.5, False)]
    assert lake.rows("select grain, utc, prompt_tokens from token_usage") == [("task", at(9), 20)]
    assert lake.count("timeline", "kind = 'task'") == 2


def test_log_repeats_chats_and_no_task(home: MadePear, build: Build) -> None:
    home.chat("s1", user("ask"), reply("answer"), created=ms(0))
    home.ui("t", say(0, "text", "of the agent"))
    log = [request(f"<user>\n{text}\n\n", model="m") for text in ("ask", "of the agent", "deleted")]
    home.file(LOG, log[0] + completion("answer") + log[1] + log[2] + completion("gone"))

    lake = build()

    assert lake.rows(
        "select twins.turn_type, twins.text, session.text, session.source, twins.seconds_apart from twins "
        "join timeline as session on session.row_id = twins.twin_row_id order by twins.sequence"
    ) == [
        ("user", "ask", "ask", "pearai.chat_session", None),
        ("assistant", "answer", "answer", "pearai.chat_session", None),
    ]
    assert lake.rows(
        "select kind, text, recovered, session_id from timeline where source = 'pearai.output_log' order by sequence"
    ) == [
        ("model", "model: m", False, None),
        ("message", "of the agent", True, None),
        ("message", "deleted", True, None),
        ("message", "gone", True, None),
    ]


def test_log_repeats_a_chat_about_what_it_masks(home: MadePear, build: Build) -> None:
    code, other = "const load = (userId: string) => 1", 'apiKey: "FAKE-KEY"'
    home.chat("s1", user("ask"), reply(code), created=ms(0))
    home.file(LOG, request("<user>\nask\n\n") + completion(code) + request("<user>\nb\n\n") + completion(other))

    lake = build()

    assert lake.rows("select text from twins order by sequence") == [("ask",), ("const load = (userId: ***) => 1",)]
    assert lake.rows("select text, recovered from timeline where secondary order by sequence") == [
        ("b", True),
        ('apiKey: "***"', True),
    ]
    assert lake.column("select text from timeline where session_id = 's1' order by sequence")[-1] == code


def talk(turns: int) -> list[Json]:
    """What the panel shows of so many turns."""
    turn = [say(0, "text", "well"), ask(0, "command", "ls"), say(0, "command_output", "a")]
    messages = [message for _ in range(turns) for message in turn]
    return [say(0, "text", "task"), *({**message, "ts": ms(n)} for n, message in enumerate(messages, 1))]


def history(turns: int) -> list[Json]:
    """The same as the model has it; every command was denied."""
    turn = answered(0, DENIED, command="ls")
    messages = [message for _ in range(turns) for message in turn]
    return [sent(0, "<task>\ntask\n</task>"), *({**m, "ts": ms(1.5 * n)} for n, m in enumerate(messages, 2))]


KEYS = (
    "select row_id from timeline union all select call_key from tool_calls union all select row_id from token_usage "
    "union all select session_key from sessions"
)


@pytest.mark.parametrize("has_panel", [True, False])
def test_appended_messages_leave_all_other_keys(home: MadePear, build: Build, *, has_panel: bool) -> None:
    def write(turns: int) -> None:
        home.api("t", *history(turns))
        if has_panel:
            home.ui("t", *talk(turns), say(100, "api_req_started", {"tokensIn": 1}))

    write(2)
    before = build().column(KEYS)

    write(3)
    after = build().column(KEYS)

    assert len(before) == len(set(before))
    assert set(before) < set(after)


@pytest.mark.parametrize("has_panel", [True, False])
def test_what_stands_in_for_a_file_has_its_keys(home: MadePear, build: Build, *, has_panel: bool) -> None:
    """So that collections of both have each row once."""
    files = [home.api("t", *history(2))]
    if has_panel:
        files.append(home.ui("t", *talk(2), say(100, "api_req_started", {"tokensIn": 1})))
    home.listed({"id": "t", "ts": ms(9), "task": "t", "tokensIn": 20})
    home.file(
        f"{TASKS}/t/task_metadata.json", json.dumps({"files_in_context": [{"path": "a", "roo_read_date": ms(1)}]})
    )
    metadata, database = home.path / f"{TASKS}/t/task_metadata.json", home.path / f"{EDITOR}/state.vscdb"
    before = sorted(build().column(KEYS))

    for file in (*files, metadata):
        file.rename(file.with_name(f".{file.name}.bak_1_a.tmp"))
    database.rename(database.with_name("state.vscdb.backup"))
    leftovers = sorted(build().column(KEYS))
    files[-1].with_name(f".{files[-1].name}.bak_1_a.tmp").rename(files[-1].with_name("claude_messages.json"))
    old_name = sorted(build().column(KEYS))

    assert before == leftovers == old_name


def test_loss_of_a_database_and_that_of_its_backup_are_two(home: MadePear, build: Build) -> None:
    home.listed({"id": "t", "ts": ms(9), "task": "t"})
    database = home.path / f"{EDITOR}/state.vscdb"
    whole = database.read_bytes()
    database.with_name("state.vscdb.backup").write_bytes(whole)
    with closing(sqlite3.connect(database.with_name("state.vscdb.backup"))) as connection:
        connection.execute("update ItemTable set value = value || 'x'")
        connection.commit()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("update ItemTable set value = 'x'")
        connection.commit()

    lake = build()

    assert lake.rows("select reason, parse_filename(source_file) from problems where lost order by all") == [
        ("json_invalid", "state.vscdb"),
        ("trailing_data", "state.vscdb.backup"),
    ]
    assert lake.count("timeline", "kind = 'task'") == 1


def test_many_homes_read_in_pieces_give_the_same(
    tmp_path: Path, open_lake: OpenLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        home = MadePear(tmp_path / f"homes/user{number}")
        for task in range(3):
            home.ui(f"t{task}", *talk(number + 1))
            home.api(f"t{task}", *history(number + 1))
        home.api("alone", *history(2))
        home.file(f"{TASKS}/t0/task_metadata.json", json.dumps({"files_in_context": []}))

    def built(name: str, workers: int) -> Path:
        outcome = homelake("build", tmp_path / "homes", "-o", tmp_path / name, "--workers", str(workers))
        assert "checks    all passed" in outcome.stdout
        return tmp_path / name

    whole, spread = built("whole", 1), built("spread", 2)
    monkeypatch.setattr(batch, "CHUNK_BYTES", 1000)
    pieces = built("pieces", 1)

    assert parquet_files(whole) == parquet_files(spread) == parquet_files(pieces)
    lake = open_lake(whole)
    gaps = lake.rows(
        "select source_file, list(sequence order by sequence) as found from timeline "
        "group by all having found <> range(count(*))"
    )
    assert gaps == []
    assert lake.pairs("select \"user\", count(*) from timeline where source = 'pearai.ui_messages' group by all") == {
        f"user{number}": 3 * (1 + 3 * (number + 1)) for number in range(4)
    }
    assert lake.column("select distinct decision from tool_calls") == ["denied"]
