"""Collections of a build: their ids, and the rows of the table `collections`, which the lake keeps of all of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from pipeline.history import History, Holding, hash_of
from pipeline.model import Collection
from pipeline.staging import conform
from pipeline.tables.inventory import COLLECTIONS

_PATH = f"{COLLECTIONS.name}/00.parquet"


def collection_ids(
    collections: Sequence[Collection], holdings: Iterable[Holding], numbers: Iterable[int]
) -> dict[int, str]:
    """Ids of the collections of some numbers, of which `holdings` has all homes.

    Hashes of host, time, the homes, and the artifacts' paths, sizes and hashes; of one without homes its place tells
    it from others. So two places of no host never give one id.
    """
    homes: defaultdict[int, list[tuple[str, list[tuple[str, int | None, str | None]]]]] = defaultdict(list)
    for each in holdings:
        files = sorted(((file.source_file, file.bytes, file.sha256) for file in each.held.files), key=repr)
        homes[each.collection].append((each.identity, files))
    return {number: hash_of(_told(collections[number], sorted(homes[number], key=repr))) for number in numbers}


def _told(found: Collection, homes: Sequence[object]) -> list[object]:
    """What makes a collection the one that it is."""
    return [found.host, found.collected_ms, homes or found.place]


def labels(ids: Mapping[int, str], histories: Iterable[History]) -> dict[str, str]:
    """What is stored for what stands in the rows for a collection: its number, or several of one content and time."""
    by_number = {str(number): name for number, name in ids.items()}
    fresh = (phase for history in histories for phase in history.phases if phase.seen.fresh)
    return by_number | {phase.label: phase.seen.first.named(by_number) for phase in fresh}


def collection_rows(collections: Sequence[Collection], ids: Mapping[int, str]) -> pl.DataFrame:
    """The rows of the table `collections`. One that was read from two places has two rows of one key."""
    rows = [
        {
            "collection_id": ids[number],
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
    return conform(pl.DataFrame(rows, schema={**COLLECTIONS.polars, "collected_utc": pl.Int64()}), COLLECTIONS)
