"""Values as the page shows them: short, on one line, without anything that turns or hides what stands beside it."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

from pipeline.textgrid import ELLIPSIS, safe

Kind = Literal["text", "count", "rate", "money", "size", "time", "day"]

SHORT, WHOLE, LABEL = 60, 500, 28
"""Characters of a text in a cell, in its title (what is seen when one points at it), and beside a bar."""

WORDS = {
    "tool_name": "tool",
    "tool_kind": "kind of tool",
    "decision_reason": "by",
    "share_of_calls": "share",
    "failure_rate": "failure rate",
    "stopped_rate": "share stopped",
    "cost_usd": "cost (USD)",
    "turn_type": "turn",
}
"""Headings of columns that are not just their names."""

NOTHING = {"user": "no user", "host": "no host", "model": "no model", "tool_name": "no name", "title": "no title"}
"""What stands for a null; a dash in other columns."""

_UNITS = ("B", "kB", "MB", "GB", "TB")


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as it is shown; `title` is the whole of one that is shortened, `key` what a number is sorted by."""

    text: str
    title: str | None = None
    key: str | None = None
    is_null: bool = False


def kind_of(column: str, dtype: str) -> Kind:
    """What a column's values are, by its name and its DuckDB type."""
    if dtype in ("DATE", "TIMESTAMP"):
        return "day" if dtype == "DATE" else "time"
    if dtype == "VARCHAR":
        return "text"
    if column.endswith("_usd"):
        return "money"
    if column.endswith("bytes"):
        return "size"
    return "rate" if dtype == "DOUBLE" else "count"


def heading(column: str) -> str:
    """Heading of a column."""
    if column in WORDS:
        return WORDS[column]
    words = column.replace("_", " ")
    return words.removesuffix(" utc") + " (UTC)" if column.endswith("_utc") else words


def cell(column: str, kind: Kind, value: Any) -> Cell:
    """A value of a column as a cell."""
    if value is None:
        return Cell(NOTHING.get(column, "–"), is_null=True)
    if kind == "text":
        return _text(value)
    return Cell(shown(kind, value), key=value.isoformat() if isinstance(value, date) else repr(value))


def shown(kind: Kind, value: Any) -> str:
    """A value that is no text, for people."""
    if kind == "money":
        return f"{value:,.2f}"
    if kind == "rate":
        return f"{100 * value:.1f} %"
    if kind == "size":
        return size(value)
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    return value.isoformat() if isinstance(value, date) else f"{value:,}"


def size(count: int) -> str:
    """A number of bytes in the unit that fits."""
    value, unit = float(count), 0
    while value >= 999.5 and unit + 1 < len(_UNITS):
        value, unit = value / 1000, unit + 1
    return f"{value:,.0f} {_UNITS[unit]}" if unit == 0 or value >= 99.95 else f"{value:.1f} {_UNITS[unit]}"


def large(count: int) -> str:
    """A number that may be too long to be read, in millions or billions then."""
    if count < 1_000_000:
        return f"{count:,}"
    return f"{count / 1e6:,.1f} M" if count < 10_000_000_000 else f"{count / 1e9:,.1f} G"


def counted(count: int, thing: str) -> str:
    """A number of things."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def short(text: str, most: int) -> str:
    """A text on one line, of at most `most` characters."""
    # An escape is longer than its character: what is cut off here is never shown.
    told = safe(text[: most + 1])
    return told if len(told) <= most else told[: most - 1].rstrip() + ELLIPSIS


def _text(text: str) -> Cell:
    told = short(text, SHORT)
    if told == text:
        return Cell(told) if text else Cell("''", title="an empty text")
    return Cell(told, title=short(text, WHOLE) + (f" ({len(text):,} characters)" if len(text) > WHOLE else ""))
