"""Which homes go into which bucket, and in which batches they are worked through."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pipeline.batch import Batch, Taken
from pipeline.carried import Owner
from pipeline.history import History
from pipeline.model import Collection, Home

BATCH_BYTES = 32 << 20
"""Input that a batch aims at."""

MANY_BUCKETS, MANY_BYTES = 16, 2 << 30
"""A lake made from more input than this gets so many buckets."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The lake's number of buckets, and its batches in the order of its rows."""

    buckets: int
    batches: list[Batch]


@dataclass(slots=True)
class _Owned:
    """The homes of one host and user."""

    taken: list[Taken] = field(default_factory=list)
    known: list[History] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """Size of what is read and of what the lake's rows were made from."""
        return sum(_size(each.home) for each in self.taken) + sum(history.bytes for history in self.known)


def default_buckets(collections: Sequence[Collection]) -> int:
    """Number of buckets of a new lake."""
    return MANY_BUCKETS if sum(_size(home) for found in collections for home in found.homes) > MANY_BYTES else 1


def bucket_of(owner: Owner, buckets: int) -> int:
    """Bucket of a home: a stable hash of its host and user."""
    name = "\0".join(part or "" for part in owner).encode()
    return int(hashlib.sha256(name).hexdigest()[:8], 16) % buckets


def plan(
    collections: Sequence[Collection], buckets: int, known: Sequence[History] = (), batch_bytes: int = BATCH_BYTES
) -> Plan:
    """Put homes, those of the collections and those that the lake knows, into buckets, in order, and cut them into
    batches of about `batch_bytes`.
    """
    taken = [
        Taken(number, found.collected_ms, home) for number, found in enumerate(collections) for home in found.homes
    ]
    owners: defaultdict[Owner, _Owned] = defaultdict(_Owned)
    for each in sorted(taken, key=lambda each: each.home.identity):
        owners[each.home.host, each.home.user].taken.append(each)
    for history in sorted(known, key=lambda history: history.identity):
        owners[history.host, history.user].known.append(history)
    ordered = sorted(owners.items(), key=lambda entry: (bucket_of(entry[0], buckets), *map(_nulls_last, entry[0])))
    return Plan(buckets, _batches(ordered, buckets, batch_bytes))


def _nulls_last(value: str | None) -> tuple[bool, bytes]:
    """Sort key in the order that DuckDB and polars give texts: by bytes, nulls last."""
    return value is None, (value or "").encode()


def _size(home: Home) -> int:
    return sum(artifact.size or 0 for artifact in home.artifacts if artifact.source)


def _batches(owners: Iterable[tuple[Owner, "_Owned"]], buckets: int, batch_bytes: int) -> list[Batch]:
    """Cut the homes of each host and user, in order, into batches.

    They stay together, so that batch behind batch is the lake's order, and so that all collections of a home meet.
    """
    made: list[Batch] = []
    held = 0
    for owner, homes in owners:
        bucket = bucket_of(owner, buckets)
        if not made or bucket != made[-1].bucket or held >= batch_bytes:
            made.append(Batch(len(made), bucket, []))
            held = 0
        made[-1].homes.extend(homes.taken)
        made[-1].known.extend(homes.known)
        held += homes.bytes
    return made
