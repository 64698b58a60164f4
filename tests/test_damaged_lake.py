"""Builds into a lake that was damaged or copied: it is used, or refused with one line; what it holds is never lost."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import OpenLake
from tests.lake import Outcome, homelake, parquet_files
from tests.made import MadeHome, reply, user

Damage = Callable[[Path], object]


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A lake of one home, which then changes."""
    home = MadeHome(tmp_path / "home/ann")
    home.session("s", user("first"), reply("hello"))
    assert build(tmp_path).exit_code == 0
    home.session("s", user("second"), reply("hello"))
    return tmp_path / "lake"


def build(folder: Path, *options: str) -> Outcome:
    return homelake("build", folder / "home", "-o", folder / "lake", "--host", "box", "--workers", "1", *options)


def cut(table: str) -> Damage:
    """Cut a file of a table off."""

    def damage(lake: Path) -> None:
        file = next((lake / "current").glob(f"{table}/**/*.parquet"))
        file.write_bytes(file.read_bytes()[:-9])

    return damage


def delete(table: str) -> Damage:
    return lambda lake: next((lake / "current").glob(f"{table}/**/*.parquet")).unlink()


def lose_rows_without_a_rule(lake: Path) -> None:
    manifest = lake / "current/manifest.json"
    content = json.loads(manifest.read_bytes())
    content["homes"][0]["last_held"] = None
    manifest.write_text(json.dumps(content), encoding="utf-8")


def copy_what_links_mean(lake: Path) -> None:
    shutil.copytree(lake, lake.with_name("copy"))
    shutil.rmtree(lake)
    lake.with_name("copy").rename(lake)


TABLES = ("timeline", "sessions", "artifacts", "collections")
DAMAGES = [*map(cut, TABLES), *map(delete, TABLES), lose_rows_without_a_rule, copy_what_links_mean]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_lake_is_refused_with_one_line(damage: Damage, lake: Path, tmp_path: Path) -> None:
    damage(lake)
    before = parquet_files(lake)

    outcome = build(tmp_path)

    assert (outcome.exit_code, outcome.stdout) == (2, "")
    (line,) = outcome.stderr.splitlines()
    assert line.startswith("homelake: ")
    assert parquet_files(lake) == before


def test_a_lake_that_lost_its_links_keeps_what_it_holds(lake: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    (lake / "current").unlink()
    (lake / "lake.duckdb").unlink()

    assert build(tmp_path).exit_code == 0

    texts = open_lake(lake).column("select text from timeline where turn_type = 'user' order by text")
    assert texts == ["first", "second"]
