"""The model requests that the items of a session keep in `promptLogs`: prompts of megabytes, of which a hash is kept.

They are no rows and no records: what is odd about them is nobody's fault, and costs nothing else.
"""

from collections.abc import Iterable

from parsers._exchange import exchange, exchange_of
from parsers._json import Json
from parsers._session_types import Prompt
from parsers._text import Cleaner


def exchanges(logs: Iterable[Prompt]) -> list[int]:
    """Return the hash of each request of which prompt and completion are texts."""
    found = [exchange_of(log.prompt, log.completion) for log in logs]
    return [one for one in found if one is not None]


def take_logs(item: dict[str, Json], bad: str | None) -> tuple[dict[str, Json], list[int]]:
    """Return an item whose `promptLogs` are objects without their texts, and the hashes of their requests.

    `promptLogs` of other shapes are known and mean nothing: no note.
    """

    def known(text: Json) -> Json:
        """Return a text as an event's row has it, U+FFFD in the place of what no column takes."""
        return Cleaner(bad).text(text) if isinstance(text, str) else None

    stored = item.get("promptLogs")
    logs = [log for log in stored if isinstance(log, dict)] if isinstance(stored, list) else []
    found = [exchange(known(log.get("prompt")), known(log.get("completion"))) for log in logs]
    bare = [{key: value for key, value in log.items() if key not in ("prompt", "completion")} for log in logs]
    return {**item, "promptLogs": bare}, [one for one in found if one is not None]
