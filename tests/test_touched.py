"""The watch sees whatever is written outside of where it may be: else the tests that use it would show nothing."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.touched import watched

Deed = Callable[[Path, Path], object]
"""Something that is done to the watched directory, with another that may be written."""

DEEDS: dict[str, Deed] = {
    "write": lambda bad, _: (bad / "new").write_bytes(b"x"),
    "overwrite": lambda bad, _: (bad / "old").write_bytes(b"other"),
    "append": lambda bad, _: (bad / "old").open("ab").close(),
    "update": lambda bad, _: os.close(os.open(bad / "old", os.O_RDWR)),
    "climb": lambda bad, _: Path(os.path.relpath(bad / "new")).write_bytes(b"x"),
    "climb out of the lake": lambda bad, good: (good / ".." / bad.name / "new").write_bytes(b"x"),
    "mkdir": lambda bad, _: (bad / "new").mkdir(),
    "symlink": lambda bad, _: (bad / "new").symlink_to("/"),
    "link": lambda bad, good: (bad / "new").hardlink_to(good / "mine"),
    "move in": lambda bad, good: (good / "mine").rename(bad / "new"),
    "move out": lambda bad, good: (bad / "old").rename(good / "new"),
    "copy": lambda bad, good: shutil.copy(good / "mine", bad / "new"),
    "remove": lambda bad, _: (bad / "old").unlink(),
    "remove a directory": lambda bad, _: (bad / "empty").rmdir(),
    "remove a tree": lambda bad, _: shutil.rmtree(bad),
    "chmod": lambda bad, _: (bad / "old").chmod(0o777),
    "utime": lambda bad, _: os.utime(bad / "old", (1, 1)),
    "truncate": lambda bad, _: os.truncate(bad / "old", 1),
    "mkfifo": lambda bad, _: os.mkfifo(bad / "new"),
    "through a link": lambda bad, good: (good / "way" / "new").write_bytes(b"x"),
    "by machine code": lambda bad, _: pl.DataFrame({"a": [1]}).write_parquet(str(bad / "new")),
    "another program": lambda bad, _: subprocess.run([sys.executable, "-c", "pass"], check=True),
    "over a link": lambda bad, good: (good / "out").write_bytes(b"x"),
    "read what is hidden": lambda bad, _: (bad / "hidden").read_bytes(),
}


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """A directory that is watched, and one that may be written."""
    bad, good = tmp_path / "bad", tmp_path / "good"
    (bad / "empty").mkdir(parents=True)
    (bad / "old").write_bytes(b"old")
    (bad / "hidden").write_bytes(b"hidden")
    good.mkdir()
    (good / "mine").write_bytes(b"mine")
    (good / "way").symlink_to(bad)
    (good / "out").symlink_to(bad / "old")
    return bad, good


@pytest.mark.parametrize("deed", DEEDS.values(), ids=DEEDS)
def test_the_watch_sees(deed: Deed, places: tuple[Path, Path], tmp_path: Path) -> None:
    bad, good = places

    with watched(tmp_path, good, hidden=bad / "hidden") as watch:
        deed(bad, good)

    assert watch.found


def test_the_watch_sees_what_is_far_away(places: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> None:
    far = tmp_path_factory.mktemp("far") / "new"

    with watched(places[0], places[1], hidden=places[0] / "hidden") as watch:
        far.write_bytes(b"x")

    assert watch.found == [("open", str(far))]


def test_the_watch_lets_pass_what_may_be_done(places: tuple[Path, Path], tmp_path: Path) -> None:
    bad, good = places

    with watched(tmp_path, good, hidden=bad / "hidden") as watch:
        (good / "new/inner").mkdir(parents=True)
        (good / "new/inner/file").write_bytes(b"x")
        (good / "new/inner/file").rename(good / "renamed")
        pl.DataFrame({"a": [1]}).write_parquet(good / "native")
        shutil.rmtree(good / "new")
        (bad / "old").read_bytes()

    assert watch.found == []
