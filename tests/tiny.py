"""A lake of two small tables, made by hand for tests of what reads one."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.catalog import write_catalog
from pipeline.schema import TEXT, TIME, Column, Table

SAID = Table(
    "said",
    "one row per thing that was said",
    ("text",),
    (
        Column("at_utc", TIME, "When (UTC)."),
        Column("agent", TEXT, "Assistant.", nullable=False),
        Column("text", TEXT, "What."),
    ),
    time="at_utc",
)
HOMES = Table("homes", "one row per home", ("path",), (Column("path", TEXT, "Where."),))
HOSTILE = "\x1b]0;owned\x07\x1b[31mred\x9b0m\u202egnp.exe\u2028\u0000tail"
TEXTS = (("continue", "2026-01", 1_769_000_000_123, "hello"), ("pearai", "unknown", None, HOSTILE))


def make_lake(lake: Path) -> Path:
    build = lake / "builds" / "3"
    for agent, month, when, text in TEXTS:
        folder = build / "said" / f"agent={agent}" / f"month={month}"
        folder.mkdir(parents=True)
        rows = [{"at_utc": when, "text": text}]
        pq.write_table(pa.Table.from_pylist(rows, SAID.arrow()), folder / "00.parquet")
    (build / "homes").mkdir()
    pq.write_table(pa.Table.from_pylist([{"path": "/home/a"}], HOMES.arrow()), build / "homes" / "00.parquet")
    write_catalog(build, (SAID, HOMES), {"short": "select agent, left(text, 3) as text from said"})
    (lake / "current").symlink_to("builds/3")
    (lake / "lake.duckdb").symlink_to("current/lake.duckdb")
    return lake


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
