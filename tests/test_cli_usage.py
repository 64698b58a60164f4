"""How the command line takes what it is given: wrong words, JSON for programs, and the shell's completion."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main

from pipeline.cli import app
from pipeline.tables import TABLES
from tests.lake import ROOT, Lake, homelake
from tests.made import MadeHome, reply, user

COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # it is a group


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("nope",), "no such command 'nope' (see homelake --help)"),
        (("--nope",), "no such option: --nope (see homelake --help)"),
        (("build",), "missing argument 'INPUT...' (see homelake build --help)"),
        (("build", "x"), "missing option '--output' / '-o' (see homelake build --help)"),
        (("build", "x", "-o"), "option '-o' requires an argument"),
        (("build", "x", "-o", "y", "--hots", "z"), "no such option: --hots"),
        (("build", "x", "-o", "y", "--workers", "0"), "invalid value for '--workers': Input should be greater"),
        (("schema", "--format", "x"), "'x' is not one of 'table', 'json', 'markdown' (see homelake schema --help)"),
        (("sql", "lake", "select 1", "select 2"), "got unexpected extra argument(s) (select 2)"),
        (("sql", "lake", "select 1", "--max-rows", "-1"), "invalid value for '--max-rows'"),
        (("sql", "la\x1b[31m\nke", "select 1"), "la\\x1b[31m\\nke: no such directory"),
        (("a\x1b[31m\nb",), "no such command"),
    ],
)
def test_wrong_words_are_told_in_a_line(words: tuple[str, ...], line: str) -> None:
    outcome = homelake(*words)

    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("homelake: ")
    assert outcome.stderr.endswith("\n")
    assert outcome.stderr[:-1].isprintable()
    assert line in outcome.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("build", "{circle}", "-o", "{lake}"), 2),
        (("build", "{home}", "{circle}", "-o", "{lake}"), 3),
        (("build", "{home}", "-o", "{circle}"), 2),
        (("inspect", "{circle}"), 2),
        (("sql", "{circle}", "select 1"), 2),
        (("export", "{circle}", "-o", "{home}"), 2),
        (("share", "{circle}", "{lake}"), 2),
    ],
)
def test_a_link_in_a_circle_is_told_in_a_line(words: tuple[str, ...], code: int, tmp_path: Path) -> None:
    places = {name: tmp_path / name for name in ("circle", "home", "lake")}
    places["circle"].symlink_to("circle")
    (places["home"] / ".continue/sessions").mkdir(parents=True)
    (places["home"] / ".continue/sessions/a.json").write_text('{"history": []}', encoding="utf-8")

    outcome = homelake(*(word.format_map(places) for word in words))

    assert outcome.exit_code == code
    assert outcome.stderr.startswith("homelake: ")
    assert len(outcome.stderr.splitlines()) == 1


def test_no_words_print_the_help() -> None:
    outcome = homelake()

    assert (outcome.exit_code, outcome.stderr) == (2, "")
    assert all(name in outcome.stdout for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_the_exit_codes(name: str) -> None:
    outcome = homelake(name, "--help")

    assert outcome.exit_code == 0
    assert "Exit codes: 0 done" in outcome.stdout
    assert "130 stopped" in " ".join(outcome.stdout.split())


def test_inspect_as_json(corpus: Path) -> None:
    outcome = homelake("inspect", corpus, "--json")

    told = json.loads(outcome.stdout)
    assert (outcome.exit_code, outcome.stderr, outcome.stdout.count("\n")) == (0, "", 1)
    assert told["agents"] == ["continue", "pearai"]
    assert len(told["homes"]) == told["collections"][0]["homes"]
    assert sum(files["files"] for files in told["files"]) == sum(home["files"] for home in told["homes"])
    assert {"source", "status"} < told["files"][0].keys()
    assert {"hosts", "links", "closed", "odd"} < told.keys()


def test_build_as_json(corpus_lake: Lake, corpus: Path, tmp_path: Path) -> None:
    outcome = homelake("build", corpus, "-o", tmp_path / "lake", "--workers", "1", "--json")

    told = json.loads(outcome.stdout)
    assert (outcome.exit_code, outcome.stderr, outcome.stdout.count("\n")) == (0, "", 1)
    assert (told["lake"], told["failures"]) == (str(tmp_path / "lake"), {})
    assert told["tables"] == {name: corpus_lake.count(name) for name in (table.name for table in TABLES)}
    assert sum(row["rows"] for row in told["rows"]) == told["tables"]["timeline"]
    assert sum(each["count"] for each in told["problems"]) == told["tables"]["problems"]
    assert sum(told["statuses"].values()) == told["files"] == told["tables"]["artifacts"]
    assert min(told["homes"], told["bytes"], told["seconds"]) > 0


def test_homes_without_a_host_among_others_are_told_of(tmp_path: Path) -> None:
    for name in ("ann", "bob"):
        MadeHome(tmp_path / "in" / name).session("s", user("hi"), reply("hello"))
    lake = tmp_path / "lake"

    alone = homelake("build", tmp_path / "in", "-o", tmp_path / "other")
    named = homelake("build", tmp_path / "in", "-o", lake, "--host", "box")
    forgotten = homelake("build", tmp_path / "in", "-o", lake)

    assert "hosts" not in alone.stdout + named.stdout
    assert "hosts     2 homes without a host beside others that have one: " in forgotten.stdout


def test_json_of_what_failed_is_nothing(tmp_path: Path) -> None:
    outcome = homelake("build", tmp_path, "-o", tmp_path.parent / "lake", "--json")

    assert (outcome.exit_code, outcome.stdout) == (1, "")


def complete(instruction: str, line: str, monkeypatch: pytest.MonkeyPatch) -> str:
    settings = {
        "_HOMELAKE_COMPLETE": instruction,
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    outcome = homelake()
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    return outcome.stdout


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("homelake sch", ["schema"]),
        ("homelake schema to", ["tool_calls", "token_usage", "tokens_used", "tool_failures"]),
        ("homelake sql lake --example st", ["standing_permissions", "stopped_calls"]),
        ("homelake sql lake --max", ["--max-rows"]),
        ("homelake sql lake --format j", ["json"]),
    ],
)
def test_the_shell_completes_commands_tables_and_examples(
    line: str, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fish = complete("complete_fish", line, monkeypatch).splitlines()

    assert complete("complete_bash", line, monkeypatch).split() == words
    assert [entry.split("\t")[0] for entry in fish] == words
    assert all(f'"{word}"' in complete("complete_zsh", line, monkeypatch) for word in words)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_the_shell_is_printed(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"_HOMELAKE_COMPLETE=complete_{shell}" in complete(f"source_{shell}", "homelake", monkeypatch)


def test_a_command_that_went_on_after_an_interrupt_ends_as_it_says() -> None:
    """The prompt does: it stops a query."""
    code = """if True:
        import os, signal, sys
        from pipeline import __main__, cli

        def go_on():
            try:
                os.kill(os.getpid(), signal.SIGINT)
                signal.pause()
            except KeyboardInterrupt:
                sys.exit(0)

        cli.main = go_on
        __main__.main()
    """

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_is_seen_while_other_threads_work() -> None:
    code = (
        "import os, signal, threading; from pipeline import cli;"
        "cli.app.command('wait', epilog='')(lambda: threading.Event().wait());"
        "threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start(); cli.main()"
    )

    done = subprocess.run(
        [sys.executable, "-c", code, "wait"], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False
    )

    assert (done.returncode, done.stderr) == (128 + signal.SIGINT, "homelake: stopped\n")
