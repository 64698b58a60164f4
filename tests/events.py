"""Event files through stage one and two: what a source hands on of some bytes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from parsers import SOURCES, classify
from pipeline.extract import Extractor, stage_two
from pipeline.model import Artifact, Status

AGENTS = {".continue": "continue", ".pearai": "pearai"}
TIMESTAMP = "2026-09-15T08:31:00.000Z"


@dataclass(frozen=True)
class Staged:
    """The frames of one artifact, and how many records it holds."""

    frames: Mapping[str, pl.DataFrame]
    records: int | None

    def __getitem__(self, frame: str) -> pl.DataFrame:
        return self.frames[frame]

    def rows(self, *columns: str, frame: str = "rows", losses: bool = False) -> list[tuple[object, ...]]:
        """Values of some columns, in order; of the timeline without the rows of losses unless asked for."""
        found = self.frames[frame]
        if frame == "rows" and not losses:
            found = found.filter(pl.col("kind") != "problem")
        return found.select(columns).rows()

    def texts(self) -> list[object]:
        """Texts of the timeline, without those of losses."""
        return [text for (text,) in self.rows("text")]

    def losses(self) -> list[tuple[object, ...]]:
        """Line, reason and text of the losses."""
        lost = self["faults"].filter(pl.col("text").is_not_null())
        return lost.select("line", "reason", "text").rows()

    def notes(self) -> list[tuple[object, ...]]:
        """Line, reason and fields of the notes."""
        noted = self["faults"].filter(pl.col("text").is_null())
        return noted.select("line", "reason", "detail").rows()

    def is_balanced(self) -> bool:
        """Whether each record has rows, is lost or is silent."""
        handed = [self[name].select("line", "record") for name in ("rows", "tokens", "suggestions")]
        numbered = pl.concat(handed).drop_nulls("record").unique().height
        return self.records == numbered + len(self.losses()) + (self["silent"]["records"].sum() or 0)


def event_files(folder: Path) -> list[Path]:
    """Files of events below a folder, of the sources that there are."""
    found = [path for path in folder.rglob("*.jsonl") if "dev_data" in path.parts]
    return sorted(path for path in found if classify(*_place(path.as_posix())) is not None)


def _place(path: str) -> tuple[str, str]:
    """Assistant whose directory a path goes through, and the path below it."""
    directory, _, below = path[path.rindex("/.") + 1 :].partition("/")
    return AGENTS[directory], below


def staged(path: Path, below: str | None = None) -> Staged:
    """Read a file that stands at `below` (`.continue/...`) in a home, or there by its own path."""
    agent, rest = _place(f"/{below}" if below else path.as_posix())
    source = classify(agent, rest)
    assert source is not None
    size = path.stat().st_size
    artifact = Artifact(agent, source, Status.PARSED, rest, str(path), path, size, 0)
    extractor = Extractor(SOURCES)
    read = extractor.add(0, artifact)
    found = Staged(stage_two(SOURCES, *extractor.take()), read.records)
    assert found.is_balanced()
    return found


def lines_of(*events: Mapping[str, object] | str) -> bytes:
    """Lines of an event file: objects, or text as it is."""
    texts = [event if isinstance(event, str) else json.dumps(event, separators=(",", ":")) for event in events]
    return "\n".join(texts).encode() + b"\n"
