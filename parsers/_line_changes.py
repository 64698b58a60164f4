"""How many lines a change adds and removes."""

from collections import Counter

_MOST = 1 << 24
"""Pairs of lines that are compared; a change beyond it is counted without regard to the order of its lines."""


def line_changes(old: str | None, new: str | None) -> tuple[int | None, int | None]:
    """Return the lines added and removed between two texts: a shortest line diff; null where both are empty.

    A line feed at the end of a text begins no line.
    """
    if not old and not new:
        return None, None
    if not old or not new:
        return _count(new), _count(old)
    before, after = _lines(old), _lines(new)
    same = _unchanged(before, after)
    return len(after) - same, len(before) - same


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def _count(text: str | None) -> int:
    """Count the lines of a text without making them."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def _unchanged(old: list[str], new: list[str]) -> int:
    """Count the lines that a shortest diff leaves alone: the longest common subsequence."""
    shorter, first, last = min(len(old), len(new)), 0, 0
    while first < shorter and old[first] == new[first]:
        first += 1
    while last < shorter - first and old[-1 - last] == new[-1 - last]:
        last += 1
    old, new = old[first : len(old) - last], new[first : len(new) - last]
    if not old or not new:
        return first + last
    common = set(old) & set(new)
    old, new = [line for line in old if line in common], [line for line in new if line in common]
    if len(old) * len(new) > _MOST:
        return first + last + (Counter(old) & Counter(new)).total()
    return first + last + _longest_common(*sorted((old, new), key=len))


def _longest_common(short: list[str], long: list[str]) -> int:
    """Return the length of the longest common subsequence of lines that both have, a row of the usual table at a time.

    Bit n of `row` is 0 where the common subsequence grows with line n of `short` (H. Hyyro, "Bit-parallel LCS-length
    computation revisited", 2004): the time depends on the numbers of lines, never on what they say.
    """
    places: dict[str, int] = {}
    for number, line in enumerate(short):
        places[line] = places.get(line, 0) | 1 << number
    whole = (1 << len(short)) - 1
    row = whole
    for line in long:
        grown = row & places[line]
        row = (row + grown | row - grown) & whole
    return len(short) - row.bit_count()
