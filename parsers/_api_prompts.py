"""Messages that PearAI's agent sends to its model in the user's name: what the user said, results, surroundings."""

from dataclasses import dataclass, field

from parsers import _api_texts
from parsers._api_calls import Call, Calls, Row
from parsers._api_texts import IMAGE, Header
from parsers._json import Json, as_text
from parsers._task import workspace_of


def is_image(part: Json) -> bool:
    """Say whether a part of a message is an image."""
    return isinstance(part, dict) and part.get("type") in ("image", "image_url")


def text_of(part: Json) -> str:
    """Text of a part; a part of another type as JSON."""
    if is_image(part):
        return IMAGE
    return as_text(part.get("text") if isinstance(part, dict) and "text" in part else part)


@dataclass(slots=True)
class _Result:
    """A result whose blocks are being gathered."""

    header: Header
    call: Call | None
    texts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Prompt:
    """One message: its rows in order, and what the user said in it, which is one row where it began."""

    calls: Calls
    rows: list[Row] = field(default_factory=list)
    workspace: str | None = None
    _said: list[str] = field(default_factory=list)
    _said_row: Row | None = None
    _result: _Result | None = None
    _answered: dict[str, Call] = field(default_factory=dict)

    def read(self, parts: list[Json]) -> list[Row]:
        """Return the rows of the message."""
        for number, part in enumerate(parts, 1):
            if isinstance(part, dict) and part.get("type") == "tool_result":
                self._end_result()
                self._native_result(part)
            elif is_image(part):
                self._add_text(IMAGE)
            else:
                for block in _api_texts.blocks(text_of(part)):
                    self._add_block(block, is_last=number == len(parts))
        self._end_result()
        if self._said_row is not None:
            self._said_row.text = "\n".join(self._said)
        return self.rows

    def _add_block(self, block: str, *, is_last: bool) -> None:
        """Add a block of text: what it is depends on what stands before it."""
        bare = block.strip()
        result = self._result
        if result is not None and not result.texts and not (is_last and bare.startswith(_api_texts.ENVIRONMENT)):
            # The first block behind a header is what the tool said, whatever it looks like; surroundings stand last.
            result.texts.append(block)
            return
        header = _api_texts.header(bare)
        if header is not None:
            self._end_result()
            self._result = _Result(header, self._answered_by(header))
            if header.rest:
                self._result.texts.append(header.rest)
        elif _api_texts.is_system(bare):
            self._end_result()
            self._add_system(bare)
        else:
            self._add_text(_api_texts.unwrapped(bare) if bare.startswith("<task>") else block)

    def _add_text(self, text: str) -> None:
        """Add to the result that is being gathered, else to what the user said."""
        if self._result is not None:
            self._result.texts.append(text)
            return
        self._said.append(text)
        if self._said_row is None:
            self._said_row = Row("message", "user", "")
            self.rows.append(self._said_row)

    def _add_system(self, block: str) -> None:
        """Add a block of the agent's own."""
        self.rows.append(Row("notice", "system", block))
        tool = _api_texts.not_run(block)
        if tool is not None:
            self.calls.pass_over(tool)
        if self.workspace is None and block.startswith(_api_texts.ENVIRONMENT):
            self.workspace = workspace_of(block)
        self._add_feedback(block)

    def _end_result(self) -> None:
        """Add the result that is being gathered, the user's decision, and what the user said with it."""
        result, self._result = self._result, None
        if result is None:
            return
        first = result.texts[0].lstrip() if result.texts else ""
        call, decision = result.call, _api_texts.decision(first)
        text = "\n".join(result.texts)
        self.rows.append(Row("tool_result", "tool_result", text, call, result.header.tool))
        if decision is not None:
            decided = f"permission decision: {decision}"
            self.rows.append(Row("permission_decision", "system", decided, call, result.header.tool))
        for said in result.texts:
            self._add_feedback(said.lstrip(), is_decided=decision is not None)
        if call is None:
            return
        if decision == "approved with feedback":
            call.approval = text
            text = "\n".join(_api_texts.behind_approval(result.texts))
            if not text:  # the tool's own result follows, unless the task ended there
                return
        call.outputs.append(text)
        self.calls.answer(call)
        self._answered[result.header.label] = call

    def _answered_by(self, header: Header) -> Call | None:
        """Return the call that a result belongs to.

        A failure can be told twice: the same header again is of the same call, unless another one asks for the same.
        """
        answered, waiting = self._answered.get(header.label), self.calls.waiting(header.tool)
        if answered is not None and not (waiting and waiting.asked.arguments == answered.asked.arguments):
            return answered
        return waiting or (self.calls.last.get(header.tool) if header.of_subtask else None)

    def _add_feedback(self, block: str, *, is_decided: bool = False) -> None:
        """Add what the user said, where a block hands it on."""
        feedback = _api_texts.feedback(block, is_decided=is_decided)
        if feedback is not None:
            self.rows.append(Row("message", "user", feedback))

    def _native_result(self, part: dict[str, Json]) -> None:
        """Add a result from before calls were tags; one that answers no call stays, without a name."""
        content = part.get("content")
        text = "\n".join(map(text_of, content)) if isinstance(content, list) else as_text(content)
        stated = part.get("tool_use_id")
        identifier = stated if isinstance(stated, str) else None
        call = self.calls.of_id(identifier)
        self.rows.append(Row("tool_result", "tool_result", text, call, identifier=identifier))
        if call is not None:
            call.outputs.append(text)
            self.calls.answer(call)
