"""The report as a page: what it counts, that nothing breaks out of it, that it is the same each time."""

import base64
import hashlib
import shutil
from datetime import date
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pipeline.catalog import write_catalog
from pipeline.join import selects
from pipeline.lake import manifest
from pipeline.report import display
from pipeline.report.facts import FIRST, question, step
from pipeline.tables import TABLES
from tests.lake import Lake, homelake, run
from tests.made import MadeHome, user
from tests.reported import Page, hostile_lake, report

SVG = {"svg", "g", "path", "text", "line", "rect"}
HTML = {
    "html", "head", "meta", "title", "link", "style", "body", "header", "h1", "p", "nav", "ul", "li", "a", "main",
    "dl", "div", "dt", "dd", "section", "h2", "figure", "figcaption", "details", "summary", "table", "thead", "tbody",
    "tfoot", "tr", "th", "td", "footer", "script",
}  # fmt: skip


@pytest.fixture(scope="module")
def corpus_text(corpus_lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    outcome = run("report", corpus_lake.path, "-o", path)  # this process has the lake open
    assert outcome.exit_code == 0, outcome.stderr
    return path.read_bytes().decode()


@pytest.fixture(scope="module")
def corpus_page(corpus_text: str) -> Page:
    return Page(corpus_text)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_lake(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def hostile_text(hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    return report(hostile, tmp_path_factory.mktemp("report") / "report.html")


# What it counts


def test_figures_are_those_of_the_lake(corpus_page: Page, corpus_lake: Lake) -> None:
    own = "repeats_row_id is null and kind = 'message'"
    held = manifest(corpus_lake.path)
    assert held is not None
    expected = {
        "homes": len(held.homes),
        "users": corpus_lake.value('select count(distinct "user") from artifacts'),
        "hosts": 0,
        "sessions": corpus_lake.count("sessions"),
        "prompts": corpus_lake.count("timeline", f"{own} and turn_type = 'user'"),
        "calls": corpus_lake.count("tool_calls"),
    }

    assert {name: corpus_page.figure(name) for name in expected} == {name: f"{n:,}" for name, n in expected.items()}
    cost = corpus_lake.value("select sum(cost_usd) from tokens_used")
    assert corpus_page.figure("cost") == f"${cost:,.2f}"


@pytest.mark.parametrize(
    ("caption", "head", "query"),
    [
        ("Which assistants", "sessions", "select count(*) from sessions"),
        (
            "Which models answer",
            "replies",
            "select count(*) from timeline where repeats_row_id is null and kind = 'message' "
            "and turn_type = 'assistant'",
        ),
        ("Which models answer", "calls", "select count(*) from tool_calls"),
        (
            "Which tools",
            "failed",
            "select count(*) from tool_calls where ran and (status = 'errored' or exit_code > 0)",
        ),
        ("What was decided", "calls", "select count(*) from tool_calls"),
        ("Calls of which tools", "denied", "select count(*) from tool_calls where decision = 'denied'"),
        ("Whose calls", "blocked", "select count(*) from tool_calls where decision = 'blocked'"),
        ("Which models use", "prompt tokens", "select sum(prompt_tokens) from tokens_used"),
        ("Who uses the tokens", "completion tokens", "select sum(completion_tokens) from tokens_used"),
        ("How are sessions gone", "sessions", "select count(*) from sessions_deleted"),
        ("Which sessions are gone", "prompts", "select sum(user_turns) from sessions_deleted"),
        ("What was found again", "rows", "select count(*) from timeline where recovered"),
        ("What could not be read", "losses", "select count(*) from problems where lost"),
        ("What could not be read", "notes", "select count(*) from problems where not lost"),
        ("What became of", "files", "select count(*) from artifacts"),
        ("Who are the most active", "calls", "select count(*) from tool_calls"),
        (
            "Who are the most active",
            "prompts",
            "select count(*) from timeline where repeats_row_id is null and kind = 'message' and turn_type = 'user'",
        ),
    ],
)
def test_sums_are_those_of_the_lake(corpus_page: Page, corpus_lake: Lake, caption: str, head: str, query: str) -> None:
    assert corpus_page.table(caption).sum(head) == f"{corpus_lake.value(query):,}"


def test_homes_at_two_places_are_two(tmp_path: Path) -> None:
    for place in ("a", "b"):
        MadeHome(tmp_path / place / "home").session("s1", user(place))
    homelake("build", tmp_path / "a/home", tmp_path / "b/home", "-o", tmp_path / "lake", "--workers", "1")

    page = Page(report(tmp_path / "lake", tmp_path / "report.html"))

    assert page.figure("homes") == page.figure("sessions") == "2"


def test_figures_of_tools_are_those_of_the_view(corpus_page: Page, corpus_lake: Lake) -> None:
    table = corpus_page.table("Which tools")
    heads = ("tool", "agent", "calls", "ran", "failed", "not run", "not known", "denied", "blocked", "failure rate")
    found = zip(*map(table.column, heads), strict=True)
    expected = corpus_lake.rows(
        "select coalesce(tool_name, 'no name'), agent, calls, ran, failures, not_run, not_known, denied, blocked, "
        "failure_rate from tool_failures"
    )

    assert sorted(found) == sorted(
        (*map(str, counts), "–" if rate is None else f"{100 * rate:.1f} %") for *counts, rate in expected
    )


def test_standing_permissions_are_those_of_the_view(corpus_page: Page, corpus_lake: Lake) -> None:
    table = corpus_page.table("Which standing rules")

    assert sorted(table.column("rule")) == sorted(
        corpus_lake.column("select rule from standing_permissions group by rule, value, scope, agent")
    )
    assert "newest collection alone" in table.caption


def test_charts_over_time_add_up(corpus_page: Page, corpus_lake: Lake) -> None:
    calls = corpus_page.table("Calls per week")
    stopped = corpus_page.table("Stopped calls per week")
    (told,) = [text for text in corpus_page.texts if "long before nearly all else" in text]
    shown = f"event_utc >= '{told.partition('(')[2][:10]}'"

    charted = sum(int(cell.replace(",", "")) for row in calls.rows for cell in row[1:])
    assert charted == corpus_lake.count("tool_calls", shown)
    assert sum(map(int, stopped.column("denied"))) == corpus_lake.count(
        "tool_calls", f"decision = 'denied' and {shown}"
    )


def test_every_answer_is_on_the_page(corpus_page: Page) -> None:
    asked = {question(select) for name, select in selects("report").items() if name not in {*FIRST, "activity"}}

    assert asked <= {table.caption for table in corpus_page.tables}


def test_a_wrong_clock_stretches_no_chart(tmp_path: Path) -> None:
    home = MadeHome(tmp_path / "home")
    home.session("s1", user("now"))
    home.session("s2", user("then"), created=86_400 * 365 * 60)
    homelake("build", home.path, "-o", tmp_path / "lake", "--workers", "1", "--collected-at", "2026-09-20")

    page = Page(report(tmp_path / "lake", tmp_path / "report.html"))

    assert page.table("Sessions per week").rows == [["week of 2026-09-14", "1"]]
    assert any(text.endswith("newest collection: 1 session, 1 prompt.") for text in page.texts)
    assert page.figure("sessions") == "2"


def test_a_stray_event_years_before_stretches_no_chart(tmp_path: Path) -> None:
    home = MadeHome(tmp_path / "home")
    home.session("s1", *[user(f"q{turn}") for turn in range(200)])
    home.session("s2", user("then"), created=-86_400 * 365 * 4)
    homelake("build", home.path, "-o", tmp_path / "lake", "--workers", "1", "--collected-at", "2026-09-20")

    page = Page(report(tmp_path / "lake", tmp_path / "report.html"))

    assert page.table("Sessions per week").rows == [["week of 2026-09-14", "1"]]
    assert "Not in the charts, as it lies long before nearly all else (2026-09-14): 1 session, 1 prompt." in page.texts
    assert page.figure("sessions") == "2"


def test_of_many_users_the_first_are_shown_and_all_are_summed(tmp_path: Path) -> None:
    for number in range(60):
        home = MadeHome(tmp_path / "homes" / f"user{number:02}")
        home.session("s1", *[user(f"q{turn}") for turn in range(1 + number % 7)])
    homelake("build", tmp_path / "homes", "-o", tmp_path / "lake", "--workers", "1")

    text = report(tmp_path / "lake", tmp_path / "report.html")

    users = Page(text).table("Who are the most active")
    assert len(users.rows) == 50
    assert users.column("prompts") == sorted(users.column("prompts"), reverse=True)
    assert users.sums[0] == "all 60"
    assert users.sum("sessions") == "60"
    assert "The first 50 rows, and 10 more that are not shown." in text


def test_an_empty_lake_is_said_to_be_empty(tmp_path: Path) -> None:
    build = tmp_path / "lake" / "builds" / "1"
    for table in TABLES:
        folder = build / table.name / ("agent=none/month=unknown" if table.time else "")
        folder.mkdir(parents=True)
        pq.write_table(table.arrow().empty_table(), folder / "00.parquet")
    write_catalog(build, TABLES, selects("views"))
    (tmp_path / "lake" / "lake.duckdb").symlink_to("builds/1/lake.duckdb")

    page = Page(report(tmp_path / "lake", tmp_path / "report.html"))

    assert "This lake holds no session, prompt or file." in page.texts
    assert "table" not in page.tags


# Nothing breaks out of it


def test_names_stay_text(hostile_text: str) -> None:
    page = Page(hostile_text)

    assert set(page.tags) <= HTML | SVG
    assert page.tags.count("script") == page.tags.count("style") == 1
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name in ("src", "style", "srcdoc")]
    assert {value for _, name, value in page.attributes if name in ("href", "xlink:href")} == {
        "data:,",
        *(f"#{name}" for _, attribute, name in page.attributes if attribute == "id"),
    } - {"#tip"}
    for caption in ("Which models", "Which tools", "Whose calls", "Which standing", "Which sessions", "Which hosts"):
        found = [table for table in page.tables if table.caption.startswith(caption)]
        assert any("window.hacked" in title for table in found for title in table.titles), caption


def test_what_turns_or_hides_text_is_escaped(hostile_text: str) -> None:
    assert not set("\u2028\u202e\x1b\0") & set(hostile_text)
    assert "\\u202egnp\\x1b[31m" in hostile_text
    assert "{{7*7}}" in hostile_text


def test_policy_allows_the_page_alone(hostile_text: str) -> None:
    page = Page(hostile_text)
    (policy,) = [value for _, name, value in page.attributes if name == "content" and value and "default-src" in value]
    hashes = {
        tag: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for tag, text in page.blocks.items()
    }

    assert policy.split("; ") == [
        "default-src 'none'",
        f"script-src 'sha256-{hashes['script']}'",
        f"style-src 'sha256-{hashes['style']}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert {part for part in hostile_text.replace('"', " ").split() if "://" in part} <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_long_texts_are_cut_and_whole_in_the_title() -> None:
    cell = display.cell("title", "text", "x" * 499)
    giant = display.cell("title", "text", "y" * 3000)

    assert cell == display.Cell("x" * 59 + "…", title="x" * 499)
    assert giant.title == "y" * 499 + "… (3,000 characters)"
    assert display.cell("title", "text", "short") == display.Cell("short")
    assert display.cell("host", "text", None) == display.Cell("no host", is_null=True)


# How it is written


def test_same_lake_gives_the_same_bytes(hostile: Path, hostile_text: str, tmp_path: Path) -> None:
    shutil.copytree(hostile, tmp_path / "moved", symlinks=True)

    assert report(hostile, tmp_path / "again.html") == hostile_text
    assert report(tmp_path / "moved", tmp_path / "moved.html") == hostile_text


def test_page_is_small(corpus_text: str) -> None:
    assert len(corpus_text) < 500_000


def test_what_is_there_stays_where_no_report_is_written(hostile: Path, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("before")

    outcomes = [
        homelake("report", tmp_path / "none", "-o", tmp_path / "report.html"),
        homelake("report", tmp_path, "-o", tmp_path / "report.html"),
        homelake("report", hostile, "-o", hostile / "report.html"),
        homelake("report", hostile, "-o", tmp_path / "missing" / "report.html"),
        homelake("report", hostile, "-o", tmp_path),
    ]

    assert [outcome.exit_code for outcome in outcomes] == [2] * 5
    assert all(o.stderr.startswith("homelake: ") and o.stderr.count("\n") == 1 for o in outcomes)
    assert "the file lies in the lake" in outcomes[2].stderr
    assert (tmp_path / "report.html").read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    ("last", "expected"),
    [(date(2026, 1, 1), "week"), (date(2028, 1, 1), "week"), (date(2030, 1, 1), "month"), (date(2040, 1, 1), "year")],
)
def test_step_follows_the_period(last: date, expected: str) -> None:
    assert step(date(2026, 1, 1), last) == expected


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (99_960, "100 kB"), (999_600, "1.0 MB"), (2**41, "2.2 TB")],
)
def test_sizes_have_the_unit_that_fits(count: int, expected: str) -> None:
    assert display.size(count) == expected


@pytest.mark.parametrize("name", sorted(selects("report")))
def test_every_select_says_what_it_answers(name: str) -> None:
    assert question(selects("report")[name]).endswith((".", "?"))
