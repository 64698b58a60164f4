"""PearAI's agent: its list of tasks and its standing settings, in the editor's database of state.

File: `<User>/globalStorage/state.vscdb`, SQLite, table `ItemTable(key, value)`; the extension's own state is one JSON
object under its id, in capitals or not. `taskHistory` is a list of `HistoryItem`, the auto-approval settings are
members beside it (src/schemas/index.ts of PearAI's fork of Roo Code 3.15). An item's `ts` is that of the last message
of its task. No other row is read: those under `secret://` are credentials.
"""

import re
from typing import Any

import msgspec

from parsers import _state_rows
from parsers._array import fitted, lose_around, misplaced
from parsers._documents import read_object
from parsers._faults import Document, Element, Fault, size_of
from parsers._json import Json, clean, compact, token
from parsers._paths import project_path
from parsers._sqlite import read_values
from parsers._text import Cleaner, decode
from pipeline.schema import FLAG, SMALL, TEXT, Column, Table
from pipeline.secrets import mask
from pipeline.source import Records, Source

KEY, TASKS = "pearai.pearai-roo-cline", "taskHistory"
SETTINGS = (
    "autoApprovalEnabled",
    "alwaysAllowReadOnly",
    "alwaysAllowReadOnlyOutsideWorkspace",
    "alwaysAllowWrite",
    "alwaysAllowWriteOutsideWorkspace",
    "alwaysAllowBrowser",
    "alwaysApproveResubmit",
    "alwaysAllowMcp",
    "alwaysAllowModeSwitch",
    "alwaysAllowSubtasks",
    "alwaysAllowExecute",
    "allowedCommands",
)
_UNREAD = (
    "empty_file",
    "zero_filled",
    "json_truncated",
    "json_invalid",
    "nesting_too_deep",
    "not_an_object",
    "wrong_type",
    "database_damaged",
    "unreadable",
)

ITEMS = Table(
    "items",
    "one record per usable item of `taskHistory`",
    ("artifact", "position"),
    (
        Column("position", SMALL, "1-based position; of several states on from one to the next."),
        Column("session_id", TEXT, "`id`."),
        Column("task", TEXT, "`task`."),
        Column("ts", TEXT, "`ts`, a JSON token (ms)."),
        Column("workspace_directory", TEXT, "`workspace` as stored."),
        Column("project_path", TEXT, "`workspace`, decoded."),
        Column("number", TEXT, "`number`, a JSON token."),
        *(Column(name, TEXT, f"`{field}`, a JSON token.") for name, field in _state_rows.COUNTS.items()),
        Column("cost", TEXT, "`totalCost`, a JSON token."),
        Column("is_created", FLAG, "Whether it was started to make a new project."),
        Column("new_type", TEXT, "`creatorModeConfig.newProjectType`."),
        Column("new_path", TEXT, "`creatorModeConfig.newProjectPath`."),
    ),
)
RULES = Table(
    "rules",
    "one record per auto-approval setting",
    ("artifact", "record"),
    (
        Column("record", SMALL, "Number among the settings, from 1."),
        Column("rule", TEXT, "Its key."),
        Column("value", TEXT, "Its value, as JSON."),
    ),
)


class Creator(msgspec.Struct, rename="camel", gc=False):
    """`creatorModeConfig`, false in any task that was not started by PearAI Creator."""

    creator_mode: Any = None
    new_project_type: str | None = None
    new_project_path: str | None = None


class Item(msgspec.Struct, rename="camel", gc=False):
    """`HistoryItem`."""

    id: str | None = None
    number: Any = None
    ts: Any = None
    task: str | None = None
    tokens_in: Any = None
    tokens_out: Any = None
    cache_writes: Any = None
    cache_reads: Any = None
    total_cost: Any = None
    workspace: str | None = None
    creator_mode_config: Creator | None = None


def is_item(value: Json) -> bool:
    """Say whether a value is a usable item."""
    return isinstance(value, dict) and isinstance(value.get("id"), str) and bool(value["id"])


def read(data: bytes, path: str, records: Records) -> None:
    """Read the agent's state out of the database; several of other capitals in the order they were written."""
    if not data:
        records.lose(0, "empty_file", "parser: unreadable (empty_file)", size=0)
        return
    stored = read_values(data, records.companions.get("-wal"), KEY)
    settings, seen, items = dict[str, str](), set[str](), 0
    for value in stored.values:
        items = _read_state(value, records, settings, (seen, items))
    for record, (rule, setting) in enumerate(settings.items(), 1):
        records.count += 1
        records.rows["rules"].append((record, rule, setting))
    if stored.is_damaged:
        size = None if stored.values else len(data)
        records.lose(0, "database_damaged", "parser: unreadable (database_damaged)", size=size)


def _read_state(data: bytes, records: Records, settings: dict[str, str], done: tuple[set[str], int]) -> int:
    """Read one state: its items count on from those that are `done`, its settings replace earlier ones.

    Returns the number of items.
    """
    decoded, (seen, items) = decode(data), done
    document = _document(decoded.text, records, decoded.bad)
    if document is None:
        return items
    for element in document.arrays.get(TASKS, ()):
        items += 1
        _add_item(Element(items, element.value, element.raw), Cleaner(decoded.bad), seen, records)
    cleaner = Cleaner(decoded.bad)
    for rule in SETTINGS:
        if rule not in document.head:
            continue
        settings.pop(rule, None)
        try:
            settings[rule] = mask(compact(clean(document.head[rule], cleaner)))
        except RecursionError:
            text = f"parser: unparseable record 0 (nesting_too_deep): {rule}"
            records.lose(0, "nesting_too_deep", text, detail=rule)
    records.note_all(0, cleaner.reasons, [])
    lose_around(document, (TASKS,), records, decoded.bad)
    return items


def _document(text: str, records: Records, bad: str | None) -> Document | None:
    """Read the state, or record why nothing of it is read."""
    document: Document | Fault = Fault("empty_file", text)
    if text.strip():
        document = read_object(text, (TASKS,), SETTINGS, is_item)
    if isinstance(document, Fault):
        records.lose(0, document.reason, f"parser: unreadable ({document.reason})", size=size_of(text))
        return None
    odd = document.head.pop(TASKS, None)
    if odd is not None:
        document.faults.append(misplaced(odd, bad))
    return document


def _add_item(element: Element, cleaner: Cleaner, seen: set[str], records: Records) -> None:
    """Add one item, or its loss; the second of an id is noted."""
    item = fitted(element, Item, is_item, cleaner, records)
    if item is None:
        return
    identifier, creator = item.id or "", item.creator_mode_config or Creator()
    if identifier in seen:
        records.note(element.position, "duplicate_id")
    seen.add(identifier)
    records.count += 1
    new = creator.new_project_type, creator.new_project_path
    records.rows["items"].append(
        (
            element.position,
            identifier,
            item.task,
            token(item.ts),
            item.workspace or None,
            project_path(item.workspace),
            token(item.number),
            token(item.tokens_in),
            token(item.tokens_out),
            token(item.cache_reads),
            token(item.cache_writes),
            token(item.total_cost),
            creator.creator_mode is True or (creator.creator_mode is None and any(new)),
            *new,
        )
    )


SOURCE = Source(
    name="pearai.state",
    agent="pearai",
    root="editor",
    pattern=re.compile(r"User/globalStorage/state\.vscdb"),
    tables=(ITEMS, RULES),
    read=read,
    stage=_state_rows.stage,
    file="state.vscdb",
    replaced_on=frozenset(_UNREAD),
    companions=("-wal",),
)
