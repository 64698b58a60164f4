"""The cases of tasks of PearAI's agent; what is right stands in `fixtures/cases/<case>/expected.md`."""

from datetime import datetime, timedelta

from tests.conftest import BuildCase
from tests.lake import Lake, Loss, Row
from tests.test_cases_damage import CREATED

PEAR = "/home/dana/pear"
REQUEST = (
    'api_req_started: {"request":"write a parser","tokensIn":100,"tokensOut":20,"cacheWrites":0,"cacheReads":0,'
    '"cost":0.01}'
)
SAID = "select source, turn_type, text, timestamp_utc from timeline where session_id = ? order by sequence"
SESSIONS = "select session_id, agent, has_file, in_index, user_turns, assistant_turns from sessions order by all"
TOKENS = "select session_id, source, grain, prompt_tokens, completion_tokens, cost_usd from token_usage order by all"


def task_id(number: int) -> str:
    return f"0d3e{number:04x}-aaaa-4bbb-8ccc-{number:012x}"


def at(seconds: float) -> datetime:
    return CREATED + timedelta(seconds=seconds)


def wrote(source: str = "pearai.ui_messages", system: str = REQUEST, system_at: float = 1) -> list[Row]:
    """The three rows of a task that most cases hold."""
    return [
        (source, "user", "write a parser", at(0)),
        (source, "system", system, at(system_at)),
        (source, "assistant", "Working on it.", at(2)),
    ]


def stands_nowhere(lake: Lake, words: str) -> bool:
    """Whether no file of the lake and no row of a table holds some words."""
    files = [file.read_bytes() for file in lake.path.rglob("*") if file.is_file()]
    tables = lake.column("select view_name from duckdb_views() where not internal")
    return not any(words.encode() in data for data in files) and not any(
        lake.count(f'"{table}"', f"contains(\"{table}\"::varchar, '{words}')") for table in tables
    )


def test_041_two_transcripts_of_one_task(build_case: BuildCase) -> None:
    lake = build_case("041-two-transcripts-of-one-task")
    first, second, third = map(task_id, (4, 5, 6))

    assert lake.rows(SAID, first) == wrote()
    cut = 'parser: unparseable record 2 (json_truncated): {"role":"assistant","content":[{'
    assert sorted(lake.rows(SAID, second), key=lambda row: str(row[-1])) == [
        *wrote(),
        ("pearai.api_history", "system", cut, None),
    ]
    assert lake.losses() == [Loss("api_conversation_history.json", 2, "json_truncated", cut)]
    assert lake.row("select session_id, source from problems") == (second, "pearai.api_history")
    surroundings = lake.value("select text from timeline where session_id = ? and turn_type = 'system'", third)
    assert "# Current Workspace Directory (/home/dana/pear) Files" in surroundings
    assert lake.rows(SAID, third) == wrote("pearai.api_history", surroundings, 0)
    assert lake.column("select distinct project_path from timeline where session_id = ?", third) == [PEAR]
    assert lake.rows("select turn_type, count(*) from timeline where kind = 'message' group by all order by all") == [
        ("assistant", 3),
        ("user", 3),
    ]
    assert lake.rows(TOKENS) == [(task, "pearai.ui_messages", "request", 100, 20, 0.01) for task in (first, second)]
    assert lake.rows(SESSIONS) == [(task, "pearai", True, False, 1, 1) for task in (first, second, third)]
    assert lake.column("select project_path from sessions") == [PEAR] * 3


def test_042_task_index_and_folders_disagree(build_case: BuildCase) -> None:
    lake = build_case("042-task-index-and-folders-disagree")
    seven, eight, nine = map(task_id, (7, 8, 9))

    assert lake.rows(
        "select session_id, agent, has_file, in_index, project_path, title from sessions order by all"
    ) == [
        (seven, "pearai", True, True, PEAR, "write a parser"),
        (eight, "pearai", True, False, None, "write a parser"),
        (nine, "pearai", False, True, PEAR, "write a parser"),
    ]
    listed = "task: write a parser | tokensIn=100 tokensOut=20 totalCost=0.01 number={}"
    assert lake.rows(
        "select session_id, kind, text, timestamp_utc, project_path from timeline where source = 'pearai.state' "
        "order by sequence"
    ) == [(task, "task", listed.format(number), at(2), PEAR) for task, number in ((seven, 7), (nine, 9))]
    for task in (seven, eight):
        assert [row for row in lake.rows(SAID, task) if row[0] != "pearai.state"] == wrote()
    assert not lake.count("timeline", f"session_id = '{nine}' and source <> 'pearai.state'")
    assert lake.rows("select distinct session_id, project_path from timeline order by all") == [
        (seven, PEAR),
        (eight, None),
        (nine, PEAR),
    ]
    assert lake.rows(TOKENS) == [
        (seven, "pearai.state", "task", 100, 20, 0.01),
        (seven, "pearai.ui_messages", "request", 100, 20, 0.01),
        (eight, "pearai.ui_messages", "request", 100, 20, 0.01),
        (nine, "pearai.state", "task", 100, 20, 0.01),
    ]
    assert lake.rows(
        "select grain, count(*), count(distinct session_id), sum(prompt_tokens) from token_usage "
        "group by all order by all"
    ) == [("request", 2, 2, 200), ("task", 2, 2, 200)]
    assert lake.rows("select prompt_tokens, total_cost_usd from sessions") == [(100, 0.01)] * 3
    assert stands_nowhere(lake, "FAKE-SECRET")
    assert lake.has_no_problem()


def test_043_checkpoint_only_and_empty_folders(build_case: BuildCase) -> None:
    lake = build_case("043-checkpoint-only-and-empty-folders")
    checkpoints, empty, blank, metadata = map(task_id, (10, 11, 12, 13))

    assert lake.rows(SESSIONS) == [
        (checkpoints, "pearai", True, False, 0, 0),
        (empty, "pearai", True, False, 0, 0),
        (blank, "pearai", True, False, 0, 1),
        (metadata, "pearai", True, False, 0, 0),
    ]
    assert lake.rows(
        "select session_id, source, kind, turn_type, text, timestamp_utc from timeline order by session_id, sequence"
    ) == [
        (blank, "pearai.ui_messages", "message", "assistant", "answer", at(0.001)),
        (metadata, "pearai.task_metadata", "file_context", "system", "file read: a.py", at(0)),
        (metadata, "pearai.task_metadata", "file_context", "system", "file read: src\\b.py", at(0)),
        (metadata, "pearai.task_metadata", "file_context", "system", "file edit: src\\b.py", at(0.005)),
    ]
    assert stands_nowhere(lake, "NOT HISTORY")
    below = "select distinct status from artifacts where contains(path, ?)"
    assert set(lake.column(below, f"{checkpoints}/checkpoints")) <= {"known", "skipped"}
    assert not lake.column(below, empty)
    assert lake.has_no_problem()


def test_044_atomic_write_leftovers(build_case: BuildCase) -> None:
    lake = build_case("044-atomic-write-leftovers")
    whole, missing, emptied = map(task_id, (14, 15, 16))
    backup, fresh = ".ui_messages.json.bak_1789461000000_ab12.tmp", ".ui_messages.json.new_1789461000001_cd34.tmp"

    files = lake.rows(
        "select distinct session_id, parse_filename(source_file) from timeline where kind <> 'problem' order by all"
    )
    assert files == [(whole, "ui_messages.json"), (missing, backup), (emptied, fresh)]
    said = f"{SAID.partition('order by')[0]} and kind <> 'problem' order by sequence"
    for task in (whole, missing, emptied):
        assert lake.rows(said, task) == wrote()
    assert lake.losses() == [Loss("ui_messages.json", 0, "empty_file", "parser: unreadable (empty_file)")]
    assert lake.rows("select session_id, source from problems") == [(emptied, "pearai.ui_messages")]
    assert lake.rows(SESSIONS) == [(task, "pearai", True, False, 1, 1) for task in (whole, missing, emptied)]
    assert lake.column("select grain from token_usage") == ["request"] * 3
    assert lake.rows("select split_part(path, '/', 7), parse_filename(path), status from artifacts order by all") == [
        (whole, backup, "known"),
        (whole, "ui_messages.json", "parsed"),
        (missing, backup, "parsed"),
        (emptied, fresh, "parsed"),
        (emptied, "ui_messages.json", "parsed"),
    ]


def test_046_xml_tool_calls(build_case: BuildCase) -> None:
    lake = build_case("046-xml-tool-calls")

    calls = lake.rows(
        "select source_line, tool_use_id, tool_name, coalesce(command, file_path), ran, decision, decision_reason, "
        "output, session_id, actor from tool_calls order by sequence"
    )
    assert [row[:5] for row in calls] == [
        (2, "2", "read_file", "src/a.py", True),
        (2, "2.2", "execute_command", "ls", False),
        (4, "4", "execute_command", "rm -r build", False),
        (6, "6", "write_to_file", "doc.md", True),
        (10, "10", "write_to_file", "x.py", None),
    ]
    assert [row[5:7] for row in calls] == [
        ("allowed", None),
        ("unknown", None),
        ("denied", "user"),
        ("allowed", None),
        ("unknown", None),
    ]
    assert [calls[number][7] for number in (0, 3, 4)] == ["print(1)", "saved", None]
    assert {row[8:] for row in calls} == {(task_id(18), "agent")}
    assert lake.row("select trim(new_text, chr(10)) from tool_calls where file_path = 'doc.md'") == (
        "use <content> and </content> and <execute_command><command>boom</command></execute_command>",
    )
    assert not lake.count("tool_calls", "command = 'boom'")
    assert lake.row("select new_text, contains(arguments, 'half') from tool_calls where file_path = 'x.py'") == (
        None,
        True,
    )
    skipped = "Tool [execute_command] was not executed because a tool has already been used in this message."
    decided, error = (
        "permission decision: denied with feedback",
        "[ERROR] You did not use a tool in your previous response!",
    )
    prose = "The tag is written like this: `<execute_command>` without a body."
    assert lake.rows(
        "select source_line, kind, turn_type, text from timeline where kind not in ('tool_call', 'tool_result') "
        "order by sequence"
    ) == [
        (1, "message", "user", "clean up"),
        (2, "message", "assistant", "Looking."),
        (2, "message", "thinking", "plan"),
        (3, "notice", "system", skipped),
        (5, "permission_decision", "system", decided),
        (5, "message", "user", "use make clean"),
        (8, "message", "assistant", prose),
        (9, "notice", "system", error),
    ]
    assert not lake.count("timeline", "turn_type = 'tool_use' and source_line = 8")
    assert lake.rows(
        "select kind, text, tool_name, tool_use_id, timestamp_utc from timeline where source_line = 5 and kind <> "
        "'tool_result' order by sequence"
    ) == [
        ("permission_decision", decided, "execute_command", "4", at(4)),
        ("message", "use make clean", None, None, at(4)),
    ]
    assert lake.row(
        "select kind, tool_use_id, source_line from timeline where sequence = "
        "(select sequence - 1 from timeline where kind = 'permission_decision')"
    ) == ("tool_result", "4", 5)
    assert lake.value("select timestamp_utc from timeline where text = 'clean up'") == at(0)
    assert lake.has_no_problem()


def test_047_claude_messages_legacy(build_case: BuildCase) -> None:
    lake = build_case("047-claude-messages-legacy")
    api, panel = map(task_id, (19, 20))

    surroundings = lake.value("select text from timeline where session_id = ? and turn_type = 'system'", api)
    assert "# Current Workspace Directory (/home/dana/pear) Files" in surroundings
    assert lake.rows(SAID, api) == wrote("pearai.api_history", surroundings, 0)
    assert lake.rows(SAID, panel) == wrote()
    assert lake.rows("select session_id, project_path from sessions order by all") == [(api, PEAR), (panel, None)]
    assert lake.rows("select distinct session_id, project_path from timeline order by all") == [
        (api, PEAR),
        (panel, None),
    ]
    assert lake.rows(SESSIONS) == [(task, "pearai", True, False, 1, 1) for task in (api, panel)]
    assert lake.rows(TOKENS) == [(panel, "pearai.ui_messages", "request", 100, 20, 0.01)]
    assert lake.value("select utc from token_usage") == at(1)
    assert lake.rows("select parse_filename(path), bytes, status from artifacts order by bytes desc") == [
        ("claude_messages.json", 329, "parsed"),
        ("claude_messages.json", 326, "parsed"),
    ]
    assert lake.has_no_problem()
