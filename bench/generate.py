"""Make homes as the real programs leave them: `python -m bench.generate OUT --megabytes 1000`.

The same flags give the same tree, byte for byte, with the same modification times: OUT/<user>/ with what Continue
writes (`bench.homes`) and, in a share of the homes, what PearAI writes (`bench.pearai_home`).
"""

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

from bench.files import touch
from bench.homes import ContinueFiles, Home
from bench.pearai_home import PearaiFiles
from bench.sizes import LAST_MS, Made, Sizes, add_flags, read_flags
from bench.texts import Texts


def generate(out: Path, sizes: Sizes) -> Made:
    """Write homes into the directory `out`, which is made if it is missing."""
    texts = Texts(sizes.seed, min(12_000, 500 + int(sizes.megabytes * 60)))
    made = Made()
    for number, share in enumerate(_shares(sizes), 1):
        home = Home(out / f"user{number:03}", sizes, texts, made)
        # As many of the first homes as their share says, for any number of them.
        has_pearai = round(number * sizes.pearai_share) > round((number - 1) * sizes.pearai_share)
        ContinueFiles(home).write(share / 2 if has_pearai else share)
        if has_pearai:
            PearaiFiles(home).write(share / 2)
        folders = (path for path in home.path.rglob("*") if path.is_dir())
        touch((*folders, home.path, out), LAST_MS)
        made.homes += 1
    return made


def _shares(sizes: Sizes) -> list[float]:
    """Bytes of session files of each home."""
    total = sizes.megabytes * 1e6
    if sizes.homes:
        return [total / sizes.homes] * sizes.homes
    rng = random.Random(f"homes {sizes.seed}")
    shares: list[float] = []
    while (left := total - sum(shares)) > 35e6:
        shares.append(rng.uniform(5e6, 30e6))
    return [*shares, left]


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line, write the homes, print one line."""
    parser = argparse.ArgumentParser(prog="bench.generate", description="Make homes with seeded session files.")
    parser.add_argument("out", type=Path, help="directory to write into; it must be empty or missing")
    add_flags(parser)
    arguments = parser.parse_args(words)
    if arguments.out.exists() and any(arguments.out.iterdir()):
        parser.error(f"{arguments.out} is not empty")
    made = generate(arguments.out, read_flags(arguments))
    counts = f"{made.homes} homes, {made.files} session files ({len(made.damaged)} damaged), {made.items} items"
    print(f"{counts}, {made.size / 1e6:.1f} MB, and {made.event_bytes / 1e6:.1f} MB of event files")


if __name__ == "__main__":
    main()
