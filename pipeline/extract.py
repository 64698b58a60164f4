"""Stage one: from artifacts' bytes to raw tables, losses and notes."""

import hashlib
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat

import polars as pl

from pipeline.content import ZipContent
from pipeline.model import Artifact, Status
from pipeline.normalize import counted, in_order, numbered, problem_drafts
from pipeline.schema import Table
from pipeline.source import FILES, Problem, Records, Row, Source
from pipeline.staging import HANDED, conform


@dataclass(slots=True)
class Read:
    """What became of one artifact: its status, and if it was read the SHA-256 of its bytes and its records.

    `lost` is the reason where nothing of it could be read. `found` are the problems that its bytes alone do not tell.
    """

    status: Status
    sha256: str | None = None
    records: int | None = None
    lost: str | None = None
    found: tuple[Problem, ...] = ()
    is_closed: bool = False
    """Whether its bytes were wanted and could not be read, though it is not lost."""


@dataclass(slots=True)
class _Columns:
    """Rows of one raw table, and how many of them each artifact gave; `frames` are those that were packed before."""

    table: Table
    rows: list[Row] = field(default_factory=list)
    artifacts: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    frames: list[pl.DataFrame] = field(default_factory=list)

    def frame(self) -> pl.DataFrame:
        """All rows as a frame, the artifact's number in front."""
        if self.rows or not self.frames:
            self.pack()
        return pl.concat(self.frames, rechunk=True)

    def pack(self) -> None:
        """Turn the rows into a frame, which takes a fraction of their memory."""
        self.frames.append(self._packed())
        for held in (self.rows, self.artifacts, self.counts):
            held.clear()

    def _packed(self) -> pl.DataFrame:
        columns = list(zip(*self.rows, strict=True)) or [()] * len(self.table.columns)
        owners = chain.from_iterable(map(repeat, self.artifacts, self.counts))
        named = zip(self.table.columns, columns, strict=True)
        return pl.DataFrame(
            [
                pl.Series("artifact", list(owners), pl.Int32()),
                *(pl.Series(column.name, values, column.dtype) for column, values in named),
            ]
        )


class Extractor:
    """Reads artifacts one after the other and collects what they hold until it is taken."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._sources = {source.name: source for source in sources}
        self._beside: dict[str, Artifact] = {}
        self._companions: dict[str, str | OSError] = {}
        self._home = 0
        self._start()

    def _start(self) -> None:
        self._columns: dict[str, dict[str, _Columns]] = {}
        self._held = Counter[str]()
        self._files: dict[str, list[Row]] = defaultdict(list)
        self._problems: list[tuple[int, Problem]] = []
        self._silent: list[tuple[int, int]] = []

    def enter(self, artifacts: Iterable[Artifact]) -> None:
        """Take up a home, among whose artifacts are those that belong to others."""
        self._beside = {artifact.home_path: artifact for artifact in artifacts}
        self._companions.clear()
        self._home += 1

    def add(self, number: int, artifact: Artifact) -> Read:
        """Read one artifact as number `number`. A file that cannot be opened or read is a loss."""
        told = self._companions.get(artifact.home_path)
        if isinstance(told, OSError):
            return self._unreadable(number, artifact.problems, told.strerror, artifact.size)
        if told is not None:
            return Read(artifact.status, told)
        if artifact.status is Status.UNREADABLE:
            return self._unreadable(number, artifact.problems, None, None)
        if artifact.status is not Status.PARSED or artifact.source not in self._sources:
            self._problems.extend((number, problem) for problem in artifact.problems)
            losses = sum(problem.text is not None for problem in artifact.problems)
            status = Status.KNOWN if artifact.status is Status.PARSED else artifact.status
            return Read(status, records=losses or None, found=artifact.problems)
        try:
            data = artifact.location.read_bytes()
        except OSError as error:
            return self._unreadable(number, artifact.problems, error.strerror, artifact.size)
        source = self._sources[artifact.source]
        self._held[source.name] += len(data)
        self._files[source.name].append((number, self._home, artifact.home_path))
        columns = self._columns.setdefault(source.name, {table.name: _Columns(table) for table in source.tables})
        companions = self._read_companions(source, artifact)
        records = Records({name: table.rows for name, table in columns.items()}, companions=companions)
        before = {name: len(table.rows) for name, table in columns.items()}
        digest = hashlib.sha256(data).hexdigest()
        found = (*artifact.problems, *_unlike(artifact, data, digest))
        for problem in found:
            records.problems.append(problem)
            records.count += problem.text is not None
        own = len(records.problems)
        try:
            source.read(data, artifact.home_path, records)
        except Exception as error:
            error.add_note(f"while reading {artifact.source_file}")
            raise
        for name, table in columns.items():
            table.artifacts.append(number)
            table.counts.append(len(table.rows) - before[name])
        self._problems.extend((number, problem) for problem in records.problems)
        if records.silent:
            self._silent.append((number, records.silent))
        has_rows = records.silent or any(len(table.rows) > before[name] for name, table in columns.items())
        reasons = (problem.reason for problem in records.problems[own:] if problem.text is not None and not has_rows)
        lost = next(reasons, None)
        return Read(Status.PARSED, digest, records.count, lost, found)

    def _read_companions(self, source: Source, artifact: Artifact) -> dict[str, bytes]:
        """Read the files that belong to an artifact; what became of them is told when they are added themselves."""
        found: dict[str, bytes] = {}
        for ending in source.companions:
            companion = self._beside.get(artifact.home_path + ending)
            if companion is None or companion.size is None:
                continue
            try:
                found[ending] = companion.location.read_bytes()
            except OSError as error:
                self._companions[companion.home_path] = error
            else:
                self._companions[companion.home_path] = hashlib.sha256(found[ending]).hexdigest()
        return found

    def _unreadable(self, number: int, known: Sequence[Problem], detail: str | None, size: int | None) -> Read:
        """Record that nothing of an artifact could be read, and why unless a problem of it tells."""
        is_told = any(problem.text is not None and problem.reason != "duplicate_member" for problem in known)
        own = Problem(0, "unreadable", "parser: unreadable (unreadable)", detail, size)
        problems = [*known] if is_told else [*known, own]
        self._problems.extend((number, problem) for problem in problems)
        lost = [problem.reason for problem in problems if problem.text is not None]
        return Read(Status.UNREADABLE, records=len(lost), lost=lost[-1], found=tuple(problems))

    def pack(self, least: int) -> None:
        """Turn what is held into frames, but for sources of whose files it is less than `least` bytes.

        A frame costs time, however few rows it has.
        """
        for source, held in self._held.items():
            if held >= least:
                self._held[source] = 0
                for table in self._columns[source].values():
                    if table.rows:
                        table.pack()

    def take(self) -> tuple[dict[str, dict[str, pl.DataFrame]], pl.DataFrame, pl.DataFrame]:
        """Return the raw tables by source and name, the problems and the silent counts; start anew."""
        raw = {
            source: {
                **{name: table.frame() for name, table in tables.items()},
                FILES.name: pl.DataFrame(self._files[source], schema=FILES.polars, orient="row"),
            }
            for source, tables in self._columns.items()
        }
        problems = pl.DataFrame(
            [(number, p.position, p.reason, p.text, p.detail, p.size) for number, p in self._problems],
            schema={
                "artifact": pl.Int32,
                "line": pl.Int32,
                "reason": pl.String,
                "text": pl.String,
                "detail": pl.String,
                "bytes": pl.Int64,
            },
            orient="row",
        )
        silent = pl.DataFrame(self._silent, schema={"artifact": pl.Int32, "records": pl.Int64}, orient="row")
        self._start()
        return raw, problems, silent


def _unlike(artifact: Artifact, data: bytes, digest: str) -> Iterator[Problem]:
    """Yield what is wrong with bytes that are not those that the archive or the collector says they are.

    `digest` is their SHA-256.
    """
    if artifact.crc32 is not None and zlib.crc32(data) != artifact.crc32:
        size = (artifact.size or 0) - len(data)
        is_cut = size or (isinstance(artifact.location, ZipContent) and artifact.location.is_longer())
        lost = "parser: unreadable (archive_damaged)" if is_cut else None
        yield Problem(0, "archive_damaged", lost, "crc32", size or None)
    elif artifact.sha256 not in (None, digest):
        yield Problem(0, "archive_damaged", None, "sha256")


def stage_two(
    sources: Sequence[Source],
    raw: dict[str, dict[str, pl.DataFrame]],
    problems: pl.DataFrame,
    silent: pl.DataFrame,
) -> dict[str, pl.DataFrame]:
    """Hand the raw tables to their sources and put what comes back together: the frames of `pipeline.staging`.

    The raw tables of a source are dropped once it is done: their texts are not held twice for longer than that.
    """
    handed: dict[str, list[pl.DataFrame]] = {name: [table.empty()] for name, table in HANDED.items()}
    handed["faults"].append(conform(problems, HANDED["faults"]))
    handed["silent"].append(conform(silent, HANDED["silent"]))
    for source in sources:
        if source.name in raw:
            for name, frame in source.stage(raw.pop(source.name)).items():
                handed[name].append(conform(frame, HANDED[name]))
    staged = {name: pl.concat(frames, rechunk=True) for name, frames in handed.items()}
    for name in ("rules", "tokens", "suggestions"):
        staged[name] = counted(staged[name])
    staged["faults"] = numbered(staged["faults"])
    drafts = pl.concat([staged.pop("drafts"), conform(problem_drafts(staged["faults"]), HANDED["drafts"])])
    staged["rows"] = in_order(drafts)
    return staged
