"""Chat sessions of Continue and its forks: one JSON document a session.

Files: `<state>/sessions/<sessionId>.json`, rewritten whole on every save, so that a killed save leaves a cut file.
The session has no time of its own, nor has an item: the index gives its start.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain, compress

import msgspec

from parsers._array import lose_around, misplaced
from parsers._documents import read_object
from parsers._faults import Document, Element, Fault
from parsers._fit import fit
from parsers._json import Json, UncleanError, as_text, clean, compact, token
from parsers._paths import project_path
from parsers._prompt_logs import exchanges, take_logs
from parsers._session_calls import CLEANED, Calls
from parsers._session_tokens import NOTHING_STATED, stated
from parsers._session_types import (
    CONTINUE,
    TABLES,
    TEXT,
    Call,
    ContextItem,
    Format,
    Head,
    Item,
    Prompt,
    Reasoning,
    State,
    TokenDetails,
    Usage,
)
from parsers._text import Cleaner, Text, decode
from pipeline.source import Records

_NO_REASONING = (None,) * 3
_KEYS = ("sessionId", "title", "workspaceDirectory", "mode", "chatModelTitle", "usage")
_TEXTS = {
    table.name: [column.dtype == TEXT and column.name not in CLEANED for column in table.columns] for table in TABLES
}
"""Which columns of the raw tables are texts as the file has them."""


@dataclass(slots=True)
class _File:
    """One session file being read."""

    records: Records
    kind: Format
    calls: Calls = field(default_factory=lambda: Calls(Cleaner()))
    contexts: int = 0


def read(data: bytes, path: str, records: Records, kind: Format = CONTINUE) -> None:
    """Read a session file: the fast way where it is healthy, else element by element. Both give the same rows."""
    before = {name: len(rows) for name, rows in records.rows.items()}
    count, problems = records.count, len(records.problems)
    session = _decode(data, kind)
    is_added = session is not None and _is_added(session, _File(records, kind)) and not _is_field_lost(session, data)
    if is_added and not _hold_nul(records, before):
        return
    for name, rows in records.rows.items():
        del rows[before[name] :]
    del records.problems[problems:]
    records.count = count
    _read_tolerant(data, path, _File(records, kind))


def _is_added(session: Head, file: _File) -> bool:
    """Add a decoded session; say whether all its values can be stored as they are."""
    arrays = [array for array in session.arrays() if array is not None]
    try:
        for position, item in enumerate(chain(*arrays), 1):
            _add_item(file, position, item, exchanges(item.prompt_logs) if item.prompt_logs else ())
        _finish(file, session, sum(map(len, arrays)) if arrays else None)
    except (UnicodeDecodeError, UncleanError, RecursionError):  # in a value that is kept as JSON
        return False
    return True


def _is_field_lost(session: Head, data: bytes) -> bool:
    """Say whether a field that every document or message has is not there, and bytes that are no UTF-8 are.

    They may be in its name, which the fast way passes over; to look at every file for them would cost too much.
    """
    arrays = [array for array in session.arrays() if array is not None]
    messages = (item.message for array in arrays for item in array)
    if arrays and not any(message.role is None or message.content is None for message in messages):
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False


def _hold_nul(records: Records, before: dict[str, int]) -> bool:
    """Say whether a text holds a NUL, which may be written as an escape, among the rows of a file."""
    for name, texts in _TEXTS.items():
        added = records.rows[name][before[name] :]
        columns = compress(zip(*added, strict=True), texts)
        for text in filter(None, chain.from_iterable(columns)):
            if "\0" in text:
                return True
    return False


def _decode(data: bytes, kind: Format) -> Head | None:
    """Decode a healthy document; null for one that is damaged or has fields of other types."""
    try:
        session: Head = kind.decoder.decode(data)
        return session
    except (msgspec.DecodeError, RecursionError):
        return None


def is_item(value: Json) -> bool:
    """Say whether a value is an item."""
    return isinstance(value, dict) and isinstance(value.get("message"), dict)


def _read_tolerant(data: bytes, path: str, file: _File) -> None:
    """Read what there is of a document that the fast way refuses."""
    decoded = decode(data)
    bad, records = decoded.bad, file.records
    document = _document(decoded, len(data), path, file)
    if document is None:
        return
    file.calls.cleaner.bad = bad
    items = 0
    for name in file.kind.arrays:
        for element in document.arrays.get(name, ()):
            _add_element(file, replace(element, position=items + element.position), bad)
        items += len(document.arrays.get(name, ()))
    cleaner, wrong = Cleaner(bad), list[str]()
    try:
        head = fit(Head, document.head, cleaner, wrong)
    except RecursionError:  # in a field that holds others; the session's own texts stay
        deep = sorted(key for key, member in document.head.items() if isinstance(member, dict | list))
        names = cleaner.text(", ".join(deep))
        records.lose(0, "nesting_too_deep", f"parser: unparseable record 0 (nesting_too_deep): {names}", detail=names)
        head = fit(Head, {k: v for k, v in document.head.items() if k not in deep}, cleaner, wrong := [])
    records.note_all(0, cleaner.reasons, wrong)
    _finish(file, head, items if document.arrays else None)
    lose_around(document, file.kind.arrays, records, bad)


def _document(decoded: Text, size: int, path: str, file: _File) -> Document | None:
    """Read the document, or record why nothing of it, of so many bytes, is read."""
    text, bad = decoded.text, decoded.bad
    name, records, arrays = path.rpartition("/")[2], file.records, file.kind.arrays
    if not text.strip():
        records.lose(0, "empty_file", "parser: unreadable (empty_file)", size=size)
        return None
    if _is_index_copy(name, text):
        records.count += 1
        records.silent += 1
        records.note(0, "index_copy")
        return None
    document = read_object(text, arrays, _KEYS, is_item)
    if isinstance(document, Fault):
        records.lose(0, document.reason, f"parser: unreadable ({document.reason})", size=size)
        return None
    odd = {name: document.head.pop(name) for name in arrays if document.head.get(name) is not None}
    if odd and not any(document.arrays.values()):
        records.lose(0, "wrong_type", "parser: unreadable (wrong_type)", detail=", ".join(odd), size=size)
        return None
    document.faults.extend(misplaced(value, bad) for value in odd.values())
    return document


def _is_index_copy(name: str, text: str) -> bool:
    """Say whether a file is a copy of the index: an array, whole or damaged, under the name of one."""
    return (name.endswith(" (1).json") or "sync-conflict" in name) and text.lstrip().startswith("[")


def _add_element(file: _File, element: Element, bad: str | None) -> None:
    """Add one element of a damaged document: an item, or a loss."""
    value, cleaner, wrong = element.value, Cleaner(bad), list[str]()
    try:
        if isinstance(value, Fault):
            reason, text = value.reason, value.text
        elif is_item(value) and isinstance(value, dict):
            bare, requests = take_logs(value, bad)
            item = fit(file.kind.item, bare, cleaner, wrong)
            file.records.note_all(element.position, cleaner.reasons, wrong)
            _add_item(file, element.position, item, requests)
            return
        else:
            reason, text = "wrong_type" if isinstance(value, dict) else "not_an_object", compact(clean(value, cleaner))
    except RecursionError:
        reason, text = "nesting_too_deep", element.raw
    text = f"parser: unparseable record {element.position} ({reason}): {cleaner.text(text)}"
    file.records.lose(element.position, reason, text, size=element.size)


def _finish(file: _File, head: Head, items: int | None) -> None:
    """Add the head and the calls, which later items complete."""
    records = file.records
    usage = head.usage or Usage()
    details = usage.prompt_tokens_details or TokenDetails()
    records.rows["calls"].extend(file.calls.rows())
    records.count += 1
    records.rows["heads"].append(
        (
            head.session_id or None,
            head.title,
            head.workspace_directory,
            project_path(head.workspace_directory),
            head.mode or None,
            head.chat_model_title or None,
            items,
            token(usage.prompt_tokens),
            token(usage.completion_tokens),
            token(details.cached_tokens),
            token(usage.total_cost),
        )
    )


def _add_item(file: _File, position: int, item: Item, requests: Iterable[int]) -> None:
    """Add an element of `history` with its calls, context items and the hashes of its model requests."""
    rows, message = file.records.rows, item.message
    text = message.content if isinstance(message.content, str) else _content(message.content)
    calls = len(file.calls.drafts)
    states = item.tool_call_states or ([item.tool_call_state] if item.tool_call_state else [])
    if message.tool_calls or states:
        _add_calls(file, position, message.tool_calls or [], states)
    for context in item.contexts():
        _add_context(file, position, context)
    rows["prompt_logs"].extend([(position, request) for request in requests])
    answers = file.calls.answer(position, message.tool_call_id, text) if message.role == "tool" else None
    file.records.count += 1
    rows["items"].append(
        (
            position,
            message.role,
            text,
            *(_reasoning(item.reasoning) if item.reasoning else _NO_REASONING),
            item.conversation_summary,
            _model_title(item.prompt_logs) if item.prompt_logs else None,
            *(stated(message.usage) if message.usage else NOTHING_STATED),
            message.tool_call_id or None,
            answers,
            len(file.calls.drafts) - calls,
        )
    )


def _reasoning(reasoning: Reasoning) -> tuple[str | None, ...]:
    return reasoning.text, token(reasoning.start_at), token(reasoning.end_at)


def _model_title(logs: list[Prompt]) -> str | None:
    """Return the model of the last prompt log that names one."""
    for log in reversed(logs):
        if isinstance(log.model, str) and log.model:
            return log.model
    return None


def _content(content: object) -> str:
    """Text of a message that is none: parts joined by a line feed, an image as `[image]`, another type as JSON."""
    if isinstance(content, list):
        return "\n".join(map(_part, content))
    return as_text(content)


def _part(part: object) -> str:
    if isinstance(part, dict):
        if isinstance(part.get("text"), str):
            return str(part["text"])
        if "imageUrl" in part or part.get("type") in ("imageUrl", "image_url", "image"):
            return "[image]"
    return as_text(part)


def _add_calls(file: _File, position: int, calls: list[Call], states: list[State]) -> None:
    """Add an item's calls, and the notes on texts that their arguments hide."""
    file.records.count += file.calls.add(position, calls, states)
    if file.calls.cleaner.reasons:
        file.records.note_all(position, file.calls.cleaner.reasons, [])
        file.calls.cleaner.reasons.clear()


def _add_context(file: _File, position: int, context: ContextItem) -> None:
    """Add a context item."""
    file.records.count += 1
    file.records.rows["context"].append(
        (
            position,
            file.contexts,
            context.id.provider_title if context.id else None,
            context.name,
            context.description,
            context.uri.value if context.uri else None,
            None if context.content is None else as_text(context.content),
        )
    )
    file.contexts += 1
