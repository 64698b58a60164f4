"""Files that stand in for others: which one is read, and what becomes of the others."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
import pytest

from pipeline.batch import Result, Taken, _staged
from pipeline.model import Artifact, Home, Status
from pipeline.schema import TEXT, Column, Table
from pipeline.source import Records, Source

TEXTS = Table("texts", "one record per element", (), (Column("text", TEXT, "The element."),))


def read(data: bytes, _path: str, records: Records) -> None:
    """A list of texts, a line each; a line `!` is damaged."""
    if not data.strip():
        records.lose(0, "empty_file", "parser: unreadable (empty_file)")
    for position, line in enumerate(data.decode().split(), 1):
        if line == "!":
            records.lose(position, "json_invalid", "parser: unparseable record")
        else:
            records.count += 1
            records.rows["texts"].append((line,))


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    drafts = raw["texts"].select(
        "artifact",
        "text",
        *(pl.lit(0).alias(name) for name in ("line", "order_line", "rank", "part", "sub")),
        kind=pl.lit("message"),
        turn_type=pl.lit("user"),
        keyed_by_text=pl.lit(value=True),
    )
    return {"drafts": drafts}


def source(name: str, **fields: object) -> Source:
    return Source(name, "a", re.compile(name), (TEXTS,), read, stage, **fields)  # type: ignore[arg-type]  # by name


Told = Callable[..., tuple[dict[str, list[str]], dict[str, tuple[str | None, str]]]]

SOURCES = (
    source("talk", by_content=lambda data: "other" if data.startswith(b"other") else "talk"),
    source("other"),
    source("state", replaced_on=frozenset(("empty_file", "json_invalid"))),
)


@pytest.fixture
def told(tmp_path: Path) -> Told:
    """Read files (name, source, text) of one directory; return the texts, and sources and statuses, by name."""

    def run(
        *files: tuple[str, str, str], newest: str = ""
    ) -> tuple[dict[str, list[str]], dict[str, tuple[str | None, str]]]:
        artifacts = []
        for name, kind, text in sorted(files):
            (tmp_path / name).write_text(text, encoding="utf-8")
            artifacts.append(
                Artifact(
                    agent="a",
                    source=kind,
                    status=Status.PARSED,
                    home_path=f"x/{name}",
                    source_file=f"/x/{name}",
                    location=tmp_path / name,
                    size=len(text),
                    mtime_ms=int(name == newest),
                    stands_in=name.startswith("."),
                )
            )
        home = Home(None, None, "here", tuple(artifacts), session_folders=(("a", "x"),))
        result = Result(0, 0)
        staged = _staged([Taken(0, None, home)], SOURCES, result)
        files_read = staged["files"].sort("artifact")
        names = [str(path)[2:] for path in files_read["home_path"]]
        rows = staged["rows"].filter(pl.col("kind") == "message")
        texts = {names[number]: found["text"].to_list() for (number,), found in rows.group_by("artifact")}
        hashed = {file.home_path for file in result.read[0].held.files if file.sha256}
        assert hashed >= set(files_read.filter(pl.col("status") == "parsed")["home_path"])
        assert staged["folders"]["session_path"].to_list() == ["x"]
        return texts, dict(zip(names, files_read.select("source", "status").rows(), strict=True))

    return run


UNREAD = (None, "known")


def test_nothing_stands_in_for_what_can_be_read(told: Told) -> None:
    texts, files = told(("talk", "talk", "a b"), (".new", "talk", "a b c"))

    assert texts == {"talk": ["a", "b"]}
    assert files == {"talk": ("talk", "parsed"), ".new": UNREAD}


def test_nothing_stands_in_for_what_is_damaged_in_part(told: Told) -> None:
    texts, files = told(("talk", "talk", "a !"), (".new", "talk", "a b c"))

    assert texts == {"talk": ["a"]}
    assert files[".new"] == UNREAD


@pytest.mark.parametrize("files", [[], [("talk", "talk", "")], [("talk", "talk", " ")]])
def test_one_stands_in_for_what_is_missing_or_empty(told: Told, files: list[tuple[str, str, str]]) -> None:
    texts, found = told(*files, (".new", "talk", "a b"))

    assert texts == {".new": ["a", "b"]}
    assert found[".new"] == ("talk", "parsed")


@pytest.mark.parametrize(("kind", "is_read"), [("talk", False), ("state", True)])
def test_source_says_on_which_damage_another_is_read(told: Told, kind: str, *, is_read: bool) -> None:
    texts, found = told((kind, kind, "!"), (".backup", kind, "a"))

    assert texts == ({".backup": ["a"]} if is_read else {})
    assert found[kind] == (kind, "parsed")
    assert found[".backup"] == ((kind, "parsed") if is_read else UNREAD)


@pytest.mark.parametrize(("newest", "text"), [(".bak", "b"), (".new", "n")])
def test_the_newest_is_read(told: Told, newest: str, text: str) -> None:
    texts, found = told((".bak", "talk", "b"), (".new", "talk", "n"), newest=newest)

    assert texts == {newest: [text]}
    assert sorted(found.values(), key=str) == [("talk", "parsed"), UNREAD]


def test_the_newest_that_is_whole_is_read(told: Told) -> None:
    texts, found = told((".bak", "talk", "b"), (".new", "talk", "b !"), (".zero", "talk", ""), newest=".new")

    assert texts == {".bak": ["b"]}
    assert found == {".bak": ("talk", "parsed"), ".new": UNREAD, ".zero": UNREAD}


def test_what_gives_rows_is_read_where_none_is_whole(told: Told) -> None:
    texts, found = told((".bak", "talk", "!"), (".new", "talk", "b !"), newest=".bak")

    assert texts == {".new": ["b"]}
    assert found == {".bak": UNREAD, ".new": ("talk", "parsed")}


def test_what_gives_nothing_is_read_alone_where_its_file_is_missing(told: Told) -> None:
    """The newest then tells why there is nothing; a file that is there tells it itself."""
    missing = told((".bak", "talk", "!"), (".new", "talk", ""))
    empty = told(("state", "state", ""), (".bak", "state", "!"))

    assert missing == ({}, {".bak": UNREAD, ".new": ("talk", "parsed")})
    assert empty == ({}, {"state": ("state", "parsed"), ".bak": UNREAD})


def test_content_tells_the_source(told: Told) -> None:
    texts, found = told(("talk", "talk", "a"), (".old", "talk", "other b"))

    assert texts == {"talk": ["a"], ".old": ["other", "b"]}
    assert found[".old"] == ("other", "parsed")


def test_what_content_tells_stands_in_for_a_file_of_that_source(told: Told) -> None:
    texts, found = told(("other", "other", "a"), (".old", "talk", "other b"))

    assert texts == {"other": ["a"]}
    assert found[".old"] == UNREAD


def test_source_without_a_parser_is_named_and_not_read(told: Told) -> None:
    texts, found = told(("later", "later", "a"), (".later", "later", "a"))

    assert texts == {}
    assert found == {"later": ("later", "known"), ".later": ("later", "known")}
