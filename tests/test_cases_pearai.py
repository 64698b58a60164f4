"""The cases of PearAI: chat, ratings and tokens; what is right stands in `fixtures/cases/<case>/expected.md`."""

from datetime import datetime, timedelta
from pathlib import Path

from tests.conftest import BuildCase, OpenLake
from tests.lake import Loss, homelake
from tests.made import reply, user
from tests.made_pear import LOG, MadePear, completion, replied, request, sent
from tests.test_cases_damage import CREATED, session_id

PEAR = "/home/dana/pear"


def test_036_pear_search_history_only(build_case: BuildCase) -> None:
    lake = build_case("036-pear-search-history-only")
    chat, search = session_id(0x66), session_id(0x65)

    assert lake.rows(
        "select session_id, agent, started_utc, project_path, title, integration_type from sessions order by all"
    ) == [
        (search, "pearai", CREATED, PEAR, "Pear chat", "perplexity"),
        (chat, "pearai", CREATED, PEAR, "Pear chat", "continue"),
    ]
    assert lake.rows(
        "select session_id, turn_type, text, source_line from timeline where kind = 'message' "
        "order by session_id, sequence"
    ) == [
        (search, "user", "compare b-trees", 1),
        (search, "assistant", "See links.", 2),
        (chat, "user", "h1", 1),
        (chat, "assistant", "h2", 2),
        (chat, "user", "s1", 3),
        (chat, "assistant", "s2", 4),
    ]
    assert lake.rows(
        "select session_id, text, source_line from timeline where kind = 'model' order by session_id, sequence"
    ) == [(search, "model: pplx", 2), (chat, "model: pearai_model", 2)]
    before = lake.rows(
        "select next.text from timeline as model join timeline as next on next.source_file = model.source_file "
        "and next.sequence = model.sequence + 1 where model.text = 'model: pearai_model'"
    )
    assert before == [("h2",)]
    cited = lake.rows("select session_id, provider, name, uri, source_line, row_id from context_items")
    assert [row[:-1] for row in cited] == [(search, "citation", "A", "https://example.org/a", 2)] * 2
    assert cited[0][-1] != cited[1][-1]
    assert lake.column("select text from timeline where kind = 'session' order by session_id") == [
        "session start: Pear chat items=2",
        "session start: Pear chat items=4",
    ]
    assert lake.has_no_problem()


def test_038_pear_dev_data(build_case: BuildCase) -> None:
    lake = build_case("038-pear-dev-data")
    session = session_id(0x68)
    rated = "user feedback: {} (from dev_data/chat.jsonl)"

    assert lake.rows(
        "select source_line, kind, turn_type, text, session_id, timestamp_utc, recovered from timeline "
        "where source = 'pearai.chat_feedback' order by sequence"
    ) == [
        (1, "feedback", "system", rated.format("true"), session, None, False),
        (2, "message", "user", "p2", session, None, True),
        (2, "message", "assistant", "c2", session, None, True),
        (2, "feedback", "system", rated.format("false"), session, None, False),
        (3, "message", "user", "p3", None, None, True),
        (3, "message", "assistant", "c3", None, None, True),
        (3, "feedback", "system", rated.format("true"), None, None, False),
    ]
    own = lake.rows(
        "select turn_type, text, timestamp_utc, row_id from timeline "
        "where source = 'pearai.chat_session' and kind = 'message' order by sequence"
    )
    assert [row[:-1] for row in own] == [("user", "p", None), ("assistant", "c", None)]
    assert lake.rows(
        "select source_line, turn_type, text, twin_row_id, seconds_apart from twins order by sequence"
    ) == [(1, turn, text, row_id, None) for turn, text, _, row_id in own]
    assert lake.column(
        f"select distinct project_path from timeline where session_id = '{session}' "
        f"union select distinct project_path from twins where session_id = '{session}'"
    ) == [PEAR]
    generated = "tokens generated: model=m provider={} promptTokens={} generatedTokens={}"
    first, second, third = lake.column(
        "select text from timeline where source = 'pearai.tokens_generated' and timestamp_utc is null order by sequence"
    )
    assert (first, second) == (generated.format("pearai-server", 10, 2), generated.format("pearai-server", 20, 3))
    assert third.startswith("tokens generated: model=m provider=x promptTokens=")
    assert third.endswith("generatedTokens=1")
    assert lake.rows("select grain, utc, prompt_tokens, completion_tokens from token_usage order by source_line") == [
        ("request", None, 10, 2),
        ("request", None, 20, 3),
        ("request", None, None, 1),
    ]
    assert lake.row("select sum(prompt_tokens), sum(completion_tokens) from token_usage") == (30, 6)
    assert lake.notes() == [("tokens_generated.jsonl", 3, "wrong_type")]
    assert lake.losses() == []


def test_039_placeholder_overwrote_history(build_case: BuildCase) -> None:
    lake = build_case("039-placeholder-overwrote-history")

    assert lake.rows(
        "select agent, title, user_turns, assistant_turns, damaged, started_utc from sessions where agent = 'pearai'"
    ) == [("pearai", "Failed to load session", 1, 0, False, CREATED)]
    assert lake.column("select text from timeline where agent = 'pearai' and kind = 'message'") == ["hello again"]
    assert lake.has_no_problem()


def test_049_output_channel_logs(build_case: BuildCase) -> None:
    lake = build_case("049-output-channel-logs")

    lost = "parser: unparseable record (unexpected_record): "
    assert lake.rows(
        "select source, source_line, timestamp_utc, session_id, text from timeline order by source_file"
    ) == [
        ("pearai.output_log", 1, None, None, f"{lost}first\nsecond"),
        ("pearai.output_log", 1, None, None, f"{lost}other window"),
    ]
    assert lake.losses() == [
        Loss("1-PearAI.log", 1, "unexpected_record", f"{lost}{text}") for text in ("first\nsecond", "other window")
    ]
    assert lake.column("select source from problems") == ["pearai.output_log"] * 2
    assert lake.notes() == []
    for words in ("extension activated", "[subtasks] paused", "half a li"):
        assert not lake.count("timeline", f"contains(timeline::varchar, '{words}')")
        assert not lake.count("problems", f"contains(problems::varchar, '{words}')")
    assert not lake.count("sessions")
    assert lake.pairs("select parse_filename(path) || ' ' || split_part(path, '/', 5), status from artifacts") == {
        "1-PearAI.log window1": "parsed",
        "1-PearAI.log window2": "parsed",
        "3-Roo-Code.log window1": "known",
    }


def test_066_tokens_in_sqlite_and_jsonl(build_case: BuildCase) -> None:
    lake = build_case("066-tokens-in-sqlite-and-jsonl")

    assert lake.rows(
        "select source, parse_filename(source_file), grain, utc, prompt_tokens, completion_tokens from token_usage "
        "order by source_line"
    ) == [
        ("pearai.tokens_generated", "tokens_generated.jsonl", "request", None, prompt, completion)
        for prompt, completion in ((10, 1), (10, 1), (40, 4))
    ]
    rows = lake.rows("select source_line, timestamp_utc, text, model, row_id from timeline order by source_line")
    text = "tokens generated: model=m provider=p promptTokens={} generatedTokens={}"
    assert [row[:-1] for row in rows] == [
        (1, None, text.format(10, 1), "m"),
        (2, None, text.format(10, 1), "m"),
        (3, None, text.format(40, 4), "m"),
    ]
    assert len({row[-1] for row in rows}) == 3
    assert lake.pairs("select path, status from artifacts") == {
        ".pearai/dev_data/devdata.sqlite": "known",
        ".pearai/dev_data/tokens_generated.jsonl": "parsed",
    }
    assert lake.has_no_problem()


SESSION = "9b1c2d3e-0000-4000-8000-000000000001"
TASK = "1759400100000"


def reference_home(path: Path) -> None:
    """The records that the reference of PearAI's format shows."""
    home, model = MadePear(path), {"completionOptions": {"model": "pearai_model"}}
    context = {
        "content": "set -e\nmake all",
        "name": "build.sh",
        "description": "/home/alice/proj/build.sh",
        "id": {"providerTitle": "file", "itemId": "build.sh"},
    }
    log = {**model, "prompt": "<user>why does build.sh fail", "completion": "The make target is missing."}
    home.chat(
        SESSION,
        user("why does build.sh fail") | {"contextItems": [context]},
        reply("The make target is missing.") | {"promptLogs": [log]},
        created=1759400000000,
        title="why does build.sh fail",
        workspaceDirectory="/home/alice/proj",
    )
    said = {**model, "prompt": "<user>\nadd the target\n\n", "completion": "Added `all:` to the Makefile."}
    home.lines("chat", {**said, "feedback": True, "sessionId": SESSION})
    home.lines(
        "tokens_generated",
        {"model": "pearai_model", "provider": "pearai_server", "promptTokens": 120, "generatedTokens": 9},
    )
    settings = {"contextLength": 8192, "model": "pearai_model", "maxTokens": 4096}
    home.file(LOG, request("<user>\nadd the target\n\n", **settings) + completion("Added `all:` to the Makefile."))
    home.api(
        TASK,
        sent(None, "<task>\nrun the tests\n</task>") | {"ts": 1759400100000},
        replied(None, "<execute_command>\n<command>npm test</command>\n</execute_command>") | {"ts": 1759400103000},
        sent(None, "[execute_command for 'npm test'] Result:", "12 passing") | {"ts": 1759400109000},
        sent(None, "[execute_command for 'rm -rf build'] Result:", "The user denied this operation.")
        | {"ts": 1759400125000},
    )


def test_records_of_the_reference(tmp_path: Path, open_lake: OpenLake) -> None:
    reference_home(tmp_path / "home")

    outcome = homelake("build", tmp_path / "home", "-o", tmp_path / "lake", "--workers", "1")

    assert "checks    all passed" in outcome.stdout
    lake = open_lake(tmp_path / "lake")
    created, asked = datetime(2025, 10, 2, 10, 13, 20), datetime(2025, 10, 2, 10, 15)
    target, added = "add the target", "Added `all:` to the Makefile."
    assert lake.rows(
        "select split_part(source, '.', 2), source_line, turn_type, text, model, timestamp_utc, recovered from "
        "timeline order by source, sequence"
    ) == [
        ("api_history", 1, "user", "run the tests", None, asked, False),
        ("api_history", 2, "tool_use", "npm test", None, asked + timedelta(seconds=3), False),
        ("api_history", 3, "tool_result", "12 passing", None, asked + timedelta(seconds=9), False),
        (
            "api_history",
            4,
            "tool_result",
            "The user denied this operation.",
            None,
            asked + timedelta(seconds=25),
            False,
        ),
        ("api_history", 4, "system", "permission decision: denied", None, asked + timedelta(seconds=25), False),
        ("chat_feedback", 1, "user", target, None, None, True),
        ("chat_feedback", 1, "assistant", added, "pearai_model", None, True),
        ("chat_feedback", 1, "system", "user feedback: true (from dev_data/chat.jsonl)", None, None, False),
        ("chat_session", 0, "system", "session start: why does build.sh fail items=2", None, created, False),
        ("chat_session", 1, "user", "why does build.sh fail", None, created, False),
        ("chat_session", 2, "system", "model: pearai_model", "pearai_model", created, False),
        ("chat_session", 2, "assistant", "The make target is missing.", "pearai_model", created, False),
        ("output_log", 3, "system", "model: pearai_model", "pearai_model", None, False),
        ("output_log", 3, "user", target, None, None, True),
        ("output_log", 15, "assistant", added, "pearai_model", None, True),
        (
            *("tokens_generated", 1, "system"),
            "tokens generated: model=pearai_model provider=pearai_server promptTokens=120 generatedTokens=9",
            *("pearai_model", None, False),
        ),
    ]
    assert lake.rows(
        "select distinct split_part(source, '.', 2), session_id, project_path from timeline order by all"
    ) == [
        ("api_history", TASK, None),
        ("chat_feedback", SESSION, "/home/alice/proj"),
        ("chat_session", SESSION, "/home/alice/proj"),
        ("output_log", None, None),
        ("tokens_generated", None, None),
    ]
    assert lake.rows(
        "select kind, tool_name, tool_use_id from timeline where tool_name is not null order by sequence"
    ) == [
        ("tool_call", "execute_command", "2"),
        ("tool_result", "execute_command", "2"),
        ("tool_result", "execute_command", None),
        ("permission_decision", "execute_command", None),
    ]
    assert lake.rows("select provider, name, description, content from context_items") == [
        ("file", "build.sh", "/home/alice/proj/build.sh", "set -e\nmake all")
    ]
    assert lake.has_no_problem()
