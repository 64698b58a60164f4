"""Times and counts of JSON tokens."""

from datetime import datetime

import polars as pl
import pytest

from pipeline.normalize import amount, count, count_fault, moment

T0 = datetime(2026, 9, 15, 8, 30)


def value(expression: pl.Expr, token: str | None) -> object:
    return pl.DataFrame({"t": [token]}, schema={"t": pl.String}).select(expression).item()


@pytest.mark.parametrize(
    "token",
    [
        "1789461000000",
        '"1789461000000"',
        "1789461000",
        "1789461000000000",
        "1789461000000.5",
        '"2026-09-15T08:30:00.000Z"',
        '"2026-09-15T08:30:00"',
        '"2026-09-15 08:30"',
        '"2026-09-15T10:30:00+02:00"',
        '"2026-09-15T04:00:00.000-0430"',
        '"2026-09-15T10:30:00+02"',
        '"2026-09-15T08:30:00.000999Z"',
    ],
)
def test_moment_of_every_form(token: str) -> None:
    assert value(moment(pl.col("t")), token) == T0


@pytest.mark.parametrize(
    "token",
    [
        None,
        "null",
        "true",
        '""',
        '"soon"',
        "-5",
        "0",
        "17894610000",
        "99999999999999999",
        '"2026-09-15T08:30:60Z"',
        '"2026-02-30T08:30:00Z"',
        '"2019-12-31T23:59:59Z"',
        '"2101-01-01T00:00:00Z"',
        '{"a":1}',
    ],
)
def test_moment_of_what_is_none(token: str | None) -> None:
    assert value(moment(pl.col("t")), token) is None


@pytest.mark.parametrize(
    ("token", "number", "fault"),
    [
        (None, None, None),
        ("0", 0, None),
        ("1200", 1200, None),
        ("9223372036854775807", 2**63 - 1, None),
        ("9223372036854775808", None, "value_out_of_range"),
        ("12345678901234567890123", None, "value_out_of_range"),
        ("1E+400", None, "value_out_of_range"),
        ("-24", None, "value_out_of_range"),
        ('"1200"', None, "wrong_type"),
        ("3.5", None, "wrong_type"),
        ("true", None, "wrong_type"),
        ("[1]", None, "wrong_type"),
    ],
)
def test_count_of_a_token_and_why_it_is_none(token: str | None, number: int | None, fault: str | None) -> None:
    counted = count(pl.col("t"))

    assert value(counted, token) == number
    assert value(count_fault(pl.col("t"), counted), token) == fault


@pytest.mark.parametrize(("token", "number"), [("0.25", 0.25), ("1e-05", 1e-05), ("-1", None), ('"1"', None)])
def test_amount_of_a_token(token: str, number: float | None) -> None:
    assert value(amount(pl.col("t")), token) == number
