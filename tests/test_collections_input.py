"""Collections that a collector made: archives and directories with a manifest."""

import io
import json
import sqlite3
import tarfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.discover import Options
from pipeline.model import Artifact, Collection, Status
from tests.archived import FORMS, MTIME, Line, collected, line, opened, packed, session, tarred, texts, write
from tests.conftest import OpenLake
from tests.lake import homelake, parquet_files, run

ALICE = "/home/alice/.continue/sessions/a.json"
FINISHED_MS = 1_789_725_600_000
"""2026-09-18 10:00 UTC."""


def as_directory(place: Path, lines: Sequence[Line | str], files: Mapping[str, bytes], **head: object) -> Path:
    for name, data in collected(lines, files, **head):
        write(place / name, data)
    return place


def only(collections: list[Collection]) -> Collection:
    (collection,) = collections
    return collection


def by_path(collection: Collection) -> dict[str, Artifact]:
    return {artifact.source_file: artifact for home in collection.homes for artifact in home.artifacts}


@pytest.mark.parametrize("form", [*FORMS, "directory"])
def test_a_collection_says_whose_and_when(tmp_path: Path, form: str) -> None:
    told: tuple[list[Line | str], dict[str, bytes]] = ([line(ALICE, b"x", mtime=MTIME + 0.25)], {ALICE[1:]: b"x"})
    place = tmp_path / "c"
    path = as_directory(place, *told) if form == "directory" else write(place, packed(collected(*told), form))

    collections, errors = opened(path)

    assert not errors
    found = only(collections)
    assert (found.host, found.collected_ms, found.tool, found.version) == ("web01", FINISHED_MS, "gather", "1.4")
    (home,) = found.homes
    assert (home.host, home.user, home.identity) == ("web01", "alice", "web01\0alice\0/home/alice")
    (artifact,) = home.artifacts
    assert (artifact.source_file, artifact.home_path) == (ALICE, ".continue/sessions/a.json")
    assert (artifact.mtime_ms, artifact.size, artifact.status) == (MTIME * 1000 + 250, 1, Status.PARSED)
    assert artifact.location.read_bytes() == b"x"
    assert not found.problems


def test_the_user_is_the_manifests_and_the_host_an_option(tmp_path: Path) -> None:
    path = "/srv/people/u1/.continue/sessions/a.json"
    told = [line(path, b"x", home="/srv/people/u1", user="Alice Liddell")]

    found = only(opened(as_directory(tmp_path, told, {path[1:]: b"x"}), options=Options(host="db7", user="bob"))[0])

    (home,) = found.homes
    assert (home.host, home.user, home.identity) == ("db7", "Alice Liddell", "db7\0Alice Liddell\0/srv/people/u1")


def test_the_user_is_the_manifests_where_it_names_no_home_or_another(tmp_path: Path) -> None:
    lines = [
        line("/srv/state/.continue/sessions/b.json", b"x"),
        line("/home/eve2/.continue/sessions/c.json", b"x", home="", user="eve"),
        line("/home/two/.continue/sessions/d.json", b"x", home="", user="ann"),
        line("/home/two/.continue/sessions/e.json", b"x", home="", user="bob"),
    ]

    found = only(opened(as_directory(tmp_path, lines, {entry["path"][1:]: b"x" for entry in lines}))[0])

    assert sorted((home.artifacts[0].source_file, home.user) for home in found.homes) == [
        ("/home/eve2/.continue/sessions/c.json", "eve"),
        ("/home/two/.continue/sessions/d.json", "two"),
        ("/srv/state/.continue/sessions/b.json", "alice"),
    ]


def test_a_collection_of_windows(tmp_path: Path) -> None:
    path = "C:\\Users\\alice\\.continue\\sessions\\a.json"
    told = [line(path, b"x", home="C:\\Users\\alice")]

    found = only(opened(as_directory(tmp_path, told, {"C/Users/alice/.continue/sessions/a.json": b"x"}))[0])

    (home,) = found.homes
    (artifact,) = home.artifacts
    assert (home.user, artifact.source_file) == ("alice", path)
    assert artifact.home_path == ".continue/sessions/a.json"
    assert artifact.location.read_bytes() == b"x"


@pytest.mark.parametrize("home", ["C:\\Users\\alice", "C:/Users/alice"])
def test_a_folder_of_windows_has_the_path_that_it_has_there(tmp_path: Path, home: str) -> None:
    files = {"C/Users/alice/.continue/index/a.sqlite": b"x", "C/Users/alice/.continue/sessions/a.json": b"y"}
    told = [line(f"{path[0]}:{path[1:]}".replace("/", home[2]), data, home=home) for path, data in files.items()]

    found = only(opened(as_directory(tmp_path, told, files))[0])

    paths = (f"{home}/.continue/index", f"{home}/.continue/sessions/a.json")
    assert set(by_path(found)) == {path.replace("/", home[2]) for path in paths}


def test_paths_of_windows_may_be_long_and_have_its_separators(tmp_path: Path) -> None:
    long, share = "\\\\?\\C:\\Users\\alice\\.continue\\sessions\\b.json", "\\\\?\\UNC\\nas\\bob"
    told = [
        line(
            "C:\\Users\\alice\\.continue\\sessions\\a.json",
            b"x",
            home="C:\\Users\\alice",
            archive_path="fs\\C\\Users\\alice\\.continue\\sessions\\a.json",
        ),
        line(long, b"y", home="C:\\Users\\alice", archive_path="fs/C/Users/alice/.continue/sessions/b.json"),
        line(f"{share}\\.continue\\sessions\\c.json", b"z", user="bob", home="\\\\nas\\bob", archive_path="fs/c"),
    ]
    below = "C/Users/alice/.continue/sessions"

    found = only(opened(as_directory(tmp_path, told, {f"{below}/a.json": b"x", f"{below}/b.json": b"y", "c": b"z"}))[0])

    assert [(home.user, [a.location.read_bytes() for a in home.artifacts]) for home in found.homes] == [
        ("alice", [b"x", b"y"]),
        ("bob", [b"z"]),
    ]
    assert not found.problems
    assert {artifact.status for artifact in by_path(found).values()} == {Status.PARSED}
    assert long in by_path(found)


def test_what_was_not_collected_is_listed(tmp_path: Path) -> None:
    folder = "/home/alice/.continue"
    told = [
        line(ALICE, b"x"),
        line(f"{folder}/sessions/b.json", status="skipped_size", size=7),
        line(f"{folder}/sessions/c.json", status="skipped_excluded"),
        line(f"{folder}/sessions/d.json", status="error_copy"),
        line(f"{folder}/sessions/e.json", status="error_read"),
        line(f"{folder}/sessions/f.json", status="symlink", type="symlink", target="/etc/passwd"),
        line(f"{folder}/sessions/g.json", b"gone"),
        line(f"{folder}/config.yaml", status="skipped_secret", secret=True),
        line(f"{folder}/odd.json", b"s", secret=True),
        line("/home/alice/AGENTS.md", status="skipped_size"),
    ]

    found = only(opened(as_directory(tmp_path, told, {ALICE[1:]: b"x", f"{folder[1:]}/odd.json": b"s"}))[0])

    assert {path.removeprefix(folder): artifact.status.value for path, artifact in by_path(found).items()} == {
        "/sessions/a.json": "parsed",
        "/sessions/b.json": "skipped",
        "/sessions/c.json": "skipped",
        "/sessions/d.json": "unreadable",
        "/sessions/e.json": "unreadable",
        "/sessions/f.json": "skipped",
        "/sessions/g.json": "missing",
        "/config.yaml": "secret",
        "/odd.json": "secret",
    }
    assert by_path(found)[f"{folder}/sessions/b.json"].size == 7
    assert found.homes[0].links == (f"{folder}/sessions/f.json",)


def test_the_time_is_finished_then_started_then_what_the_command_line_says(tmp_path: Path) -> None:
    files = {ALICE[1:]: b"x"}
    told: list[Line | str] = [line(ALICE, b"x")]
    started = as_directory(tmp_path / "a", told, files, finished=None)
    odd = as_directory(tmp_path / "b", told, files, finished="yesterday", started="")

    by_start = only(opened(started, options=Options(collected_ms=5))[0])
    by_file, by_option = only(opened(odd)[0]), only(opened(odd, options=Options(collected_ms=5))[0])

    assert by_start.collected_ms == FINISHED_MS - 3_600_000
    assert (by_file.collected_ms, by_option.collected_ms) == (MTIME * 1000, 5)
    assert [(at, p.reason, p.text) for at, p in by_file.problems] == [("/collection.json", "bad_timestamp", None)]


def test_a_time_that_is_not_known_is_none(tmp_path: Path, open_lake: OpenLake) -> None:
    path, data = "home/alice/.continue/sessions/a.json", session("x")
    rules = ("home/alice/.continue/permissions.yaml", b"allow:\n  - Read\n")
    listing = [line(f"/{path}", data, mtime=0), line(f"/{rules[0]}", rules[1], mtime=0)]
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, content in collected(listing, {path: data, rules[0]: rules[1]}):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))

    homelake("build", write(tmp_path / "a.tar", made.getvalue()), "-o", tmp_path / "lake", "--workers", "1")

    lake = open_lake(tmp_path / "lake")
    assert lake.rows("select distinct mtime_utc from artifacts") == [(None,)]
    assert lake.rows("select started_utc, started_basis from sessions") == [(None, None)]
    assert lake.rows("select recorded_utc, event_utc from permissions") == [(None, None)]
    assert lake.rows("select distinct event_utc, event_basis, timestamp_basis from timeline") == [(None, None, None)]


def test_lines_that_cannot_be_read_hide_no_file(tmp_path: Path) -> None:
    other = ALICE.replace("a.json", "b.json")
    told: list[Line | str] = [
        line(ALICE, b"x"),
        "{broken",
        "[]",
        '{"path": 3}',
        "",
        json.dumps(line(other, b"y"))[:-20],
    ]
    files = {ALICE[1:]: b"x", other[1:]: b"y"}

    found = only(opened(as_directory(tmp_path, told, files))[0])

    assert texts([found]) == {ALICE: b"x", other: b"y"}
    assert [(at, p.position, p.reason) for at, p in found.problems] == [
        ("/manifest.jsonl", 2, "json_invalid"),
        ("/manifest.jsonl", 3, "not_an_object"),
        ("/manifest.jsonl", 4, "wrong_type"),
        ("/manifest.jsonl", 6, "json_truncated"),
    ]
    assert {home.user for home in found.homes} == {"alice"}


def test_lines_in_one_and_behind_damage_are_read(tmp_path: Path) -> None:
    paths = [ALICE.replace("a.json", f"{name}.json") for name in "abcd"]
    a, b, c, d = (json.dumps(line(path, b"x", mtime=MTIME + at)) for at, path in enumerate(paths))
    files = {path[1:]: b"x" for path in paths}

    found = only(opened(as_directory(tmp_path, [a + b, c[:40] + d, "\0" * 20], files))[0])

    told = {path: artifact.mtime_ms for path, artifact in by_path(found).items()}
    assert [told[paths[at]] for at in (0, 1, 3)] == [(MTIME + at) * 1000 for at in (0, 1, 3)]
    assert [(p.position, p.reason, p.size) for _, p in found.problems] == [
        (2, "json_invalid", 40),
        (3, "zero_filled", 20),
    ]


def test_of_a_cut_head_what_was_written_holds(tmp_path: Path) -> None:
    place = as_directory(tmp_path, [line(ALICE, b"x")], {ALICE[1:]: b"x"})
    head = (place / "collection.json").read_text()
    (place / "collection.json").write_text(head[: head.index('"tool"') + 3])

    found = only(opened(place)[0])

    assert (found.host, found.collected_ms, found.tool) == ("web01", 1_789_725_600_000, None)
    assert [(at, p.reason) for at, p in found.problems] == [("/collection.json", "json_truncated")]


@pytest.mark.parametrize("status", [None, "copied", 1])
def test_a_file_of_a_status_that_is_not_known_is_read_where_it_is_there(tmp_path: Path, status: object) -> None:
    gone = ALICE.replace("a.json", "b.json")
    told = [line(ALICE, b"x", status=status), line(gone, b"y", status=status)]

    found = only(opened(as_directory(tmp_path, told, {ALICE[1:]: b"x"}))[0])

    assert by_path(found)[ALICE].location.read_bytes() == b"x"
    assert {path: a.status for path, a in by_path(found).items()} == {ALICE: Status.PARSED, gone: Status.MISSING}
    assert not found.problems


def test_folders_that_a_collector_left_out_are_artifacts(tmp_path: Path) -> None:
    statuses = {
        ".continue/dev_data": "error_read",
        ".continue/node_modules": "skipped_excluded",
        ".continue/index": "skipped_excluded",
        ".continue/mcpServers": "skipped_secret",
        ".continue/logs": "collected",
        ".pearai": "error_read",
    }
    told = [line(f"/home/alice/{path}", type="dir", status=status) for path, status in statuses.items()]
    inner = "/home/alice/.continue/dev_data/a.txt"

    found = only(
        opened(
            as_directory(tmp_path, [*told, line(ALICE, b"x"), line(inner, b"y")], {ALICE[1:]: b"x", inner[1:]: b"y"})
        )[0]
    )

    (home,) = found.homes
    assert {artifact.home_path: (artifact.status, artifact.size) for artifact in home.artifacts} == {
        ".continue/dev_data": (Status.UNREADABLE, None),
        ".continue/dev_data/a.txt": (Status.KNOWN, 1),
        ".continue/index": (Status.SKIPPED, None),
        ".continue/mcpServers": (Status.SECRET, None),
        ".continue/node_modules": (Status.SKIPPED, None),
        ".continue/sessions/a.json": (Status.PARSED, 1),
        ".pearai": (Status.UNREADABLE, None),
    }
    assert not any(artifact.problems for artifact in home.artifacts)


@pytest.mark.parametrize("form", [*FORMS, "directory"])
def test_a_collection_without_any_content_is_one(tmp_path: Path, form: str) -> None:
    told: tuple[list[Line | str], dict[str, bytes]] = ([line(ALICE, b"x", status="skipped_size")], {})
    place = tmp_path / "c"
    path = as_directory(place, *told) if form == "directory" else write(place, packed(collected(*told), form))

    found = only(opened(path)[0])

    assert found.host == "web01"
    assert [(a.source_file, a.status) for a in by_path(found).values()] == [(ALICE, Status.SKIPPED)]


def test_of_a_manifest_twice_the_earlier_is_a_loss(tmp_path: Path) -> None:
    earlier, later = (collected([line(ALICE, b"x")], {}, hostname=host)[:2] for host in ("old", "new"))
    data = tarred([*earlier, *later, (f"fs{ALICE}", b"x")])

    found = only(opened(write(tmp_path / "a.tar", data))[0])

    assert found.host == "new"
    assert [(path, problem.reason, problem.text) for path, problem in found.problems] == [
        ("/manifest.jsonl", "duplicate_member", "parser: unreadable (duplicate_member)"),
        ("/collection.json", "duplicate_member", "parser: unreadable (duplicate_member)"),
    ]


def test_a_manifest_cannot_name_what_is_outside(tmp_path: Path) -> None:
    write(tmp_path / "outside.json", b"outside")
    links = "/home/alice/.continue/sessions"
    told = [
        line(ALICE, b"x"),
        line(f"{links}/b.json", archive_path="../outside.json"),
        line(f"{links}/c.json", archive_path="fs/way/outside.json"),
        line("/home/alice/../../etc/x", archive_path=f"fs{ALICE}"),
    ]
    place = as_directory(tmp_path / "c", told, {ALICE[1:]: b"x"})
    (place / "fs/way").symlink_to(tmp_path)

    found = only(opened(place)[0])

    read = {path: a.status for path, a in by_path(found).items()}
    assert read == {ALICE: Status.PARSED, f"{links}/c.json": Status.MISSING}
    assert [(at, p.position, p.reason) for at, p in found.problems] == [
        ("/manifest.jsonl", 2, "archive_member_rejected"),
    ]


def test_a_hash_that_differs_is_a_note(tmp_path: Path, open_lake: OpenLake) -> None:
    data = session("kept")
    told = [line(ALICE, data, sha256="0" * 64)]

    outcome = homelake("build", as_directory(tmp_path / "c", told, {ALICE[1:]: data}), "-o", tmp_path / "lake")

    assert outcome.exit_code == 0, outcome.stderr
    lake = open_lake(tmp_path / "lake")
    assert lake.rows("select reason, lost, detail, source_file from problems") == [
        ("archive_damaged", False, "sha256", ALICE)
    ]
    assert lake.messages() == [("user", "kept")]


def test_a_collection_becomes_rows(tmp_path: Path, open_lake: OpenLake) -> None:
    told = [line(ALICE, session("hello")), line(ALICE.replace("a.json", "b.json"), b"gone")]
    path = write(tmp_path / "web01.tar.gz", packed(collected([*told, "{"], {ALICE[1:]: session("hello")}), "tar.gz"))

    outcome = homelake("build", path, "-o", tmp_path / "lake", "--workers", "2")

    assert outcome.exit_code == 0, outcome.stderr
    lake = open_lake(tmp_path / "lake")
    assert lake.row("select host, \"user\", kind, text, source_file from timeline where kind = 'message'") == (
        "web01",
        "alice",
        "message",
        "hello",
        ALICE,
    )
    assert lake.rows("select host, tool, version, homes, files, collected_utc::varchar from collections") == [
        ("web01", "gather", "1.4", 1, 2, "2026-09-18 10:00:00")
    ]
    assert lake.rows(
        'select host, "user", agent, reason, lost, source_file, source_line from problems order by all'
    ) == [
        ("web01", "alice", "continue", "unreadable", True, ALICE.replace("a.json", "b.json"), 0),
        ("web01", None, None, "json_truncated", True, "/manifest.jsonl", 3),
    ]
    assert lake.count("problems", "collection_id = (select collection_id from collections)") == 2
    assert lake.count("timeline", "kind = 'problem'") == 1
    assert lake.rows("select path, status, records, losses from artifacts order by path") == [
        (".continue/sessions/a.json", "parsed", 2, 0),
        (".continue/sessions/b.json", "missing", 1, 1),
    ]


def test_a_fleet_of_collections_is_the_same_packed_and_unpacked(tmp_path: Path) -> None:
    for number, form in enumerate(FORMS):
        path, data = f"/home/u{number}/.continue/sessions/a.json", session(f"text {number}")
        told = [line(path, data, home=f"/home/u{number}", user=f"u{number}")]
        made = collected(told, {path[1:]: data}, hostname=f"web{number}")
        write(tmp_path / "packed" / f"{number}", packed(made, form))
        as_directory(tmp_path / "unpacked" / f"{number}", list(told), {path[1:]: data}, hostname=f"web{number}")

    for name, workers in (("packed", "2"), ("unpacked", "1")):
        outcome = homelake("build", tmp_path / name, "-o", tmp_path / f"{name}-lake", "--workers", workers)
        assert outcome.exit_code == 0, outcome.stderr

    made_packed, made_unpacked = (parquet_files(tmp_path / f"{name}-lake") for name in ("packed", "unpacked"))
    different = {name for name in made_packed if made_packed[name] != made_unpacked[name]}
    assert made_packed.keys() == made_unpacked.keys()
    assert different == {"collections/00.parquet"}, "they differ in the name of the input alone"


def test_empty_folders_of_an_archive_are_seen(tmp_path: Path) -> None:
    info = tarfile.TarInfo("home/ann/.continue/sessions/empty")
    info.type = tarfile.DIRTYPE

    archive = write(tmp_path / "a", tarred([("home/ann/.continue/sessions/a.json", b"x"), info]))

    assert list(texts(opened(archive)[0])) == ["/home/ann/.continue/sessions/a.json"]


@pytest.mark.parametrize("name", ["bad.tar.gz", "web.tar.xz", "web.TXZ", "web.7z"])
def test_an_archive_inside_a_broken_fleet_leaves_the_others(name: str, tmp_path: Path) -> None:
    write(tmp_path / "fleet" / name, b"bad")
    write(tmp_path / "fleet/good.tar", packed(collected([line(ALICE, session("x"))], {ALICE[1:]: session("x")}), "tar"))

    outcome = homelake("build", tmp_path / "fleet", "-o", tmp_path / "lake")

    assert outcome.exit_code == 3
    assert len(outcome.stderr.splitlines()) == 1
    assert "1 home" in outcome.stdout


def test_a_broken_archive_alone_is_wrong_use(tmp_path: Path) -> None:
    outcome = homelake("build", write(tmp_path / "bad.tar.gz", b"bad"), "-o", tmp_path / "lake")

    assert outcome.exit_code == 2
    assert len(outcome.stderr.splitlines()) == 1


def test_links_in_the_place_of_a_home_s_agent_directory_are_told_of(tmp_path: Path) -> None:
    link: Line = {"status": "symlink", "type": "symlink", "target": "/data/state"}
    bob = line("/home/bob/.continue", home="/home/bob", user="bob", **link)
    told = [line(ALICE, b"x"), bob, line("/home/alice/.pearai", **link)]

    found = only(opened(as_directory(tmp_path, told, {ALICE[1:]: b"x"}))[0])

    assert found.links == ("/home/bob/.continue",)
    assert [home.links for home in found.homes] == [("/home/alice/.pearai",)]


def test_inspect_shows_archives(tmp_path: Path) -> None:
    path = write(tmp_path / "web01.tgz", packed(collected([line(ALICE, b"x")], {ALICE[1:]: b"x"}), "tar.gz"))

    outcome = homelake("inspect", path)

    assert outcome.exit_code == 0
    assert "web01" in outcome.stdout
    assert "2026-09-18T10:00:00.000Z" in outcome.stdout
    assert list(tmp_path.iterdir()) == [path]


def test_a_note_on_an_archive_leads_to_its_name(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tar.gz", packed([("home/ann/.continue/sessions/a.json", session("hi"))], "tar.gz"))
    write(tmp_path / "a.tar.gz.sha256", b"0" * 64)
    homelake("build", path, "-o", tmp_path / "lake", "--workers", "1")

    outcome = run("sql", tmp_path / "lake", "--example", "damaged_archives", "--format", "json")

    assert json.loads(outcome.stdout) == [
        {"input": f"{path}/home", "reason": "archive_damaged", "lost": False, "detail": "sha256", "member": None}
    ]


NOT_COLLECTED = ["skipped_size", "skipped_excluded", "error_read", "gone"]
"""What became of session files on the second day: `gone` is listed as collected, and its bytes are not there."""


def two_days(place: Path) -> list[Path]:
    """A home with a session for each of `NOT_COLLECTED`, collected whole, and again without their bytes."""
    folder = "/home/alice/.continue/sessions"
    index = [{"sessionId": name, "title": name, "dateCreated": "1789461000000"} for name in NOT_COLLECTED]
    entries = json.dumps(index).encode()
    made = []
    for day, is_whole in ((18, True), (19, False)):
        lines, files = [line(f"{folder}/sessions.json", entries)], {f"{folder[1:]}/sessions.json": entries}
        for name in NOT_COLLECTED:
            path, data = f"{folder}/{name}.json", session(name)
            is_there = is_whole or name == "gone"
            lines.append(line(path, data) if is_there else line(path, status=name, size=len(data)))
            files |= {path[1:]: data} if is_whole else {}
        made.append(as_directory(place / str(day), lines, files, finished=f"2026-09-{day}T10:00:00Z"))
    return made


def test_a_session_that_was_not_collected_was_not_deleted(tmp_path: Path, open_lake: OpenLake) -> None:
    homelake("build", *two_days(tmp_path), "-o", tmp_path / "lake", "--workers", "1")
    lake = open_lake(tmp_path / "lake")

    sessions = lake.rows("select file_id, has_file, in_index, current, deleted_between from sessions order by file_id")

    assert sessions == [(name, True, True, True, None) for name in sorted(NOT_COLLECTED)]
    assert not lake.count("sessions_deleted")
    assert lake.rows("select text, current from timeline where kind = 'message' order by text") == [
        (name, False) for name in sorted(NOT_COLLECTED)
    ]


def test_what_was_not_collected_is_no_pipe(tmp_path: Path) -> None:
    outcome = homelake("inspect", two_days(tmp_path)[1])

    assert "skipped" in outcome.stdout
    assert "Pipes" not in outcome.stdout


def test_a_leftover_that_was_not_collected_is_skipped(tmp_path: Path, open_lake: OpenLake) -> None:
    task = "/home/alice/.config/PearAI/User/globalStorage/pearai.pearai-roo-cline/tasks/1759400100000"
    lines = [line(f"{task}/ui_messages.json{end}", status="skipped_size", size=9) for end in ("", ".bak_1")]

    homelake("build", as_directory(tmp_path / "in", lines, {"x": b""}), "-o", tmp_path / "lake", "--workers", "1")

    lake = open_lake(tmp_path / "lake")
    assert lake.rows("select source, status from artifacts order by path") == [
        ("pearai.ui_messages", "skipped"),
        (None, "skipped"),
    ]
    assert lake.rows("select session_id, has_file from sessions") == [("1759400100000", True)]


@pytest.mark.parametrize(
    ("status", "shown", "losses"),
    [("skipped_secret", "secret", 0), ("skipped_size", "skipped", 0), ("error_read", "unreadable", 1)],
)
def test_a_file_under_its_old_name_that_was_not_collected(
    tmp_path: Path, open_lake: OpenLake, status: str, shown: str, losses: int
) -> None:
    task = "/home/alice/.config/PearAI/User/globalStorage/pearai.pearai-roo-cline/tasks/1759400100000"
    told = [line(f"{task}/claude_messages.json", status=status, size=9)]

    homelake("build", as_directory(tmp_path / "in", told, {"x": b""}), "-o", tmp_path / "lake", "--workers", "1")

    lake = open_lake(tmp_path / "lake")
    assert lake.column("select status from artifacts") == [shown]
    told_of = lake.rows("select reason, lost, session_id from problems")
    assert told_of == [("unreadable", True, "1759400100000")] * losses
    assert lake.rows("select has_file, damaged from sessions") == [(True, losses > 0)]


@pytest.mark.parametrize("status", ["skipped_size", "skipped_excluded", "error_read", "error_copy"])
def test_a_backup_is_read_where_its_database_was_not_collected(
    tmp_path: Path, open_lake: OpenLake, status: str
) -> None:
    backup = tmp_path / "backup"
    with closing(sqlite3.connect(backup)) as connection:
        connection.execute("create table ItemTable (key text unique on conflict replace, value blob)")
        state = json.dumps({"taskHistory": [{"id": "t1", "ts": MTIME * 1000, "task": "listed"}]})
        connection.execute("insert into ItemTable values ('pearai.pearai-roo-cline', ?)", (state,))
        connection.commit()
    path = "/home/alice/.config/PearAI/User/globalStorage/state.vscdb"
    told = [line(path, status=status), line(f"{path}.backup", backup.read_bytes())]
    place = as_directory(tmp_path / "c", told, {f"{path[1:]}.backup": backup.read_bytes()})

    outcome = homelake("build", place, "-o", tmp_path / "lake")

    assert outcome.exit_code == 0, outcome.stderr
    assert open_lake(tmp_path / "lake").rows("select session_id, title from sessions") == [("t1", "listed")]
