"""Files of an agent's task through the first two stages, and what its own JSON says."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.source import Source
from tests.source_files import FIXTURES, Staged, stage_bytes, stage_files

TASKS = ".config/PearAI/User/globalStorage/pearai.pearai-roo-cline/tasks"
TASK = "0d3e0001-aaaa-4bbb-8ccc-000000000001"
T0 = 1789461000000

Json = dict[str, Any]


def stage_task(source: Source, folder: Path, content: object, name: str = "file.json") -> Staged:
    """Stage one file of a task, of these bytes, or of this as JSON."""
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return stage_bytes(source, folder, data, f"{TASKS}/{TASK}/{name}")


def stage_fixtures(source: Source, part: str) -> Staged:
    """Stage every file of a source below a part of the fixtures, in the order of their paths."""
    files = {}
    for path in sorted((FIXTURES / part).rglob("*")):
        below = path.relative_to(FIXTURES / part).as_posix()
        if path.is_file() and source.pattern.fullmatch(below):
            files[path] = below
    assert files
    return stage_files(source, files)


def calls(staged: Staged, *columns: str) -> list[tuple[Any, ...]]:
    """Columns of the calls, in order."""
    return staged.frames["calls"].sort("artifact", "call_no").select(columns).rows()


def one(staged: Staged, frame: str) -> Json:
    """The only row of a frame."""
    (row,) = staged.frames[frame].to_dicts()
    return row


def unaccounted(staged: Staged) -> list[int]:
    """Files whose records are not those with rows, the losses and the silent ones together."""
    return [
        number
        for number, read in enumerate(staged.reads)
        if read.records != len(set(staged.rows("line", of=number))) + len(staged.losses(number)) + staged.silent(number)
    ]


def corpus_tasks(name: str) -> Iterator[tuple[str, list[Json]]]:
    """Path below the corpus and messages of every task file of that name."""
    corpus = FIXTURES / "corpus"
    for path in sorted(corpus.rglob(f"tasks/*/{name}")):
        yield path.relative_to(corpus).as_posix(), json.loads(path.read_bytes())


def moments(staged: Staged) -> list[int | None]:
    """Times of the rows, ms since 1970."""
    return staged.frames["rows"].select(pl.col("own_utc").dt.epoch("ms")).to_series().to_list()
