"""Problems that belong to no home: of archives, of manifests, of members outside every home; and of a home as such."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import polars as pl

from pipeline import parts
from pipeline.batch import Taken
from pipeline.lake import reading
from pipeline.model import Collection
from pipeline.parts import Part
from pipeline.source import Problem
from pipeline.staging import conform
from pipeline.tables.inventory import PROBLEMS

DIED = Problem(0, "unreadable", "parser: unreadable (unreadable)", "a worker died")
"""The loss of a home."""

_PATH = f"{PROBLEMS.name}/00.parquet"


Row = dict[str, object]


def rows(collections: Sequence[Collection], failed: Iterable[Taken], ids: Mapping[int, str]) -> list[Row]:
    """Rows of the table `problems` of what belongs to no home, and of homes over which a worker died.

    `ids` has the collections' ids by their numbers. A counter tells apart rows of a collection that say the same; two
    collections of one id are one, and may give rows of one key.
    """
    found = [
        (number, _row(ids[number], each.host, None, (path, problem)))
        for number, each in enumerate(collections)
        for path, problem in each.problems
    ]
    found.extend(
        (taken.collection, _row(ids[taken.collection], taken.home.host, taken.home.user, (None, DIED)))
        for taken in failed
    )
    seen: Counter[tuple[int, str]] = Counter()
    for number, row in found:
        own = str(row["row_id"])
        seen[number, own] += 1
        row["row_id"] = sha256(f"{own}\0{seen[number, own]}".encode()).hexdigest()[:32]
    return [row for _, row in found]


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


def problems(folder: Path, found: Sequence[Row], lake: Path | None) -> list[Part] | None:
    """Put rows, and those of the build `lake`, as a batch would leave them. Null where they add none to these."""
    frame, known = conform(pl.DataFrame(found, schema=PROBLEMS.polars), PROBLEMS), PROBLEMS.empty()
    if lake is not None and (lake / _PATH).exists():
        with reading(lake / _PATH):
            known = conform(pl.read_parquet(lake / _PATH, glob=False), PROBLEMS)
        known = known.filter(pl.col("home_path").is_null())
    once = (
        pl.concat([known, frame])
        .sort("row_id", *PROBLEMS.polars, nulls_last=True)
        .unique("row_id", keep="first", maintain_order=True)
    )
    if lake is not None and once.equals(known.sort("row_id")):
        return None
    return parts.write(PROBLEMS, once, folder / "unhomed.arrow")
