import json
import sys
from pathlib import Path
from typing import Literal

import duckdb
import polars as pl
import pytest

from pipeline.catalog import view_columns
from pipeline.dictionary import duckdb_type, render
from pipeline.schema import TEXT, TIME, Column, Table
from pipeline.tables import TABLES
from tests.tiny import HOMES, SAID, make_lake

LONG = Table(
    "long",
    "one row per thing",
    ("a", "b"),
    (
        Column("a", TEXT, "A text that is much too long for one line of a narrow terminal.", nullable=False),
        Column("b", pl.List(TEXT), "`x|y`."),
        Column("agent", TEXT, "Who.", nullable=False),
        Column("at_utc", TIME, "When (UTC)."),
    ),
    time="at_utc",
)


def test_text_has_a_line_per_column_in_a_pipe() -> None:
    month = "Month of `at_utc` (`YYYY-MM`, UTC), `unknown` without one; part of the file's path."

    assert render([LONG], "table").splitlines() == [
        "long: one row per thing",
        "key: a, b",
        "files: builds/<n>/long/agent=*/month=*/*.parquet",
        "",
        "column  type       null  in    meaning",
        "a       VARCHAR    no    file  A text that is much too long for one line of a narrow terminal.",
        "b       VARCHAR[]  yes   file  `x|y`.",
        "agent   VARCHAR    no    path  Who.",
        "at_utc  TIMESTAMP  yes   file  When (UTC).",
        f"month   VARCHAR    no    path  {month}",
    ]


def test_text_is_wrapped_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    lines = render([LONG], "table").splitlines()

    assert max(map(len, lines)) <= 60
    assert lines[5:8] == [
        "a       VARCHAR    no    file  A text that is much too long",
        "                               for one line of a narrow",
        "                               terminal.",
    ]


def test_text_is_left_alone_on_a_very_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    before = render([LONG], "table").splitlines()[5:]
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    assert render([LONG], "table").splitlines()[-len(before) :] == before


def test_json_says_the_same() -> None:
    (found,) = json.loads(render([LONG], "json"))

    assert (found["table"], found["grain"], found["key"]) == ("long", "one row per thing", ["a", "b"])
    assert found["files"] == "builds/<n>/long/agent=*/month=*/*.parquet"
    assert found["columns"][1] == {
        "name": "b",
        "type": "VARCHAR[]",
        "nullable": True,
        "in": "file",
        "description": "`x|y`.",
    }
    assert [column["in"] for column in found["columns"]] == ["file", "file", "path", "file", "path"]


def test_markdown_keeps_bars_out_of_the_table() -> None:
    lines = render([LONG], "markdown").splitlines()

    assert lines[:6] == [
        "## long",
        "",
        "One row per thing.",
        "",
        "- Key: `a`, `b`",
        "- Files: `builds/<n>/long/agent=*/month=*/*.parquet`",
    ]
    assert lines[7:9] == ["| column | type | null | in | meaning |", "| --- | --- | --- | --- | --- |"]
    assert "| `b` | VARCHAR[] | yes | file | `x\\|y`. |" in lines


@pytest.mark.parametrize("form", ["table", "json", "markdown"])
def test_every_column_of_every_table_is_described(form: Literal["table", "json", "markdown"]) -> None:
    text = render(TABLES, form)

    for table in TABLES:
        assert table.grain.lower() in text.lower()
        for column in view_columns(table):
            assert json.dumps(column.description)[1:-1].replace("|", "\\|") in text.replace("|", "\\|")


def test_types_and_files_are_those_of_a_lake(tmp_path: Path) -> None:
    lake = make_lake(tmp_path / "lake")
    listed = {entry["table"]: entry for entry in json.loads(render([SAID, HOMES], "json"))}

    with duckdb.connect(str(lake / "lake.duckdb"), read_only=True) as connection:
        for table in (SAID, HOMES):
            found = connection.execute(f"describe {table.name}").fetchall()
            described = [(column["name"], column["type"]) for column in listed[table.name]["columns"]]
            assert described == [(row[0], row[1]) for row in found]
            assert list(lake.glob(listed[table.name]["files"].replace("<n>", "3")))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_type_has_duckdb_s_name(table: Table) -> None:
    with duckdb.connect() as connection:
        for column in table.columns:
            assert connection.execute(f"select null::{duckdb_type(column.dtype)}").fetchall() == [(None,)]
