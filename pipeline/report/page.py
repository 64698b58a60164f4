"""The page: one HTML file with its styles, its script and its charts inside, which asks for nothing from elsewhere."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pipeline import answer
from pipeline.paths import resolved
from pipeline.query import QueryError, one_line, opened
from pipeline.report.display import counted, large, shown
from pipeline.report.facts import Facts, Row
from pipeline.report.sections import sections


def write(lake: Path, output: Path) -> int:
    """Write the report of a lake into a file, in one step; return its size (bytes).

    The same lake gives the same bytes. Raises QueryError for what is no lake, and for a file inside it or in a place
    that cannot be written.
    """
    if resolved(output).is_relative_to(resolved(lake)):
        raise QueryError(f"{output}: the file lies in the lake; name one outside of it")
    with one_line(), opened(lake) as connection:
        page = render(Facts(connection)).encode()
        with answer.replaced(output) as sink:
            sink.write(page)
    return len(page)


def render(facts: Facts) -> str:
    """The page as text."""
    style, script = _asset("page.css"), _asset("page.js")
    headline = facts.headline
    is_empty = not (headline["homes"] or headline["sessions"] or headline["prompts"])
    return (
        _environment()
        .get_template("page.html")
        .render(
            style=Markup(style),  # noqa: S704  (a file of ours)
            script=Markup(script),  # noqa: S704  (likewise)
            policy=_policy(style, script),
            figures=_figures(headline),
            period=_period(headline),
            sections=[] if is_empty else list(sections(facts)),
        )
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("pipeline.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _asset(name: str) -> str:
    """The text of a file that is put into the page as it is."""
    return files("pipeline.report").joinpath("templates", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """A policy that lets the page run its own script, use its own style, and reach nothing."""

    def digest(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    return (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _figures(headline: Row) -> list[tuple[str, str, str]]:
    """The figures at the top: what they count, the figure, a remark."""
    counts = {word: f"{headline[word] or 0:,}" for word in ("homes", "users", "hosts", "sessions", "prompts", "calls")}
    nameless = headline["homes_without_host"]
    remarks = {
        "hosts": f"{counted(nameless, 'home')} without a name" if nameless else "",
        "prompts": "1 reply" if headline["replies"] == 1 else f"{headline['replies'] or 0:,} replies",
        "calls": f"{headline['denied'] or 0:,} denied, {headline['blocked'] or 0:,} blocked",
    }
    prompt, completion, cost = (headline[name] for name in ("prompt_tokens", "completion_tokens", "cost_usd"))
    tokens = None if prompt is completion is None else (prompt or 0) + (completion or 0)
    return [
        *((word, count, remarks.get(word, "")) for word, count in counts.items()),
        ("tokens", "–" if tokens is None else large(tokens), f"{large(prompt)} of prompts" if prompt else ""),
        ("cost", "–" if cost is None else f"${shown('money', cost)}", "as far as it is stated"),
    ]


def _period(headline: Row) -> str:
    """What the figures are about, in words."""
    collections = counted(headline["collections"], "collection")
    first, last = headline["first_day"], headline["last_day"]
    period = f"{first} to {last}" if first else "no day is known"
    at = headline["last_collected_utc"]
    return f"{period}, from {collections}" + (f", the newest of {shown('time', at)} UTC" if at else "")
