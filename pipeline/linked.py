"""Homes of one host and user whose rows in a lake could be taken for each other's.

A row tells the collection that first saw its file, and the file's newest path. A home that is read from another place
gets new paths: they can be those that another home of the same collection has.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from pipeline.history import History, grouped, last_positions
from pipeline.model import Home

Place = tuple[str, str, str]
"""Collection, path below the home, path on the source host."""


def linked(known: Iterable[History], homes: Iterable[Home]) -> dict[str, str]:
    """Identities of homes that the lake knows and that share a place, each with the one that stands for all of them.

    `known` are their histories, `homes` what a build reads.
    """
    read: defaultdict[str, list[Home]] = defaultdict(list)
    for home in homes:
        read[home.identity].append(home)
    leader: dict[str, str] = {}
    for group in grouped(known).values():
        first: dict[Place, str] = {}
        for history in group if len(group) > 1 else ():
            own = {history.identity}
            for place in _places(history, read[history.identity]):
                other = first.setdefault(place, history.identity)
                own.add(leader.get(other, other))
            if len(own) > 1:
                least = min(own)
                leader |= {each: least for each, stands in leader.items() if stands in own}
                leader |= dict.fromkeys(own, least)
    return leader


def _places(history: History, homes: Iterable[Home]) -> Iterator[Place]:
    """Where rows of a home are, and where they may be once what is read of it is in the lake."""
    labels: defaultdict[str, set[str]] = defaultdict(set)
    for label, path, source_file, _ in last_positions(history):
        labels[path].add(label)
        yield label, path, source_file
    for home in homes:
        for artifact in home.artifacts:
            for label in labels[artifact.home_path]:
                yield label, artifact.home_path, artifact.source_file
