"""What belongs together in a home: events and sessions, secondary rows and their twins, and when things happened."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bounded import ending
from tests.conftest import OpenLake
from tests.lake import Lake, homelake
from tests.made import MadeHome, at, call, exchange, ms, reply, usage, user

Build = Callable[[], Lake]


@pytest.fixture
def home(tmp_path: Path) -> MadeHome:
    return MadeHome(tmp_path / "home")


@pytest.fixture
def build(home: MadeHome, tmp_path: Path, open_lake: OpenLake) -> Build:
    """Build the home; its checks pass."""

    def build_home() -> Lake:
        outcome = homelake("build", home.path, "-o", tmp_path / "lake", "--workers", "1", "--replace")
        assert outcome.exit_code == 0, outcome.stderr
        assert "checks    all passed" in outcome.stdout
        return open_lake(tmp_path / "lake")

    return build_home


EVENTS_OF = """
select timeline.text, repeated.text, repeated.source_line
from timeline
left join timeline as repeated on repeated.row_id = timeline.repeats_row_id
where timeline.source = $1
order by timeline.source_line, timeline.sequence
"""
"""Rows of a source with the text and line of the row that each repeats."""

TIMES = "select text, event_utc, event_basis from timeline where source = 'continue.session' and source_line > 0 "


def test_an_exchange_dates_its_reply_and_repeats_it_and_its_prompt(home: MadeHome, build: Build) -> None:
    home.session("s1", user("hi"), reply("hello", call("c1", name="ls"), prompt="<user>\nhi"))
    home.events("chatInteraction", exchange(20, "<user>\nhi", "hello"))

    lake = build()

    assert lake.rows(EVENTS_OF, "continue.chat_interaction") == [("<user>\nhi", "hi", 1), ("hello", "hello", 2)]
    assert lake.rows(TIMES + "order by sequence") == [
        ("hi", at(0), "session"),
        ("hello", at(20), "chat_interaction"),
        ("{}", at(20), "chat_interaction"),
        ("ok", at(20), "chat_interaction"),
    ]


def test_as_many_events_as_equal_requests_pair_in_order(home: MadeHome, build: Build) -> None:
    home.session("s1", *(reply("same", prompt="p") for _ in range(3)))
    home.events("chatInteraction", *(exchange(seconds, "p", "same") for seconds in (10, 20, 30)))

    lake = build()

    assert lake.column(
        "select event_utc from timeline where source = 'continue.session' and kind = 'message' order by sequence"
    ) == [at(10), at(20), at(30)]
    assert [line for _, said, line in lake.rows(EVENTS_OF, "continue.chat_interaction") if said] == [1, 2, 3]


@pytest.mark.parametrize(("items", "events"), [(3, 2), (2, 3), (1, 2)])
def test_where_the_numbers_differ_only_the_earliest_pair(home: MadeHome, build: Build, items: int, events: int) -> None:
    home.session("s1", *(reply("same", prompt="p") for _ in range(items)))
    home.events("chatInteraction", *(exchange(10 * number, "p", "same") for number in range(events, 0, -1)))

    lake = build()

    dated = lake.rows(TIMES + "and event_basis = 'chat_interaction'")
    assert dated == [("same", at(10), "chat_interaction")]
    replies = [row for row in lake.rows(EVENTS_OF, "continue.chat_interaction") if row[0] == "same"]
    assert [line for _, _, line in replies] == [*[None] * (events - 1), 1]


def test_a_request_of_another_session_is_no_pair(home: MadeHome, build: Build) -> None:
    home.session("s1", reply("same", prompt="p"))
    home.events("chatInteraction", exchange(10, "p", "same", session="s2"))

    lake = build()

    assert not lake.count("timeline", "event_basis = 'chat_interaction' or repeats_row_id is not null")
    assert lake.rows(
        "select session_id, has_file, in_index, started_utc, started_basis, user_turns from sessions order by all"
    ) == [
        ("s1", True, True, at(0), "session", 0),
        ("s2", False, False, at(10), "record", 1),
    ]


def test_a_reply_without_prompt_logs_is_known_by_its_text(home: MadeHome, build: Build) -> None:
    home.session("s1", user("q"), reply("the answer"), reply("kept its prompt", prompt="p"))
    home.events(
        "chatInteraction",
        exchange(10, "x", "<assistant>\nthe answer\n\n"),
        exchange(20, "y", "<assistant>\nkept its prompt\n\n"),
    )

    lake = build()

    assert lake.rows(TIMES + "and turn_type = 'assistant' order by sequence") == [
        ("the answer", at(10), "chat_interaction"),
        ("kept its prompt", at(0), "session"),
    ]


def test_a_prompt_of_an_empty_reply_repeats_the_users_message(home: MadeHome, build: Build) -> None:
    home.session("s1", user("q"), reply("", prompt="p", completion="<assistant>\n"))
    home.events("chatInteraction", exchange(10, "p", "<assistant>\n"))

    lake = build()

    assert lake.rows(EVENTS_OF, "continue.chat_interaction") == [("p", "q", 1), ("<assistant>", None, None)]


def test_a_reply_that_is_calls_alone_is_repeated_by_its_first_call(home: MadeHome, build: Build) -> None:
    home.session("s1", user("q"), reply("", call("c1", '{"a":1}'), call("c2"), prompt="p", completion="ls()"))
    home.events("chatInteraction", exchange(10, "p", "ls()"))

    lake = build()

    assert lake.rows(EVENTS_OF, "continue.chat_interaction") == [("p", "q", 1), ("ls()", '{"a":1}', 2)]


def test_odd_characters_do_not_part_a_request_from_its_event(home: MadeHome, build: Build) -> None:
    home.session("s1", reply("r", prompt="cut \ud83d and \0", completion="c \udc00"))
    home.events("chatInteraction", exchange(10, "cut \ud83d and \0", "c \udc00"))

    assert build().rows(TIMES) == [("r", at(10), "chat_interaction")]


def test_a_usage_dates_the_end_of_its_call(home: MadeHome, build: Build) -> None:
    home.session("s1", reply("", call("c1", '{"dirPath":"."}')), reply("", call("c2", status="canceled", output=None)))
    home.events("toolUsage", usage(7, "c1", '{"dirPath":"."}'), usage(9, "c2", ended="false/true"))

    lake = build()

    assert lake.rows(
        "select tool_use_id, usage_match, accepted, succeeded, requested_utc, finished_utc, decision "
        "from tool_calls order by 1"
    ) == [
        ("c1", "matched", True, True, at(7), at(7), "allowed"),
        ("c2", "matched", False, True, at(9), at(9), "denied"),
    ]
    assert lake.rows(
        "select session_id, project_path, kind, repeats_row_id is null, call_key is null "
        "from timeline where source = 'continue.tool_usage' and source_line = 1 order by sequence"
    ) == [
        ("s1", "/w", "tool_call", False, False),
        ("s1", "/w", "tool_result", False, False),
        ("s1", "/w", "permission_decision", True, False),
    ]
    assert lake.value("select denied_calls from sessions") == 1


def test_the_end_of_a_call_is_later_than_its_request(home: MadeHome, build: Build) -> None:
    home.session("s1", reply("", call("c1", status="errored", output="no"), prompt="p", completion="c"))
    home.events("chatInteraction", exchange(10, "p", "c"))
    home.events("toolUsage", usage(15, "c1", ended="false/false"))

    lake = build()

    assert lake.rows(
        "select kind, event_utc, event_basis from timeline where source = 'continue.session' "
        "and source_line > 0 order by sequence"
    ) == [
        ("tool_call", at(10), "chat_interaction"),
        ("tool_result", at(15), "tool_usage"),
    ]
    assert lake.row("select requested_utc, finished_utc, decision from tool_calls") == (at(10), at(15), "allowed")


CALLS = "select source_line, usage_match, finished_utc from tool_calls order by session_id, source_line"


def test_calls_of_one_id_are_told_by_tool_and_arguments(home: MadeHome, build: Build) -> None:
    home.session(
        "s1", reply("", call("x", '{"a":1}')), reply("", call("x", '{"a":2}')), reply("", call("x", name="rm"))
    )
    home.events("toolUsage", usage(1, "x", '{"a":2}'), usage(2, "x", '{"a":1}'))

    assert build().rows(CALLS) == [(1, "matched", at(2)), (2, "matched", at(1)), (3, "none", None)]


def test_equal_calls_of_one_file_pair_in_order(home: MadeHome, build: Build) -> None:
    home.session("s1", *(reply("", call("x")) for _ in range(2)))
    home.events("toolUsage", usage(1, "x"), usage(2, "x"))

    lake = build()

    assert lake.rows(CALLS) == [(1, "matched", at(1)), (2, "matched", at(2))]
    repeated = [line for said, _, line in lake.rows(EVENTS_OF, "continue.tool_usage") if said == "{}"]
    assert repeated == [1, 2]


def test_equal_calls_with_another_number_of_events_are_ambiguous(home: MadeHome, build: Build) -> None:
    home.session("s1", *(reply("", call("x")) for _ in range(2)))
    home.events("toolUsage", usage(1, "x"))

    lake = build()

    assert lake.rows(CALLS) == [(1, "ambiguous", None), (2, "ambiguous", None)]
    assert lake.rows(
        "select distinct session_id, call_key, repeats_row_id from timeline where source = 'continue.tool_usage'"
    ) == [(None, None, None)]


def test_equal_calls_of_two_files_are_ambiguous(home: MadeHome, build: Build) -> None:
    home.session("s1", reply("", call("x")))
    home.session("s2", reply("", call("x")))
    home.events("toolUsage", usage(1, "x"), usage(2, "x"))

    assert build().rows(CALLS) == [(1, "ambiguous", None), (1, "ambiguous", None)]


def test_equal_events_of_two_files_are_ambiguous(home: MadeHome, build: Build) -> None:
    home.session("s1", *(reply("", call("x")) for _ in range(2)))
    home.events("toolUsage", usage(2, "x"))
    home.events("toolUsage", usage(1, "x"), version="0.2.0 copy")

    assert build().rows(CALLS) == [(1, "ambiguous", None), (2, "ambiguous", None)]


def test_calls_of_one_id_without_arguments_are_told_too(home: MadeHome, build: Build) -> None:
    home.session("s1", reply("", call("x", "") | {"parsedArgs": {}}), reply("", call("x", '{"a":2}')))
    home.events("toolUsage", usage(1, "x", ""), usage(2, "x", '{"a":2}'))

    assert build().rows(CALLS) == [(1, "matched", at(1)), (2, "matched", at(2))]


def test_one_event_of_one_call_needs_no_equal_arguments(home: MadeHome, build: Build) -> None:
    home.session("s1", reply("", call("x", '{"a": 1}')))
    home.events("toolUsage", usage(1, "x", '{"a":1}'))

    assert build().rows(CALLS) == [(1, "matched", at(1))]


def test_a_prompt_finds_the_last_equal_message_and_dates_it(home: MadeHome, build: Build) -> None:
    home.session("s1", user("go on"), reply("a"), user("go on"), reply("b"), user("else"))
    home.history(("go on", 50), ("/clear", 40))

    lake = build()

    assert lake.rows(TIMES + "and turn_type = 'user' order by sequence") == [
        ("go on", at(0), "session"),
        ("go on", at(50), "input_history"),
        ("else", at(0), "session"),
    ]
    assert lake.rows("select text, seconds_apart, source_line from twins") == [("go on", 50.0, 1)]
    assert lake.rows(
        "select text, secondary, recovered, timestamp_utc, session_id from timeline "
        "where source = 'continue.input_history'"
    ) == [("/clear", True, True, at(40), None)]


def test_a_prompt_takes_the_session_nearest_in_time(home: MadeHome, build: Build) -> None:
    home.session("s1", user("same"), created=0)
    home.session("s2", user("same"), created=100)
    home.session("s3", user("same"), created=None)
    home.history(("same", 90))

    lake = build()

    assert lake.row(
        "select t.session_id, w.seconds_apart from twins as w join timeline as t on t.row_id = w.twin_row_id"
    ) == ("s2", -10.0)


@pytest.mark.parametrize("named", ["s1", "s1 (1)"])
@pytest.mark.parametrize("prompt", ["P", None])
def test_an_exchange_is_of_the_file_that_has_its_sessions_name(
    home: MadeHome, build: Build, prompt: str | None, named: str
) -> None:
    home.session("s1", user("q"), reply("a", prompt=prompt))
    home.session("s1 (1)", user("q"), reply("a", prompt=prompt), sessionId="s1", created=None)
    home.events("chatInteraction", exchange(10, "P", "a", session=named))

    lake = build()

    assert lake.rows(
        "select e.turn_type, s.home_path from timeline as e join timeline as s on s.row_id = e.repeats_row_id "
        "order by e.sequence"
    ) == [("user", f".continue/sessions/{named}.json"), ("assistant", f".continue/sessions/{named}.json")]


def test_a_prompt_has_no_twin_in_a_session_without_a_time(home: MadeHome, build: Build) -> None:
    home.session("s1", user("same"), created=None)
    home.history(("same", 90))

    lake = build()

    assert lake.column("select recovered from timeline where source = 'continue.input_history'") == [True]
    assert not lake.count("twins")


@pytest.mark.parametrize("prompt", ["!ls -la", "! ls -la", "!\n ls -la "])
def test_a_typed_command_is_the_twin_of_its_prompt(home: MadeHome, build: Build, prompt: str) -> None:
    call_id = f"shell-{ms(30)}-abc"
    home.session("s1", reply("", call(call_id, '{"command":"ls -la"}', name="Bash")))
    home.history((prompt, 29))

    lake = build()

    assert lake.rows(
        "select w.text, t.kind, t.tool_use_id from twins as w join timeline as t on t.row_id = w.twin_row_id"
    ) == [(prompt.strip(), "tool_call", call_id)]
    assert lake.row("select actor, requested_utc, command from tool_calls") == ("user", at(30), "ls -la")


def test_a_rating_finds_the_event_of_its_exchange_first(home: MadeHome, build: Build) -> None:
    home.session("s1", user("q"), reply("a", prompt="q"))
    home.events("chatInteraction", exchange(10, "q", "a"))
    home.events("chatFeedback", exchange(40, "q", "a") | {"feedback": True})

    lake = build()

    assert lake.rows(
        "select w.text, t.source, w.seconds_apart from twins as w join timeline as t "
        "on t.row_id = w.twin_row_id order by w.sequence"
    ) == [
        ("q", "continue.chat_interaction", 30.0),
        ("a", "continue.chat_interaction", 30.0),
    ]
    assert lake.rows(
        "select kind, text, secondary, recovered from timeline where source = 'continue.chat_feedback'"
    ) == [("feedback", "chat feedback: feedback=true model=m", True, False)]


def test_a_rating_of_another_session_is_recovered(home: MadeHome, build: Build) -> None:
    home.session("s1", user("q"), reply("a"))
    home.events("chatFeedback", exchange(40, "q", "a", session="gone") | {"feedback": False})

    lake = build()

    assert lake.rows(
        "select session_id, turn_type, recovered from timeline where source = 'continue.chat_feedback' "
        "order by sequence"
    ) == [
        ("gone", "user", True),
        ("gone", "assistant", True),
        ("gone", "system", False),
    ]
    assert not lake.count("twins")


def test_events_of_a_session_without_a_file_stand_beside_its_entry(home: MadeHome, build: Build) -> None:
    home.session("s1", user("q"))
    (home.path / ".continue/sessions/s1.json").unlink()
    home.events("chatInteraction", exchange(10, "p", "a", session="s1"))

    lake = build()

    assert lake.rows("select session_id, has_file, in_index, user_turns, started_utc from sessions") == [
        ("s1", False, True, 1, at(0))
    ]
    assert lake.column("select distinct project_path from timeline where kind = 'message'") == ["/w"]


def test_a_rule_has_the_time_of_its_last_grant(home: MadeHome, build: Build) -> None:
    home.file("permissions.yaml", "allow:\n  - Read\n  - Bash(git*)\nask:\n  - Read\n")
    home.file(
        "logs/cn.log",
        "2026-09-15 09:00:00.000 [0a1b2c3d] [info]: Added policy rule to permissions.yaml: Read\n"
        "2026-09-15 10:00:00.000 [0a1b2c3d] [info]: Added policy rule to permissions.yaml: Read\n",
    )

    lake = build()

    assert lake.rows("select scope, rule, granted_utc from permissions order by source_line") == [
        ("allow", "Read", at(5400)),
        ("allow", "Bash(git*)", None),
        ("ask", "Read", None),
    ]


def test_tokens_and_completions_have_rows_without_a_session(home: MadeHome, build: Build) -> None:
    home.events("tokensGenerated", {"model": "m", "provider": "p", "promptTokens": 5, "generatedTokens": 2})
    home.events("autocomplete", exchange(3, "pre", "post") | {"time": 40, "accepted": True, "modelName": "q"})

    lake = build()

    assert lake.rows(
        "select grain, utc, model, provider, prompt_tokens, completion_tokens, session_id from token_usage"
    ) == [("request", None, "m", "p", 5, 2, None)]
    assert lake.rows(
        "select utc, model, accepted, latency_ms, prompt_chars, completion_chars, prompt, completion from completions"
    ) == [(at(3), "q", True, 40, 3, 4, None, None)]
    assert not lake.count("timeline")


def test_completion_texts_are_kept_on_demand(home: MadeHome, tmp_path: Path, open_lake: OpenLake) -> None:
    home.events("autocomplete", exchange(3, "pre", "post"))

    homelake("build", home.path, "-o", tmp_path / "lake", "--workers", "1", "--completion-text")

    assert open_lake(tmp_path / "lake").rows("select prompt, completion from completions") == [("pre", "post")]


def test_a_reply_that_states_tokens_has_the_time_of_its_item(home: MadeHome, build: Build) -> None:
    answer = reply("a", prompt="q")
    answer["message"]["usage"] = {"prompt_tokens": 5, "completion_tokens": 2, "model": "gpt", "cost_cents": 3}
    home.session("s1", user("q"), answer)
    home.events("chatInteraction", exchange(10, "q", "a"))

    assert build().rows(
        "select grain, utc, model, prompt_tokens, completion_tokens, cost_usd, session_id from token_usage"
    ) == [("reply", at(10), "gpt", 5, 2, 0.03, "s1")]


def test_no_loss_shows_a_secret_whatever_the_file(home: MadeHome, build: Build) -> None:
    item = '{"message":{"role":"user","content":"q"}}'
    home.file("sessions/cut.json", f'{{"sessionId":"cut","history":[{item},{{"apiKey":"sk-1","userId":"tok-2')
    home.file("sessions/sessions.json", '[{"sessionId":"cut"},{"apiKey":"sk-1","userId":"tok-2"}]')

    lake = build()

    assert lake.column("select text from timeline where kind = 'problem' order by source_file") == [
        'parser: unparseable record 2 (json_truncated): {"apiKey":"***","userId":"***',
        'parser: unparseable record 2 (index_entry_invalid): {"apiKey":"***","userId":"***"}',
    ]


def test_what_is_said_over_and_over_is_not_the_work_of_minutes(home: MadeHome, build: Build) -> None:
    home.session("s1", *[user("go on")] * 10_000)
    home.history(*[("go on", seconds) for seconds in range(10_000)])
    home.events("chatInteraction", *[exchange(seconds, "q", "a") for seconds in range(30_000)])
    home.events("chatFeedback", *[exchange(seconds, "q", "a") for seconds in range(30_000)])

    with ending():
        lake = build()

    twins = "select distinct twins.source, timeline.source, timeline.sequence from twins join timeline on "
    history = "timeline.row_id = twins.twin_row_id where twins.source = 'continue.input_history'"
    assert lake.rows(twins + history) == [("continue.input_history", "continue.session", 10_000)]
    nearest = "select max(abs(seconds_apart)), count(distinct twin_row_id) from twins where turn_type = 'user' and "
    assert lake.row(f"{nearest} source = 'continue.chat_feedback'") == (0, 30_000)


def test_equal_sessions_are_forks_of_the_first(home: MadeHome, build: Build) -> None:
    for number in range(50):
        home.session(f"s{number:02}", user("q"), reply("a"), created=number)

    lake = build()

    forked = "select distinct origin.session_id from sessions join sessions as origin on "
    assert lake.column(f"{forked} origin.session_key = sessions.forked_from") == ["s00"]
    assert lake.count("sessions", "forked_from is null") == 1


@pytest.mark.parametrize("created", [0, None])
def test_events_that_name_a_copied_file_are_of_its_session(home: MadeHome, build: Build, created: float | None) -> None:
    """The copy has its source's id; what is written of it names the file, as the index does."""
    home.session("copy", user("hi"), reply("hello", prompt="<user>\nhi"), sessionId="source", created=created)
    home.events("chatInteraction", exchange(20, "<user>\nhi", "hello", session="copy"))
    home.events("chatFeedback", {**exchange(30, "hi", "hello", session="copy"), "feedback": True})

    lake = build()

    assert lake.rows("select session_id, file_id, has_file from sessions") == [("source", "copy", True)]
    assert lake.rows("select count(distinct session_key), count(session_key) = count(*) from timeline") == [(1, True)]
    assert lake.rows(EVENTS_OF, "continue.chat_interaction") == [("<user>\nhi", "hi", 1), ("hello", "hello", 2)]
    assert lake.rows("select text, turn_type from twins order by all") == [("hello", "assistant"), ("hi", "user")]


def test_events_that_name_an_id_are_of_the_session_that_has_it(home: MadeHome, build: Build) -> None:
    """Also where a copy of another session lies under that name."""
    home.session("a", user("hi"), sessionId="b")
    home.session("c", user("hi"), sessionId="a")
    home.events("chatFeedback", {**exchange(30, "hi", "", session="a"), "feedback": True})

    lake = build()

    assert lake.rows("select file_id, session_id from sessions order by all") == [("a", "b"), ("c", "a")]
    assert lake.rows("select timeline.home_path from twins join timeline on timeline.row_id = twins.twin_row_id") == [
        (".continue/sessions/c.json",)
    ]
