"""Lay the fixtures out with what git does not keep: times, empty folders and folders named `.git`.

`python -m tests.layout corpus/homes DEST` does it by hand.
"""

import os
import shutil
import sys
from decimal import Decimal
from functools import cache
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"


def lay_out(part: str, dest: Path) -> Path:
    """Copy a part of the fixtures (`corpus/homes`, `cases/<case>` ...) to `dest`, and return `dest`.

    Times come from the set's `MTIMES.tsv`; `dot-git` becomes `.git`. Files of the copy can be written.
    """
    collection, _, below = part.partition("/")
    shutil.copytree(FIXTURES / part, dest, symlinks=True, copy_function=shutil.copyfile, dirs_exist_ok=True)
    for time_ns, is_folder, path in _times(collection):
        if not path.is_relative_to(below):
            continue
        copy = dest / path.relative_to(below)
        if is_folder:
            copy.mkdir(parents=True, exist_ok=True)
        os.utime(copy, ns=(time_ns, time_ns))
    for folder in sorted(dest.rglob("dot-git")):
        folder.rename(folder.with_name(".git"))
    return dest


@cache
def _times(collection: str) -> tuple[tuple[int, bool, Path], ...]:
    """Modification time (ns since 1970), is it a folder, and path, of a set's files and empty folders."""
    lines = (FIXTURES / collection / "MTIMES.tsv").read_text(encoding="utf-8").splitlines()
    fields = [line.split("\t", 2) for line in lines]
    return tuple((int(Decimal(seconds) * 10**9), kind == "dir", Path(path)) for seconds, kind, path in fields)


if __name__ == "__main__":
    lay_out(sys.argv[1], Path(sys.argv[2]))
