"""Make homes with sessions as the real programs write them: `python -m bench.generate OUT --megabytes 1000`.

The same flags give the same tree, byte for byte, with the same modification times: OUT/<user>/.continue/ with
`sessions/*.json` (two-space pretty print, no final line feed), the editor's event files `dev_data/0.2.0/*.jsonl`,
the index `sessions/sessions.json`, `config.yaml` and, where `cn` was used, `permissions.yaml`.
"""

import argparse
import math
import os
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TypeVar

import orjson

from bench.cn import TerminalSession
from bench.events import EventFiles
from bench.projects import Project, make_project, new_id
from bench.texts import Texts
from bench.tools import Json
from bench.vscode import EditorSession

Number = TypeVar("Number", int, float)

FIRST_MS = 1_746_057_600_000
"""1 May 2025 (UTC, ms); sessions begin in the 18 months from there on."""
SPAN_MS = 548 * 86_400_000
COUNTS_SINCE_MS = FIRST_MS + SPAN_MS // 2
"""Index entries state `messageCount` from here on."""

DAMAGE = ("cut", "empty", "zeros", "surrogate", "utf8", "nul")
"""Kinds of damage: cut in the middle, 0 bytes, NUL bytes alone; in a text half a surrogate pair as an escape,
a byte that is not UTF-8, the escape of U+0000."""
INSERTED = {"surrogate": b"\\ud83d", "utf8": b"\xff", "nul": b"\\u0000"}

CONFIG = """name: Local Config
version: 1.0.0
schema: v1
models:
  - name: GPT 4.1
    provider: openai
    model: gpt-4.1
"""
PERMISSIONS = """# tool permissions
allow:
  - Read
  - Bash(git*)
ask: []
exclude: []
"""


def _flag(default: Number, about: str) -> Number:
    return field(default=default, metadata={"help": about})


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much to make, and of what; every field is a flag of the command line."""

    megabytes: float = _flag(1000.0, "size of all session files together (MB)")
    homes: int = _flag(0, "number of homes; 0: as many as homes of 5 to 30 MB give")
    sessions: int = _flag(0, "sessions of a home at most; 0: as many as fill it")
    items: int = _flag(30, "items of a session, in the mean")
    long_share: float = _flag(0.01, "share of command outputs of 50 to 500 kB")
    damage_share: float = _flag(0.005, "share of session files that are damaged")
    terminal_share: float = _flag(0.5, "share of sessions of the command line program, the others being the editor's")
    foreign_share: float = _flag(0.25, "share of projects whose people do not write English")
    events: int = _flag(1, "whether there are the editor's event files, too: 1 or 0")
    seed: int = _flag(7, "seed of everything")


@dataclass(slots=True)
class Made:
    """What was made: counts, sizes of session files and of event files (bytes), kinds of damage by path."""

    homes: int = 0
    files: int = 0
    items: int = 0
    size: int = 0
    event_bytes: int = 0
    damaged: dict[Path, str] = field(default_factory=dict)


def generate(out: Path, sizes: Sizes) -> Made:
    """Write homes into the directory `out`, which is made if it is missing."""
    texts = Texts(sizes.seed, min(12_000, 500 + int(sizes.megabytes * 60)))
    made = Made()
    for number, share in enumerate(_shares(sizes), 1):
        _Home(out / f"user{number:03}", sizes, texts, made).write(share)
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


class _Home:
    """One home while it is written; counts go into `made`."""

    def __init__(self, path: Path, sizes: Sizes, texts: Texts, made: Made) -> None:
        self.path, self.sizes, self.texts, self.made = path, sizes, texts, made
        self.rng = random.Random(f"{path.name} {sizes.seed}")
        home = f"/home/{path.name}"
        self.projects = [
            make_project(self.rng, texts, home, sizes.foreign_share) for _ in range(self.rng.randint(2, 6))
        ]
        self.entries: list[Json] = []
        self.events = EventFiles(random.Random(f"events {path.name} {sizes.seed}"))

    def write(self, share: float) -> None:
        """Write session files of about `share` bytes, and the files beside them."""
        folder = self.path / ".continue" / "sessions"
        folder.mkdir(parents=True)
        start, count = self.made.size, 0
        while (left := start + share - self.made.size) > 0:
            self._session(folder, left)
            count += 1
            if count == self.sizes.sessions:
                break
        last = FIRST_MS + SPAN_MS
        _write(folder / "sessions.json", _pretty(self._index()), last)
        _write(folder.parent / "config.yaml", CONFIG.encode(), FIRST_MS)
        if self.sizes.terminal_share:
            _write(folder.parent / "permissions.yaml", PERMISSIONS.encode(), FIRST_MS)
        events = self.events.files(folder.parent / "dev_data" / "0.2.0") if self.sizes.events else {}
        for place, data in events.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            _write(place, data, last)
            self.made.event_bytes += len(data)
        made = {directory for place in events for directory in (place.parent, place.parent.parent)}
        for directory in (*made, folder, folder.parent, self.path, self.path.parent):
            os.utime(directory, ns=(last * 1_000_000, last * 1_000_000))
        self.made.homes += 1

    def _session(self, folder: Path, room: float) -> None:
        rng, sizes = self.rng, self.sizes
        start = FIRST_MS + rng.randrange(SPAN_MS)
        project: Project = rng.choice(self.projects)
        kind = TerminalSession if rng.random() < sizes.terminal_share else EditorSession
        session = kind(rng, self.texts, project, start)
        items = rng.lognormvariate(math.log(sizes.items) - 0.4, 0.9)
        document = session.document(int(min(items, 10 * sizes.items, room / 6000)) + 1, sizes.long_share)
        data = _pretty(document)
        path = folder / f"{document['sessionId']}.json"
        damage = rng.choice(DAMAGE) if rng.random() < sizes.damage_share else None
        if damage:
            self.made.damaged[path] = damage
            data = _damaged(data, damage, rng)
        _write(path, data, session.end_ms)
        self.made.files += 1
        self.made.items += len(document["history"])
        self.made.size += len(data)
        if isinstance(session, EditorSession):
            self.events.add(document["sessionId"], session.events)
        if rng.random() > (0.5 if damage == "cut" else 0.01):
            self._list(document, start)

    def _list(self, document: Json, start: int) -> None:
        entry = {
            "sessionId": document["sessionId"],
            "title": document["title"],
            "dateCreated": str(start),
            "workspaceDirectory": document["workspaceDirectory"],
        }
        if start >= COUNTS_SINCE_MS:
            roles = Counter(item["message"]["role"] for item in document["history"])
            entry["messageCount"] = roles["assistant"]
        self.entries.append(entry)

    def _index(self) -> list[Json]:
        """The entries in order of creation, with one in fifty of a session that was deleted since."""
        for entry in self.rng.sample(self.entries, (len(self.entries) + 49) // 50):
            later = str(int(entry["dateCreated"]) + self.rng.randrange(10**9))
            self.entries.append(entry | {"sessionId": new_id(self.rng), "dateCreated": later})
        return sorted(self.entries, key=lambda entry: int(entry["dateCreated"]))


def _pretty(document: Json | list[Json]) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def _damaged(data: bytes, kind: str, rng: random.Random) -> bytes:
    """A file's bytes after one kind of damage."""
    match kind:
        case "cut":
            return data[: rng.randrange(len(data) // 4, len(data))]
        case "empty":
            return b""
        case "zeros":
            return bytes(len(data))
    mark = b'"content": "'
    place = data.find(mark, rng.randrange(len(data) // 2))
    place = (place if place >= 0 else data.index(mark)) + len(mark)
    return data[:place] + INSERTED[kind] + data[place:]


def _write(path: Path, data: bytes, modified_ms: int) -> None:
    path.write_bytes(data)
    os.utime(path, ns=(modified_ms * 1_000_000, modified_ms * 1_000_000))


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add a flag for each field of `Sizes`."""
    for each in fields(Sizes):
        flag = f"--{each.name.replace('_', '-')}"
        about = f"{each.metadata['help']} (default {each.default})"
        parser.add_argument(flag, type=type(each.default), default=each.default, help=about)


def read_flags(arguments: argparse.Namespace) -> Sizes:
    """The sizes that the flags of `add_flags` state."""
    return Sizes(**{each.name: getattr(arguments, each.name) for each in fields(Sizes)})


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
