"""Measure a lake over time: `python -m bench.nights [--homes 20] [--megabytes 20] [--nights 60] [--changed 5]`.

Generated homes are built into a lake night after night; before each some sessions of every home go on by a turn. What a
night takes should follow from what changed, not from how many nights there were.
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import orjson

from bench.files import pretty
from bench.generate import generate
from bench.measure import Measured
from bench.run import lake_rows, run_step, tell
from bench.sizes import add_flags, read_flags

FIRST = date(2026, 12, 1)
"""The first night: later than all that is generated."""
TOLD = 10
"""Nights of which one is printed."""
INDEX = ".continue/sessions/sessions.json"


@dataclass(frozen=True, slots=True)
class Night:
    """A build: its number from 0, what it took, rows of the lake's timeline, size of its manifest in bytes."""

    number: int
    measured: Measured
    rows: int
    manifest: int


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line, make the homes, build them night after night, print the figures."""
    parser = argparse.ArgumentParser(prog="bench.nights", description="Measure nightly builds of the same homes.")
    add_flags(parser)
    parser.add_argument("--nights", type=int, default=60, help="how many nights (default 60)")
    parser.add_argument("--changed", type=int, default=5, help="sessions of a home that go on each night (default 5)")
    parser.set_defaults(homes=20, megabytes=20.0, items=8, long_share=0.0, damage_share=0.0)
    arguments = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="homelake-bench-") as folder:
        homes, lake = Path(folder) / "homes", Path(folder) / "lake"
        generate(homes, read_flags(arguments))
        rng, nights = random.Random(arguments.seed), list[Night]()
        for number in range(arguments.nights):
            if number % TOLD == 0:
                tell(f"night {number}")
            nights.append(_build(homes, lake, number))
            for home in sorted(homes.iterdir()):
                sessions = sorted(set(home.glob(".continue/sessions/*.json")) - {home / INDEX})
                for path in rng.sample(sessions, min(arguments.changed, len(sessions))):
                    _go_on(path, number)
        print(table(nights))


def _build(homes: Path, lake: Path, number: int) -> Night:
    options = ["--workers", "1", "--host", "box", "--collected-at", str(FIRST + timedelta(number))]
    measured = run_step([sys.executable, "-m", "pipeline", "build", str(homes), "-o", str(lake), *options], 1)
    return Night(number, measured, lake_rows(lake), (lake / "current/manifest.json").stat().st_size)


def _go_on(path: Path, number: int) -> None:
    """Have a session go on by a turn."""
    document = orjson.loads(path.read_bytes())
    for role, text in (("user", f"And what of night {number}?"), ("assistant", f"Night {number} was quiet.")):
        document["history"].append({"message": {"role": role, "content": text}, "contextItems": []})
    path.write_bytes(pretty(document))


def table(nights: Sequence[Night]) -> str:
    """The figures for people."""
    lines = ["night  wall s  peak MB      rows  manifest MB"]
    for night in nights[::TOLD]:
        peak = "-" if night.measured.peak is None else f"{night.measured.peak / 1e6:.0f}"
        figures = f"{night.measured.seconds:>6.2f}  {peak:>7}  {night.rows:>8}  {night.manifest / 1e6:>11.2f}"
        lines.append(f"{night.number:>5}  {figures}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
