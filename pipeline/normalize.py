"""Stage two's vocabulary: polars expressions from what a file says to what a column holds.

Trimming, times and counts are defined here once. A raw column holds a scalar as the JSON token that the file has
(`1200`, `"1200"`, `true`), so that a value of another type can be told from a bad one.
"""

from collections.abc import Callable, Iterable

import polars as pl

from pipeline.schema import TIME
from pipeline.staging import LAST, POSITION, PROBLEMS, ROWS, conform

EARLIEST, LATEST = pl.datetime(2020, 1, 1, time_unit="ms"), pl.datetime(2101, 1, 1, time_unit="ms")
_LARGEST = 2**63 - 1
_ISO = (
    r"^(?<date>[0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ](?<clock>[0-9]{2}:[0-9]{2})(?<seconds>:[0-5][0-9](?:\.[0-9]+)?)?"
    r" ?(?:[Zz]|(?<sign>[+-])(?<hours>[01][0-9]|2[0-3]):?(?<minutes>[0-5][0-9])?)?)?$"
)


def _once(value: pl.Expr, made: Callable[[pl.Expr], pl.Expr]) -> pl.Expr:
    """What is made of a value, which is worked out once: an expression that stands twice is worked out twice."""
    held = pl.struct(value=value).struct.with_fields(made=made(pl.field("value")))
    return held.struct.field("made").alias(value.meta.output_name())


def trim(text: pl.Expr) -> pl.Expr:
    """Text without white space at both ends."""
    return text.str.strip_chars()


def has_text(text: pl.Expr) -> pl.Expr:
    """Whether a text is there and not empty."""
    return (text != "").fill_null(value=False)


def bare(token: pl.Expr) -> pl.Expr:
    """The text of a JSON token: a string without its quotes, anything else as it is."""
    return token.str.strip_prefix('"').str.strip_suffix('"')


def moment(token: pl.Expr) -> pl.Expr:
    """Time of a JSON token: ISO with any offset (none: UTC), or a number of ms (10 digits: s, 16: µs), as text or not.

    Null for what is none, or lies before 2020 or after 2100.
    """
    text = bare(token)
    number = text.str.extract(r"^([0-9]{10}|[0-9]{13}|[0-9]{16})(?:\.[0-9]+)?$")
    return _sane(pl.coalesce(_once(number, _milliseconds).cast(TIME), _iso(text)))


def _milliseconds(number: pl.Expr) -> pl.Expr:
    """Of 10, 13 or 16 digits."""
    digits, length = number.cast(pl.Int64), number.str.len_bytes()
    return pl.when(length == 10).then(digits * 1000).when(length == 16).then(digits // 1000).otherwise(digits)


def clock(digits: pl.Expr) -> pl.Expr:
    """Time of 13 digits, ms since 1970; null for what lies before 2020 or after 2100."""
    return _sane(digits.cast(pl.Int64).cast(TIME))


def _sane(time: pl.Expr) -> pl.Expr:
    return _once(time, lambda value: pl.when((value >= EARLIEST) & (value < LATEST)).then(value))


def _iso(text: pl.Expr) -> pl.Expr:
    """Time of an ISO text, null for what is none."""
    part = pl.field
    local = pl.concat_str(
        part("date"), pl.lit("T"), part("clock").fill_null("00:00"), part("seconds").fill_null(":00")
    ).str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit="ms", strict=False)
    ahead = (part("hours").cast(pl.Int64) * 60 + part("minutes").cast(pl.Int64).fill_null(0)) * 60_000
    offset = pl.when(part("sign") == "-").then(-ahead).otherwise(ahead).fill_null(0)
    made = (local.cast(pl.Int64) - offset).cast(TIME)
    return text.str.extract_groups(_ISO).struct.with_fields(made=made).struct.field("made")


def count(token: pl.Expr) -> pl.Expr:
    """Whole number of at least 0 of a JSON token, null for anything else."""
    digits = token.str.extract(r"^([0-9]{1,19})$").cast(pl.UInt64)
    return _once(digits, lambda value: pl.when(value <= _LARGEST).then(value)).cast(pl.Int64)


def amount(token: pl.Expr) -> pl.Expr:
    """Number of at least 0 of a JSON token, null for anything else."""
    number = token.str.extract(r"^([0-9][0-9.eE+-]*)$").cast(pl.Float64, strict=False)
    return _once(number, lambda value: pl.when(value.is_finite()).then(value))


def count_fault(token: pl.Expr, value: pl.Expr) -> pl.Expr:
    """Why a JSON token gave no number: `wrong_type` or `value_out_of_range`; null where it did or there is none."""
    too_far = token.str.contains(r"^-[0-9]|^[0-9]+$|^[0-9][0-9.]*[eE]\+?[0-9]+$")
    return (
        pl.when(token.is_null() | value.is_not_null())
        .then(None)
        .when(too_far)
        .then(pl.lit("value_out_of_range"))
        .otherwise(pl.lit("wrong_type"))
    )


def notes(frame: pl.DataFrame, line: pl.Expr, faults: Iterable[tuple[str, pl.Expr]]) -> pl.DataFrame:
    """Rows of `faults`: one per record and reason, of (field name, reason or null) pairs.

    `frame` has a row per record with `artifact`; `line` is the record's line or position.
    """
    names, reasons = zip(*faults, strict=True)
    told = frame.select("artifact", line.alias("line"), *(reason.alias(str(at)) for at, reason in enumerate(reasons)))
    found = [
        told.select("artifact", "line", field=pl.lit(name), reason=str(at)).drop_nulls("reason")
        for at, name in enumerate(names)
        if at == 0 or told[str(at)].null_count() < told.height
    ]
    noted = pl.concat(found).group_by("artifact", "line", "reason", maintain_order=True)
    return noted.agg(detail=pl.col("field").str.join(", "))


def numbered(problems: pl.DataFrame) -> pl.DataFrame:
    """Problems, the notes of one record and reason as one, with their own key and its count in their file.

    The key is the text without the record's number.
    """
    number = r"^parser: (unparseable record|array cut off after record) \d+"
    is_note = pl.col("text").is_null()
    same_record = problems.filter(is_note).group_by("artifact", "line", "reason", maintain_order=True)
    noted = same_record.agg(pl.col("detail").drop_nulls().str.join(", "), pl.col("text", "bytes").first())
    noted = noted.with_columns(pl.when(pl.col("detail") != "").then("detail"))
    problems = pl.concat([problems.filter(~is_note), noted], how="diagonal_relaxed")
    rows = problems.sort("artifact", "line", "reason", maintain_order=True).with_columns(
        key=trim(pl.coalesce("text", "detail")).str.replace(number, "$1")
    )
    return conform(_counted(rows, "artifact", "reason", "key", pl.col("text").is_null()), PROBLEMS)


def _counted(frame: pl.DataFrame, *same: str | pl.Expr) -> pl.DataFrame:
    """Rows with their `occurrence`: how many before them are the `same`."""
    keys = frame.select(*same)
    # Few rows come twice: only those with a hash that comes twice are compared.
    hashes = keys.select(pl.struct(pl.all()).hash()).to_series()
    places = hashes.is_duplicated().arg_true()
    again = keys[places].select(place=pl.int_range(pl.len(), dtype=pl.Int32).over(keys.columns)).to_series()
    return frame.with_columns(occurrence=pl.zeros(frame.height, pl.Int32, eager=True).scatter(places, again))


def problem_drafts(problems: pl.DataFrame) -> pl.DataFrame:
    """The timeline's rows of the losses among `problems`."""
    return problems.filter(pl.col("text").is_not_null()).select(
        "artifact",
        "line",
        "key",
        order_line=pl.when(pl.col("line") > 0).then("line").otherwise(LAST),
        rank=pl.lit(0),
        part=pl.int_range(pl.len()),
        sub=pl.lit(0),
        kind=pl.lit("problem"),
        turn_type=pl.lit("system"),
        text=trim(pl.col("text")),
        keyed_by_text=pl.lit(value=False),
    )


def counted(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows with the count of their key among the rows of their file before them."""
    return _counted(frame, "artifact", "key")


def in_order(drafts: pl.DataFrame) -> pl.DataFrame:
    """Rows of the timeline with their `sequence` in their file and the count of their key in it."""
    order = ["artifact", *(column.name for column in POSITION)]
    rows = _counted(
        drafts.sort(order),
        *("artifact", "kind", "turn_type", "key"),
        # A call's own rows are told apart by the call, whose row is told apart by what it says.
        pl.when("keyed_by_text").then("text").alias("said"),
        pl.when(~pl.col("keyed_by_text") & (pl.col("kind") != "tool_call")).then("call_no").alias("of_call"),
    )
    return conform(rows.with_columns(sequence=pl.int_range(pl.len(), dtype=pl.Int32).over("artifact")), ROWS)
