"""YAML as a tree of its own nodes, with their lines: what libyaml reads, by the rules of YAML 1.2's core schema.

The `yaml` package of npm, which Continue's command line reads with, follows 1.2: `no` and `on` are texts there, `0o7` a
number. PyYAML resolves plain scalars by 1.1, so only its events are used. Nothing recurses, no alias is copied, and
libyaml itself stops at 1000 levels.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

import yaml

from parsers._text import NONCHARACTERS

_CORE = "tag:yaml.org,2002:"
_NULL = re.compile("|null|Null|NULL|~")
_NO_TEXT = re.compile(
    r"true|True|TRUE|false|False|FALSE|[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
    r"|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)
_BREAKS = "\x85\u2028\u2029"
"""Line breaks of 1.1, plain characters in 1.2."""

_MOST_ALIASES, _MOST_REPEATED = 100, 1_000_000
"""Aliases of one node (with more the `yaml` package refuses the document), and characters that aliases may repeat."""

_TABS = re.compile(r"^( *-) *\t[ \t]*|^ *(?=\t)[ \t]+(?:#.*)?$", re.MULTILINE)
"""Tabs that 1.2 takes and libyaml does not: behind a dash, and on a line without content."""


class YamlError(ValueError):
    """What is no YAML, or more than one document; `line` counts from 1."""

    def __init__(self, line: int) -> None:
        super().__init__(f"line {line}")
        self.line = line


class Kind(StrEnum):
    """What a node is: a text, null, a list, a map, or anything else."""

    TEXT = "text"
    NULL = "null"
    LIST = "list"
    MAP = "map"
    OTHER = "other"


@dataclass(slots=True, eq=False)
class Node:
    """A scalar or a collection; `line` counts from 1, `column` from 0.

    `nodes` holds the elements of a list, or the keys and values of a map in turn; `is_flow` whether it is written in
    brackets.
    """

    kind: Kind
    line: int
    column: int
    text: str = ""
    is_flow: bool = False
    nodes: list["Node"] = field(default_factory=list)

    def members(self) -> list[tuple["Node", "Node"]]:
        """The keys of a map with their values."""
        return list(zip(self.nodes[::2], self.nodes[1::2], strict=True))


def read_document(text: str) -> Node | None:
    """Read one document; null where there is none. Raises YamlError, also for a character that YAML has not."""
    marks = [mark for mark in NONCHARACTERS if mark not in text][: len(_BREAKS)]
    hidden = str.maketrans(dict(zip(_BREAKS, marks, strict=False)))
    shown = str.maketrans(dict(zip(marks, _BREAKS, strict=False)))
    text = _TABS.sub(r"\1 ", text.translate(hidden))
    tree = _Tree(shown)
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            tree.add(event)
    except UnicodeEncodeError as error:
        raise YamlError(text.count("\n", 0, error.start) + 1) from None
    except yaml.YAMLError as error:
        raise YamlError(_line_of(error, text)) from None
    return tree.root.nodes[0] if tree.root.nodes else None


class _Tree:
    """Puts events together; `open` holds the collections that have not ended."""

    def __init__(self, shown: dict[int, str]) -> None:
        self.root = Node(Kind.LIST, 1, 0)
        self.open = [self.root]
        self.anchors: dict[str, Node] = {}
        self.aliases = Counter[Node]()
        self.repeated = 0
        self.shown = shown

    def add(self, event: yaml.Event) -> None:
        """Take one event. Raises YamlError for a second document and a bad alias."""
        mark = event.start_mark
        line, column = (mark.line + 1, mark.column) if mark else (1, 0)
        match event:
            case yaml.DocumentStartEvent() if self.root.nodes:
                raise YamlError(line)
            case yaml.CollectionEndEvent():
                self.open.pop()
            case yaml.AliasEvent():
                self._add_alias(self.anchors.get(event.anchor or ""), line)
            case yaml.ScalarEvent():
                text = event.value.translate(self.shown)
                self._add_node(event, Node(_kind_of_scalar(event), line, column, text))
            case yaml.CollectionStartEvent():
                node = Node(_kind_of_collection(event), line, column, is_flow=bool(event.flow_style))
                self._add_node(event, node)
                self.open.append(node)

    def _add_alias(self, node: Node | None, line: int) -> None:
        """Add a node once more. Raises YamlError for none, and for a file that aliases blow up."""
        if node is None:
            raise YamlError(line)
        self.aliases[node] += 1
        self.repeated += len(node.text)
        if self.aliases[node] > _MOST_ALIASES or self.repeated > _MOST_REPEATED:
            raise YamlError(line)
        self.open[-1].nodes.append(node)

    def _add_node(self, event: yaml.NodeEvent, node: Node) -> None:
        self.open[-1].nodes.append(node)
        if event.anchor:
            self.anchors[event.anchor] = node


def _core_tag(event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> str | None:
    """Name of the tag of an event, if it is one of YAML's own; the others change nothing."""
    tag = event.tag or ""
    return tag.removeprefix(_CORE) if tag.startswith(_CORE) else None


def _kind_of_collection(event: yaml.CollectionStartEvent) -> Kind:
    is_list = isinstance(event, yaml.SequenceStartEvent)
    if _core_tag(event) not in (None, "seq" if is_list else "map"):
        return Kind.OTHER
    return Kind.LIST if is_list else Kind.MAP


def _kind_of_scalar(event: yaml.ScalarEvent) -> Kind:
    tag = _core_tag(event)
    if tag is not None:
        return {"str": Kind.TEXT, "null": Kind.NULL}.get(tag, Kind.OTHER)
    # A tag and quotes both say that the scalar is not to be resolved by what it looks like.
    if event.tag or event.implicit == (False, True):
        return Kind.TEXT
    if _NULL.fullmatch(event.value):
        return Kind.NULL
    return Kind.OTHER if _NO_TEXT.fullmatch(event.value) else Kind.TEXT


def _line_of(error: yaml.YAMLError, text: str) -> int:
    """Line from 1 at which libyaml stopped: where what it could not end begins, if it stopped at the text's end."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        at_end = error.problem_mark.index >= len(text.rstrip())
        began = error.context_mark if at_end or error.context == "while scanning a simple key" else None
        return (began or error.problem_mark).line + 1
    # Only the reader's refusal of a character has no mark, but a position in UTF-8.
    return text.encode().count(b"\n", 0, getattr(error, "position", 0)) + 1
