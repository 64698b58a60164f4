"""Tool calls in a reply: what is a call, what is prose, what is file content, what is thinking."""

import json

import pytest

from parsers._xml_calls import Call, Said, split
from tests.bounded import ending
from tests.source_files import FIXTURES

WRITE = "<write_to_file><path>a</path><content>x</content></write_to_file>"
READ = "<read_file>\n<path>a.py</path>\n</read_file>"


def said(reply: str, *answered: str) -> list[str]:
    """Words of a reply that are not blank."""
    return [piece.text.strip() for piece in split(reply, answered) if isinstance(piece, Said) and piece.text.strip()]


def calls(reply: str, *answered: str) -> list[tuple[str, dict[str, str]]]:
    return [(piece.tool, piece.arguments) for piece in split(reply, answered) if isinstance(piece, Call)]


def thinking(reply: str) -> list[str]:
    return [piece.text for piece in split(reply) if isinstance(piece, Said) and piece.is_thinking]


def test_call_with_words_around_it() -> None:
    reply = f"Looking.\n\n{READ}\n\nDone."

    assert calls(reply) == [("read_file", {"path": "a.py"})]
    assert said(reply) == ["Looking.", "Done."]


def test_parameter_of_an_earlier_version_is_an_argument() -> None:
    reply = "<read_file>\n<path>a.py</path>\n<auto_truncate>true</auto_truncate>\n</read_file>"

    assert calls(reply) == [("read_file", {"path": "a.py", "auto_truncate": "true"})]


def test_reply_without_tags_is_said_whole() -> None:
    assert split("a < b > c\n  d ") == [Said("a < b > c\n  d ")]


@pytest.mark.parametrize(
    "reply",
    [
        "The tag is written like this: `<execute_command>` without a body.",
        "Use <read_file><path>a</path></read_file> to read.",
        "<execute_command> runs a command.",
        "`<read_file>` `<write_to_file>`",
        "<unknown_tool><path>a</path></unknown_tool>",
        "<READ_FILE>\n<path>a</path>\n</READ_FILE>",
    ],
)
def test_tag_amid_words_is_prose(reply: str) -> None:
    assert split(reply) == [Said(reply)]


def test_tag_amid_words_is_a_call_where_the_agent_answered_it() -> None:
    reply = "I use `<read_file>` now.<read_file><path>a.py</path></read_file>"

    assert calls(reply) == []
    assert calls(reply, "execute_command") == []
    assert calls(reply, "read_file") == [("read_file", {"path": "a.py"})]


def test_tag_amid_words_stays_prose_where_another_call_was_answered() -> None:
    reply = f"Use <read_file><path>b</path></read_file>:\n{READ}"

    assert calls(reply, "read_file") == [("read_file", {"path": "a.py"})]


@pytest.mark.parametrize("lead", ["", "  ", "\t", "<thinking>plan</thinking>", f"{READ}"])
def test_tag_alone_on_its_line_is_a_call(lead: str) -> None:
    assert calls(f"{lead}<list_files><path>.</path></list_files>")[-1] == ("list_files", {"path": "."})


def test_tags_in_file_content_are_content() -> None:
    content = "use <content> and </content> and <execute_command><command>boom</command></execute_command>"
    inner = f"<path>d</path>\n<content>\n{content}\n</content>\n<line_count>1</line_count>"
    reply = f"<write_to_file>\n{inner}\n</write_to_file>"

    assert calls(reply) == [("write_to_file", {"path": "d", "content": content, "line_count": "1"})]


def test_last_closing_tag_ends_file_content() -> None:
    content = "a\n</content>\n</write_to_file>\nb"
    reply = f"<write_to_file>\n<path>d</path>\n<content>\n{content}\n</content>\n</write_to_file>\nDone."

    assert calls(reply) == [("write_to_file", {"path": "d", "content": content})]
    assert said(reply) == ["Done."]


@pytest.mark.parametrize("between", ["\n\n", "\n", " ", ""])
def test_file_content_does_not_reach_into_the_next_call(between: str) -> None:
    write = "<write_to_file>\n<path>{0}</path>\n<content>\n{0}\n</content>\n</write_to_file>"

    assert calls(write.format("a") + between + write.format("b")) == [
        ("write_to_file", {"path": "a", "content": "a"}),
        ("write_to_file", {"path": "b", "content": "b"}),
    ]


@pytest.mark.parametrize(("tool", "parameter"), [("insert_content", "content"), ("apply_diff", "diff")])
def test_content_of_other_edits_reaches_to_its_last_closing_tag(tool: str, parameter: str) -> None:
    text = f"x </{parameter}> <read_file>"

    assert calls(f"<{tool}>\n<{parameter}>{text}</{parameter}>\n</{tool}>") == [(tool, {parameter: text})]


def test_parameter_ends_at_its_first_closing_tag() -> None:
    reply = "<execute_command>\n<command>echo '</execute_command>' <path></command>\n<cwd>/x</cwd>\n</execute_command>"

    assert calls(reply) == [("execute_command", {"command": "echo '</execute_command>' <path>", "cwd": "/x"})]


@pytest.mark.parametrize(
    ("reply", "arguments"),
    [
        ("<write_to_file>\n<path>x.py</path>\n<content>\nhalf", {"path": "x.py", "content": "half"}),
        ("<write_to_file>\n<path>x.py</path>\n<content>\nhalf\n</content>", {"path": "x.py", "content": "half"}),
        ("<write_to_file>\n<pat", {}),
        ("<write_to_file>", {}),
    ],
)
def test_call_that_does_not_end(reply: str, arguments: dict[str, str]) -> None:
    (call,) = [piece for piece in split(reply) if isinstance(piece, Call)]

    assert (call.arguments, call.is_closed) == (arguments, False)


@pytest.mark.parametrize(
    "note",
    [
        "[Response interrupted by user]",
        "[Response interrupted by user feedback]",
        "[Response interrupted by API Error]",
        "[Response interrupted by a tool use result. Only one tool may be used at a time and should be placed at the "
        "end of the message.]",
    ],
)
def test_note_of_the_agent_is_no_argument(note: str) -> None:
    reply = f"<execute_command>\n<command>curl\n\n{note}"

    assert calls(reply) == [("execute_command", {"command": "curl"})]
    assert said(reply) == [note]


def test_thinking_is_told_from_words() -> None:
    reply = f"Looking.\n<thinking>plan\nmore</thinking>\n{READ}"

    assert thinking(reply) == ["plan\nmore"]
    assert said(reply) == ["Looking.", "plan\nmore"]


@pytest.mark.parametrize(
    ("reply", "thoughts"),
    [
        ("<thinking>cut", ["cut"]),
        (f"<thinking>a\n{READ}\nb</thinking>c", ["a\n", "\nb"]),
        ("the tags `<thinking>` and `</thinking>`", []),
        ("a <thinking> that never ends", []),
        ("Sure. <thinking>a</thinking> Yes.", ["a"]),
    ],
)
def test_thinking_of_other_shapes(reply: str, thoughts: list[str]) -> None:
    assert thinking(reply) == thoughts


def test_nothing_is_lost_or_doubled() -> None:
    """What the pieces of the case's replies hold, tags aside, is the reply."""
    (path,) = (FIXTURES / "cases" / "046-xml-tool-calls").rglob("api_conversation_history.json")
    replies = [m["content"][0]["text"] for m in json.loads(path.read_bytes()) if m["role"] == "assistant"]

    for reply in replies:
        kept = [piece.text if isinstance(piece, Said) else piece.body for piece in split(reply)]
        position = 0
        for text in kept:
            position = reply.index(text, position) + len(text)
    assert len(replies) == 5


@pytest.mark.parametrize(
    "part",
    [
        "<read_file>",
        "\n<read_file>",
        "x<thinking>",
        "<thinking>a</thinking>b",
        "\n<read_file>\n<path>",
        "<write_to_file>\n<content>a</content>x</write_to_file>\n",
        "<write_to_file><content>a</content></write_to_file> ",
        "<write_to_file>\n<write_to_file>\n<content>a</content></write_to_file>\n",
        "<content>a</content>",
        "[Response interrupted by ",
    ],
)
def test_hostile_replies_take_no_time(part: str) -> None:
    reply = "<write_to_file>\n" + part * (1_000_000 // len(part))

    with ending():
        split(part * (1_000_000 // len(part)), ("execute_command", "read_file", "write_to_file"))
        split(reply)


def test_tags_without_end_behind_file_content_are_not_the_work_of_minutes() -> None:
    reply = f"{WRITE}{'<content></content>' * 50_000}"

    with ending():
        found = calls(reply)

    assert found == [("write_to_file", {"path": "a", "content": "x"})]


def test_file_content_reaches_over_an_end_that_parameters_follow() -> None:
    reply = f"{WRITE}</content><line_count>3</line_count><mode>m</mode></write_to_file>"

    assert [tool for tool, _ in calls(reply)] == ["write_to_file"]
    assert calls(reply)[0][1]["content"] == "x</content></write_to_file>"


def _written(path: str, content: str) -> str:
    return f"<write_to_file>\n<path>{path}</path>\n<content>\n{content}\n</content>\n</write_to_file>"


@pytest.mark.parametrize(
    "content",
    [
        _written("x", "1"),
        f"{_written('x', '1')}\nand\n{_written('y', '2')}",
        _written("x", f"{_written('y', '2')}\n{_written('z', '3')}"),
        "see\n<write_to_file>\nthere",
        "see\n</write_to_file>\nthere",
    ],
)
def test_calls_in_file_content_are_content(content: str) -> None:
    reply = f"{_written('a.md', content)}\nThen\n{_written('b.md', '1')}"

    pieces = [piece.arguments if isinstance(piece, Call) else piece.text.strip() for piece in split(reply)]
    assert [piece for piece in pieces if piece] == [
        {"path": "a.md", "content": content},
        "Then",
        {"path": "b.md", "content": "1"},
    ]
