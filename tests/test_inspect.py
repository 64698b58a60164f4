"""What `homelake inspect` knows and prints."""

import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest

import parsers
from pipeline.discover import Options, discover
from pipeline.inspect import Overview, overview, render
from pipeline.model import Collection
from tests.archived import collected, line, tarred, write
from tests.trees import found, put


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Collection]:
    put(
        tmp_path,
        "web1/home/ann/.continue/sessions/a.json",
        "web1/home/ann/.continue/config.yaml",
        text="12345",
    )
    put(tmp_path, "web1/home/ann/.pearai/sessions/p.json", "web1/home/ann/.pearai/index/x", text="123")
    put(
        tmp_path,
        "web2/home/NULL/.continue/sessions/a.json",
        "web2/home/NULL/.continue/sessions/b.json",
        text="1",
    )
    (tmp_path / "web2/home/carl").mkdir()
    (tmp_path / "web2/home/carl/.continue").symlink_to("elsewhere")
    os.mkfifo(tmp_path / "web2/home/NULL/.continue/pipe")
    for index in tmp_path.rglob("index"):
        os.utime(index, (1_700_000_000, 1_700_000_000))
    monkeypatch.chdir(tmp_path)
    return found(".", options=Options(path_template="{host}/home/{user}"))


def test_overview_counts_what_there_is(fleet: list[Collection]) -> None:
    seen = overview(fleet)

    assert (seen.hosts, seen.agents) == (["web1", "web2"], ["continue", "pearai"])
    assert [(c.input, c.host, c.collected_utc, c.homes, c.files, c.bytes) for c in seen.collections] == [
        ("./web1/home", "web1", "2026-09-15T09:00:00.000Z", 1, 4, 13),
        ("./web2/home", "web2", "2026-09-15T09:00:00.000Z", 1, 3, 2),
    ]
    assert [(h.host, h.user, h.path, h.agents, h.files, h.bytes) for h in seen.homes] == [
        ("web1", "ann", "/web1/home/ann", ["continue", "pearai"], 4, 13),
        ("web2", "NULL", "/web2/home/NULL", ["continue"], 3, 2),
    ]
    assert [(f.agent, f.source, f.status, f.files, f.bytes) for f in seen.files] == [
        ("continue", "continue.session", "parsed", 3, 7),
        ("continue", None, "secret", 1, 5),
        ("continue", None, "skipped", 1, 0),
        ("pearai", "pearai.session", "parsed", 1, 3),
        ("pearai", None, "known", 1, 0),
    ]
    assert seen.links == ["/web2/home/carl/.continue"]
    assert seen.odd == ["/web2/home/NULL/.continue/pipe"]


def test_overview_of_a_collection_of_windows(tmp_path: Path) -> None:
    home = "C:\\Users\\ann"
    told = [line(f"{home}\\.continue\\sessions\\a.json", b"x", home=home, user="ann")]
    files = [("fs/C/Users/ann/.continue/sessions/a.json", b"x")]
    write(tmp_path / "a.tar", tarred([*collected(told, {})[:2], *files]))

    seen = overview(found(tmp_path / "a.tar"))

    assert [(home.user, home.path, home.files) for home in seen.homes] == [("ann", home, 1)]


def test_files_that_are_not_read_have_no_source(tmp_path: Path) -> None:
    folder = "home/.config/PearAI/User/globalStorage/pearai.pearai-roo-cline/tasks/t1"
    put(tmp_path, f"{folder}/ui_messages.json", f"{folder}/ui_messages.json.bak_1", text='[{"ts": 1}]')
    collections, _ = discover([str(tmp_path / "home")], parsers.LAYOUTS, parsers.classify, Options())

    seen = overview(collections)

    assert [(f.source, f.status) for f in seen.files] == [("pearai.ui_messages", "parsed"), (None, "known")]


def test_overview_is_json(fleet: list[Collection]) -> None:
    assert json.loads(json.dumps(asdict(overview(fleet))))["hosts"] == ["web1", "web2"]


def test_render_is_plain_tables(fleet: list[Collection]) -> None:
    assert render(overview(fleet)).splitlines() == [
        "2 collections, 2 hosts, 2 homes, 7 files, 0.0 MB",
        "",
        "input        host  collected (UTC)           homes  files  bytes",
        "-----------  ----  ------------------------  -----  -----  -----",
        "./web1/home  web1  2026-09-15T09:00:00.000Z      1      4     13",
        "./web2/home  web2  2026-09-15T09:00:00.000Z      1      3      2",
        "",
        "host  user    home             assistants        files  bytes",
        "----  ------  ---------------  ----------------  -----  -----",
        "web1  ann     /web1/home/ann   continue, pearai      4     13",
        "web2  'NULL'  /web2/home/NULL  continue              3      2",
        "",
        "assistant  source            status   files  bytes",
        "---------  ----------------  -------  -----  -----",
        "continue   continue.session  parsed       3      7",
        "continue   -                 secret       1      5",
        "continue   -                 skipped      1      0",
        "pearai     pearai.session    parsed       1      3",
        "pearai     -                 known        1      0",
        "",
        "Symbolic links, not followed:",
        "  /web2/home/carl/.continue",
        "",
        "Pipes, sockets and devices, not opened:",
        "  /web2/home/NULL/.continue/pipe",
    ]


def test_render_of_nothing_is_a_line() -> None:
    assert render(overview([])) == "0 collections, 0 hosts, 0 homes, 0 files, 0.0 MB"


def test_render_obeys_no_name(tmp_path: Path) -> None:
    put(tmp_path, "x\n\x1b[31m/.continue/sessions/a.json", "y/z")
    (tmp_path / "y/.continue").symlink_to("\x1b[0m")

    text = render(overview(found(tmp_path)))

    assert "\x1b" not in text
    assert "x\\n\\x1b[31m" in text


def test_render_counts_paths_beyond_the_first() -> None:
    links = [f"/{number:03}" for number in range(25)]

    text = render(Overview([], [], [], [], [], links, ["/shut"], []))

    assert "  /019\n  and 5 more\n" in text
    assert "/020" not in text
    assert text.endswith("Directories that cannot be listed:\n  /shut")


def test_overview_of_a_home_without_files(tmp_path: Path) -> None:
    put(tmp_path, "alice/.continue/sessions/")

    seen = overview(found(tmp_path))

    assert [(h.path, h.files) for h in seen.homes] == [("/", 0)]
    assert seen.collections[0].collected_utc is None


@pytest.mark.parametrize("milliseconds", [10**18, -(10**18)])
def test_overview_of_a_time_beyond_the_calendar(milliseconds: int) -> None:
    assert overview([Collection("x", None, milliseconds, ())]).collections[0].collected_utc is None
