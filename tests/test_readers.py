"""Readers beside builds: each answer is of one build, whole."""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from pipeline import lake as lakes
from tests.lake import ROOT, homelake, opened
from tests.made import MadeHome, reply, user
from tests.reading import QUESTION
from tests.test_workers import wait_for


def build(lake: Path, home: Path, version: int) -> tuple[int, ...]:
    """Build a home with so many sessions; return what the question of the reader has as its answer."""
    made = MadeHome(home)
    for number in range(version):
        made.session(f"s{number}", user("hi"), reply("yo"))
    outcome = homelake("build", home, "-o", lake, "--workers", "1")
    assert outcome.exit_code == 0, outcome.stderr
    with opened(lake) as found:
        return found.row(QUESTION)


def test_readers_see_whole_builds_while_others_take_their_place(tmp_path: Path) -> None:
    """A connection goes on with the build that it began with; once that is removed, by the next but one, it fails."""
    lake, home, end, answers = tmp_path / "lake", tmp_path / "home", tmp_path / "end", tmp_path / "answers"
    first = build(lake, home, 1)
    given = defaultdict[str, list[Any]](list)

    with (
        answers.open("w", encoding="utf-8") as file,
        subprocess.Popen([sys.executable, "-m", "tests.reading", str(lake), str(end)], stdout=file, cwd=ROOT) as reader,
    ):
        assert wait_for(lambda: '"polars"' in answers.read_text(encoding="utf-8"))
        second = build(lake, home, 2)
        seen = answers.stat().st_size
        assert wait_for(lambda: '"polars"' in answers.read_text(encoding="utf-8")[seen + 200 :])
        third = build(lake, home, 3)
        end.touch()

    for line in answers.read_text(encoding="utf-8").splitlines():
        kind, answer = json.loads(line)
        given[kind].append(answer if kind == "failed" else tuple(answer))
    assert reader.returncode == 0
    assert set(given["held"]) == {first}
    assert {first, second, third} == set(given["fresh"])
    assert {first, second, third} == set(given["polars"])
    (error,) = given["failed"]
    assert error.startswith("IOException: IO Error: No files found that match the pattern")


def test_a_build_that_is_removed_is_gone_at_once_for_its_readers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File by file, a query beside it would count what is left."""
    builds = [tmp_path / "builds" / str(number) for number in (1, 2, 3)]
    for folder in builds:
        folder.mkdir(parents=True)
    seen = list[tuple[str, bool]]()
    monkeypatch.setattr("pipeline.lake.shutil.rmtree", lambda path: seen.append((path.name, builds[0].exists())))

    lakes.publish(tmp_path, builds[2])

    assert seen == [("1.unfinished", False)]
    assert builds[1].exists()
