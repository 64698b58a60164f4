"""What discovery lists below an agent directory."""

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.discover import Options, discover
from pipeline.model import Status
from tests.trees import LAYOUTS, MTIME_MS, artifacts, classify, put, source_files, the_home


def statuses(root: Path) -> dict[str, str]:
    return {a.home_path.removeprefix(".continue/"): a.status.value for a in artifacts(root)}


def test_files_are_parsed_known_or_secret(tmp_path: Path) -> None:
    put(tmp_path, ".continue/sessions/a.json", ".continue/sessions/sub/a.json", ".continue/rules/x.md")
    put(
        tmp_path,
        *(f".continue/{name}" for name in ("config.yaml", "config.json", "config.ts", ".env", "auth.json")),
    )
    put(tmp_path, ".continue/auth-x.json", ".continue/mcpServers/a/b.yaml", ".continue/config.yaml.bak")

    assert statuses(tmp_path) == {
        "sessions/a.json": "parsed",
        "sessions/sub/a.json": "known",
        "rules/x.md": "known",
        "config.yaml.bak": "known",
        "config.yaml": "secret",
        "config.json": "secret",
        "config.ts": "secret",
        ".env": "secret",
        "auth.json": "secret",
        "auth-x.json": "secret",
        "mcpServers/a/b.yaml": "secret",
    }


def test_only_what_is_parsed_has_a_source(tmp_path: Path) -> None:
    put(tmp_path, ".continue/sessions/sessions.json", ".continue/config.yaml", ".continue/x")

    assert {a.home_path: a.source for a in artifacts(tmp_path)} == {
        ".continue/sessions/sessions.json": "continue.index",
        ".continue/config.yaml": None,
        ".continue/x": None,
    }


def test_secret_outweighs_a_source(tmp_path: Path) -> None:
    put(tmp_path, ".continue/sessions/a.json", ".continue/config.json")

    collections, _ = discover([str(tmp_path)], LAYOUTS, lambda _agent, _path, _root: "every.file", Options())

    assert [(a.status, a.source) for a in collections[0].homes[0].artifacts] == [
        (Status.SECRET, None),
        (Status.PARSED, "every.file"),
    ]


def test_secret_is_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, ".continue/sessions/a.json", ".continue/config.json", ".continue/index/globalContext.json")
    monkeypatch.setattr("io.open", None)
    monkeypatch.setattr("os.open", None)

    assert len(artifacts(tmp_path)) == 4


def test_whole_directories_are_one_artifact(tmp_path: Path) -> None:
    put(tmp_path, ".continue/sessions/", ".continue/index/a/b", ".continue/index/globalContext.json")
    put(tmp_path, ".continue/extensions/x/y", ".continue/sub/index/z")
    os.utime(tmp_path / ".continue/index", (1_700_000_000, 1_700_000_000))

    listed = {a.home_path: a for a in artifacts(tmp_path)}

    assert list(listed) == [
        ".continue/extensions",
        ".continue/index",
        ".continue/index/globalContext.json",
        ".continue/sub/index/z",
    ]
    index = listed[".continue/index"]
    assert (index.status, index.size, index.mtime_ms, index.source) == (
        Status.KNOWN,
        None,
        1_700_000_000_000,
        None,
    )
    assert listed[".continue/index/globalContext.json"].status is Status.SECRET


def test_secret_that_is_a_link_is_none(tmp_path: Path) -> None:
    put(tmp_path, ".continue/sessions/", ".continue/index/", "x")
    (tmp_path / ".continue/index/globalContext.json").symlink_to(tmp_path / "x")

    assert source_files(tmp_path) == ["/.continue/index"]


def test_file_in_the_place_of_a_whole_directory(tmp_path: Path) -> None:
    put(tmp_path, ".continue/sessions/", ".continue/index", text="abc")

    (artifact,) = artifacts(tmp_path)

    assert (artifact.home_path, artifact.size) == (".continue/index", 3)


def test_size_and_time_of_a_file(tmp_path: Path) -> None:
    put(tmp_path, ".continue/sessions/a.json", text="ü" * 5, mtime_ms=MTIME_MS)
    put(tmp_path, ".continue/sessions/b.json", text="")
    os.utime(tmp_path / ".continue/sessions/b.json", ns=(0, 1_789_462_800_123_999_999))

    assert [(a.size, a.mtime_ms) for a in artifacts(tmp_path)] == [(10, MTIME_MS), (0, 1_789_462_800_123)]


def test_special_files_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "alice/.continue/sessions/a.json", "bob/.continue/sessions/")
    os.mkfifo(tmp_path / "alice/.continue/sessions/b.json")
    monkeypatch.chdir(tmp_path / "alice/.continue")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("agent.sock")

    home = the_home(tmp_path / "alice")

    assert [(a.home_path, a.status, a.source) for a in home.artifacts] == [
        (".continue/agent.sock", "skipped", None),
        (".continue/sessions/a.json", "parsed", "continue.session"),
        (".continue/sessions/b.json", "skipped", None),
    ]


def test_links_in_an_agent_directory_are_told_of(tmp_path: Path) -> None:
    put(tmp_path, "x/s.json", "alice/.continue/sessions/a.json", "alice/.continue/index/")
    (tmp_path / "alice/.continue/sessions/b.json").symlink_to(tmp_path / "x/s.json")
    (tmp_path / "alice/.continue/dev_data").symlink_to(tmp_path / "x")
    (tmp_path / "alice/.continue/index/y").symlink_to(tmp_path / "x")

    home = the_home(tmp_path / "alice")

    assert [a.home_path for a in home.artifacts] == [".continue/index", ".continue/sessions/a.json"]
    assert home.links == ("/.continue/dev_data", "/.continue/sessions/b.json")


def test_hard_links_are_files(tmp_path: Path) -> None:
    put(tmp_path, ".continue/sessions/a.json")
    (tmp_path / ".continue/sessions/b.json").hardlink_to(tmp_path / ".continue/sessions/a.json")

    assert len(artifacts(tmp_path)) == 2


def test_directory_that_cannot_be_listed_is_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, ".continue/sessions/a.json", ".continue/rules/x.md", ".continue/x.md")
    scandir = os.scandir
    shut = str(tmp_path / ".continue/sessions")

    def refuse(path: str) -> object:
        if path == shut:
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)

    assert [(a.home_path, a.status.value, a.size) for a in artifacts(tmp_path)] == [
        (".continue/rules/x.md", "known", 2),
        (".continue/sessions", "unreadable", None),
        (".continue/x.md", "known", 2),
    ]


@pytest.fixture
def shut() -> Iterator[Path]:
    """Homes of which some may not be read, seen by someone who is not root."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        put(root, *(f"{user}/.continue/sessions/{user}.json" for user in ("alice", "bob", "carol", "dave")))
        places = {"alice/.continue/sessions/alice.json": 0, "bob/.continue": 0, "carol": 0, "dave/.continue": 0o444}
        for place, mode in places.items():
            (root / place).chmod(mode)
        root.chmod(0o755)
        user = os.geteuid()
        os.seteuid(user or 65534)
        yield root
        os.seteuid(user)
        for place in places:
            (root / place).chmod(0o755)


def test_files_of_others_without_permission(shut: Path) -> None:
    collections, errors = discover([str(shut), str(shut / "carol")], LAYOUTS, classify, Options())

    assert [str(error) for error in errors] == [f"cannot open {shut}/carol: permission denied"]
    assert [(a.source_file, a.status.value) for home in collections[0].homes for a in home.artifacts] == [
        ("/alice/.continue/sessions/alice.json", "parsed"),
        ("/bob/.continue", "unreadable"),
        ("/dave/.continue/sessions", "unreadable"),
    ]
    assert collections[0].closed == ("/carol",)


def test_artifacts_are_in_order_of_their_paths(tmp_path: Path) -> None:
    names = ["b/c", "b.x", "a", "B", "b-", "ü", "😀"]
    put(tmp_path, ".continue/sessions/", *(f".continue/{name}" for name in names))

    paths = [a.home_path for a in artifacts(tmp_path)]

    assert paths == sorted(paths, key=str.encode)
    assert len(paths) == len(names)


def test_nothing_is_written_into_an_input(tmp_path: Path) -> None:
    put(tmp_path, ".continue/sessions/a.json", "state/sessions/sessions.json", "state/index/")

    def seen() -> list[tuple[str, int, int]]:
        return sorted((str(p), p.lstat().st_mtime_ns, p.lstat().st_mode) for p in tmp_path.rglob("*"))

    before = seen()
    artifacts(tmp_path)

    assert seen() == before
