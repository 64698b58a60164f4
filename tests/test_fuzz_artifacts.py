"""Files of every source, damaged in every way that comes to mind: no crash, and nothing lost without a word."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import parsers
from pipeline.discover import Options, discover
from pipeline.source import Source
from tests import made_pear
from tests.damage import VALUES, Edit, byte_edits, encoded, json_edits
from tests.fuzzing import build_sound, fuzz
from tests.made_pear import MadePear
from tests.source_files import FIXTURES
from tests.tasks import TASKS

LARGEST = 20_000
"""Larger files of the fixtures are left out: nothing is in them that smaller ones have not, and they take long."""
MOST_OF_ONE = 12

Named = tuple[str, bytes]
"""A file: its path below its home, its bytes."""
DATABASE = ".config/PearAI/User/globalStorage/state.vscdb"


@cache
def real_files() -> dict[str, list[Named]]:
    """Small files of each source by its name, the smallest first: those of the fixtures, and made ones."""
    found: dict[str, set[tuple[int, str, bytes]]] = {source.name: set() for source in parsers.SOURCES}
    with tempfile.TemporaryDirectory() as folder:
        inputs = [FIXTURES / "corpus/homes", *(path for path in (FIXTURES / "cases").iterdir() if path.is_dir())]
        collections, _ = discover(
            [*map(str, inputs), str(made_home(Path(folder)))], parsers.LAYOUTS, parsers.classify, Options()
        )
        for artifact in (file for each in collections for home in each.homes for file in home.artifacts):
            if artifact.source and artifact.size and artifact.size <= LARGEST:
                data = artifact.location.read_bytes()
                found[artifact.source].add((len(data), artifact.home_path, data))
    return {name: [(path, data) for _, path, data in sorted(files)][:MOST_OF_ONE] for name, files in found.items()}


def made_home(path: Path) -> Path:
    """A home with the files of which the fixtures have none to speak of."""
    home = MadePear(path)
    prompt, reply = made_pear.request("what is this?", model="m", temperature=0.5), made_pear.completion("A test.")
    home.file(made_pear.LOG, prompt + reply + made_pear.request("and now?"))
    home.json(f"{TASKS}/7/task_metadata.json", {"files_in_context": [{"path": "a", "cline_read_date": 1}]})
    home.listed({"id": "7", "ts": 1789461000000, "task": "do it", "tokensIn": 5, "workspace": "/w"})
    return path


def source_files(source: Source) -> st.SearchStrategy[Named]:
    """Files of a source, of real ones some edited, some with any JSON in the place of their content."""
    files = real_files()[source.name]
    assert files, f"no small file of {source.name}"
    edits = st.lists(st.one_of(json_edits(), byte_edits()), min_size=1, max_size=3)
    damaged = st.tuples(st.sampled_from(files), edits).map(lambda drawn: (drawn[0][0], edited(drawn[0][1], drawn[1])))
    paths = st.sampled_from([path for path, _ in files])
    return st.one_of(damaged, damaged, st.tuples(paths, VALUES.map(encoded)))


def edited(data: bytes, edits: Iterable[Edit]) -> bytes:
    for edit in edits:
        data = edit(data)
    return data


@st.composite
def databases(draw: st.DrawFn) -> list[Named]:
    """The editor's database with any value, and perhaps with a log of what is not yet in it, both damaged or not."""
    value, is_text = draw(st.one_of(VALUES.map(encoded), st.binary(max_size=20))), draw(st.booleans())
    database, log = database_of(value.decode("utf-8", "replace") if is_text else value)
    edits = st.lists(byte_edits(), max_size=2)
    files = [(DATABASE, edited(database, draw(edits))), (f"{DATABASE}-wal", edited(log, draw(edits)))]
    return files[: draw(st.integers(1, 2))]


def database_of(value: str | bytes) -> tuple[bytes, bytes]:
    """A database whose last writes are in its log."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "state")
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("pragma journal_mode = wal")
            connection.execute("create table ItemTable (key text unique on conflict replace, value blob)")
            connection.execute("insert into ItemTable values ('PearAI.pearai-roo-cline', '{}')")
            connection.execute("pragma wal_checkpoint(truncate)")
            connection.execute("insert into ItemTable values ('pearai.pearai-roo-cline', ?)", (value,))
            return path.read_bytes(), Path(folder, "state-wal").read_bytes()


HOMES = st.lists(
    st.one_of(
        *(source_files(source).map(lambda file: [file]) for source in parsers.SOURCES),
        databases(),
    ),
    min_size=8,
    max_size=24,
)
"""Files of homes: of each of these lists the next home that has no such file gets it."""


def lay_out(folder: Path, groups: list[list[Named]]) -> Path:
    """Write files into as few homes as hold them all."""
    for group in groups:
        number = 0
        while any((folder / f"u{number}" / path).exists() for path, _ in group):
            number += 1
        for path, data in group:
            place = folder / f"u{number}" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
    return folder


@pytest.mark.parametrize("part", range(2))
def test_damaged_files_of_every_source(part: int, tmp_path: Path) -> None:
    @fuzz(7)
    @given(HOMES)
    def is_sound(groups: list[list[Named]]) -> None:
        shutil.rmtree(tmp_path)
        build_sound(tmp_path / "lake", lay_out(tmp_path / "home", groups))

    is_sound()
