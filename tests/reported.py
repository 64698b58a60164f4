"""A lake whose every name tries to break out of the report, and what a reader finds in a page."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from tests.lake import homelake
from tests.made import MadeHome, call, exchange, reply, usage, user

ATTACK = (
    "</script></style></title></svg><script>window.hacked=1</script>"
    "<img src=x onerror=window.hacked=2><!--\" onmouseover='window.hacked=3' {{7*7}} \u2028\u202egnp\x1b[31m"
)
HOST, USER, TITLE, MODEL, TOOL, RULE = (f"{word} {ATTACK}" for word in ("h", "u", "title", "m", "tool", "Bash"))
VOID = {"meta", "link", "img", "br"}


def hostile_lake(folder: Path) -> Path:
    """Build a lake in which host, user, title, model, tool and rule are all attacks."""
    home = MadeHome(folder / "home")
    home.session(
        "s1",
        user("do it"),
        reply("", call("c1", name=TOOL), call("c2", name="ls"), prompt="p"),
        reply("", call("c3", name=TOOL, status="canceled", output="Permission denied by user")),
        chatModelTitle=MODEL,
        title=TITLE,
    )
    home.session("s2", user("later"), created=86_400 * 40)
    home.session("s0", created=-86_400 * 9)
    home.entries[-1]["title"] = TITLE
    (home.path / ".continue/sessions/s0.json").unlink()
    home.session("s3", user("copy"), created=86_400)
    home.events("toolUsage", usage(7, "c1", name=TOOL))
    home.events("chatInteraction", exchange(5, "p", "q", session="gone"))
    quoted = RULE.replace("'", "''").replace("\u2028", "").replace("\x1b", "")
    home.file("permissions.yaml", f"allow:\n  - '{quoted}'\n")
    outcome = homelake("build", home.path, "-o", folder / "lake", "--workers", "1", "--host", HOST, "--user", USER)
    assert outcome.exit_code == 0, outcome.stderr
    return folder / "lake"


def report(lake: Path, output: Path) -> str:
    """Write a report with the command; return the page."""
    outcome = homelake("report", lake, "-o", output)
    assert outcome.exit_code == 0, outcome.stderr
    return output.read_bytes().decode()


@dataclass(slots=True)
class Table:
    """A table of a page: caption, heads, cells of its rows, of its last row, titles of cells that are shortened."""

    caption: str
    heads: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    sums: list[str] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)

    def column(self, head: str) -> list[str]:
        """Cells of a column."""
        return [row[self.heads.index(head)] for row in self.rows]

    def sum(self, head: str) -> str:
        """The sum of a column."""
        return self.sums[self.heads.index(head)]


class Page(HTMLParser):
    """What a page holds, as a browser's parser reads it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.tables: list[Table] = []
        self.blocks: dict[str, str] = {}
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)
        given = dict(attrs)
        if tag == "figcaption":
            self.tables.append(Table(""))
        elif tag == "tr" and "tbody" in self._open:
            self.tables[-1].rows.append([])
        elif tag in ("td", "th") and "svg" not in self._open:
            self._cells().append("")
            if given.get("title"):
                self.tables[-1].titles.append(given["title"] or "")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("style", "script"):
            self.blocks[self._open[-1]] = data
        elif "figcaption" in self._open:
            self.tables[-1].caption += data
        elif "table" in self._open and self._open[-1] in ("td", "th"):
            self._cells()[-1] += data
        elif data.strip() and "svg" not in self._open:
            self.texts.append(data.strip())

    def table(self, start: str) -> Table:
        """The table whose caption begins so."""
        (found,) = [table for table in self.tables if table.caption.startswith(start)]
        return found

    def figure(self, name: str) -> str:
        """A figure of those at the top."""
        return self.texts[self.texts.index(name) + 1]

    def _cells(self) -> list[str]:
        table = self.tables[-1]
        if "thead" in self._open:
            return table.heads
        return table.rows[-1] if "tbody" in self._open else table.sums
