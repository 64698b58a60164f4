"""Which homes go into which bucket, and in which batches they are worked through."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.batch import Batch
from pipeline.model import Collection, Home

BATCH_BYTES = 64 << 20
"""Input that a batch aims at."""

MANY_BUCKETS, MANY_BYTES = 16, 2 << 30
"""A lake made from more input than this gets so many buckets."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The lake's number of buckets, and its batches in the order of its rows."""

    buckets: int
    batches: list[Batch]


def default_buckets(collections: Sequence[Collection]) -> int:
    """Number of buckets of a new lake."""
    return MANY_BUCKETS if sum(_size(home) for found in collections for home in found.homes) > MANY_BYTES else 1


def bucket_of(home: Home, buckets: int) -> int:
    """Bucket of a home: a stable hash of its host and user."""
    name = f"{home.host or ''}\0{home.user or ''}".encode()
    return int(hashlib.sha256(name).hexdigest()[:8], 16) % buckets


def plan(collections: Sequence[Collection], buckets: int, batch_bytes: int = BATCH_BYTES) -> Plan:
    """Put homes into buckets, in order, and cut them into batches of about `batch_bytes`."""
    homes = [
        (bucket_of(home, buckets), number, home) for number, found in enumerate(collections) for home in found.homes
    ]
    homes.sort(
        key=lambda entry: (
            entry[0],
            *_nulls_last(entry[2].host),
            *_nulls_last(entry[2].user),
            entry[2].identity,
        )
    )
    return Plan(buckets, _batches(homes, batch_bytes))


def _nulls_last(value: str | None) -> tuple[bool, bytes]:
    """Sort key in the order that DuckDB and polars give texts: by bytes, nulls last."""
    return value is None, (value or "").encode()


def _size(home: Home) -> int:
    return sum(artifact.size or 0 for artifact in home.artifacts if artifact.source)


def _batches(homes: Iterable[tuple[int, int, Home]], batch_bytes: int) -> list[Batch]:
    """Cut (bucket, collection, home) in order into batches.

    Homes of one host and user stay together, so that batch behind batch is the lake's order; the cut depends on a
    bucket's homes alone.
    """
    made: list[Batch] = []
    held = 0
    last: tuple[int, str | None, str | None] | None = None
    for bucket, collection, home in homes:
        key = (bucket, home.host, home.user)
        if last is None or bucket != last[0] or (held >= batch_bytes and key != last):
            made.append(Batch(len(made), bucket, []))
            held = 0
        made[-1].homes.append((collection, home))
        held += _size(home)
        last = key
    return made
