"""Workers that die, for real: what it costs, and that none is left behind."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from pipeline.workers import Died, run_all
from tests.lake import ROOT

JOBS = list(range(8))


def kill(times: int, folder: Path, victim: int, job: int) -> int:
    """Square a number; the worker that gets the victim is killed, the first so many times."""
    at = folder / f"{job}.{time.monotonic_ns()}"
    at.touch()
    if job == victim and len(list(folder.glob(f"{victim}.*"))) <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return job * job


def kill_odd(folder: Path, job: int) -> int:
    return kill(9, folder, job, job) if job % 2 else job


def exhaust(victim: int, job: int) -> int:
    if job == victim:
        raise MemoryError
    return job * job


def fail(folder: Path, job: int) -> int:
    if job == 0:
        raise ValueError("a fault of ours")
    return go_on(folder, job)


def sleep(folder: Path, job: int) -> int:
    """Say who works, and go on for long, but for job 0."""
    (folder / f"{job}.{os.getpid()}").touch()
    return go_on(folder, job) if job else job


def go_on(folder: Path, job: int) -> int:
    """Work for long, and say that it is done."""
    time.sleep(30)
    (folder / f"{job}.done").touch()
    return job


def is_gone(pid: int) -> bool:
    """Whether a process ended; one that nobody waited for has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait_for(is_so: Callable[[], bool], seconds: float = 20) -> bool:
    until = time.monotonic() + seconds
    while not is_so() and time.monotonic() < until:
        time.sleep(0.02)
    return is_so()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_job_has_its_outcome(count: int, tmp_path: Path) -> None:
    outcomes = dict(run_all(partial(kill, 0, tmp_path, -1), JOBS, count))

    assert outcomes == {job: job * job for job in JOBS}
    assert len(list(tmp_path.iterdir())) == len(JOBS)


def test_no_jobs_need_no_workers(tmp_path: Path) -> None:
    assert list(run_all(partial(fail, tmp_path), [], 2)) == []


@pytest.mark.parametrize("victim", [0, 3, 7])
def test_a_worker_that_is_killed_costs_a_second_try(victim: int, tmp_path: Path) -> None:
    outcomes = list(run_all(partial(kill, 1, tmp_path, victim), JOBS, 2))

    assert sorted(outcomes) == [(job, job * job) for job in JOBS]


@pytest.mark.parametrize("victim", [0, 3, 7])
def test_a_job_that_kills_every_worker_is_told_of_and_the_others_are_done(victim: int, tmp_path: Path) -> None:
    outcomes = list(run_all(partial(kill, 9, tmp_path, victim), JOBS, 2))

    assert sorted(outcomes, key=lambda outcome: outcome[0]) == [
        (job, Died() if job == victim else job * job) for job in JOBS
    ]
    assert len(list(tmp_path.glob(f"{victim}.*"))) == 2


def test_what_killed_a_worker_is_tried_again_when_all_else_is_done(tmp_path: Path) -> None:
    outcomes = list(run_all(partial(kill, 1, tmp_path, 2), JOBS, 2))

    begun = [int(path.stem) for path in sorted(tmp_path.iterdir(), key=lambda path: int(path.suffix[1:]))]
    again = len(begun) - begun[::-1].index(2) - 1
    assert len(set(JOBS) - set(begun[:again])) <= 1  # the other worker may not have begun what it had been handed
    assert 2 in [job for job, _ in outcomes[-2:]]


def test_several_jobs_that_kill_their_workers(tmp_path: Path) -> None:
    outcomes = dict(run_all(partial(kill_odd, tmp_path), JOBS, 3))

    assert outcomes == {job: Died() if job % 2 else job for job in JOBS}


@pytest.mark.parametrize("count", [1, 2])
def test_a_job_that_runs_out_of_memory_is_told_of(count: int) -> None:
    outcomes = dict(run_all(partial(exhaust, 3), JOBS, count))

    assert outcomes == {job: Died() if job == 3 else job * job for job in JOBS}


def test_an_error_ends_all_workers_at_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a fault of ours"):
        list(run_all(partial(fail, tmp_path), range(2), 2))

    assert multiprocessing.active_children() == []
    assert list(tmp_path.iterdir()) == []


def test_an_iterator_that_is_closed_ends_all_workers_at_once(tmp_path: Path) -> None:
    with closing(run_all(partial(sleep, tmp_path), range(2), 2)) as outcomes:
        first = next(outcomes)

    assert first == (0, 0)
    assert list(tmp_path.glob("*.done")) == []
    assert all(is_gone(int(path.suffix[1:])) for path in tmp_path.iterdir())


def test_workers_end_with_a_build_that_is_killed(tmp_path: Path) -> None:
    """They would go on writing into the files of the next build."""
    script = (
        "import functools, pathlib, sys; from pipeline.workers import run_all; from tests.test_workers import sleep\n"
        "if __name__ == '__main__': list(run_all(functools.partial(sleep, pathlib.Path(sys.argv[1])), range(1, 3), 2))"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT) as process:
        assert wait_for(lambda: len(list(tmp_path.iterdir())) == 2)
        process.kill()

    pids = [int(path.suffix[1:]) for path in tmp_path.iterdir()]
    assert wait_for(lambda: all(map(is_gone, pids)))
