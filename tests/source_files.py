"""Files of one source through the engine's first two stages, without a lake: what a source's own tests look at."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.extract import Extractor, Read, stage_two
from pipeline.model import Artifact, Status
from pipeline.source import Source

FIXTURES = Path(__file__).parent.parent / "fixtures"

Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Staged:
    """What became of the files, in their order: how each was read, and the frames of stage two."""

    reads: list[Read]
    frames: Mapping[str, pl.DataFrame]

    def rows(self, *columns: str, of: int | None = None) -> list[Values]:
        """Columns of the timeline's rows that are no losses, of all files or of one."""
        rows = self.frames["rows"].filter(pl.col("kind") != "problem")
        return self._of(rows, of).select(columns).rows()

    def texts(self) -> list[str]:
        """Texts of the rows that are no losses."""
        return [text for (text,) in self.rows("text")]

    def losses(self, of: int | None = None) -> list[Values]:
        """Line, reason and text of each loss."""
        found = self.frames["faults"].filter(pl.col("text").is_not_null())
        return self._of(found, of).select("line", "reason", "text").rows()

    def notes(self, of: int | None = None) -> list[Values]:
        """Line, reason and detail of each note."""
        found = self.frames["faults"].filter(pl.col("text").is_null())
        return self._of(found, of).select("line", "reason", "detail").rows()

    def silent(self, of: int | None = None) -> int:
        """Number of records that some rule names as giving no row."""
        return int(self._of(self.frames["silent"], of)["records"].sum())

    def everything(self) -> str:
        """All values of all frames, for a look whether something stands in any of them."""
        return "\n".join(str(row) for frame in self.frames.values() for row in frame.iter_rows())

    @staticmethod
    def _of(frame: pl.DataFrame, of: int | None) -> pl.DataFrame:
        return frame if of is None else frame.filter(pl.col("artifact") == of)

    def unaccounted(self) -> list[int]:
        """Files whose records are not those with rows, the losses and the silent ones together."""
        return [
            number
            for number, read in enumerate(self.reads)
            if read.records != len(set(self.rows("record", of=number))) + len(self.losses(number)) + self.silent(number)
        ]


def stage_files(source: Source, files: Mapping[Path, str]) -> Staged:
    """Read files, given with their path below the home, and stage them."""
    extractor = Extractor([source])
    reads = [
        extractor.add(number, _artifact(source, path, home_path))
        for number, (path, home_path) in enumerate(files.items())
    ]
    return Staged(reads, stage_two([source], *extractor.take()))


def _artifact(source: Source, path: Path, home_path: str) -> Artifact:
    size = path.stat().st_size
    return Artifact(source.agent, source.name, Status.PARSED, home_path, f"/{home_path}", path, size, 0)


def stage_bytes(source: Source, folder: Path, data: bytes | str, home_path: str) -> Staged:
    """Read and stage one file of the given content."""
    path = folder / "file"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return stage_files(source, {path: home_path})


def fixtures_of(source: Source, directory: str) -> dict[Path, str]:
    """Every file of a source among the fixtures' homes, with its path below the home."""
    return dict(_found(source, directory))


def _found(source: Source, directory: str) -> Iterator[tuple[Path, str]]:
    for state in sorted(FIXTURES.rglob(directory)):
        for path in sorted(state.rglob("*")):
            below = path.relative_to(state).as_posix()
            if source.pattern.fullmatch(below):
                yield path, f"{directory}/{below}"
