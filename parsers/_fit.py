"""Typed records from JSON of any shape: what msgspec does for a healthy file, member by member for the others.

A record type is a `msgspec.Struct` whose every field has a default. `fit` gives the value that msgspec would decode
where the JSON has the type's shape, and where it has not keeps all that has it: a field of another type is its default
and a note.
"""

from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec

from parsers._json import Json, clean
from parsers._text import Cleaner

Record = TypeVar("Record", bound=msgspec.Struct)
_ABSENT = object()
_ELEMENT = "[]"


def fit(kind: type[Record], value: dict[str, Json], cleaner: Cleaner, wrong: list[str]) -> Record:
    """Return `value` as a record of `kind`, its texts cleaned; `wrong` takes the names of fields of another type."""
    found: dict[str, Any] = {}
    for attribute, key, kinds in _fields(kind):
        member = value.get(key, _ABSENT)
        if member is _ABSENT or member is None:
            continue
        odd = len(wrong)
        fitted = _fit_member(kinds, member, cleaner, wrong)
        wrong[odd:] = [key if name == _ELEMENT else name for name in wrong[odd:]]
        if fitted is _ABSENT:
            wrong.append(key)
        else:
            found[attribute] = fitted
    return kind(**found)


@cache
def _fields(kind: type[msgspec.Struct]) -> list[tuple[str, str, tuple[Any, ...]]]:
    """Return (attribute, JSON key, accepted types) of a record type's fields."""
    fields = []
    for field in msgspec.structs.fields(kind):
        union = get_origin(field.type) in (Union, UnionType)
        kinds = get_args(field.type) if union else (field.type,)
        fields.append((field.name, field.encode_name, tuple(k for k in kinds if k is not NoneType)))
    return fields


def _fit_member(kinds: tuple[Any, ...], member: Json, cleaner: Cleaner, wrong: list[str]) -> object:
    """Return the member as the first of the types that takes it, else `_ABSENT`."""
    for kind in kinds:
        if kind is Any or kind is msgspec.Raw:
            return clean(member, cleaner)
        if kind is str and isinstance(member, str):
            return cleaner.text(member)
        if get_origin(kind) is list and isinstance(member, list):
            return _fit_list(get_args(kind), member, cleaner, wrong)
        if isinstance(member, dict) and isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return fit(kind, member, cleaner, wrong)
    return _ABSENT


def _fit_list(kinds: tuple[Any, ...], members: list[Json], cleaner: Cleaner, wrong: list[str]) -> list[object]:
    """Return the elements that have the list's type; the others are noted and left out."""
    fitted = []
    for member in members:
        value = _fit_member(kinds, member, cleaner, wrong)
        if value is _ABSENT:
            wrong.append(_ELEMENT)
        else:
            fitted.append(value)
    return fitted
