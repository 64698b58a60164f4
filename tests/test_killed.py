"""Builds that are killed, or stopped with Ctrl-C, at many moments: the lake is the old one or the new one, whole."""

import os
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.dying import build_and_die
from tests.fuzzing import IS_LONG
from tests.lake import homelake, opened, parquet_files, start
from tests.made import MadeHome, call, reply, usage, user
from tests.made_pear import MadePear, say
from tests.test_workers import is_gone, wait_for

LISTED = {"builds", "current", "lake.duckdb"}
FEW = {"1": 3, "2": 1}
"""Moments of each kind of build, by its workers, spread over all of it."""
LAST = {"1": 4, "2": 2}
"""Further moments, the last ones: when the new lake takes the place of the old one."""


@dataclass(frozen=True, slots=True)
class State:
    """A lake before a build (null: none is there), what is built, and the files that the lake before and after has."""

    before: Path | None
    homes: Path
    old: dict[str, bytes]
    new: dict[str, bytes]


def write_homes(folder: Path, version: int) -> Path:
    """Two homes of three users' at one of two times."""
    for name in ("alice", "bob"):
        home = MadeHome(folder / name)
        home.session("s1", user("hi"), reply("hello", call("c1")))
        if version == 2:
            home.session("s2", user("more"), reply("enough"), created=60)
        home.events("toolUsage", usage(1, "c1"))
    pear = MadePear(folder / "carol")
    pear.ui("7", say(0, "text", "do it"), say(1, "text", f"done {version}"))
    pear.listed({"id": "7", "ts": 1, "task": "do it"})
    return folder


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> dict[str, State]:
    """A new lake and one that is there."""
    folder = tmp_path_factory.mktemp("killed")
    for version in (1, 2):
        write_homes(folder / f"{version}/homes", version)
    shutil.move(folder / "1/homes", folder / "homes")
    build(folder / "fresh", folder / "homes")
    shutil.rmtree(folder / "homes")
    shutil.move(folder / "2/homes", folder / "homes")
    build(folder / "only", folder / "homes")
    shutil.copytree(folder / "fresh", folder / "grown", symlinks=True)
    build(folder / "grown", folder / "homes")
    old, new = parquet_files(folder / "fresh"), parquet_files(folder / "grown")
    assert old != new
    return {
        "new": State(None, folder / "homes", {}, parquet_files(folder / "only")),
        "old": State(folder / "fresh", folder / "homes", old, new),
    }


def build(lake: Path, homes: Path) -> None:
    outcome = homelake("build", homes, "-o", lake, "--workers", "1")
    assert outcome.exit_code == 0, outcome.stderr


def moments(changes: int, workers: str) -> list[int]:
    """Numbers of changes to die at."""
    if IS_LONG:
        return list(range(1, changes + 1))
    last = range(max(1, changes - LAST[workers] + 1), changes + 1)
    return sorted({*last, *range(1, changes + 1, -(-changes // FEW[workers]))})


def check_killed(lake: Path, state: State) -> None:
    """The lake is the old or the new one, and can be queried."""
    if not (lake / "lake.duckdb").exists():
        assert state.before is None
        return
    assert parquet_files(lake) in (state.old, state.new)
    with opened(lake) as found:
        assert found.count("timeline") > 0
        assert found.count("artifacts") == found.count("artifacts", "status in ('parsed', 'known')")


@pytest.mark.parametrize(("kind", "workers"), [("new", "1"), ("old", "1"), ("old", "2")])
def test_a_build_killed_at_any_change_of_the_lake(
    kind: str, workers: str, states: dict[str, State], tmp_path: Path
) -> None:
    """Whatever was there stays, or what is new is there; the next build finishes the work and leaves no rubbish."""
    state, lake, told = states[kind], tmp_path / "lake", tmp_path / "told"
    arguments = (str(state.homes), "--workers", workers)

    def laid_out() -> Path:
        shutil.rmtree(lake, ignore_errors=True)
        if state.before is not None:
            shutil.copytree(state.before, lake, symlinks=True)
        return lake

    assert build_and_die(0, told, laid_out(), *arguments) == 0
    assert parquet_files(lake) == state.new
    seen = set[bool]()
    for moment in moments(int(told.read_text(encoding="utf-8")), workers):
        assert build_and_die(moment, told, laid_out(), *arguments) == -signal.SIGKILL
        check_killed(lake, state)
        seen.add((lake / "current").exists() and parquet_files(lake) == state.new)
        build(lake, state.homes)
        assert parquet_files(lake) == state.new
        builds = [path.name for path in (lake / "builds").iterdir()]
        assert len(builds) <= 2
        assert all(name.isdecimal() for name in builds)
        assert {path.name for path in lake.iterdir()} == LISTED
    assert seen == {False, True}


def group(leader: int) -> list[int]:
    """Processes of a group that have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and not is_gone(int(entry.name)):
            try:
                if os.getpgid(int(entry.name)) == leader:
                    found.append(int(entry.name))
            except ProcessLookupError:
                continue
    return found


def is_working(lake: Path) -> bool:
    """Whether a build has begun to read its inputs."""
    return any(lake.glob("builds/*.unfinished/parts/*"))


def has_loaded(pid: int, library: str) -> bool:
    """Whether a process has a library of machine code in its memory."""
    return library in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")


STOPS: dict[str, tuple[float, Callable[[Path, int], bool]]] = {
    "when it starts another process": (0, lambda lake, pid: len(group(pid)) > 1 or has_loaded(pid, "duckdb")),
    "while it loads": (0, lambda lake, pid: has_loaded(pid, "polars")),
    "when it begins": (0, lambda lake, pid: any(lake.glob("builds/*.unfinished"))),
    "while it reads": (0, lambda lake, pid: is_working(lake)),
    "later": (0.3, lambda lake, pid: is_working(lake)),
}
"""When Ctrl-C is pressed: so many seconds after something is so of the lake or the process."""


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("stop", STOPS)
def test_ctrl_c_ends_a_build_with_one_line(
    stop: str, workers: str, corpus: Path, states: dict[str, State], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal sends it to all processes of the build. The old lake stays, and nothing else."""
    state, lake, temporary = states["old"], tmp_path / "lake", tmp_path / "tmp"
    assert state.before is not None
    shutil.copytree(state.before, lake, symlinks=True)
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    seconds, is_time = STOPS[stop]

    with start("build", corpus, "-o", lake, "--workers", workers) as process:
        assert wait_for(lambda: is_time(lake, process.pid))
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)

    assert (process.returncode, stdout, stderr) == (130, "", "homelake: stopped\n")
    assert wait_for(lambda: not group(process.pid))
    assert list(temporary.iterdir()) == []
    assert parquet_files(lake) == state.old
    assert [path.name for path in (lake / "builds").iterdir()] == ["1"]
