"""A source's two stages on the bytes of one file, without the engine."""

import json
from dataclasses import dataclass
from typing import Any

import polars as pl

from pipeline.source import Records, Source
from pipeline.staging import HANDED, conform

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""In front of a healthy document it is no fault, and the fast decoder refuses it: the careful way reads the rest."""


@dataclass(frozen=True, slots=True)
class Staged:
    """What a source hands on of one file, and what its first stage recorded."""

    records: Records
    frames: dict[str, pl.DataFrame]

    def rows(self, name: str, *columns: str) -> list[tuple[Any, ...]]:
        """Columns of a frame's rows."""
        return self.frames[name].select(columns).rows()

    def notes(self) -> list[tuple[int, str, str | None]]:
        """Line, reason and detail of the notes."""
        noted = [(p.position, p.reason, p.detail) for p in self.records.problems if p.text is None]
        faults = self.frames["faults"].filter(pl.col("text").is_null())
        return sorted([*noted, *faults.select("line", "reason", "detail").rows()], key=str)


def staged(source: Source, data: bytes, path: str = "a.json") -> Staged:
    """Read one file and stage it."""
    records = Records({table.name: [] for table in source.tables})
    source.read(data, path, records)
    raw = {
        table.name: pl.DataFrame(
            [(0, *row) for row in records.rows[table.name]], {"artifact": pl.Int32(), **table.polars}, orient="row"
        )
        for table in source.tables
    }
    frames = source.stage(raw)
    return Staged(records, {name: conform(frame, HANDED[name]) for name, frame in frames.items()})


def session(*items: object, **head: object) -> bytes:
    """Bytes of a session of these items."""
    return json.dumps({**head, "history": items}).encode()
