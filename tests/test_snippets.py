"""The snippets of README and `docs/` run, over a lake of the real homes that come along."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from tests.lake import COMMAND, ROOT, Lake, homelake

FOREIGN = ("matplotlib", "mcp", "pandas", "pyspark", "xlsxwriter")
"""Packages that a snippet may need and the project does not: those were tried by hand."""

_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"^    -- .*(?:\n    .+)*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A block of code of a page."""

    page: str
    number: int
    language: str
    mark: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}-{self.number}-{self.language}"


def snippets(*pages: str) -> Iterator[Snippet]:
    """Blocks of pages: fenced ones, and queries that are indented."""
    for page in pages:
        text = (ROOT / page).read_text(encoding="utf-8")
        found = [block.groups() for block in _BLOCK.finditer(text)]
        found += [("sql", "", block[0]) for block in _INDENTED.finditer(text)]
        for number, (language, mark, code) in enumerate(found, 1):
            yield Snippet(Path(page).stem, number, language, mark.strip(), code)


ALL = tuple(snippets("README.md", "docs/bi.md", "docs/recipes.md"))
QUERIES = [each for each in ALL if each.language == "sql" and each.mark == ""]
PYTHON = [
    each
    for each in ALL
    if each.language == "python"
    and not re.search(rf"^(?:import|from) (?:{'|'.join(FOREIGN)})\b", each.text, re.MULTILINE)
]
SHELL = [each for each in ALL if each.language == "sh"]


@pytest.fixture(scope="module")
def copy(corpus_lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(corpus_lake.path, tmp_path_factory.mktemp("copy") / "lake", symlinks=True))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory to run in, with the files that the pages show."""
    (csv,) = (each.text for each in ALL if each.language == "csv")
    (tmp_path / "employees.csv").write_text(csv, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(here: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a shell that finds the command under test."""
    wrapper = here / "homelake"
    wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
    wrapper.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{here}:{os.environ['PATH']}"}
    command = ["/bin/sh", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=here, env=environment, timeout=120)


def test_pages_have_snippets_that_run() -> None:
    assert (len(QUERIES), len(PYTHON), len(SHELL)) >= (12, 8, 2)
    assert {each.language for each in ALL} == {"bash", "csv", "json", "python", "sh", "sql"}


@pytest.mark.parametrize("snippet", QUERIES, ids=str)
def test_queries_run_in_the_sandbox_and_find_something(snippet: Snippet, copy: Path, here: Path) -> None:
    outcome = homelake("sql", copy, snippet.text, "-o", here / "answer.csv")

    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert len((here / "answer.csv").read_text().splitlines()) > 1


@pytest.mark.parametrize("snippet", PYTHON, ids=str)
def test_python_runs(snippet: Snippet, copy: Path, here: Path) -> None:
    code = snippet.text.replace("/srv/lake", str(copy))
    command = [sys.executable, "-W", "error", "-c", code]

    done = subprocess.run(command, capture_output=True, text=True, cwd=here, timeout=120)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


@pytest.mark.parametrize("snippet", SHELL, ids=str)
def test_commands_run(snippet: Snippet, copy: Path, here: Path) -> None:
    done = shell(here, "-e", "-c", snippet.text.replace("/srv/lake", str(copy)))

    assert (done.returncode, done.stderr) == (0, "")
    shown = textwrap.indent(done.stdout, "    ")
    assert shown in (ROOT / "docs" / f"{snippet.page}.md").read_text(encoding="utf-8")
    assert done.stdout or [path.name for path in here.iterdir()] != ["employees.csv", "homelake"]


def test_an_attached_lake_answers_with_the_hint(copy: Path, corpus_lake: Lake) -> None:
    (snippet,) = (each for each in ALL if each.mark == "attached")
    with duckdb.connect() as connection:
        found = connection.execute(snippet.text.replace("/srv/lake", str(copy))).fetchall()

    assert dict(found) == corpus_lake.pairs("select decision, count(*) from fact_calls group by all")


def test_the_index_lists_every_page() -> None:
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")

    assert [path.name for path in (ROOT / "docs").glob("*.md") if f"]({path.name})" not in index] == ["README.md"]


def test_the_nightly_script_says_how_a_build_ended(corpus: Path, here: Path) -> None:
    (snippet,) = (each for each in ALL if each.language == "bash")
    (here / "nightly").write_text(snippet.text.replace("/srv", str(here)))
    shutil.copytree(corpus / "leo", here / "collected/2026-09-14/web01/home/leo")

    done = [shell(here, "nightly", day) for day in ("2026-09-14", "2026-09-15")]

    assert [each.returncode for each in done] == [0, 2]
    assert "2026-09-15: nothing was built" in done[1].stderr
    with duckdb.connect(str(here / "lake/lake.duckdb"), read_only=True) as lake:
        assert lake.execute("select distinct host, user from sessions").fetchall() == [("web01", "leo")]
        assert lake.execute("select collected_utc::date::varchar from collections").fetchall() == [("2026-09-14",)]
