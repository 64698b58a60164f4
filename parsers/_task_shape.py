"""PearAI's agent: what a task's file of an old version holds, its API history or its messages as shown.

`claude_messages.json` is the old name of the API history (src/core/task-persistence/apiMessages.ts); before that it was
the name of the messages as shown. Elements of the one have a `role`, of the other a `type`, `ask` or `say`.
"""

from parsers._documents import Fault, read_array
from parsers._json import Json
from parsers._text import decode

HISTORY, MESSAGES = "pearai.api_history", "pearai.ui_messages"


def source_of(data: bytes) -> str:
    """Name the source that reads a file of either kind, by the first element that tells; else the API history."""
    found = read_array(decode(data).text, lambda value: _kind(value) is not None)
    elements = [] if isinstance(found, Fault) else found[0]
    return next((kind for element in elements if (kind := _kind(element.value))), HISTORY)


def _kind(value: Json | Fault) -> str | None:
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("role"), str):
        return HISTORY
    return MESSAGES if value.get("type") in ("ask", "say") else None
