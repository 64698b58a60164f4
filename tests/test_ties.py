"""Several collections of a home at one time: their ids tell which is the newest."""

import itertools
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from tests.conftest import OpenLake
from tests.lake import homelake, parquet_files
from tests.made import MadeHome, reply, user

USERS = ("ann", "bob", "cid", "dan")
NEWEST = """
    select "user", current, text = arg_max(text, collection_id) over (partition by "user")
    from timeline where kind = 'message' and turn_type = 'user'
"""


@pytest.fixture
def inputs(tmp_path: Path) -> list[Path]:
    """Three collections of four homes; each home has another file in each."""
    places = [tmp_path / "in" / name / "home" for name in "abc"]
    for place, name in itertools.product(places, USERS):
        MadeHome(place / name).session("s", user(f"{name} in {place.parent.name}"), reply("hello"))
    return places


def _build(lake: Path, inputs: Iterable[Path], *options: str) -> Path:
    told = ("--host", "box", "--collected-at", "2026-10-01", "--workers", "1", *options)
    outcome = homelake("build", *inputs, "-o", lake, *told)
    assert outcome.exit_code == 0, outcome.stderr
    return lake


def test_of_one_time_the_collection_with_the_greatest_id_is_the_newest(
    inputs: Sequence[Path], tmp_path: Path, open_lake: OpenLake
) -> None:
    lake = open_lake(_build(tmp_path / "lake", inputs))

    rows = lake.rows(NEWEST)
    assert len(rows) == len(USERS) * len(inputs)
    assert all(current == is_of_greatest_id for _, current, is_of_greatest_id in rows)
    assert lake.column("""select distinct "user" from timeline where current order by all""") == list(USERS)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_any_order_of_collections_of_one_time_gives_one_lake(
    inputs: Sequence[Path], tmp_path: Path, order: Sequence[int]
) -> None:
    whole = parquet_files(_build(tmp_path / "whole", inputs))

    for place in order:
        lake = _build(tmp_path / "lake", [inputs[place]])

    assert parquet_files(lake) == whole
    assert parquet_files(_build(tmp_path / "together", [inputs[place] for place in order])) == whole


@pytest.mark.parametrize("options", [(), ("--full",)])
def test_collections_of_one_time_that_are_read_again_change_nothing(
    inputs: Sequence[Path], tmp_path: Path, options: Sequence[str]
) -> None:
    before = parquet_files(_build(tmp_path / "lake", inputs))

    for place in (*inputs, inputs[0]):
        _build(tmp_path / "lake", [place], *options)

    assert parquet_files(tmp_path / "lake") == before


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_what_was_between_two_collections_of_one_content_is_read_again(
    inputs: Sequence[Path], tmp_path: Path, order: Sequence[int]
) -> None:
    around, between = (inputs[place] for place in order)
    for place, day in ((around, "2026-10-01"), (between, "2026-10-01"), (around, "2026-10-02")):
        _build(tmp_path / "lake", [place], "--collected-at", day)
    before = parquet_files(tmp_path / "lake")

    _build(tmp_path / "lake", [between], "--full")

    assert parquet_files(tmp_path / "lake") == before


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_content_that_is_there_again_after_another_of_its_time_is_current(
    inputs: Sequence[Path], tmp_path: Path, order: Sequence[int]
) -> None:
    seen = []
    for number, (place, day) in enumerate(
        zip((*order, order[0]), ("2026-10-01", "2026-10-01", "2026-10-02"), strict=True)
    ):
        seen.append(tmp_path / "seen" / str(number))
        shutil.copytree(inputs[place], seen[-1] / "fs" / "home", copy_function=shutil.copy2)
        (seen[-1] / "manifest.jsonl").touch()
        (seen[-1] / "collection.json").write_text(f'{{"hostname": "box", "finished": "{day}"}}', encoding="utf-8")
    whole = parquet_files(_build(tmp_path / "whole", seen))

    _build(tmp_path / "lake", seen[:1])
    _build(tmp_path / "lake", seen[1:])

    assert parquet_files(tmp_path / "lake") == whole


def test_collections_that_differ_in_the_times_of_files_alone_give_one_lake_in_any_order(tmp_path: Path) -> None:
    inputs = [tmp_path / "in" / str(number) / "home" for number in range(4)]
    for number, place in enumerate(inputs):
        MadeHome(place / "ann").session("s", user("hi"), reply("hello"))
        os.utime(place / "ann/.continue/sessions/s.json", (1_789_460_000 + number,) * 2)
    whole = parquet_files(_build(tmp_path / "whole", inputs))

    for place in (inputs[2], inputs[0], inputs[3], inputs[1]):
        lake = _build(tmp_path / "lake", [place])

    # Of one id the row of the table `collections` is that of the first place.
    assert {name for name, data in parquet_files(lake).items() if whole[name] != data} <= {"collections/00.parquet"}
