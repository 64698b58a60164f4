"""Every column says how sensitive it is, and `docs/sensitive.md` says the same."""

from pathlib import Path

import pytest

from pipeline.schema import TEXT, Column, Sensitivity, Table
from pipeline.share.choice import Choice
from pipeline.share.masks import Masking, Texts, shown
from pipeline.tables import LONG, TABLES

PAGE = (Path(__file__).parent.parent / "docs/sensitive.md").read_text(encoding="utf-8")
IN_COLUMNS = ("text", "path", "id", "key", "name")
IN_OTHERS = ("rule", "setting", "plain")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_text_column_has_a_class(table: Table) -> None:
    """A new column of texts needs a decision; what is no text is plain by its type."""
    assert [column.name for column in table.columns if column.is_text != (column.sensitivity is not None)] == []


def test_whole_texts_are_texts() -> None:
    found = {column.name for table in TABLES for column in table.columns if column.sensitivity == Sensitivity.TEXT}

    assert found >= LONG


@pytest.mark.parametrize("texts", Texts)
def test_a_column_without_a_class_is_not_shared(texts: Texts) -> None:
    column = Column("fresh", TEXT, "Of a later version.")
    table = Table("t", "one row per thing", ("fresh",), (column,))

    with pytest.raises(ValueError, match=r"t\.fresh"):
        shown(table, column, Masking(texts))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_page_lists_every_column_by_its_class(table: Table) -> None:
    (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{table.name}` |")]
    cells = [cell.strip() for cell in line.split("|")[2:-1]]

    def names(kind: str) -> str:
        return ", ".join(f"`{column.name}`" for column in table.columns if column.sensitivity == kind)

    others = "; ".join(f"{kind}: {names(kind)}" for kind in IN_OTHERS if names(kind))
    assert cells == [*map(names, IN_COLUMNS), others]
    identities = {column.name for column in table.columns if column.sensitivity == Sensitivity.IDENTITY}
    assert identities == ({"host"} if table.name == "collections" else {"host", "user"})


def test_the_page_describes_every_class_and_choice() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `")]

    assert {kind for kind in Sensitivity if any(line.startswith(f"| `{kind}` |") for line in rows)} == set(Sensitivity)
    assert all(f"`--texts {texts}`" in PAGE for texts in Texts)
    assert Choice().variables()["undated"] is True
