"""What became of a tool call: who decided about it, whether it ran, and a command's exit code.

Continue: a refusal and a policy's block are a state's whole output (`extensions/cli/src/stream`) or the name of its
output item (`gui/src/redux/thunks`); the CLI writes what it refused to start the same way. The agent: texts of
`src/core/prompts/responses.ts` and `src/core/Cline.ts`, as the result of a call.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from parsers._json import Json


class Outcome(NamedTuple):
    """Who decided (`allowed`, `denied`, `blocked`, `unknown`; by `user` or `policy`), and whether the tool ran."""

    decision: str
    reason: str | None
    ran: bool | None


ALLOWED = Outcome("allowed", None, ran=True)
DENIED = Outcome("denied", "user", ran=False)
BLOCKED = Outcome("blocked", "policy", ran=False)
NOT_RUN = Outcome("unknown", None, ran=False)
OPEN = Outcome("unknown", None, ran=None)

_BY_ITEM = {"Tool Call Rejected": DENIED, "Security Policy Violation": BLOCKED, "Invalid Tool Call": NOT_RUN}
_BY_TEXT = {"Permission denied by user": DENIED, "Command blocked by security policy": BLOCKED}
_LONGEST = 1000
"""Characters of the longest text that an assistant writes in a tool's place."""
_NOT_STARTED = re.compile(
    r"Tool [^\n]+ not found\Z|Required parameter |Error checking permissions for |"
    r'"Premature Close" error: this tool call was aborted mid-stream '
)
_AGENT_DENIED = "The user denied this operation"
_AGENT_SKIPPED = ("Tool [", "Skipping tool [")
_AGENT_NOT_RUN = re.compile(r"\] was not executed because |due to user rejecting a previous tool\.\Z")

_CODE = "(-?[0-9]{1,10})"
_CLI_CODE = re.compile(rf"\s*(?:Error executing tool Bash|Bash command failed): Error \(exit code {_CODE}\)")
_ITEM_CODE = re.compile(rf"\s*(?:Command|Background command) failed with exit code {_CODE}\s*\Z")
_AGENT_CODE = re.compile(rf"Command executed in terminal .*Exit code: {_CODE}\Z", re.DOTALL)
_AGENT_OUTPUT = "\nOutput:"


def outcome(status: str | None, output: str | None, names: Iterable[str | None]) -> Outcome:
    """Say what became of a call of Continue's.

    `output` is the text of its state's output items, else of the `tool` message that answers it, null without either;
    `names` are the items' names. A canceled call that nothing answers did not run; whether a person refused it is for
    the usage events to tell.
    """
    for name in names:
        if name in _BY_ITEM:
            return _BY_ITEM[name]
    if status == "done":
        return ALLOWED
    if output is None:
        return NOT_RUN if status == "canceled" else OPEN
    return _by_text(output)


def _by_text(output: str) -> Outcome:
    """Tell what the assistant says in a tool's place from what a tool said itself."""
    if len(output) > _LONGEST:
        return ALLOWED
    return _BY_TEXT.get(output.strip()) or (NOT_RUN if is_not_started(output) else ALLOWED)


def is_not_started(output: str) -> bool:
    """Say whether the output of a call that is not done tells that its tool was never started."""
    return len(output) <= _LONGEST and _NOT_STARTED.match(output.strip()) is not None


def agent_outcome(result: str | None) -> Outcome:
    """Say what became of a call of the agent's by the text of its result; null without one."""
    if result is None:
        return OPEN
    said = result.strip()
    if said.startswith(_AGENT_DENIED):
        return DENIED
    return NOT_RUN if said.startswith(_AGENT_SKIPPED) and _AGENT_NOT_RUN.search(said) else ALLOWED


def exit_code(status: str | None, output: str | None, item_statuses: Iterable[Json]) -> int | None:
    """Return the exit code of a command of Continue's that failed; null where none is written.

    The CLI writes it in front of the output of a call that is not done, the editor in the status of an output item.
    """
    for stated in item_statuses:
        found = _ITEM_CODE.match(stated) if isinstance(stated, str) else None
        if found:
            return _code(found[1])
    if status == "done" or not output:
        return None
    found = _CLI_CODE.match(output)
    return _code(found[1]) if found else None


def agent_exit_code(result: str) -> int | None:
    """Return the exit code of a command of the agent's that failed, by the text of its result; null for a clean run."""
    head, mark, _ = result.lstrip().partition(_AGENT_OUTPUT)
    found = _AGENT_CODE.match(head) if mark else None
    return _code(found[1]) if found else None


def _code(digits: str) -> int | None:
    """Return an exit code; null for that of a clean run."""
    return int(digits) or None
