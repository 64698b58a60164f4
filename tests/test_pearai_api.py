"""History between the agent and its model: rows, calls and their results, decisions, what the agent adds."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from parsers.pearai_api_history import SOURCE
from tests.bounded import ending
from tests.source_files import FIXTURES, Staged
from tests.tasks import (
    T0,
    TASK,
    TASKS,
    Json,
    calls,
    corpus_tasks,
    moments,
    one,
    stage_fixtures,
    stage_task,
    unaccounted,
)

ENVIRONMENT = (
    "<environment_details>\n# Current Workspace Directory (/home/dana/pear) Files\na.py\n</environment_details>"
)
DENIED = "The user denied this operation."
READ = "<read_file>\n<path>a.py</path>\n</read_file>"
RUN = "<execute_command>\n<command>ls</command>\n</execute_command>"
SHOWN = ("line", "kind", "turn_type", "text")


def feedback(lead: str, said: str) -> str:
    return f"{lead}\n<feedback>\n{said}\n</feedback>"


DENIED_WITH = feedback("The user denied this operation and provided the following feedback:", "use make")
IMAGE_PART = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QQ"}}
APPROVED_WITH = feedback("The user approved this operation and provided the following context:", "go on")


def user(*parts: object) -> Json:
    return {"role": "user", "content": [p if isinstance(p, dict) else {"type": "text", "text": p} for p in parts]}


def assistant(*parts: object) -> Json:
    return {**user(*parts), "role": "assistant"}


def stage(folder: Path, *messages: Json) -> Staged:
    """Stage messages, a second apart where they state no time."""
    return stage_task(SOURCE, folder, [{"ts": T0 + 1000 * n, **message} for n, message in enumerate(messages)])


def said(folder: Path, *parts: object) -> list[tuple[Any, ...]]:
    """Kind, turn type and text of the rows of one message of the user's."""
    found = stage(folder, user(*parts))
    assert unaccounted(found) == []
    return found.rows("kind", "turn_type", "text")


def answered(folder: Path, *parts: object, reply: str = RUN) -> Staged:
    """Stage a reply with a call, and what answers it."""
    found = stage(folder, assistant(reply), user(*parts))
    assert unaccounted(found) == []
    return found


def test_case_041_rows() -> None:
    found = stage_fixtures(SOURCE, "cases/041-two-transcripts-of-one-task")

    whole = [
        (1, "message", "user", "write a parser"),
        (1, "notice", "system", ENVIRONMENT),
        (2, "message", "assistant", "Working on it."),
    ]
    assert [found.rows(*SHOWN, of=n) for n in range(3)] == [whole, whole[:2], whole]
    assert moments(found)[:3] == [T0, T0, T0 + 2000]
    assert found.losses() == [
        (2, "json_truncated", 'parser: unparseable record 2 (json_truncated): {"role":"assistant","content":[{')
    ]
    assert set(found.rows("standby")) == {(True,)}
    projects = [head["project_path"] for head in found.frames["session_files"].to_dicts()]
    assert projects == ["/home/dana/pear"] * 3
    assert unaccounted(found) == []


def test_case_046_rows() -> None:
    found = stage_fixtures(SOURCE, "cases/046-xml-tool-calls")

    shown = found.rows(*SHOWN, "tool_name", "tool_use_id")
    content = "use <content> and </content> and <execute_command><command>boom</command></execute_command>"
    doc = json.dumps({"path": "doc.md", "content": content, "line_count": "1"}, separators=(",", ":"))
    denial = (
        "The user denied this operation and provided the following feedback:\n<feedback>\nuse make clean\n</feedback>"
    )
    skipped = "Tool [execute_command] was not executed because a tool has already been used in this message."
    assert shown == [
        (1, "message", "user", "clean up", None, None),
        (2, "message", "assistant", "Looking.", None, None),
        (2, "message", "thinking", "plan", None, None),
        (2, "tool_call", "tool_use", '{"path":"src/a.py"}', "read_file", "2"),
        (2, "tool_call", "tool_use", "ls", "execute_command", "2.2"),
        (3, "tool_result", "tool_result", "print(1)", "read_file", "2"),
        (3, "notice", "system", skipped, None, None),
        (4, "tool_call", "tool_use", "rm -r build", "execute_command", "4"),
        (5, "tool_result", "tool_result", denial, "execute_command", "4"),
        (5, "permission_decision", "system", "permission decision: denied with feedback", "execute_command", "4"),
        (5, "message", "user", "use make clean", None, None),
        (6, "tool_call", "tool_use", doc, "write_to_file", "6"),
        (7, "tool_result", "tool_result", "saved", "write_to_file", "6"),
        (8, "message", "assistant", "The tag is written like this: `<execute_command>` without a body.", None, None),
        (9, "notice", "system", "[ERROR] You did not use a tool in your previous response!", None, None),
        (10, "tool_call", "tool_use", '{"path":"x.py","content":"half"}', "write_to_file", "10"),
    ]
    assert moments(found)[9] == T0 + 4000
    assert found.losses() == found.notes() == []
    assert unaccounted(found) == []


def test_case_046_calls() -> None:
    found = stage_fixtures(SOURCE, "cases/046-xml-tool-calls")

    shown = calls(found, "command", "file_path", "ran", "decision", "decision_reason", "output", "new_text")
    assert [row[:5] for row in shown] == [
        (None, "src/a.py", True, "allowed", None),
        ("ls", None, False, "unknown", None),
        ("rm -r build", None, False, "denied", "user"),
        (None, "doc.md", True, "allowed", None),
        (None, "x.py", None, "unknown", None),
    ]
    assert [row[5] for row in shown if row[3] != "denied"] == ["print(1)", None, "saved", None]
    content = "use <content> and </content> and <execute_command><command>boom</command></execute_command>"
    assert [row[6] for row in shown] == [None, None, None, content, None]
    assert "half" in calls(found, "arguments")[4][0]


def test_decisions_alone_do_not_stand_by() -> None:
    found = stage_fixtures(SOURCE, "cases/046-xml-tool-calls")

    assert {kind for kind, standby in found.rows("kind", "standby") if not standby} == {"permission_decision"}


@pytest.mark.parametrize(
    ("answer", "decision", "told"),
    [
        (DENIED, "denied", None),
        (f"{DENIED} ", "denied", None),
        (DENIED_WITH, "denied with feedback", "use make"),
        (f"{DENIED_WITH}\n\n<file_content path='a'>\n</file_content>", "denied with feedback", "use make"),
        ("It said: The user denied this operation.", None, None),
    ],
)
def test_decisions_follow_their_results(answer: str, decision: str | None, told: str | None, tmp_path: Path) -> None:
    found = answered(tmp_path, "[execute_command for 'ls'] Result:", answer)

    expected = [("tool_result", answer.strip(), "execute_command", "1", 0)]
    if decision:
        expected.append(("permission_decision", f"permission decision: {decision}", "execute_command", "1", 0))
    rows = found.rows("kind", "text", "tool_name", "tool_use_id", "call_no")[1:]
    assert rows == [*expected, *([("message", told, None, None, None)] if told else [])]
    (judged,) = calls(found, "decision", "ran")
    assert judged == (("denied", False) if decision else ("allowed", True))


def test_approval_with_a_note_comes_before_the_result(tmp_path: Path) -> None:
    header = "[execute_command for 'ls'] Result:"

    found = answered(tmp_path, header, APPROVED_WITH, header, "a.py")

    assert found.rows("kind", "text", "call_no")[1:] == [
        ("tool_result", APPROVED_WITH, 0),
        ("permission_decision", "permission decision: approved with feedback", 0),
        ("message", "go on", None),
        ("tool_result", "a.py", 0),
    ]
    assert calls(found, "output", "decision", "ran") == [("a.py", "allowed", True)]


def test_feedback_in_a_block_of_its_own(tmp_path: Path) -> None:
    lead = "The user denied this operation and provided the following feedback:"

    found = answered(tmp_path, "[execute_command for 'ls'] Result:", lead, "<feedback>\nuse make\n</feedback>")

    assert found.rows("kind", "turn_type", "text")[2:] == [
        ("permission_decision", "system", "permission decision: denied with feedback"),
        ("message", "user", "use make"),
    ]


def test_feedback_about_tags_is_whole(tmp_path: Path) -> None:
    lead = "The user denied this operation and provided the following feedback:"

    found = answered(tmp_path, "[execute_command for 'ls'] Result:", feedback(lead, "no </feedback> in <feedback>"))

    assert found.rows("kind", "text")[3:] == [("message", "no </feedback> in <feedback>")]


@pytest.mark.parametrize("note", [[APPROVED_WITH], APPROVED_WITH.split("\n", 1), [APPROVED_WITH, IMAGE_PART]])
@pytest.mark.parametrize("output", [None, "a.py"])
def test_approval_with_a_note_lets_the_call_run(note: list[object], output: str | None, tmp_path: Path) -> None:
    """The tool's output stands behind it, under one header, or the task ended there."""
    found = answered(tmp_path, "[execute_command for 'ls'] Result:", *note, *([output] if output else []))

    assert [text for kind, text in found.rows("kind", "text") if kind == "message"] == ["go on"]
    assert calls(found, "decision", "ran") == [("allowed", True)]
    assert output is None or calls(found, "output") == [(output,)]


@pytest.mark.parametrize(
    ("lead", "said"),
    [
        ("The user has provided feedback on the results. Consider their input.", "more"),
        (
            "Command is still running in terminal from '/x'.\n<feedback>no</feedback>\n"
            "The user provided the following feedback:",
            "stop",
        ),
        ("Command is still running in the user's terminal.\n\nThe user provided the following feedback:", "stop"),
    ],
)
def test_feedback_without_a_decision(lead: str, said: str, tmp_path: Path) -> None:
    found = answered(tmp_path, "[execute_command for 'ls'] Result:", feedback(lead, said))

    assert found.rows("kind", "turn_type", "text")[2:] == [("message", "user", said)]


def test_feedback_in_a_tools_own_output_is_its_own(tmp_path: Path) -> None:
    found = answered(tmp_path, "[execute_command for 'ls'] Result:", "x <feedback>y</feedback>")

    assert [turn for (turn,) in found.rows("turn_type")] == ["tool_use", "tool_result"]


@pytest.mark.parametrize(
    ("reply", "header"),
    [
        (RUN, "[execute_command for 'ls'] Result:"),
        (RUN, "[execute_command for 'a ] b] Result: c'] Result:"),
        ("<attempt_completion>\n<result>x</result>\n</attempt_completion>", "[attempt_completion] Result:"),
        ("<switch_mode>\n<mode_slug>a</mode_slug>\n</switch_mode>", "[switch_mode to 'a' because: b] Result:"),
        ("<new_task>\n<mode>a</mode>\n</new_task>", "[new_task in Code mode: 'x\ny'] Result:"),
        ("<search_files>\n<regex>a</regex>\n</search_files>", "[search_files for 'a' in '*.py'] Result:"),
        (READ, "[read_file Result]\n\n"),
    ],
)
def test_headers_of_results(reply: str, header: str, tmp_path: Path) -> None:
    found = answered(tmp_path, header, "out", reply=reply)

    assert found.rows("turn_type", "text", "call_no")[1:] == [("tool_result", "out", 0)]


def test_result_in_the_block_of_its_header(tmp_path: Path) -> None:
    found = answered(tmp_path, "[execute_command for 'ls'] Result:\n\nout\nmore")

    assert found.rows("text")[1:] == [("out\nmore",)]


def test_first_block_of_a_result_is_what_the_tool_said(tmp_path: Path) -> None:
    found = answered(tmp_path, "[execute_command for 'ls'] Result:", "[ERROR] no", ENVIRONMENT)

    assert found.rows("turn_type", "text")[1:] == [("tool_result", "[ERROR] no"), ("system", ENVIRONMENT)]


@pytest.mark.parametrize(
    "output", [f"[execute_command for 'rm x'] Result: {DENIED}", f"{ENVIRONMENT} of a file", f"<task>{RUN}</task>"]
)
def test_output_that_looks_like_the_agents_own_is_of_the_call(output: str, tmp_path: Path) -> None:
    found = answered(tmp_path, "[read_file for 'a.py'] Result:", output, ENVIRONMENT, reply=READ)

    rows = found.rows("kind", "text")
    assert rows[1:] == [("tool_result", output), ("notice", ENVIRONMENT)]
    assert calls(found, "output", "decision") == [(output, "allowed")]


def test_blocks_of_a_result_are_joined(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "iVBOR"}}

    found = answered(tmp_path, "[execute_command for 'ls'] Result:", "  out", image, " more", ENVIRONMENT)

    assert found.rows("text")[1] == ("out\n[image]\n more",)


def test_results_pair_by_position(tmp_path: Path) -> None:
    reply = f"{READ}\n<read_file>\n<path>b.py</path>\n</read_file>\n{RUN}"

    found = answered(
        tmp_path,
        *("[read_file for 'a.py'] Result:", "A", "[read_file for 'b.py'] Result:", "B"),
        *("[execute_command for 'ls'] Result:", "C"),
        reply=reply,
    )

    assert [row for row in found.rows("text", "tool_use_id", "call_no") if len(row[0]) == 1] == [
        ("A", "1", 0),
        ("B", "1.2", 1),
        ("C", "1.3", 2),
    ]
    assert calls(found, "output") == [("A",), ("B",), ("C",)]


def test_failure_that_is_told_twice_is_of_one_call(tmp_path: Path) -> None:
    header, skipped = (
        "[read_file for 'a.py'] Result:",
        "Tool [read_file] was not executed because a tool has already been used",
    )
    reply = f"{READ}\n<read_file>\n<path>b.py</path>\n</read_file>"

    found = answered(tmp_path, header, "one", header, "two", skipped, reply=reply)

    assert calls(found, "output", "ran") == [("one\n\ntwo", True), (None, False)]


def test_result_of_no_call_stays_with_its_tools_name(tmp_path: Path) -> None:
    found = stage(
        tmp_path,
        *(assistant(READ), user("[read_file for 'a.py'] Result:", "x")),
        user("[read_file for 'b.py'] Result:", "y"),
        *(assistant("words"), user("[execute_command for 'ls'] Result:", "z")),
    )

    results = [
        row[1:] for row in found.rows("kind", "text", "tool_name", "tool_use_id", "call_no") if row[0] == "tool_result"
    ]
    assert results == [("x", "read_file", "1", 0), ("y", "read_file", None, None), ("z", "execute_command", None, None)]
    assert calls(found, "output") == [("x",)]


def test_subtask_answers_the_call_that_began_it(tmp_path: Path) -> None:
    found = stage(
        tmp_path,
        assistant("<new_task>\n<mode>a</mode>\n<message>m</message>\n</new_task>"),
        user("[new_task in Code mode: 'm'] Result:", "Successfully created new task"),
        user("[new_task completed] Result: all done"),
    )

    assert found.rows("text", "call_no")[1:] == [("Successfully created new task", 0), ("all done", 0)]


@pytest.mark.parametrize(
    "block",
    [
        "Tool [execute_command] was not executed because a tool has already been used in this message. Only one.",
        "Skipping tool [execute_command for 'ls'] due to user rejecting a previous tool.",
        "Tool [execute_command for 'ls'] was interrupted and not executed due to user rejecting a previous tool.",
    ],
)
def test_call_that_was_passed_over_did_not_run(block: str, tmp_path: Path) -> None:
    found = answered(tmp_path, block)

    assert found.rows("kind", "turn_type", "text")[1:] == [("notice", "system", block)]
    assert calls(found, "ran", "decision", "output", "status") == [(False, "unknown", None, None)]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (
            "Command executed in terminal  within working directory '/x'. Exit code: 0\nOutput:\nok",
            ("done", "allowed", True, None),
        ),
        (
            "Command executed in terminal  within working directory '/x'. Command execution was not successful, "
            "inspect the cause and adjust as needed.\nExit code: 2\nOutput:\nno",
            ("done", "allowed", True, 2),
        ),
        (
            "The tool execution failed with the following error:\n<error>\nx\n</error>",
            ("errored", "allowed", True, None),
        ),
        (DENIED, ("canceled", "denied", False, None)),
        ("Changes were rejected by the user.", ("canceled", "denied", False, None)),
        (
            "The tool execution failed with the following error:\n<error>\nAccess to .env is blocked by the "
            ".pearai-agent-ignore file settings. You must\n</error>",
            ("canceled", "blocked", False, None),
        ),
    ],
)
def test_what_became_of_a_call(output: str, expected: tuple[object, ...], tmp_path: Path) -> None:
    found = answered(tmp_path, "[execute_command for 'ls'] Result:", output)

    columns = ("status", "decision", "ran", "exit_code")
    assert calls(found, *columns, "command", "tool_kind", "output") == [(*expected, "ls", "command", output)]


def test_edit_that_failed_writes_nothing(tmp_path: Path) -> None:
    reply = "<write_to_file>\n<path>a</path>\n<content>x</content>\n</write_to_file>"
    failed = "The tool execution failed with the following error:\n<error>\nx\n</error>"

    found = answered(tmp_path, "[write_to_file for 'a'] Result:", failed, reply=reply)

    assert calls(found, "file_path", "new_text", "tool_kind") == [("a", None, "write")]


MENTION = '<file_content path="a">\nx\n</file_content>'
MEMORIES = "<memories>\nlikes tea\n</memories>"
RESUMED = "[TASK RESUMPTION] This task was interrupted just now."
NO_TOOL = "[ERROR] You did not use a tool"


@pytest.mark.parametrize(
    ("parts", "rows"),
    [
        (["<task>\nfix it\n</task>"], [("user", "fix it")]),
        (["<task>\nthe tag </task> ends it\n</task>"], [("user", "the tag </task> ends it")]),
        ([f"<task>\nof </task> 'a'\n</task>\n\n{MENTION}"], [("user", f"of </task> 'a'\n\n{MENTION}")]),
        (["<task>\ncut"], [("user", "cut")]),
        ([f"<task>\nfix 'a'\n</task>\n\n{MENTION}"], [("user", f"fix 'a'\n\n{MENTION}")]),
        ([f"<task>\nold\n</task>\n\n{ENVIRONMENT}"], [("user", "old"), ("system", ENVIRONMENT)]),
        (
            ["<task>\nx\n</task>", MEMORIES, {"type": "image"}, ENVIRONMENT],
            [("user", "x\n[image]"), ("system", MEMORIES), ("system", ENVIRONMENT)],
        ),
        ([RESUMED], [("system", RESUMED)]),
        ([NO_TOOL], [("system", NO_TOOL)]),
        (["a", " b\n"], [("user", "a\n b")]),
        (["[read_file] is a tool"], [("user", "[read_file] is a tool")]),
        (["[other for 'x'] Result:", "y"], [("user", "[other for 'x'] Result:\ny")]),
        ([{"type": "text", "text": 5}], [("user", "5")]),
        ([{"type": "odd", "x": 1.0}], [("user", '{"type":"odd","x":1}')]),
        (["", "  "], []),
        ([], []),
    ],
)
def test_messages_of_the_user(parts: list[object], rows: list[tuple[str, str]], tmp_path: Path) -> None:
    kinds = {"user": "message", "system": "notice"}

    assert said(tmp_path, *parts) == [(kinds[turn], turn, text) for turn, text in rows]


def test_call_for_help_hands_on_what_the_user_said(tmp_path: Path) -> None:
    lead = "You seem to be having trouble proceeding. The user has provided the following feedback to help guide you:"

    assert said(tmp_path, feedback(lead, "try b")) == [
        ("notice", "system", feedback(lead, "try b")),
        ("message", "user", "try b"),
    ]


@pytest.mark.parametrize("content", ["hello", [{"type": "text", "text": "hello"}], ["hello"]])
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_content_is_a_text_or_parts(role: str, content: object, tmp_path: Path) -> None:
    found = stage(tmp_path, {"role": role, "content": content})

    assert found.rows("kind", "turn_type", "text") == [("message", role, "hello")]
    assert found.notes() == []


@pytest.mark.parametrize(("content", "text"), [({"a": 1.0}, '{"a":1}'), (5, "5"), (True, "true")])
def test_content_of_another_type_is_kept_as_json(content: object, text: str, tmp_path: Path) -> None:
    found = stage(tmp_path, {"role": "user", "content": content})

    assert found.texts() == [text]
    assert found.notes() == [(1, "wrong_type", "content")]


def test_message_without_content_is_silent(tmp_path: Path) -> None:
    found = stage(
        tmp_path, {"role": "user"}, {"role": "assistant", "content": None}, {"role": "assistant", "content": " "}
    )

    assert found.texts() == []
    assert found.silent() == 3
    assert unaccounted(found) == []


def test_other_role_is_told(tmp_path: Path) -> None:
    assert stage(tmp_path, {"role": "system", "content": "be kind"}).rows("kind", "turn_type", "text") == [
        ("message", "system", "system: be kind")
    ]


def test_native_calls_and_results(tmp_path: Path) -> None:
    """Histories from before the tags."""
    use = {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a", "n": 1.0}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "x"}, {"type": "image"}]}
    stray = {"type": "tool_result", "tool_use_id": "t9", "content": "y"}

    found = stage(
        tmp_path, assistant("Reading.", use, {"type": "thinking", "thinking": "hm"}), user(result, stray, "ok")
    )

    assert found.rows("turn_type", "text", "tool_name", "tool_use_id", "call_no") == [
        ("assistant", "Reading.", None, None, None),
        ("tool_use", '{"path":"a","n":1}', "read_file", "t1", 0),
        ("thinking", "hm", None, None, None),
        ("tool_result", "x\n[image]", "read_file", "t1", 0),
        ("tool_result", "y", None, "t9", None),
        ("user", "ok", None, None, None),
    ]
    assert calls(found, "file_path", "output", "ran") == [("a", "x\n[image]", True)]
    assert unaccounted(found) == []


def test_call_amid_words_is_one_where_the_agent_answered_it(tmp_path: Path) -> None:
    reply = "I read.<read_file><path>a.py</path></read_file>"

    assert calls(answered(tmp_path, "[read_file for 'a.py'] Result:", "x", reply=reply), "output") == [("x",)]
    assert calls(answered(tmp_path, "[ERROR] You did not use a tool", reply=reply), "output") == []


def test_call_without_parameters_keeps_what_stands_in_it(tmp_path: Path) -> None:
    found = stage(tmp_path, assistant("<execute_command>\nls\n</execute_command>"))

    assert found.rows("turn_type", "text") == [("tool_use", "ls")]
    assert calls(found, "command", "arguments") == [(None, "ls")]


def test_times_and_keys(tmp_path: Path) -> None:
    found = stage(tmp_path, user("a"), {**user("b"), "ts": None}, {**user("c"), "ts": "x"})

    assert found.rows("text", "own_basis", "keyed_by_text") == [
        ("a", "record", False),
        ("b", None, True),
        ("c", None, False),
    ]
    assert found.notes() == [(3, "bad_timestamp", "ts")]
    assert one(found, "session_files")["first_utc"].isoformat() == "2026-09-15T08:30:00"


def test_session_is_the_folder(tmp_path: Path) -> None:
    other = ENVIRONMENT.replace("/home/dana/pear", "/other")

    session = one(
        stage(tmp_path, user("<task>\n fix \nit\n</task>", "x"), user(ENVIRONMENT), user(other)), "session_files"
    )

    assert session["session_id"] == TASK
    assert (session["workspace_directory"], session["first_text"]) == ("/home/dana/pear", "fix")
    assert session["messages"] is None


@pytest.mark.parametrize(
    ("element", "reason"),
    [(5, "not_an_object"), ({"content": "x"}, "wrong_type"), ({"role": 5}, "wrong_type"), ([], "not_an_object")],
)
def test_elements_that_are_no_message(element: object, reason: str, tmp_path: Path) -> None:
    found = stage_task(SOURCE, tmp_path, [element, user("hi")])

    text = json.dumps(element, separators=(",", ":"))
    assert found.losses() == [(1, reason, f"parser: unparseable record 1 ({reason}): {text}")]
    assert found.texts() == ["hi"]
    assert unaccounted(found) == []


def test_damage_costs_one_message(tmp_path: Path) -> None:
    messages = [
        json.dumps(message) for message in (assistant(READ), user("x" * 9), user("[read_file for 'a.py'] Result:", "y"))
    ]

    found = stage_task(SOURCE, tmp_path, f"[{','.join(messages)}]".replace("xxxx", "\0\0\0\0").encode())

    assert [(line, reason) for line, reason, _ in found.losses()] == [(2, "zero_filled")]
    assert calls(found, "output") == [("y",)]
    assert unaccounted(found) == []


def test_case_047_rows(tmp_path: Path) -> None:
    (path,) = (FIXTURES / "cases/047-claude-messages-legacy/home" / TASKS).glob("0d3e0013-*/claude_messages.json")

    found = stage_task(SOURCE, tmp_path, path.read_bytes(), "claude_messages.json")

    assert found.rows(*SHOWN) == [
        (1, "message", "user", "write a parser"),
        (1, "notice", "system", ENVIRONMENT),
        (2, "message", "assistant", "Working on it."),
    ]
    assert one(found, "session_files")["project_path"] == "/home/dana/pear"


def test_corpus_holds_every_message() -> None:
    """Counted by the tags and headers in the parts' texts."""
    files = [messages for _, messages in corpus_tasks("api_conversation_history.json")]
    found = stage_fixtures(SOURCE, "corpus")
    parts = [
        (message["role"], part if isinstance(part, dict) else {"type": "text", "text": part})
        for messages in files
        for message in messages
        for part in (message["content"] if isinstance(message["content"], list) else [message["content"]])
    ]
    texts = [(role, part["text"]) for role, part in parts if part["type"] == "text"]
    opened = Counter(
        tag for role, text in texts if role == "assistant" for tag in re.findall(r"(?m)^<([a-z_]+)>$", text)
    )
    headers = [text for role, text in texts if role == "user" and re.fullmatch(r"\[[a-z_]+ .*\] Result:", text)]
    native = sum(part["type"] == "tool_result" for _, part in parts)

    turns = Counter(found.rows("kind", "turn_type"))

    assert len(files) == len(found.reads) == 4
    assert found.losses() == []
    assert [reason for _, reason, _ in found.notes()] == ["lone_surrogate"]
    tools = Counter(tool for kind, tool in found.rows("kind", "tool_name") if kind == "tool_call")
    assert tools == {tag: count for tag, count in opened.items() if tag != "result"}
    assert turns["tool_result", "tool_result"] == len(headers) + native == 4
    assert turns["permission_decision", "system"] == sum("The user denied" in text for _, text in texts) == 1
    assert turns["message", "thinking"] == sum("<thinking>" in text for _, text in texts) == 1
    assert turns["notice", "system"] == sum(text.startswith("<environment_details>") for _, text in texts) == 1
    assert [text for _, text in texts if text.startswith("<task>")] == [
        f"<task>\n{text.removesuffix(chr(10) + '[image]')}\n</task>"
        for kind, turn, text in found.rows("kind", "turn_type", "text")
        if (kind, turn) == ("message", "user") and text not in ("string content", "no, do not touch prod")
    ]
    assert unaccounted(found) == []


@pytest.mark.parametrize(
    "messages",
    [
        [assistant(READ * 10_000), user(*["[read_file for 'a.py'] Result:", "x"] * 10_000)],
        [user(*["x"] * 50_000)],
        [user("[read_file for 'a'] Result:", DENIED_WITH + "<feedback>" * 100_000)],
        [user("[read_file for '" + "]" * 1_000_000)],
        [user(*["Tool [read_file] was not executed because a tool has already been used"] * 20_000)],
        [user("<environment_details>\n# Current Workspace Directory (" * 20_000 + "</environment_details>")],
        [assistant(READ), user("[read_file for 'a.py'] Result:", "x")] * 5_000,
    ],
    ids=["calls", "parts", "feedback", "header", "skipped", "surroundings", "turns"],
)
def test_hostile_histories_take_no_time(messages: list[Json], tmp_path: Path) -> None:
    with ending():
        found = stage(tmp_path, *messages)

    assert unaccounted(found) == []
