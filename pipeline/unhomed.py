"""Problems that belong to no home: of archives, of manifests, of members outside every home; and of a home as such."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

import polars as pl

from pipeline.batch import Taken
from pipeline.model import Collection
from pipeline.source import Problem
from pipeline.tables.inventory import PROBLEMS

DIED = Problem(0, "unreadable", "parser: unreadable (unreadable)", "a worker died")
"""The loss of a home."""
UNLISTED = Problem(0, "unreadable", "parser: unreadable (unreadable)", "not listed")
"""The loss of a directory that may be a home, or hold homes."""

Row = dict[str, object]


def problems(collections: Sequence[Collection], failed: Iterable[Taken], ids: Mapping[int, str]) -> pl.DataFrame:
    """Rows of the table `problems`: of what belongs to no home, of directories that could not be listed, and of homes
    over which a worker died.

    `ids` has the collections' ids by their numbers. A counter tells apart rows of a collection that say the same; two
    collections of one id are one, and may give rows of one key.
    """
    found = [
        (number, _row(ids[number], each.host, None, (path, problem)))
        for number, each in enumerate(collections)
        for path, problem in each.problems
    ]
    found.extend(
        (number, _row(ids[number], each.host, None, (path, UNLISTED)))
        for number, each in enumerate(collections)
        for path in each.closed
    )
    found.extend(
        (taken.collection, _row(ids[taken.collection], taken.home.host, taken.home.user, (None, DIED)))
        for taken in failed
    )
    seen: Counter[tuple[int, str]] = Counter()
    for number, row in found:
        own = str(row["row_id"])
        seen[number, own] += 1
        row["row_id"] = sha256(f"{own}\0{seen[number, own]}".encode()).hexdigest()[:32]
    return pl.DataFrame([row for _, row in found], schema=PROBLEMS.polars)


def _row(collection_id: str, host: str | None, user: str | None, about: tuple[str | None, Problem]) -> Row:
    """A row, with what its key is made of in the place of the key."""
    path, problem = about
    told = (collection_id, path or "", str(problem.position), problem.reason, problem.text or "")
    return {
        "host": host,
        "user": user,
        "reason": problem.reason,
        "lost": problem.text is not None,
        "detail": problem.detail,
        "bytes": problem.size,
        "source_file": path,
        "source_line": problem.position,
        "row_id": "\0".join((*told, *([user] if user else []))),
        "collection_id": collection_id,
        "current": True,
    }
