"""One model request and its reply, by which a session's prompt logs and the events of requests find each other."""

from parsers._json import Json


def exchange(prompt: Json, completion: Json) -> int | None:
    """Return the hash of a request and its reply, of this process; null where one of them is no text."""
    if isinstance(prompt, str) and isinstance(completion, str):
        return hash((prompt, completion))
    return None
