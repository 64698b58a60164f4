"""A query's answer, written as CSV, JSON or Parquet: streamed, and into a file in one step."""

import errno
import json
import os
import re
import secrets
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.paths import resolved

Form = Literal["table", "csv", "json", "parquet"]
Rows = Iterator[Sequence[str | None]]

GROUP_BYTES = 32 << 20
GROUP_ROWS = 65_536
"""Rows and bytes at which a Parquet row group is closed."""

_NUMBER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*")
_SHORT = re.compile(r"BOOLEAN|DATE|TIME.*")
_NESTED = re.compile(r"(STRUCT|MAP|UNION)\(.*|.*\[\d*\]|VARIANT", re.DOTALL)
_NOT_IN_PARQUET = re.compile(r"INTERVAL|UNION\(.*|BIT|BIGNUM|TIME WITH TIME ZONE|VARIANT", re.DOTALL)
_NO_NUMBER = re.compile(r"\b(NaN|Infinity)\b")


@dataclass(frozen=True, slots=True)
class Field:
    """A column of an answer: its name and its type as DuckDB names it."""

    name: str
    type: str

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return _NUMBER.fullmatch(self.type) is not None

    @property
    def is_nested(self) -> bool:
        """Whether its values are lists, structs or the like."""
        return _NESTED.fullmatch(self.type) is not None

    @property
    def is_short(self) -> bool:
        """Whether its values are numbers or times, which say something else when they are cut."""
        return self.is_number or _SHORT.fullmatch(self.type) is not None

    def select(self, column: str, form: Form, longest: int | None = None) -> str:
        """SQL for a column's values as `form` has them: text for all but Parquet, of a table's `longest` characters."""
        if form == "parquet":
            return f"{column}::varchar" if _NOT_IN_PARQUET.fullmatch(self.type) else column
        text = _stamp(column) if self.type in ("TIMESTAMP", "TIMESTAMP_MS") else f"{column}::varchar"
        if form == "table":
            return text if longest is None else f"left({text}, {longest})"
        if form == "csv":
            return f"to_json({column})::varchar" if self.is_nested else text
        return f"to_json({text})::varchar" if text != f"{column}::varchar" else f"to_json({column})::varchar"


def _stamp(column: str) -> str:
    """SQL for a time as text with three digits behind the second, more where it has more."""
    text = f"{column}::varchar"
    return f"{text} || case length({text}) when 19 then '.000' when 21 then '00' when 22 then '0' else '' end"


def csv_chunks(fields: Sequence[Field], rows: Rows) -> Iterator[bytes]:
    """CSV by RFC 4180: lists and structs as JSON, null as nothing, an empty text as `""`."""
    yield _csv_line([field.name for field in fields])
    nested = [at for at, field in enumerate(fields) if field.is_nested]
    for row in rows:
        yield _csv_line(_finite(row, nested))


def _csv_line(values: Sequence[str | None]) -> bytes:
    # A lone null would be an empty line, which readers skip.
    cells = [_csv_cell(value) for value in values] if len(values) > 1 or values[0] is not None else ['""']
    return (",".join(cells) + "\r\n").encode()


def _csv_cell(value: str | None) -> str:
    if value is None:
        return ""
    if value and not any(sign in value for sign in ',"\r\n'):
        return value
    return '"' + value.replace('"', '""') + '"'


def json_chunks(fields: Sequence[Field], rows: Rows) -> Iterator[bytes]:
    """One JSON array with an object per row and line; numbers that JSON lacks (NaN, infinity) are null."""
    names = [json.dumps(field.name, ensure_ascii=False) for field in fields]
    loose = [at for at, field in enumerate(fields) if field.is_nested or field.is_number]
    before = "[\n"
    for row in rows:
        values = zip(names, _finite(row, loose), strict=True)
        pairs = (f"{name}:{'null' if value is None else value}" for name, value in values)
        yield (before + "{" + ",".join(pairs) + "}").encode()
        before = ",\n"
    yield b"[]\n" if before == "[\n" else b"\n]\n"


def _finite(row: Sequence[str | None], places: Sequence[int]) -> list[str | None]:
    """A row in which the JSON at `places` has null for what is no number."""
    values = list(row)
    for at in places:
        text = values[at]
        if text is not None and _NO_NUMBER.search(text):
            known = json.loads(text, parse_constant=lambda _: None)
            values[at] = json.dumps(known, ensure_ascii=False, separators=(",", ":"))
    return values


class Some:
    """The first rows of an answer, at most `most` (null: all), and how many were `written`.

    `are_left` says whether there were more.
    """

    def __init__(self, most: int | None) -> None:
        self.most = most
        self.are_left = False
        self.written = 0

    def rows(self, rows: Rows) -> Rows:
        """Rows of texts, up to the most."""
        yield from self.counted(islice(rows, self.most))
        self.are_left = next(rows, None) is not None

    def counted(self, rows: Rows) -> Rows:
        """All rows, of which the first are written: a table says how many there are."""
        for row in rows:
            self.written += self.written != self.most
            yield row

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of rows, up to the most."""
        left = self.most
        for batch in batches:
            some = batch if left is None else batch.slice(0, left)
            left = None if left is None else left - some.num_rows
            self.written += some.num_rows
            self.are_left = some.num_rows < batch.num_rows
            if some.num_rows:
                yield some
            if self.are_left:
                return


def write_parquet(schema: pa.Schema, batches: Iterable[pa.RecordBatch], sink: BinaryIO) -> None:
    """Write a Parquet file from batches, some of them to a row group."""
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        group: list[pa.RecordBatch] = []
        for batch in batches:
            group.append(batch)
            if sum(b.nbytes for b in group) >= GROUP_BYTES or sum(b.num_rows for b in group) >= GROUP_ROWS:
                writer.write_table(pa.Table.from_batches(group))
                group = []
        if group:
            writer.write_table(pa.Table.from_batches(group))


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """Write a file beside `path` and, without an error, put it there in one step.

    A link stays one and its target is replaced; what is no regular file (a pipe, a device) is written to
    directly.
    """
    if path.exists() and not path.is_file():
        # Not by its target: `/dev/stdout` may lead to a pipe, which has no path.
        with path.open("wb") as device:
            yield device
        return
    target = resolved(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such directory", str(path.parent))
    fresh = target.with_name(f".homelake-{secrets.token_hex(8)}")
    try:
        with fresh.open("xb") as sink:
            yield sink
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)


@contextmanager
def printed() -> Iterator[BinaryIO]:
    """Standard output, as bytes; a reader that leaves early (`| head`) is no error."""
    try:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The interpreter flushes once more when it ends and would complain then.
        with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
