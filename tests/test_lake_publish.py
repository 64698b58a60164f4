"""Builds that end early, badly, or beside a reader: exit codes, and the lake that stays."""

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

from pipeline.lake import locked
from tests.conftest import OpenLake
from tests.lake import homelake, opened, parquet_files, run, start
from tests.layout import lay_out

LISTED = {"builds", "current", "lake.duckdb"}


@pytest.fixture
def homes(tmp_path: Path) -> Path:
    for user in ("carol", "heidi", "mona"):
        lay_out(f"corpus/homes/{user}", tmp_path / "homes" / user)
    return tmp_path / "homes"


def test_exit_code_0_when_all_was_read(homes: Path, tmp_path: Path) -> None:
    outcome = run("build", homes, "-o", tmp_path / "lake", "--workers", "1")

    assert outcome.exit_code == 0
    assert outcome.stderr == ""
    assert "3 homes" in outcome.stdout


def test_exit_code_0_in_spite_of_losses(tmp_path: Path) -> None:
    case = lay_out("cases/001-session-cut-mid-string", tmp_path / "case")

    outcome = homelake("build", case / "home", "-o", tmp_path / "lake", "--workers", "1")

    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert "json_truncated" in outcome.stdout


def test_exit_code_1_when_there_is_no_artifact(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    outcome = run("build", tmp_path / "empty", "-o", tmp_path / "lake", "--workers", "1")

    assert outcome.exit_code == 1
    assert len(outcome.stderr.splitlines()) == 1


def test_exit_code_2_when_no_input_could_be_opened(tmp_path: Path) -> None:
    outcome = run("build", tmp_path / "nowhere", "-o", tmp_path / "lake")

    assert outcome.exit_code == 2
    (line,) = outcome.stderr.splitlines()
    assert str(tmp_path / "nowhere") in line
    assert not (tmp_path / "lake").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("build",),
        ("build", "."),
        ("build", ".", "-o", "x", "--workers", "0"),
        ("nonsense",),
        ("build", ".", "--frob"),
    ],
    ids=" ".join,
)
def test_exit_code_2_when_the_command_line_is_wrong(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    outcome = homelake(*arguments)

    assert outcome.exit_code == 2
    assert outcome.stderr.strip()
    assert "Traceback" not in outcome.stderr
    assert list(tmp_path.iterdir()) == []


def test_exit_code_3_when_one_input_could_not_be_opened(tmp_path: Path, open_lake: OpenLake) -> None:
    home = lay_out("corpus/homes/mona", tmp_path / "mona")

    outcome = run("build", tmp_path / "nowhere", home, "-o", tmp_path / "lake", "--workers", "1")

    assert outcome.exit_code == 3
    (line,) = outcome.stderr.splitlines()
    assert str(tmp_path / "nowhere") in line
    assert open_lake(tmp_path / "lake").count("sessions") == 3


def test_a_directory_that_is_no_lake_is_left_alone(homes: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("years of work", encoding="utf-8")

    outcome = homelake("build", homes, "-o", tmp_path / "mine", "--workers", "1")

    assert outcome.exit_code == 2
    assert len(outcome.stderr.splitlines()) == 1
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_a_place_where_no_lake_can_be_is_told_of(homes: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("a file", encoding="utf-8")

    outcome = homelake("build", homes, "-o", tmp_path / "mine/lake", "--workers", "1")

    assert outcome.exit_code == 2
    assert outcome.stderr == f"homelake: {tmp_path}/mine/lake/builds: Not a directory\n"


def test_a_new_build_takes_the_place_of_the_last(homes: Path, tmp_path: Path) -> None:
    """The build before stays for its readers; older ones go."""
    for number in range(1, 5):
        outcome = homelake("build", homes, "-o", tmp_path / "lake", "--workers", "1")
        assert outcome.exit_code == 0, outcome.stderr
        builds = sorted(path.name for path in (tmp_path / "lake/builds").iterdir())
        assert builds[-2:] == [str(n) for n in range(max(1, number - 1), number + 1)]
        assert (tmp_path / "lake/current").readlink() == Path("builds", str(number))
        assert {path.name for path in (tmp_path / "lake").iterdir()} == LISTED

    assert "1" not in builds


def test_a_reader_sees_one_build_while_the_next_is_published(homes: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    homelake("build", homes / "mona", "-o", tmp_path / "lake", "--workers", "1")
    reader = open_lake(tmp_path / "lake")
    before = reader.count("timeline")

    (homes / "mona/.continue/sessions/more.json").write_text('{"history": []}', encoding="utf-8")
    outcome = homelake("build", homes / "mona", "-o", tmp_path / "lake", "--workers", "1", "--replace")

    assert outcome.exit_code == 0, outcome.stderr
    assert reader.count("timeline") == before
    with opened(tmp_path / "lake") as lake:
        assert lake.count("timeline") == before + 1


def test_a_temporary_directory_may_have_a_long_path(
    homes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path of a socket, by which workers are asked for, may not."""
    folder = tmp_path / ("t" * 120)
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))

    outcome = run("build", homes, "-o", tmp_path / "lake", "--workers", "2")

    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert list(folder.iterdir()) == []


def test_a_killed_build_leaves_the_lake_whole_and_the_next_cleans_up(homes: Path, tmp_path: Path) -> None:
    began = time.monotonic()
    assert run("build", homes, "-o", tmp_path / "lake", "--workers", "2").exit_code == 0
    seconds = time.monotonic() - began
    held, moments = parquet_files(tmp_path / "lake"), random.Random(7)

    for low in (0.4, 0.6, 0.8):
        process = start("build", homes, "-o", tmp_path / "lake", "--workers", "2")
        time.sleep(seconds * moments.uniform(low, low + 0.2))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        with opened(tmp_path / "lake") as lake:
            assert lake.value('select count(distinct "user") from sessions') == 3
        assert parquet_files(tmp_path / "lake") == held

    assert run("build", homes, "-o", tmp_path / "lake", "--workers", "2").exit_code == 0
    assert parquet_files(tmp_path / "lake") == held
    builds = [path.name for path in (tmp_path / "lake/builds").iterdir()]
    assert len(builds) <= 3
    assert all(name.isdecimal() for name in builds)
    assert {path.name for path in (tmp_path / "lake").iterdir()} == LISTED


def test_a_build_killed_before_there_is_a_lake_is_cleaned_up(homes: Path, tmp_path: Path) -> None:
    process = start("build", homes, "-o", tmp_path / "lake", "--workers", "2")
    while process.poll() is None and not list(tmp_path.glob("lake/builds/*")):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()

    outcome = run("build", homes, "-o", tmp_path / "lake", "--workers", "2")

    assert outcome.exit_code == 0, outcome.stderr
    assert {path.name for path in (tmp_path / "lake").iterdir()} == LISTED
    assert len(list((tmp_path / "lake/builds").iterdir())) == 1


def test_a_second_build_of_one_lake_says_that_it_is_busy(tmp_path: Path) -> None:
    homes = lay_out("corpus/homes/leo", tmp_path / "homes/leo").parent

    with locked(tmp_path / "lake"):
        outcome = run("build", homes, "-o", tmp_path / "lake")

    assert outcome.exit_code == 2
    assert outcome.stderr == f"homelake: {tmp_path / 'lake'}: another build is writing this lake\n"


def test_special_and_unreadable_files_are_told_of(tmp_path: Path, open_lake: OpenLake) -> None:
    sessions = lay_out("corpus/homes/leo", tmp_path / "homes/leo") / ".continue/sessions"
    os.mkfifo(sessions / "pipe.json")

    outcome = run("build", tmp_path / "homes", "-o", tmp_path / "lake")

    lake = open_lake(tmp_path / "lake")
    assert outcome.exit_code == 0
    assert lake.rows("select reason, lost, source_file from problems where reason = 'special_file'") == [
        ("special_file", False, "/leo/.continue/sessions/pipe.json")
    ]
    assert lake.value("select status from artifacts where path like '%pipe.json'") == "skipped"


def test_a_later_collection_of_a_home_takes_no_row_away(homes: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    homelake("build", homes, "-o", tmp_path / "lake", "--workers", "1")
    index = homes / "mona/.continue/sessions/sessions.json"
    listed = len(json.loads(index.read_bytes()))
    index.write_text("[]", encoding="utf-8")

    outcome = run("build", homes / "mona", "-o", tmp_path / "lake")

    assert outcome.exit_code == 0, outcome.stderr
    lake = open_lake(tmp_path / "lake")
    assert lake.count("sessions", "\"user\" = 'mona'") == listed
    assert set(lake.column('select "user" from sessions')) == {"carol", "heidi", "mona"}


def test_no_lake_is_made_of_nothing_nor_inside_an_input(homes: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    nothing = run("build", tmp_path / "empty", "-o", tmp_path / "lake")
    inside = run("build", homes, "-o", homes / "lake")

    assert (nothing.exit_code, nothing.stderr) == (1, "homelake: no file of an assistant found\n")
    assert (inside.exit_code, inside.stderr) == (2, f"homelake: {homes / 'lake'}: lies inside the input {homes}\n")
    assert not (tmp_path / "lake").exists()
    assert not (homes / "lake").exists()
