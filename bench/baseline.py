"""Time `orjson.loads` over what a build decodes: `python -m bench.baseline DIR` prints the seconds as JSON.

Each round reads and decodes one file after the other, of an event file one line after the other; the two are
timed apart, the result is dropped at once, and what does not decode counts as it is. All files are read once
before, to warm the page cache. Logs, lists of tasks and indexes are not decoded.
"""

import json
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import orjson

ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file: its place below a home, whether it is a session file, whether it is JSON to be decoded."""

    name: str
    pattern: str
    is_session: bool = False
    is_decoded: bool = True


KINDS = (
    Kind("Continue sessions", ".continue/sessions/*.json", is_session=True),
    Kind("Continue events", ".continue/dev_data/*/*.jsonl"),
    Kind("Continue input history", ".continue/input_history.json"),
    Kind("Continue logs", ".continue/logs/cn*.log", is_decoded=False),
    Kind("PearAI chats", ".pearai/sessions/*.json", is_session=True),
    Kind("PearAI events", ".pearai/dev_data/*.jsonl"),
    Kind("PearAI tasks", ".config/PearAI/User/globalStorage/*/tasks/*/*.json", is_session=True),
    Kind("PearAI state", ".config/PearAI/User/globalStorage/state.vscdb", is_decoded=False),
    Kind("PearAI logs", ".config/PearAI/logs/*/window*/exthost/*/*-PearAI.log", is_decoded=False),
)
"""Everything of some size that a build reads."""


class Figures(TypedDict):
    """Median seconds of reading (`read`) and decoding (`loads`); decoded `files`, their `bytes`, how many `failed`.

    `kinds` has the bytes of all files by the name of their kind, decoded or not.
    """

    read: float
    loads: float
    files: int
    bytes: int
    failed: int
    kinds: dict[str, int]


def session_files(folder: Path) -> list[Path]:
    """The session files of a directory of homes, without their indexes: sessions, chats, files of tasks."""
    return [path for kind in KINDS if kind.is_session for path in files_of(kind, folder)]


def event_files(folder: Path) -> list[Path]:
    """The event files of a directory of homes."""
    return [path for kind in KINDS if kind.pattern.endswith(".jsonl") for path in files_of(kind, folder)]


def files_of(kind: Kind, folder: Path) -> list[Path]:
    """The files of a kind in a directory of homes."""
    return sorted(path for path in folder.glob(f"*/{kind.pattern}") if path.name != "sessions.json")


def measure(folder: Path) -> Figures:
    """Read and decode the files of a directory of homes."""
    found = {kind: files_of(kind, folder) for kind in KINDS}
    sizes = {kind: sum(path.stat().st_size for path in paths) for kind, paths in found.items()}
    files = [path for kind, paths in found.items() if kind.is_decoded for path in paths]
    for path in files:
        path.read_bytes()
    rounds = [_round(files) for _ in range(ROUNDS)]
    read, loads, failed = zip(*rounds, strict=True)
    return {
        "read": statistics.median(read),
        "loads": statistics.median(loads),
        "files": len(files),
        "bytes": sum(size for kind, size in sizes.items() if kind.is_decoded),
        "failed": failed[0],
        "kinds": {kind.name: size for kind, size in sizes.items()},
    }


def _round(files: list[Path]) -> tuple[float, float, int]:
    read = loads = 0.0
    failed = 0
    for path in files:
        before = time.perf_counter()
        data = path.read_bytes()
        between = time.perf_counter()
        documents = data.split(b"\n")[:-1] if path.suffix == ".jsonl" else [data]
        for document in documents:
            try:
                orjson.loads(document)
            except orjson.JSONDecodeError:
                failed += 1
        after = time.perf_counter()
        read += between - before
        loads += after - between
    return read, loads, failed


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
