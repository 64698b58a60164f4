"""Collections that look alike: one build of all of them and builds of one after the other leave the same lake."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from pipeline.memory import SETTLED_NS
from tests.archived import packed, session, write
from tests.conftest import OpenLake
from tests.lake import Outcome, homelake, parquet_files
from tests.made import MadeHome, reply, user
from tests.made_pear import MadePear, ask, say
from tests.tasks import TASKS

DAY = "2026-10-01"


def build(lake: Path, *arguments: str | Path) -> Outcome:
    outcome = homelake("build", *arguments, "-o", lake, "--workers", "1")
    assert outcome.exit_code in (0, 3), outcome.stderr
    return outcome


def differing(lake: Path, other: Path) -> list[str]:
    some, others = parquet_files(lake), parquet_files(other)
    return sorted(name for name in some.keys() | others.keys() if some.get(name) != others.get(name))


def test_a_folder_without_files_stays_its_homes_own(tmp_path: Path, open_lake: OpenLake) -> None:
    """Two homes of one user in one collection: the folder of a task is at one path in both, and no file tells it."""
    for name in ("ann", "old/ann"):
        (tmp_path / "in" / name / TASKS / "t1").mkdir(parents=True)
        MadeHome(tmp_path / "in" / name).session("s", user(name), reply("hello"))
    build(tmp_path / "lake", tmp_path / "in", "--host", "box", "--collected-at", DAY)
    shutil.rmtree(tmp_path / "in/ann" / TASKS / "t1")

    build(tmp_path / "lake", tmp_path / "in", "--host", "box", "--collected-at", "2026-10-02")

    lake = open_lake(tmp_path / "lake")
    assert sorted(lake.column("select current from sessions where session_id = 't1'")) == [False, True]


def test_collections_without_a_file_are_told_apart(tmp_path: Path, open_lake: OpenLake) -> None:
    """Homes of no host that hold the folder of a task and no file."""
    for name in "ab":
        (tmp_path / name / TASKS / "t1").mkdir(parents=True)
    MadeHome(tmp_path / "c").session("s", user("x"), reply("y"))

    build(tmp_path / "at_once", *(tmp_path / name for name in "abc"))
    for name in "cba":
        build(tmp_path / "lake", tmp_path / name, tmp_path / "c")

    assert differing(tmp_path / "lake", tmp_path / "at_once") == []
    assert open_lake(tmp_path / "lake").count("collections") == 3
    assert open_lake(tmp_path / "lake").count("sessions", "session_id = 't1'") == 2


def test_damaged_archives_without_a_home_are_told_apart(tmp_path: Path, open_lake: OpenLake) -> None:
    cut = packed([("notes/a.bin", os.urandom(2000))], "tar.gz")[:1500]
    for name in ("a", "b"):
        write(tmp_path / f"{name}.tar.gz", cut)
    MadeHome(tmp_path / "c").session("s", user("x"), reply("y"))

    build(tmp_path / "at_once", tmp_path / "a.tar.gz", tmp_path / "b.tar.gz", tmp_path / "c")
    for name in ("b", "a", "a"):
        build(tmp_path / "lake", tmp_path / f"{name}.tar.gz", tmp_path / "c")

    assert differing(tmp_path / "lake", tmp_path / "at_once") == []
    assert open_lake(tmp_path / "lake").count("collections") == 3


def test_a_leftover_that_was_not_read_is_looked_at_again(tmp_path: Path, open_lake: OpenLake) -> None:
    """Of two leftovers the newer one could not be read; now it can, and has the size and the time that it had."""
    place = tmp_path / "first"
    made = MadePear(place)
    told = made.ui("t1", say(0, "text", "older"), ask(1, "tool", {"tool": "readFile", "path": "x"}))
    good = told.read_bytes()
    newer = good.replace(b"older", b"newer")
    told.unlink()
    _leave(told.parent, "1_a", good, 1_789_460_000)
    _leave(told.parent, "2_b", b"\0" * len(newer), 1_789_460_100)
    build(tmp_path / "lake", place, "--host", "box", "--user", "ann", "--collected-at", DAY)

    shutil.copytree(place, tmp_path / "second")
    _leave(tmp_path / "second" / TASKS / "t1", "2_b", newer, 1_789_460_100)
    build(tmp_path / "lake", tmp_path / "second", "--host", "box", "--user", "ann", "--collected-at", "2026-10-02")

    lake = open_lake(tmp_path / "lake")
    assert lake.column("select distinct text from timeline where turn_type = 'user' and current") == ["newer"]


def _leave(folder: Path, name: str, data: bytes, seconds: int) -> None:
    """Write what an interrupted write leaves behind, of a time."""
    path = folder / f".ui_messages.json.new_{name}.tmp"
    path.write_bytes(data)
    os.utime(path, (seconds, seconds))


def test_a_template_may_match_archives_alone_that_did_not_change(tmp_path: Path) -> None:
    write(tmp_path / "in/a.tar", packed([("ann/.continue/sessions/s.json", session("a"))], "tar"))
    write(tmp_path / "in/b.tar", packed([("x/y/bob/.continue/sessions/s.json", session("b"))], "tar"))
    options = ("--host", "box", "--path-template", "{user}")
    _settle()
    build(tmp_path / "lake", tmp_path / "in", *options)

    write(tmp_path / "in/b.tar", packed([("x/y/bob/.continue/sessions/s.json", session("bb"))], "tar"))
    outcome = build(tmp_path / "lake", tmp_path / "in", *options)

    assert outcome.stdout.splitlines()[0].count("1 archive unchanged") == 1


def _settle() -> None:
    """Wait until files that were written are no longer taken for ones that change just now."""
    time.sleep(2 * SETTLED_NS / 1e9)


def test_an_empty_home_that_appears_counts_in_any_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("1", "2"):
        MadeHome(tmp_path / name / "in/ann").session("s", user("x"), reply("y"))
        os.utime(tmp_path / name / "in/ann/.continue/sessions/s.json", (1_789_460_000,) * 2)
        os.utime(tmp_path / name / "in/ann/.continue/sessions/sessions.json", (1_789_460_000,) * 2)
    (tmp_path / "2/in/bob" / TASKS / "t1").mkdir(parents=True)

    for lake, order in (("lake", "12"), ("other", "21")):
        for name in order:
            monkeypatch.chdir(tmp_path / name)
            build(tmp_path / lake, "in", "--host", "box", "--collected-at", DAY)

    assert differing(tmp_path / "lake", tmp_path / "other") == []


def test_what_was_read_at_last_is_current(tmp_path: Path, open_lake: OpenLake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two collections of one time that in which a file could not be read is the older one, whatever they hold."""
    names = [f"user{n}" for n in range(6)]
    for name in names:
        MadeHome(tmp_path / "in" / name).file("permissions.yaml", f"allow: [{name}]")
    read_bytes = Path.read_bytes

    def denied(path: Path) -> bytes:
        if path.name == "permissions.yaml":
            raise PermissionError(13, "Permission denied")
        return read_bytes(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", denied)
        build(tmp_path / "lake", tmp_path / "in", "--host", "box")
    build(tmp_path / "lake", tmp_path / "in", "--host", "box")

    assert open_lake(tmp_path / "lake").column("select user from permissions where current order by user") == names


@pytest.mark.parametrize("form", ["tar", "tar.gz"])
def test_what_a_cut_archive_lacks_was_not_deleted(form: str, tmp_path: Path, open_lake: OpenLake) -> None:
    entries = [(f"ann/.continue/sessions/{name}.json", session(f"{name}{'x' * 5000}")) for name in ("s1", "s2")]
    whole = packed(entries, form)
    write(tmp_path / f"1.{form}", whole)
    write(tmp_path / f"2.{form}", whole[: whole.index(b"s2.json") if form == "tar" else -40])
    write(tmp_path / f"3.{form}", packed(entries[:1], form))

    deleted = []
    for day in (1, 2, 3):
        build(tmp_path / "lake", tmp_path / f"{day}.{form}", "--host", "box", "--collected-at", f"2026-10-0{day}")
        found = open_lake(tmp_path / "lake").rows(
            "select file_id, gone.deleted_between[1]::date, gone.deleted_between[2]::date "
            "from sessions_deleted as gone join sessions using (session_key)"
        )
        deleted.append([(name, before.day, after.day) for name, before, after in found])

    assert deleted == [[], [], [("s2", 1, 3)]]


def test_a_directory_that_cannot_be_listed_is_a_problem_and_no_deletion(
    tmp_path: Path, open_lake: OpenLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ann", "bob"):
        MadeHome(tmp_path / "in" / name).session("s", user("x"), reply("y"))
    build(tmp_path / "lake", tmp_path / "in", "--host", "box", "--collected-at", DAY)
    scandir = os.scandir

    def closed(path: str | int) -> object:
        if str(path).endswith(("/ann/.continue/sessions", "/in/bob")):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", closed)
    build(tmp_path / "lake", tmp_path / "in", "--host", "box", "--collected-at", "2026-10-02")

    lake = open_lake(tmp_path / "lake")
    assert lake.rows("select source_file, reason, lost, detail from problems where current order by all") == [
        ("/ann/.continue/sessions", "unreadable", True, None),
        ("/bob", "unreadable", True, "not listed"),
    ]
    assert lake.count("sessions_deleted") == 0


def test_problems_of_copies_of_a_collection_are_one(tmp_path: Path) -> None:
    head = {"hostname": "box", "finished": DAY}
    for name in ("a", "b"):
        write(tmp_path / name / "in/collection.json", json.dumps(head).encode())
        write(tmp_path / name / "in/manifest.jsonl", b"{\n[]\n[]\n")
        write(tmp_path / name / "in/fs/home/ann/.continue/sessions/s.json", session("text"))
        os.utime(tmp_path / name / "in/fs/home/ann/.continue/sessions/s.json", (1_789_460_000,) * 2)

    build(tmp_path / "at_once", tmp_path / "a", tmp_path / "b")
    build(tmp_path / "lake", tmp_path / "b")
    build(tmp_path / "lake", tmp_path / "a")

    assert differing(tmp_path / "lake", tmp_path / "at_once") == []
