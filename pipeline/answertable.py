"""A query's answer as a table for people: columns that fit a terminal, or a block of lines per row."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import IO

from pipeline import textgrid
from pipeline.answer import Field, Rows

TERMINAL_ROWS = 1000
"""Rows that a table on a terminal shows unless it is told otherwise; the rest is counted."""
LONGEST = 1000
"""Characters of a value that a block of lines on a terminal shows."""
KEPT_BYTES = 32 << 20
"""Rows that wait until the widths of all are known are in memory up to so many bytes, then in a file."""


@dataclass(frozen=True, slots=True)
class View:
    """How to show a table: its most rows (null: all), the terminal's width (null: none, nothing is cut).

    With `expanded` every row is a block with a line per value.
    """

    max_rows: int | None = None
    width: int | None = None
    expanded: bool = False

    @property
    def longest(self) -> int | None:
        """Most characters of a value (null: all): what lines can hold, marks that take no room among them."""
        return None if self.width is None else LONGEST if self.expanded else 2 * self.width


def table_lines(fields: Sequence[Field], rows: Rows, view: View) -> Iterator[str]:
    """Aligned columns, or blocks of lines where they do not fit; then the number of rows."""
    names = [textgrid.safe(field.name) for field in fields]
    widest = [0] * len(names)
    with tempfile.SpooledTemporaryFile(KEPT_BYTES, "w+", encoding="utf-8") as kept:
        shown = 0
        for row in islice(rows, view.max_rows):
            cells = [_shortened(textgrid.shown(value), view.longest) for value in row]
            widest = list(map(max, widest, map(textgrid.cells, cells)))
            kept.write(json.dumps(cells) + "\n")
            shown += 1
        total = shown + sum(1 for _ in rows)
        kept.seek(0)
        yield from _laid_out(fields, names, kept, widest, view)
    count = f"{total:,} row{'' if total == 1 else 's'}"
    yield f"({count}, {shown:,} shown)" if total > shown else f"({count})"


def _shortened(text: str, longest: int | None) -> str:
    return text if longest is None or len(text) <= longest else text[:longest] + textgrid.ELLIPSIS


def _laid_out(
    fields: Sequence[Field], names: Sequence[str], kept: IO[str], widest: Sequence[int], view: View
) -> Iterator[str]:
    """Lines of the rows that were kept, whose cells are as wide as `widest` says."""
    rows = (json.loads(line) for line in kept)
    if view.expanded:
        yield from textgrid.blocks(names, rows, view.width, wrapped=True)
        return
    titles = list(map(textgrid.cells, names))
    natural = list(map(max, widest, titles))
    widths = textgrid.layout(natural, view.width, natural)
    if widths is None:
        # Long titles are cut before values are, and numbers and times never.
        natural = [max(width, min(title, textgrid.NARROWEST)) for width, title in zip(widest, titles, strict=True)]
        least = [width if field.is_short else 0 for field, width in zip(fields, widest, strict=True)]
        widths = textgrid.layout(natural, view.width, least)
    if widths is None:
        yield from textgrid.blocks(names, rows, view.width)
    else:
        numbers = [field.is_number for field in fields]
        yield from textgrid.grid(names, rows, widths, numbers, whole=view.width is None)
