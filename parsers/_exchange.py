"""One model request and its reply, by which a session's prompt logs and the events of requests find each other."""

from parsers._json import Json


def exchange(prompt: Json, completion: Json) -> int | None:
    """Return the hash of a request and its reply, of this process; null where one of them is no text."""
    if isinstance(prompt, str) and isinstance(completion, str):
        return hash((prompt, completion))
    return None


class Hashed:
    """What stands for a text of which the hash alone is kept, which is its own; null for a value that is no text."""

    __slots__ = ("hash",)

    def __init__(self, value: Json) -> None:
        self.hash = hash(value) if isinstance(value, str) else None

    def __hash__(self) -> int:
        return self.hash or 0


def exchange_of(prompt: Hashed | None, completion: Hashed | None) -> int | None:
    """Return what `exchange` gives for the texts that the two stand for."""
    if prompt is None or completion is None or prompt.hash is None or completion.hash is None:
        return None
    return hash((prompt, completion))
