"""JSON values: read strictly, refused by name, written as row texts have them."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from math import isfinite

import msgspec

from parsers._text import WHITE, Cleaner

Json = object

_SPACE = re.compile(r"[ \t\r\n]*")
_TOKENS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}\[\]]', re.DOTALL)
_CUT_WORD = re.compile(
    r"(\.|[eE][+-]?|t|tr|tru|f|fa|fal|fals|n|nu|nul|-|-?\d+\.|-?\d+(\.\d+)?[eE][+-]?|[\\u0-9a-fA-F]{1,6})$"
)


DEEPEST = 200
"""Levels of a value that is kept; the programs' own have about ten."""


class NotJsonError(ValueError):
    """NaN and the infinities, which Python's reader would take."""


class UncleanError(ValueError):
    """A value to be written as JSON holds a NUL, which the JSON would hide as an escape: it was not cleaned before."""


def _refuse(name: str) -> Json:
    raise NotJsonError(name)


def _integer(digits: str) -> Json:
    return int(digits) if len(digits) < 4000 else Decimal(digits)


def _fraction(digits: str) -> Json:
    value = float(digits)
    return value if isfinite(value) else Decimal(digits)


_ENCODER = json.JSONEncoder(ensure_ascii=False)
_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_fraction, parse_int=_integer)


def parse(text: str, start: int = 0) -> tuple[Json, int]:
    """Parse one value at `start`; return it and the position behind it.

    Raises ValueError (JSONDecodeError where a position is known) or RecursionError.
    """
    return _DECODER.raw_decode(text, start)


def reason_of(text: str) -> str | None:
    """Say why `text` is not one JSON value (a name of the closed list); null where it is one."""
    start = skip_space(text, 0)
    try:
        _, end = parse(text, start)
    except RecursionError:
        return "nesting_too_deep" if skip_value(text, start) is not None else "json_truncated"
    except json.JSONDecodeError as error:
        return _reason_at(text, error)
    except ValueError:
        return "json_invalid"
    rest = text[end:].strip(WHITE)
    if rest:
        return "zero_filled" if not rest.strip("\0" + WHITE) else "trailing_data"
    return None


def _reason_at(text: str, error: json.JSONDecodeError) -> str:
    """Classify a decoder's refusal by what stands where it stopped."""
    kept = text.rstrip(WHITE)
    if (kept and not kept.strip("\0" + WHITE)) or text[error.pos : error.pos + 1] == "\0":
        return "zero_filled"
    if error.pos >= len(kept) or error.msg.startswith("Unterminated string"):
        return "json_truncated"
    return "json_truncated" if _CUT_WORD.match(kept, error.pos) else "json_invalid"


def skip_space(text: str, position: int) -> int:
    """Return the position of the next character that is not white space."""
    match = _SPACE.match(text, position)
    return match.end() if match else position


def skip_value(text: str, start: int) -> int | None:
    """Return the position behind the bracketed value at `start`, however deep it nests; null where it never closes.

    A string that never closes reaches to the end, so that nothing is looked at twice.
    """
    depth = 0
    for token in _TOKENS.finditer(text, start):
        if token[0] in "{[":
            depth += 1
        elif token[0] in "}]":
            depth -= 1
            if depth == 0:
                return token.end()
    return None


def compact(value: Json, depth: int = 0) -> str:
    """Write a value as compact JSON, numbers in their shortest form.

    Raises RecursionError beyond `DEEPEST`, UncleanError for a text with a NUL.
    """
    if depth > DEEPEST:
        raise RecursionError
    if isinstance(value, Mapping):
        members = [f"{_scalar(key)}:{compact(member, depth + 1)}" for key, member in value.items()]
        return f"{{{','.join(members)}}}"
    if isinstance(value, list):
        return f"[{','.join([compact(member, depth + 1) for member in value])}]"
    return _scalar(value)


def _scalar(value: Json) -> str:
    if isinstance(value, str) and "\0" in value:
        raise UncleanError
    if isinstance(value, Decimal):
        return str(value).lower()
    if isinstance(value, float):
        return _fraction_text(value)
    return _ENCODER.encode(value)


def _fraction_text(value: float) -> str:
    """Write a number as JavaScript does, which wrote the files: no exponent from 1e-6 to 1e21, else its plain one."""
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    if 1e-6 <= abs(value) < 1e-4:
        return f"{Decimal(repr(value)):f}"
    return repr(value).replace("e-0", "e-")


def token(value: Json) -> str | None:
    """Write a scalar as the JSON token that a typed column is made from; null stays null."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return compact(value)


def as_text(value: Json) -> str:
    """Text of a field that should be one: itself, `''` for null, anything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, msgspec.Raw):
        return as_text(parse(bytes(value).decode())[0]) if bytes(value) else ""
    return "" if value is None else compact(value)


def clean(value: Json, cleaner: Cleaner, depth: int = 0) -> Json:
    """Return `value` with every text in it cleaned. Raises RecursionError where `compact` would."""
    if depth > DEEPEST:
        raise RecursionError
    if isinstance(value, str):
        return cleaner.text(value)
    if isinstance(value, dict):
        return {cleaner.text(key): clean(member, cleaner, depth + 1) for key, member in value.items()}
    if isinstance(value, list):
        return [clean(member, cleaner, depth + 1) for member in value]
    return value
