"""The permission file of Continue's command line: the corpus against its lines, then shapes and hostile files.

What `cn` makes of a shape was tried with the package that it reads with (yaml 2.8.1 of npm).
"""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from parsers.continue_permissions import SOURCE
from tests.bounded import ending
from tests.source_files import Staged, fixtures_of, stage_bytes, stage_files

FILES = fixtures_of(SOURCE, ".continue")
TEMPLATE = """# cn tool permissions

# Tools that are automatically allowed without prompting
allow: []

# Tools that require user confirmation before execution
ask: []

# Tools that are completely excluded (model won't know they exist)
exclude: []
"""


def staged(tmp_path: Path, data: bytes | str) -> Staged:
    return stage_bytes(SOURCE, tmp_path, data, ".continue/permissions.yaml")


def rules(staged: Staged) -> list[tuple[Any, ...]]:
    """Line, list and text of each rule."""
    return staged.frames["rules"].select("line", "scope", "rule").rows()


def honoured(staged: Staged) -> set[bool]:
    """Whether `cn` would use the file, by its rules."""
    return set(staged.frames["rules"]["honoured"])


def unsupported(line: int) -> tuple[int, str, str]:
    """The loss of a file in another shape."""
    shape = "only allow, ask and exclude lists of strings are read"
    return line, "unsupported_yaml", f"parser: unsupported YAML at line {line} ({shape})"


@pytest.mark.parametrize("path", FILES, ids=lambda path: "-".join(path.parts[-4:-2]))
def test_file_of_the_corpus_gives_a_row_a_rule(path: Path) -> None:
    expected, scope = [], ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        key = re.match(r"(\w+):", line)
        scope = key[1] if key else scope
        if line.startswith("  - "):
            text = f"permission setting: {scope}={line[4:]} (from .continue/permissions.yaml, file mtime)"
            expected.append((number, "permission_setting", "system", "file", None, text))

    found = stage_files(SOURCE, {path: FILES[path]})

    assert found.rows("line", "kind", "turn_type", "own_basis", "own_utc", "text") == expected
    assert honoured(found) <= {True}
    assert (found.losses(), found.notes(), found.unaccounted()) == ([], [], [])


def test_files_of_the_corpus_hold_rules() -> None:
    found = stage_files(SOURCE, FILES)

    assert len(FILES) == 10
    assert found.frames["rules"]["scope"].value_counts().sort("scope").rows() == [("allow", 20), ("exclude", 1)]


def test_rule_has_a_row_of_its_own_with_the_same_place_and_key(tmp_path: Path) -> None:
    found = staged(tmp_path, "allow: [Read, Read]\nask: [Read]\n")

    place = ("line", "record", "key", "occurrence")
    assert found.rows(*place) == found.frames["rules"].select(place).rows()
    assert found.rows(*place) == [
        (1, 1, "allow\0Read", 0),
        (1, 2, "allow\0Read", 1),
        (2, 3, "ask\0Read", 0),
    ]
    assert found.frames["rules"]["value"].to_list() == [None] * 3


@pytest.mark.parametrize(
    "data",
    [
        TEMPLATE,
        "# nothing\n",
        "allow:\nask: null\nexclude: ~\n",
        "ask: []",
        "---\n...\n",
        "~",
        "allow: Null\nask: NULL # none\n",
    ],
)
def test_file_without_rules_gives_nothing(tmp_path: Path, data: str) -> None:
    found = staged(tmp_path, data)

    assert (found.reads[0].records, found.losses(), found.notes(), rules(found)) == (0, [], [], [])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("allow:\n  - Read\n  - Bash(git*)", [(2, "allow", "Read"), (3, "allow", "Bash(git*)")]),
        ("exclude:\n- Fetch\nallow:\n- Read\n", [(2, "exclude", "Fetch"), (4, "allow", "Read")]),
        ("allow:\n  - Read # why\n\n  # more\n  - 'it''s'\n  - \"a\\tb\"\n", [(2, "Read"), (5, "it's"), (6, "a\tb")]),
        ("allow: [Read,\n  Write]\n", [(1, "Read"), (2, "Write")]),
        ('{"allow": ["Read"], "ask": []}', [(1, "Read")]),
        ("allow:\n  - Bash(C:\\tools\\x*)\n", [(2, "Bash(C:\\tools\\x*)")]),
        ("? allow\n: - Read\n", [(2, "Read")]),
        (
            "allow:\n  - one\n    rule\n  - |\n    two\n  - >-\n    three\n",
            [(2, "one rule"), (4, "two\n"), (6, "three")],
        ),
        ("\ufeffallow: [Read]\r\nask:\r\n  - Write\r\n", [(1, "allow", "Read"), (3, "ask", "Write")]),
        ("%YAML 1.2\n---\nallow: [Read]\n...\n# end\n", [(3, "Read")]),
        ("allow: &a [Read]\nask: *a\n", [(1, "allow", "Read"), (1, "ask", "Read")]),
        ("allow: [&a Read, *a, &a Write, *a]", [(1, "Read"), (1, "Read"), (1, "Write"), (1, "Write")]),
        ("allow: [!!str 5, ! 6, !own 7, '8', \"null\"]", [(1, text) for text in ("5", "6", "7", "8", "null")]),
        ("allow: [no, yes, On, y, 0b1, 1_000, 1:30, 2020-01-01, tRUE]", None),
        ("allow:\n\t\n  -\tRead\n\t# why\n  - Write\n", [(3, "Read"), (5, "Write")]),
        (
            "# \u2028\nallow:\n  - a\u2028b\u0085c\u2029d\n  - é😀\u00a0x\n",
            [(3, "a\u2028b\u0085c\u2029d"), (4, "é😀\u00a0x")],
        ),
    ],
)
def test_rules_in_any_yaml(tmp_path: Path, data: str, expected: list[tuple[Any, ...]] | None) -> None:
    if expected is None:
        expected = [(1, text) for text in data.partition("[")[2].rstrip("]").split(", ")]

    found = staged(tmp_path, data)

    assert rules(found) == [rule if len(rule) == 3 else (rule[0], "allow", rule[1]) for rule in expected]
    assert honoured(found) == {True}
    assert (found.losses(), found.notes(), found.unaccounted()) == ([], [], [])


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ("allow:\n  - Read\nallow:\n  - Write\n", 3),
        ("more: 1\nask: []\nmore: 2\n", 3),
        *((f"ask: []\nallow:\n  - Read\n  - {element}\n", 4) for element in ("5", "true", "~", "", "1.5e3", ".inf")),
        *((f"allow: [{element}]", 1) for element in ("0o17", "0x1F", "-1", "+.5", "null", "[a]", "a: b", "!!int 'x'")),
        ("allow: Read\n", 1),
        ('ask: []\nallow: ""\n', 2),
        ("allow: false\n", 1),
        ("allow:\n  Read: true\n", 2),
        ("allow: !!set {Read}\n", 1),
        ("allow: !!omap [Read: 1]\n", 1),
        ("allow:\n  - Bash(a: b)\n", 2),
        ("- allow\n", 1),
        ("# c\nallow\n", 2),
        ("rules: [Read]\n", 1),
        ("allow: [Read]\n---\nask: []\n", 2),
        ("allow: [*none]\n", 1),
        ("ask: []\nallow:\n\t- Read\n", 3),
        ("allow: [Read\n\n", 1),
        ("allow:\n  - Read\n - Write\n", 3),
        ("allow:\n  - 'Read\n", 2),
        ("allow:\n  - Read\nBash\n", 3),
        ("allow: []\n  - Read\n", 2),
        ("allow:\n  - @x\n", 2),
        ('allow:\n  - "\\q"\n', 2),
        ("# a\nallow:\n  - a\x01b\n", 3),
        ("# a\nallow:\n  - a\x00b\n", 3),
        ("# é\n# \x7f\n", 2),
    ],
)
def test_other_shape_is_one_loss_and_no_rule(tmp_path: Path, data: str, line: int) -> None:
    found = staged(tmp_path, data)

    assert found.losses() == [unsupported(line)]
    assert (found.reads[0].records, rules(found), found.texts()) == (1, [], [])
    assert found.frames["faults"]["bytes"].to_list() == [len(data.encode())]


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"", "empty_file"), (b" \n\n", "empty_file"), (b"\0" * 200, "zero_filled"), (b"\xff\xfe\n\0", "empty_file")],
)
def test_file_of_which_nothing_is_there_is_unreadable(tmp_path: Path, data: bytes, reason: str) -> None:
    found = staged(tmp_path, data)

    assert found.losses() == [(0, reason, f"parser: unreadable ({reason})")]


@pytest.mark.parametrize(
    ("data", "line", "names"),
    [
        ("allow: [Read]\nmodels:\n  allow: [5]\n", 2, "models"),
        ("version: 1\nallow:\n  - Read\nother: x\n", 1, "version, other"),
        ("allow: [Read]\n5: x\n", 2, None),
        ("allow: [Read]\nsk secret: x\n", 2, None),
        ("allow: [Read]\n? [a]\n: x\n", 2, None),
        ("base: &b [Read]\nallow: *b\n", 1, "base"),
        ("<<: {ask: [Write]}\nallow: [Read]\n", 1, None),
    ],
)
def test_key_beside_the_lists_is_a_note_and_the_file_not_honoured(
    tmp_path: Path, data: str, line: int, names: str | None
) -> None:
    found = staged(tmp_path, data)

    assert [(scope, rule) for _, scope, rule in rules(found)] == [("allow", "Read")]
    assert honoured(found) == {False}
    assert found.notes() == [(line, "unsupported_yaml", names)]
    assert found.losses() == []


@pytest.mark.parametrize(
    ("rule", "is_honoured"),
    [
        ("Bash(git*)", True),
        ("Bash()", True),
        ("mcp tool", True),
        ("Bash(a\\nb)", True),
        ("Write(**/*.ts)", True),
        ("Read)", True),
        ("", False),
        ("(x)", False),
        ("Bash(f(x))", False),
        ("Bash(git*) more", False),
        ("Bash(git*", False),
        ("Bash(git*)\\n", False),
    ],
)
def test_rule_that_is_no_pattern_keeps_cn_from_the_whole_file(tmp_path: Path, rule: str, is_honoured: bool) -> None:
    found = staged(tmp_path, f'ask: [Fetch]\nallow: ["{rule}"]\n')

    assert len(rules(found)) == 2
    assert honoured(found) == {is_honoured}
    assert found.notes() == []


@pytest.mark.parametrize(
    ("data", "is_honoured"),
    [
        (b"allow: [\nRead\n]\n", False),
        (b"allow: [\n  Read\n]\n", True),
        (b'{"allow": [\n"Read"\n]}\n', True),
        (b"allow:\r  - Read\r", False),
        ("allow: [Read]\n".encode("utf-16"), False),
        (b"allow: [Read] # \xff\n", True),
    ],
)
def test_file_that_cn_reads_in_another_way(tmp_path: Path, data: bytes, is_honoured: bool) -> None:
    found = staged(tmp_path, data)

    assert [rule for _, _, rule in rules(found)] == ["Read"]
    assert honoured(found) == {is_honoured}


def test_odd_characters_are_replaced_with_a_note(tmp_path: Path) -> None:
    found = staged(tmp_path, b'allow:\n  - a\xff\xfeb\n  - "c\\0d"\n  - ok\n')

    assert rules(found) == [(2, "allow", "a\ufffdb"), (3, "allow", "c\ufffdd"), (4, "allow", "ok")]
    assert found.notes() == [(2, "invalid_utf8", None), (3, "nul_character", None)]


def test_lone_surrogate_is_refused(tmp_path: Path) -> None:
    found = staged(tmp_path, "# a\nallow: [x\ud800]\n".encode("utf-16", "surrogatepass"))

    assert found.losses() == [unsupported(2)]


@pytest.mark.parametrize(
    "data",
    [
        "[" * 3_000_000,
        "{" * 3_000_000,
        "- " * 1_000_000,
        "? " * 1_000_000,
        "- \n" * 100_000,
        "allow: " + "[" * 900 + "]" * 900,
        "x: &a [" + "y, " * 9 + "y]\n" + "".join(f"x{n}: &a [{'*a, ' * 9}*a]\n" for n in range(200)),
        "allow: &a [*a]",
        "&a allow: *a",
        "a: &a\n" * 50_000,
        "allow:\n" + "\t" * 3_000_000 + "x",
        "allow: " + "9" * 3_000_000 + "x",
        "!" * 1_000_000,
        "allow: '" + "''" * 1_000_000,
        "\x1f\x8b\x08\x00binary" * 100_000,
        "%" * 1_000_000,
    ],
    ids=lambda data: f"{data[:8]!r}-{len(data)}",
)
def test_hostile_file_is_one_loss_in_little_time(tmp_path: Path, data: str) -> None:
    with ending():
        found = staged(tmp_path, data)

    assert len(found.losses()) == 1
    assert rules(found) == []


@pytest.mark.parametrize(("text", "aliases"), [("a", 101), ("a" * 600_000, 2)])
def test_rules_that_aliases_blow_up_are_refused(tmp_path: Path, text: str, aliases: int) -> None:
    """The package refuses the 101st alias of one node; a long text is given up before."""
    found = staged(tmp_path, f"allow:\n  - &a {text}\n" + "  - *a\n" * aliases)

    assert [(line, reason) for line, reason, _ in found.losses()] == [(aliases + 2, "unsupported_yaml")]
    assert rules(found) == []


def test_bomb_of_aliases_beside_the_lists_is_not_unfolded(tmp_path: Path) -> None:
    levels = "".join(f"x{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 500))

    found = staged(tmp_path, "allow: [Read]\nx0: &a0 [y]\n" + levels)

    assert rules(found) == [(1, "allow", "Read")]
    assert [(line, reason) for line, reason, _ in found.notes()] == [(2, "unsupported_yaml")]


def test_many_rules_are_read_in_little_time(tmp_path: Path) -> None:
    with ending():
        found = staged(tmp_path, "allow:\n" + "  - Bash(git*)\n" * 100_000)

    assert found.frames["rules"].select(pl.col("line").max(), pl.col("occurrence").max()).row(0) == (100_001, 99_999)
