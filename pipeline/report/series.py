"""What the charts show: sums per week, month or year, and the largest of what an answer counts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from pipeline.report import charts
from pipeline.report.charts import Bar, Chart
from pipeline.report.display import NOTHING, counted, heading, shown
from pipeline.report.facts import Facts, Row

NO_LIMIT = 10_000
"""More than the rows of `activity`: one per week, month or year and assistant."""

FEWEST = 8
"""Weeks, months or years of a chart."""

Values = dict[str, float]


@dataclass(frozen=True, slots=True)
class _Measure:
    """What a chart over time counts: its unit, its series, and a row's value for each."""

    unit: str
    series: Sequence[str]
    values: Callable[[Row], Values]

    def told(self, value: float) -> str:
        """A value in words."""
        return shown("money" if "USD" in self.unit else "count", value if "USD" in self.unit else int(value))


def by_agent(facts: Facts, column: str) -> list[Chart]:
    """A chart over time of a column of `activity`, by assistant; none where there is nothing."""
    rows = _activity(facts)
    agents = sorted({row["agent"] for row in rows})
    return _over_time(facts.step, rows, _Measure(column, agents, lambda row: {row["agent"]: row[column]}))


def by_column(facts: Facts, columns: Sequence[str], unit: str) -> list[Chart]:
    """A chart over time of columns of `activity`, one above the other; none where there is nothing."""
    measure = _Measure(
        unit, [heading(column) for column in columns], lambda row: {heading(column): row[column] for column in columns}
    )
    return _over_time(facts.step, _activity(facts), measure)


def largest(facts: Facts, select: str, column: str, values: Callable[[Row], dict[str, int]]) -> list[Chart]:
    """A chart of the first rows of an answer, a bar for each, named by a column; none where there is nothing.

    `values` gives the stretches of a row's bar, of which the last bar's names stand for all.
    """
    found = [(row, values(row)) for row in facts.answer(select, charts.LARGEST).rows]
    found = [(row, counts) for row, counts in found if any(counts.values())]
    if not found:
        return []
    names = _names(column, [row for row, _ in found])
    series = list(found[0][1])
    bars: list[Bar] = []
    for name, (row, counts) in zip(names, found, strict=True):
        told = {each: f"{name}, {row['agent']}: {count:,} {each}" for each, count in counts.items()}
        bars += charts.stacked(name, None, counts, told)
    unit = series[0] if len(series) == 1 else "calls"
    told_all = f"The {len(found)} with the most; the table below has the numbers. First: {names[0]}."
    return [Chart(f"{_capital(unit)} by {heading(column)}", told_all, *charts.lying(bars, series, unit))]


def undated(facts: Facts) -> str | None:
    """What the charts over time leave out, in words; null where it is nothing."""
    return _told([row for row in facts.answer("activity", NO_LIMIT).rows if row["since"] is None])


def earlier(facts: Facts) -> str | None:
    """What lies before the charts over time begin, in words; null where it is nothing."""
    return _told([row for row in _dated(facts) if not _is_charted(facts, row)])


def _told(rows: Sequence[Row]) -> str | None:
    """What rows of `activity` count, in words."""
    counts = {word: sum(row[f"{word}s"] for row in rows) for word in ("session", "prompt", "call")}
    return ", ".join(counted(count, word) for word, count in counts.items() if count) or None


def _activity(facts: Facts) -> list[Row]:
    return [row for row in _dated(facts) if _is_charted(facts, row)]


def _dated(facts: Facts) -> list[Row]:
    return [row for row in facts.answer("activity", NO_LIMIT).rows if row["since"] is not None]


def _is_charted(facts: Facts, row: Row) -> bool:
    return facts.charted_from is None or row["since"] >= facts.charted_from


def _over_time(step: str, rows: Sequence[Row], measure: _Measure) -> list[Chart]:
    """A chart with a bar for each week, month or year in which there is something; none where there is nothing."""
    sums = _sums(rows, measure)
    if not sums:
        return []
    bars: list[Bar] = []
    for since, values in sums.items():
        told = {name: f"{_named(since, step)}: {measure.told(value)} {name}" for name, value in values.items()}
        bars += charts.stacked(since.isoformat(), _until(since, step).isoformat(), values, told)
    wholes = {since: sum(values.values()) for since, values in sums.items()}
    most = max(wholes, key=lambda since: (wholes[since], since))
    told_all = (
        f"{measure.told(sum(wholes.values()))} {measure.unit} from {_named(min(sums), step)} to "
        f"{_named(max(sums), step)}, most in {_named(most, step)}: {measure.told(wholes[most])}."
    )
    lines = [[_named(since, step), *map(measure.told, values.values())] for since, values in sums.items()]
    drawn = charts.over_time(bars, measure.series, measure.unit, _period([row["since"] for row in rows], step))
    return [Chart(f"{_capital(measure.unit)} per {step}", told_all, *drawn, [step, *measure.series], lines)]


def _sums(rows: Sequence[Row], measure: _Measure) -> dict[date, Values]:
    """Sums of each series, by the first day of the week, month or year; without those where there is nothing."""
    sums: dict[date, Values] = {}
    for row in rows:
        values = sums.setdefault(row["since"], dict.fromkeys(measure.series, 0))
        for series, value in measure.values(row).items():
            values[series] += value or 0
    return {since: values for since, values in sums.items() if any(values.values())}


def _period(found: Sequence[date], step: str) -> tuple[date, date]:
    """The period of all charts over time, of some weeks, months or years at least."""
    end = _until(max(found), step)
    return min(*found, end - FEWEST * (_until(end, step) - end)), end


def _until(since: date, step: str) -> date:
    """First day behind a week, month or year."""
    if step == "week":
        return since + timedelta(days=7)
    return (since.replace(day=28) + timedelta(days=4)).replace(day=1) if step == "month" else date(since.year + 1, 1, 1)


def _named(since: date, step: str) -> str:
    """A week, month or year in words; a week by its Monday."""
    return f"week of {since}" if step == "week" else f"{since:%Y-%m}" if step == "month" else f"{since.year}"


def _names(column: str, rows: Sequence[Row]) -> list[str]:
    """A label for each row of an answer; with the assistant where several have one name."""
    texts = [NOTHING[column] if row[column] is None else row[column] for row in rows]
    several = {text for text in texts if texts.count(text) > 1}
    named = [f"{text} ({row['agent']})" if text in several else text for text, row in zip(texts, rows, strict=True)]
    return charts.labels(named)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
