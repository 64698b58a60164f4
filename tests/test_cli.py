"""The command line: everything is described, and what a person types wrong is told in a line."""

from pathlib import Path
from typing import Any

import pytest
import typer.main

from pipeline.cli import app
from pipeline.join import selects
from tests.lake import Lake, homelake, run

BUSIEST = "select session_id from sessions order by tool_calls desc, session_key limit 1"
README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # it is a group


@pytest.mark.parametrize("name", COMMANDS)
def test_command_is_described(name: str) -> None:
    command = COMMANDS[name]
    texts = [command.help, *(getattr(parameter, "help", None) for parameter in command.params)]

    assert all(texts), name
    assert f"homelake {name} " in README


def test_every_option_of_build_is_in_the_readme() -> None:
    options = [option for parameter in COMMANDS["build"].params for option in parameter.opts if option[:2] == "--"]

    assert [option for option in options if option not in README] == ["--output"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("build", "/nonexistent", "-o", "lake"), "cannot open /nonexistent: no such file or directory"),
        (("build", "HOME", "-o", "lake", "--collected-at", "soon"), "--collected-at: 'soon' is no time"),
        (("build", "HOME", "-o", "lake", "--path-template", "{hst}"), "hst"),
        (("build", "HOME", "-o", "lake", "--path-template", "{host}/x/{user}"), "matches the path of no home"),
        (("schema", "tables"), "no table or view 'tables'; there are timeline, sessions"),
        (("schema", "tables"), ", tool_failures"),
        (("sql", "/nonexistent", "select 1"), "/nonexistent"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(words: tuple[str, ...], line: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".continue/sessions").mkdir(parents=True)
    (home / ".continue/sessions/a.json").write_text("{}", encoding="utf-8")

    outcome = homelake(*(str(home) if word == "HOME" else word for word in words))

    assert outcome.exit_code == 2
    assert outcome.stderr.startswith("homelake: ")
    assert outcome.stderr.count("\n") == 1
    assert line in outcome.stderr


def test_sql_takes_a_query_that_begins_with_a_comment(corpus_lake: Lake) -> None:
    outcome = run("sql", corpus_lake.path, "-- How many?\nselect count(*) as n from sessions", "--format", "csv")

    assert (outcome.exit_code, outcome.stdout) == (0, f"n\n{corpus_lake.count('sessions')}\n")


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_sql_writes_what_the_ending_says(corpus_lake: Lake, tmp_path: Path, ending: str) -> None:
    run("sql", corpus_lake.path, "select 'x' as a", "-o", tmp_path / f"out.{ending}")

    written = (tmp_path / f"out.{ending}").read_bytes()
    assert written.startswith({"csv": b"a", "json": b"[", "parquet": b"PAR1"}[ending])


@pytest.mark.parametrize(
    "example", sorted(Path(__file__).parent.parent.glob("sql/examples/*.sql")), ids=lambda p: p.stem
)
def test_example_answers(corpus_lake: Lake, example: Path) -> None:
    values = {"find_text": ["-p", "word=totals"], "one_session": ["-p", f"session={corpus_lake.value(BUSIEST)}"]}
    is_without_rows = example.stem == "damaged_archives"  # the corpus is no archive

    outcome = run("sql", corpus_lake.path, "--example", example.stem, *values.get(example.stem, []), "--format", "csv")

    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.stdout.count("\n") > 1 or is_without_rows


def test_ordered_timeline_is_laid_out_a_second_a_row(corpus_lake: Lake) -> None:
    query = (
        "select count(*) as n from timeline_ordered join sessions using (session_key) "
        "where laid_out_utc <> sessions.started_utc + to_seconds(sequence)"
    )

    assert run("sql", corpus_lake.path, query, "--format", "csv").stdout == "n\n0\n"


def test_examples_are_listed_with_what_they_ask(corpus_lake: Lake) -> None:
    outcome = run("sql", corpus_lake.path, "--example", "list")

    names = [line.split()[0] for line in outcome.stdout.splitlines()]
    assert names == sorted(path.stem for path in (Path(__file__).parent.parent / "sql/examples").glob("*.sql"))
    assert all(line.endswith("?") for line in outcome.stdout.splitlines())


def test_a_query_can_come_from_a_file(corpus_lake: Lake, tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text("select 1 as n", encoding="utf-8")

    assert run("sql", corpus_lake.path, "-f", tmp_path / "q.sql", "--format", "csv").stdout == "n\n1\n"


@pytest.mark.parametrize(
    "words", [(), ("select 1", "--example", "commands"), ("--example", "nope"), ("-f", "/nonexistent")]
)
def test_a_query_is_given_once(corpus_lake: Lake, words: tuple[str, ...]) -> None:
    outcome = run("sql", corpus_lake.path, *words)

    assert outcome.exit_code == 2
    assert outcome.stderr.startswith("homelake: ")
    assert outcome.stderr.count("\n") == 1


def test_further_views_are_described(corpus_lake: Lake) -> None:
    views = sorted(path.stem for path in (Path(__file__).parent.parent / "sql/views").glob("*.sql"))
    told = homelake("schema").stdout.partition("further views\n")[2]
    one = homelake("schema", "tokens_used").stdout

    assert [line.split()[0] for line in told.splitlines()] == views
    assert one.startswith("tokens_used: one row per ")
    assert "\nday                 DATE     Day (UTC) by the best evidence; null where nothing tells.\n" in one
    assert one.endswith("\n" + selects("views")["tokens_used"])
    assert [name for name in views if f"`{name}`" not in README] == []
    assert [corpus_lake.count(name) >= 0 for name in views] == [True] * len(views)
