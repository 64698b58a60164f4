"""The views for dashboards: facts join the dimension of sessions, and lose and double nothing."""

import os
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path

import pytest

from tests.lake import Lake, homelake, opened
from tests.made import MadeHome, at, call, exchange, ms, reply, usage, user
from tests.made_pear import MadePear, say

FACTS = {
    "fact_messages": "select row_id from timeline where kind = 'message' and repeats_row_id is null",
    "fact_calls": "select row_id from timeline where kind = 'tool_call' and repeats_row_id is null",
    "fact_tokens": "select row_id from token_usage where grain <> 'task' "
    "union all select session_key from sessions where session_id = 's9'",
}
"""Facts, and the keys of the rows that each is made of; the only task whose list states tokens has requests, too."""

DATES = ("day", "week", "month", "quarter", "started_date", "started_week", "deleted_after", "deleted_before")
MONDAY = date(2026, 9, 14)
"""The week of `T0`, a Tuesday."""


def run(call_id: str, status: str = "done", output: str | None = "ok") -> dict[str, object]:
    return call(call_id, '{"command":"ls"}', name="Bash", status=status, output=output)


def write_homes(root: Path) -> None:
    """Homes of one user at two times: Monday's has a session that Friday's lacks."""
    for day in ("2026-09-14", "2026-09-18"):
        home = MadeHome(root / day / "alice")
        paid = reply("one", run("c1"), run("c2", "canceled", "Permission denied by user"))
        paid["message"]["usage"] = {"model": "m", "prompt_tokens": 10, "completion_tokens": 5, "cost_cents": 30}
        home.session("s1", user("first"), paid)
        home.session("fork", user("first"), paid, user("second"), reply("", run("c3")), created=20)
        home.session("undated", user("when?"), created=None)
        if day == "2026-09-14":
            home.session("removed", user("gone"), reply("", run("c4", "errored", "no")), created=30)
        home.events(
            "chatInteraction",
            exchange(5, "p", "q", session="event-only"),
            exchange(6, "later", "x", session="fork"),
            exchange(31, "gone?", "y", session="removed"),
        )
        home.events(
            "toolUsage",
            usage(2, "c3", '{"command":"ls"}', name="Bash"),
            usage(86_400 * 7, "e1", name="Bash", ended="false/true"),
            usage(86_400 * 7, "e2", name="Bash", ended="false/false"),
            usage(86_400 * 7, "e3", name="ls"),
        )
        counted = {"model": "m2", "provider": "p", "promptTokens": 7, "generatedTokens": 3, "timestamp": f"{at(9)}Z"}
        home.events("tokensGenerated", counted, counted)
        home.history(("never sent", 40))
        write_task(MadePear(root / day / "alice"))


def write_task(pear: MadePear) -> None:
    """A task whose two requests cost what the list of tasks says of it again."""
    asked = [say(n, "api_req_started", {"request": "r", "tokensIn": 4, "tokensOut": 2, "cost": 0.5}) for n in (2, 3)]
    pear.ui("t1", say(1, "text", "do it"), *asked)
    pear.listed({"id": "t1", "ts": 1, "task": "do it", "tokensIn": 8, "tokensOut": 4, "totalCost": 1.0})
    pear.lines("tokens_generated", {"model": "m3", "provider": "p", "promptTokens": 2, "generatedTokens": 1})


@pytest.fixture(scope="module")
def star(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A lake of that user, and of a backup of the home beside it."""
    root = tmp_path_factory.mktemp("star")
    write_homes(root / "in")
    MadeHome(root / "in/2026-09-18/alice.bak").session("s1", user("hi"), reply("done", run("b1")), created=None)
    bob = MadeHome(root / "in/2026-09-18/bob")
    stated = {"promptTokens": 40, "completionTokens": 2, "totalCost": 0.25}
    bob.session("s9", user("hi"), reply("done", run("b1"), prompt="<user>hi"), created=50, usage=stated)
    bob.events("chatInteraction", exchange(51, "<user>hi", "done", session="s9"))
    bob.events("toolUsage", usage(55.5, "b1", '{"command":"ls"}', name="Bash"))
    for path in root.rglob("*.json"):
        os.utime(path, (ms(60) / 1000,) * 2)
    template = ("--host", "h", "--path-template", "{collected}/{user}")
    outcome = homelake("build", root / "in", *template, "-o", root / "lake", "--workers", "1")
    assert outcome.exit_code == 0, outcome.stderr
    with opened(root / "lake") as lake:
        yield lake


def all_of(lake: Lake) -> dict[str, tuple[int, int, int]]:
    """Of each fact: its rows, its keys, its rows after a join with the dimension."""
    return {
        fact: lake.row(
            f"select count(*), count(distinct row_id), (select count(*) from {fact} join dim_session using "
            f"(session_key)) from {fact}"
        )
        for fact in FACTS
    }


@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_has_the_rows_of_its_table_once(star: Lake, fact: str) -> None:
    base = star.column(FACTS[fact])

    assert len(base) > 5
    assert sorted(star.column(f"select row_id from {fact}")) == sorted(base)


@pytest.mark.parametrize("which", ["star", "corpus_lake"])
def test_an_inner_join_loses_and_doubles_nothing(which: str, request: pytest.FixtureRequest) -> None:
    lake: Lake = request.getfixturevalue(which)

    assert lake.row("select count(*) = count(distinct session_key) from dim_session") == (True,)
    assert lake.value("select count(*) from dim_session where not is_unknown") == lake.count("sessions")
    for rows, keys, joined in all_of(lake).values():
        assert rows == keys == joined > 0


@pytest.mark.parametrize(
    ("fact", "table", "columns"),
    [
        ("fact_calls", "tool_calls", ("lines_added", "lines_removed", "output_bytes")),
        ("fact_tokens", "tokens_used", ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cost_usd")),
    ],
)
def test_sums_over_the_corpus_are_those_of_the_tables(
    fact: str, table: str, columns: tuple[str, ...], corpus_lake: Lake
) -> None:
    sums = ", ".join(f"sum({column})" for column in columns)

    expected = corpus_lake.row(f"select {sums} from {table}")

    assert all(expected)
    assert corpus_lake.row(f"select {sums} from {fact}") == pytest.approx(expected)
    assert corpus_lake.row(f"select {sums} from {fact} join dim_session using (session_key)") == pytest.approx(expected)


def test_counts_over_the_corpus_are_those_of_the_tables(corpus_lake: Lake) -> None:
    assert corpus_lake.count("fact_messages") == len(corpus_lake.column(FACTS["fact_messages"]))
    assert corpus_lake.count("fact_calls") == len(corpus_lake.column(FACTS["fact_calls"]))
    assert corpus_lake.count("fact_calls", "not is_event_only") == corpus_lake.count("tool_calls")
    assert corpus_lake.count("fact_messages", "not is_copied") == corpus_lake.count("own_turns", "kind = 'message'")
    assert corpus_lake.count("dim_session", "is_deleted") == corpus_lake.count("sessions_deleted")


def test_rows_without_a_session_keep_their_host_user_and_assistant(star: Lake) -> None:
    assert star.rows(
        'select host, "user", agent, title, count(*) from fact_tokens join dim_session using (session_key) '
        "where is_unknown group by all order by agent"
    ) == [("h", "alice", "continue", "(no session)", 1 + 1), ("h", "alice", "pearai", "(no session)", 1)]


def test_there_is_one_row_without_a_session_per_host_user_and_assistant(star: Lake) -> None:
    assert star.rows('select "user", agent from dim_session where is_unknown order by all') == [
        ("alice", "continue"),
        ("alice", "pearai"),
        ("alice.bak", "continue"),
        ("bob", "continue"),
    ]


def test_a_deletion_counts_once_where_events_tell_of_the_session_still(star: Lake) -> None:
    assert star.rows("select has_file, current from sessions where session_id = 'removed' order by all") == [
        (False, True),
        (True, False),
    ]
    assert star.rows("select has_file, deleted_between from sessions_deleted where session_id = 'removed'") == [
        (True, [datetime(2026, 9, 14), datetime(2026, 9, 18)])
    ]
    assert star.count("sessions_deleted") == star.count("dim_session", "is_deleted")
    assert star.column("select has_file from dim_session where session_id = 'removed' and is_deleted") == [True]
    assert star.rows(
        "select session_id, has_file, is_deleted, started_week, deleted_after, deleted_before from dim_session "
        "where is_deleted order by session_id"
    ) == [
        ("event-only", False, True, MONDAY, None, None),
        ("removed", True, True, MONDAY, MONDAY, date(2026, 9, 18)),
    ]


def test_calls_of_events_alone_say_what_was_decided(star: Lake) -> None:
    assert star.rows(
        "select tool_name, tool_kind, decision, decision_reason, ran, failed, week from fact_calls where is_event_only "
        "order by all"
    ) == [
        ("Bash", "command", "allowed", None, True, True, date(2026, 9, 21)),
        ("Bash", "command", "denied", "user", False, False, date(2026, 9, 21)),
        ("ls", "other", "allowed", None, True, False, date(2026, 9, 21)),
    ]


def test_calls_of_sessions(star: Lake) -> None:
    assert star.rows(
        "select session_id, decision, ran, failed, is_copied, calls.current, day from fact_calls as calls "
        "join dim_session using (session_key) where not is_event_only and \"user\" = 'alice' order by 1, 2, is_copied"
    ) == [
        ("fork", "allowed", True, False, False, True, at(0).date()),
        ("fork", "allowed", True, False, True, True, at(0).date()),
        ("fork", "denied", False, False, True, True, at(0).date()),
        ("removed", "allowed", True, True, False, False, at(0).date()),
        ("s1", "allowed", True, False, False, True, at(0).date()),
        ("s1", "denied", False, False, False, True, at(0).date()),
    ]


def test_a_fork_s_and_a_copy_s_turns_and_costs_are_marked(star: Lake) -> None:
    """The event of a turn that the fork's file lacks is the fork's own."""
    assert star.rows(
        "select text, is_copied from fact_messages join timeline using (row_id) where timeline.session_id = 'fork' "
        "order by is_copied desc, text"
    ) == [("first", True), ("one", True), ("later", False), ("second", False), ("x", False)]
    assert star.pairs("select is_copied, sum(cost_usd) from fact_tokens where grain = 'reply' group by all") == {
        False: 0.3,
        True: 0.3,
    }
    assert star.rows('select "user", is_copy from dim_session where is_copy') == [("alice.bak", True)]
    assert star.count("fact_messages", "not is_copied") == star.count("own_turns", "kind = 'message'")


def test_tokens_of_a_task_count_once(star: Lake) -> None:
    assert star.rows(
        "select grain, sum(cost_usd), sum(prompt_tokens) from fact_tokens join dim_session using (session_key) "
        "where agent = 'pearai' and not is_unknown group by all"
    ) == [("request", 1.0, 8)]


def test_a_session_that_states_its_tokens_as_a_whole_alone_counts(star: Lake) -> None:
    told = "day, grain, prompt_tokens, completion_tokens, cost_usd"
    assert star.rows(
        f"""select {told} from fact_tokens join dim_session using (session_key) where "user" = 'bob'"""
    ) == [(at(55.5).date(), "session", 40, 2, 0.25)]
    assert star.rows(f"""select {told} from tokens_used where "user" = 'bob'""") == [
        (at(55.5).date(), "session", 40, 2, 0.25)
    ]


def test_undated_rows_have_no_day_and_days_are_whole(star: Lake) -> None:
    assert star.rows("select day, week from fact_tokens where model = 'm3'") == [(None, None)]
    assert star.row("select min(day), max(day), count(*) from dim_date where year = 2026") == (
        date(2026, 9, 15),
        date(2026, 9, 22),
        8,
    )
    for fact in FACTS:
        assert star.count(f"{fact} anti join dim_date using (day)", "day is not null") == 0
    assert star.row("select week, month, quarter, weekday, is_weekend from dim_date where day = '2026-09-20'") == (
        MONDAY,
        date(2026, 9, 1),
        date(2026, 7, 1),
        7,
        True,
    )


def test_seconds_are_those_between_a_call_and_its_end(star: Lake) -> None:
    """Where the event that ends a call is all that dates it, nothing is known of how long it took."""
    assert star.rows(
        'select "user", seconds from fact_calls join dim_session using (session_key) where seconds > 0'
    ) == [("bob", 4.5)]
    assert star.count("fact_calls", "seconds = 0") == 0


def test_columns_are_typed_and_described(star: Lake) -> None:
    columns = star.rows(
        "select table_name, column_name, data_type, comment from duckdb_columns() "
        "where table_name like 'fact\\_%' escape '\\' or table_name like 'dim\\_%' escape '\\'"
    )

    assert [column for column in columns if not column[3]] == []
    for _, name, kind, _ in columns:
        is_flag = name.startswith(("is_", "has_")) or name in ("ran", "failed", "current", "recovered")
        assert (kind == "BOOLEAN") >= is_flag
        assert (kind == "DATE") == (name in DATES)
        assert "[]" not in kind


def test_denied_calls_by_week(star: Lake, tmp_path: Path) -> None:
    homelake("sql", star.path, "--example", "denied_per_week", "-o", tmp_path / "denied.csv")

    assert (tmp_path / "denied.csv").read_text().splitlines() == [
        "week,host,user,denied_commands,blocked_commands,other_denied_calls,other_blocked_calls,in_copies",
        "2026-09-14,h,alice,1,0,0,0,1",
        "2026-09-21,h,alice,1,0,0,0,0",
    ]
