"""Ways into a lake that BI tools use, as `docs/bi.md` describes them: SQLAlchemy and ADBC."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import adbc_driver_manager
import pytest
import sqlalchemy
from adbc_driver_duckdb import driver_path
from adbc_driver_manager import dbapi
from sqlalchemy.pool import NullPool

from pipeline.join import selects
from tests.lake import Lake, homelake
from tests.made import MadeHome, reply, user

DENIED = selects("examples")["denied_per_week"]


def engine_of(lake: Path) -> sqlalchemy.Engine:
    url = sqlalchemy.URL.create("duckdb", database=str(lake / "lake.duckdb"))
    return sqlalchemy.create_engine(url, connect_args={"read_only": True}, poolclass=NullPool)


def rows(engine: sqlalchemy.Engine, query: str) -> list[tuple[Any, ...]]:
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(sqlalchemy.text(query))]


@contextmanager
def adbc_cursor(lake: Path) -> Iterator[dbapi.Cursor]:
    options = {"path": str(lake / "lake.duckdb"), "access_mode": "READ_ONLY"}
    with (
        dbapi.connect(driver_path(), entrypoint="duckdb_adbc_init", db_kwargs=options, autocommit=True) as connection,
        connection.cursor() as cursor,
    ):
        yield cursor


@pytest.fixture(scope="module")
def moved(corpus_lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the corpus' lake: DuckDB opens a file that is open in the process with the same settings alone."""
    return Path(shutil.copytree(corpus_lake.path, tmp_path_factory.mktemp("moved") / "lake", symlinks=True))


@pytest.fixture(scope="module")
def engine(moved: Path) -> sqlalchemy.Engine:
    return engine_of(moved)


def test_sqlalchemy_queries_the_views(engine: sqlalchemy.Engine, corpus_lake: Lake) -> None:
    expected = corpus_lake.rows(DENIED)

    assert expected
    assert rows(engine, DENIED) == expected


def test_sqlalchemy_lists_views_with_types_and_comments(engine: sqlalchemy.Engine, corpus_lake: Lake) -> None:
    inspector = sqlalchemy.inspect(engine)

    assert set(inspector.get_view_names()) == set(
        corpus_lake.column("select view_name from duckdb_views() where not internal and view_name <> 'session_rows'")
    )
    columns = {column["name"]: column for column in inspector.get_columns("fact_calls")}
    assert isinstance(columns["week"]["type"], sqlalchemy.Date)
    assert isinstance(columns["failed"]["type"], sqlalchemy.Boolean)
    assert columns["week"]["comment"] == "Monday of that day's week."
    assert str(inspector.get_table_comment("fact_calls")["text"]).startswith("one row per tool call")


def test_sqlalchemy_builds_queries_from_a_view_s_columns(engine: sqlalchemy.Engine, corpus_lake: Lake) -> None:
    found = sqlalchemy.inspect(engine).get_columns("fact_calls")
    calls = sqlalchemy.table("fact_calls", *(sqlalchemy.column(column["name"], column["type"]) for column in found))

    with engine.connect() as connection:
        count = connection.scalar(sqlalchemy.select(sqlalchemy.func.count()).where(calls.c.decision == "denied"))

    assert count == corpus_lake.count("fact_calls", "decision = 'denied'")


def test_sqlalchemy_cannot_write(engine: sqlalchemy.Engine) -> None:
    with pytest.raises(sqlalchemy.exc.ProgrammingError, match="read-only mode"):
        rows(engine, "create table x (a int)")


def test_adbc_gives_arrow(moved: Path, corpus_lake: Lake) -> None:
    with adbc_cursor(moved) as cursor:
        cursor.execute(DENIED)
        found = cursor.fetch_arrow_table()

    assert [tuple(row.values()) for row in found.to_pylist()] == corpus_lake.rows(DENIED)
    assert str(found.schema.field("week").type) == "date32[day]"


def test_adbc_cannot_write(moved: Path) -> None:
    with (
        adbc_cursor(moved) as cursor,
        pytest.raises(adbc_driver_manager.Error, match="read-only mode"),
    ):
        cursor.execute("create table x (a int)")


def test_a_new_connection_sees_a_new_build(tmp_path: Path) -> None:
    lake = tmp_path / "a lake"
    home = MadeHome(tmp_path / "home")
    engine = engine_of(lake)
    counts = []
    for number in range(3):
        home.session(f"s{number}", user("q"), reply("a"))
        homelake("build", home.path, "-o", lake, "--workers", "1", "--user", "alice", "--host", "h")
        with adbc_cursor(lake) as cursor:
            cursor.execute("select count(*) from sessions")
            counts.append((rows(engine, "select count(*) from sessions"), cursor.fetchall()))

    assert counts == [([(n,)], [(n,)]) for n in (1, 2, 3)]
