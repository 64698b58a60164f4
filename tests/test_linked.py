"""Homes of one user of which one comes to lie where the other was: no row is taken for the other home's."""

from pathlib import Path

import pytest

from tests.conftest import OpenLake
from tests.lake import homelake
from tests.made import MadeHome, user

PROMPTS = "select text, current from timeline where turn_type = 'user' order by text"


def home(place: Path, name: str) -> MadeHome:
    """A home with two sessions."""
    made = MadeHome(place)
    made.session("s", user(f"{name} says"))
    made.session("k", user(f"{name} keeps"))
    return made


def build(lake: Path, place: Path, *options: str) -> None:
    outcome = homelake("build", place, "-o", lake, "--workers", "1", *options)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert "all passed" in outcome.stdout


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A lake of two homes; then the second was read from where its paths are those of the first."""
    home(tmp_path / "in/ann", "A")
    home(tmp_path / "in/old/ann", "B")
    build(tmp_path / "lake", tmp_path / "in", "--collected-at", "2026-01-01")
    build(tmp_path / "lake", tmp_path / "in/old", "--collected-at", "2026-01-02")
    return tmp_path / "lake"


def test_a_deletion_in_one_home_takes_no_row_of_the_other(lake: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    (tmp_path / "in/old/ann/.continue/sessions/s.json").unlink()

    build(lake, tmp_path / "in/old", "--collected-at", "2026-01-03")

    rows = [("A keeps", True), ("A says", True), ("B keeps", True), ("B says", False)]
    assert open_lake(lake).rows(PROMPTS) == rows


def test_both_homes_read_again_have_each_row_once(lake: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    (tmp_path / "in/ann/.continue/sessions/s.json").unlink()

    build(lake, tmp_path / "in", "--collected-at", "2026-01-03")

    rows = [("A keeps", True), ("A says", False), ("B keeps", True), ("B says", True)]
    assert open_lake(lake).rows(PROMPTS) == rows


def test_homes_of_a_known_host_are_told_apart(tmp_path: Path, open_lake: OpenLake) -> None:
    lake, template = tmp_path / "lake", ("--host", "box", "--path-template", "{collected}/{user}")
    home(tmp_path / "in/ann", "A")
    home(tmp_path / "in/2026-01-02/ann", "B")
    build(lake, tmp_path / "in", "--host", "box", "--collected-at", "2026-01-01")
    home(tmp_path / "in2/2026-01-02/ann", "A")
    build(lake, tmp_path / "in2", *template)
    (tmp_path / "in2/2026-01-02/ann/.continue/sessions/s.json").unlink()
    (tmp_path / "in2/2026-01-02").rename(tmp_path / "in2/2026-01-03")

    build(lake, tmp_path / "in2", *template)

    rows = [("A keeps", True), ("A says", False), ("B keeps", True), ("B says", True)]
    assert open_lake(lake).rows(PROMPTS) == rows
