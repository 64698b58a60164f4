"""The cases of inputs, names and orders; what is right stands in `fixtures/cases/<case>/expected.md`."""

import re
from pathlib import Path

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest

from pipeline.tables import TABLES
from tests.conftest import BuildCase, OpenLake
from tests.lake import homelake, parquet_files, run
from tests.layout import FIXTURES, lay_out
from tests.test_cases_damage import CREATED, session_id

PARTITIONED = [table.name for table in TABLES if table.time]
NAMES = FIXTURES / "cases/057-user-names-as-partitions/homes"


def test_032_secrets_and_config_never_opened(build_case: BuildCase) -> None:
    lake = build_case("032-secrets-and-config-never-opened")

    assert lake.rows("select path, bytes, sha256, status from artifacts where status = 'secret' order by path") == [
        (".continue/.env", 25, None, "secret"),
        (".continue/auth.json", 40, None, "secret"),
        (".continue/config.json", 42, None, "secret"),
        (".continue/config.yaml", 43, None, "secret"),
    ]
    assert lake.rows("select path, status from artifacts where status <> 'secret'") == [
        (f".continue/sessions/{session_id(62)}.json", "parsed")
    ]
    assert lake.rows("select turn_type, text, session_id from timeline where kind = 'message'") == [
        ("user", "my key is FAKE-KEY-DO-NOT-EMIT-4", session_id(62))
    ]
    assert lake.has_no_problem()


def test_032_no_secret_is_in_any_file_of_the_lake(build_case: BuildCase) -> None:
    lake = build_case("032-secrets-and-config-never-opened")

    files = [path for path in lake.path.rglob("*") if path.is_file()]
    held = [path.read_bytes() for path in files]
    held += [
        repr(pq.read_table(path, partitioning=None).to_pylist()).encode() for path in files if path.suffix == ".parquet"
    ]
    assert {found for data in held for found in re.findall(rb"FAKE-KEY-DO-NOT-EMIT-\d", data)} <= {
        b"FAKE-KEY-DO-NOT-EMIT-4"
    }


def test_035_project_dot_continue_is_no_state(tmp_path: Path, open_lake: OpenLake) -> None:
    home = lay_out("cases/035-project-dot-continue", tmp_path / "case") / "home"

    outcome = homelake("build", home, "-o", tmp_path / "lake", "--workers", "1")

    assert outcome.exit_code == 1
    assert len(outcome.stderr.splitlines()) == 1
    if (tmp_path / "lake/lake.duckdb").exists():
        lake = open_lake(tmp_path / "lake")
        assert [lake.count(table) for table in ("sessions", "timeline", "artifacts", "problems")] == [
            0,
            0,
            0,
            0,
        ]


def test_035_project_dot_continue_with_a_moved_directory(build_case: BuildCase) -> None:
    lake = build_case("035-project-dot-continue", "home", "--continue-dir", "work-state")

    assert lake.row('select session_id, started_utc, in_index, "user" from sessions') == (
        session_id(63),
        CREATED,
        True,
        None,
    )
    assert lake.rows("select text, agent, timestamp_utc, \"user\" from timeline where kind = 'message'") == [
        ("moved home", "continue", CREATED, None)
    ]
    assert lake.rows("select path, status from artifacts order by path") == [
        (f"work-state/sessions/{session_id(63)}.json", "parsed"),
        ("work-state/sessions/sessions.json", "parsed"),
    ]
    assert lake.has_no_problem()


def test_057_user_names_as_partitions(build_case: BuildCase) -> None:
    lake = build_case("057-user-names-as-partitions", "homes")
    names = names_by_session()

    assert len(names) == 18
    assert lake.pairs('select session_id, "user" from sessions') == names
    assert lake.count("sessions") == lake.count("timeline", "kind = 'message'") == 18
    assert lake.pairs("select session_id, text from timeline where kind = 'message'") == {
        session: f"hello from {number}" for number, session in enumerate(sessions_in_order())
    }


def names_by_session() -> dict[str, str]:
    return {path.stem: path.parents[2].name for path in NAMES.glob("*/.continue/sessions/*.json")}


def sessions_in_order() -> list[str]:
    return [session_id(number) for number in range(0x82, 0x94)]


def test_057_user_names_come_back_by_every_reader(build_case: BuildCase) -> None:
    lake = build_case("057-user-names-as-partitions", "homes")
    names = sorted(names_by_session().values())
    folder = lake.path / "current/timeline"

    view = lake.rows('select "user", count(*) from timeline where kind = \'message\' group by "user"')
    with duckdb.connect() as plain:
        plain.execute("select \"user\" from read_parquet(?) where kind = 'message'", [f"{folder}/**/*.parquet"])
        files = plain.fetchall()
    frame = pl.read_parquet(folder).filter(kind="message")
    table = pq.read_table(folder, columns=["user", "kind"]).to_pylist()

    assert sorted(view) == [(name, 1) for name in names]
    assert sorted(files) == [(name,) for name in names]
    assert sorted(frame["user"].to_list()) == names
    assert sorted(row["user"] for row in table if row["kind"] == "message") == names


def test_057_path_columns_are_in_paths_alone_and_names_in_none(build_case: BuildCase) -> None:
    lake = build_case("057-user-names-as-partitions", "homes")
    build = (lake.path / "current").resolve()

    for table in PARTITIONED:
        for file in (build / table).rglob("*.parquet"):
            assert not {"agent", "month"} & set(pq.read_schema(file).names)
        columns = lake.column(f"select column_name from (describe {table})")
        assert {"agent", "month"} <= set(columns)
    paths = [path.relative_to(lake.path).as_posix() for path in lake.path.rglob("*")]
    parts = {part for path in paths for part in path.split("/")}
    names = set(names_by_session().values())
    assert not [(part, name) for part in parts for name in names if name in part]


@pytest.mark.parametrize(
    ("source", "output", "number", "text"),
    [("case=42/user=bob/home", "out/run=7", 0x96, "path keys"), ("in[1]*/home", "lake2", 0x97, "glob chars")],
)
def test_058_input_path_with_equals(
    source: str,
    output: str,
    number: int,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    open_lake: OpenLake,
) -> None:
    monkeypatch.chdir(lay_out("cases/058-input-path-with-equals", tmp_path / "case"))

    outcome = homelake("build", source, "-o", output, "--workers", "1")

    assert outcome.exit_code == 0, outcome.stderr
    monkeypatch.chdir(tmp_path)
    lake = open_lake(tmp_path / "case" / output)
    assert lake.rows('select session_id, "user", agent from sessions') == [(session_id(number), None, "continue")]
    assert lake.rows("select text, \"user\", agent from timeline where kind = 'message'") == [(text, None, "continue")]
    assert not lake.column("select column_name from duckdb_columns() where column_name in ('run', 'case')")
    assert lake.has_no_problem()


def test_062_order_ties(build_case: BuildCase) -> None:
    lake = build_case("062-order-ties", "homes")

    assert lake.column('select "user" from sessions order by all') == ["m", "m", "n"]
    assert lake.rows(
        "select session_id, list(turn_type order by sequence), list(distinct text), "
        "list(distinct timestamp_utc) from timeline where kind = 'message' group by all order by session_id"
    ) == [(session_id(number), ["user", "assistant"], ["same"], [CREATED]) for number in (0xA0, 0xA1, 0xA2)]
    assert lake.value("select count(distinct row_id) from timeline where kind = 'message'") == 6


def test_062_order_ties_do_not_depend_on_workers(tmp_path: Path) -> None:
    homes = lay_out("cases/062-order-ties", tmp_path / "case") / "homes"

    for workers in (1, 16):
        outcome = run("build", homes, "-o", tmp_path / f"lake{workers}", "--workers", str(workers))
        assert outcome.exit_code == 0, outcome.stderr

    assert parquet_files(tmp_path / "lake1") == parquet_files(tmp_path / "lake16")


def test_064_same_session_in_two_homes(build_case: BuildCase) -> None:
    lake = build_case("064-same-session-in-two-homes", "homes")
    users = ["dana", "dana-laptop", "dana.bak"]

    assert lake.rows('select "user", session_id, user_turns, total_cost_usd from sessions order by "user"') == [
        (user, session_id(166), turns, 0.25) for user, turns in zip(users, (1, 2, 1), strict=True)
    ]
    assert lake.rows(
        'select "user", count(*) from timeline where kind = \'message\' group by all order by "user"'
    ) == list(zip(users, (2, 3, 2), strict=True))
    assert lake.value("select count(distinct row_id) from timeline where kind = 'message'") == 7
    assert lake.value("select text from timeline where kind = 'session' and \"user\" = 'dana'") == (
        "session start: Tidy the loader items=2 promptTokens=1 completionTokens=1 totalCost=0.25 dateCreated unknown"
    )
    hashes = lake.pairs("select \"user\", sha256 from artifacts where source = 'continue.session'")
    assert hashes["dana"] == hashes["dana.bak"] != hashes["dana-laptop"]
    assert lake.has_no_problem()
