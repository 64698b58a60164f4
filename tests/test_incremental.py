"""Builds into a lake that is there: what is read, what is written, and that the outcome is that of one build."""

import os
import random
import shutil
import time
from functools import partial
from pathlib import Path

import pytest

import pipeline.build
from pipeline.memory import SETTLED_NS
from pipeline.plan import plan
from tests.archived import packed, write
from tests.conftest import OpenLake
from tests.lake import homelake, parquet_files
from tests.made import MadeHome, call, exchange, reply, usage, user

USERS = ("ann", "bob", "cat", "dan", "eve")
BOX = ("--host", "box", "--buckets", "3")
DAYS = ("--host", "box", "--path-template", "{collected}/{user}", "--buckets", "2")
MONTH = 31 * 86400
UNCHANGED = "5 homes, 5 of them unchanged, 0 files, 0.0 MB read"


def build(lake: Path, *arguments: str | Path, workers: str = "1") -> str:
    """Build; return the first line of the summary, from its first figure to its time."""
    outcome = homelake("build", *arguments, "-o", lake, "--workers", workers)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert "checks    all passed" in outcome.stdout
    return outcome.stdout.splitlines()[0].removeprefix(f"{lake}: ").rpartition(" in ")[0]


def make_home(path: Path, *texts: str) -> Path:
    """A home with a session of an exchange for each text, each of another month, its event, the call that it made."""
    home = MadeHome(path)
    for number, text in enumerate(texts):
        items = user(text), reply(f"re {text}", call(f"c{number}"), prompt=text)
        home.session(f"s{number}", *items, created=number * MONTH)
    home.events("chatInteraction", *(exchange(at, text, f"re {text}", f"s{at}") for at, text in enumerate(texts)))
    home.events("toolUsage", *(usage(at, f"c{at}") for at in range(len(texts))))
    return path


def settle() -> None:
    """Wait until files that were written are no longer taken for ones that change just now."""
    time.sleep(2 * SETTLED_NS / 1e9)


@pytest.fixture
def homes(tmp_path: Path) -> Path:
    for name in USERS:
        make_home(tmp_path / "home" / name, name, f"{name} again")
    return tmp_path / "home"


def inodes(lake: Path) -> dict[str, int]:
    build = lake / "current"
    return {file.relative_to(build).as_posix(): file.stat().st_ino for file in build.rglob("*.parquet")}


def test_a_second_build_reads_nothing_and_links_every_file(homes: Path, tmp_path: Path) -> None:
    first = build(tmp_path / "lake", homes, *BOX)
    before = inodes(tmp_path / "lake")

    second = build(tmp_path / "lake", homes, *BOX)

    assert first.startswith("5 homes, 25 files")
    assert second == UNCHANGED
    assert inodes(tmp_path / "lake") == before


def test_what_changed_is_read_and_files_of_others_are_linked(homes: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    build(tmp_path / "lake", homes, *BOX, "--collected-at", "2026-09-20")
    before = inodes(tmp_path / "lake")

    make_home(homes / "bob", "bob", "bob again", "bob once more")
    told = build(tmp_path / "lake", homes, *BOX, "--collected-at", "2026-09-21")

    assert told.startswith("5 homes, 4 of them unchanged, 6 files")
    after = inodes(tmp_path / "lake")
    changed = {Path(name) for name in after if after[name] != before.get(name)} - {Path("collections/00.parquet")}
    assert {path.parts[0] for path in changed} == {"artifacts", "sessions", "timeline", "tool_calls"}
    assert len({path.stem for path in changed}) == 1, "one user is in one bucket"
    lake = open_lake(tmp_path / "lake")
    assert lake.pairs("select user, count(*) from sessions group by all") == dict.fromkeys(USERS, 2) | {"bob": 3}


def test_files_whose_rows_stay_are_linked(homes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two homes of a bucket change, each in a month of its own; a third month has rows of both."""
    for name in USERS:
        make_home(homes / name, name, f"{name} again", f"{name} once more")
    build(tmp_path / "lake", homes, "--collected-at", "2026-12-20")
    before = inodes(tmp_path / "lake")

    make_home(homes / "ann", "ann instead", "ann again", "ann once more")
    make_home(homes / "bob", "bob", "bob again", "bob for the last time")
    monkeypatch.setattr(pipeline.build, "plan", partial(plan, batch_bytes=1))
    build(tmp_path / "lake", homes, "--collected-at", "2026-12-21")

    after = inodes(tmp_path / "lake")
    changed = {file for file in after if after[file] != before[file] and file.startswith("timeline")}
    assert {f"timeline/agent=continue/month={month}/00.parquet" for month in ("2026-09", "2026-11")} == changed
    assert "timeline/agent=continue/month=2026-10/00.parquet" in after


def test_bytes_that_change_under_an_old_time_are_read(homes: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    """The size and the time of a file can be what they were: what the disk says of its change is not.

    Which of two collections of one time is the newer one is not known, so the row may be current or not.
    """
    settle()
    build(tmp_path / "lake", homes, *BOX)
    file = homes / "ann/.continue/sessions/s0.json"
    before = file.stat()

    file.write_bytes(file.read_bytes().replace(b"re ann", b"oh ann"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    told = build(tmp_path / "lake", homes, *BOX)

    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert told.startswith("5 homes, 4 of them unchanged")
    assert open_lake(tmp_path / "lake").count("timeline", "text = 'oh ann' and kind = 'message'") == 1


def test_files_that_nobody_touched_are_not_opened(homes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle()
    build(tmp_path / "lake", homes, *BOX)
    opened: list[Path] = []
    read_bytes = Path.read_bytes

    def recorded(path: Path) -> bytes:
        opened.append(path)
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", recorded)
    told = build(tmp_path / "lake", homes, *BOX)

    assert told == UNCHANGED
    assert [path for path in opened if path.is_relative_to(homes)] == []


def test_a_copy_of_a_home_is_compared_by_its_bytes(homes: Path, tmp_path: Path) -> None:
    """A collection that was made again elsewhere holds what the lake knows."""
    build(tmp_path / "lake", homes, *BOX, "--collected-at", "2026-09-20")
    before = inodes(tmp_path / "lake")
    shutil.copytree(homes, tmp_path / "copy/home")

    told = build(tmp_path / "lake", tmp_path / "copy/home", *BOX, "--collected-at", "2026-09-21")

    assert told == UNCHANGED
    after = inodes(tmp_path / "lake")
    assert {name for name in after if after[name] != before[name]} == {"collections/00.parquet"}


def test_a_file_that_could_not_be_read_is_tried_again(homes: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    (homes / "ann/.continue/input_history.json").symlink_to("nowhere")
    broken = homes / "ann/.continue/permissions.yaml"
    broken.write_text("allow: [Bash]", encoding="utf-8")
    build(tmp_path / "lake", homes, *BOX)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "read_bytes", _deny(broken))
        build(tmp_path / "denied", homes, *BOX)
    assert open_lake(tmp_path / "denied").count("problems", "reason = 'unreadable'") == 1
    told = build(tmp_path / "denied", homes, *BOX)

    assert told.startswith("5 homes, 4 of them unchanged")
    assert open_lake(tmp_path / "denied").count("permissions", "current") == 1


def _deny(broken: Path):  # type: ignore[no-untyped-def]
    read_bytes = Path.read_bytes

    def read(path: Path) -> bytes:
        if path == broken:
            raise PermissionError(13, "Permission denied")
        return read_bytes(path)

    return read


def test_a_home_that_held_no_file_gets_one(tmp_path: Path, open_lake: OpenLake) -> None:
    (tmp_path / "home/ann/.continue/sessions").mkdir(parents=True)
    make_home(tmp_path / "home/bob", "bob")
    build(tmp_path / "lake", tmp_path / "home", *BOX)

    make_home(tmp_path / "home/ann", "ann")
    told = build(tmp_path / "lake", tmp_path / "home", *BOX)

    assert told.startswith("2 homes, 1 of them unchanged, 4 files")
    assert open_lake(tmp_path / "lake").column("select user from sessions order by user") == ["ann", "bob"]


def test_full_reads_all_again(homes: Path, tmp_path: Path) -> None:
    build(tmp_path / "lake", homes, *BOX)
    rows = parquet_files(tmp_path / "lake")

    told = build(tmp_path / "lake", homes, *BOX, "--full")

    assert told.startswith("5 homes, 25 files")
    assert parquet_files(tmp_path / "lake") == rows


# Archives.


def archive(path: Path, *texts: str, form: str = "tar.gz") -> Path:
    """An archive of a home with an exchange for each text."""
    folder = path.parent / f"{path.name}.made"
    shutil.rmtree(folder, ignore_errors=True)
    make_home(folder / "home" / "ann", *texts)
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    data = packed([(file.relative_to(folder).as_posix(), file.read_bytes()) for file in files], form)
    shutil.rmtree(folder)
    return write(path, data)


@pytest.mark.parametrize("form", ["tar", "tar.gz", "tar.zst", "zip"])
def test_an_archive_that_did_not_change_is_not_opened(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        archive(tmp_path / "in" / f"{number}.{form}", f"text {number}", form=form)
    options = ("--host", "box")
    settle()
    build(tmp_path / "lake", tmp_path / "in", *options)
    before = parquet_files(tmp_path / "lake")

    monkeypatch.setattr("pipeline.discover.open_archive", lambda *_: pytest.fail("opened an archive"))
    told = build(tmp_path / "lake", tmp_path / "in", *options)

    assert told == "0 homes, 3 archives unchanged, 0 files, 0.0 MB read"
    assert parquet_files(tmp_path / "lake") == before


def test_an_archive_that_changed_is_read(tmp_path: Path, open_lake: OpenLake) -> None:
    for number in range(3):
        archive(tmp_path / "in" / f"{number}.tar.gz", f"text {number}")
    settle()
    build(tmp_path / "lake", tmp_path / "in")

    archive(tmp_path / "in/1.tar.gz", "text 1", "text 1 b")
    told = build(tmp_path / "lake", tmp_path / "in")

    assert told.startswith("1 home, 2 archives unchanged, 5 files")
    lake = open_lake(tmp_path / "lake")
    assert lake.count("timeline", "text = 'text 1 b' and kind = 'message' and repeats_row_id is null") == 1
    assert lake.count("timeline", "text = 'text 1' and kind = 'message' and repeats_row_id is null") == 1


@pytest.mark.parametrize("option", [("--host", "other"), ("--collected-at", "2026-11-01"), ("--full",)])
def test_an_archive_is_read_again_with_other_options(option: tuple[str, ...], tmp_path: Path) -> None:
    path = archive(tmp_path / "a.tar.gz", "one")
    settle()
    build(tmp_path / "lake", path)

    told = build(tmp_path / "lake", path, *option)

    assert "archive" not in told


def test_a_lake_that_lost_its_memory_reads_again(homes: Path, tmp_path: Path) -> None:
    settle()
    build(tmp_path / "lake", homes, *BOX)
    before = parquet_files(tmp_path / "lake")
    (tmp_path / "lake/current/inputs.json").write_text("{", encoding="utf-8")

    told = build(tmp_path / "lake", homes, *BOX)

    assert told == UNCHANGED
    assert parquet_files(tmp_path / "lake") == before


# In any order, in one build or many.


def live(folder: Path, days: int, draw: random.Random) -> None:
    """Homes day by day in the folders of the days: most stay as they are, some change, go, or become what they were."""
    texts = {name: [name, f"{name} again"] for name in USERS}
    past: dict[str, list[Path]] = {name: [] for name in USERS}
    for day in range(days):
        for name in USERS:
            home = folder / f"2026-10-{day + 1:02}" / name
            change = draw.choice(["none", "none", "none", "add", "remove", "overwrite", "back", "gone"])
            if change == "gone":
                continue
            if change in ("none", "back") and past[name]:
                shutil.copytree(past[name][-1] if change == "none" else draw.choice(past[name]), home)
            else:
                if change == "add":
                    texts[name].append(f"{name} {day}")
                elif change == "remove" and len(texts[name]) > 1:
                    texts[name].pop()
                elif change == "overwrite":
                    texts[name][0] = f"{name} instead {day}"
                make_home(home, *texts[name])
            past[name].append(home)


@pytest.mark.parametrize("seed", range(3))
def test_collections_in_any_order_and_number_of_builds_give_the_same_bytes(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(seed)
    live(tmp_path / "days", 4, draw)
    every = sorted((tmp_path / "days").iterdir())
    for day in every:
        shutil.copytree(day, tmp_path / day.name / day.name)
    build(tmp_path / "at_once", tmp_path / "days", *DAYS)

    monkeypatch.setattr(pipeline.build, "plan", partial(plan, batch_bytes=1))
    left = draw.sample(every, len(every))
    while left:
        now = [left.pop() for _ in range(min(len(left), draw.choice([1, 1, 2])))]
        build(tmp_path / "lake", *(tmp_path / day.name for day in now), *DAYS)
        if draw.random() < 0.3:
            build(tmp_path / "lake", tmp_path / now[0].name, *DAYS)

    some, others = parquet_files(tmp_path / "lake"), parquet_files(tmp_path / "at_once")
    assert {name for name in some.keys() | others.keys() if some.get(name) != others.get(name)} <= {
        "collections/00.parquet"
    }, "they differ in the names of the inputs alone"


def test_many_homes_of_no_host_and_user_are_sorted_from_several_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_lake: OpenLake
) -> None:
    inputs = [make_home(tmp_path / f"{n}", f"text {n}", f"more {n}") for n in range(7)]
    for home in inputs:
        MadeHome(home).history(("asked before", 0), ("asked again", 1))
    build(tmp_path / "lake", *inputs)

    monkeypatch.setattr(pipeline.build, "plan", partial(plan, batch_bytes=1))
    build(tmp_path / "cut", *inputs[::-1])
    make_home(inputs[3], "text 3", "more 3", "and more")
    told = build(tmp_path / "cut", *inputs)
    monkeypatch.undo()
    build(tmp_path / "lake", *inputs)

    assert told.startswith("7 homes, 6 of them unchanged")
    assert parquet_files(tmp_path / "cut") == parquet_files(tmp_path / "lake")
    assert open_lake(tmp_path / "cut").count("sessions") == 15
