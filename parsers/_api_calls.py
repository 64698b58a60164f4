"""Calls and results of a model's history: they have no ids, and pair by position."""

from collections import defaultdict, deque
from dataclasses import dataclass, field

from parsers._task_calls import Asked, call_row


@dataclass(slots=True, eq=False)
class Call:
    """A call, and what came of it so far."""

    number: int
    identifier: str
    asked: Asked
    outputs: list[str] = field(default_factory=list)
    approval: str | None = None
    is_skipped: bool = False

    @property
    def text(self) -> str:
        """What its row says: the command, else the arguments."""
        command = (self.asked.arguments or {}).get("command") if self.asked.tool == "execute_command" else None
        return command if isinstance(command, str) else self.asked.stored

    def row(self) -> tuple[object, ...]:
        """Row of the raw calls; several outputs are joined by a blank line. An approval alone is a result, too."""
        output = "\n\n".join(self.outputs) if self.outputs else self.approval
        return call_row(self.number, self.asked, output, is_skipped=self.is_skipped)


@dataclass(slots=True)
class Row:
    """A row in the making, of `call` where it belongs to one; a result of no known call has its tool or its id."""

    kind: str
    turn_type: str
    text: str
    call: Call | None = None
    tool: str | None = None
    identifier: str | None = None

    def raw(self) -> tuple[object, ...]:
        """Columns of the raw row behind its place."""
        tool, identifier = (self.call.asked.tool, self.call.identifier) if self.call else (self.tool, self.identifier)
        return self.kind, self.turn_type, self.text, tool, identifier, self.call.number if self.call else None


@dataclass(slots=True)
class Calls:
    """The calls of a file: those of the last reply that have no answer yet, by tool, and the last one of each tool."""

    all: list[Call] = field(default_factory=list)
    unanswered: defaultdict[str, deque[Call]] = field(default_factory=lambda: defaultdict(deque))
    last: dict[str, Call] = field(default_factory=dict)
    by_id: dict[str, list[Call]] = field(default_factory=dict)

    def begin_reply(self) -> None:
        """Forget the calls of the reply before, which no result can mean any more."""
        self.unanswered.clear()

    def add(self, identifier: str, asked: Asked) -> Call:
        """Add a call."""
        tool = asked.tool
        call = Call(len(self.all), identifier, asked)
        self.all.append(call)
        if tool is not None:
            self.unanswered[tool].append(call)
            self.last[tool] = call
        return call

    def waiting(self, tool: str) -> Call | None:
        """Return the first call of `tool` in the last reply that has no answer."""
        waiting = self.unanswered.get(tool)
        return waiting[0] if waiting else None

    def answer(self, call: Call) -> None:
        """Take note that a call has its answer."""
        waiting = self.unanswered.get(call.asked.tool or "")
        if waiting and waiting[0] is call:
            waiting.popleft()

    def pass_over(self, tool: str) -> None:
        """Take note that the next call of `tool` was not made."""
        waiting = self.unanswered.get(tool)
        if waiting:
            waiting.popleft().is_skipped = True

    def of_id(self, identifier: str | None) -> Call | None:
        """Return the nearest earlier unanswered call of an id."""
        calls = self.by_id.get(identifier) if identifier else None
        return calls.pop() if calls else None
