"""A build over which workers die: what it costs, what it tells, and what the lake keeps."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest import mock

import pytest

import parsers
import pipeline.build
from pipeline.plan import plan
from pipeline.source import Records, Source
from tests.conftest import OpenLake
from tests.lake import Outcome, homelake
from tests.made import MadeHome, reply, user

DEADLY = b"deadly"
(SESSIONS,) = (source for source in parsers.SOURCES if source.name == "continue.session")


def read_or_die(folder: Path, times: int, data: bytes, home_path: str, records: Records) -> None:
    """Read a session; one that says so kills the worker, the first so many times."""
    if DEADLY in data:
        (folder / f"{len(list(folder.iterdir()))}").touch()
        if len(list(folder.iterdir())) <= times:
            os.kill(os.getpid(), signal.SIGKILL)
    SESSIONS.read(data, home_path, records)


@contextmanager
def deadly(folder: Path, times: int) -> Iterator[None]:
    """Builds in which a session kills; each user is a batch."""
    folder.mkdir()
    sessions = replace(SESSIONS, read=partial(read_or_die, folder, times))
    sources: tuple[Source, ...] = tuple(sessions if each is SESSIONS else each for each in parsers.SOURCES)
    with (
        mock.patch.object(parsers, "SOURCES", sources),
        mock.patch.object(pipeline.build, "plan", partial(plan, batch_bytes=1)),
    ):
        yield


@pytest.fixture
def homes(tmp_path: Path) -> Path:
    for name in ("ann", "bob", "cat"):
        MadeHome(tmp_path / "home" / name).session("s", user(f"hello {name}"), reply("hello"))
    return tmp_path / "home"


def build(homes: Path, lake: Path, day: str = "2026-10-01") -> Outcome:
    return homelake("build", homes, "-o", lake, "--host", "box", "--workers", "2", "--collected-at", day)


def test_a_worker_that_dies_once_costs_nothing(homes: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    MadeHome(homes / "bob").session("s", user("deadly"), reply("hello"))

    with deadly(tmp_path / "deaths", 1):
        outcome = build(homes, tmp_path / "lake")

    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert len(list((tmp_path / "deaths").iterdir())) == 2
    assert open_lake(tmp_path / "lake").column("select user from sessions order by user") == ["ann", "bob", "cat"]


def test_a_home_over_which_workers_die_is_a_problem(homes: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    MadeHome(homes / "bob").session("s", user("deadly"), reply("hello"))

    with deadly(tmp_path / "deaths", 9):
        outcome = build(homes, tmp_path / "lake")

    assert outcome.exit_code == 3
    (line,) = outcome.stderr.splitlines()
    assert line.startswith("homelake: 1 home not read: a worker was killed")
    lake = open_lake(tmp_path / "lake")
    assert lake.column("select user from sessions order by user") == ["ann", "cat"]
    assert lake.rows("select host, user, agent, reason, lost, detail from problems") == [
        ("box", "bob", None, "unreadable", True, "a worker died")
    ]


def test_what_the_lake_has_of_such_a_home_stays(homes: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    assert build(homes, tmp_path / "lake").exit_code == 0
    MadeHome(homes / "bob").session("s", user("deadly"), reply("hello"))
    MadeHome(homes / "cat").session("t", user("more"), reply("hello"))

    with deadly(tmp_path / "deaths", 9):
        assert build(homes, tmp_path / "lake", "2026-10-02").exit_code == 3

    lake = open_lake(tmp_path / "lake")
    prompts = "select user, text, current from timeline where turn_type = 'user' order by user, text"
    assert lake.rows(prompts) == [
        ("ann", "hello ann", True),
        ("bob", "hello bob", True),
        ("cat", "hello cat", True),
        ("cat", "more", True),
    ]
    assert build(homes, tmp_path / "lake", "2026-10-02").exit_code == 0
    assert open_lake(tmp_path / "lake").rows(prompts)[1:3] == [("bob", "deadly", True), ("bob", "hello bob", False)]
