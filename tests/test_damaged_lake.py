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


def name_a_collection_that_is_not_there(lake: Path) -> None:
    manifest = lake / "current/manifest.json"
    content = json.loads(manifest.read_bytes())
    content["homes"][0]["last_held"] = {"a": 7}
    manifest.write_text(json.dumps(content), encoding="utf-8")


def count_from_the_end(lake: Path) -> None:
    manifest = lake / "current/manifest.json"
    content = json.loads(manifest.read_bytes())
    content["homes"][0]["files"][0][-1] = [-1, 0]
    manifest.write_text(json.dumps(content), encoding="utf-8")


def nest_the_manifest(lake: Path) -> None:
    deep = "[" * 200_000 + "]" * 200_000
    (lake / "current/manifest.json").write_text(f'{{"format": {deep}}}', encoding="utf-8")


def copy_what_links_mean(lake: Path) -> None:
    shutil.copytree(lake, lake.with_name("copy"))
    shutil.rmtree(lake)
    lake.with_name("copy").rename(lake)


TABLES = ("timeline", "sessions", "artifacts", "collections")
DAMAGES = [
    *map(cut, (*TABLES, "token_usage")),  # the last has no row of the home, and would only be linked
    *map(delete, TABLES),
    lose_rows_without_a_rule,
    name_a_collection_that_is_not_there,
    count_from_the_end,
    nest_the_manifest,
    copy_what_links_mean,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_lake_is_refused_with_one_line(damage: Damage, lake: Path, tmp_path: Path) -> None:
    damage(lake)
    before = parquet_files(lake)

    outcome = build(tmp_path)

    assert (outcome.exit_code, outcome.stdout) == (2, "")
    (line,) = outcome.stderr.splitlines()
    assert line.startswith("homelake: ")
    assert parquet_files(lake) == before


READERS: dict[str, tuple[str, ...]] = {
    "sql": ("select count(*) from sessions",),
    "export": ("-o", "out"),
    "report": ("-o", "out.html"),
    "share": ("out",),
}


@pytest.mark.parametrize("damage", [cut("timeline"), delete("timeline")])
@pytest.mark.parametrize("command", READERS)
def test_no_command_answers_from_a_part_of_a_lake(
    command: str, damage: Damage, lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is missing leaves no gap for DuckDB: its rows would just not be there."""
    monkeypatch.chdir(tmp_path)
    damage(lake)

    outcome = homelake(command, lake, *READERS[command])

    assert (outcome.exit_code, outcome.stdout) == (2, "")
    (line,) = outcome.stderr.splitlines()
    assert line.endswith(
        "00.parquet: missing or damaged; `homelake build --replace` makes the lake anew, of what it is given"
    )
    assert list(tmp_path.glob("out*")) == []


def test_a_lake_that_lost_its_links_keeps_what_it_holds(lake: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    (lake / "current").unlink()
    (lake / "lake.duckdb").unlink()

    assert build(tmp_path).exit_code == 0

    texts = open_lake(lake).column("select text from timeline where turn_type = 'user' order by text")
    assert texts == ["first", "second"]


def test_a_lake_without_its_link_to_the_build_says_so(lake: Path) -> None:
    (lake / "current").unlink()

    told = homelake("sql", lake, "select 1")

    assert told.exit_code == 2
    assert told.stderr == f"homelake: {lake}: the lake has lost its finished build; build into it again\n"


def test_a_memory_that_is_nested_too_deep_is_none(lake: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    (lake / "current/inputs.json").write_text("[" * 200_000, encoding="utf-8")

    assert build(tmp_path).exit_code == 0

    assert "second" in open_lake(lake).column("select text from timeline")


def test_a_path_with_signs_of_a_pattern_is_a_path(tmp_path: Path, open_lake: OpenLake) -> None:
    lake = tmp_path / "la[k]e*?"
    home = MadeHome(tmp_path / "home/ann")
    for text in ("first", "second"):
        home.session("s", user(text), reply("hello"))
        assert homelake("build", tmp_path / "home", "-o", lake, "--host", "box", "--workers", "1").exit_code == 0

    assert open_lake(lake).rows("select text, current from timeline where turn_type = 'user' order by text") == [
        ("first", False),
        ("second", True),
    ]
