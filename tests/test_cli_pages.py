"""The generated pages of `docs/` are those that the code makes; `make docs` writes them anew."""

import re
from pathlib import Path
from typing import Any

import pytest
import typer.main

from docs import pages
from pipeline import cli
from pipeline.catalog import view_columns
from pipeline.commands import _options
from pipeline.prompt import COMMANDS as DOT_COMMANDS
from pipeline.tables import TABLES

COMMANDS: dict[str, Any] = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]  # it is a group
WRITTEN = {page: (pages.FOLDER / page).read_text(encoding="utf-8") for page in ("commands.md", "tables.md")}


def section(page: str, title: str) -> str:
    """A section of a page."""
    return WRITTEN[page].partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_the_page_of_commands_is_not_stale() -> None:
    assert pages.commands() == WRITTEN["commands.md"], "run `make docs`"


def test_the_page_of_tables_is_not_stale(tmp_path: Path) -> None:
    assert pages.tables(pages.make_lake(tmp_path)) == WRITTEN["tables.md"], "run `make docs`"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_and_exit_code_is_on_the_page(name: str) -> None:
    told = section("commands.md", f"homelake {name}")
    options = [option for parameter in COMMANDS[name].params for option in parameter.opts if option.startswith("-")]

    assert [option for option in options if f"`{option}" not in told] == []
    assert re.search(r"^Exit codes: 0 done, .*2 wrong .*130 stopped", told, re.MULTILINE)


def test_every_exit_code_is_on_the_page() -> None:
    codes = {value for name, value in vars(_options).items() if isinstance(value, int) and not name.endswith("_MB")}

    assert codes == {1, 2, 3, 130}
    assert all(f", {code} " in section("commands.md", "homelake build") for code in codes)


def test_every_dot_command_is_on_the_page() -> None:
    told = section("commands.md", "At the prompt of homelake sql")

    assert [name for name in DOT_COMMANDS if f"`{name}" not in told] == []


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_column_is_on_the_page(table: Any) -> None:
    told = section("tables.md", table.name)

    assert [column.name for column in view_columns(table) if f"\n| `{column.name}` |" not in told] == []
    assert [line for line in told.splitlines() if line.startswith("| `") and line.count(" | ") != 6] == []


def test_no_page_names_a_directory_of_the_machine_that_made_it(tmp_path: Path) -> None:
    assert [page for page, text in WRITTEN.items() if str(tmp_path.parent) in text or "/tmp/" in text] == []  # noqa: S108  (no file)
