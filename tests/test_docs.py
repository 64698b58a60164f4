"""The pages of `docs/` agree with the code."""

from pathlib import Path

import parsers
from pipeline.tables import TABLES
from pipeline.tables.timeline import TIMELINE

SOURCES = (Path(__file__).parent.parent / "docs/sources.md").read_text(encoding="utf-8")


def _rows() -> dict[str, list[str]]:
    """Cells of the table of sources, by the source's name."""
    lines = [line for line in SOURCES.splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {first.strip("`"): rest for first, *rest in cells}


def test_every_source_is_described() -> None:
    assert set(_rows()) == {source.name for source in parsers.SOURCES}


def test_tables_and_kinds_are_those_that_there_are() -> None:
    tables = {table.name for table in TABLES}
    (kinds,) = [column.description for column in TIMELINE.columns if column.name == "kind"]

    for _, told, further in _rows().values():
        named = [word.strip("`") for word in further.replace(" ", "").split(",") if word]
        assert set(named) <= tables
        for kind in told.replace("as above where the task has no other transcript, and ", "").split(", "):
            assert not kind or f"`{kind}`" in kinds
