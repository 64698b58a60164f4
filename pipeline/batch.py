"""One batch of whole homes, from artifacts to rows in order: what a worker does."""

import gc
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pyarrow as pa

from pipeline import parts
from pipeline.extract import Extractor, Read, stage_two
from pipeline.join import Joined, Limits
from pipeline.model import Artifact, Home
from pipeline.parts import Part
from pipeline.source import Source
from pipeline.staging import ARTIFACTS, FOLDERS, HOMES, conform
from pipeline.standins import StandIns
from pipeline.transcripts import choose_transcripts

CHUNK_BYTES = 64 << 20
"""Input whose texts are held as Python objects at once."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Whole homes of one bucket, in the lake's order, each with the number of its collection."""

    number: int
    bucket: int
    homes: list[tuple[int, Home]]

    @property
    def bytes(self) -> int:
        """Size of the artifacts to be read."""
        return sum(artifact.size or 0 for _, home in self.homes for artifact in home.artifacts if artifact.source)


@dataclass(slots=True)
class Result:
    """What a batch gave: its parts, counts for the summary, and what was read of each artifact, home by home."""

    batch: int
    bucket: int
    parts: list[Part] = field(default_factory=list)
    rows: Counter[tuple[str, str]] = field(default_factory=Counter)
    problems: Counter[tuple[str, bool]] = field(default_factory=Counter)
    tables: Counter[str] = field(default_factory=Counter)
    reads: list[list[Read]] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Work:
    """How to work on a batch: the sources, a folder for its parts, what DuckDB may hold, and what the SQL asks for."""

    sources: Sequence[Source]
    folder: Path
    memory: str
    variables: Mapping[str, bool]


def run(batch: Batch, work: Work) -> Result:
    """Extract, normalize and join a batch; leave its rows as parts in the work's folder."""
    pa.set_cpu_count(1)
    gc.disable()  # decoded records hold no cycles, and walking them takes a fifth of the time
    try:
        return _run(batch, work)
    finally:
        gc.enable()


def _run(batch: Batch, work: Work) -> Result:
    result = Result(batch.number, batch.bucket, bytes=batch.bytes)
    staged = _staged(batch, work.sources, result)
    with (
        tempfile.TemporaryDirectory(dir=work.folder) as spill,
        Joined(staged, Limits(spill, work.memory), work.variables) as joined,
    ):
        for table, frame in joined.tables():
            path = work.folder / f"{batch.number:06}.{table.name}.arrow"
            result.parts.extend(parts.write(table, frame, path))
            result.tables[table.name] += frame.height
            _count(table.name, frame, result)
        result.failures = joined.failures()
    return result


def _count(name: str, frame: pl.DataFrame, result: Result) -> None:
    """Count what the summary tells."""
    if name == "timeline":
        result.rows.update({(a, k): n for a, k, n in frame.group_by("agent", "kind").len().iter_rows()})
    elif name == "problems":
        result.problems.update({(r, lost): n for r, lost, n in frame.group_by("reason", "lost").len().iter_rows()})


def _staged(batch: Batch, sources: Sequence[Source], result: Result) -> dict[str, pl.DataFrame]:
    """Read the batch's artifacts chunk by chunk; return the staged frames of all of them."""
    extractor = Extractor(sources)
    by_name = {source.name: source for source in sources}
    chunks, rows = list[dict[str, pl.DataFrame]](), list[tuple[object, ...]]()
    first = held = 0
    for index, (_, home) in enumerate(batch.homes):
        extractor.enter(home.artifacts)
        reads, stand_ins = dict[int, Read](), StandIns(by_name, home.artifacts)
        for number, listed in sorted(enumerate(home.artifacts, first), key=lambda entry: entry[1].stands_in):
            artifact = stand_ins.settled(listed)
            reads[number] = read = extractor.add(number, artifact)
            if not artifact.stands_in:
                stand_ins.seen(artifact, read)
            rows.append(_file_row((number, index), artifact, read, by_name.get(artifact.source or "")))
            held += artifact.size or 0
            if held > CHUNK_BYTES:
                chunks.append(stage_two(sources, *extractor.take()))
                held = 0
        result.reads.append([reads[number] for number in sorted(reads)])
        first += len(home.artifacts)
    chunks.append(stage_two(sources, *extractor.take()))
    staged = {name: pl.concat([chunk[name] for chunk in chunks]) for name in chunks[0]}
    schema = {**ARTIFACTS.polars, "mtime_utc": pl.Int64()}
    staged["files"] = conform(pl.DataFrame(rows, schema=schema, orient="row"), ARTIFACTS)
    return choose_transcripts(staged | _places(batch))


def _places(batch: Batch) -> dict[str, pl.DataFrame]:
    """The frames `homes` and `folders` of a batch."""
    numbered = list(enumerate(batch.homes))
    homes = [(index, home.host, home.user, home.identity, collection) for index, (collection, home) in numbered]
    folders = [(index, agent, path) for index, (_, home) in numbered for agent, path in home.session_folders]
    return {
        "homes": pl.DataFrame(homes, schema=HOMES.polars, orient="row"),
        "folders": pl.DataFrame(folders, schema=FOLDERS.polars, orient="row"),
    }


def _file_row(numbers: tuple[int, int], artifact: Artifact, read: Read, source: Source | None) -> tuple[object, ...]:
    """Row of an artifact in the order of `staging.ARTIFACTS`; `numbers` are its own and its home's."""
    return (
        *numbers,
        artifact.agent,
        artifact.source,
        source.session.path_of(artifact.home_path) if source and source.session else None,
        source.resume if source else None,
        source.twin_rule if source else None,
        artifact.home_path,
        artifact.source_file,
        artifact.size,
        artifact.mtime_ms,
        read.sha256,
        read.status.value,
        read.records,
    )
