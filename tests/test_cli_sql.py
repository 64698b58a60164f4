"""`homelake sql`: values of parameters, examples, and where a query comes from."""

import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.query import opened, parameters
from tests.lake import COMMAND, ROOT, homelake, run


def piped(lake: Path, text: str, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*COMMAND, "sql", str(lake), *words],
        input=text,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )


def test_values_are_bound_and_never_read_as_sql(lake: Path) -> None:
    hostile = "x'; copy homes to 'x' --"

    outcome = run("sql", lake, "select $a as a, $b as b", "-p", f"a={hostile}", "--param", "$b=1=2", "--format", "csv")

    assert (outcome.exit_code, outcome.stdout) == (0, f"a,b\n{hostile},1=2\n")


def test_values_are_texts_that_a_cast_turns_into_something_else(lake: Path) -> None:
    query = "select typeof($a) as a, typeof($a::int) as b, count(*) as n from said where at_utc > $since"

    outcome = run("sql", lake, query, "-p", "a=3", "-p", "since=2026-01-01", "--format", "csv")

    assert (outcome.exit_code, outcome.stdout) == (0, "a,b,n\nVARCHAR,INTEGER,1\n")


@pytest.mark.parametrize("form", ["table", "csv", "json", "parquet"])
def test_values_reach_every_form_and_a_plan(lake: Path, tmp_path: Path, form: str) -> None:
    query = "select path from homes where path = $path"

    written = run("sql", lake, query, "-p", "path=/home/a", "--format", form, "-o", tmp_path / "x")
    plan = run("sql", lake, f"explain {query}", "-p", "path=/home/a")

    assert (written.exit_code, plan.exit_code) == (0, 0)
    assert b"/home/a" in (tmp_path / "x").read_bytes()
    assert "READ_PARQUET" in plan.stdout.upper().replace(" ", "_")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("select $b, $a",), "the query needs --param a=... --param b=..."),
        (("select $1",), "the query needs --param 1=..."),
        (("--example", "find_text"), "the query needs --param word=..."),
        (("select 1", "-p", "a=1"), "the query has no parameter $a; it has none"),
        (("select $b", "-p", "a=1", "-p", "b=1"), "the query has no parameter $a; its parameters are $b"),
        (("select $a", "-p", "a"), "--param 'a': write NAME=VALUE"),
        (("select $a", "-p", "=a"), "--param '=a': write NAME=VALUE"),
        (("select $a", "-p", "a=1", "-p", "$a=2"), "--param a: given twice"),
        (("select $a", "-p", "a=\udcff"), "the query, or the lake's path, holds bytes that are not UTF-8"),
    ],
)
def test_what_is_wrong_with_parameters_is_told_in_a_line(lake: Path, words: tuple[str, ...], line: str) -> None:
    outcome = homelake("sql", lake, *words)

    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (2, "", f"homelake: {line}\n")


def test_parameters_do_not_open_the_sandbox(lake: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.csv").write_text("a\nsecret\n")

    outcome = run("sql", lake, "from read_text($file)", "-p", f"file={tmp_path}/outside.csv")

    assert outcome.exit_code == 2
    assert "Cannot access" in outcome.stderr


def test_parameters_are_those_of_the_text(lake: Path) -> None:
    with opened(lake) as connection:
        assert parameters(connection, "select $b, '$c', $a -- $d") == ["a", "b"]


def test_examples_name_what_they_need(lake: Path) -> None:
    listed = {line.split()[0]: line for line in homelake("sql", lake, "--example", "list").stdout.splitlines()}

    assert " word=... " in listed["find_text"]
    assert " session=... " in listed["one_session"]
    assert "=..." not in listed["commands"]


def test_a_query_comes_from_standard_input(lake: Path) -> None:
    outcome = piped(lake, "select path\nfrom homes where path like $like;\n", "-p", "like=%a", "--format", "csv")

    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "path\n/home/a\n", "")


@pytest.mark.parametrize(
    ("text", "line"), [("", "the query is empty"), ("select 1; select 2", "2 statements: give one SELECT")]
)
def test_standard_input_holds_one_query(lake: Path, text: str, line: str) -> None:
    outcome = piped(lake, text)

    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (2, "", f"homelake: {line}\n")


def test_an_interrupt_stops_a_query_at_once(lake: Path) -> None:
    query = "select count(*) from range(100000) a, range(10000000) b where a.range + b.range = 7"
    code = (
        "import os, signal, sys, threading; from pipeline import cli;"
        "threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start(); cli.main()"
    )

    outcome = subprocess.run(
        [sys.executable, "-c", code, "sql", str(lake), query],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=30,
        check=False,
    )

    assert outcome.returncode == 130
    assert outcome.stdout == ""


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("a.csv", (), "3 rows"),
        ("A.CSV", (), "3 rows"),
        ("a.json", ("--max-rows", "1"), "1 row"),
        ("a.parquet", ("--max-rows", "2"), "2 rows"),
        ("a.txt", ("--max-rows", "2"), "2 rows"),
        ("answer", (), "3 rows"),
        ("a.xlsx", ("--format", "csv"), "3 rows"),
    ],
)
def test_what_was_written_is_told(lake: Path, tmp_path: Path, name: str, options: tuple[str, ...], told: str) -> None:
    outcome = homelake("sql", lake, "select * from range(3)", "-o", tmp_path / name, *options)

    assert (outcome.exit_code, outcome.stdout) == (0, f"{tmp_path / name}: {told}\n")
    assert (tmp_path / name).stat().st_size


def test_a_plan_that_was_written_is_told(lake: Path, tmp_path: Path) -> None:
    outcome = homelake("sql", lake, "explain select 1", "-o", tmp_path / "plan.txt")

    assert (outcome.exit_code, outcome.stdout) == (0, f"{tmp_path / 'plan.txt'}: a plan\n")


@pytest.mark.parametrize("ending", [".xlsx", ".jsonl", ".CSV2"])
def test_an_ending_that_names_no_form_is_refused(lake: Path, tmp_path: Path, ending: str) -> None:
    outcome = homelake("sql", lake, "select 1", "-o", tmp_path / f"a{ending}")

    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert f"no form has the ending {ending.lower()}; name a file .csv" in outcome.stderr
    assert outcome.stderr.count("\n") == 1
    assert not list(tmp_path.glob("a*"))


def test_an_answer_to_standard_output_as_a_file_stays_clean(lake: Path) -> None:
    outcome = run("sql", lake, "select 1 as a", "-o", "/dev/stdout", "--format", "csv")

    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (0, "a\n1\n", "/dev/stdout: 1 row\n")
