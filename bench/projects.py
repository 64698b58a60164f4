"""What a generated session works on: a project with files that are read, searched and changed."""

import random
import urllib.parse
import uuid
from dataclasses import dataclass, field

from bench import words
from bench.texts import Texts


@dataclass(slots=True)
class Project:
    """A workspace: its `root` path, the language of its people, its files (text by path below the root)."""

    root: str
    language: str
    files: dict[str, str] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        """The root as a `file://` address."""
        return "file://" + urllib.parse.quote(self.root, safe="/:")

    def pick(self, rng: random.Random) -> tuple[str, str]:
        """Some file: its path and text."""
        path = rng.choice(list(self.files))
        return path, self.files[path]

    def change(self, rng: random.Random, texts: Texts) -> tuple[str, str, str, str]:
        """Change some lines of a file: its path, its text before, the lines found and their new text."""
        path, before = self.pick(rng)
        lines = before.split("\n")
        start = rng.randrange(max(1, len(lines) - 8))
        old = "\n".join(lines[start : start + rng.randint(2, 8)])
        indent = old[: len(old) - len(old.lstrip())]
        new = (
            old.replace(rng.choice(words.NOUNS), texts.name(rng)) + f"\n{indent}# {texts.prose(rng, 1, self.language)}"
        )
        self.files[path] = before.replace(old, new, 1)
        return path, before, old, new

    def add(self, rng: random.Random, texts: Texts) -> tuple[str, str]:
        """A new file: its path and text."""
        suffix = rng.choice(list(words.CODE))
        path = f"{rng.choice(['src', 'tests', 'lib'])}/{texts.name(rng)}.{suffix}"
        text = texts.source(rng, suffix, rng.randint(1, 7))
        if self.language != "en":
            text = f"/*\n{texts.prose(rng, rng.randint(2, 12), self.language)}\n*/\n{text}"
        self.files[path] = text
        return path, text

    def search(self, rng: random.Random) -> str:
        """Lines of some of the files, as a search prints them."""
        found = []
        for path in rng.sample(list(self.files), min(len(self.files), rng.randint(1, 8))):
            lines = self.files[path].split("\n")
            start = rng.randrange(len(lines))
            found.append(f"./{path}\n" + "\n".join("  " + line for line in lines[start : start + rng.randint(1, 12)]))
        return "\n\n".join(found)


def make_project(rng: random.Random, texts: Texts, home: str, foreign_share: float) -> Project:
    """A project below a home directory, with 12 to 40 files of mostly 1 to 6 kB."""
    foreign = rng.random() < foreign_share
    language = rng.choice(list(words.FOREIGN)) if foreign else "en"
    name = texts.name(rng).replace("_", "-")
    if foreign and rng.random() < 0.5:
        name = texts.title(rng, language).replace("/", " ")
    project = Project(f"{home}/work/{name}", language)
    for _ in range(rng.randint(12, 40)):
        project.add(rng, texts)
    return project


def new_id(rng: random.Random) -> str:
    """A random UUID of version 4."""
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def output_size(rng: random.Random, long_share: float) -> int:
    """Characters that a command prints: mostly a few hundred; a share of 50,000 to 500,000."""
    if rng.random() < long_share:
        return rng.randint(50_000, 500_000)
    return int(min(30_000, rng.lognormvariate(6.3, 1.2)))
