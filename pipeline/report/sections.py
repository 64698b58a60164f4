"""The report's sections: which answers each holds, as what."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from pipeline.report import charts
from pipeline.report.charts import Chart
from pipeline.report.display import NOTHING, heading, kind_of, shown
from pipeline.report.facts import Facts, Row
from pipeline.report.tables import Grid, table

NO_LIMIT = 10_000
"""More than the rows of any answer that a chart is drawn of: a few per week, month or year."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: its name in links, title, remarks, charts and tables."""

    name: str
    title: str
    charts: list[Chart]
    tables: list[Grid]
    notes: list[str] = field(default_factory=list)


def sections(facts: Facts) -> Iterator[Section]:
    """Yield the sections, in order."""
    timed = [row for row in facts.answer("activity", NO_LIMIT).rows if row["since"] is not None]
    agents = sorted({row["agent"] for row in timed})

    def by_agent(column: str, unit: str) -> list[Chart]:
        return _over_time(facts.step, timed, _Measure(unit, agents, lambda row: {row["agent"]: row[column] or 0}))

    def by_column(columns: Sequence[str], unit: str) -> list[Chart]:
        names = [heading(column) for column in columns]
        measure = _Measure(unit, names, lambda row: {heading(column): row[column] or 0 for column in columns})
        return _over_time(facts.step, timed, measure)

    activity = by_agent("sessions", "sessions") + by_agent("prompts", "prompts") + by_agent("calls", "calls")
    assistants = table(facts, "assistants", ("sessions", "prompts", "replies", "calls"), by="sessions")
    yield Section("activity", "Activity", activity, [assistants], _counted(facts))
    yield Section("models", "Models", _models(facts), [table(facts, "models", ("replies", "calls"), by="replies")])
    columns = ("calls", "ran", "failed", "not_run", "not_known", "denied", "blocked")
    yield Section("tools", "Tools", _tools(facts), [table(facts, "tools", columns, by="calls")])
    columns = ("denied", "blocked", "allowed", "unknown", "calls")
    yield Section(
        "decisions",
        "Decisions",
        by_column(("denied", "blocked"), "stopped calls"),
        [
            table(facts, "decisions", ("calls",), by="calls"),
            table(facts, "decisions_by_tool", columns),
            table(facts, "decisions_by_user", columns),
        ],
        ["The calls themselves: homelake sql LAKE --example stopped_calls"],
    )
    yield Section(
        "permissions",
        "Standing permissions for commands",
        [],
        [table(facts, "permissions_by_rule", by="users"), table(facts, "permissions_by_user", by="rules")],
        ["Only what each home's newest collection holds (current)."],
    )
    columns = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens", "cost_usd")
    yield Section(
        "tokens",
        "Tokens and cost",
        by_column(("prompt_tokens", "completion_tokens"), "tokens") + by_column(("cost_usd",), "cost (USD)"),
        [
            table(facts, "tokens_by_model", columns, by="cost_usd"),
            table(facts, "tokens_by_user", columns, by="cost_usd"),
        ],
        ["Costs are those that the assistants state; where they state none, there is a dash."],
    )
    yield Section(
        "deleted",
        "Deleted and recovered",
        [],
        [
            table(facts, "deleted", ("sessions", "prompts", "calls"), by="sessions"),
            table(facts, "recovered", ("rows",), by="rows"),
            table(facts, "deleted_sessions", ("prompts", "calls"), by="started_utc"),
        ],
    )
    columns = ("files", "records", "losses", "bytes")
    yield Section(
        "problems",
        "Problems",
        [],
        [
            table(facts, "problems", ("losses", "notes", "lost_bytes"), by="losses"),
            table(facts, "files", columns, by="files"),
        ],
    )
    columns = ("sessions", "prompts", "calls", "denied", "blocked", "tokens", "cost_usd")
    yield Section(
        "people",
        "Hosts and users",
        [],
        [table(facts, "hosts", columns, by="prompts"), table(facts, "users", columns, by="prompts")],
    )


@dataclass(frozen=True, slots=True)
class _Measure:
    """What a chart over time counts: its unit, its series, and a row's value for each."""

    unit: str
    series: Sequence[str]
    values: Callable[[Row], dict[str, float]]


def _over_time(step: str, rows: Sequence[Row], measure: _Measure) -> list[Chart]:
    """A chart with a bar for each week, month or year in which there is something; none where there is nothing."""
    found: dict[date, dict[str, float]] = {}
    for row in rows:
        values = found.setdefault(row["since"], dict.fromkeys(measure.series, 0))
        for series, value in measure.values(row).items():
            values[series] += value
    found = {since: values for since, values in found.items() if any(values.values())}
    if not found:
        return []
    kind = kind_of("cost_usd", "DOUBLE") if measure.unit == "cost (USD)" else "count"
    bars = []
    for since, values in found.items():
        told = {name: f"{_named(since, step)}: {shown(kind, value)} {name}" for name, value in values.items()}
        bars += charts.stacked(since.isoformat(), _until(since, step).isoformat(), values, told)
    sums = {since: sum(values.values()) for since, values in found.items()}
    most = max(sums, key=lambda since: (sums[since], since))
    told_all = (
        f"{shown(kind, sum(sums.values()))} {measure.unit} from {_named(min(sums), step)} to {_named(max(sums), step)}, "
        f"most in {_named(most, step)}: {shown(kind, sums[most])}."
    )
    title = f"{measure.unit[0].upper()}{measure.unit[1:]} per {step}"
    table_rows = [[_named(since, step), *(shown(kind, value) for value in found[since].values())] for since in found]
    drawn = charts.over_time(bars, measure.series, measure.unit)
    return [Chart(title, told_all, *drawn, [step, *measure.series], table_rows)]


def _until(since: date, step: str) -> date:
    """First day behind a week, month or year."""
    if step == "week":
        return since + timedelta(days=7)
    return (since.replace(day=28) + timedelta(days=4)).replace(day=1) if step == "month" else date(since.year + 1, 1, 1)


def _named(since: date, step: str) -> str:
    """A week, month or year in words; a week by its Monday."""
    return f"week of {since}" if step == "week" else f"{since:%Y-%m}" if step == "month" else f"{since.year}"


def _models(facts: Facts) -> list[Chart]:
    """The models that reply most."""
    answer = facts.answer("models", charts.LARGEST)
    rows = [row for row in answer.rows if row["replies"]]
    values = [{"replies": row["replies"]} for row in rows]
    return _lying("Replies by model", "model", rows, values)


def _tools(facts: Facts) -> list[Chart]:
    """The tools that are called most, by what became of the calls."""
    rows = facts.answer("tools", charts.LARGEST).rows
    values = [
        {
            "worked": row["ran"] - row["failed"],
            "failed": row["failed"],
            "not run": row["not_run"],
            "not known": row["not_known"],
        }
        for row in rows
    ]
    return _lying("Calls by tool", "tool_name", rows, values)


def _lying(title: str, column: str, rows: Sequence[Row], values: Sequence[dict[str, int]]) -> list[Chart]:
    """A chart of what the rows of an answer count, one bar for each; none without rows."""
    if not rows:
        return []
    texts = [NOTHING[column] if row[column] is None else row[column] for row in rows]
    several = {text for text in texts if texts.count(text) > 1}
    names = charts.labels(
        [f"{text} ({row['agent']})" if text in several else text for text, row in zip(texts, rows, strict=True)]
    )
    series = list(values[0])
    bars = []
    for name, row, counts in zip(names, rows, values, strict=True):
        told = {series: f"{name}, {row['agent']}: {count:,} {series}" for series, count in counts.items()}
        bars += charts.stacked(name, None, counts, told)
    told_all = f"The {len(rows)} with the most; the table below has the numbers. First: {names[0]}."
    unit = "calls" if len(series) > 1 else series[0]
    return [Chart(title, told_all, *charts.lying(bars, series, unit))]


def _counted(facts: Facts) -> list[str]:
    """What is counted, and what the charts over time leave out."""
    rows = [row for row in facts.answer("activity", NO_LIMIT).rows if row["since"] is None]
    counts = {word: sum(row[word] for row in rows) for word in ("sessions", "prompts", "calls")}
    told = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)
    everywhere = "Prompts and replies count wherever they are found, also outside of sessions (see Deleted and recovered)."
    if not told:
        return [everywhere]
    return [everywhere, f"Not in the charts, as their time is not known or later than the newest collection: {told}."]
