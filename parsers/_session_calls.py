"""The tool calls of a chat session: calls and states paired, answers found, and what they say read."""

from collections import defaultdict, deque
from dataclasses import dataclass, field

from parsers._call_outcome import exit_code, is_not_started, outcome
from parsers._calls import Said, read_call
from parsers._json import as_text
from parsers._session_types import Call, Function, Output, State
from parsers._text import Cleaner
from parsers._tool_names import tool_kind
from pipeline.source import Row

_NO_FUNCTION = Function()
_SERVED = "mcp://"
_CLI_RESULT = "Tool Result"
"""Name of the CLI's output items; it has no tools but its own and those of MCP servers, under their bare names."""


CLEANED = frozenset(("tool_kind", "decision", "decision_reason", *Said._fields))
"""Columns of the raw table `calls` that hold no text as the file has it."""


@dataclass(slots=True)
class _Draft:
    """A call in the making: a later `tool` message may answer it."""

    position: int
    records: int
    call_id: str | None
    name: str | None
    arguments: str
    said: Said
    state: State | None
    outputs: list[Output]
    output: str | None
    answered: int | None = None


@dataclass(slots=True)
class Calls:
    """The calls of one file; `unanswered` holds those of each id that no `tool` message answers yet.

    `cleaner` remembers what was odd about texts in arguments since its reasons were last taken.
    """

    cleaner: Cleaner
    drafts: list[_Draft] = field(default_factory=list)
    unanswered: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, position: int, calls: list[Call], states: list[State]) -> int:
        """Add an item's calls in order, then the states that pair with none; return how many raw records they are."""
        if len(calls) == len(states) and all(map(_is_pair, calls, states)):
            for call, state in zip(calls, states, strict=True):
                self._add(position, call, state)
        else:
            for pair in _paired(calls, states):
                self._add(position, *pair)
        return len(calls) + len(states)

    def _add(self, position: int, call: Call | None, state: State | None) -> None:
        """Add one call with its state; at least one of them is there."""
        asked = state.tool_call if state else None
        again = (asked.function if asked else None) or _NO_FUNCTION
        function = (call.function if call else None) or again
        name = function.name or again.name or None
        call_id = (call.id if call else None) or (_state_id(state) if state else None) or None
        if call_id:
            self.unanswered[call_id].append(len(self.drafts))
        parsed = state.parsed_args if state else None
        is_done = state is not None and state.status == "done"
        # As parsed they are believed before they are as sent, and shown the other way round.
        said = read_call(name, (parsed, function.arguments, again.arguments), is_done=is_done, cleaner=self.cleaner)
        arguments = as_text(function.arguments) or as_text(again.arguments) or as_text(parsed)
        outputs = (state.output if state else None) or []
        output = "\n\n".join([as_text(output.content) for output in outputs]) if outputs else None
        records = 2 if call and state else 1
        self.drafts.append(_Draft(position, records, call_id, name, arguments, said, state, outputs, output))

    def answer(self, position: int, call_id: str | None, text: str) -> int | None:
        """Pair a `tool` message with the nearest earlier unanswered call of its id; return the call's number."""
        unanswered = self.unanswered.get(call_id) if call_id else None
        if not unanswered:
            return None
        number = unanswered.pop()
        draft = self.drafts[number]
        draft.answered = position
        # The editor answers a call that was refused without a word by an empty message: no output of the tool.
        if not draft.outputs and text and not text.isspace():
            draft.output = text
        return number

    def rows(self) -> list[Row]:
        """The rows of the raw table `calls`."""
        return [_row(number, draft) for number, draft in enumerate(self.drafts)]


def _is_pair(call: Call, state: State) -> bool:
    """Say whether a call and the state at its place have one id."""
    return bool(call.id) and call.id == _state_id(state)


def _paired(calls: list[Call], states: list[State]) -> list[tuple[Call | None, State | None]]:
    """Pair an item's calls and states by id and order of occurrence, without ids by position; then the other states."""
    ids = {call.id for call in calls if call.id}
    by_id: defaultdict[str | None, deque[int]] = defaultdict(deque)
    for index, state in enumerate(states):
        by_id[_state_id(state)].append(index)
    free = dict.fromkeys(range(len(states)))
    pairs: list[tuple[Call | None, State | None]] = []
    for index, call in enumerate(calls):
        found = by_id[call.id].popleft() if call.id and by_id[call.id] else None
        if found is None and index in free and not (call.id and _state_id(states[index])):
            found = index if _state_id(states[index]) not in ids else None
        pairs.append((call, None if found is None else states[found]))
        if found is not None:
            del free[found]
    return [*pairs, *((None, states[index]) for index in free)]


def _state_id(state: State) -> str | None:
    return state.tool_call_id or (state.tool_call.id if state.tool_call else None)


def _row(number: int, draft: _Draft) -> Row:
    """The row of a call, all of whose answers are known."""
    state, outputs, output = draft.state, draft.outputs, draft.output
    status = (state.status or None) if state else None
    names = [item.name for item in outputs]
    return (
        draft.position,
        number,
        draft.records,
        draft.call_id,
        draft.name,
        draft.arguments,
        status,
        len(outputs) if state else None,
        output,
        "\n".join([name or "" for name in names]) if names else "",
        draft.answered,
        _kind(draft),
        *outcome(status, output, names),
        *draft.said,
        exit_code(status, output, [item.status for item in outputs]),
    )


def _kind(draft: _Draft) -> str:
    """Return the kind of a call's tool. A tool that is not the CLI's own and was there is an MCP server's."""
    tool = draft.state.tool if draft.state else None
    if tool is not None and isinstance(tool.uri, str) and tool.uri.startswith(_SERVED):
        return "mcp"
    kind = tool_kind(draft.name)
    if kind != "other":
        return kind
    by_cli = any(output.name == _CLI_RESULT for output in draft.outputs)
    return tool_kind(draft.name, is_served=by_cli and not is_not_started(draft.output or ""))
