"""Problems that belong to no home: of archives, of manifests, of members outside every home."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import polars as pl

from pipeline import parts
from pipeline.batch import Result
from pipeline.model import Collection
from pipeline.staging import conform
from pipeline.tables.inventory import PROBLEMS

_PATH = f"{PROBLEMS.name}/00.parquet"


def problems(folder: Path, collections: Sequence[Collection], ids: Mapping[str, str], lake: Path | None) -> Result:
    """Rows of the table `problems`, as a batch would leave them: of the build `lake`, and of `collections`.

    `ids` has the collections' ids by their numbers.
    """
    rows = [row for number, found in enumerate(collections) for row in _rows(found, str(number), ids[str(number)])]
    frame = conform(pl.DataFrame(rows, schema=PROBLEMS.polars), PROBLEMS)
    if lake is not None and (lake / _PATH).exists():
        known = conform(pl.read_parquet(lake / _PATH, glob=False), PROBLEMS).filter(pl.col("home_path").is_null())
        frame = pl.concat([known, frame]).unique("row_id", keep="first", maintain_order=True)
    made = parts.write(PROBLEMS, frame, folder / "unhomed.arrow")
    counts = Counter({(reason, lost): n for reason, lost, n in frame.group_by("reason", "lost").len().iter_rows()})
    return Result(-1, 0, made, problems=counts, tables=Counter({PROBLEMS.name: frame.height}))


def _rows(found: Collection, number: str, collection_id: str) -> Iterator[dict[str, object]]:
    """Rows of a collection; a counter tells apart those that say the same."""
    seen: Counter[str] = Counter()
    for path, problem in found.problems:
        own = "\0".join((collection_id, path or "", str(problem.position), problem.reason, problem.text or ""))
        seen[own] += 1
        yield {
            "host": found.host,
            "reason": problem.reason,
            "lost": problem.text is not None,
            "detail": problem.detail,
            "bytes": problem.size,
            "source_file": path,
            "source_line": problem.position,
            "row_id": sha256(f"{own}\0{seen[own]}".encode()).hexdigest()[:32],
            "collection_id": number,
            "current": True,
        }
