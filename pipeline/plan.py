"""Which homes go into which bucket, and in which batches they are worked through."""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pipeline.batch import Batch, Taken
from pipeline.history import History, Holding, Owner
from pipeline.linked import linked
from pipeline.model import Collection

BATCH_BYTES = 64 << 20
"""Input that a batch aims at."""

MANY_BUCKETS, MANY_BYTES = 16, 2_000_000_000
"""A lake made from more input than this gets so many buckets.

A home that changes has files of its bucket written anew, those in which its rows change; but each bucket adds a file to
each month, and a query opens all files.
"""


@dataclass(slots=True)
class _Over:
    """One home: how collections of the build have it, and what the lake knows of it."""

    taken: list[Taken] = field(default_factory=list)
    same: list[Holding] = field(default_factory=list)
    known: list[History] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """Size of what is read, and of what the lake's rows were made from."""
        return sum(each.home.bytes for each in self.taken) + sum(history.bytes for history in self.known)


def default_buckets(collections: Sequence[Collection]) -> int:
    """Number of buckets of a new lake."""
    size = sum(home.bytes for found in collections for home in found.homes)
    return MANY_BUCKETS if size > MANY_BYTES else 1


def bucket_of(owner: Owner, buckets: int) -> int:
    """Bucket of a home: a stable hash of its host and user."""
    name = "\0".join(part or "" for part in owner).encode()
    return int(hashlib.sha256(name).hexdigest()[:8], 16) % buckets


def plan(
    taken: Sequence[Taken],
    buckets: int,
    known: Sequence[History] = (),
    same: Iterable[Holding] = (),
    batch_bytes: int = BATCH_BYTES,
) -> list[Batch]:
    """Put homes into buckets, in order, and cut them into batches of about `batch_bytes`.

    The homes are those to be read (`taken`), and those whose rows change (`known`, of which `same` are collections that
    are not read). All that there is of one home, or of homes that are linked, is in one batch; so is all of one host
    and user where it is not too much.
    """
    homes: defaultdict[tuple[Owner, str], _Over] = defaultdict(_Over)
    for each in taken:
        homes[(each.home.host, each.home.user), each.home.identity].taken.append(each)
    for history in known:
        homes[history.owner, history.identity].known.append(history)
    for holding in same:
        homes[holding.owner, holding.identity].same.append(holding)
    leaders = linked(known, (each.home for each in taken))
    by_owner: defaultdict[Owner, dict[str, list[_Over]]] = defaultdict(lambda: defaultdict(list))
    for (owner, identity), home in sorted(homes.items(), key=lambda entry: entry[0][1]):
        by_owner[owner][leaders.get(identity, identity)].append(home)
    owned_bytes = {owner: sum(map(_bytes, owned.values())) for owner, owned in by_owner.items()}
    sizes = Counter[int]()
    for owner, size in owned_bytes.items():
        sizes[bucket_of(owner, buckets)] += size
    made, held = list[Batch](), 0
    for owner, owned in sorted(by_owner.items(), key=lambda entry: (bucket_of(entry[0], buckets), _order_of(entry[0]))):
        bucket, is_much = bucket_of(owner, buckets), owned_bytes[owner] > batch_bytes
        # Batches of a bucket are of about one size: a small rest would cost nearly as much as a whole one.
        batches = round(sizes[bucket] / batch_bytes)
        enough = sizes[bucket] / batches if batches > 1 else math.inf
        for number, unit in enumerate(owned.values()):
            is_full = (held >= enough and number == 0) or (held >= batch_bytes and is_much)
            if not made or made[-1].bucket != bucket or is_full:
                made.append(Batch(len(made), bucket))
                held = 0
            for home in unit:
                made[-1].homes.extend(home.taken)
                made[-1].same.extend(home.same)
                made[-1].known.extend(home.known)
            held += _bytes(unit)
    return made


def _bytes(homes: Iterable[_Over]) -> int:
    return sum(home.bytes for home in homes)


def _order_of(owner: Owner) -> tuple[tuple[bool, bytes], ...]:
    """Sort key of host and user in the lake's order, so that files are made of long stretches of their parts."""
    return tuple((value is None, (value or "").encode()) for value in owner)
