"""Collections of a build: their ids, and the rows of the table `collections`, which the lake keeps of all of them."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

import polars as pl

from pipeline import parts
from pipeline.batch import Result
from pipeline.history import hash_of
from pipeline.model import Collection
from pipeline.plan import Plan
from pipeline.staging import conform
from pipeline.tables.inventory import COLLECTIONS

_PATH = f"{COLLECTIONS.name}/00.parquet"


def collection_ids(collections: Sequence[Collection], planned: Plan, results: Sequence[Result]) -> dict[str, str]:
    """Ids by what stands for them in the rows: the collections' numbers, or several that hold the same of a home.

    Hashes of host, time, the homes, and the artifacts' paths, sizes and hashes: two places never give one id.
    """
    listed: defaultdict[int, list[tuple[str, str, int | None, str | None]]] = defaultdict(list)
    for batch, result in zip(planned.batches, results, strict=True):
        for taken, reads in zip(chain.from_iterable(batch.rounds), result.reads, strict=True):
            for artifact, read in zip(taken.home.artifacts, reads, strict=True):
                listed[taken.collection].append((taken.home.identity, artifact.source_file, artifact.size, read.sha256))
    ids = {
        str(number): hash_of([found.host, found.collected_ms, sorted(listed[number], key=repr)])
        for number, found in enumerate(collections)
    }
    held = [held for result in results for history in result.histories for held in history.held]
    return ids | {each.label: min(ids.get(part, part) for part in each.ids) for each in held}


def collection_rows(
    folder: Path, collections: Sequence[Collection], ids: Mapping[str, str], lake: Path | None
) -> Result:
    """The table `collections` as a batch would leave it: the rows of the build `lake`, and those of `collections`."""
    rows = [
        {
            "collection_id": ids[str(number)],
            "input": found.input,
            "host": found.host,
            "collected_utc": found.collected_ms,
            "tool": found.tool,
            "version": found.version,
            "homes": len(found.homes),
            "files": sum(len(home.artifacts) for home in found.homes),
            "bytes": sum(artifact.size or 0 for home in found.homes for artifact in home.artifacts),
        }
        for number, found in enumerate(collections)
    ]
    frame = conform(pl.DataFrame(rows, schema={**COLLECTIONS.polars, "collected_utc": pl.Int64()}), COLLECTIONS)
    if lake is not None:
        frame = pl.concat([conform(pl.read_parquet(lake / _PATH, glob=False), COLLECTIONS), frame])
    # One that was read from two places has the name of the first of them.
    once = frame.sort("collection_id", "input", nulls_last=True).unique("collection_id", keep="first")
    made = parts.write(COLLECTIONS, once, folder / "collections.arrow")
    return Result(-1, 0, made, tables=Counter({COLLECTIONS.name: once.height}))
