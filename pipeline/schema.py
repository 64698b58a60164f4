"""What a table is: its columns with type and meaning, its grain, key and order.

A `Table` feeds empty frames, casts, the Parquet files' types and column comments, the views' comments, the data
dictionary (`homelake schema`) and the tests that compare what was built with it. Polars types are the only type
vocabulary; Arrow types are derived from them.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import cast

import polars as pl
import pyarrow as pa

TEXT = pl.String()
FLAG = pl.Boolean()
SMALL = pl.Int32()
COUNT = pl.Int64()
MONEY = pl.Float64()
TIME = pl.Datetime("ms")


class Sensitivity(StrEnum):
    """What a column can tell of people, and so how `homelake share` masks it."""

    PLAIN = "plain"
    """Numbers, flags, times, and words of a list of our own."""
    NAME = "name"
    """A short name as a file states it: of a model, a tool, a status."""
    IDENTITY = "identity"
    """Whose home it is: host and user."""
    PATH = "path"
    """Paths and addresses, which name people, projects and machines."""
    ID = "id"
    """An id as a file states it."""
    KEY = "key"
    """A hash that is made of identities, paths or texts: who can guess these can check the guess."""
    RULE = "rule"
    """A permission rule, `Tool(pattern)`, or the name of a setting."""
    SETTING = "setting"
    """Value of a setting, as JSON."""
    TEXT = "text"
    """Whatever people and programs wrote."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, type and meaning (with the unit, and where the value comes from)."""

    name: str
    dtype: pl.DataType
    description: str
    nullable: bool = True
    repeats: bool = False
    """Few distinct values: stored with a dictionary."""
    sensitivity: Sensitivity | None = None
    """Every text of a lake's table has one; what is no text is plain by its type."""

    @property
    def is_text(self) -> bool:
        """Whether its values are texts, or lists of texts."""
        return self.dtype == TEXT or self.dtype == pl.List(TEXT)


@dataclass(frozen=True, slots=True)
class Table:
    """One table: its grain, key and columns.

    `time` names the column whose month partitions the table (`<table>/agent=<agent>/month=<YYYY-MM>/`, where `agent`
    is in the path alone); a table without one is a file per bucket. `order` is the total order of its rows. `file`
    names the column with the path below its home of the file that a row was made from. Rows are `counted` by these
    columns for the summary of a build.
    """

    name: str
    grain: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    time: str | None = None
    order: tuple[str, ...] = ()
    file: str = "home_path"
    counted: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Column names, in order."""
        return [column.name for column in self.columns]

    @property
    def polars(self) -> dict[str, pl.DataType]:
        """Column names and types."""
        return {column.name: column.dtype for column in self.columns}

    @property
    def stored(self) -> tuple[Column, ...]:
        """Columns of the Parquet files: all of them, but `agent` where the path holds it."""
        return tuple(column for column in self.columns if self.time is None or column.name != "agent")

    def empty(self) -> pl.DataFrame:
        """A frame without rows."""
        return pl.DataFrame(schema=self.polars)

    def arrow(self) -> pa.Schema:
        """Arrow schema of the Parquet files; each field's metadata holds its column's comment."""
        return pa.schema(
            [pa.field(c.name, arrow_type(c.dtype), c.nullable, {"comment": c.description}) for c in self.stored],
            metadata={"homelake.table": self.name, "homelake.grain": self.grain},
        )


def arrow_type(dtype: pl.DataType) -> pa.DataType:
    """Arrow type of a column in a Parquet file."""
    if isinstance(dtype, pl.List):
        return pa.list_(arrow_type(cast("pl.DataType", dtype.inner)))
    return ARROW_TYPES[dtype]


ARROW_TYPES: dict[pl.DataType, pa.DataType] = {
    TEXT: pa.string(),
    FLAG: pa.bool_(),
    SMALL: pa.int32(),
    COUNT: pa.int64(),
    MONEY: pa.float64(),
    TIME: pa.timestamp("ms"),
}
