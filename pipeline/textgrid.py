"""Text in columns for a terminal or a pipe, safe to print whatever it holds.

Texts of transcripts can hold escape sequences that drive a terminal, and characters that turn the reading
direction; here they are written as `\\x1b`, `\\u202e` and so on. Widths are in terminal cells: a wide
character takes two.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest

from rich.cells import cell_len, chop_cells, set_cell_size

GAP = "  "
ELLIPSIS = "…"
WIDEST = 80
"""Columns without a limit are not filled up beyond this width: a longer value moves what follows it in its line."""
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


def cells(text: str) -> int:
    """Width of a safe text in cells."""
    return len(text) if text.isascii() else cell_len(text)


def cut(text: str, width: int) -> str:
    """A safe text of at most `width` cells; one that is longer ends in an ellipsis."""
    if cells(text) <= width:
        return text
    return (text[: width - 1] if text.isascii() else set_cell_size(text, width - 1)).rstrip() + ELLIPSIS


def padded(text: str, width: int, *, right: bool = False) -> str:
    """A text filled up with blanks to `width` cells."""
    blanks = " " * (width - cells(text))
    return blanks + text if right else text + blanks


def layout(widths: Sequence[int], available: int | None, least: Sequence[int]) -> list[int] | None:
    """Widths of columns in `available` cells (null: any number), the widest cut first; null where they do not fit.

    No column is cut below its `least` width, nor below `NARROWEST`.
    """
    if available is None:
        return [min(width, WIDEST) for width in widths]
    room = available - len(GAP) * (len(widths) - 1)
    for most in range(max(widths, default=0), min(max(widths, default=0), NARROWEST) - 1, -1):
        fitting = [max(min(width, most), floor) for width, floor in zip(widths, least, strict=True)]
        if sum(fitting) <= room:
            return fitting
    return None


def grid(
    names: Sequence[str],
    rows: Iterable[Sequence[str]],
    widths: Sequence[int],
    right: Sequence[bool],
    *,
    whole: bool = False,
) -> Iterator[str]:
    """Lines of a table: names, a rule, rows; cells of columns in `right` end at the same place.

    Cells that are too long are cut, or `whole` all the same.
    """

    def line(cells: Sequence[str]) -> str:
        fitting = cells if whole else map(cut, cells, widths)
        return GAP.join(padded(c, w, right=r) for c, w, r in zip(fitting, widths, right, strict=True)).rstrip()

    yield line(names)
    yield GAP.join("-" * width for width in widths)
    yield from map(line, rows)


def blocks(
    names: Sequence[str], rows: Iterable[Sequence[str]], available: int | None, *, wrapped: bool = False
) -> Iterator[str]:
    """Lines of a table with a line per value: one that is too long is cut, or goes on in the next lines."""
    label = max(map(cells, names))
    room = None
    if available is not None:
        label = min(label, available // 2)
        room = max(available - label - len(GAP), NARROWEST)
    for number, row in enumerate(rows, 1):
        yield f"-- row {number} --"
        for title, cell in zip(names, row, strict=True):
            parts = [cell] if room is None else chop_cells(cell, room) or [""] if wrapped else [cut(cell, room)]
            for head, part in zip_longest([cut(title, label)], parts, fillvalue=""):
                yield (padded(head, label) + GAP + part).rstrip()
