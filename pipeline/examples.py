"""The queries that come along, by name: what each asks, and which parameters it takes."""

import duckdb

from pipeline.join import selects
from pipeline.query import parameters
from pipeline.textgrid import GAP

EXAMPLES = selects("examples")
"""Their SELECTs, by name."""


def question(name: str) -> str:
    """What an example asks, by its first line."""
    return EXAMPLES[name].splitlines()[0].removeprefix("-- ")


def taken() -> dict[str, list[str]]:
    """Names of the parameters that each example takes."""
    with duckdb.connect() as connection:
        return {name: parameters(connection, select) for name, select in EXAMPLES.items()}


def listed() -> str:
    """A line for each example: its name, the values that it needs, and what it asks."""
    needed = {name: " ".join(f"{parameter}=..." for parameter in names) for name, names in taken().items()}
    first, second = max(map(len, needed)), max(map(len, needed.values()))
    return "\n".join(f"{name:<{first}}{GAP}{text:<{second}}{GAP}{question(name)}" for name, text in needed.items())
