"""Measure a build on generated homes: `python -m bench.run [--megabytes 1000] [--workers 1,2] [--keep DIR]`.

In one run: `orjson.loads` over all session and event files on one core, then `homelake build` of the same homes into a
new lake for each number of workers, bound to as many cores. The page cache is warm for all of them.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow.parquet

from bench.baseline import KINDS, Figures, session_files
from bench.generate import generate
from bench.measure import Measured, cores, run_measured
from bench.sizes import Sizes, add_flags, read_flags

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Result:
    """One build: workers and the cores they had, seconds, peak memory, timeline rows, size (in bytes)."""

    workers: int
    cores: int | None
    seconds: float
    megabytes_per_second: float
    rows: int
    rows_per_second: float
    peak: int | None
    peak_rss: int | None
    memory_basis: str | None
    lake_bytes: int
    ratio: float
    """Wall time of the build divided by the time of `orjson.loads`."""


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line, make the homes, measure, print the figures."""
    parser = argparse.ArgumentParser(prog="bench.run", description="Measure a build on generated homes.")
    add_flags(parser)
    parser.add_argument("--workers", default="1,2", help="numbers of workers, with commas (default 1,2)")
    parser.add_argument("--keep", type=Path, help="keep the homes there; homes that are there already are used")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args(words)
    workers = [int(number) for number in arguments.workers.split(",")]
    with tempfile.TemporaryDirectory(prefix="homelake-bench-") as folder:
        scratch = Path(folder)
        homes = (arguments.keep or scratch / "homes").resolve()
        prepare(homes, read_flags(arguments))
        baseline = decode(homes)
        results = [build(homes, scratch / f"lake{number}", number, baseline) for number in workers]
    if arguments.json:
        print(json.dumps({"baseline": baseline, "builds": [asdict(result) for result in results]}, indent=2))
    else:
        print(table(baseline, results))


def prepare(homes: Path, sizes: Sizes) -> None:
    """Make the homes, unless there are some."""
    if not session_files(homes):
        tell(f"making {sizes.megabytes:.0f} MB of homes (seed {sizes.seed})")
        generate(homes, sizes)


def decode(homes: Path) -> Figures:
    """What `bench.baseline` measures, in a process of its own on one core."""
    tell("orjson.loads on one core")
    measured = run_step([sys.executable, "-m", "bench.baseline", str(homes)], 1)
    figures: Figures = json.loads(measured.output)
    return figures


def build(homes: Path, lake: Path, workers: int, baseline: Figures) -> Result:
    """Build a lake with a number of workers on as many cores."""
    tell(f"homelake build, workers {workers}")
    command = [sys.executable, "-m", "pipeline.cli", "build", str(homes), "-o", str(lake)]
    measured = run_step([*command, "--workers", str(workers)], workers)
    rows, size = lake_rows(lake), lake_size(lake)
    return Result(
        workers=workers,
        cores=min(workers, len(cores())) if cores() else None,
        seconds=measured.seconds,
        megabytes_per_second=baseline["bytes"] / 1e6 / measured.seconds,
        rows=rows,
        rows_per_second=rows / measured.seconds,
        peak=measured.peak,
        peak_rss=measured.peak_rss,
        memory_basis=measured.basis,
        lake_bytes=size,
        ratio=measured.seconds / baseline["loads"],
    )


def lake_rows(lake: Path) -> int:
    """Rows of a lake's timeline, by the metadata of its Parquet files."""
    files = sorted(lake.glob("current/timeline/*/*/*.parquet"))
    return sum(int(pyarrow.parquet.read_metadata(path).num_rows) for path in files)


def lake_size(lake: Path) -> int:
    """Size of the files of a lake's builds in bytes, each file once."""
    stats = [path.stat() for path in (lake / "builds").rglob("*") if path.is_file() and not path.is_symlink()]
    return sum({(stat.st_dev, stat.st_ino): stat.st_size for stat in stats}.values())


def table(baseline: Figures, results: Sequence[Result]) -> str:
    """The figures for people."""
    size, loads = baseline["bytes"] / 1e6, baseline["loads"]
    counts = f"{baseline['files']} files, {baseline['failed']} refused by orjson"
    lines = [
        f"input         {size:.1f} MB in {counts}",
        *(f"              {line}" for line in shares(baseline["kinds"])),
        f"orjson.loads  {loads:.2f} s, {size / loads:.0f} MB/s (reading: {baseline['read']:.2f} s)",
        "",
        "workers  cores  wall s    MB/s    rows/s      rows  peak MB  RSS MB  lake MB  ratio",
        *(_line(result) for result in results),
    ]
    basis = next((result.memory_basis for result in results), None)
    if basis:
        lines += ["", f"peak MB: {basis.upper()} of the whole process tree; ratio: wall time to orjson.loads"]
    return "\n".join(lines)


def shares(sizes: dict[str, int]) -> list[str]:
    """A line for each kind of file that is there: its size, and its share of all that is read."""
    total = sum(sizes.values())
    names = {kind.name: kind.name if kind.is_decoded else f"{kind.name} (not decoded)" for kind in KINDS}
    return [f"{size / 1e6:>8.1f} MB  {size / total:>6.1%}  {names[name]}" for name, size in sizes.items() if size]


def _line(result: Result) -> str:
    time = f"{result.seconds:>6.2f}  {result.megabytes_per_second:>6.1f}  {result.rows_per_second:>8.0f}"
    memory = f"{_mega(result.peak):>7}  {_mega(result.peak_rss):>6}  {result.lake_bytes / 1e6:>7.1f}"
    start = f"{result.workers:>7}  {result.cores or '-':>5}"
    return f"{start}  {time}  {result.rows:>8}  {memory}  {result.ratio:>5.2f}"


def _mega(size: int | None) -> str:
    return "-" if size is None else f"{size / 1e6:.0f}"


def run_step(command: Sequence[str], wanted: int) -> Measured:
    """Run one of the steps; its output ends the benchmark where it fails."""
    measured = run_measured(command, ROOT, wanted)
    if measured.code:
        raise SystemExit(f"{' '.join(command)} failed with {measured.code}:\n{measured.output[-4000:]}")
    return measured


def tell(text: str) -> None:
    """Say what goes on."""
    print(f"{text} ...", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
