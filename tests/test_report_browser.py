"""The report in a real browser: charts are drawn, tables are sorted, names of attackers do nothing, nothing is fetched.

Without Chromium these tests are skipped; where HOMELAKE_BROWSER_TESTS is `required` they fail instead.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page, sync_playwright

from tests.lake import homelake
from tests.made import MadeHome, call, reply, user
from tests.reported import hostile_lake, report

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LUMINANCE = "getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g).map(Number)[0]"
FIRST_FILL = "getComputedStyle(document.querySelector('.mark-rect path, .mark-rect rect')).fill"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, with an empty profile of its own."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        missing = f"no browser to try the report in ({', '.join(NAMES)})"
        if os.environ.get("HOMELAKE_BROWSER_TESTS") == "required":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a lake whose every name is an attack."""
    folder = tmp_path_factory.mktemp("hostile")
    report(hostile_lake(folder), folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a lake of some users, sessions and calls."""
    folder = tmp_path_factory.mktemp("plain")
    for number in range(12):
        home = MadeHome(folder / "homes" / f"user{number:02}")
        for week in range(number + 1):
            calls = [call(f"c{at}", name=f"tool{at}") for at in range(week)]
            home.session(
                f"s{week}", user("q"), reply("a", *calls), created=week * 7 * 86_400, chatModelTitle=f"m{week}"
            )
    homelake("build", folder / "homes", "-o", folder / "lake", "--workers", "1", "--collected-at", "2027-01-01")
    report(folder / "lake", folder / "report.html")
    return folder / "report.html"


@dataclass  # without slots: playwright keeps its wrapper of `dismissed` here
class Seen:
    """A page that is open, and what it said and asked for meanwhile."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def dismissed(self, dialog: Dialog) -> None:
        """Note what a dialog says, and close it."""
        self.said.append(dialog.message)
        dialog.dismiss()


class Opener:
    """Opens reports, each in a context of its own."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[Any] = []

    def __call__(self, path: Path, **options: Any) -> Seen:
        context = self._browser.new_context(**options)
        self._contexts.append(context)
        seen = Seen(context.new_page())
        seen.page.on("console", lambda message: seen.said.append(message.text))
        seen.page.on("pageerror", lambda error: seen.said.append(str(error)))
        seen.page.on("dialog", seen.dismissed)
        seen.page.on("request", lambda request: seen.asked.append(request.url))
        seen.page.goto(path.as_uri())
        return seen

    def close(self) -> None:
        for context in self._contexts:
            context.close()


@pytest.fixture
def look(browser: Browser) -> Iterator[Opener]:
    opener = Opener(browser)
    yield opener
    opener.close()


def test_charts_are_drawn(look: Opener, plain: Path) -> None:
    seen = look(plain)

    charts = seen.page.locator("figure.chart")
    shown = charts.locator(".wide svg")
    assert charts.count() == shown.count() == 5
    for at in range(charts.count()):
        marks = shown.nth(at).locator(".mark-rect [aria-label]")
        boxes = [marks.nth(mark).bounding_box() for mark in range(marks.count())]
        assert len(boxes) >= 1
        assert all(box is not None and box["width"] > 1 and box["height"] > 1 for box in boxes)
        assert charts.nth(at).locator('[role="img"]').get_attribute("aria-label")
    assert seen.page.evaluate(FIRST_FILL) == "rgb(11, 108, 184)"
    assert seen.said == []


def test_a_bar_tells_its_number(look: Opener, plain: Path) -> None:
    seen = look(plain)
    bar = seen.page.locator(".wide .mark-rect [aria-label]").first

    assert not seen.page.locator("#tip").is_visible()
    bar.hover()

    assert seen.page.locator("#tip").inner_text() == "week of 2026-09-14: 12 continue"


@pytest.mark.parametrize(
    ("head", "kind", "orders"),
    [("user", str, ["ascending", "descending"]), ("sessions", int, ["descending", "ascending"])],
)
def test_tables_are_sorted_with_the_keyboard(
    look: Opener, plain: Path, head: str, kind: type, orders: list[str]
) -> None:
    page = look(plain).page
    table = page.locator("figure.table", has_text="Who are the most active").locator("table")
    column = table.locator("th", has_text=head)
    place = [text.strip() for text in table.locator("thead th").all_inner_texts()].index(head) + 1

    for order in orders:
        column.locator("button").focus()
        page.keyboard.press("Enter")

        found = [kind(text) for text in table.locator(f"tbody td:nth-child({place})").all_inner_texts()]
        assert len(found) == 12
        assert found == sorted(found, reverse=order == "descending")
        assert [cell.get_attribute("aria-sort") for cell in table.locator("th[aria-sort]").all()] == [order]
        assert column.get_attribute("aria-sort") == order


def test_rows_without_a_value_come_last(look: Opener, plain: Path) -> None:
    page = look(plain).page
    table = page.locator("figure.table", has_text="Which models answer").locator("table")
    cells = table.locator("tbody tr td:first-child")
    page.evaluate("document.querySelectorAll('#models td')[0].dataset.null = ''")

    for _ in range(2):
        table.locator("th", has_text="model").locator("button").click()
        assert "data-null" in (cells.last.evaluate("cell => cell.outerHTML"))


def test_names_of_attackers_do_nothing(look: Opener, hostile: Path) -> None:
    seen = look(hostile)
    page = seen.page

    for button in page.locator("th button").all():
        button.click()
    for mark in page.locator(".wide .mark-rect [aria-label]").all():
        mark.hover()
    for cell in page.locator("td[title]").all():
        cell.hover()

    assert page.locator("td[title]").count() > 5
    assert page.evaluate("window.hacked") is None
    assert page.locator("script").count() == 1
    assert seen.said == []
    assert seen.asked == [hostile.as_uri()]


def test_the_policy_stops_what_gets_in_all_the_same(look: Opener, hostile: Path) -> None:
    seen = look(hostile)

    seen.page.evaluate(
        """() => {
            window.stopped = [];
            document.addEventListener("securitypolicyviolation", (e) => window.stopped.push(e.effectiveDirective));
            const box = document.createElement("div");
            box.innerHTML = "<img src='http://127.0.0.1:9/x' onerror='window.hacked=1'>" +
                "<p style='color:red'>x</p><iframe src='http://127.0.0.1:9/y'></iframe>";
            const script = document.createElement("script");
            script.textContent = "window.hacked=1";
            document.body.append(box, script);
            return fetch("http://127.0.0.1:9/z").catch(() => 0);
        }"""
    )

    seen.page.wait_for_function("window.stopped.length >= 6")
    assert {"img-src", "style-src-attr", "script-src-elem", "script-src-attr", "connect-src", "frame-src"} <= set(
        seen.page.evaluate("window.stopped")
    )
    assert seen.page.evaluate("window.hacked") is None


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
def test_no_page_is_wider_than_its_window(look: Opener, hostile: Path, plain: Path, width: int) -> None:
    for path in (hostile, plain):
        page = look(path, viewport={"width": width, "height": 700}).page

        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator(".narrow svg").first.is_visible() == (width <= 560)
        assert page.locator(".wide svg").first.is_visible() == (width > 560)


def test_dark_readers_have_a_dark_page(look: Opener, plain: Path) -> None:
    light, dark = (look(plain, color_scheme=scheme).page for scheme in ("light", "dark"))

    assert light.evaluate(LUMINANCE) > 200
    assert dark.evaluate(LUMINANCE) < 50
    assert light.evaluate(FIRST_FILL) != dark.evaluate(FIRST_FILL)


def test_print_is_light_and_whole(look: Opener, plain: Path) -> None:
    page = look(plain, color_scheme="dark", viewport={"width": 360, "height": 700}).page

    page.emulate_media(media="print", color_scheme="dark")

    assert page.evaluate(LUMINANCE) > 200
    assert page.locator(".wide svg").first.is_visible()
    assert not page.locator("details").first.is_visible()
    assert page.locator("tfoot td").first.evaluate("cell => getComputedStyle(cell).position") == "static"
    assert page.evaluate("[...document.querySelectorAll('.scroll')].every(box => box.scrollHeight <= box.clientHeight)")
