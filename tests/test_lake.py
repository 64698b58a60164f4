"""The lake as it lies on disk: schema, keys, views, determinism."""

from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from pipeline.reasons import REASONS
from pipeline.schema import Table
from pipeline.tables import TABLES
from tests.conftest import OpenLake
from tests.lake import Lake, homelake, parquet_files, run
from tests.layout import lay_out

PARTITIONED = [table for table in TABLES if table.time]
by_name = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)


def files_of(lake: Lake, table: Table) -> list[Path]:
    return sorted((lake.path / "current" / table.name).rglob("*.parquet"))


@by_name
def test_every_file_has_the_declared_schema_and_comments(corpus_lake: Lake, table: Table) -> None:
    declared = [(column.name, column.description, column.nullable) for column in table.stored]

    assert files_of(corpus_lake, table)
    for file in files_of(corpus_lake, table):
        schema = pq.read_schema(file)
        assert schema.remove_metadata().equals(table.arrow().remove_metadata()), file
        assert [(field.name, field.metadata[b"comment"].decode(), field.nullable) for field in schema] == declared


@by_name
def test_every_file_is_read_by_polars_with_the_declared_types(corpus_lake: Lake, table: Table) -> None:
    stored = {column.name: column.dtype for column in table.stored}

    for file in files_of(corpus_lake, table):
        assert dict(pl.read_parquet_schema(file)) == stored


@by_name
def test_files_lie_where_the_layout_says(corpus_lake: Lake, table: Table) -> None:
    pattern = "agent=*/month=*/[0-9][0-9].parquet" if table.time else "[0-9][0-9].parquet"

    assert files_of(corpus_lake, table) == sorted((corpus_lake.path / "current" / table.name).glob(pattern))


@by_name
def test_views_have_the_declared_columns_in_order(corpus_lake: Lake, table: Table) -> None:
    columns = corpus_lake.column(f"select column_name from (describe {table.name})")

    assert columns == [*table.names, "month"] if table.time else table.names


@by_name
def test_views_explain_their_columns(corpus_lake: Lake, table: Table) -> None:
    comments = corpus_lake.pairs(
        "select column_name, comment from duckdb_columns() where table_name = ? and not internal", table.name
    )

    assert {name: comments[name] for name in table.names} == {c.name: c.description for c in table.columns}


@by_name
def test_keys_are_unique_and_not_null_where_declared(corpus_lake: Lake, table: Table) -> None:
    key = ", ".join(f'"{name}"' for name in table.key)
    filled = " and ".join(f'"{column.name}" is not null' for column in table.columns if not column.nullable)

    assert corpus_lake.count("timeline")
    assert not corpus_lake.rows(f"select {key} from {table.name} group by all having count(*) > 1")
    assert not corpus_lake.count(table.name, f"not ({filled})")


@by_name
def test_tables_have_one_order_as_far_as_they_have_its_columns(table: Table) -> None:
    total = ("host", "user", "agent", "session_key", "source_file", "sequence", "source_line", "row_id")
    columns = {column.name for column in table.columns}

    expected = [name for name in total if name in columns]

    own = {"sessions": [*expected, "session_id"], "collections": ["collection_id"]}
    assert list(table.order) == own.get(table.name, expected)


@by_name
def test_rows_are_stored_in_the_declared_order(corpus_lake: Lake, table: Table) -> None:
    for file in files_of(corpus_lake, table):
        frame = pl.read_parquet(file, hive_partitioning=False)
        order = [name for name in table.order if name in frame.columns]
        assert frame.equals(frame.sort(order, nulls_last=True, maintain_order=True)), file


@pytest.mark.parametrize("table", PARTITIONED, ids=lambda table: table.name)
def test_month_is_that_of_the_tables_time(corpus_lake: Lake, table: Table) -> None:
    strays = f"month <> coalesce(strftime({table.time}, '%Y-%m'), 'unknown')"

    assert not corpus_lake.count(table.name, f"({strays}) and agent <> 'none'")


def test_sequence_counts_the_rows_of_a_file(corpus_lake: Lake) -> None:
    gaps = corpus_lake.rows(
        "select source_file from (select source_file, sequence from timeline union all "
        "select source_file, sequence from twins) group by all "
        "having min(sequence) <> 0 or max(sequence) <> count(*) - 1 or count(distinct sequence) <> count(*)"
    )

    assert gaps == []


def test_tables_agree_about_keys(corpus_lake: Lake) -> None:
    """Rows belong to a session of the lake, calls to their row, and every file to a collection."""
    assert not corpus_lake.rows(
        "select row_id from timeline anti join sessions using (session_key) where session_key is not null"
    )
    assert not corpus_lake.rows("select call_key from tool_calls anti join timeline using (row_id, session_key)")
    assert not corpus_lake.rows("select row_id from context_items anti join sessions using (session_key)")
    assert not corpus_lake.rows("select path from artifacts anti join collections using (collection_id)")


def test_problems_have_known_reasons(corpus_lake: Lake) -> None:
    assert set(corpus_lake.column("select distinct reason from problems")) <= REASONS.keys()


def test_lake_can_be_moved_and_read_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_lake: OpenLake
) -> None:
    home = lay_out("corpus/homes/mona", tmp_path / "mona")
    outcome = homelake("build", home, "-o", tmp_path / "lake", "--workers", "1")
    assert outcome.exit_code == 0, outcome.stderr
    (tmp_path / "a=b [1]").mkdir()

    moved = (tmp_path / "lake").rename(tmp_path / "a=b [1]" / "it's 100%")

    for folder in (Path("/"), tmp_path, moved):
        monkeypatch.chdir(folder)
        lake = open_lake(moved)
        assert lake.count("timeline")
        assert lake.column('select distinct "user" from timeline') == [None]
        assert [lake.count(table.name) >= 0 for table in TABLES] == [True] * len(TABLES)


def test_lake_can_be_read_by_its_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_lake: OpenLake
) -> None:
    home = lay_out("corpus/homes/mona", tmp_path / "mona")
    outcome = homelake("build", home, "-o", tmp_path / "lake", "--workers", "1")
    assert outcome.exit_code == 0, outcome.stderr

    monkeypatch.chdir(tmp_path)

    assert open_lake(Path("lake")).count("sessions") == 3


def test_builds_of_the_same_homes_give_the_same_bytes(tmp_path: Path) -> None:
    """Whatever the number of workers, the order of the inputs, and whether the lake is new."""
    first = [lay_out(f"corpus/homes/{user}", tmp_path / "first" / user) for user in ("carol", "leo", "peggy")]
    second = [lay_out(f"corpus/homes/{user}", tmp_path / "second" / user) for user in ("mona", "quinn")]
    inputs = [first[0].parent, second[0].parent]

    for name, order, workers in (("one", 1, "1"), ("two", 1, "2"), ("turned", -1, "2"), ("one", 1, "1")):
        options = ("--workers", workers, "--buckets", "4")
        outcome = run("build", *inputs[::order], "-o", tmp_path / name, *options)
        assert outcome.exit_code == 0, outcome.stderr

    one, two, turned = (parquet_files(tmp_path / name) for name in ("one", "two", "turned"))
    assert len(one) >= len(TABLES)
    assert differing(one, two) == []
    assert differing(one, turned) == []
    assert (tmp_path / "one/current").readlink() == Path("builds/2")


def differing(some: dict[str, bytes], others: dict[str, bytes]) -> list[str]:
    return sorted(name for name in some.keys() | others.keys() if some.get(name) != others.get(name))


def test_buckets_spread_users_and_change_no_row(tmp_path: Path, open_lake: OpenLake) -> None:
    users = ("carol", "leo", "mona", "peggy", "quinn")
    homes = tmp_path / "homes"
    for user in users:
        lay_out(f"corpus/homes/{user}", homes / user)

    for buckets in ("1", "7"):
        outcome = homelake("build", homes, "-o", tmp_path / buckets, "--buckets", buckets, "--workers", "1")
        assert outcome.exit_code == 0, outcome.stderr

    query = "select * from timeline order by source_file, sequence"
    assert open_lake(tmp_path / "1").rows(query) == open_lake(tmp_path / "7").rows(query)
    names = {path.name for path in (tmp_path / "7/current/sessions").iterdir()}
    assert len(names) > 1
    assert names <= {f"{bucket:02}.parquet" for bucket in range(7)}


def test_a_build_leaves_its_inputs_as_they_were(tmp_path: Path) -> None:
    home = lay_out("corpus/homes/mona", tmp_path / "mona")
    before = state_of(home)

    outcome = homelake("build", home, "-o", tmp_path / "lake", "--workers", "1")

    assert outcome.exit_code == 0, outcome.stderr
    assert state_of(home) == before
    assert {path.name for path in tmp_path.iterdir()} == {"lake", "mona"}


def state_of(folder: Path) -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*")}
