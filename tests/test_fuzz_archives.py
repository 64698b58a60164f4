"""Hostile archives and collections: no crash, nothing lost without a word, nothing written where it may not be."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.archived import session, tarred
from tests.fuzzing import build_sound, fuzz
from tests.hostile_archives import VICTIM, archives, members_of_collections
from tests.lake import opened
from tests.touched import watched

CODES = frozenset(range(4))
LIMITS = ("--member-limit", "1", "--archive-limit", "2")
WITNESS = "home/witness/.continue/sessions/w.json"

FILES = st.lists(
    st.tuples(st.sampled_from(("a", "b", "c", "d")), st.sampled_from((".tar", ".zip", ".bin", ".tgz")), archives()),
    min_size=1,
    max_size=5,
)
FOLDERS = st.lists(members_of_collections(), max_size=3)


def put(folder: Path, name: str, data: bytes) -> None:
    """Write a file, unless its name is one that leads out of the folder or cannot be."""
    place = folder / name
    if place.resolve().is_relative_to(folder) and len(place.name) < 200 and not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def lay_out(sandbox: Path, files: list[tuple[str, str, bytes]], folders: list[list[tuple[str, bytes]]]) -> Path:
    """Write archives, collections that are directories, and a whole archive beside them."""
    victim, places = sandbox / "v", sandbox / "input"
    short = str(victim).encode()
    put(sandbox, "v/hidden", session("hidden"))
    for name, ending, data in files:
        put(places, f"{name}{ending}", data.replace(VICTIM.encode(), short))
    for number, members in enumerate(folders):
        for name, data in members:
            put(places / f"collection{number}", name, data.replace(VICTIM.encode(), short))
    put(places, "witness.tar", tarred([(WITNESS, session("I saw it"))]))
    return places


@pytest.mark.parametrize("how", ["fleet", "each"])
def test_hostile_archives(how: str, tmp_path: Path) -> None:
    @fuzz(7)
    @given(FILES, FOLDERS)
    def is_sound(files: list[tuple[str, str, bytes]], folders: list[list[tuple[str, bytes]]]) -> None:
        shutil.rmtree(tmp_path)
        check_archives(tmp_path, files, folders, is_fleet=how == "fleet")

    is_sound()


def check_archives(
    sandbox: Path, files: list[tuple[str, str, bytes]], folders: list[list[tuple[str, bytes]]], *, is_fleet: bool
) -> None:
    """The whole archive beside the others is read, whatever they hold; what is hidden is in no lake."""
    places = lay_out(sandbox, files, folders)
    inputs = [places] if is_fleet else sorted(places.iterdir())
    lake, temporary, deep = sandbox / "lake", sandbox / "tmp", sandbox / "1/2/3/4/5/6"
    temporary.mkdir()
    deep.mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(deep)
        patch.setenv("HOME", str(deep))
        patch.setattr(tempfile, "tempdir", str(temporary))
        with watched(sandbox, lake, temporary, hidden=sandbox / "v") as watch:
            build_sound(lake, *inputs, codes=CODES, options=LIMITS)
    assert watch.found == []
    assert list(temporary.iterdir()) == []
    with opened(lake) as found:
        seen = found.rows("select text from timeline where \"user\" = 'witness' and kind = 'message'")
        assert seen == [("I saw it",)]
        assert found.count("timeline", "text = 'hidden'") == 0
