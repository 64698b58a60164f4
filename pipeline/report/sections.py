"""The report's sections: which answers each holds, as what."""

from dataclasses import dataclass, field

from pipeline.report import series
from pipeline.report.charts import Chart
from pipeline.report.facts import Facts, Row
from pipeline.report.tables import Grid, table


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: its name in links, title, remarks, charts and tables."""

    name: str
    title: str
    tables: list[Grid]
    charts: list[Chart] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def sections(facts: Facts) -> list[Section]:
    """The sections, in order."""
    made = (_activity, _models, _tools, _decisions, _permissions, _tokens, _deleted, _problems, _people)
    return [section(facts) for section in made]


def _activity(facts: Facts) -> Section:
    notes = ["Prompts and replies count wherever they are found, also outside of sessions (see Deleted and recovered)."]
    if undated := series.undated(facts):
        notes.append(f"Not in the charts, as their time is not known or later than the newest collection: {undated}.")
    if earlier := series.earlier(facts):
        notes.append(f"Not in the charts, as it lies long before nearly all else ({facts.charted_from}): {earlier}.")
    charts = [chart for column in ("sessions", "prompts", "calls") for chart in series.by_agent(facts, column)]
    assistants = table(facts, "assistants", ("sessions", "prompts", "replies", "calls"), by="sessions")
    return Section("activity", "Activity", [assistants], charts, notes)


def _models(facts: Facts) -> Section:
    charts = series.largest(facts, "models", "model", lambda row: {"replies": row["replies"]})
    return Section("models", "Models", [table(facts, "models", ("replies", "calls"), by="replies")], charts)


def _tools(facts: Facts) -> Section:
    def ends(row: Row) -> dict[str, int]:
        worked = row["ran"] - row["failed"]
        return {"worked": worked, "failed": row["failed"], "not run": row["not_run"], "not known": row["not_known"]}

    columns = ("calls", "ran", "failed", "not_run", "not_known", "denied", "blocked")
    tools = table(facts, "tools", columns, by="calls")
    return Section("tools", "Tools", [tools], series.largest(facts, "tools", "tool_name", ends))


def _decisions(facts: Facts) -> Section:
    columns = ("denied", "blocked", "allowed", "unknown", "calls")
    tables = [
        table(facts, "decisions", ("calls",), by="calls"),
        table(facts, "decisions_by_tool", columns),
        table(facts, "decisions_by_user", columns),
    ]
    charts = series.by_column(facts, ("denied", "blocked"), "stopped calls")
    notes = ["The calls themselves: homelake sql LAKE --example stopped_calls"]
    return Section("decisions", "Decisions", tables, charts, notes)


def _permissions(facts: Facts) -> Section:
    tables = [table(facts, "permissions_by_rule", by="users"), table(facts, "permissions_by_user", by="rules")]
    return Section("permissions", "Standing permissions for commands", tables)


def _tokens(facts: Facts) -> Section:
    columns = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens", "cost_usd")
    tables = [table(facts, select, columns, by="cost_usd") for select in ("tokens_by_model", "tokens_by_user")]
    tokens = series.by_column(facts, ("prompt_tokens", "completion_tokens"), "tokens")
    cost = series.by_column(facts, ("cost_usd",), "cost (USD)")
    notes = ["Costs are those that the assistants state; where they state none, there is a dash."]
    return Section("tokens", "Tokens and cost", tables, tokens + cost, notes)


def _deleted(facts: Facts) -> Section:
    tables = [
        table(facts, "deleted", ("sessions", "prompts", "calls"), by="sessions"),
        table(facts, "recovered", ("rows",), by="rows"),
        table(facts, "deleted_sessions", ("prompts", "calls"), by="started_utc"),
    ]
    return Section("deleted", "Deleted and recovered", tables)


def _problems(facts: Facts) -> Section:
    tables = [
        table(facts, "problems", ("losses", "notes", "lost_bytes"), by="losses"),
        table(facts, "files", ("files", "records", "losses", "bytes"), by="files"),
    ]
    return Section("problems", "Problems", tables)


def _people(facts: Facts) -> Section:
    columns = ("sessions", "prompts", "calls", "denied", "blocked", "tokens", "cost_usd")
    return Section(
        "people", "Hosts and users", [table(facts, select, columns, by="prompts") for select in ("hosts", "users")]
    )
