"""What event lines mean: the expressions and frames that stage two of their sources share.

Every row has the time of its event, null where it names none. Rows of a line stand in the order of its records.
"""

from collections.abc import Iterable, Mapping

import polars as pl

from parsers._events import EVENTS
from pipeline.normalize import has_text, moment, notes, trim

MISSING = "-"
"""What a row text has in place of a value that is missing or of another type."""

Fault = tuple[str, pl.Expr]
"""Name of a field, and why its value is none or null."""


def timed(raw: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The raw events with their time, `utc`."""
    return raw[EVENTS].with_columns(utc=moment(pl.col("timestamp")))


def filled(column: str) -> pl.Expr:
    """A name or id, null where it is empty."""
    return pl.when(has_text(pl.col(column))).then(column)


def model() -> pl.Expr:
    """The model as its user named it, else by its own name, which is all that older events have."""
    return pl.coalesce(filled("model_title"), filled("model_name"))


def truth(column: str) -> pl.Expr:
    """Truth value of a JSON token, null for anything else."""
    return pl.when(pl.col(column).is_in(("true", "false"))).then(pl.col(column) == "true")


def shown_truth(column: str) -> pl.Expr:
    """A JSON token as a row text has it: `true`, `false` or `-`."""
    return pl.when(truth(column).is_not_null()).then(column).otherwise(pl.lit(MISSING))


def shown_number(column: str) -> pl.Expr:
    """A JSON token as a row text has it: a number in its shortest form, or `-`."""
    return pl.when(_is_number(column)).then(column).otherwise(pl.lit(MISSING))


def shown_text(column: str) -> pl.Expr:
    """A text as a row text has it: as written, or `-`."""
    return pl.col(column).fill_null(MISSING)


def _is_number(column: str) -> pl.Expr:
    return pl.col(column).str.contains(r"^-?[0-9]")


def truth_fault(field: str, column: str) -> Fault:
    """Fault of a truth value."""
    return field, pl.when(pl.col(column).is_not_null() & truth(column).is_null()).then(pl.lit("wrong_type"))


def number_fault(field: str, column: str) -> Fault:
    """Fault of a number that only a row text shows."""
    return field, pl.when(~_is_number(column)).then(pl.lit("wrong_type"))


def faults(events: pl.DataFrame, others: Iterable[Fault] = ()) -> pl.DataFrame:
    """Notes on the times of timed events that are none, and on other values."""
    bad_time = pl.when(pl.col("timestamp").is_not_null() & pl.col("utc").is_null()).then(pl.lit("bad_timestamp"))
    return notes(events, pl.col("line"), [("timestamp", bad_time), *others])


def rows(
    events: pl.DataFrame, part: int, kind: tuple[str, str], text: pl.Expr, **columns: pl.Expr | str
) -> pl.DataFrame:
    """One row of the timeline per timed event.

    `part` is the row's place among those of its event, `kind` its kind and turn type; `columns` are further ones.
    """
    return events.select(
        "artifact",
        "line",
        "record",
        "key",
        order_line="line",
        rank="record",
        part=pl.lit(part),
        sub=pl.lit(0),
        kind=pl.lit(kind[0]),
        turn_type=pl.lit(kind[1]),
        text=trim(text),
        own_utc="utc",
        own_basis=pl.lit("record"),
        keyed_by_text=pl.lit(value=False),
        **columns,
    )


def sides(events: pl.DataFrame, part: int, model: pl.Expr, **columns: pl.Expr | str) -> list[pl.DataFrame]:
    """Rows of the two sides of exchanges, `prompt` and `completion`, from place `part` on; an empty side has none."""
    user = rows(events, part, ("message", "user"), pl.col("prompt"), **columns)
    assistant = rows(events, part + 1, ("message", "assistant"), pl.col("completion"), model=model, **columns)
    return [side.filter(has_text(pl.col("text"))) for side in (user, assistant)]


def together(frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Rows of all parts."""
    return pl.concat(frames, how="diagonal_relaxed")
