"""When a home was seen, and in which collections: the list that grows in every night, whatever else happens."""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

_RECORD = struct.Struct("<q16s")
_UNKNOWN = -(2**63)


class Seen(NamedTuple):
    """A collection of a home: its time (ms since 1970, UTC), and its id.

    `ids` are several where several collections hold the same at one time; a collection of this build is known by its
    number until all of it was read.
    """

    collected_ms: int | None
    ids: tuple[str, ...]

    @property
    def at(self) -> tuple[bool, int]:
        """Place in time, unknown first."""
        return self.collected_ms is not None, self.collected_ms or 0

    def named(self, ids: Mapping[str, str]) -> str:
        """The id, of a collection of this build by its number; of several the least stands for all."""
        return min(ids.get(one, one) for one in self.ids)


@dataclass(frozen=True, slots=True)
class Sightings:
    """Collections that found a home the same, in order.

    `packed` are those whose id is known, each as its time (int64, little endian) and the 16 bytes of its id; `fresh`
    are those behind them.
    """

    packed: bytes
    fresh: tuple[Seen, ...] = ()

    def __iter__(self) -> Iterator[Seen]:
        yield from map(_unpacked, _RECORD.iter_unpack(self.packed))
        yield from self.fresh

    def __add__(self, behind: "Sightings") -> "Sightings":
        if self.fresh:
            return Sightings(self.packed, (*self.fresh, *behind))
        return Sightings(self.packed + behind.packed, behind.fresh)

    @property
    def first(self) -> Seen:
        """The first of the collections."""
        return _unpacked(_RECORD.unpack_from(self.packed)) if self.packed else self.fresh[0]

    @property
    def last(self) -> Seen:
        """The last of the collections."""
        if self.fresh:
            return self.fresh[-1]
        return _unpacked(_RECORD.unpack_from(self.packed, len(self.packed) - _RECORD.size))

    def named(self, ids: Mapping[str, str]) -> "Sightings":
        """The same with all collections by their ids."""
        return Sightings(self.packed + b"".join(_packed(seen, ids) for seen in self.fresh)) if self.fresh else self


def loaded(packed: bytes) -> Sightings:
    """What is `packed`. Raises ValueError where it is no sightings."""
    if not packed or len(packed) % _RECORD.size:
        raise ValueError("no sightings")
    return Sightings(packed)


def _packed(seen: Seen, ids: Mapping[str, str]) -> bytes:
    time = _UNKNOWN if seen.collected_ms is None else seen.collected_ms
    return _RECORD.pack(time, bytes.fromhex(seen.named(ids)))


def _unpacked(record: tuple[int, bytes]) -> Seen:
    time, name = record
    return Seen(None if time == _UNKNOWN else time, (name.hex(),))
