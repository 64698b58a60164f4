"""What every parser has, and the small functions that they share."""

import pkgutil

import pytest

import parsers
from parsers._paths import project_path
from parsers._text import Cleaner, decode
from pipeline.discover import Options, discover
from tests.layout import FIXTURES


def test_every_source_module_is_listed() -> None:
    modules = {m.name for m in pkgutil.iter_modules(parsers.__path__) if not m.name.startswith("_")} - {"layouts"}

    assert {source.name.replace(".", "_") for source in parsers.SOURCES} == modules


def test_every_source_has_fixtures() -> None:
    roots = [str(FIXTURES / "corpus/homes"), str(FIXTURES / "cases")]
    collections, _ = discover(roots, parsers.LAYOUTS, parsers.classify, Options())

    found = {artifact.source for each in collections for home in each.homes for artifact in home.artifacts}

    assert {source.name for source in parsers.SOURCES} <= found


@pytest.mark.parametrize(
    ("stored", "path"),
    [
        (None, None),
        ("", None),
        ("/home/dana/shop", "/home/dana/shop"),
        ("file:///home/dana/shop", "/home/dana/shop"),
        ("file:///c%3A/Users/O%27Hara/a%23b", "c:/Users/O'Hara/a#b"),
        ("file:///C:/x", "C:/x"),
        ("file://host/share/x", "//host/share/x"),
        ("file:///a%FFb%C3%A9", "/a%FFbé"),
        ("file:///a%ffb%c3%a9%C3%e2%82x", "/a%ffbé%C3%e2%82x"),
        ("file:///a%00b", "/a%00b"),
        ("file:///50%", "/50%"),
        ("vscode-remote://ssh/x", "vscode-remote://ssh/x"),
    ],
)
def test_project_path_of_a_workspace(stored: str | None, path: str | None) -> None:
    assert project_path(stored) == path


def test_decode_marks_each_run_of_bad_bytes_once() -> None:
    decoded = decode(b"price \xbc\xdb\xb8\xf1\xf1 end \xef\xbf\xbd")
    cleaner = Cleaner(decoded.bad)

    assert cleaner.text(decoded.text) == "price \ufffd\u06f8\ufffd end \ufffd"
    assert cleaner.reasons == {"invalid_utf8"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_decode_of_other_encodings(encoding: str) -> None:
    assert decode('{"a": "é"}'.encode(encoding)).text == '{"a": "é"}'


def test_cleaner_replaces_what_no_column_takes() -> None:
    cleaner = Cleaner()

    assert cleaner.text("a\0b \ud83d c" + "\0" * 17 + "\x07😀") == "a\ufffdb \ufffd c\ufffd\x07😀"
    assert cleaner.reasons == {"nul_character", "lone_surrogate", "zero_filled"}
