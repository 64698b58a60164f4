"""Which homes go into which bucket, and in which batches they are worked through."""

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pipeline.batch import Batch, Taken
from pipeline.history import History
from pipeline.model import Collection

BATCH_BYTES = 64 << 20
"""Input that a batch aims at."""

BUCKET_BYTES = 125_000_000
"""Input that a bucket of a new lake aims at: a home that changes has the files of its bucket written anew."""

MOST_BUCKETS = 16
"""Each bucket adds a file to each month, and a query opens all files."""

Owner = tuple[str | None, str | None]
"""Host and user."""


@dataclass(slots=True)
class _Over:
    """One home: how collections of the build have it, and what the lake knows of it."""

    taken: list[Taken] = field(default_factory=list)
    same: list[History] = field(default_factory=list)
    known: list[History] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """Size of what is read, and of what the lake's rows were made from."""
        return sum(each.home.bytes for each in self.taken) + sum(history.bytes for history in self.known)


def default_buckets(collections: Sequence[Collection]) -> int:
    """Number of buckets of a new lake."""
    size = sum(home.bytes for found in collections for home in found.homes)
    return min(max(1, size // BUCKET_BYTES), MOST_BUCKETS)


def bucket_of(owner: Owner, buckets: int) -> int:
    """Bucket of a home: a stable hash of its host and user."""
    name = "\0".join(part or "" for part in owner).encode()
    return int(hashlib.sha256(name).hexdigest()[:8], 16) % buckets


def plan(
    taken: Iterable[Taken],
    buckets: int,
    known: Iterable[History] = (),
    same: Iterable[History] = (),
    batch_bytes: int = BATCH_BYTES,
) -> list[Batch]:
    """Put homes into buckets, in order, and cut them into batches of about `batch_bytes`.

    The homes are those to be read (`taken`), and those whose rows change (`known`, of which `same` are collections that
    are not read). All that there is of one home is in one batch.
    """
    homes: defaultdict[tuple[Owner, str], _Over] = defaultdict(_Over)
    for each in taken:
        homes[(each.home.host, each.home.user), each.home.identity].taken.append(each)
    for history in known:
        homes[(history.host, history.user), history.identity].known.append(history)
    for history in same:
        homes[(history.host, history.user), history.identity].same.append(history)
    by_owner: defaultdict[Owner, list[_Over]] = defaultdict(list)
    for (owner, _), home in sorted(homes.items(), key=lambda entry: entry[0][1]):
        by_owner[owner].append(home)
    by_bucket: defaultdict[int, list[Owner]] = defaultdict(list)
    for owner in sorted(by_owner, key=order_of):
        by_bucket[bucket_of(owner, buckets)].append(owner)
    cutter = _Cutter(batch_bytes)
    for bucket, owners in sorted(by_bucket.items()):
        cutter.cut(bucket, [by_owner[owner] for owner in owners])
    return cutter.made


def order_of(values: Iterable[str | None]) -> tuple[tuple[bool, bytes], ...]:
    """Sort key of texts, such as host and user, in the order of DuckDB and polars: by bytes, nulls last."""
    return tuple((value is None, (value or "").encode()) for value in values)


class _Cutter:
    """Cuts homes in order into batches.

    Rows are in the order of host and user, so batch behind batch is the lake's order; only where these have more homes
    than fit into a batch, the rows of several are to be sorted.
    """

    def __init__(self, batch_bytes: int) -> None:
        self.made: list[Batch] = []
        self._most = batch_bytes
        self._held = 0

    def cut(self, bucket: int, owned: Sequence[Sequence[_Over]]) -> None:
        """Cut a bucket, the homes of one host and user after the other, into batches of about one size.

        A small rest would cost nearly as much as a whole batch.
        """
        size = sum(home.bytes for homes in owned for home in homes)
        batches = round(size / self._most)
        for homes in owned:
            self._add(bucket, homes, size / batches if batches > 1 else math.inf)

    def _add(self, bucket: int, homes: Sequence[_Over], aim: float) -> None:
        """Add the homes of a host and user to the last batch, or to new ones."""
        is_much = len(homes) > 1 and sum(home.bytes for home in homes) > self._most
        last = self.made[-1] if self.made else None
        if last is None or is_much or last.is_shared or last.bucket != bucket or self._held >= aim:
            self._start(Batch(len(self.made), bucket, is_shared=is_much))
        for home in homes:
            if is_much and self._held >= self._most:
                self._start(Batch(len(self.made), bucket, share=self.made[-1].share + 1, is_shared=True))
            self.made[-1].homes.extend(home.taken)
            self.made[-1].same.extend(home.same)
            self.made[-1].known.extend(home.known)
            self._held += home.bytes

    def _start(self, batch: Batch) -> None:
        self.made.append(batch)
        self._held = 0
