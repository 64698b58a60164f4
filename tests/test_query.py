import csv
import io
import os
import re
import shutil
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.query import QueryError, checked, opened, run_query
from tests.conftest import Ask
from tests.tiny import HOSTILE, snapshot

# What runs


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("select agent from said order by agent", [["continue"], ["pearai"]]),
        ("select agent from said order by agent desc limit 1;", [["pearai"]]),
        ("from said select month order by all", [["2026-01"], ["unknown"]]),
        ("-- first\n/* c; */ select 1 -- ; last\n; /* ; */ ; -- end", [["1"]]),
        ("select ';' as \"a;b\"", [[";"]]),
        ("with a as (select 1 as x), b as materialized (select x + 1 as x from a) from b", [["2"]]),
        (
            "with recursive n(i) as (values (1) union select i + 1 from n where i < 3) select max(i) from n",
            [["3"]],
        ),
        ("(select 1 union all select 2) order by 1 desc", [["2"], ["1"]]),
        ("values (1, 'x'), (2, 'y')", [["1", "x"], ["2", "y"]]),
        ("table homes", [["/home/a"]]),
        ("select * from short where agent = 'continue'", [["continue", "hel"]]),
        ("show tables", [["homes"], ["said"], ["short"]]),
        ("select column_name from (describe homes)", [["path"]]),
        ("select count(*) from (summarize said)", [["4"]]),
        ("from (pivot said on agent in ('continue') using count(*) group by month) order by all", None),
        ("unpivot homes on path", [["path", "/home/a"]]),
        ("select count(*) from range(10), unnest([1, 2])", [["20"]]),
        ("select count(*) from query_table('homes')", [["1"]]),
        ("select u from homes, lateral (select upper(path)) as l(u)", [["/HOME/A"]]),
        ("select comment from duckdb_views() where view_name = 'homes'", [["one row per home"]]),
        (
            "select agent from said group by all having count(*) > 0 order by sum(length(text))",
            [["continue"], ["pearai"]],
        ),
        ("select i from range(3000) t(i) where i > 2997 order by i", [["2998"], ["2999"]]),
    ],
)
def test_selects_run(ask: Ask, query: str, rows: list[list[str]] | None) -> None:
    found = list(csv.reader(io.StringIO(ask(query, "csv"))))[1:]

    assert rows is None or found == rows


def test_rows_keep_their_order(ask: Ask) -> None:
    query = "select i from range(100000) t(i) order by hash(i)"

    found = ask(query, "csv").split()[1:]

    expected = duckdb.execute(query).fetchall()
    assert found == [str(row[0]) for row in expected]


@pytest.mark.parametrize("words", ["explain", "EXPLAIN /* why */ ANALYZE", "-- c\nexplain"])
def test_explain_of_a_select_prints_the_plan(ask: Ask, words: str) -> None:
    assert "READ_PARQUET" in ask(f"{words} select count(*) from said;").upper().replace(" ", "_")


# What does not


@pytest.fixture
def guarded(lake: Path, tmp_path: Path) -> Path:
    """A lake of its own, with links that lead out of it, beside files that are not to be read."""
    copy = tmp_path / "guarded"
    shutil.copytree(lake, copy, symlinks=True)
    build = copy / "builds" / "3"
    (build / "passwd").symlink_to("/etc/passwd")
    (build / "etc").symlink_to("/etc")
    (tmp_path / "outside.csv").write_text("a\nsecret\n")
    pq.write_table(pa.table({"a": ["secret"]}), tmp_path / "outside.parquet")
    duckdb.connect(str(tmp_path / "other.duckdb")).close()
    return copy


STATEMENTS = [
    "",
    " ; ",
    "-- nothing",
    "select 1; select 2",
    "select 1; copy homes to '{build}/x.csv'",
    "selec 1",
    "select 'open",
    "copy homes to '{build}/x.csv'",
    "copy (select 1) to '{top}/x.csv'",
    "explain copy homes to '{build}/x.csv'",
    "explain analyze copy homes to '{build}/x.csv'",
    "explain (analyze) copy homes to '{build}/x.csv'",
    "explain (format json) select 1",
    "explain explain select 1",
    "explain analyze with x as (copy (select 1) to '{build}/x.csv') from x",
    "with x as (copy (select 1) to '{build}/x.csv') from x",
    "with x as materialized (copy homes to '{build}/x.csv') select 1",
    "with a as (with x as (copy (select 1) to '{build}/x.csv') from x) from a",
    "select 1 where exists (with x as (copy (select 1) to '{build}/x.csv') from x)",
    "with x as (insert into homes values ('x') returning *) from x",
    "with x as (delete from homes returning *) from x",
    "with x as (update homes set path = 'x' returning *) from x",
    "summarize with x as (copy (select 1) to '{build}/x.csv') from x",
    "select 1) as answer; copy homes to '{build}/x.csv'; select * from (select 1",
    "select 1) as answer(a) --",
    "attach '{top}/other.duckdb'",
    "attach '{top}/new.duckdb'",
    "detach lake",
    "use memory",
    "install httpfs",
    "load httpfs",
    "pragma version",
    "pragma database_list",
    "pragma enable_profiling",
    "call pragma_version()",
    "set threads = 1",
    "set enable_external_access = true",
    "reset lock_configuration",
    "set variable homelake = '/'",
    "checkpoint",
    "vacuum",
    "analyze",
    "export database '{build}/x'",
    "import database '{build}'",
    "create temp macro f() as 1",
    "create temp table t as select 1",
    "create view v as select 1",
    "drop view homes",
    "alter view homes rename to h",
    "insert into homes values ('x')",
    "delete from homes",
    "comment on view homes is 'x'",
    "prepare p as select 1",
    "execute p",
    "begin",
    "commit",
    "create secret (type s3)",
    "pivot said on agent using count(*)",
    "from (pivot said on agent using count(*))",
    "select $1",
    "select ?",
    "\ud800",
]

FILES = [
    "{top}/outside.csv",
    "{build}/../../../outside.csv",
    "{build}/said/../../../../outside.csv",
    "{build}/passwd",
    "{build}/pass*",
    "{build}/etc/passwd",
    "{build}/**/passwd",
    "{build}x/a",
    "/etc/passwd",
    "/etc/pass*",
    "/proc/self/environ",
    "/proc/self/cmdline",
    "/dev/stdin",
    "/dev/fd/0",
    "~/.bashrc",
    "file:///etc/passwd",
    "file:/etc/passwd",
    "file://localhost/etc/passwd",
    "outside.csv",
    "https://example.invalid/x.csv",
    "s3://bucket/x.csv",
    "hf://datasets/x/y.csv",
]

READERS = [
    "select content from read_text('{file}')",
    "from read_csv('{file}')",
    "from read_csv(['{file}'])",
    "from sniff_csv('{file}')",
    "from read_blob('{file}')",
    "from read_json('{file}')",
    "from read_ndjson_objects('{file}')",
    "from read_parquet('{file}')",
    "from parquet_metadata('{file}')",
    "from parquet_schema('{file}')",
    "from parquet_kv_metadata('{file}')",
    "from parquet_file_metadata('{file}')",
    "from query_table('{file}')",
    "from query_table(['{file}'])",
    "from '{file}'",
    'from "{file}"',
    "select (select content from read_text('{file}'))",
    "describe from read_csv('{file}')",
    "explain from read_csv('{file}')",
]

FUNCTIONS = [
    "from query('select 1')",
    "from system.main.\"QUERY\"('select 1')",
    "from query('copy (select 1) to ''{build}/x.csv''')",
    "from query('from read_text(''/etc/passwd'')')",
    "select (from query('select 1'))",
    "from duckdb_secrets",
    "from glob('/etc/*')",
    "from glob('{build}/etc/*')",
    "from glob('{build}/../*')",
    "from glob('*')",
    "select getenv('HOME')",
    "from read_duckdb('{top}/other.duckdb')",
    "from '{top}/other.duckdb'",
    "from parquet_metadata('{top}/outside.parquet')",
    "from checkpoint()",
    "from force_checkpoint()",
    "from enable_logging(storage = 'file', storage_config = {{'path': '{build}/log'}})",
    "from enable_profiling(save_location = '{build}/profile')",
    "from truncate_duckdb_logs()",
    "from import_database('{build}')",
    "from destroy_external_resource('json_execute_serialized_sql', '{{}}')",
    "from add_grammar_extension('x')",
    "from arrow_scan(0, 0, 0)",
    "from pandas_scan(0)",
    "from python_map_function((select 1))",
    "from lake",
    "from query",
    "from table_",
    "from json_execute_serialized_sql(json_serialize_sql('select 1'))",
    "from duckdb_extension_repositories()",
    "select * from homes where path in (from query('select ''x'''))",
    "from iceberg_scan('x')",
    "select nextval('x')",
]


def refused(guarded: Path, query: str) -> str:
    build = guarded / "builds" / "3"
    query = query.format(build=build, top=guarded.parent)
    before = snapshot(guarded.parent)

    with pytest.raises(QueryError) as caught:
        run_query(guarded, query, form="table", output=guarded.parent / "answer")

    assert snapshot(guarded.parent) == before
    line = str(caught.value)
    assert line
    assert line.isprintable()
    return line


@pytest.mark.parametrize("query", STATEMENTS)
def test_anything_but_one_select_is_refused_in_one_line_and_changes_nothing(guarded: Path, query: str) -> None:
    refused(guarded, query)


@pytest.mark.parametrize("file", FILES)
def test_no_file_outside_the_lake_is_read(guarded: Path, file: str) -> None:
    for reader in READERS[:3]:
        line = refused(guarded, reader.format(file=file))
        assert line.startswith("Permission Error: Cannot access")


@pytest.mark.parametrize("reader", READERS)
def test_no_function_reads_a_file_outside_the_lake(guarded: Path, reader: str) -> None:
    for file in ("{top}/outside.csv", "{top}/outside.parquet", "{build}/passwd"):
        line = refused(guarded, reader.format(file=file))
        assert re.match(r"Permission Error: Cannot access|Catalog Error: Table with name .* does not exist", line)


@pytest.mark.parametrize("query", FUNCTIONS)
def test_functions_that_act_or_lead_out_are_refused(guarded: Path, query: str) -> None:
    table_ = pa.table({"a": [1]})

    refused(guarded, query)

    assert table_.num_rows == 1


def test_a_serialized_query_cannot_write(guarded: Path) -> None:
    copy = f"with x as (copy (select 1) to '{guarded}/builds/3/x.csv') from x"
    row = duckdb.execute("select json_serialize_sql(?::varchar)", [copy]).fetchone()
    assert row is not None
    text = row[0].replace("'", "''").replace("{", "{{").replace("}", "}}")

    assert "is refused" in refused(guarded, f"from json_execute_serialized_sql('{text}')")
    assert "is refused" in refused(guarded, f"select (select a from json_execute_serialized_sql('{text}') as t(a))")


def test_duckdb_itself_refuses_a_with_that_writes_in_a_subquery(lake: Path) -> None:
    with opened(lake) as connection, pytest.raises(duckdb.BinderException, match="must be at the top level"):
        connection.execute("select * from (with x as (copy (select 1) to 'x.csv') from x) as answer")


def test_settings_are_locked(lake: Path) -> None:
    with opened(lake) as connection, pytest.raises(duckdb.InvalidInputException, match="locked"):
        connection.execute("set enable_external_access = true")


def test_the_private_directory_for_spilled_rows_is_removed(lake: Path) -> None:
    with opened(lake) as connection:
        row = connection.execute("select current_setting('temp_directory')").fetchone()
        assert row is not None
        assert Path(row[0]).is_dir()

    assert not Path(row[0]).exists()


def test_a_query_is_checked_without_being_run(lake: Path) -> None:
    with opened(lake) as connection:
        select = checked(connection, "select error('ran'); -- end")

    assert (select.text, select.explain) == ("select error('ran')", "")


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("", "empty"),
        ("select 1; select 2", "2 statements"),
        ("copy homes to 'x'", "COPY is refused"),
        ("pivot said on agent using count(*)", r"sum\(x\) filter \(where"),
        ("with x as (copy homes to 'x') from x", "a WITH that writes"),
        ("from query('select 1')", "the function query is refused"),
        ("explain copy homes to 'x'", "COPY is refused"),
        ("explain (format json) select 1", "EXPLAIN"),
        ("select nowhere from homes", "nowhere"),
        ("selec 1", "Parser Error"),
        ("select " + " + ".join("1" * 5000), "nested too deeply|depth"),
        ("select 'a\x1b[31mb'::int", r"\\x1b\[31m"),
        ("select " + "'" + "long " * 1000 + "'::int", "…$"),
    ],
)
def test_refusals_say_why(guarded: Path, query: str, part: str) -> None:
    assert re.search(part, refused(guarded, query))


def test_files_of_the_build_can_be_read(ask: Ask, lake: Path) -> None:
    found = ask(f"select size > 0 as large from read_blob('{lake.resolve()}/builds/3/lake.duckdb')", "csv")

    assert found.split() == ["large", "true"]


AWKWARD = [
    "with blank",
    "it's",
    'dou"ble',
    "100%25",
    "a=b",
    "agent=evil",
    "text=evil",
    "[1]",
    "[1]*",
    "a*",
    "**",
    "]",
    "[!a]",
    "q?x",
    "a.tmp?b?c",
    "{a,b}",
    "$HOME",
    "a:b",
    "日本",
    "new\nline",
]


@pytest.mark.parametrize("name", AWKWARD)
def test_views_work_in_the_sandbox_wherever_the_lake_lies(ask: Ask, lake: Path, tmp_path: Path, name: str) -> None:
    linked, plain = tmp_path / "linked" / name, tmp_path / "plain" / name
    shutil.copytree(lake, linked, symlinks=True)
    shutil.copytree(lake, plain)
    (tmp_path / "outside.csv").write_text("a\nsecret\n")

    for copy in (linked, plain):
        found = ask("select agent, month, short.text from short join said using (agent) order by all", "csv", copy)
        assert found.split()[1:] == ["continue,2026-01,hel", f"pearai,unknown,{HOSTILE[:3]}"]
        with pytest.raises(QueryError):
            ask(f"from read_text('{tmp_path}/outside.csv')", "csv", copy)
        with pytest.raises(QueryError):
            ask(f"from read_text('{tmp_path}/*.csv')", "csv", copy)


def test_a_lake_behind_a_link_and_by_a_relative_path(ask: Ask, lake: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(lake)

    assert ask("select path from homes", "csv", tmp_path / "link").split() == ["path", "/home/a"]
    assert ask("select path from homes", "csv", Path(os.path.relpath(lake))).split() == ["path", "/home/a"]


def test_what_is_no_lake(ask: Ask, lake: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "lake.duckdb").write_text("this is no database, whatever its name says")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "lake.duckdb").symlink_to(lake / "lake.duckdb")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "lake.duckdb").symlink_to("current/lake.duckdb")
    (tmp_path / "file").write_text("")

    for name in ("missing", "empty", "text", "out", "broken", "file"):
        with pytest.raises(QueryError) as caught:
            ask("select 1", "csv", tmp_path / name)
        assert "\n" not in str(caught.value)
        assert name in str(caught.value)
