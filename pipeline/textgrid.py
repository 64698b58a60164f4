"""Text in columns for a terminal or a pipe, safe to print whatever it holds.

Texts of transcripts can hold escape sequences that drive a terminal, and characters that turn the reading
direction; here they are written as `\\x1b`, `\\u202e` and so on. Widths are in terminal cells: a wide
character takes two.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from rich.cells import cell_len, set_cell_size

GAP = "  "
ELLIPSIS = "…"
NARROWEST = 8
"""Columns are not cut below this width; where they still do not fit, each row becomes a block of lines."""

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_JOINERS = "\u200c\u200d"
_LIKE_NULL = re.compile(r"'*NULL'*")


@lru_cache(maxsize=4096)
def _safe_character(character: str) -> str:
    """A character, or its escape where it is a control, invisible, or a separator of lines."""
    category = unicodedata.category(character)
    if category not in ("Cc", "Cf", "Cs", "Zl", "Zp") or character in _JOINERS:
        return character
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def safe(text: str) -> str:
    """A text on one line, without anything that a terminal would obey."""
    return text if text.isascii() and text.isprintable() else "".join(map(_safe_character, text))


def shown(value: str | None) -> str:
    """A value as a cell: null is `NULL`, and a text that could be taken for it stands in quotes."""
    if value is None:
        return "NULL"
    return f"'{value}'" if _LIKE_NULL.fullmatch(value) else safe(value)


def cut(text: str, width: int) -> str:
    """A text of at most `width` cells; one that is longer ends in an ellipsis."""
    return text if cell_len(text) <= width else set_cell_size(text, width - 1).rstrip() + ELLIPSIS


def padded(text: str, width: int, *, right: bool = False) -> str:
    """A text filled up with blanks to `width` cells."""
    blanks = " " * (width - cell_len(text))
    return blanks + text if right else text + blanks


def layout(widths: Sequence[int], available: int | None) -> list[int] | None:
    """Widths of columns in `available` cells (null: any number); null where they do not fit."""
    if available is None:
        return list(widths)
    room = available - len(GAP) * (len(widths) - 1)
    for most in range(max(widths, default=0), 0, -1):
        fitting = [min(width, most) for width in widths]
        if sum(fitting) <= room:
            return fitting if most >= NARROWEST or fitting == list(widths) else None
    return None


def grid(
    names: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int], right: Sequence[bool]
) -> Iterator[str]:
    """Lines of a table: names, a rule, rows; cells of columns in `right` end at the same place."""

    def line(cells: Sequence[str]) -> str:
        placed = (padded(cut(c, w), w, right=r) for c, w, r in zip(cells, widths, right, strict=True))
        return GAP.join(placed).rstrip()

    yield line(names)
    yield GAP.join("-" * width for width in widths)
    yield from map(line, rows)


def blocks(names: Sequence[str], rows: Sequence[Sequence[str]], available: int) -> Iterator[str]:
    """Lines of a table whose rows are too wide: one line per value."""
    label = min(max(map(cell_len, names)), available // 2)
    room = max(available - label - len(GAP), NARROWEST)
    for number, row in enumerate(rows, 1):
        yield f"-- row {number} --"
        for title, cell in zip(names, row, strict=True):
            yield (padded(cut(title, label), label) + GAP + cut(cell, room)).rstrip()
