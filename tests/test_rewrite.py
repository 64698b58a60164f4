"""Files of a build: the same bytes whatever pieces their rows come in, and whichever files are made at once."""

import itertools
import random
from datetime import datetime
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from pipeline import parquet, parts, rewrite
from pipeline.parquet import stretch_of, write_file
from pipeline.parts import Mapped, Part
from pipeline.rewrite import Job, Makings, make
from pipeline.staging import conform
from pipeline.tables.sessions import CONTEXT_ITEMS

TABLE = CONTEXT_ITEMS
MONTHS = (1, 2, 3)


def rows(seed: int, count: int = 60) -> pl.DataFrame:
    """Rows of three months of two users, in no order, with texts of up to 400 bytes."""
    rng = random.Random(seed)
    made = [
        {
            "host": "box",
            "user": rng.choice(["alice", "bob"]),
            "agent": "continue",
            "session_key": f"{rng.randrange(5):032}",
            "content": "é" * rng.randrange(200),
            "event_utc": datetime(2026, rng.choice(MONTHS), 1),
            "source": "continue.session",
            "source_file": f"/home/{rng.randrange(3)}",
            "source_line": number,
            "sequence": rng.randrange(4),
            "row_id": f"{seed:016}{number:016}",
            "home_path": "p",
            "collection_id": str(seed),
            "current": True,
        }
        for number in range(count)
    ]
    return conform(pl.DataFrame(made), TABLE)


def in_order(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows in the order of the table."""
    return frame.sort(TABLE.order, nulls_last=True)


@pytest.fixture
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row groups, and what is gathered at once, of few rows and bytes."""
    for module in (parquet, rewrite):
        monkeypatch.setattr(module, "GROUP_ROWS", 17)
        monkeypatch.setattr(module, "GROUP_BYTES", 4000)


@pytest.mark.usefixtures("small_groups")
def test_row_groups_do_not_depend_on_the_pieces(tmp_path: Path) -> None:
    frame, rng = in_order(rows(1, 300)), random.Random(7)
    write_file(TABLE, [stretch_of(TABLE, frame)], tmp_path / "whole.parquet")

    for number in range(20):
        cuts = sorted({0, frame.height, *rng.sample(range(frame.height), 9)})
        pieces = [frame[start:end] for start, end in itertools.pairwise(cuts)]
        height = write_file(TABLE, [stretch_of(TABLE, piece) for piece in pieces], tmp_path / f"{number}.parquet")
        assert height == frame.height
        assert (tmp_path / f"{number}.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()

    file = pq.ParquetFile(tmp_path / "whole.parquet")
    groups = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
    assert sum(groups) == frame.height
    assert len(groups) > 300 // 17
    assert max(groups) <= 17


def test_a_text_larger_than_a_row_group_is_alone_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "GROUP_BYTES", 5000)
    frame = in_order(rows(1, 5)).with_columns(content=pl.Series(["a", "b", "c" * 9000, "d", "e"]))

    write_file(TABLE, [stretch_of(TABLE, frame)], tmp_path / "a.parquet")

    file = pq.ParquetFile(tmp_path / "a.parquet")
    assert [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)] == [2, 1, 2]


@pytest.mark.usefixtures("small_groups")
def test_files_that_are_made_at_once_are_those_made_alone(tmp_path: Path) -> None:
    made = [part for seed in (1, 2, 3) for part in parts.write(TABLE, rows(seed), tmp_path / f"{seed}.arrow")]
    files = [Makings(f"{month}.parquet", of_month(made, month)) for month in MONTHS]
    ids = {"1": "b" * 32, "2": "a" * 32, "3": "c" * 32}

    at_once = make(Job(TABLE, tmp_path, files, ids))
    written = [(tmp_path / file.path).read_bytes() for file in files]
    alone = [each for file in files for each in make(Job(TABLE, tmp_path, [file], ids))]

    assert at_once == alone
    assert written == [(tmp_path / file.path).read_bytes() for file in files]
    for month, file in zip(MONTHS, files, strict=True):
        every = pl.concat(rows(seed) for seed in (1, 2, 3)).filter(pl.col("event_utc").dt.month() == month)
        wanted = in_order(every.with_columns(pl.col("collection_id").replace(ids))).drop("agent")
        assert pl.read_parquet(tmp_path / file.path, hive_partitioning=False).equals(wanted)


def of_month(made: list[Part], month: int) -> list[Part]:
    """Parts of a month of 2026."""
    return [part for part in made if part.month == f"2026-{month:02}"]


def test_a_file_without_rows_is_not_made(tmp_path: Path) -> None:
    assert make(Job(TABLE, tmp_path, [Makings("a.parquet", ())], {})) == []
    assert not (tmp_path / "a.parquet").exists()


def test_rows_are_whole_after_their_memory_was_given_back(tmp_path: Path) -> None:
    frame, mapped = rows(1), Mapped()
    parts.write_frame(frame, tmp_path / "a.arrow")
    found = mapped.frame(tmp_path / "a.arrow")

    mapped.release()

    assert found.equals(frame)
    assert mapped.frame(tmp_path / "a.arrow") is found
