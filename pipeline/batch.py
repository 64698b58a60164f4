"""One batch of whole homes, from artifacts to rows in order: what a worker does."""

import gc
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pyarrow as pa

from pipeline import parts
from pipeline.carried import Carried, places
from pipeline.extract import Extractor, Read, stage_two
from pipeline.heap import give_back
from pipeline.history import Held, History, Holding, held_of
from pipeline.join import Joined, Limits
from pipeline.merge import Merging
from pipeline.model import Artifact, Home
from pipeline.owned import told_path
from pipeline.parts import Part
from pipeline.schema import Table
from pipeline.sightings import Seen
from pipeline.source import Source
from pipeline.staging import ARTIFACTS, FOLDERS, HOMES, conform
from pipeline.standins import StandIns
from pipeline.tables import TABLES
from pipeline.tables.inventory import COLLECTIONS
from pipeline.tables.sessions import SESSIONS
from pipeline.tables.timeline import TIMELINE, TWINS
from pipeline.transcripts import choose_transcripts
from pipeline.workers import temporaries_in

_ALONE = [table for table in TABLES if table not in (TIMELINE, TWINS, SESSIONS, COLLECTIONS)]
_GROUPS = [(TIMELINE, TWINS), *((table,) for table in _ALONE), (SESSIONS,)]
"""Tables that share their keys, in the order in which they are made."""

CHUNK_BYTES = 16 << 20
"""Input whose texts are held as Python objects at once, with a sixteenth of it of each source."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A home as a collection has it: the collection's number in the build and its time, and the home."""

    collection: int
    collected_ms: int | None
    home: Home

    @property
    def seen(self) -> Seen:
        """The collection, by its number."""
        return Seen(self.collected_ms, (str(self.collection),))

    def holding(self, held: Held) -> Holding:
        """What the collection holds of the home."""
        return Holding(self.collection, self.home.identity, (self.home.host, self.home.user), held)


@dataclass(frozen=True, slots=True)
class Batch:
    """Whole homes of one bucket, in the lake's order, and the histories of those that the lake holds.

    `homes` are to be read; `same` are those of collections that hold what the lake knows.
    """

    number: int
    bucket: int
    homes: list[Taken] = field(default_factory=list)
    known: list[History] = field(default_factory=list)
    same: list[Holding] = field(default_factory=list)

    @property
    def rounds(self) -> list[list[Taken]]:
        """The homes, the first collection of each, then the second: joins must not see two of one home."""
        rounds, seen = list[list[Taken]](), Counter[str]()
        for taken in self.homes:
            place = seen[taken.home.identity]
            seen[taken.home.identity] += 1
            if place == len(rounds):
                rounds.append([])
            rounds[place].append(taken)
        return rounds or [[]]

    @property
    def bytes(self) -> int:
        """Size of the artifacts to be read."""
        return sum(taken.home.bytes for taken in self.homes)


@dataclass(slots=True)
class Result:
    """What a batch gave: its parts, what was read of each home, and what checks found wrong.

    `histories` are those of its homes with the collections of this build. `losing` are files of the lake whose rows of
    its homes change, each with an Arrow file of these rows' places; what they have now is in the parts.
    """

    batch: int
    bucket: int
    parts: list[Part] = field(default_factory=list)
    read: list[Holding] = field(default_factory=list)
    histories: list[History] = field(default_factory=list)
    losing: dict[str, Path] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Work:
    """How to work: with so many workers, the sources, a folder for parts, what DuckDB may hold, what the SQL asks for.

    `lake` is the finished build with the rows of known homes; with `anew` what is read takes the place of such rows of
    the same collection. `ids` are those of collections of this build, by their number, once they are known.
    """

    workers: int
    sources: Sequence[Source]
    folder: Path
    memory: str
    variables: Mapping[str, bool]
    lake: Path | None = None
    anew: bool = False
    ids: Mapping[str, str] = field(default_factory=dict)


def run(work: Work, batch: Batch) -> Result:
    """Extract, normalize and join a batch; leave its rows as parts in the work's folder."""
    pa.set_cpu_count(1)
    gc.disable()  # decoded records hold no cycles, and walking them takes a fifth of the time
    try:
        return _run(batch, work)
    finally:
        gc.enable()


def _run(batch: Batch, work: Work) -> Result:
    result = Result(batch.number, batch.bucket, bytes=batch.bytes)
    with ExitStack() as stack:
        spill = stack.enter_context(tempfile.TemporaryDirectory(dir=work.folder))
        stack.enter_context(temporaries_in(spill))
        rounds = [
            stack.enter_context(
                Joined(_staged(homes, work.sources, result), Limits(work.folder, work.memory), work.variables)
            )
            for homes in batch.rounds
        ]
        merging = Merging(batch.known, result.read, batch.same, work.ids, anew=work.anew)
        carried = Carried(work.lake, batch.bucket, places(batch.known))
        for table, frame in _merged(rounds, merging, carried):
            path = work.folder / f"{batch.number:06}.{table.name}.arrow"
            result.parts.extend(parts.write(table, frame, path))
        result.histories = merging.histories()
        if carried.losing:
            gone = work.folder / f"{batch.number:06}.gone.arrow"
            parts.write_frame(carried.found, gone)
            result.losing = dict.fromkeys(carried.losing, gone)
        result.failures = rounds[0].failures(pl.concat([joined.counts() for joined in rounds]))
    return result


def _merged(rounds: Sequence[Joined], merging: Merging, carried: Carried) -> Iterator[tuple[Table, pl.DataFrame]]:
    """Yield the rows of the batch's homes over time, of files that change.

    A session's row counts those of other tables: it is the last.
    """
    first = rounds[0]
    for name, frame in merging.frames().items():
        first.put(name, frame)
    for tables in _GROUPS:
        fresh = [pl.concat([joined.joined(table) for joined in rounds]) for table in tables]
        before = [carried.rows(table) for table in tables]
        for table, frame, old in zip(tables, merging.merged(tables, fresh, before), before, strict=True):
            whole = frame
            if table is SESSIONS:
                first.put("stated_sessions", frame)
                whole = first.merged(table)
            first.put(table.name, whole)
            yield table, carried.changed(table, old, whole)


def _staged(homes: Sequence[Taken], sources: Sequence[Source], result: Result) -> dict[str, pl.DataFrame]:
    """Read the homes' artifacts; return the staged frames of all of them.

    Homes are numbered behind those that were read before.
    """
    extractor = Extractor(sources)
    by_name = {source.name: source for source in sources}
    rows = list[tuple[object, ...]]()
    first = held = 0
    numbered = list(enumerate(homes, len(result.read)))
    for index, taken in numbered:
        home, files = taken.home, list[tuple[Artifact, Read]]()
        extractor.enter(home.artifacts)
        stand_ins = StandIns(by_name, home.artifacts)
        for number, listed in sorted(enumerate(home.artifacts, first), key=lambda entry: entry[1].stands_in):
            artifact = stand_ins.settled(listed)
            read = stand_ins.looked_at(artifact, extractor.add(number, artifact))
            if not artifact.stands_in:
                stand_ins.seen(artifact, read)
            files.append((artifact, read))
            rows.append(_file_row((number, index), artifact, read, by_name.get(artifact.source or "")))
            held += artifact.size or 0
            if held > CHUNK_BYTES:
                extractor.pack(CHUNK_BYTES // 16)
                held = 0
        result.read.append(taken.holding(held_of(home, files, by_name, taken.seen)))
        first += len(home.artifacts)
    raw = extractor.take()
    give_back()  # what the records took as Python's objects
    staged = stage_two(sources, *raw)
    schema = {**ARTIFACTS.polars, "mtime_utc": pl.Int64()}
    staged["files"] = conform(pl.DataFrame(rows, schema=schema, orient="row"), ARTIFACTS)
    in_sessions = {"source": [source.name for source in sources if source.session]}
    staged["session_sources"] = pl.DataFrame(in_sessions, schema={"source": pl.String()})
    return choose_transcripts(staged | _places(numbered))


def _places(numbered: Iterable[tuple[int, Taken]]) -> dict[str, pl.DataFrame]:
    """The frames `homes` and `folders` of homes with their numbers."""
    homes, folders = list[tuple[object, ...]](), list[tuple[int, str, str]]()
    for number, taken in numbered:
        home = taken.home
        homes.append((number, home.host, home.user, home.identity))
        folders.extend((number, agent, path) for agent, path in home.session_folders)
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
        told_path(artifact, source),
        artifact.source_file,
        artifact.size,
        artifact.mtime_ms or None,  # 0 is what collectors and archives write for a time that they do not know
        read.sha256,
        read.status.value,
        read.records,
    )
