"""Tool calls that a model writes as XML tags into its reply, and its thinking between tags.

PearAI's agent (a fork of Roo Code 3.15) has no native tool calls: `<read_file><path>a</path></read_file>` is one.
What it takes for a call is in src/core/assistant-message/parse-assistant-message.ts: a tool's tag opens it, the tags of
known parameters hold its arguments, and what stands in a parameter is no tag. Two things are read more carefully here:
a tag amid the words of a line is prose unless the agent answered it, and file content reaches to its last closing tag.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

TOOLS = (
    *("execute_command", "read_file", "write_to_file", "apply_diff", "insert_content", "search_and_replace"),
    *("search_files", "list_files", "list_code_definition_names", "browser_action", "use_mcp_tool"),
    *("access_mcp_resource", "ask_followup_question", "attempt_completion", "switch_mode", "new_task"),
    "fetch_instructions",
)
"""`toolNames` of the agent's src/schemas/index.ts."""

_PARAMETERS = (
    *("command", "path", "content", "line_count", "regex", "file_pattern", "recursive", "action", "url", "coordinate"),
    *("text", "server_name", "tool_name", "arguments", "uri", "question", "result", "diff", "start_line", "end_line"),
    *("mode_slug", "reason", "operations", "line", "mode", "message", "cwd", "follow_up", "task", "size", "search"),
    *("replace", "use_regex", "ignore_case", "auto_truncate"),
)
"""`toolParamNames` of the agent's src/shared/tools.ts, and the one that its version 3.10 had besides."""

_FILE_CONTENT = {"write_to_file": "content", "insert_content": "content", "apply_diff": "diff"}

_OPEN = re.compile(rf"<({'|'.join(TOOLS)})>")
_OPEN_ALONE = re.compile(rf"(?m)^[ \t]*(?=<(?:{'|'.join(TOOLS)})>)")
_NEXT = {tool: re.compile(rf"</{tool}>[ \t]*(?=<(?:{'|'.join(TOOLS)})>)") for tool in _FILE_CONTENT}
_INSIDE = {tool: re.compile(rf"<({'|'.join(_PARAMETERS)})>|</{tool}>") for tool in TOOLS}
_OWN = {tool: re.compile(rf"(?m)^[ \t]*<{tool}>|</{tool}>") for tool in _FILE_CONTENT}
_MOST_OWN = 64
_MORE_PARAMETERS = re.compile(r"\s*+(?:<([a-z_]+)>[^<]*+</\1>\s*+)*+")
_PARAMETER = re.compile(r"\s*<")
_PARAMETER_OR_END = re.compile(r"[^\S\n]*(?:[\n<]|\Z)")
_BROKEN_OFF = "[Response interrupted by "
_BROKEN_OFF_WHY = re.compile(r"(?:API Error|user(?: feedback)?|a tool use result\.[^\]]*)\]\s*\Z")
_THINK, _THOUGHT = "<thinking>", "</thinking>"


@dataclass(frozen=True, slots=True)
class Call:
    """A call in a reply: the tool, its arguments, what stands between its tags, and whether it was closed."""

    tool: str
    arguments: dict[str, str] = field(default_factory=dict)
    body: str = ""
    is_closed: bool = True


@dataclass(frozen=True, slots=True)
class Said:
    """Words of a reply, or the model's thinking."""

    text: str
    is_thinking: bool = False


@dataclass(slots=True)
class _Line:
    """Tells whether words stand before a place on its line; each part of the text is looked at once."""

    text: str
    position: int = 0
    has_words: bool = False

    def reach(self, place: int) -> bool:
        """Say whether words stand between the line's start and `place`; the end of a thought is none."""
        newline = self.text.rfind("\n", self.position, place)
        between = self.text[max(newline + 1, self.position) : place].strip()
        self.has_words = bool(between) or (self.has_words and newline < 0)
        if between.endswith(_THOUGHT):
            self.has_words = False
        self.position = place
        return self.has_words

    def skip(self, place: int, *, has_words: bool) -> None:
        """Go on at `place`."""
        self.position, self.has_words = place, has_words


def split(reply: str, answered: Iterable[str] = ()) -> list[Call | Said]:
    """Split a reply into calls, words and thinking, in order.

    `answered` names the tools whose call the agent answered: where no tag of one stands alone, one amid words counts.
    """
    pieces = _pieces(reply, set())
    called = {piece.tool for piece in pieces if isinstance(piece, Call)}
    hidden = set(answered) - called
    return _pieces(reply, hidden) if hidden else pieces


def _pieces(reply: str, hidden: set[str]) -> list[Call | Said]:
    """Split a reply; the first tag of a `hidden` tool opens a call wherever it stands."""
    # What the agent adds to a reply that it broke off is none of the model's arguments.
    end = reply.rfind(_BROKEN_OFF)
    if end < 0 or not _BROKEN_OFF_WHY.match(reply, end + len(_BROKEN_OFF)):
        end = len(reply)
    pieces: list[Call | Said] = []
    line, said_from, is_thinking = _Line(reply), 0, False
    while (tag := _OPEN.search(reply, line.position, end)) is not None:
        expected = _PARAMETER if tag[1] in hidden else _PARAMETER_OR_END
        is_call = not line.reach(tag.start()) or tag[1] in hidden
        if not (is_call and expected.match(reply, tag.end(), end)):
            line.skip(tag.end(), has_words=True)
            continue
        hidden.discard(tag[1])
        is_thinking = _add_words(pieces, reply[said_from : tag.start()], is_thinking=is_thinking)
        call, said_from = _call(reply, tag[1], tag.end(), end)
        pieces.append(call)
        line.skip(said_from, has_words=False)
    _add_words(pieces, reply[said_from:], is_thinking=is_thinking)
    return pieces


def _call(reply: str, tool: str, start: int, end: int) -> tuple[Call, int]:
    """Read a call from behind its opening tag; return it and the position behind it."""
    arguments: dict[str, str] = {}
    position = start
    while (tag := _INSIDE[tool].search(reply, position, end)) is not None:
        name = tag[1]
        if name is None:
            return Call(tool, arguments, reply[start : tag.start()].strip()), tag.end()
        if _FILE_CONTENT.get(tool) == name:
            close = _file_content_end(reply, tool, tag.end(), end)
        else:
            close = reply.find(f"</{name}>", tag.end(), end)
        arguments[name] = reply[tag.end() : end if close < 0 else close].strip()
        if close < 0:
            break
        position = close + len(f"</{name}>")
    return Call(tool, arguments, reply[start:end].strip(), is_closed=False), end


def _file_content_end(reply: str, tool: str, start: int, end: int) -> int:
    """Return where file content from `start` ends, -1 where it never does.

    The agent ends a call at the first closing tag behind the first end of its content, and the content at the last
    `</content>` before that. Where calls in the content are closed, or another such end follows before the next call,
    the model wrote of tags.
    """
    closing, tool_closing = f"</{_FILE_CONTENT[tool]}>", f"</{tool}>"
    first = reply.find(closing, start, end)
    if first < 0:
        return -1
    limit = max(reply.find(tool_closing, first, end), _own_end(reply, tool, start, end))
    if limit < 0:
        return reply.rfind(closing, first, end)
    following = _NEXT[tool].match(reply, limit, end) or _OPEN_ALONE.search(reply, limit, end)
    stop = following.end() if following else end
    later = reply.find(closing, limit, stop)
    while later >= 0:
        # Other closing tags among the parameters that follow this one lead to the same place.
        parameters = _MORE_PARAMETERS.match(reply, later + len(closing), stop)
        behind = parameters.end() if parameters else later + len(closing)
        if reply.startswith(tool_closing, behind, stop):
            limit = behind
        later = reply.find(closing, behind, stop)
    return reply.rfind(closing, first, limit)


def _own_end(reply: str, tool: str, start: int, end: int) -> int:
    """Return where the closing tag of a call stands whose content from `start` holds others that are closed.

    -1 where the tags do not match, or are too many to be looked at.
    """
    depth = 1
    for tag in islice(_OWN[tool].finditer(reply, start, end), _MOST_OWN):
        depth += -1 if tag[0].startswith("</") else 1
        if depth == 0:
            return tag.start()
    return -1


def _add_words(pieces: list[Call | Said], text: str, *, is_thinking: bool) -> bool:
    """Add words and thinking to `pieces`; return whether the thinking goes on behind a call."""
    line, last_close = _Line(text), text.rfind(_THOUGHT)
    position = 0
    while True:
        if is_thinking:
            close = text.find(_THOUGHT, position)
            pieces.append(Said(text[position : len(text) if close < 0 else close], is_thinking=True))
            if close < 0:
                return True
            position = close + len(_THOUGHT)
            line.skip(position, has_words=False)
        start = _thinking(line, last_close)
        pieces.append(Said(text[position : len(text) if start < 0 else start]))
        if start < 0:
            return False
        position, is_thinking = start + len(_THINK), True


def _thinking(line: _Line, last_close: int) -> int:
    """Return where the next thinking opens, -1 for nowhere: a tag at the start of a line, or one that is closed."""
    start = line.text.find(_THINK, line.position)
    while start >= 0:
        has_words = line.reach(start)
        if not has_words or (start < last_close and line.text[start - 1] != "`"):
            return start
        line.skip(start + len(_THINK), has_words=True)
        start = line.text.find(_THINK, line.position)
    return -1
