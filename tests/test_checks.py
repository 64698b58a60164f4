"""The checks of every build: each finds what it is for, and nothing in tables that are right."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import duckdb
import polars as pl
import pytest

from pipeline.join import COUNTS, selects
from pipeline.tables import TABLES

Rows = dict[str, list[dict[str, Any]]]
FAR = datetime(1999, 12, 31)

SOUND: Rows = {
    "counts": [
        {"join": 1, "is_table": False, "name": "rows", "rows": 2},
        {"join": 1, "is_table": True, "name": "timeline", "rows": 1},
        {"join": 1, "is_table": True, "name": "twins", "rows": 1},
        {"join": 2, "is_table": False, "name": "rows", "rows": 1},
        {"join": 2, "is_table": True, "name": "timeline", "rows": 1},
    ],
    "artifacts": [{"path": "a", "source_file": "/a", "records": 3, "rows": 1, "losses": 1, "silent": 1}],
    "timeline": [
        {
            "row_id": "1",
            "home_path": "a",
            "source_file": "/a",
            "source_line": 1,
            "kind": "tool_call",
            "call_key": "c",
            "tool_name": "x",
        },
        {
            "row_id": "2",
            "home_path": "a",
            "source_file": "/a",
            "source_line": 1,
            "kind": "tool_result",
            "call_key": "c",
            "tool_name": "x",
        },
    ],
    "tool_calls": [{"call_key": "c", "home_path": "a", "source_file": "/a"}],
    "sessions": [{"session_key": "s", "home_path": "a", "source_file": "/a"}],
}

BROKEN: dict[str, Callable[[Rows], object]] = {
    "artifacts__records_add_up": lambda rows: rows["artifacts"][0].update(silent=0),
    "lake__joins_keep_rows": lambda rows: rows["counts"][3].update(rows=2),
    "lake__keys_are_unique": lambda rows: rows["sessions"].append({"session_key": "s", "source_file": "/a"}),
    "lake__rows_have_artifacts": lambda rows: rows["sessions"][0].update(home_path="b"),
    "lake__times_are_sane": lambda rows: rows["sessions"][0].update(started_utc=FAR, started_basis="session"),
    "timeline__results_have_calls": lambda rows: rows["timeline"][1].update(call_key="d"),
}


def _failures(check: str, rows: Rows) -> list[tuple[Any, ...]]:
    """Rows that a check finds in tables that hold `rows`."""
    tables = {table.name: table for table in TABLES}
    with duckdb.connect() as connection:
        for name, table in tables.items():
            frame = pl.DataFrame(rows.get(name, []), schema=table.polars, orient="row")
            connection.register(name, frame.to_arrow())
        connection.register("counts", pl.DataFrame(rows.get("counts", []), schema=COUNTS, orient="row").to_arrow())
        return connection.sql(selects("checks")[check]).fetchall()


def _copy(rows: Rows) -> Rows:
    return {name: [dict(row) for row in found] for name, found in rows.items()}


def test_every_check_has_a_broken_case() -> None:
    assert selects("checks").keys() == BROKEN.keys()


@pytest.mark.parametrize("check", sorted(BROKEN))
def test_check_passes_over_sound_tables(check: str) -> None:
    assert _failures(check, _copy(SOUND)) == []


@pytest.mark.parametrize("check", sorted(BROKEN))
def test_check_finds_what_is_wrong(check: str) -> None:
    rows = _copy(SOUND)
    BROKEN[check](rows)

    assert len(_failures(check, rows)) == 1


def test_a_modification_time_can_be_any() -> None:
    rows = _copy(SOUND)
    rows["sessions"][0].update(started_utc=FAR, started_basis="file")

    assert _failures("lake__times_are_sane", rows) == []


def test_the_result_of_an_event_without_a_call_stands_beside_its_own() -> None:
    rows = _copy(SOUND)
    for row in rows["timeline"]:
        row["call_key"] = None

    assert _failures("timeline__results_have_calls", rows) == []


@pytest.mark.parametrize("unknown", ["tool_name", "tool_use_id"])
def test_a_result_of_no_call_has_no_name_or_no_id(unknown: str) -> None:
    rows = _copy(SOUND)
    known = {"tool_name": "x", "tool_use_id": "1"}
    rows["timeline"] = [{"row_id": "1", "source_file": "/a", "kind": "tool_result", **known}]
    assert len(_failures("timeline__results_have_calls", rows)) == 1

    rows["timeline"][0][unknown] = None

    assert _failures("timeline__results_have_calls", rows) == []
