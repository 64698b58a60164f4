"""What a SELECT is made of, by DuckDB's own parse tree: kinds of query, functions in FROM, tables."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import duckdb


class TreeError(Exception):
    """A text that has no tree, because it is no SELECT or nested too deeply; one clear line."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Names found anywhere in a SELECT, each once, in lower case but for `tables`.

    `nodes` are kinds of query (`SELECT_NODE`, `COPY_QUERY_NODE` ...), `functions` those that stand for a
    table, `tables` the names of tables and views, among them those of WITH.
    """

    nodes: dict[str, None] = field(default_factory=dict)
    functions: dict[str, None] = field(default_factory=dict)
    tables: dict[str, None] = field(default_factory=dict)


def tree(connection: duckdb.DuckDBPyConnection, select: str) -> Tree:
    """Read the parse tree of one SELECT; nothing is run or looked up. Raises TreeError or a parser error."""
    found = Tree()

    def collect(node: Mapping[str, object]) -> Mapping[str, object]:
        kind = node.get("type")
        if isinstance(kind, str) and kind.endswith("_NODE"):
            found.nodes[kind] = None
        elif kind == "TABLE_FUNCTION":
            function = node["function"]
            name = function["function_name"] if isinstance(function, dict) else function
            found.functions[str(name).lower()] = None
        elif kind == "BASE_TABLE":
            found.tables[str(node["table_name"])] = None
        return node

    row = connection.execute("select json_serialize_sql(?::varchar)", [select]).fetchone()
    try:
        parsed = json.loads(row[0] if row else "{}", object_hook=collect)
    except RecursionError:
        raise TreeError("the query is nested too deeply") from None
    if parsed.get("error", True) or not found.nodes:
        raise TreeError("not a SELECT")
    return found
