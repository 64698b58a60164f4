"""The cases of archives; what is right stands in `fixtures/cases/<case>/expected.md`."""

import re
import subprocess
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from tests.conftest import BuildCase, OpenLake
from tests.lake import homelake
from tests.layout import lay_out
from tests.test_cases_damage import session_id


def source_file(number: int, user: str = "dana") -> str:
    return f"/home/{user}/.continue/sessions/{session_id(number)}.json"


def test_050_tar_escape_members(build_case: BuildCase, tmp_path: Path) -> None:
    lake = build_case("050-tar-escape-members", "in.tar.gz")

    assert lake.rows(
        'select "user", host, session_id, started_utc::varchar, started_basis from sessions order by session_id'
    ) == [("dana", None, session_id(number), "2026-09-15 09:00:00", "file") for number in (0x6E, 0x6F)]
    assert lake.rows("select turn_type, text, source_file from timeline where kind = 'message' order by text") == [
        ("user", "after", source_file(0x6F)),
        ("user", "inside the archive", source_file(0x6E)),
    ]
    assert lake.column("select source_file from problems where \"user\" = 'dana' and not lost order by all") == [
        "/home/dana/.continue/dev",
        "/home/dana/.continue/fifo",
    ]
    assert set(lake.column("select reason from problems")) == {"archive_member_rejected"}
    assert lake.count("problems", '"user" is null') <= 5
    assert lake.count("problems") == lake.count("problems", '"user" is null') + 2
    assert not lake.count("timeline", "kind = 'problem'")
    assert not [path for path in tmp_path.parent.rglob("*") if path.name in ("evil.json", "through.json")]
    assert not lake.count("timeline", "contains(text, 'root:')")


def test_052_tar_names_not_utf8(build_case: BuildCase) -> None:
    lake = build_case("052-tar-names-not-utf8", "in.tar.gz")

    users = lake.pairs('select session_id, "user" from sessions')
    assert users.keys() == {session_id(0x73), session_id(0x74)}
    assert re.fullmatch(r"J\\x[fF]6rg", users[session_id(0x73)])
    assert users[session_id(0x74)] == 'new\nline"x'
    assert sorted(text for _, text in lake.messages()) == ["latin", "nl"]
    path = lake.value("select distinct source_file from timeline where text = 'latin'")
    assert path.startswith(f"/home/{users[session_id(0x73)]}/.continue/")
    assert lake.has_no_problem()
    for file in (lake.path / "current").resolve().rglob("*.parquet"):
        assert pl.read_parquet(file, hive_partitioning=False).height == pq.ParquetFile(file).metadata.num_rows


@pytest.mark.parametrize(
    ("name", "texts", "reasons"),
    [
        ("a-cut", {0x75: "whole"}, [("archive_truncated", True)]),
        ("b-crc", {0x75: "whole", 0x76: "second"}, [("archive_damaged", False)]),
        ("c-joined", {0x75: "whole", 0x76: "second"}, []),
        ("d-plain", {0x75: "whole"}, []),
    ],
)
def test_053_gzip_cut_and_joined(
    build_case: BuildCase, name: str, texts: dict[int, str], reasons: list[tuple[str, bool]]
) -> None:
    lake = build_case("053-gzip-cut-and-joined", f"{name}.tar.gz")

    assert lake.pairs("select source_file, text from timeline where kind = 'message'") == {
        source_file(number): text for number, text in texts.items()
    }
    assert set(lake.rows('select "user", host from timeline')) == {("dana", None)}
    assert lake.rows('select reason, lost from problems where "user" is null') == reasons
    assert (
        lake.count("problems", "\"user\" = 'dana'") == lake.count("timeline", "kind = 'problem'") <= (name == "a-cut")
    )
    assert lake.count("sessions", f"session_id not in {tuple(map(session_id, (0x75, 0x76)))}") == 0
    if name == "a-cut":
        assert lake.column(f"select damaged from sessions where session_id = '{session_id(0x76)}'") == [True]
        (text,) = lake.column("select text from timeline where kind = 'problem'")
        assert text.startswith("parser: unparseable record 1 (json_truncated): ")


def test_054_duplicate_and_colliding_members(build_case: BuildCase) -> None:
    lake = build_case("054-duplicate-and-colliding-members", "in.tar.gz")

    users = {0x77: "dana", 0x78: "Dana", 0x79: "dana", 0x7A: "Jos\u00e9", 0x7B: "Jose\u0301"}
    assert lake.pairs('select session_id, "user" from sessions') == {session_id(n): user for n, user in users.items()}
    assert sorted(lake.rows("select text, current from timeline where kind = 'message'")) == [
        (text, True) for text in ("lower", "newer", "nfc", "nfd", "upper")
    ]
    assert not lake.count("timeline", "contains(text, 'older')")
    assert lake.rows('select reason, lost, "user", source_file from problems') == [
        ("duplicate_member", True, "dana", source_file(0x77))
    ]
    assert lake.column("select text from timeline where kind = 'problem'") == ["parser: unreadable (duplicate_member)"]


def test_056_long_names(build_case: BuildCase) -> None:
    lake = build_case("056-sparse-and-long-names", "in.tar.gz")

    paths = lake.pairs("select session_id, source_file from sessions")
    assert paths.keys() == {session_id(0x7F), session_id(0x80)}
    assert len(set(paths.values())) == 2
    assert all(len(path) > 200 for path in paths.values())
    assert sorted(text for _, text in lake.messages()) == ["long127", "long128"]
    assert lake.has_no_problem()


def test_056_sparse_log(tmp_path: Path, open_lake: OpenLake) -> None:
    case = lay_out("cases/056-sparse-and-long-names", tmp_path / "case")
    subprocess.run(["sh", "make.sh"], cwd=case, check=True)  # noqa: S607

    outcome = homelake("build", case / "sparse.tar.gz", "-o", tmp_path / "lake")

    assert outcome.exit_code == 0, outcome.stderr
    lake = open_lake(tmp_path / "lake")
    assert lake.rows('select parse_filename(path), bytes, status, "user" from artifacts') == [
        ("cn.log", 1_048_564, "parsed", "dana")
    ]
    assert not lake.count("timeline", "kind in ('sync', 'permission_decision', 'notice', 'message')")
    assert not lake.count("timeline", "contains(text, chr(0))")
    assert lake.rows("select reason, lost, bytes from problems") == [("zero_filled", False, 1_048_467)]
