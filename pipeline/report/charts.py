"""Charts as SVG: Vega-Lite specifications, drawn when the page is made, so that the page runs no code for them.

A specification has numbers, times and labels as data alone; its fields and settings are ours. Colours are the page's
own (`var(--...)`), so that light, dark and print have theirs. Each chart is drawn twice, for a wide and for a narrow
place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import vl_convert
from markupsafe import Markup
from rich.cells import cell_len

from pipeline.report.display import LABEL, short

VEGA_LITE = "6.4"
WIDE, NARROW = 540, 320
"""Widths (pixels)."""

HEIGHT, BAR, CHARACTER = 210, 22, 7
"""Height of a chart over time, of a bar that lies, and width of a character of a label (pixels)."""

LARGEST, FEW = 12, 5
"""Bars that lie, at most; and up to which number each has a tick."""

COLOURS = [f"var(--series-{at})" for at in range(1, 5)]

_INK, _QUIET, _GRID = "var(--ink)", "var(--quiet)", "var(--grid)"
_CONFIG = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "aria": False,
        "labelColor": _QUIET,
        "titleColor": _QUIET,
        "titleFontWeight": "normal",
        "domainColor": _GRID,
        "tickColor": _GRID,
        "gridColor": _GRID,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titlePadding": 12,
    },
    "legend": {
        "aria": False,
        "labelColor": _INK,
        "title": None,
        "orient": "top",
        "labelFontSize": 11,
        "columnPadding": 28,
    },
}


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawn chart; `told` is what it shows, in words, and `rows` the numbers behind it, `heads` above them."""

    title: str
    told: str
    wide: Markup
    narrow: Markup
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of a bar: a series' share of what stands or lies at one place; `told` is shown to who points at it."""

    place: str
    until: str | None
    series: str
    start: float
    end: float
    told: str


def over_time(
    bars: Sequence[Bar], series: Sequence[str], unit: str, period: tuple[date, date]
) -> tuple[Markup, Markup]:
    """Draw bars that stand on an axis of time over a period, from `place` to `until` (dates), wide and narrow."""
    first, last = period
    axis = {"grid": False, "labelSeparation": 12, **_dates(first, last)}
    # Days without a time would be those of the place where the page is made.
    scale = {"type": "utc", "domain": [f"{day}T00:00:00Z" for day in (first, last)]}
    encoding = {
        "x": {"field": "place", "type": "temporal", "scale": scale, "title": None, "axis": axis},
        "x2": {"field": "until"},
        "y": {"field": "start", "type": "quantitative", "title": unit, "axis": _ticks(bars)},
        "y2": {"field": "end"},
    }
    wide, narrow = (_drawn(bars, series, encoding, (width, HEIGHT)) for width in (WIDE, NARROW))
    return wide, narrow


def lying(bars: Sequence[Bar], series: Sequence[str], unit: str) -> tuple[Markup, Markup]:
    """Draw bars that lie, one below the other in the order they come, wide and narrow."""
    places = {bar.place for bar in bars}

    def drawn(width: int, widest: int) -> Markup:
        # The reader's font is not known, and wider than the one that Vega measures.
        room = min(max(map(cell_len, places)) * CHARACTER, widest)
        labels = {"minExtent": room, "labelLimit": 0.8 * widest, "ticks": False}
        encoding = {
            "y": {"field": "place", "type": "nominal", "sort": None, "title": None, "axis": labels},
            "x": {"field": "start", "type": "quantitative", "title": unit, "axis": _ticks(bars)},
            "x2": {"field": "end"},
        }
        return _drawn(bars, series, encoding, (width, len(places) * BAR + 60))

    return drawn(WIDE, 210), drawn(NARROW, 125)


def labels(texts: Sequence[str]) -> list[str]:
    """Short labels of texts, each another one."""
    found: dict[str, None] = {}
    for text in texts:
        label = short(text, LABEL)
        at = 2
        while label in found:
            label = f"{short(text, LABEL)} ({at})"
            at += 1
        found[label] = None
    return list(found)


def stacked(place: str, until: str | None, values: Mapping[str, float], told: Mapping[str, str]) -> list[Bar]:
    """The stretches of one bar, from the values of its series; nothing for a series without any."""
    bars: list[Bar] = []
    start = 0.0
    for series, value in values.items():
        if value > 0:
            bars.append(Bar(place, until, series, start, start + value, told[series]))
            start += value
    return bars


def _dates(first: date, last: date) -> dict[str, Any]:
    """An axis of time; on that of a few weeks, which begin on Mondays, some of these have a tick."""
    days = (last - first).days
    if days < 100:
        apart = timedelta(weeks=-(-days // 7 // 6))
        mondays = (datetime.combine(first + at * apart, time(), UTC) for at in range(days // apart.days + 1))
        return {"format": "%d %b", "values": [monday.timestamp() * 1000 for monday in mondays]}
    return {"format": "%b %Y" if days < 1500 else "%Y", "tickCount": 5}


def _ticks(bars: Sequence[Bar]) -> dict[str, Any]:
    """An axis of numbers, in whole steps where they are whole."""
    highest = max(bar.end for bar in bars)
    if highest <= FEW and all(bar.end == int(bar.end) for bar in bars):
        return {"format": "d", "values": list(range(int(highest) + 1))}
    return {"format": "~s" if highest >= 10_000 else "~f", "tickCount": 5}


def _drawn(bars: Sequence[Bar], series: Sequence[str], encoding: Mapping[str, Any], place: tuple[int, int]) -> Markup:
    """Draw a chart into a place of a width and a height."""
    width, height = place
    colour = {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": list(series), "range": COLOURS[: len(series)]},
        "legend": {} if len(series) > 1 else None,
    }
    spec = {
        "data": {"values": [{field: getattr(bar, field) for field in Bar.__slots__} for bar in bars]},
        "mark": {"type": "rect" if "y2" in encoding else "bar"},
        "encoding": {**encoding, "color": colour, "description": {"field": "told"}},
        "width": width,
        "height": height,
        "autosize": {"type": "fit", "contains": "padding"},
        "padding": 2,
        "config": _CONFIG,
    }
    # Vega escapes every text that it writes; it may fetch nothing.
    return Markup(vl_convert.vegalite_to_svg(spec, VEGA_LITE, allowed_base_urls=[]))  # noqa: S704
