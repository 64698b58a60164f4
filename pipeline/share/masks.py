"""What a share shows of each column: SQL over a table's rows, made of what the schema says of its columns.

The macros are those of `sql/share.sql`. Names in the SQL come from the schema, patterns from `rules`; no value does.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import polars as pl

from pipeline.catalog import literal, name
from pipeline.dictionary import duckdb_type
from pipeline.schema import Column, Sensitivity, Table
from pipeline.share.rules import GUARDS, MASK, RULES

BLOCK = 64
"""Bytes that SHA-256 takes at a time (RFC 2104 pads a key to so many)."""


class Texts(StrEnum):
    """How a share shows texts."""

    HASH = "hash"
    SECRETS = "secrets"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Masking:
    """How values are shown: texts, whether hosts and users have pseudonyms, and the columns that are left out.

    `left_out` holds (table, column).
    """

    texts: Texts = Texts.HASH
    pseudonyms: bool = False
    left_out: frozenset[tuple[str, str]] = frozenset()

    @property
    def is_keyed(self) -> bool:
        """Whether anything is replaced by what a key makes of it."""
        return self.pseudonyms or self.texts != Texts.KEEP

    @property
    def hides_homes(self) -> bool:
        """Whether host or user is not shown in every table, so that files must not be spread by them."""
        return self.pseudonyms or any(column in ("host", "user") for _, column in self.left_out)


_HASHED = {
    Sensitivity.PATH: "shown_text",
    Sensitivity.ID: "shown_id",
    Sensitivity.KEY: "shown_key",
    Sensitivity.SETTING: "shown_setting",
    Sensitivity.TEXT: "shown_text",
}
"""Macros of `Texts.HASH`; a column of another class is shown as it is."""
_TELL_OF_HOMES = (Sensitivity.NAME, Sensitivity.PATH, Sensitivity.ID, Sensitivity.KEY)
"""Classes of which a pseudonym could be read: they are hashed with every choice of texts."""


def columns(table: Table, masking: Masking) -> str:
    """The list of a SELECT: a table's columns in order, as the share shows them."""
    return ", ".join(f"{shown(table, column, masking)} as {name(column.name)}" for column in table.columns)


def shown(table: Table, column: Column, masking: Masking) -> str:
    """SQL for what is shown of a column."""
    if (table.name, column.name) in masking.left_out:
        return f"null::{duckdb_type(column.dtype)}" if column.nullable else "''"
    if column.is_text and column.sensitivity is None:
        raise ValueError(f"{table.name}.{column.name}: the schema does not say how sensitive it is")
    if not isinstance(column.dtype, pl.List) or not column.is_text:
        return _masked(name(column.name), column, masking)
    return f"list_transform({name(column.name)}, lambda each: {_masked('each', column, masking)})"


def _masked(value: str, column: Column, masking: Masking) -> str:
    """SQL for what is shown of a value."""
    kind = column.sensitivity
    if kind is None or kind == Sensitivity.PLAIN:
        return value
    if kind == Sensitivity.IDENTITY:
        return f"shown_{column.name}({value})" if masking.pseudonyms else value
    is_hashed = masking.texts == Texts.HASH or (masking.pseudonyms and kind in _TELL_OF_HOMES)
    # The key of a row is made of its text: of one whose secret is masked it would let a guess be checked.
    if is_hashed and kind == Sensitivity.NAME:
        is_shown = f"is_name({value}) and not regexp_matches({value}, {literal(GUARDS[0])})"
        return f"case when {is_shown} then {value} else shown_text({value}) end"
    if is_hashed and kind == Sensitivity.RULE:
        is_secret = f"regexp_matches(regexp_extract({value}, '^[^(]*'), {literal(GUARDS[0])})"
        return f"case when {is_secret} then shown_text({value}) else shown_rule({value}) end"
    if is_hashed or (kind == Sensitivity.KEY and masking.is_keyed):
        return f"{_HASHED[kind]}({value})"
    return scrubbed(value) if masking.texts == Texts.SECRETS else value


def scrubbed(value: str) -> str:
    """SQL for a text with the secrets in it masked."""
    replaced = value
    for rule in RULES:
        kept = rf"\1{MASK}\2" if rule.keeps else MASK
        replaced = f"regexp_replace({replaced}, {literal(rule.pattern)}, {literal(kept)}, 'g')"
    suspected = " or ".join(f"regexp_matches({value}, {literal(guard)})" for guard in GUARDS)
    return f"case when {suspected} then {replaced} else {value} end"


def key_of(files: Iterable[Path]) -> bytes:
    """The key that a lake's own files make: whoever does not have all of them cannot make it."""
    digest = hashlib.sha256(b"homelake share")
    for path in sorted(files):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.digest()


def pads(key: bytes) -> dict[str, bytes]:
    """The two blocks that HMAC hashes before a value and before that hash (RFC 2104)."""
    block = (hashlib.sha256(key).digest() if len(key) > BLOCK else key).ljust(BLOCK, b"\0")
    return {f"{side}_pad": bytes(byte ^ mask for byte in block) for side, mask in (("inner", 0x36), ("outer", 0x5C))}


def left_out(names: Collection[str], tables: Collection[Table]) -> frozenset[tuple[str, str]]:
    """The columns that `names` name, as `table.column` or `column` for that of every table.

    Raises ValueError for one that is not there, or that every row must have.
    """
    return frozenset(pair for each in names for pair in _named(each, tables))


def _named(text: str, tables: Collection[Table]) -> Iterator[tuple[str, str]]:
    of, _, column = text.rpartition(".")
    found = [
        (table, each) for table in tables for each in table.columns if each.name == column and of in ("", table.name)
    ]
    if not found:
        raise ValueError(f"no column {text!r}: `homelake schema` names them")
    for table, each in found:
        is_needed = each.sensitivity == Sensitivity.KEY or not (each.nullable or each.sensitivity == Sensitivity.TEXT)
        if is_needed:
            raise ValueError(f"{table.name}.{column} cannot be left out: every row needs it")
        yield table.name, column
