"""What PearAI's agent writes into the messages that it sends to the model in the user's name.

Texts: src/core/Cline.ts (`presentAssistantMessage`, `startTask`, `resumeTaskFromHistory`, `getEnvironmentDetails`) and
src/core/prompts/responses.ts of PearAI's fork of Roo Code 3.15. None of them has a mark of its own.
"""

import re
from dataclasses import dataclass

from parsers._xml_calls import TOOLS

ENVIRONMENT = "<environment_details>"
IMAGE = "[image]"

_NAMES = "|".join(TOOLS)
_RESULT = re.compile(rf"\[({_NAMES})(?=[ \]])")
_OLD_RESULT = re.compile(rf"\[({_NAMES}) Result\]")
_RESULT_END = "] Result:"
_NOT_RUN = re.compile(rf"(?:Tool|Skipping tool) \[({_NAMES})(?=[ \]])")
_NOT_RUN_WHY = (
    "] was not executed because a tool has already been used",
    "] was interrupted and not executed due to user rejecting",
    "] due to user rejecting a previous tool.",
)
_SYSTEM = (ENVIRONMENT, "[ERROR] ", "[TASK RESUMPTION] ", "<memories>\n")
_HELP = "You seem to be having trouble proceeding. The user has provided the following feedback"
_DECISIONS = (
    ("The user denied this operation and provided the following feedback:", "denied with feedback"),
    ("The user denied this operation.", "denied"),
    ("The user approved this operation and provided the following context:", "approved with feedback"),
)
_SAYS = (
    *(text for text, _ in _DECISIONS),
    "The user has provided feedback on the results.",
    _HELP,
)
_RUNNING = ("Command is still running in terminal", "Command is still running in the user's terminal")
_RUNNING_SAYS = "\nThe user provided the following feedback:\n"
_FEEDBACK, _FEEDBACK_END = "<feedback>", "</feedback>"


@dataclass(frozen=True, slots=True)
class Header:
    """What stands in front of a call's result: the tool, the whole of it, and what follows in the same block."""

    tool: str
    label: str
    rest: str
    of_subtask: bool = False


def header(text: str) -> Header | None:
    """Return the header that a block begins with: `[<tool> for '<argument>'] Result:` and its like."""
    old = _OLD_RESULT.match(text)
    if old:
        return Header(old[1], old[0], text[old.end() :].strip())
    begin = _RESULT.match(text)
    if begin is None:
        return None
    bare = text.rstrip()
    # An argument can hold brackets; a block is the header alone, or the header and what the tool said.
    end = len(bare) - len(_RESULT_END) if bare.endswith(_RESULT_END) else text.find(_RESULT_END, begin.end())
    if end < begin.end():
        return None
    rest = text[end + len(_RESULT_END) :].strip()
    return Header(begin[1], text[:end], rest, text.startswith(" completed", begin.end()))


def not_run(text: str) -> str | None:
    """Return the tool of a call that a block says was passed over."""
    begin = _NOT_RUN.match(text)
    return begin[1] if begin and any(why in text for why in _NOT_RUN_WHY) else None


def is_system(text: str) -> bool:
    """Say whether a block is the agent's own: surroundings, an error, a resumption, a call for help."""
    return text.startswith((*_SYSTEM, _HELP)) or not_run(text) is not None


def decision(text: str) -> str | None:
    """Return how the user decided, of the first block of a result."""
    return next((word for begin, word in _DECISIONS if text.startswith(begin)), None)


def feedback(text: str, *, is_decided: bool = False) -> str | None:
    """Return what the user said, of a block in which the agent hands it on.

    Where the user decided (`is_decided`), the words can stand in a block of their own. They can be about tags.
    """
    if text.startswith(_RUNNING):
        text = text.rpartition(_RUNNING_SAYS)[2] if _RUNNING_SAYS in text else ""
    elif not text.startswith(_SAYS) and not (is_decided and text.startswith(_FEEDBACK)):
        return None
    start = text.find(_FEEDBACK)
    end = text.rfind(_FEEDBACK_END, max(start, 0))
    return text[start + len(_FEEDBACK) : end] if 0 <= start < end else None


def behind_approval(texts: list[str]) -> list[str]:
    """Blocks of a result that begins with an approval, without what the user said and showed with it."""
    return [text for text in texts[1:] if text.strip() != IMAGE and not text.lstrip().startswith(_FEEDBACK)]


def unwrapped(text: str) -> str:
    """Return a task without its wrapper; the contents of what it mentions follow that. It can be about tags."""
    text = text.removeprefix("<task>")
    if text.endswith("</task>"):
        return text.removesuffix("</task>").strip()
    end = text.find("</task>\n\n<")
    task, _, mentioned = (text[:end], "", text[end + len("</task>") :]) if end >= 0 else text.partition("</task>")
    return "\n\n".join(filter(None, (task.strip(), mentioned.strip())))


def blocks(text: str) -> list[str]:
    """Split a text into what was said and the surroundings behind it: old messages are one text."""
    start = text.rfind(f"\n{ENVIRONMENT}") if text.rstrip().endswith("</environment_details>") else -1
    said, surroundings = (text, "") if start < 0 else (text[:start], text[start:])
    return [block for block in (said, surroundings) if block.strip()] or [text]
