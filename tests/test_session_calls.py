"""What a session's calls tell by themselves: the cases' values, and what only both files' ways of reading share."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from parsers.continue_session import SOURCE
from tests.staged import BYTE_ORDER_MARK, Staged, session, staged
from tests.test_session_handed import WAYS, called, reply

FIXTURES = Path(__file__).parent.parent / "fixtures"
FILES = sorted(FIXTURES.glob("corpus/homes/*/.continue/sessions/*-*.json"))
Row = tuple[object, ...]


def case(name: str) -> dict[str, Staged]:
    """The session files of a case's only home, staged, by their names."""
    files = sorted(FIXTURES.glob(f"cases/{name}*/home/.continue/sessions/*.json"))
    return {file.stem: staged(SOURCE, file.read_bytes()) for file in files if file.stem != "sessions"}


def only(name: str, *columns: str) -> list[Row]:
    """Columns of the calls of a case's only session file."""
    (found,) = case(name).values()
    assert found.notes() == []
    return found.rows("calls", *columns)


def named(name: str, *columns: str) -> dict[object, Row]:
    """The same by the calls' ids."""
    (found,) = case(name).values()
    drafts = found.frames["drafts"].filter(kind="tool_call").sort("call_no")
    return dict(zip(drafts["tool_use_id"], only(name, *columns), strict=True))


JUDGED = ("decision", "decision_reason", "ran")
ALLOWED, DENIED, BLOCKED = ("allowed", None, True), ("denied", "user", False), ("blocked", "policy", False)
NOT_RUN, OPEN = ("unknown", None, False), ("unknown", None, None)


def test_014_legacy_single_toolcallstate() -> None:
    told = only("014", "tool_kind", "command", "arguments", "exit_code", "typed", *JUDGED)

    assert told == [("command", "make lint", '{"command":"make lint"}', None, None, *ALLOWED)]


def test_015_reused_tool_call_ids() -> None:
    told = only("015", "file_path", "command", *JUDGED)

    assert told == [
        ("a", None, *ALLOWED),
        ("b", None, *ALLOWED),
        ("c", None, *OPEN),
        (None, "whoami", *OPEN),
        (None, None, *OPEN),
    ]


def test_017_canceled_is_not_refused() -> None:
    """A call that ran and was neither denied nor blocked is allowed, also a canceled one."""
    assert only("017", "command", "exit_code") == [("a", None)] * 7
    assert named("017", *JUDGED) == {
        "none": NOT_RUN,
        "emptylist": NOT_RUN,
        "rejected": DENIED,
        "stopped": ALLOWED,
        "streamed_empty": ALLOWED,
        "toolitem": ALLOWED,
        "err": ALLOWED,
    }


def test_018_cli_permission_and_bang_shell() -> None:
    assert named("018", *JUDGED) == {
        "d1": DENIED,
        "d2": BLOCKED,
        "d3": ALLOWED,
        "shell-1789461060000-k3q9zz": ALLOWED,
        "shell-abc": ALLOWED,
    }
    typed = named("018", "typed", "command")
    text, command = typed.pop("shell-1789461060000-k3q9zz")
    assert text == f"!{command}"
    assert {text for text, _ in typed.values()} == {None}


def test_019_toolusage_join() -> None:
    assert [found.rows("calls", "command", *JUDGED) for found in case("019").values()] == [
        [("x", *ALLOWED)],
        [("x", *ALLOWED)],
    ]


def test_071_edit_text_kept() -> None:
    columns = ("tool_kind", "file_path", "old_text", "new_text", "lines_added", "lines_removed", *JUDGED)

    assert only("071", *columns) == [
        ("edit", "a.py", "x = 1\r\n", "x = 2\r\n", 1, 1, *ALLOWED),
        ("edit", "b.py", "1\né", "2\ne", 2, 2, *ALLOWED),
        ("edit", "c.py", None, None, None, None, *NOT_RUN),
        ("edit", "d.py", None, None, None, None, *ALLOWED),
    ]


def stated(name: str, *output: Mapping[str, object], lead: bytes = b"", **state: object) -> Staged:
    """One call with its state."""
    function = {"name": name, "arguments": state.pop("arguments", "{}")}
    whole = {"toolCallId": "c", "toolCall": {"id": "c", "function": function}, **state, "output": list(output)}
    return staged(SOURCE, lead + session(reply() | {"toolCallStates": [whole]}))


def result(content: str, **fields: object) -> dict[str, object]:
    return {"name": "Tool Result", "content": content, **fields}


@WAYS
@pytest.mark.parametrize(
    ("tool", "status", "output", "kind"),
    [
        ({"uri": "mcp://tickets/create"}, "done", {"name": "Tickets", "content": "x"}, "mcp"),
        ({"uri": "https://tools/x"}, "done", {"name": "Tickets", "content": "x"}, "other"),
        ({"uri": 5}, "done", {"name": "Tickets", "content": "x"}, "other"),
        ({}, "generated", {"name": "Tickets", "content": "x"}, "other"),
        (None, "done", result('[{"type":"text","text":"x"}]'), "mcp"),
        (None, "canceled", result("Permission denied by user"), "mcp"),
        (None, "errored", result("Tool create_ticket not found"), "other"),
        (None, "errored", result('Required parameter "title" missing for tool "create_ticket"'), "other"),
    ],
)
def test_tools_of_mcp_servers(tool: object, status: str, output: dict[str, object], kind: str, lead: bytes) -> None:
    found = stated("create_ticket", output, lead=lead, tool=tool, status=status)

    assert found.rows("calls", "tool_kind") == [(kind,)]
    assert found.notes() == []


def test_served_tool_of_a_name_of_the_assistants_own_is_the_servers() -> None:
    found = stated("read_file", tool={"uri": "mcp://files/read_file"}, parsedArgs={"path": "a"}, status="done")

    assert found.rows("calls", "tool_kind", "file_path") == [("mcp", "a")]


@WAYS
@pytest.mark.parametrize(
    ("stored", "command", "reasons"),
    [
        ({"arguments": '{"command":"a\\u0000"}'}, "a\ufffd", ["nul_character"]),
        ({"arguments": '{"command":"a\\ud83d"}'}, "a\ufffd", ["lone_surrogate"]),
        ({"parsedArgs": {"command": "a\0"}, "arguments": "x"}, "a\ufffd", ["nul_character"]),
        ({"parsedArgs": {"command": "a\ud83d"}, "arguments": "x"}, "a\ufffd", ["lone_surrogate"]),
        ({"parsedArgs": {"command": "a\0"}, "arguments": ""}, "a\ufffd", ["nul_character"]),
        ({"parsedArgs": "x", "arguments": '{"command":"a'}, None, []),
    ],
)
def test_texts_of_arguments_are_clean(
    stored: dict[str, object], command: str | None, reasons: list[str], lead: bytes
) -> None:
    found = stated("Bash", lead=lead, **stored)

    assert found.rows("calls", "command") == [(command,)]
    assert {(line, reason) for line, reason, _ in found.notes()} == {(1, reason) for reason in reasons}


@WAYS
def test_arguments_are_kept_as_they_were_sent(lead: bytes) -> None:
    """The parsed ones, which the assistant ran, tell what the call did."""
    found = stated("Bash", lead=lead, arguments='{"command": "echo broken', parsedArgs={"command": "echo broken"})

    assert found.rows("calls", "arguments", "command") == [('{"command": "echo broken', "echo broken")]


def test_bad_bytes_of_parsed_arguments_are_noted() -> None:
    data = session(reply() | {"toolCallStates": [{"toolCall": {"function": {"name": "Bash", "arguments": "x"}}}]})

    found = staged(SOURCE, data.replace(b'"toolCall"', b'"parsedArgs":{"command":"\xbc\xdb\xb8"},"toolCall"'))

    assert found.rows("calls", "command") == [("\ufffd\u06f8",)]
    assert found.notes() == [(1, "invalid_utf8", None)]


@pytest.mark.parametrize(("key", "line"), [(b'"role"', 1), (b'"history"', 0)])
def test_bad_bytes_in_the_name_of_a_field_are_noted(key: bytes, line: int) -> None:
    found = staged(SOURCE, session(reply()).replace(key, key[:3] + b"\xff" + key[4:], 1))

    assert found.notes() == [(line, "invalid_utf8", None)]


@pytest.mark.parametrize(
    ("status", "answer", "judged"),
    [
        ("generated", "Tool Bash not found", NOT_RUN),
        ("canceled", "Permission denied by user", DENIED),
        ("canceled", "late output", ALLOWED),
        ("canceled", "", NOT_RUN),
        ("canceled", " \n", NOT_RUN),
        (None, "text", ALLOWED),
        (None, "", OPEN),
    ],
)
def test_a_tool_message_tells_what_became_of_the_call(status: str | None, answer: str, judged: Row) -> None:
    call = {"id": "c", "function": {"name": "Bash", "arguments": "{}"}}
    states = [{"toolCallId": "c", "toolCall": call, "status": status}] if status else []
    tool = {"message": {"role": "tool", "toolCallId": "c", "content": answer}}

    found = staged(SOURCE, session({**reply(toolCalls=[call]), "toolCallStates": states}, tool))

    assert found.rows("calls", *JUDGED) == [judged]


def test_exit_codes() -> None:
    failed = "Error executing tool Bash: Error (exit code 2): no such file"

    assert stated("Bash", result(failed), status="errored").rows("calls", "exit_code") == [(2,)]
    assert stated("Bash", result(failed), status="done").rows("calls", "exit_code") == [(None,)]
    terminal = {"name": "Terminal", "content": "x", "status": "Command failed with exit code 3"}
    assert stated("run_terminal_command", terminal, status="done").rows("calls", "exit_code") == [(3,)]


def test_call_without_a_state_tells_no_edit() -> None:
    arguments = {"file_path": "a", "old_string": "b", "new_string": "c"}

    found = staged(SOURCE, session(called("Edit", "c", arguments)))

    assert found.rows("calls", "file_path", "old_text", "new_text", *JUDGED) == [("a", None, None, *OPEN)]


@WAYS
def test_tool_definition_of_another_type_is_noted(lead: bytes) -> None:
    found = stated("Bash", lead=lead, tool="Bash", parsedArgs={"command": "ls"})

    assert found.rows("calls", "command") == [("ls",)]
    assert found.notes() == [(1, "wrong_type", "tool")]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_real_files_tell_the_same_in_either_way(file: Path) -> None:
    data = file.read_bytes()

    fast, careful = staged(SOURCE, data), staged(SOURCE, BYTE_ORDER_MARK + data)

    assert fast.records.count == careful.records.count
    for name in ("calls", "tokens", "prompt_logs", "drafts", "contexts"):
        assert fast.frames[name].equals(careful.frames[name]), name
