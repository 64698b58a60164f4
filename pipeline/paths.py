"""Paths: as text, as a place's identity, and what a path template reads from them."""

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

FIELDS = ("host", "user", "collected")
"""What a path template can name."""

_LOOKS_ESCAPED = re.compile(r"\\(?=x[89a-f][0-9a-f]|x5cx)")
_FIELD = re.compile(r"\{([^{}]*)\}")
_SECOND, _MILLISECOND, _MICROSECOND, _LABEL = 10, 13, 16, 9
"""Digits of a number of seconds, milliseconds, microseconds since 1970; most digits of a label."""
_DIGITS = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
_YEARS = range(2000, 2100)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def as_text(path: str) -> str:
    """A path as text: bytes that are not UTF-8 become `\\xNN`, so that it can be stored and printed.

    Two paths never give one text: a back slash in front of what looks like such an escape is written as
    `\\x5c`.
    """
    if path.isascii() and "\\" not in path:
        return path
    return os.fsencode(_LOOKS_ESCAPED.sub(r"\\x5c", path)).decode("utf-8", "backslashreplace")


def resolved(path: Path) -> Path:
    """An absolute path without links: of one that leads into a circle as far as that, where `resolve` raises."""
    return Path(os.path.realpath(path))


def joined(directory: str, *names: str) -> str:
    """The path of what lies below a directory."""
    return "/".join((directory.rstrip("/"), *names)) if names else directory


def place_identity(place: str) -> str:
    """Identity of a home whose host is not known: the absolute real path of the place it was read from."""
    return f"place\0{as_text(place)}"  # one NUL, and the other form has two: never equal


def host_identity(host: str, user: str | None, parts: Iterable[str]) -> str:
    """Identity of a home whose host is known: host, user, and its path on the host, given as components."""
    return "\0".join((host, user or "", as_text("/" + "/".join(parts))))


@dataclass(frozen=True, slots=True)
class Template:
    """A path template such as `{host}/home/{user}`: components that name a field or compare exactly."""

    components: tuple[str, ...]
    fields: tuple[str | None, ...]

    @classmethod
    def parse(cls, text: str) -> "Template":
        """Read a template. Raises ValueError, with one line, for one that cannot be meant."""
        components = tuple(part for part in text.split("/") if part)
        matches = [_FIELD.fullmatch(part) for part in components]
        fields = tuple(match[1] if match else None for match in matches)
        named = [field for field in fields if field is not None]
        for component, field in zip(components, fields, strict=True):
            if field is None and _FIELD.search(component):
                raise ValueError(f"path template: in {component!r} the braces are not the whole component")
            if field is not None and field not in FIELDS:
                raise ValueError(f"path template: {component} is none of {{host}}, {{user}}, {{collected}}")
        if not named or len(set(named)) < len(named):
            raise ValueError(f"path template: {text!r} must name {{host}}, {{user}} or {{collected}} once")
        return cls(components, fields)

    def match(self, parts: Sequence[str]) -> dict[str, int]:
        """Positions of the fields in a path of these components; nothing where the path does not match."""
        if len(parts) != len(self.components):
            return {}
        for part, component, field in zip(parts, self.components, self.fields, strict=True):
            if field is None and part != component:
                return {}
        return {field: at for at, field in enumerate(self.fields) if field is not None}


def collected_ms(label: str) -> int | None:
    """When something was collected (ms since 1970, UTC), by a component of its path; null if it is no time.

    ISO 8601 (also without separators, or without a day), or a number of seconds, milliseconds or
    microseconds. A smaller whole number is a label that orders collections: so many milliseconds, before
    every real time.
    """
    if re.fullmatch(r"[0-9]+", label):
        return _number(label)
    try:
        time = datetime.fromisoformat(f"{label}-01" if re.fullmatch(r"[0-9]{4}-[0-9]{2}", label) else label)
    except ValueError:
        return None
    return _milliseconds(time)


def _number(digits: str) -> int | None:
    number, length = int(digits), len(digits)
    with suppress(KeyError, ValueError):
        time = _milliseconds(datetime.strptime(digits, _DIGITS[length]).replace(tzinfo=UTC))
        if time is not None:
            return time
    scaled = {_SECOND: number * 1000, _MILLISECOND: number, _MICROSECOND: number // 1000}
    return number if length <= _LABEL else scaled.get(length)


def _milliseconds(time: datetime) -> int | None:
    """Milliseconds since 1970 of a time that a collection can have."""
    aware = time if time.tzinfo else time.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(milliseconds=1) if aware.year in _YEARS else None
