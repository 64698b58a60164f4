"""The real session files, damaged at random: nothing is lost but what is damaged."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import oracle
from tests.conftest import OpenLake
from tests.lake import Lake, Row, homelake

SMALL = 200_000
"""Larger files are left out; they hold nothing that smaller ones do not."""

SILENT: dict[str, Any] = {"message": {"role": "user", "content": ""}, "contextItems": []}
"""An item without a row, which stands for a damaged one."""

Damage = Callable[[str, random.Random], str]


def real_files(corpus: Path) -> Iterator[bytes]:
    """Small session files of the editor and of the command line."""
    for path in sorted(corpus.glob("[chlmq]*/.continue/sessions/*-*.json")):
        data = path.read_bytes()
        if len(data) < SMALL:
            yield data


def write(folder: Path, files: list[bytes]) -> Path:
    """Make a directory with one home of numbered session files and an empty index."""
    sessions = folder / "max/.continue/sessions"
    sessions.mkdir(parents=True)
    (sessions / "sessions.json").write_text("[]", encoding="utf-8")
    for number, data in enumerate(files):
        (sessions / f"{number:03}.json").write_bytes(data)
    return folder


def build(homes: Path, lake: Path) -> Path:
    outcome = homelake("build", homes, "-o", lake, "--workers", "1")
    assert outcome.exit_code == 0, outcome.stderr
    return lake


def item_rows(lake: Lake, session: oracle.Session) -> list[Row]:
    """Rows of a session, without that which counts its items."""
    return lake.rows(
        "select source_line, kind, turn_type, text, model, tool_name, tool_use_id from session_rows "
        "where source_file = ? and kind <> 'session' order by sequence",
        oracle.source_file(session),
    )


def test_files_cut_anywhere_keep_what_precedes_the_cut(corpus: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    """The items before the cut give their rows; the one that is cut, if any, is the only loss."""
    homes = write(tmp_path / "homes", list(cut_files(corpus)))

    lake = open_lake(build(homes, tmp_path / "lake"))

    losses = lake.losses()
    for session in oracle.sessions(homes):
        (loss,) = (loss for loss in losses if loss.file == session.path.name)
        between = f"parser: array cut off after record {len(session.items)}"
        assert loss.reason == "json_truncated", session.path.name
        assert loss.line == len(session.items) + 1 or loss.text == between, session.path.name
        assert item_rows(lake, session) == session.rows[1:], session.path.name


def cut_files(corpus: Path) -> Iterator[bytes]:
    """Each file, cut at three places inside its history."""
    place = random.Random(20)
    for data in real_files(corpus):
        start, end = data.index(b'"message"'), data.rindex(b'"contextItems"')
        for _ in range(3):
            yield data[: place.randint(start, end)]


def torn(item: str, place: random.Random) -> str:
    """An item whose end was lost, at places where the items behind it cannot be taken for parts of it."""
    return item[: place.randint(2, len(item) - 2)]


def zeroed(item: str, place: random.Random) -> str:
    """An item in which a run was lost."""
    start = place.randint(1, len(item) - 2)
    length = min(place.randint(1, 64), len(item) - 1 - start)
    return item[:start] + "\0" * length + item[start + length :]


def overwritten(item: str, place: random.Random) -> str:
    """An item with a line of a merge conflict in it, or with a piece of another text."""
    start = place.randint(1, len(item) - 1)
    return item[:start] + place.choice(['\n<<<<<<< HEAD\n"', '"{"', '"x": ']) + item[start:]


@pytest.mark.parametrize("damage", [torn, zeroed, overwritten])
def test_a_damaged_item_takes_no_other_with_it(
    damage: Damage, corpus: Path, tmp_path: Path, open_lake: OpenLake
) -> None:
    """The items beside it, and what stands behind them in the file, give their rows; one run is one loss."""
    files = list(damaged_files(corpus, damage))
    homes = write(tmp_path / "homes", [damaged for damaged, _, _ in files])
    expected = oracle.sessions(write(tmp_path / "expected", [silent for _, silent, _ in files]))

    lake = open_lake(build(homes, tmp_path / "lake"))

    losses = lake.losses()
    for session, (_, _, line) in zip(expected, files, strict=True):
        assert item_rows(lake, session) == session.rows[1:], session.path.name
        assert [loss.line for loss in losses if loss.file == session.path.name] == [line], session.path.name
    assert not lake.count("sessions", "not damaged")


def damaged_files(corpus: Path, damage: Damage) -> Iterator[tuple[bytes, bytes, int]]:
    """Each file with one item damaged, the same with `SILENT` in its place, and the item's position."""
    place = random.Random(4)
    for data in real_files(corpus):
        session = json.loads(data)
        items = [json.dumps(item, indent=2) for item in session["history"]]
        if not items:
            continue
        at = place.randrange(len(items))
        texts = damage(items[at], place), json.dumps(SILENT)
        variants = [[*items[:at], text, *items[at + 1 :]] for text in texts]
        document = json.dumps({**session, "history": "@@"}, indent=2)
        damaged, silent = (document.replace('"@@"', f"[{','.join(variant)}]").encode() for variant in variants)
        yield damaged, silent, at + 1
