"""SQLite databases that a program was writing to, or that are damaged: values of a key-value table.

A database is read on a copy of its own, with the log of what was not yet written into it (`-wal`), which SQLite applies
as far as it is whole. Its shared memory (`-shm`) is left out: SQLite makes it anew. So is a rollback journal: it can
name a file anywhere, which SQLite would then remove.
"""

import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

_MOST_STEPS = 200_000_000
"""Instructions of SQLite's machine after which a query is given up: a database can hold one without an end."""
_STEPS = 1_000_000
_SHORT = 1_000_000
"""Bytes that a value may have whatever the size of its database."""


@dataclass(slots=True)
class Stored:
    """Values in the order they were written, and whether something of the database could not be read."""

    values: list[bytes] = field(default_factory=list)
    is_damaged: bool = False


def read_values(data: bytes, wal: bytes | None, key: str) -> Stored:
    """Read the values of `key`, in capitals or not, from the editor's table of state, `ItemTable(key, value)`.

    No other value is read. A database without that table has none. Raises sqlite3.Error where the disk is full.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "copy")
        path.write_bytes(data)
        if wal is not None:
            Path(folder, "copy-wal").write_bytes(wal)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            # A column that is computed can be longer than all that the files hold; UTF-16 grows as UTF-8.
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2 * (len(data) + len(wal or b"")) + _SHORT)
            return _values(connection, key)


def _values(connection: sqlite3.Connection, key: str) -> Stored:
    connection.text_factory = bytes
    left = iter(range(_MOST_STEPS // _STEPS))
    connection.set_progress_handler(lambda: next(left, None) is None, _STEPS)
    found = Stored()
    try:
        connection.execute("pragma trusted_schema = off")
        has_table = connection.execute(
            "select 1 from sqlite_master where type = 'table' and name = 'ItemTable' collate nocase"
        ).fetchone()
    except sqlite3.DatabaseError as error:
        found.is_damaged = _is_damage(error)
        return found
    if has_table and not _seek(connection, key, found):
        _scan(connection, key, found)
    return found


def _seek(connection: sqlite3.Connection, key: str, found: Stored) -> bool:
    """Read by the index of keys, which touches no page of another value; say whether that could be done."""
    try:
        keys = connection.execute(
            "select rowid from ItemTable where cast(key as text) = ? collate nocase", (key,)
        ).fetchall()
        for (rowid,) in sorted(keys):
            row = connection.execute("select value from ItemTable where rowid = ?", (rowid,)).fetchone()
            found.values.append(_bytes(row[0]))
    except sqlite3.DatabaseError as error:
        found.is_damaged = _is_damage(error)
        found.values.clear()
        return False
    return True


def _scan(connection: sqlite3.Connection, key: str, found: Stored) -> None:
    """Read the table itself up to its first damage."""
    try:
        rows = connection.execute(
            "select value from ItemTable not indexed where cast(key as text) = ? collate nocase", (key,)
        )
        for (value,) in rows:
            found.values.append(_bytes(value))
    except sqlite3.DatabaseError as error:
        found.is_damaged = _is_damage(error)


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Say that an error is the database's own. Raises it where it is this machine's."""
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
        raise error
    return True


def _bytes(value: object) -> bytes:
    """A value as the bytes of its text."""
    if value is None:
        return b""
    return value if isinstance(value, bytes) else str(value).encode()
