"""The tool calls of a chat session: calls and states paired, answers found, and what they say read."""

from collections import defaultdict, deque
from dataclasses import dataclass, field

from parsers._call_outcome import exit_code, is_not_started, outcome
from parsers._calls import Said, read_call
from parsers._json import Json, as_text
from parsers._session_types import Call, Function, Output, State
from parsers._text import Cleaner
from parsers._tool_names import tool_kind
from pipeline.source import Row

_SERVED = "mcp://"
_CLI_RESULT = "Tool Result"
"""Name of the CLI's output items; it has no tools but its own and those of MCP servers, under their bare names."""


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
        """Add an item's calls in order, then the states that pair with none; return how many raw records they are.

        States pair by id and order of occurrence inside the item, without ids by position.
        """
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
        pairs.extend((None, states[index]) for index in free)
        return sum(self._add(position, call, state) for call, state in pairs)

    def _add(self, position: int, call: Call | None, state: State | None) -> int:
        """Add one call with its state; at least one of them is there."""
        stated = state.tool_call if state else None
        functions = [f for f in (call and call.function, stated and stated.function) if f] or [Function()]
        name = functions[0].name or functions[-1].name or None
        call_id = (call.id if call else None) or (_state_id(state) if state else None)
        stored = _stored(functions, state)
        outputs = (state.output or []) if state else []
        if call_id:
            self.unanswered[call_id].append(len(self.drafts))
        is_done = state is not None and state.status == "done"
        draft = _Draft(
            position=position,
            records=(call is not None) + (state is not None),
            call_id=call_id or None,
            name=name,
            arguments=_sent(stored),
            said=read_call(name, stored, is_done=is_done, cleaner=self.cleaner),
            state=state,
            outputs=outputs,
            output="\n\n".join([as_text(output.content) for output in outputs]) if outputs else None,
        )
        self.drafts.append(draft)
        return draft.records

    def answer(self, position: int, call_id: str | None, text: str) -> int | None:
        """Pair a `tool` message with the nearest earlier unanswered call of its id; return the call's number."""
        unanswered = self.unanswered.get(call_id) if call_id else None
        if not unanswered:
            return None
        number = unanswered.pop()
        draft = self.drafts[number]
        draft.answered = position
        if not draft.outputs:
            draft.output = text
        return number

    def rows(self) -> list[Row]:
        """The rows of the raw table `calls`."""
        return [_row(number, draft) for number, draft in enumerate(self.drafts)]


def _state_id(state: State) -> str | None:
    return state.tool_call_id or (state.tool_call.id if state.tool_call else None)


def _stored(functions: list[Function], state: State | None) -> tuple[Json, ...]:
    """Return a call's arguments in the order in which they are believed: as parsed, then as sent."""
    return (state.parsed_args if state else None, *(function.arguments for function in functions))


def _sent(stored: tuple[Json, ...]) -> str:
    """Return a call's arguments as they were sent, else as they were parsed."""
    for arguments in (*stored[1:], stored[0]):
        text = as_text(arguments)
        if text:
            return text
    return ""


def _row(number: int, draft: _Draft) -> Row:
    """The row of a call, all of whose answers are known."""
    status = (draft.state.status or None) if draft.state else None
    names = [output.name for output in draft.outputs]
    return (
        draft.position,
        number,
        draft.records,
        draft.call_id,
        draft.name,
        draft.arguments,
        status,
        len(draft.outputs) if draft.state else None,
        draft.output,
        "\n".join([name or "" for name in names]),
        draft.answered,
        _kind(draft),
        *outcome(status, draft.output, names),
        *draft.said,
        exit_code(status, draft.output, [output.status for output in draft.outputs]),
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
