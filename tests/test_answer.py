import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from rich.cells import cell_len

from pipeline.answer import Form
from pipeline.answering import PLAIN, How
from pipeline.query import QueryError, run_query
from tests.conftest import Ask
from tests.tiny import HOSTILE, snapshot

TYPES = """
    select 1::hugeint as whole, 0.5::double as half, 'nan'::double as nan, [1.5, 'inf'::double] as list,
        {'a': 'x,"y"', 'b': null} as struct, map {'k': 1} as map, null as nothing, '' as empty,
        'NULL' as word, true as yes, timestamp '2026-01-02 03:04:05' as at,
        timestamp '2026-01-02 03:04:05.5' as half_past, timestamp '2026-01-02 03:04:05.123456' as fine,
        timestamptz '2026-01-02 03:04:05+02' as zoned, date '2026-01-02' as day, time '03:04:05' as clock,
        interval 3 day as days, '{"a": [1]}'::json as json, 'ab'::blob as blob, 1.50::decimal(5, 2) as money,
        e'two\\nlines' as lines, 'say "hi", ok' as quotes,
        '12345678-1234-1234-1234-123456789abc'::uuid as uuid, 'infinity'::timestamp as never,
        'a'::enum('a', 'b') as enum
"""


def test_csv_follows_rfc_4180(ask: Ask) -> None:
    text = ask(TYPES, "csv")
    names, row = csv.reader(io.StringIO(text, newline=""))

    assert text.endswith("\r\n")
    assert text.count("\r\n") == 2
    assert dict(zip(names, row, strict=True)) == {
        "whole": "1",
        "half": "0.5",
        "nan": "nan",
        "list": "[1.5,null]",
        "struct": '{"a":"x,\\"y\\"","b":null}',
        "map": '{"k":1}',
        "nothing": "",
        "empty": "",
        "word": "NULL",
        "yes": "true",
        "at": "2026-01-02 03:04:05.000",
        "half_past": "2026-01-02 03:04:05.500",
        "fine": "2026-01-02 03:04:05.123456",
        "zoned": "2026-01-02 01:04:05+00",
        "day": "2026-01-02",
        "clock": "03:04:05",
        "days": "3 days",
        "json": '{"a": [1]}',
        "blob": "ab",
        "money": "1.50",
        "lines": "two\nlines",
        "quotes": 'say "hi", ok',
        "uuid": "12345678-1234-1234-1234-123456789abc",
        "never": "infinity",
        "enum": "a",
    }
    assert ',,"",NULL,' in text


def test_csv_of_one_column_has_no_empty_line(ask: Ask) -> None:
    assert ask("values (null), ('')", "csv") == 'col0\r\n""\r\n""\r\n'


def test_json_is_one_array_of_objects(ask: Ask) -> None:
    found = json.loads(ask(TYPES, "json"), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))

    assert found == [
        {
            "whole": 1,
            "half": 0.5,
            "nan": None,
            "list": [1.5, None],
            "struct": {"a": 'x,"y"', "b": None},
            "map": {"k": 1},
            "nothing": None,
            "empty": "",
            "word": "NULL",
            "yes": True,
            "at": "2026-01-02 03:04:05.000",
            "half_past": "2026-01-02 03:04:05.500",
            "fine": "2026-01-02 03:04:05.123456",
            "zoned": "2026-01-02 01:04:05+00",
            "day": "2026-01-02",
            "clock": "03:04:05",
            "days": "3 days",
            "json": {"a": [1]},
            "blob": "ab",
            "money": 1.5,
            "lines": "two\nlines",
            "quotes": 'say "hi", ok',
            "uuid": "12345678-1234-1234-1234-123456789abc",
            "never": "infinity",
            "enum": "a",
        }
    ]


def test_json_keeps_hostile_text_and_has_a_line_per_row(ask: Ask) -> None:
    text = ask("select text from said order by agent", "json")

    assert [row["text"] for row in json.loads(text)] == ["hello", HOSTILE]
    assert text.startswith('[\n{"text":"hello"},\n{"text":')
    assert text.endswith("}\n]\n")
    assert ask("select text from said where false", "json") == "[]\n"


def test_two_columns_of_one_name_are_told_apart(ask: Ask) -> None:
    assert json.loads(ask("select 1 as a, 2 as a", "json")) == [{"a": 1, "a_1": 2}]


def test_parquet_keeps_types_and_rows(lake: Path, tmp_path: Path) -> None:
    run_query(
        lake,
        "select i, [i], at_utc, agent, interval 1 day as d from said, range(50000) t(i) order by i, agent",
        form="parquet",
        output=tmp_path / "x.parquet",
    )
    run_query(lake, TYPES, form="parquet", output=tmp_path / "types.parquet")

    table = pq.read_table(tmp_path / "x.parquet")
    assert [str(field.type) for field in table.schema] == [
        "int64",
        "list<element: int64>",
        "timestamp[us]",
        "string",
        "string",
    ]
    assert table.column("i").to_pylist() == [n // 2 for n in range(100_000)]
    assert pq.ParquetFile(tmp_path / "x.parquet").num_row_groups < 5
    assert pq.read_table(tmp_path / "types.parquet").num_rows == 1


def test_parquet_without_rows_has_the_columns(lake: Path, tmp_path: Path) -> None:
    run_query(lake, "from said where false", form="parquet", output=tmp_path / "x.parquet")

    assert pq.read_table(tmp_path / "x.parquet").column_names == ["at_utc", "agent", "text", "month"]


def test_parquet_needs_a_file(lake: Path) -> None:
    with pytest.raises(QueryError, match="-o FILE"):
        run_query(lake, "select 1", form="parquet")


def test_a_table_is_aligned_and_null_is_no_text(ask: Ask) -> None:
    found = ask("values ('日本', 1, null), ('NULL', 22, 'x'), ('''NULL''', null, ''), (e'a\\tb\\n', -3, 'é')")

    assert found.splitlines() == [
        "col0      col1  col2",
        "--------  ----  ----",
        "日本         1  NULL",
        "'NULL'      22  x",
        "''NULL''  NULL",
        "a\\tb\\n      -3  é",
        "(4 rows)",
    ]


def test_a_table_is_harmless_to_a_terminal(ask: Ask) -> None:
    found = ask(f"select text, text as \"{HOSTILE.replace(chr(0), '')}\" from said where agent = 'pearai'")

    assert all(line.isprintable() for line in found.split("\n"))
    assert "\\x1b]0;owned\\x07\\x1b[31mred\\x9b0m\\u202egnp.exe\\u2028\\x00tail" in found


def test_a_table_in_a_pipe_is_whole(ask: Ask) -> None:
    found = ask("select i, repeat('x', 5000) as t from range(2345) r(i)").splitlines()

    assert found[2] == "   0  " + "x" * 5000
    assert len(found) == 2348
    assert found[-1] == "(2,345 rows)"
    assert ask("select 1 as n where false") == "n\n-\n(0 rows)\n"


def test_a_long_value_in_a_pipe_moves_what_follows_it_and_fills_no_other_line(ask: Ask) -> None:
    found = ask("select repeat('x', i) as t, i from (values (5000), (3)) v(i) order by i").splitlines()

    assert found[1] == "-" * 80 + "  ----"
    assert found[2] == "xxx" + " " * 77 + "     3"
    assert found[3] == "x" * 5000 + "  5000"


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def on_terminal(lake: Path, query: str, columns: int, monkeypatch: pytest.MonkeyPatch, how: How = PLAIN) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(columns))
    sink = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", Terminal(sink, encoding="utf-8"))
    run_query(lake, query, form="table", how=how)
    return sink.getvalue().decode().splitlines()


def test_a_terminal_gets_a_table_that_fits(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query = "select 'short' as a, repeat('日本 ', 50) as b, repeat('y', 300) as c"

    found = on_terminal(lake, query, 60, monkeypatch)

    assert found[1] == "-----  " + "-" * 25 + "  " + "-" * 25
    assert found[2] == "short  日本 日本 日本 日本 日本…  " + "y" * 24 + "…"


def test_a_terminal_gets_a_line_per_value_where_columns_cannot_fit(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query = "select " + ", ".join(f"repeat('x', 99) as column_{at}" for at in range(10))

    found = on_terminal(lake, query, 60, monkeypatch)

    assert found[0] == "-- row 1 --"
    assert found[1] == "column_0  " + "x" * 49 + "…"
    assert len(found) == 12


def test_numbers_and_times_are_never_cut(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query = (
        "select 12345678901 as a_long_name_of_a_number, timestamp '2026-01-02 03:04:05' as at_utc, "
        "repeat('x', 99) as a, repeat('y', 99) as b"
    )

    found = on_terminal(lake, query, 60, monkeypatch)

    assert found == [
        "a_long_nam…  at_utc                   a           b",
        "-----------  -----------------------  ----------  ----------",
        "12345678901  2026-01-02 03:04:05.000  xxxxxxxxx…  yyyyyyyyy…",
        "(1 row)",
    ]


def test_titles_are_cut_before_values(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query = "select 'short' as a_title_that_is_long, repeat('x', 30) as another_title"

    found = on_terminal(lake, query, 40, monkeypatch)

    assert found[0] == "a_title…  another_title"
    assert found[2] == "short     " + "x" * 30


def test_a_terminal_shows_the_first_rows_and_counts_the_rest(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query = "select i, repeat('日x', 5000) as t from range(1234) r(i)"

    found = on_terminal(lake, query, 60, monkeypatch)

    assert len(found) == 1003
    assert max(map(cell_len, found)) == 60
    assert found[-1] == "(1,234 rows, 1,000 shown)"
    assert on_terminal(lake, query, 60, monkeypatch, How(max_rows=3))[-1] == "(1,234 rows, 3 shown)"
    assert on_terminal(lake, query, 60, monkeypatch, How(max_rows=0))[-1] == "(1,234 rows)"


def test_expanded_rows_wrap_what_is_long(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query = "select 1 as n, repeat('日', 40) as long, '' as empty, repeat('x', 2000) as cut"

    found = on_terminal(lake, query, 50, monkeypatch, How(expanded=True))

    assert found[:5] == ["-- row 1 --", "n      1", "long   " + "日" * 21, "       " + "日" * 19, "empty"]
    assert found[-2].endswith("x…")
    assert sum(line.count("x") for line in found) == 1000


def test_expanded_rows_are_whole_in_a_pipe(lake: Path, tmp_path: Path) -> None:
    run_query(
        lake,
        "select repeat('x', 2000) as t, 1 as number",
        form="table",
        output=tmp_path / "answer",
        how=How(expanded=True),
    )

    assert (tmp_path / "answer").read_text().splitlines() == [
        "-- row 1 --",
        "t       " + "x" * 2000,
        "number  1",
        "(1 row)",
    ]


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_other_forms_are_cut_only_when_told_and_say_so(
    form: Form, lake: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    query = "select i from range(5000) r(i) order by i"

    for most in (None, 0, 5000, 3):
        run_query(lake, query, form=form, output=tmp_path / f"{most}.{form}", how=How(max_rows=most))

    counts = [duckdb.execute(f"from '{tmp_path}/{most}.{form}'").fetchall() for most in (None, 0, 5000, 3)]
    assert [len(rows) for rows in counts] == [5000, 5000, 5000, 3]
    assert counts[-1] == [(0,), (1,), (2,)]
    assert capsys.readouterr().err == "homelake: there are more rows than the 3 that were written\n"


def test_an_old_terminal_gets_escapes(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(sink, encoding="ascii"))

    run_query(lake, "select '日' as a", form="table")

    assert sink.getvalue() == b"a\n--\n\\u65e5\n(1 row)\n"


# Where answers go


def test_a_file_is_replaced_only_by_a_whole_answer(lake: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_text("before")

    for form in ("csv", "json", "table", "parquet"):
        with pytest.raises(QueryError):
            run_query(
                lake,
                "select if(i < 90000, i, error('late')) from range(100000) t(i)",
                form=form,
                output=target,
            )
        assert target.read_text() == "before"
    run_query(lake, "select 1 as a", form="csv", output=target)

    assert target.read_bytes() == b"a\r\n1\r\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.csv"]


def test_a_link_stays_a_link_and_a_mode_follows_the_umask(lake: Path, tmp_path: Path) -> None:
    (tmp_path / "real").write_text("before")
    (tmp_path / "link").symlink_to("real")

    run_query(lake, "select 1 as a", form="csv", output=tmp_path / "link")

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"a\r\n1\r\n"
    (tmp_path / "plain").write_text("")
    assert (tmp_path / "real").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_device_is_written_to_and_not_replaced(lake: Path) -> None:
    run_query(lake, "select 1 as a", form="csv", output=Path(os.devnull))

    assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize(
    "name", ["", "missing/x.csv", "lake/x.csv", "lake/lake.duckdb", "lake/builds/3/homes/00.parquet"]
)
def test_where_no_answer_can_go(lake: Path, tmp_path: Path, name: str) -> None:
    copy = tmp_path / "lake"
    shutil.copytree(lake, copy, symlinks=True)
    before = snapshot(tmp_path)

    with pytest.raises(QueryError) as caught:
        run_query(copy, "select 1", form="csv", output=tmp_path / name)

    assert "\n" not in str(caught.value)
    assert snapshot(tmp_path) == before


def test_answers_go_to_standard_output(lake: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    run_query(lake, "select '日' as a", form="csv")

    assert capsysbinary.readouterr().out == "a\r\n日\r\n".encode()


def test_a_reader_that_leaves_is_no_error(lake: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from pipeline.query import run_query;"
        "run_query(Path(sys.argv[1]), 'from range(2000000)', form='csv')"
    )
    command = [sys.executable, "-c", code, str(lake)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"range\r\n"
        process.stdout.close()
        errors = process.stderr.read()
        process.wait(timeout=60)

    assert errors == b""
    assert process.returncode == 0
