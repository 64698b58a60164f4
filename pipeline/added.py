"""Rows of no home that a build adds to a table: told apart by their key alone, whatever else the table holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from pipeline import parts
from pipeline.lake import reading
from pipeline.partition import path_of
from pipeline.parts import Part
from pipeline.schema import Table
from pipeline.staging import conform


@dataclass(frozen=True, slots=True)
class Added:
    """What is added, and an Arrow file with the keys of the lake's rows, in the file `path`, in whose place it comes.

    Null where nothing is replaced.
    """

    parts: Sequence[Part]
    path: str
    gone: Path | None


def added(table: Table, rows: pl.DataFrame, folder: Path, lake: Path | None) -> Added:
    """Tell what `rows` add to those of the build `lake`, of which only those of the same keys are read.

    Of several rows of one key the first in order holds.
    """
    path, key = path_of(table, 0), table.key[0]
    found, known = conform(rows, table), table.empty()
    if lake is not None and (lake / path).exists():
        with reading(lake / path):
            scanned = pl.scan_parquet(lake / path, glob=False, hive_partitioning=False)
            known = conform(scanned.filter(pl.col(key).is_in(found[key].unique().implode())).collect(), table)
    once = pl.concat([known, found]).sort(key, *table.polars, nulls_last=True).unique(key, keep="first")
    news = once.join(known, on=list(table.polars), how="anti", nulls_equal=True)
    gone = known.select(key).join(news, on=key, how="semi")
    place = folder / f"gone.{table.name}.arrow"
    if gone.height:
        parts.write_frame(gone, place)
    return Added(parts.write(table, news, folder / f"added.{table.name}.arrow"), path, place if gone.height else None)
