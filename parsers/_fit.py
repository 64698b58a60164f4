"""Typed records from JSON of any shape: what msgspec does for a healthy file, member by member for the others.

A record type is a `msgspec.Struct` whose every field has a default. `fit` gives the value that msgspec would decode
where the JSON has the type's shape, and where it has not keeps all that has it: a field of another type is its default
and a note.
"""

from collections.abc import Callable
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec

from parsers._json import Json, clean
from parsers._text import Cleaner

Record = TypeVar("Record", bound=msgspec.Struct)
_Reader = Callable[[Json, Cleaner, list[str]], object]
"""Reads a member as one type; gives `_ABSENT` for one of another."""

_ABSENT = object()
_ELEMENT = "[]"


def fit(kind: type[Record], value: dict[str, Json], cleaner: Cleaner, wrong: list[str]) -> Record:
    """Return `value` as a record of `kind`, its texts cleaned; `wrong` takes the names of fields of another type."""
    found: dict[str, Any] = {}
    if cleaner.bad is not None and any(cleaner.bad in key for key in value):
        cleaner.reasons.add("invalid_utf8")  # (perhaps the name of a field)
    for attribute, key, readers in _fields(kind):
        member = value.get(key)
        if member is None:
            continue
        odd = len(wrong)
        fitted = _fit_member(readers, member, cleaner, wrong)
        if len(wrong) > odd:
            wrong[odd:] = [key if name == _ELEMENT else name for name in wrong[odd:]]
        if fitted is _ABSENT:
            wrong.append(key)
        else:
            found[attribute] = fitted
    return kind(**found)


@cache
def _fields(kind: type[msgspec.Struct]) -> list[tuple[str, str, list[_Reader]]]:
    """Return (attribute, JSON key, readers of the accepted types) of a record type's fields."""
    return [(field.name, field.encode_name, _readers(field.type)) for field in msgspec.structs.fields(kind)]


def _readers(kind: Any) -> list[_Reader]:
    """Return what reads the types of a union, or one type."""
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return [_reader(one) for one in kinds if one is not NoneType]


def _reader(kind: Any) -> _Reader:
    """Return what reads a member of a type."""
    if kind is Any or kind is msgspec.Raw:
        return lambda member, cleaner, wrong: clean(member, cleaner)
    if kind is str:
        return lambda member, cleaner, wrong: cleaner.text(member) if isinstance(member, str) else _ABSENT
    if get_origin(kind) is list:
        readers = _readers(get_args(kind)[0])
        return lambda member, cleaner, wrong: (
            _fit_list(readers, member, cleaner, wrong) if isinstance(member, list) else _ABSENT
        )
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return lambda member, cleaner, wrong: fit(kind, member, cleaner, wrong) if isinstance(member, dict) else _ABSENT
    return lambda member, cleaner, wrong: _ABSENT


def _fit_member(readers: list[_Reader], member: Json, cleaner: Cleaner, wrong: list[str]) -> object:
    """Return the member as the first of the types that takes it, else `_ABSENT`."""
    for read in readers:
        fitted = read(member, cleaner, wrong)
        if fitted is not _ABSENT:
            return fitted
    return _ABSENT


def _fit_list(readers: list[_Reader], members: list[Json], cleaner: Cleaner, wrong: list[str]) -> list[object]:
    """Return the elements that have the list's type; the others are noted and left out."""
    fitted = []
    for member in members:
        value = _fit_member(readers, member, cleaner, wrong)
        if value is _ABSENT:
            wrong.append(_ELEMENT)
        else:
            fitted.append(value)
    return fitted
