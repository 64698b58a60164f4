"""What calls say, what became of them, and how many lines they change: one table per question."""

import json
import random

import msgspec
import pytest

from parsers._call_outcome import (
    ALLOWED,
    BLOCKED,
    DENIED,
    NOT_RUN,
    OPEN,
    Outcome,
    agent_exit_code,
    agent_outcome,
    exit_code,
    outcome,
)
from parsers._calls import Said, read_call, without_left_alone
from parsers._line_changes import line_changes
from parsers._text import Cleaner
from parsers._tool_names import tool_kind
from tests.bounded import ending


def said(name: str, *arguments: object, is_done: bool = True) -> Said:
    return read_call(name, arguments, is_done=is_done, cleaner=Cleaner())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Bash", "command"),
        ("run_terminal_command", "command"),
        ("builtin_run_terminal_command", "command"),
        ("execute_command", "command"),
        ("Read", "read"),
        ("read_file_range", "read"),
        ("builtin_read_currently_open_file", "read"),
        ("Write", "write"),
        ("create_new_file", "write"),
        ("write_to_file", "write"),
        ("newFileCreated", "write"),
        ("Edit", "edit"),
        ("MultiEdit", "edit"),
        ("edit_existing_file", "edit"),
        ("apply_diff", "edit"),
        ("appliedDiff", "edit"),
        ("Search", "search"),
        ("file_glob_search", "search"),
        ("builtin_exact_search", "search"),
        ("search_and_replace_in_file", "edit"),
        ("searchFiles", "search"),
        ("List", "list"),
        ("ls", "list"),
        ("listFilesRecursive", "list"),
        ("Fetch", "fetch"),
        ("fetch_url_content", "fetch"),
        ("use_mcp_tool", "mcp"),
        ("use_mcp_server", "mcp"),
        ("Subagent", "subagent"),
        ("new_task", "subagent"),
        ("Checklist", "other"),
        ("create_ticket", "other"),
        ("bash", "other"),
        ("", "other"),
        (None, "other"),
    ],
)
def test_tool_kind_of_a_name(name: str | None, kind: str) -> None:
    assert tool_kind(name) == kind


def test_tool_kind_of_a_tool_that_was_there() -> None:
    assert tool_kind("create_ticket", is_served=True) == "mcp"
    assert tool_kind("Checklist", is_served=True) == "other"


@pytest.mark.parametrize(
    ("name", "arguments", "command", "path"),
    [
        ("Bash", {"command": "make lint", "timeout": 5}, "make lint", None),
        ("builtin_run_terminal_command", {"command": " a\n"}, " a\n", None),
        ("execute_command", {"command": "ls", "path": "x"}, "ls", "x"),
        ("Bash", {"command": ""}, "", None),
        ("Bash", {"command": ["ls", "-l"]}, None, None),
        ("attempt_completion", {"command": "ls"}, None, None),
        ("create_ticket", {"command": "ls"}, None, None),
        ("Read", {"filepath": "a"}, None, "a"),
        ("Edit", {"file_path": "a"}, None, "a"),
        ("UploadArtifact", {"filePath": "a"}, None, "a"),
        ("ls", {"dirPath": "a", "recursive": True}, None, "a"),
        ("List", {"dirpath": "a"}, None, "a"),
        ("Search", {"pattern": "p", "path": "a"}, None, "a"),
        ("move_file", {"path": "a"}, None, "a"),
        ("Read", {"path": "b", "filepath": "a"}, None, "a"),
        ("Read", {"filepath": "", "path": "b"}, None, "b"),
        ("Read", {"filepath": 5, "path": ["b"]}, None, None),
        ("Read", {"filename": "a"}, None, None),
    ],
)
def test_command_and_path(name: str, arguments: dict[str, object], command: str | None, path: str | None) -> None:
    text = json.dumps(arguments)

    for stored in (arguments, text, msgspec.Raw(text.encode()), json.dumps(text)):
        assert said(name, stored)[:2] == (command, path)
    assert said(name, arguments, is_done=False)[:2] == (command, path)


@pytest.mark.parametrize(
    "stored",
    [
        (msgspec.Raw(b'{"command":"a"}'), '{"command":"b"}'),
        (msgspec.Raw(b"{}"), '{"command":"a"}'),
        (msgspec.Raw(b"null"), '{"command":"a"}'),
        (msgspec.Raw(), '{"command":"a"}'),
        (None, '{"command":"a"}'),
        (None, "", '{"command":"a"}'),
        (msgspec.Raw(b'"{\\"command\\":\\"a\\"}"'), ""),
        ("a string", {"command": "a"}),
        (None, ' {"command":"b","command":"a"} '),
    ],
)
def test_first_arguments_that_are_an_object(stored: tuple[object, ...]) -> None:
    assert said("Bash", *stored).command == "a"


@pytest.mark.parametrize(
    "stored",
    [
        "",
        "{}",
        "null",
        "5",
        '"a string"',
        '["command"]',
        '{"command":"a"',
        '{"command":"a"}{"command":"b"}',
        '{"command":NaN}',
        "[" * 100_000,
        '{"command":' + "[" * 100_000,
        json.dumps(json.dumps(json.dumps('{"command":"a"}'))),
        5,
        None,
        ["command"],
    ],
)
def test_arguments_that_are_no_object_say_nothing(stored: object) -> None:
    assert said("Bash", stored) == Said()


def test_raw_arguments_with_bad_bytes_are_refused() -> None:
    with pytest.raises(UnicodeDecodeError):
        said("Bash", msgspec.Raw(b'{"command":"\xff"}'))


@pytest.mark.parametrize(
    ("text", "command", "reasons"),
    [
        ('{"command":"a\\u0000b"}', "a\ufffdb", {"nul_character"}),
        ('{"command":"a\\ud83db"}', "a\ufffdb", {"lone_surrogate"}),
        (' {"command":"a\\ud83db"}\n', "a\ufffdb", {"lone_surrogate"}),
        ('{"command":"\\ud83d\\ude00"}', "\U0001f600", set()),
        ('{"command":"a","other":"\\u0000\\ud83d"}', "a", set()),
        (json.dumps('{"command":"\\ud83d\\u0000"}'), "\ufffd\ufffd", {"lone_surrogate", "nul_character"}),
    ],
)
def test_texts_hidden_in_escapes_are_cleaned(text: str, command: str, reasons: set[str]) -> None:
    cleaner = Cleaner()

    found = read_call("Bash", (text,), is_done=True, cleaner=cleaner)

    assert found.command == command
    assert cleaner.reasons == reasons


@pytest.mark.parametrize(
    ("name", "arguments", "old", "new"),
    [
        ("Edit", {"old_string": "a", "new_string": "b"}, "a", "b"),
        ("single_find_and_replace", {"old_string": "x\r\n", "new_string": ""}, "x\r\n", ""),
        ("Edit", {"new_string": "b"}, None, "b"),
        ("Edit", {"old_string": 5, "new_string": "b"}, None, "b"),
        (
            "multi_edit",
            {"edits": [{"old_string": "1", "new_string": "2"}, {"old_string": "é", "new_string": "e"}]},
            "1\né",
            "2\ne",
        ),
        ("MultiEdit", {"edits": [5, {"new_string": "2"}, {"new_string": None}]}, None, "2"),
        ("MultiEdit", {"edits": "x"}, None, None),
        ("Write", {"content": "all\n"}, None, "all\n"),
        ("create_new_file", {"contents": ""}, None, ""),
        ("write_to_file", {"content": "all", "line_count": "1"}, None, "all"),
        ("insert_content", {"content": "more"}, None, "more"),
        ("edit_existing_file", {"changes": "// ... existing code ...\nx\n"}, None, "x\n"),
        ("builtin_edit_existing_file", {"changes": "x"}, None, "x"),
        ("Edit", {"changes": "x"}, None, None),
        ("move_text", {"old_string": "a", "new_string": "b"}, "a", "b"),
        ("create_ticket", {"content": "x"}, None, None),
        ("readFile", {"content": "/home/dana/a.py"}, None, None),
        ("Read", {"old_string": "a"}, None, None),
    ],
)
def test_edit_of_a_call_that_is_done(name: str, arguments: object, old: str | None, new: str | None) -> None:
    assert said(name, arguments)[2:4] == (old, new)
    assert said(name, arguments, is_done=False)[2:] == (None, None, None, None)


@pytest.mark.parametrize(
    ("line", "is_left_out"),
    [
        ("// ... existing code ...", True),
        ("    # ... existing code ...", True),
        ("# ... existing code", True),
        ("//...existing code...", True),
        ("/* ... existing code ... */", True),
        ("{/* ... existing code ... */}", True),
        ("<!-- ... existing code ... -->", True),
        ("-- ... Existing Code ...", True),
        ("; ... existing code ...\r", True),
        ("REM ... existing code ...", True),
        ("// ... existing imports ...", True),
        ("// … rest of code …", True),
        ("// ... the remaining methods ...", True),
        ("/* ... unchanged ... */", True),
        ("", False),
        ("...", False),
        ("    ...", False),
        ("# ...", False),
        ("// keep the existing code", False),
        ("// ...existing users keep theirs", False),
        ("// loading ... please wait ...", False),
        ("... existing code ...", False),
        ('print("... existing code ...")', False),
        ("x = 1  # ... existing code ...", False),
        ("// ... existing code ... " + "x" * 200, False),
    ],
)
def test_lines_that_stand_for_code_left_alone(line: str, is_left_out: bool) -> None:
    kept = "a\n" if is_left_out else f"a\n{line}\n"

    assert without_left_alone(f"a\n{line}\nb") == kept + "b"


@pytest.mark.parametrize(
    ("old", "new", "added", "removed"),
    [
        (None, None, None, None),
        ("", None, None, None),
        ("", "", None, None),
        ("x = 1\r\n", "x = 2\r\n", 1, 1),
        (None, "a\nb\n", 2, 0),
        ("a\nb", "", 0, 2),
        ("a\nb", "a\nb\n", 0, 0),
        ("a\nb\nc", "a\nc", 0, 1),
        ("a\nc", "a\nb\nc", 1, 0),
        ("a\nb\nc\nd", "b\na\nd\nc", 2, 2),
        ("a\n\nb", "a\n\n\nb", 1, 0),
        ("\n", "\n\n", 1, 0),
        ("a", "a\nb", 1, 0),
    ],
)
def test_line_changes(old: str | None, new: str | None, added: int | None, removed: int | None) -> None:
    assert line_changes(old, new) == (added, removed)


def test_line_changes_are_those_of_a_shortest_diff() -> None:
    dice = random.Random(7)

    for _ in range(300):
        old, new = ([dice.choice("abc") for _ in range(dice.randint(1, 12))] for _ in range(2))
        same = _longest_common(old, new)
        assert line_changes("\n".join(old), "\n".join(new)) == (len(new) - same, len(old) - same)


def _longest_common(old: list[str], new: list[str]) -> int:
    above = [0] * (len(new) + 1)
    for line in old:
        row = [0]
        for n, other in enumerate(new):
            row.append(above[n] + 1 if line == other else max(above[n + 1], row[n]))
        above = row
    return above[-1]


@pytest.mark.parametrize("shape", [(300_000, 300_000), (500_000, 40), (4_000, 4_000)])
def test_line_changes_of_large_texts_are_bounded(shape: tuple[int, int]) -> None:
    old, new = (
        "\n".join(str(n * step % 977) for n in range(lines)) for lines, step in zip(shape, (7, 11), strict=True)
    )

    with ending():
        added, removed = line_changes("first\n" + old, "other\n" + new)

    assert added is not None
    assert removed is not None
    assert (added - removed) == shape[1] - shape[0]


@pytest.mark.parametrize(
    ("status", "output", "names", "expected"),
    [
        ("done", None, [], ALLOWED),
        ("done", "", ["Edit"], ALLOWED),
        ("done", "Permission denied by user", ["Tool Result"], ALLOWED),
        ("done", "Tool x not found", ["Tool Result"], ALLOWED),
        ("canceled", "Permission denied by user", ["Tool Result"], DENIED),
        ("canceled", " Permission denied by user\n", [None], DENIED),
        ("generated", "Permission denied by user", [], DENIED),
        ("canceled", "The person skipped it", ["Tool Call Rejected"], DENIED),
        ("canceled", "Command blocked by security policy", ["Tool Result"], BLOCKED),
        ("errored", "no", ["Security Policy Violation"], BLOCKED),
        ("errored", "no", ["Terminal", "Security Policy Violation"], BLOCKED),
        ("errored", "it failed because ...", ["Invalid Tool Call"], NOT_RUN),
        ("errored", "Tool Nonesuch not found", ["Tool Result"], NOT_RUN),
        ("generated", "Tool Nonesuch not found", [], NOT_RUN),
        ("errored", 'Required parameter "filepath" missing for tool "Read"', ["Tool Result"], NOT_RUN),
        ("errored", "Error checking permissions for Bash: x", ["Tool Result"], NOT_RUN),
        (
            "errored",
            '"Premature Close" error: this tool call was aborted mid-stream because the arguments took too long',
            ["Tool Call Error"],
            NOT_RUN,
        ),
        ("canceled", None, [], NOT_RUN),
        ("canceled", "", ["Terminal"], ALLOWED),
        ("canceled", "partial", ["Terminal"], ALLOWED),
        ("canceled", "late output", [], ALLOWED),
        ("errored", "Error executing tool Bash: Error (exit code 2): x", ["Tool Result"], ALLOWED),
        ("errored", "Error executing tool Read: Tool Read not found", ["Tool Result"], ALLOWED),
        ("errored", "Read it first", ["Tool Result"], ALLOWED),
        ("errored", "x failed with the message: y", ["Tool Call Error"], ALLOWED),
        ("errored", "Tool list\nwas not found", ["Tool Result"], ALLOWED),
        ("calling", "partial", ["Tool Result"], ALLOWED),
        (None, "text", [], ALLOWED),
        ("calling", None, [], OPEN),
        ("generated", None, [], OPEN),
        ("generating", None, [], OPEN),
        ("errored", None, [], OPEN),
        (None, None, [], OPEN),
    ],
)
def test_outcome(status: str | None, output: str | None, names: list[str | None], expected: Outcome) -> None:
    assert outcome(status, output, names) == expected


def test_outcomes_are_consistent() -> None:
    assert [(o.decision, o.reason, o.ran) for o in (ALLOWED, DENIED, BLOCKED, NOT_RUN, OPEN)] == [
        ("allowed", None, True),
        ("denied", "user", False),
        ("blocked", "policy", False),
        ("unknown", None, False),
        ("unknown", None, None),
    ]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (None, OPEN),
        ("", ALLOWED),
        ("12 passing", ALLOWED),
        ("The user denied this operation.", DENIED),
        ("\nThe user denied this operation and provided the following feedback:\n<feedback>\nno\n</feedback>", DENIED),
        ("The user approved this operation and provided the following context:\n<feedback>", ALLOWED),
        ("He wrote: The user denied this operation.", ALLOWED),
        ("Tool [execute_command] was not executed because a tool has already been used in this message.", NOT_RUN),
        ("Skipping tool [execute_command for 'a\nb'] due to user rejecting a previous tool.", NOT_RUN),
        ("Tool [ls] was interrupted and not executed due to user rejecting a previous tool.", NOT_RUN),
        ("Tool [x] ran", ALLOWED),
    ],
)
def test_outcome_of_the_agent(result: str | None, expected: Outcome) -> None:
    assert agent_outcome(result) == expected


@pytest.mark.parametrize(
    ("status", "output", "item_statuses", "code"),
    [
        ("errored", "Error executing tool Bash: Error (exit code 2): no such file", [None], 2),
        ("errored", "Bash command failed: Error (exit code 127): sh: x: not found", [], 127),
        ("errored", "Error executing tool Bash: Error (exit code -1): x", [], -1),
        ("errored", "Error executing tool Bash: Error (exit code null): killed", [], None),
        ("errored", "Error executing tool Bash: Error: spawn", [], None),
        ("errored", "It said: Error executing tool Bash: Error (exit code 2)", [], None),
        ("done", "Error executing tool Bash: Error (exit code 2): quoted", [None], None),
        ("done", "out", ["Command failed with exit code 3"], 3),
        ("done", "out", ["Command completed", "Command failed with exit code 3"], 3),
        ("done", "out", ["\nBackground command failed with exit code 1"], 1),
        ("done", "out", ["Command completed"], None),
        ("done", "out", ["Command failed with exit code 0"], None),
        ("done", "out", ["Command failed with: spawn sh ENOENT", 5, None, {}], None),
        ("done", "Command failed with exit code 3", [""], None),
        ("errored", "Error executing tool Bash: Error (exit code 99999999999999999999): x", [], None),
        ("canceled", None, [], None),
    ],
)
def test_exit_code(status: str | None, output: str | None, item_statuses: list[object], code: int | None) -> None:
    assert exit_code(status, output, item_statuses) == code


IN = "Command executed in terminal  within working directory '/home/dana'."


@pytest.mark.parametrize(
    ("result", "code"),
    [
        (f"{IN} Exit code: 0\nOutput:\nok", None),
        (f"{IN} Command execution was not successful, inspect the cause.\nExit code: 2\nOutput:\nExit code: 7", 2),
        (f"{IN}\nNOTICE: the directory changed. Command execution was not ok.\nExit code: 1\nOutput:\n", 1),
        (f"{IN} Exit code: <undefined, notify user>\nOutput:\n", None),
        (f"{IN} Process terminated by signal SIGKILL\nOutput:\nExit code: 7", None),
        ("Exit code: 7\nOutput:\n", None),
        ("12 passing", None),
    ],
)
def test_exit_code_of_the_agent(result: str, code: int | None) -> None:
    assert agent_exit_code(result) == code
