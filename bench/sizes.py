"""How much the generator makes, by the flags of its command line, and what it made."""

import argparse
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TypeVar

Number = TypeVar("Number", int, float)

FIRST_MS = 1_746_057_600_000
"""1 May 2025 (UTC, ms); sessions begin in the 18 months from there on."""
SPAN_MS = 548 * 86_400_000
LAST_MS = FIRST_MS + SPAN_MS


def _flag(default: Number, about: str) -> Number:
    return field(default=default, metadata={"help": about})


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much to make, and of what; every field is a flag of the command line."""

    megabytes: float = _flag(1000.0, "size of all session files together, with PearAI's chats and tasks (MB)")
    homes: int = _flag(0, "number of homes; 0: as many as homes of 5 to 30 MB give")
    sessions: int = _flag(0, "sessions of a kind in a home at most; 0: as many as fill it")
    items: int = _flag(30, "items of a session, in the mean")
    long_share: float = _flag(0.01, "share of command outputs of 50 to 500 kB")
    damage_share: float = _flag(0.005, "share of session files that are damaged")
    terminal_share: float = _flag(0.5, "share of sessions of the command line program, the others being the editor's")
    foreign_share: float = _flag(0.25, "share of projects whose people do not write English")
    events: int = _flag(1, "whether there are the editors' event files, too: 1 or 0")
    pearai_share: float = _flag(
        0.0, "share of homes with PearAI beside Continue; of their session files a quarter is its chats, one its tasks"
    )
    seed: int = _flag(7, "seed of everything")


@dataclass(slots=True)
class Made:
    """What was made: counts, sizes of session files and of event files (bytes), kinds of damage by path.

    Session files are Continue's sessions, PearAI's chats and the files of its tasks.
    """

    homes: int = 0
    files: int = 0
    items: int = 0
    size: int = 0
    event_bytes: int = 0
    damaged: dict[Path, str] = field(default_factory=dict)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add a flag for each field of `Sizes`."""
    for each in fields(Sizes):
        flag = f"--{each.name.replace('_', '-')}"
        about = f"{each.metadata['help']} (default {each.default})"
        parser.add_argument(flag, type=type(each.default), default=each.default, help=about)


def read_flags(arguments: argparse.Namespace) -> Sizes:
    """The sizes that the flags of `add_flags` state."""
    return Sizes(**{each.name: getattr(arguments, each.name) for each in fields(Sizes)})
