"""Continue: the standing tool grants of the `cn` command line, `~/.continue/permissions.yaml`.

Three lists, `allow`, `ask` and `exclude`, of `Tool` or `Tool(<pattern>)`; written with empty lists on first use, and
rewritten whole when a rule is added, an empty list then as `null`. `cn` itself ignores a file that holds another key,
and one with a rule that is no pattern stops its start. Reference: extensions/cli/src/permissions of
continuedev/continue, permissionsYamlLoader.ts and policyWriter.ts.
"""

import re
from collections.abc import Iterator, Mapping

import polars as pl

from parsers._text import Cleaner, decode
from parsers._yaml import Kind, Node, YamlError, read_document
from pipeline.normalize import trim
from pipeline.schema import Column, Table
from pipeline.source import Records, Source

RULES = Table(
    "rules",
    "one record per rule",
    ("artifact", "record"),
    (
        Column("line", pl.Int32(), "Line of the rule, from 1."),
        Column("record", pl.Int32(), "Number of the rule in the file, from 1."),
        Column("scope", pl.String(), "`allow`, `ask` or `exclude`."),
        Column("rule", pl.String(), "The rule."),
        Column("honoured", pl.Boolean(), "Whether `cn` would use the file."),
    ),
)

LISTS = ("allow", "ask", "exclude")
_PATTERN = re.compile(r"[^(]+(\([^)]*\))?")
_FIELD = re.compile(r"[A-Za-z_][\w.-]{0,63}")
_MOST_NAMES = 20


def read(data: bytes, path: str, records: Records) -> None:
    """Read the rules, or record the loss of a file in any other shape."""
    decoded = decode(data)
    if not decoded.text.strip("\0 \t\r\n"):
        reason = "zero_filled" if "\0" in decoded.text else "empty_file"
        records.lose(0, reason, f"parser: unreadable ({reason})", size=len(data))
        return
    try:
        document = read_document(decoded.text)
        lists, others = _lists(document)
    except YamlError as error:
        shape = "only allow, ask and exclude lists of strings are read"
        text = f"parser: unsupported YAML at line {error.line} ({shape})"
        records.lose(error.line, "unsupported_yaml", text, size=len(data))
        return
    rules = [(scope, rule) for scope, nodes in lists for rule in nodes]
    honoured = not others and _reads_alike(data, document) and all(_PATTERN.fullmatch(rule.text) for _, rule in rules)
    for record, (scope, rule) in enumerate(rules, 1):
        cleaner = Cleaner(decoded.bad)
        records.count += 1
        records.rows["rules"].append((rule.line, record, scope, cleaner.text(rule.text), honoured))
        records.note_all(rule.line, cleaner.reasons, [])
    if others:
        records.note(others[0].line, "unsupported_yaml", _names(others))


def _lists(document: Node | None) -> tuple[list[tuple[str, list[Node]]], list[Node]]:
    """The lists that hold rules, in order, and the keys beside them. Raises YamlError for any other shape."""
    if document is None or document.kind is Kind.NULL:
        return [], []
    if document.kind is not Kind.MAP:
        raise YamlError(document.line)
    lists, others, seen = list[tuple[str, list[Node]]](), list[Node](), set[str]()
    for key, value in document.members():
        if key.kind is Kind.TEXT and key.text in seen:
            raise YamlError(key.line)
        if key.kind is Kind.TEXT:
            seen.add(key.text)
        if key.kind is not Kind.TEXT or key.text not in LISTS:
            others.append(key)
        elif value.kind is not Kind.NULL:
            lists.append((key.text, list(_texts(value))))
    if others and seen.isdisjoint(LISTS):
        raise YamlError(others[0].line)
    return lists, others


def _texts(value: Node) -> Iterator[Node]:
    """The elements of a list of texts. Raises YamlError for what is none."""
    if value.kind is not Kind.LIST:
        raise YamlError(value.line)
    for element in value.nodes:
        if element.kind is not Kind.TEXT:
            raise YamlError(element.line)
        yield element


def _reads_alike(data: bytes, document: Node | None) -> bool:
    """Say whether `cn` reads the same lists: UTF-8, lines that end in a line feed, brackets that do not fall back.

    In a block map its reader refuses elements in brackets that stand at the beginning of a line.
    """
    if b"\0" in data or re.search(rb"\r(?!\n)", data):
        return False
    if document is None or document.is_flow:
        return True
    return all(element.column > 0 for _, value in document.members() for element in value.nodes if value.is_flow)


def _names(keys: list[Node]) -> str | None:
    """Names of keys, as far as they look like names of fields."""
    names = [key.text for key in keys if key.kind is Kind.TEXT and _FIELD.fullmatch(key.text)]
    return ", ".join(names[:_MOST_NAMES]) or None


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Turn the raw rules into the frames of `pipeline.staging`."""
    rules = raw["rules"].with_columns(key=pl.concat_str("scope", pl.lit("\0"), "rule"))
    drafts = rules.select(
        "artifact",
        "line",
        "record",
        "key",
        order_line="line",
        rank=pl.lit(0),
        part="record",
        sub=pl.lit(0),
        kind=pl.lit("permission_setting"),
        turn_type=pl.lit("system"),
        text=trim(
            pl.format("permission setting: {}={} (from .continue/permissions.yaml, file mtime)", "scope", "rule")
        ),
        own_basis=pl.lit("file"),
        keyed_by_text=pl.lit(value=False),
    )
    return {"drafts": drafts, "rules": rules.select("artifact", "line", "record", "scope", "rule", "honoured", "key")}


SOURCE = Source(
    name="continue.permissions",
    agent="continue",
    pattern=re.compile(r"permissions\.yaml"),
    tables=(RULES,),
    read=read,
    stage=stage,
)
