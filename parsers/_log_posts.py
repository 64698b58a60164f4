"""Posts of the log of Continue's command line whose result stands in a later file of its rotation.

winston writes `cn.log`, then `cn1.log`, `cn2.log` and so on: a process goes on in the next file where it was.
"""

from collections import defaultdict
from collections.abc import Mapping

import polars as pl

from pipeline.schema import SMALL, TEXT, Column, Table

RESULTS = Table(
    "results",
    "one record per process and address that a result of the file names, the first of them",
    (),
    (
        Column("record", SMALL, "Number of the record in the file, from 1."),
        Column("process", TEXT, "Process that wrote it."),
        Column("address", TEXT, "Address of the post."),
        Column("status", TEXT, "What became of it."),
    ),
)

_ANSWERED = {"artifact": pl.Int32(), "record": pl.Int32(), "answer": pl.String()}


def answered(raw: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the events with the statuses of posts that a later file of their log tells.

    A post has the first result behind it of its home, folder, process and address.
    """
    events, files = raw["events"], raw["files"]
    if raw["results"].is_empty():
        return events
    waits = events.filter(pl.col("address").is_not_null()).select("artifact", "record", "process", "address")
    told = _told(_in_order(pl.concat([waits.with_columns(status=pl.lit(None, pl.String)), _results(raw)]), files))
    found = pl.DataFrame(told, schema=_ANSWERED, orient="row")
    joined = events.join(found, on=["artifact", "record"], how="left", maintain_order="left")
    return joined.with_columns(status=pl.coalesce("answer", "status")).drop("answer")


def _results(raw: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    return raw["results"].select("artifact", "record", "process", "address", "status")


def _in_order(records: pl.DataFrame, files: pl.DataFrame) -> pl.DataFrame:
    """Put the records of each log in the order in which they were written, over its files."""
    number = pl.col("home_path").str.extract(r"cn([0-9]+)\.log$").cast(pl.Int64, strict=False).fill_null(-1)
    placed = files.select("artifact", "home", number=number, folder=pl.col("home_path").str.replace(r"[^/]*$", ""))
    return records.join(placed, on="artifact").sort("number", "artifact", "record", maintain_order=True)


def _told(records: pl.DataFrame) -> list[tuple[int, int, str]]:
    """Artifact, record and status of each post that a result serves."""
    waiting: dict[tuple[object, ...], list[tuple[int, int]]] = defaultdict(list)
    told, used = list[tuple[int, int, str]](), set[tuple[int, int]]()
    for row in records.iter_rows(named=True):
        place, log = (row["artifact"], row["record"]), (row["home"], row["folder"], row["process"], row["address"])
        if row["status"] is None:
            waiting[log].append(place)
        elif waiting[log] and place not in used:
            used.add(place)
            told += [(*post, row["status"]) for post in waiting.pop(log)]
    return told
