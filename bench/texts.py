"""Seeded pools of texts that compress like real ones: prose of several scripts, code, output."""

import base64
import random
import unicodedata
from collections.abc import Callable

from bench import words


class _Draw(dict[str, str]):
    """Fields of a pattern: a list's next random word; a field of upper case keeps its first one."""

    def __init__(self, rng: random.Random, lists: dict[str, list[str]], fixed: dict[str, str] | None = None) -> None:
        super().__init__(fixed or {})
        self._random = rng.random
        self._lists = lists

    def __missing__(self, key: str) -> str:
        options = self._lists[key.lower()]
        word = options[int(self._random() * len(options))]
        if key.isupper():
            self[key] = word
        return word


class Texts:
    """Texts of every kind, cut from pools that are made once.

    `size` is the number of sentences of a language, functions of a suffix and blocks of output. What a method
    returns depends on the pools' seed and on the state of its `rng`.
    """

    def __init__(self, seed: int, size: int) -> None:
        rng = random.Random(f"texts {seed}")
        self._names = [_identifier(rng) for _ in range(4000)]
        self._lists = _lists(rng, self._names)
        self._sentences = {"en": self._fill(rng, _english(rng), {}, size)}
        for language, (patterns, own) in words.FOREIGN.items():
            names = ["".join(rng.sample(own["u"], rng.randint(2, 3))) for _ in range(800)]
            self._sentences[language] = self._fill(rng, patterns, own | {"u": names}, size // 2)
        self._sentences["fr"] = [unicodedata.normalize("NFD", text) for text in self._sentences["fr"]]
        self._functions = {suffix: [self._function(rng, suffix) for _ in range(size)] for suffix in words.CODE}
        self._blocks = [self._block(rng) for _ in range(size)]
        self._pixels = base64.b64encode(rng.randbytes(150_000)).decode()

    def prose(self, rng: random.Random, sentences: int, language: str) -> str:
        """A text of a number of sentences, in paragraphs of about three."""
        pool = self._sentences[language]
        parts = []
        for _ in range(sentences):
            parts.append(pool[int(rng.random() * len(pool))])
            parts.append("\n\n" if rng.random() < 0.3 else " ")
        return "".join(parts[:-1])

    def title(self, rng: random.Random, language: str) -> str:
        """A short text without a full stop."""
        return self.prose(rng, 1, language)[:40].rstrip(" .?。`")

    def source(self, rng: random.Random, suffix: str, functions: int) -> str:
        """A source file of a number of functions."""
        pool = self._functions[suffix]
        return "".join(pool[int(rng.random() * len(pool))] for _ in range(functions))

    def output(self, rng: random.Random, characters: int) -> str:
        """What a command prints: at least so many characters."""
        parts, length = [], 0
        while length < characters:
            parts.append(self._blocks[int(rng.random() * len(self._blocks))])
            length += len(parts[-1])
        return "".join(parts)

    def reply(self, rng: random.Random, language: str) -> str:
        """An answer in Markdown: prose, now and then a list, a block of code, an emoji."""
        text = self.prose(rng, 1 + int(rng.expovariate(0.12)), language)
        if rng.random() < 0.25:
            text += "\n\n" + "\n".join(f"- **{self.name(rng)}**: {self.prose(rng, 1, language)}" for _ in range(4))
        if rng.random() < 0.35:
            suffix = rng.choice(list(words.CODE))
            text += f"\n\n```{suffix} src/{self.name(rng)}.{suffix}\n{self.source(rng, suffix, 1)}```"
        return f"{text} {rng.choice(words.EMOJI)}" if rng.random() < 0.15 else text

    def name(self, rng: random.Random) -> str:
        """An identifier."""
        return self._names[int(rng.random() * len(self._names))]

    def image(self, rng: random.Random, characters: int) -> str:
        """A picture as a data URI; at most 190,000 characters."""
        start = rng.randrange(max(1, len(self._pixels) - characters))
        return f"data:image/png;base64,iVBORw0KGgo{self._pixels[start : start + characters]}"

    def _fill(self, rng: random.Random, patterns: list[str], own: dict[str, list[str]], size: int) -> list[str]:
        draw = _Draw(rng, self._lists | own)
        texts = [rng.choice(patterns).format_map(draw) for _ in range(max(20, size))]
        return [text[:1].upper() + text[1:] for text in texts]

    def _function(self, rng: random.Random, suffix: str) -> str:
        first, body, last = words.CODE[suffix]
        draw = _Draw(rng, self._lists | {"t": words.TYPES[suffix]})
        lines = rng.choices(body, k=rng.randint(2, 14))
        return "".join(line.format_map(draw) for line in (first, *lines, last))

    def _block(self, rng: random.Random) -> str:
        draw = _Draw(rng, self._lists)
        lines = rng.choice(words.OUTPUT)
        return "".join(rng.choice(lines).format_map(draw) for _ in range(rng.randint(3, 25)))


def _english(rng: random.Random) -> list[str]:
    """Patterns of sentences: clauses and what joins them."""
    patterns = []
    for _ in range(3000):
        parts = [rng.choice(words.CLAUSES)]
        for _ in range(rng.choice([0, 1, 1, 2])):
            parts += rng.choice(words.LINKS), rng.choice(words.CLAUSES)
        patterns.append("".join(parts) + rng.choice("....?"))
    return patterns


def _identifier(rng: random.Random) -> str:
    parts = [rng.choice(words.NOUNS) for _ in range(rng.choice([1, 2, 2, 3]))]
    if rng.random() < 0.5:
        parts.insert(0, rng.choice(words.VERBS).rstrip("s"))
    return "_".join(parts) if rng.random() < 0.6 else parts[0] + "".join(part.title() for part in parts[1:])


def _lists(rng: random.Random, names: list[str]) -> dict[str, list[str]]:
    """Lists of words for the patterns' fields, by letter."""

    def many(make: Callable[[], str], count: int) -> list[str]:
        return [make() for _ in range(count)]

    def camel() -> str:
        return "".join(part.title() for part in rng.sample(words.NOUNS, 2))

    def path() -> str:
        return f"src/{rng.choice(words.NOUNS)}/{rng.choice(names)}.{rng.choice(list(words.CODE))}"

    local = many(lambda: rng.choice(words.NOUNS)[: rng.randint(3, 9)], 200)
    return {
        "a": words.ADJECTIVES,
        "c": many(camel, 600),
        "d": many(lambda: str(int(10 ** rng.uniform(0, 4))), 3000),
        "e": [f"{number:02}" for number in range(60)],
        "f": many(path, 1500),
        "h": many(lambda: f"{rng.getrandbits(32):08x}", 8000),
        "i": names,
        "n": words.NOUNS,
        "p": words.PREPOSITIONS,
        "r": words.ADVERBS,
        "v": words.VERBS,
        "w": many(lambda: "".join(rng.sample(words.STEMS, 2)), 800),
        "x": local,
        "y": local,
        "z": local,
    }
