"""Four hundred homes, sixteen workers, few open files: what a lake of many small homes costs."""

import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import OpenLake
from tests.lake import ROOT, homelake, parquet_files
from tests.made import MadeHome, reply, user

HOMES = 400


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("many") / "homes"
    for number in range(HOMES):
        MadeHome(root / f"u{number:05}").session(f"s{number:05}", user(f"u{number}"), reply(f"a{number}"))
    return root


def build(homes: Path, lake: Path, workers: int) -> None:
    """Build in a process that may have 256 files open."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    command = [sys.executable, "-m", "pipeline.cli", "build", str(homes), "-o", str(lake), "--workers", str(workers)]
    done = subprocess.run(command, cwd=ROOT, preexec_fn=limited, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_case_061(homes: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    lake = tmp_path / "lake"

    build(homes, lake, 16)

    found = open_lake(lake)
    users = [f"u{number:05}" for number in range(HOMES)]
    assert found.column("select user from sessions order by user") == users
    texts = found.column("select text from timeline where kind = 'message' order by user, sequence")
    assert texts == [text for number in range(HOMES) for text in (f"u{number}", f"a{number}")]
    first = parquet_files(lake)
    assert len(first) == 11, "a file a table: one bucket, one assistant, one month"
    files = [path.name for path in (lake / "builds/1").iterdir() if path.is_file()]
    assert sorted(files) == ["inputs.json", "lake.duckdb", "manifest.json"]
    assert [path.name for path in (lake / "builds").iterdir()] == ["1"]

    build(homes, lake, 2)

    assert parquet_files(lake) == first


def test_case_061_after_a_home_was_removed(homes: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    """A lake accumulates; one that starts empty knows nothing of the home."""
    left = tmp_path / "homes"
    shutil.copytree(homes, left)
    lake = tmp_path / "lake"
    first, second = (("--workers", "1", "--collected-at", f"2026-11-0{day}T00:00:00Z") for day in (1, 2))
    assert homelake("build", left, "-o", lake, *first).exit_code == 0
    rows = "select * from session_rows order by user, sequence"
    before = open_lake(lake).rows(rows)
    shutil.rmtree(left / "u00007")

    assert homelake("build", left, "-o", lake, *second).exit_code == 0

    found = open_lake(lake)
    assert found.count("sessions") == HOMES
    assert found.rows(rows) == before
    assert homelake("build", left, "-o", lake, *second, "--replace").exit_code == 0
    assert open_lake(lake).count("sessions") == HOMES - 1
    assert not any(b"u00007" in data for data in parquet_files(lake).values())
