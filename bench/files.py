"""Files as the generator writes them: printed as the programs do, with set times, some of them damaged."""

import os
import random
from collections.abc import Iterable
from pathlib import Path

import orjson

from bench.tools import Json

DAMAGE = ("cut", "empty", "zeros", "surrogate", "utf8", "nul")
"""Kinds of damage: cut in the middle, 0 bytes, NUL bytes alone; in a text half a surrogate pair as an escape,
a byte that is not UTF-8, the escape of U+0000."""
INSERTED = {"surrogate": b"\\ud83d", "utf8": b"\xff", "nul": b"\\u0000"}
_MARKS = (b'"content": "', b'"content":"', b'"text":"', b'"path":"')
"""What texts of session files begin with: pretty-printed or compact ones, messages of tasks, lists of files."""


def pretty(document: Json | list[Json]) -> bytes:
    """A document as Continue prints it, with two blanks a level."""
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def compact(document: Json | list[Json]) -> bytes:
    """A document as PearAI prints it, without blanks."""
    return orjson.dumps(document)


def damaged(data: bytes, kind: str, rng: random.Random) -> bytes:
    """A file's bytes after one kind of damage."""
    match kind:
        case "cut":
            return data[: rng.randrange(len(data) // 4, len(data))]
        case "empty":
            return b""
        case "zeros":
            return bytes(len(data))
    mark = next(mark for mark in _MARKS if mark in data)
    place = data.find(mark, rng.randrange(len(data) // 2))
    place = (place if place >= 0 else data.index(mark)) + len(mark)
    return data[:place] + INSERTED[kind] + data[place:]


def write(path: Path, data: bytes, modified_ms: int) -> None:
    """Write a file, and the directories above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    touch((path,), modified_ms)


def touch(paths: Iterable[Path], modified_ms: int) -> None:
    """Set times of files and directories."""
    for path in paths:
        os.utime(path, ns=(modified_ms * 1_000_000, modified_ms * 1_000_000))
