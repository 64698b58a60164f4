"""Time `orjson.loads` over session and event files: `python -m bench.baseline DIR` prints the seconds as JSON.

Each round reads and decodes one file after the other, of an event file one line after the other; the two are
timed apart, the result is dropped at once, and what does not decode counts as it is. All files are read once
before, to warm the page cache.
"""

import json
import statistics
import sys
import time
from pathlib import Path

import orjson

ROUNDS = 3


def session_files(folder: Path) -> list[Path]:
    """The session files of a directory of homes, without their indexes."""
    found = folder.glob("*/.continue/sessions/*.json")
    return sorted(path for path in found if path.name != "sessions.json")


def event_files(folder: Path) -> list[Path]:
    """The event files of a directory of homes."""
    return sorted(folder.glob("*/.continue/dev_data/*/*.jsonl"))


def measure(folder: Path) -> dict[str, float]:
    """Median seconds of reading (`read`) and decoding (`loads`); `files`, `bytes`, how many `failed`."""
    files = session_files(folder) + event_files(folder)
    size = sum(len(path.read_bytes()) for path in files)
    rounds = [_round(files) for _ in range(ROUNDS)]
    read, loads, failed = zip(*rounds, strict=True)
    return {
        "read": statistics.median(read),
        "loads": statistics.median(loads),
        "files": len(files),
        "bytes": size,
        "failed": failed[0],
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
