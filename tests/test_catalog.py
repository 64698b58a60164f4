import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.catalog import view_columns, write_catalog
from pipeline.schema import Table
from pipeline.tables import TABLES
from pipeline.tables.sessions import SESSIONS
from pipeline.tables.timeline import TIMELINE

VALUES: dict[pa.DataType, object] = {
    pa.string(): "x",
    pa.bool_(): True,
    pa.int32(): 1,
    pa.int64(): 2,
    pa.float64(): 0.5,
    pa.timestamp("ms"): 1_700_000_000_000,
    pa.list_(pa.string()): ["a", "b"],
    pa.list_(pa.timestamp("ms")): [1_700_000_000_000],
}
PARTS = (("continue", "2026-01"), ("continue", "unknown"), ("pearai", "2026-02"))


def write(table: Table, folder: Path, row: Mapping[str, object] | None) -> None:
    folder.mkdir(parents=True)
    schema = table.arrow()
    rows = [] if row is None else [{f.name: VALUES[f.type] for f in schema} | dict(row)]
    pq.write_table(pa.Table.from_pylist(rows, schema), folder / "00.parquet")


def make_lake(lake: Path, *, number: int = 7, views: Mapping[str, str] | None = None) -> Path:
    build = lake / "builds" / str(number)
    for table in TABLES:
        if table is TIMELINE:
            for agent, month in PARTS:
                write(
                    table,
                    build / table.name / f"agent={agent}" / f"month={month}",
                    {"text": f"{agent} {month}"},
                )
        elif table.time:
            write(table, build / table.name / "agent=none" / "month=unknown", None)
        else:
            write(table, build / table.name, {"host": "h"})
    write_catalog(build, TABLES, views or {})
    for name, target in (("current", f"builds/{number}"), ("lake.duckdb", "current/lake.duckdb")):
        (lake / name).unlink(missing_ok=True)
        (lake / name).symlink_to(target)
    return lake


def ask(database: Path, query: str, **settings: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(database), read_only=True) as connection:
        for name, value in settings.items():
            connection.execute(f"set {name} = ?", [value])
        return connection.execute(query).fetchall()


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_lake(tmp_path_factory.mktemp("lake") / "lake")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    before = Path.cwd()
    os.chdir(tmp_path)
    yield tmp_path
    os.chdir(before)


def expected(table: Table) -> list[tuple[str, str]]:
    names = {
        pl.String(): "VARCHAR",
        pl.Boolean(): "BOOLEAN",
        pl.Int32(): "INTEGER",
        pl.Int64(): "BIGINT",
        pl.Float64(): "DOUBLE",
        pl.Datetime("ms"): "TIMESTAMP",
        pl.List(pl.String()): "VARCHAR[]",
        pl.List(pl.Datetime("ms")): "TIMESTAMP[]",
    }
    month = [("month", "VARCHAR")] if table.time else []
    return [(column.name, names[column.dtype]) for column in table.columns] + month


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_views_have_the_declared_columns_in_order_and_month_last(lake: Path, table: Table) -> None:
    found = ask(lake / "lake.duckdb", f'describe "{table.name}"')

    assert [(row[0], row[1]) for row in found] == expected(table)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_views_and_columns_have_comments(lake: Path, table: Table) -> None:
    view = ask(lake / "lake.duckdb", f"select comment from duckdb_views() where view_name = '{table.name}'")
    columns = ask(
        lake / "lake.duckdb",
        f"select column_name, comment from duckdb_columns() where table_name = '{table.name}'",
    )

    assert view == [(table.grain,)]
    assert dict(columns) == {column.name: column.description for column in view_columns(table)}


def test_path_columns_come_from_the_path(lake: Path) -> None:
    found = ask(lake / "lake.duckdb", "select agent, month, text from timeline order by all")

    assert found == [(agent, month, f"{agent} {month}") for agent, month in PARTS]


def test_a_condition_on_the_path_leaves_files_unread(lake: Path) -> None:
    plan = ask(
        lake / "lake.duckdb",
        "explain select text from timeline where agent = 'pearai' and month >= '2026-01'",
    )

    assert re.search(r"Scanning Files: 1/3\b", plan[0][1])


def test_a_table_without_rows_is_empty_and_not_an_error(lake: Path) -> None:
    assert ask(lake / "lake.duckdb", "select count(*) from tool_calls") == [(0,)]


def test_lists_come_back(lake: Path) -> None:
    assert ask(lake / "lake.duckdb", "select models from sessions") == [(["a", "b"],)]


def test_the_file_is_readable_by_clients_of_version_1(lake: Path) -> None:
    # Bytes 12 to 20 of the file are its version; DuckDB 1.0 and 1.1 read 64.
    assert int.from_bytes((lake / "lake.duckdb").read_bytes()[12:20], "little") == 64


def test_only_the_database_file_is_added_to_the_build(lake: Path) -> None:
    build = lake / "builds" / "7"

    assert {entry.name for entry in build.iterdir()} == {table.name for table in TABLES} | {"lake.duckdb"}


@pytest.mark.parametrize("name", ["lake.duckdb", "current/lake.duckdb", "builds/7/lake.duckdb"])
def test_the_file_works_from_any_directory_by_any_of_its_names(lake: Path, elsewhere: Path, name: str) -> None:
    assert ask(lake / name, "select count(*) from timeline") == [(3,)]
    assert ask(Path(os.path.relpath(lake / name, elsewhere)), "select count(*) from timeline") == [(3,)]


AWKWARD = [
    "with blank",
    "it's",
    'dou"ble',
    "100%25",
    "a=b",
    "host=web01",
    "user=7",
    "agent=evil",
    "month=1999-01",
    "[1]",
    "[1]*",
    "a*",
    "**",
    "]",
    "[]]",
    "[!a]",
    "[a-c]",
    "q?x",
    "a.tmp?b?c",
    "{a,b}",
    "$HOME",
    "a:b",
    "x;y",
    "-- c",
    "日本 ä",
    "new\nline",
    "~",
    "builds",
    "lake.duckdb",
    "x.parquet",
]


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_directories_above_the_lake_change_nothing(tmp_path: Path, name: str) -> None:
    lake = make_lake(tmp_path / name / "lake")

    found = ask(lake / "lake.duckdb", 'select agent, month, host, "user", text from timeline order by all')

    assert found == [(agent, month, "x", "x", f"{agent} {month}") for agent, month in PARTS]
    assert ask(lake / "lake.duckdb", 'select host, "user", agent from sessions') == [("h", "x", "x")]


@pytest.mark.parametrize("name", AWKWARD)
def test_a_lake_can_be_moved_and_copied_with_and_without_its_links(tmp_path: Path, lake: Path, name: str) -> None:
    query = "select agent, month, text from timeline order by all"
    before = ask(lake / "lake.duckdb", query)
    linked, plain, moved = (tmp_path / kind / name for kind in ("linked", "plain", "moved"))
    shutil.copytree(lake, linked, symlinks=True)
    shutil.copytree(lake, plain)

    assert ask(linked / "lake.duckdb", query) == before
    assert ask(plain / "lake.duckdb", query) == before
    moved.parent.mkdir()
    linked.rename(moved)
    assert ask(moved / "lake.duckdb", query) == before


@pytest.mark.parametrize("name", ["plain", "[1]*", "q?x"])
def test_a_client_with_a_temporary_directory_of_its_own_sets_a_variable(tmp_path: Path, lake: Path, name: str) -> None:
    copy = tmp_path / name
    shutil.copytree(lake, copy, symlinks=True)

    for value in (str(copy), f"{copy}/"):
        with duckdb.connect(str(copy / "lake.duckdb"), read_only=True) as connection:
            connection.execute("set temp_directory = ?", [str(tmp_path / "spill")])
            connection.execute("set variable homelake = ?", [value])
            assert connection.execute("select count(*) from timeline").fetchall() == [(3,)]


def test_an_attached_lake_works_with_the_variable(lake: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute("set variable homelake = ?", [str(lake)])
        connection.execute(f"attach '{lake / 'lake.duckdb'}' as known (read_only)")

        assert connection.execute("select count(*) from known.timeline").fetchall() == [(3,)]


def test_an_open_connection_stays_with_its_build(tmp_path: Path) -> None:
    lake = make_lake(tmp_path / "lake")
    with duckdb.connect(str(lake / "lake.duckdb"), read_only=True) as connection:
        make_lake(lake, number=8)
        shutil.rmtree(lake / "builds" / "8" / "timeline" / "agent=pearai")

        assert connection.execute("select count(*) from timeline").fetchall() == [(3,)]
    assert ask(lake / "lake.duckdb", "select count(*) from timeline") == [(2,)]


def test_further_views_come_in_any_order_and_inherit_comments(tmp_path: Path) -> None:
    views = {
        "a_counts": "-- Grain: one row per agent.\nwith\nbusy as (select * from z_busy)\n"
        "select agent, count(*) as n from busy group by all",
        "z_busy": "select timeline.agent, s.models, 'x' as \"it's\"\n"
        "from timeline join sessions as s using (session_key);",
    }

    lake = make_lake(tmp_path / "it's a lake", views=views)

    assert ask(lake / "lake.duckdb", "select agent, n from a_counts order by all") == [
        ("continue", 2),
        ("pearai", 1),
    ]
    comments = dict(ask(lake / "lake.duckdb", "select view_name, comment from duckdb_views() where not internal"))
    assert (comments["a_counts"], comments["z_busy"]) == ("one row per agent.", None)
    columns = {
        (row[0], row[1]): row[2]
        for row in ask(lake / "lake.duckdb", "select table_name, column_name, comment from duckdb_columns()")
    }
    described = {column.name: column.description for column in (*TIMELINE.columns, *SESSIONS.columns)}
    assert columns["a_counts", "agent"] == columns["z_busy", "agent"] == described["agent"]
    assert columns["z_busy", "models"] == described["models"]
    assert columns["a_counts", "n"] is columns["z_busy", "it's"] is None


def test_a_column_s_comment_may_stand_behind_it(tmp_path: Path) -> None:
    view = (
        "-- Grain: one row per row.\nselect\n    event_utc::date as day,  -- Day (UTC): it's one.\n"
        '    agent,  -- Who.\n    1 as "n",  -- One.\n    host,\nfrom timeline'
    )

    lake = make_lake(tmp_path / "lake", views={"days": view})

    comments = dict(
        ask(lake / "lake.duckdb", "select column_name, comment from duckdb_columns() where table_name = 'days'")
    )
    (host,) = [column.description for column in TIMELINE.columns if column.name == "host"]
    assert comments == {"day": "Day (UTC): it's one.", "agent": "Who.", "n": "One.", "host": host}


def test_views_in_a_circle_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cycle"):
        make_lake(tmp_path / "lake", views={"a": "select * from b", "b": "select * from a"})


def test_a_catalog_is_taken_over_from_the_build_before(tmp_path: Path) -> None:
    build = make_lake(tmp_path / "lake", number=7) / "builds/7"
    (tmp_path / "lake/builds/8").mkdir()
    shutil.copytree(build / "timeline", tmp_path / "lake/builds/8/timeline")
    file = tmp_path / "lake/builds/8/timeline/agent=pearai/month=2026-02/00.parquet"
    file.unlink()

    # The tables' other files are not there: views that were made anew would not find them.
    write_catalog(tmp_path / "lake/builds/8", TABLES, {}, build)

    with duckdb.connect(str(tmp_path / "lake/builds/8/lake.duckdb"), read_only=True) as new:
        texts = new.execute("select text from timeline order by 1").fetchall()
        commented = new.execute("select count(comment) from duckdb_columns() where not internal").fetchone()
    assert texts == [("continue 2026-01",), ("continue unknown",)]
    assert commented == (sum(len(view_columns(table)) for table in TABLES),)


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


@pytest.mark.parametrize("damage", [Path.unlink, lambda file: file.write_bytes(b"none"), truncated])
def test_a_catalog_that_cannot_be_taken_over_is_made_anew(damage: Callable[[Path], object], tmp_path: Path) -> None:
    lake = make_lake(tmp_path / "lake")
    shutil.copytree(lake / "builds/7", lake / "builds/8")
    (lake / "builds/8/lake.duckdb").unlink()
    damage(lake / "builds/7/lake.duckdb")

    write_catalog(lake / "builds/8", TABLES, {}, lake / "builds/7")

    with duckdb.connect(str(lake / "builds/8/lake.duckdb"), read_only=True) as new:
        assert new.execute("select count(*) from timeline").fetchone() == (3,)


def test_a_catalog_with_other_views_is_made_anew(tmp_path: Path) -> None:
    lake = make_lake(tmp_path / "lake", views={"short": "select text from timeline"})
    shutil.copytree(lake / "builds/7", lake / "builds/8")

    write_catalog(lake / "builds/8", TABLES, {"short": "select agent from timeline"}, lake / "builds/7")

    with duckdb.connect(str(lake / "builds/8/lake.duckdb"), read_only=True) as new:
        assert new.execute("select distinct short.* from short order by 1").fetchall() == [("continue",), ("pearai",)]
