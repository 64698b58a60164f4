"""The prompt of `homelake sql`: what its lines do, and a session at a terminal."""

import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory

from pipeline.answering import How
from pipeline.prompt import COMMANDS, Prompt, is_bare, views_of
from pipeline.promptline import Words, history, history_file, is_whole
from pipeline.query import QueryError, opened
from tests.lake import ROOT, homelake

EDITED = "\x1b[?2004l"
"""What the terminal is told when a line was edited."""

Say = Callable[[str], str]


@pytest.fixture
def say(lake: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Say]:
    """Type a line at the prompt; return what is printed."""
    with opened(lake) as connection:
        prompt = Prompt(connection, "csv", How())

        def say(text: str) -> str:
            assert prompt.run(text)
            return capfd.readouterr().out.replace("\r\n", "\n")

        yield say


def test_each_statement_of_a_line_is_answered(say: Say) -> None:
    assert say("select 1 as a; -- one\nselect 2 as b;") == "a\n1\nb\n2\n"
    assert say("  \n") == ""


@pytest.mark.parametrize(
    "text",
    [
        "copy homes to 'x';",
        "select 1; drop view homes;",
        "set memory_limit = '1GB';",
        "from read_text('/etc/passwd');",
        "attach 'x.duckdb';",
        "selec 1;",
        "select nope;",
        "select $x;",
        "select '\udcff';",
        ".nope",
        ".schema",
        ".schema nope",
        ".example",
        ".example nope",
        ".example find_text",
        ".example find_text word",
        ".example find_text word='open",
        ".param =1",
        ".format parquet",
        ".max-rows -1",
        ".max-rows ²",
        ".expanded perhaps",
    ],
)
def test_what_is_wrong_is_one_line_and_ends_nothing(say: Say, text: str) -> None:
    with pytest.raises(QueryError) as caught:
        say(text)

    assert str(caught.value)
    assert str(caught.value).isprintable()
    assert say("select 3 as c;").endswith("c\n3\n")


def test_settings_hold_for_the_queries_that_follow(say: Say) -> None:
    say(".format table")
    set_to = say(".param $word=it's")
    say(".max-rows 2")
    two = say("select i, $word as w from range(3) r(i) order by i;")
    say(".expanded on")
    say(".max-rows 0")

    assert two.splitlines() == ["i  w", "-  ----", "0  it's", "1  it's", "(3 rows, 2 shown)"]
    assert say("select 1 as a;").splitlines() == ["-- row 1 --", "a  1", "(1 row)"]
    assert set_to == say(".param") == "$word = it's\n"
    assert [say(word).strip() for word in (".format", ".max-rows", ".expanded;")] == [
        "format table",
        "max-rows all",
        "expanded off",
    ]


def test_a_plan_is_shown_whatever_the_form(say: Say) -> None:
    assert "READ_PARQUET" in say("explain from homes;").upper().replace(" ", "_")


def test_views_and_columns_are_described(say: Say) -> None:
    assert say(".tables").splitlines() == [
        "homes  one row per home",
        "said   one row per thing that was said",
        "short",
    ]
    assert say(".schema said").splitlines()[0] == "at_utc  TIMESTAMP  When (UTC)."
    assert "short" not in say(".schema homes")


def test_examples_and_help(say: Say) -> None:
    assert say(".examples") == homelake("sql", "lake", "--example", "list").stdout
    assert all(command in say(".help") for command in COMMANDS)


def test_a_word_alone_is_its_command(say: Say) -> None:
    assert say("help") == say(".help")
    assert say("tables;") == say(".tables")
    assert all(is_whole(word) and is_bare(word) for word in ("exit", "quit", "help", "tables\n"))
    assert not any(is_bare(text) for text in ("tables x", "select 1\nexit", "exit exit", ""))


@pytest.mark.parametrize("word", [".quit", ".exit", ".quit;", "exit", " quit ;", "QUIT"])
def test_leaving(lake: Path, word: str) -> None:
    with opened(lake) as connection:
        assert not Prompt(connection, "table", How()).run(word)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("", True),
        ("select 1", False),
        ("select 1;", True),
        ("select 1; -- end", True),
        ("select 1 -- ;", False),
        ("select ';", False),
        ('select ";', False),
        ("select /* ;", False),
        ("select '日';", True),
        (" .tables", True),
        ("select '\udcff';", True),
        ("select 1; select 2", False),
    ],
)
def test_a_query_ends_with_its_sign(text: str, whole: bool) -> None:
    assert is_whole(text) == whole


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sel", ["select"]),
        ("select * from s", ["said", "short"]),
        ("select * from said where te", ["text"]),
        ("select said.a", ["at_utc", "agent"]),
        ("select nothing.a", []),
        (".sch", [".schema"]),
        (".schema sh", ["short"]),
        (".example find", ["find_text"]),
        (".format j", ["json"]),
        (".tables x", []),
    ],
)
def test_completion(lake: Path, text: str, words: list[str]) -> None:
    with opened(lake) as connection:
        completer = Words(views_of(connection))

    found = completer.get_completions(Document(text), CompleteEvent())

    assert [completion.text for completion in found] == words


def test_history_is_the_user_s_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "homelake").mkdir()
    (tmp_path / "homelake/sql_history").touch(0o644)

    kept = history()
    kept.append_string("select 'secret';")
    kept.append_string("select '\udcff'\nas a;")

    path = tmp_path / "homelake/sql_history"
    assert history_file() == path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(history().load_history_strings()) == ["select '?'\nas a;", "select 'secret';"]


@pytest.mark.parametrize("state", [None, "", "relative"])
def test_history_lies_below_the_home_unless_told(
    state: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    if state is not None:
        monkeypatch.setenv("XDG_STATE_HOME", state)

    assert history_file() == tmp_path / ".local/state/homelake/sql_history"


def test_where_no_history_can_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "homelake").write_text("a file")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    assert isinstance(history(), InMemoryHistory)
    assert capsys.readouterr().err.startswith("homelake: no history is kept: ")


@contextmanager
def terminal(lake: Path, state: Path) -> Iterator["pexpect.spawn[str]"]:
    settings = {
        "PYTHONPATH": str(ROOT),
        "XDG_STATE_HOME": str(state),
        "TERM": "xterm",
        "PROMPT_TOOLKIT_NO_CPR": "1",
        "COLUMNS": "80",
    }
    child = pexpect.spawn(
        sys.executable,
        ["-m", "pipeline.cli", "sql", str(lake)],
        env=os.environ | settings,
        encoding="utf-8",
        timeout=30,
        dimensions=(24, 80),
    )
    try:
        child.expect("homelake>")
        yield child
    finally:
        child.close(force=True)


def test_a_session_at_a_terminal(lake: Path, tmp_path: Path) -> None:
    forever = "select count(*) from range(100000) a, range(10000000) b where a.range + b.range = 7;"

    with terminal(lake, tmp_path) as child:
        child.send("select path from\r")
        child.expect(re.escape("...>"))
        child.send("homes;\r")
        child.expect(r"/home/a\s+\(1 row\)")
        child.send("copy homes to 'x';\r")
        child.expect("homelake: COPY is refused: only a SELECT may run")
        child.send("this line is dropped\x03")
        child.expect_exact(EDITED)
        child.send(f"{forever}\r")
        child.expect_exact(EDITED)
        time.sleep(0.5)  # nothing tells when the query begins
        child.send("\x03")
        child.expect("homelake: stopped")
        child.send("select 'still' || 'here' as a;\r")
        child.expect("stillhere")
        child.send("quit\r")
        child.expect(pexpect.EOF)

    assert child.exitstatus == 0
    kept = (tmp_path / "homelake/sql_history").read_text()
    assert "+select path from\n+homes;" in kept
    assert "dropped" not in kept
