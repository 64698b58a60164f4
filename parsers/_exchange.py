"""One model request and its reply, by which a session's prompt logs and the events of requests find each other."""

from parsers._json import Json


def side(text: Json) -> int | None:
    """Return the hash of a request or of a reply, of this process; null for what is no text."""
    return hash(text) if isinstance(text, str) else None


def of_sides(prompt: int | None, completion: int | None) -> int | None:
    """Return the hash of a request and its reply by those of the two; null where one of them is no text."""
    return None if prompt is None or completion is None else hash((prompt, completion))


def exchange(prompt: Json, completion: Json) -> int | None:
    """Return the hash of a request and its reply, of this process; null where one of them is no text."""
    return of_sides(side(prompt), side(completion))
