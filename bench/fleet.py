"""Measure a fleet: `python -m bench.fleet [--homes 500] [--megabytes 2000] [--keep DIR]`.

Each generated home is packed into an archive as a collector makes it: compressed tars, plain ones, zips. In one run:
`orjson.loads` over the same documents on one core, a build of all archives into a new lake with two workers, the same
build again, and once more after one home changed.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from bench.baseline import Figures
from bench.generate import generate
from bench.measure import Measured
from bench.packing import FORMS, pack
from bench.run import decode, lake_rows, lake_size, run_step, tell
from bench.sizes import add_flags, read_flags

WORKERS = 2


@dataclass(frozen=True, slots=True)
class Step:
    """A build: what it is, what it took, the lake that it left: rows of the timeline, files, bytes."""

    name: str
    measured: Measured
    rows: int
    files: int
    size: int


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line, make the fleet, measure, print the figures."""
    parser = argparse.ArgumentParser(prog="bench.fleet", description="Measure builds of a fleet of archives.")
    add_flags(parser)
    parser.set_defaults(homes=500, megabytes=1400.0, pearai_share=0.2)
    parser.add_argument("--keep", type=Path, help="keep homes and archives there; those that are there are used")
    arguments = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="homelake-bench-") as folder:
        scratch = (arguments.keep or Path(folder)).resolve()
        homes, fleet, lake = scratch / "homes", scratch / "fleet", Path(folder) / "lake"
        if not fleet.exists():
            tell(f"making {arguments.homes} homes (seed {arguments.seed})")
            generate(homes, read_flags(arguments))
            tell("packing them")
            for number, home in enumerate(sorted(homes.iterdir())):
                pack(home, _archive(fleet, number), f"host{number:03}")
        baseline = decode(homes)
        steps = [_build(name, fleet, lake) for name in ("new lake", "nothing changed")]
        _change(homes, fleet)
        steps.append(_build("one home changed", fleet, lake))
        print(table(baseline, sum(file.stat().st_size for file in fleet.iterdir()), steps))


def _archive(fleet: Path, number: int) -> Path:
    return fleet / f"host{number:03}.{FORMS[number % len(FORMS)]}"


def _build(name: str, fleet: Path, lake: Path) -> Step:
    tell(f"homelake build, {name}")
    command = [sys.executable, "-m", "pipeline.cli", "build", str(fleet), "-o", str(lake), "--workers", str(WORKERS)]
    measured = run_step(command, WORKERS)
    files = sum(1 for _ in (lake / "current").resolve().rglob("*.parquet"))
    return Step(name, measured, lake_rows(lake), files, lake_size(lake))


def _change(homes: Path, fleet: Path) -> None:
    """Have the home in the middle hold another session, and collect it again a day later."""
    number = len(list(homes.iterdir())) // 2
    home = sorted(homes.iterdir())[number]
    session = next(path for path in sorted(home.glob(".continue/sessions/*.json")) if path.name != "sessions.json")
    history = [{"message": {"role": "user", "content": "What changed since yesterday?"}, "contextItems": []}]
    document = {"sessionId": "new", "title": "New", "workspaceDirectory": "/srv/app", "history": history}
    session.with_name("new.json").write_bytes(orjson.dumps(document))
    pack(home, _archive(fleet, number), f"host{number:03}", days=1)
    session.with_name("new.json").unlink()


def table(baseline: Figures, packed: int, steps: Sequence[Step]) -> str:
    """The figures for people."""
    loads, size = baseline["loads"], sum(baseline["kinds"].values())
    lines = [
        f"input         {size / 1e6:.1f} MB, packed {packed / 1e6:.1f} MB",
        f"orjson.loads  {loads:.2f} s of {baseline['bytes'] / 1e6:.1f} MB, one core",
        f"workers       {WORKERS}",
        "",
        "build               wall s    MB/s  peak MB  to loads  to new      rows  files  lake MB",
    ]
    return "\n".join([*lines, *(_line(step, size, loads, steps[0].measured.seconds) for step in steps)])


def _line(step: Step, size: int, loads: float, first: float) -> str:
    seconds = step.measured.seconds
    peak = "-" if step.measured.peak is None else f"{step.measured.peak / 1e6:.0f}"
    times = (
        f"{seconds:>6.2f}  {size / 1e6 / seconds:>6.1f}  {peak:>7}  {seconds / loads:>8.2f}  {seconds / first:>6.1%}"
    )
    return f"{step.name:<18}  {times}  {step.rows:>8}  {step.files:>5}  {step.size / 1e6:>7.1f}"


if __name__ == "__main__":
    main()
