"""The model requests that the items of a session keep in `promptLogs`: prompts of megabytes, of which a hash is kept.

They are no rows and no records: what is odd about them is nobody's fault, and costs nothing else.
"""

from collections.abc import Iterable, Iterator

import msgspec

from parsers._exchange import exchange
from parsers._json import Json, parse
from parsers._session_types import Prompt
from parsers._text import Cleaner, decode

_TEXT = msgspec.json.Decoder(str)


def exchanges(logs: Iterable[Prompt]) -> Iterator[int]:
    """Yield the hash of each request of which prompt and completion are texts."""
    for log in logs:
        found = exchange(_said(log.prompt), _said(log.completion))
        if found is not None:
            yield found


def _said(value: msgspec.Raw) -> str | None:
    """Return a JSON text as the tolerant way has it; null for anything else."""
    try:
        text: Json = _TEXT.decode(value)
        return text if isinstance(text, str) and "\0" not in text else _known(text, None)
    except msgspec.ValidationError:
        return None
    except (msgspec.DecodeError, UnicodeDecodeError):  # half a surrogate pair, bad bytes, or no value at all
        decoded = decode(bytes(value))
    try:
        text, _ = parse(decoded.text)
    except ValueError:
        return None
    return _known(text, decoded.bad)


def _known(text: Json, bad: str | None) -> str | None:
    """Return a text as an event's row has it, U+FFFD in the place of what no column takes; null for what is none."""
    if not isinstance(text, str):
        return None
    return Cleaner(bad).text(text)


def take_logs(item: dict[str, Json], bad: str | None) -> tuple[dict[str, Json], list[int]]:
    """Return an item whose `promptLogs` are objects without their texts, and the hashes of their requests.

    `promptLogs` of other shapes are known and mean nothing: no note.
    """
    stored = item.get("promptLogs")
    logs = [log for log in stored if isinstance(log, dict)] if isinstance(stored, list) else []
    found = [exchange(_known(log.get("prompt"), bad), _known(log.get("completion"), bad)) for log in logs]
    bare = [{key: value for key, value in log.items() if key not in ("prompt", "completion")} for log in logs]
    return {**item, "promptLogs": bare}, [one for one in found if one is not None]
