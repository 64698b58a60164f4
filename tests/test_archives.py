"""Archives as inputs: every form, hostile names, damage. Names are only looked up, never made."""

import gzip
import io
import os
import random
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest
import zstandard

from pipeline.archives import NotAnArchiveError, Sizes
from pipeline.content import fill
from pipeline.discover import Options
from pipeline.model import Status
from tests.archived import (
    FORMS,
    MTIME,
    Entry,
    details,
    faults,
    listed,
    odd,
    opened,
    packed,
    session,
    tarred,
    texts,
    write,
    zipped,
)
from tests.conftest import OpenLake
from tests.lake import homelake

A, B = "home/ann/.continue/sessions/a.json", "home/ann/.continue/sessions/b.json"
TWO = [(A, b"first"), (B, b"second")]
BOTH = {f"/{A}": b"first", f"/{B}": b"second"}


@pytest.mark.parametrize("form", FORMS)
def test_archives_of_every_form_are_known_by_content(tmp_path: Path, form: str) -> None:
    path = write(tmp_path / "input.bin", packed(TWO, form))

    collections, errors = opened(path)

    assert not errors
    assert texts(collections) == BOTH
    (home,) = collections[0].homes
    assert (home.host, home.user) == (None, "ann")
    assert home.identity == f"place\0{path}/home/ann"
    assert {artifact.mtime_ms for artifact in home.artifacts} == {MTIME * 1000}
    assert not collections[0].problems


@pytest.mark.parametrize("form", FORMS)
def test_names_may_begin_with_a_dot_and_go_up_inside(tmp_path: Path, form: str) -> None:
    path = write(tmp_path / "a", packed([(f"./{A}", b"1"), ("./home/x/../ann/.continue/sessions/b.json", b"2")], form))

    assert texts(opened(path)[0]) == {f"/{A}": b"1", f"/{B}": b"2"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["../x.json", "a/../../x.json", "/home/eve/.continue/sessions/x.json", "C:/x.json"])
def test_names_outside_the_root_are_rejected(tmp_path: Path, form: str, name: str) -> None:
    path = write(tmp_path / "a", packed([(name, b"evil"), *TWO], form))

    collections, _ = opened(path)

    assert texts(collections) == BOTH
    (found,) = collections
    assert [(at, problem.reason) for at, problem in found.problems] == [(name, "archive_member_rejected")]


def test_back_slashes_of_a_zip_are_separators(tmp_path: Path) -> None:
    path = write(tmp_path / "a", zipped([(A.replace("/", "\\"), b"1"), ("..\\x", b"2"), ("C:\\y", b"3")]))

    collections, _ = opened(path)

    assert texts(collections) == {f"/{A}": b"1"}
    assert [at for at, _ in collections[0].problems] == ["../x", "C:/y"]


def test_a_folder_of_a_zip_is_one_without_a_separator_at_its_end(tmp_path: Path) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        folder = zipfile.ZipInfo("Users/dana/.continue/sessions")
        folder.create_system, folder.external_attr = 0, 0x10
        archive.writestr(folder, b"")
        archive.writestr("Users/dana/.continue/sessions/a.json", session("in a folder"))

    collections, _ = opened(write(tmp_path / "a.zip", made.getvalue()))

    assert texts(collections) == {"/Users/dana/.continue/sessions/a.json": session("in a folder")}
    assert not collections[0].problems


def test_a_tar_of_absolute_names_alone_has_the_root_as_its_root(tmp_path: Path) -> None:
    path = write(tmp_path / "a", tarred([(f"/{A}", b"first"), (f"/{B}", b"second")]))

    collections, _ = opened(path)

    assert texts(collections) == BOTH
    assert not collections[0].problems


def test_links_are_not_followed_and_hard_links_are_files(tmp_path: Path) -> None:
    secret = write(tmp_path / "outside.json", b"outside")
    folder = "home/ann/.continue/sessions"
    members: list[Entry | tarfile.TarInfo] = [
        (A, b"first"),
        odd(f"{folder}/link.json", tarfile.SYMTYPE, str(secret)),
        odd(f"{folder}/hard.json", tarfile.LNKTYPE, A),
        odd(f"{folder}/lost.json", tarfile.LNKTYPE, "no/such/file"),
        odd(f"{folder}/pipe", tarfile.FIFOTYPE),
        odd("way", tarfile.SYMTYPE, str(tmp_path)),
        ("way/through.json", b"evil"),
    ]

    collections, _ = opened(write(tmp_path / "a.tar", tarred(members)))

    (home,) = collections[0].homes
    by_name = {artifact.home_path.rpartition("/")[2]: artifact for artifact in home.artifacts}
    assert sorted(by_name) == ["a.json", "hard.json", "lost.json", "pipe"]
    assert by_name["hard.json"].location.read_bytes() == b"first"
    assert by_name["lost.json"].status is Status.UNREADABLE
    assert by_name["pipe"].status is Status.SKIPPED
    assert [(p.reason, p.text) for p in by_name["pipe"].problems] == [("archive_member_rejected", None)]
    assert home.links == (f"/{folder}/link.json",)
    assert [(at, problem.reason) for at, problem in collections[0].problems] == [
        ("way/through.json", "archive_member_rejected")
    ]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("form", FORMS)
def test_of_a_name_twice_the_last_holds(tmp_path: Path, form: str) -> None:
    collections, _ = opened(write(tmp_path / "a", packed([(A, b"old"), *TWO], form)))

    assert texts(collections) == BOTH
    first = collections[0].homes[0].artifacts[0]
    assert [(p.reason, p.text, p.size) for p in first.problems] == [
        ("duplicate_member", "parser: unreadable (duplicate_member)", 3)
    ]


def test_no_link_and_no_pipe_takes_a_files_place(tmp_path: Path) -> None:
    members: list[Entry | tarfile.TarInfo] = [
        *TWO,
        odd(A, tarfile.SYMTYPE, "x"),
        odd("home/ann/.continue/sessions", tarfile.FIFOTYPE),
    ]

    archive = listed(write(tmp_path / "a", tarred(members)))

    assert faults(archive) == [
        (A, "archive_member_rejected", False),
        ("home/ann/.continue/sessions", "archive_member_rejected", False),
    ]
    assert archive.tree.content(f"{archive.tree.root}/{A}").read_bytes() == b"first"


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_of_every_tar_format(tmp_path: Path, form: int) -> None:
    name = f"home/ann/.continue/sessions/{'d' * 60}/{'e' * 70}.json"

    archive = listed(write(tmp_path / "a", tarred([(name, b"x" * 700), *TWO], form)))

    assert archive.tree.content(f"{archive.tree.root}/{name}").read_bytes() == b"x" * 700
    assert archive.tree.content(f"{archive.tree.root}/{B}").read_bytes() == b"second"
    assert not archive.problems


@pytest.mark.parametrize("version", ["old", "0.0", "0.1", "1.0"])
def test_sparse_files_of_every_kind(tmp_path: Path, version: str) -> None:
    data = b"begin" + b"x" * 507 + bytes(4096 - 1024) + b"end" + bytes(509)

    archive = listed(write(tmp_path / "a", sparse_tar(version)))

    assert archive.tree.content(f"{archive.tree.root}/{A}").read_bytes() == data
    assert archive.tree.content(f"{archive.tree.root}/{B}").read_bytes() == b"second"
    assert not archive.problems


def sparse_tar(version: str) -> bytes:
    """A tar of `A`, 4,096 bytes of which the first and the last 512 are stored, and `B`."""
    stored = b"begin" + b"x" * 507 + b"end" + bytes(509)
    info = tarfile.TarInfo(A)
    made = io.BytesIO()
    if version == "old":
        info.size, info.type = 1024, tarfile.GNUTYPE_SPARSE
        header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
        header[386:434] = b"".join(b"%011o\0" % number for number in (0, 512, 3584, 512))
        header[483:495] = b"%011o\0" % 4096
        header[148:156] = b"%06o\0 " % (sum(header[:148]) + 256 + sum(header[156:512]))
        made.write(bytes(header) + stored)
    else:
        told = {"GNU.sparse.realsize": "4096", "GNU.sparse.name": A}
        if version == "1.0":
            told |= {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
            stored = b"2\n0\n512\n3584\n512\n".ljust(512, b"\0") + stored
        elif version == "0.1":
            told |= {"GNU.sparse.map": "0,512,3584,512", "GNU.sparse.size": "4096"}
        info.name, info.size = "home/ann/GNUSparseFile.0/a.json", len(stored)
        info.pax_headers = told
        made.write(info.tobuf(tarfile.PAX_FORMAT) + stored)
        if version == "0.0":
            made = io.BytesIO(pairs_header() + info.tobuf(tarfile.PAX_FORMAT)[-512:] + stored)
            made.seek(0, 2)
    made.write(tarred([(B, b"second")]))
    return made.getvalue()


def pairs_header() -> bytes:
    """The pax header of sparse version 0.0: a key repeats for each range."""
    records = [("GNU.sparse.size", "4096"), ("GNU.sparse.numblocks", "2"), ("path", A)]
    for start in ("0", "3584"):
        records += [("GNU.sparse.offset", start), ("GNU.sparse.numbytes", "512")]
    data = b"".join(record(key, value) for key, value in records)
    info = tarfile.TarInfo("pax")
    info.type, info.size = tarfile.XHDTYPE, len(data)
    return info.tobuf(tarfile.USTAR_FORMAT) + data.ljust(-(-len(data) // 512) * 512, b"\0")


def record(key: str, value: str) -> bytes:
    """A record of a pax header, whose length counts itself."""
    body = f" {key}={value}\n"
    length = next(n for n in range(len(body), len(body) + 4) if len(str(n)) + len(body) == n)
    return f"{length}{body}".encode()


@pytest.mark.parametrize("form", ["tar", "tar.gz", "tar.zst"])
def test_of_a_cut_archive_is_read_what_came_before(tmp_path: Path, form: str) -> None:
    big = random.Random(7).randbytes(300_000)
    whole = packed([(A, b"first"), (B, big)], form)

    archive = listed(write(tmp_path / "a", whole[: len(whole) * 2 // 3]))

    assert faults(archive) == [(None, "archive_truncated", True)]
    assert archive.tree.content(f"{archive.tree.root}/{A}").read_bytes() == b"first"
    part = archive.tree.content(f"{archive.tree.root}/{B}").read_bytes()
    assert 100_000 < len(part) < 250_000
    assert big.startswith(part)


def test_of_a_cut_zip_is_read_what_came_before(tmp_path: Path) -> None:
    big = random.Random(7).randbytes(300_000)
    whole = zipped([(A, b"first"), (B, big)])

    archive = listed(write(tmp_path / "a", whole[:200_000]))

    assert faults(archive) == [(None, "archive_truncated", True)]
    assert archive.tree.content(f"{archive.tree.root}/{A}").read_bytes() == b"first"
    assert big.startswith(archive.tree.content(f"{archive.tree.root}/{B}").read_bytes()[:190_000])


@pytest.mark.parametrize("form", ["tar.gz", "tar.zst"])
def test_a_wrong_checksum_is_a_note_and_everything_is_read(tmp_path: Path, form: str) -> None:
    data = bytearray(packed(TWO, form))
    data[-6 if form == "tar.gz" else -2] ^= 0xFF

    archive = listed(write(tmp_path / "a", bytes(data)))

    assert faults(archive) == [(None, "archive_damaged", False)]
    assert archive.tree.content(f"{archive.tree.root}/{B}").read_bytes() == b"second"


@pytest.mark.parametrize("form", ["tar.gz", "tar.zst"])
def test_joined_streams_with_padding_are_one(tmp_path: Path, form: str) -> None:
    data = tarred(TWO)
    pack = gzip.compress if form == "tar.gz" else zstandard.ZstdCompressor().compress
    joined = pack(data[:700]) + pack(data[700:]) + bytes(1000)

    archive = listed(write(tmp_path / "a", joined))

    assert not archive.problems
    assert archive.tree.content(f"{archive.tree.root}/{B}").read_bytes() == b"second"


def test_a_damaged_header_hides_no_other_member(tmp_path: Path) -> None:
    whole = bytearray(tarred([(A, b"first"), ("x", b"lost"), (B, b"second")], tarfile.USTAR_FORMAT))
    whole[1024 + 3] ^= 0xFF

    archive = listed(write(tmp_path / "a", bytes(whole)))

    assert faults(archive) == [(None, "archive_damaged", True)]
    assert archive.tree.content(f"{archive.tree.root}/{A}").read_bytes() == b"first"
    assert archive.tree.content(f"{archive.tree.root}/{B}").read_bytes() == b"second"


def test_an_encrypted_member_is_a_loss_beside_others(tmp_path: Path) -> None:
    data = bytearray(zipped(TWO))
    for start, at in ((data.find(b"PK\x03\x04"), 6), (data.find(b"PK\x01\x02"), 8)):
        data[start + at] |= 1

    collections, _ = opened(write(tmp_path / "a", bytes(data)))

    first, second = collections[0].homes[0].artifacts
    assert first.status is Status.UNREADABLE
    assert [(p.reason, p.size) for p in first.problems] == [("archive_member_rejected", 5)]
    assert second.location.read_bytes() == b"second"


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_zip_methods(tmp_path: Path, method: int) -> None:
    big = bytes(random.Random(3).choices(b"abc", k=500_000))

    collections, _ = opened(write(tmp_path / "a", zipped([(A, big), (B, b"")], method)))

    assert texts(collections) == {f"/{A}": big, f"/{B}": b""}


def test_a_zip_with_bytes_in_front_and_one_written_as_a_stream(tmp_path: Path) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(_Unseekable(made), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in TWO:
            archive.writestr(name, data)
    whole = made.getvalue()

    by_directory = texts(opened(write(tmp_path / "a", whole))[0])
    by_headers = texts(opened(write(tmp_path / "b", whole[: whole.find(b"PK\x01\x02")]))[0])

    assert by_directory == by_headers == BOTH


class _Unseekable(io.RawIOBase):
    """A stream that can only be written."""

    def __init__(self, into: io.BytesIO) -> None:
        self._into = into

    def writable(self) -> bool:
        return True

    def write(self, data: object, /) -> int:
        return self._into.write(bytes(data))  # type: ignore[call-overload]  # any buffer, as of RawIOBase


def test_a_member_above_the_limit_is_not_unpacked(tmp_path: Path) -> None:
    bomb = [(A, bytes(3_000_000)), (B, b"second")]
    options = Options(sizes=Sizes(member=1_000_000))

    for form in FORMS:
        collections, _ = opened(write(tmp_path / form, packed(bomb, form)), options=options)
        first, second = collections[0].homes[0].artifacts

        assert (first.status, first.size) == (Status.UNREADABLE, 3_000_000)
        assert [(p.reason, p.size) for p in first.problems] == [("unreadable", 3_000_000)]
        assert second.location.read_bytes() == b"second"


@pytest.mark.parametrize("form", ["tar.gz", "tar.zst"])
def test_no_more_than_the_limit_is_unpacked_of_an_archive(tmp_path: Path, form: str) -> None:
    path = write(tmp_path / "a", packed([(A, b"first"), (B, bytes(20_000_000))], form))

    archive = listed(path, Sizes(archive=4_000_000))

    assert faults(archive) == [(None, "archive_truncated", True)]
    assert archive.tree.content(f"{archive.tree.root}/{A}").read_bytes() == b"first"


def test_a_sparse_bomb_is_above_the_limit(tmp_path: Path) -> None:
    data = bytearray(sparse_tar("old"))
    data[483:495] = b"%011o\0" % (1 << 32)
    data[148:156] = b"%06o\0 " % (sum(data[:148]) + 256 + sum(data[156:512]))

    collections, _ = opened(write(tmp_path / "a", bytes(data)))

    assert collections[0].homes[0].artifacts[0].status is Status.UNREADABLE


def test_a_sum_beside_an_archive_is_compared(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tar", tarred(TWO))
    write(tmp_path / "a.tar.sha256", b"0" * 64 + b"  a.tar\n")

    archive = listed(path)

    assert faults(archive) == [(None, "archive_damaged", False)]
    assert details(archive) == ["sha256"]


@pytest.mark.parametrize(
    ("form", "at", "expected"),
    [
        ("tar.gz", -6, "crc32, sha256"),
        ("tar.zst", -2, "checksum, sha256"),
        ("tar", 1024 + 3, "tar header, sha256"),
        ("zip", -12, "zip directory, sha256"),
    ],
)
def test_a_note_names_all_that_is_wrong(tmp_path: Path, form: str, at: int, expected: str) -> None:
    data = bytearray(packed(TWO, form))
    data[at] ^= 0xFF
    path = write(tmp_path / "a", bytes(data))
    write(tmp_path / "a.sha256", b"0" * 64)

    assert ", ".join(map(str, details(listed(path)))) == expected


@pytest.mark.parametrize(
    "data", [b"", b"plain text", b"\x1f\x8b", gzip.compress(b"no tar", mtime=0), b"PK\x03\x04", bytes(2048)]
)
def test_what_is_no_archive_is_one_line(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path / "a.tgz", data)

    collections, errors = opened(path)

    assert not collections
    assert errors == [f"{path}: not a directory, and no archive that can be read"]


def test_a_fleet_mixes_archives_and_homes(tmp_path: Path) -> None:
    write(tmp_path / "fleet/bob/.continue/sessions/x.json", b"loose")
    write(tmp_path / "fleet/one", packed([(A, b"one")], "tar.zst"))
    write(tmp_path / "fleet/two.zip", packed([(A, b"two")], "zip"))
    write(tmp_path / "fleet/notes.txt", b"no archive")
    write(tmp_path / "fleet/bob/old.tar", packed([(A, b"inside a home")], "tar"))
    write(tmp_path / "fleet/eve/.bashrc", b"")
    write(tmp_path / "fleet/eve/old.tar", packed([(A, b"inside a home")], "tar"))
    write(tmp_path / "fleet/later/three.tgz", packed([(A, b"three")], "tar.gz"))
    write(tmp_path / "fleet/broken.tar.gz", b"broken")

    collections, errors = opened(tmp_path / "fleet")

    found = [(os.path.relpath(collection.input, tmp_path / "fleet"), texts([collection])) for collection in collections]
    assert found == [
        (".", {"/bob/.continue/sessions/x.json": b"loose"}),
        ("later/three.tgz/home", {f"/{A}": b"three"}),
        ("one/home", {f"/{A}": b"one"}),
        ("two.zip/home", {f"/{A}": b"two"}),
    ]
    assert errors == [f"{tmp_path}/fleet/broken.tar.gz: not a directory, and no archive that can be read"]


@pytest.mark.parametrize("form", ["tar.gz", "tar.zst"])
def test_what_a_build_needs_of_a_compressed_tar_is_unpacked_once(tmp_path: Path, form: str) -> None:
    folder = "home/ann/.continue"
    more = [(f"{folder}/sessions/a.json-wal", b"log"), (f"{folder}/rules.md", b"rules" * 1000), ("other", bytes(9999))]
    path = write(tmp_path / "in/a", packed([*TWO, *more], form))
    (home,) = opened(path)[0][0].homes

    fill(1, [home], tmp_path)
    path.unlink()

    by_name = {artifact.home_path.rpartition("/")[2]: artifact.location for artifact in home.artifacts}
    assert [by_name[name].read_bytes() for name in ("a.json", "b.json", "a.json-wal")] == [b"first", b"second", b"log"]
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["000000.unpacked"]
    assert b"rules" not in (tmp_path / "000000.unpacked").read_bytes()


def test_the_same_archive_twice_is_read_once(tmp_path: Path) -> None:
    path = write(tmp_path / "a", tarred(TWO))

    collections, errors = opened(path, tmp_path, path)

    assert [texts([found]) for found in collections] == [BOTH]
    assert not errors


@pytest.mark.parametrize("seed", range(60))
def test_damage_of_any_kind_is_no_crash(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    entries = [(f"home/u{n}/.continue/sessions/{n}.json", session(f"text {n} " * dice.randrange(90))) for n in range(6)]
    form = FORMS[seed % 4]
    whole = packed(entries, form)
    data = bytearray(whole)
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(len(data))
        if dice.random() < 0.3:
            data = data[:at] + data[at + dice.randrange(1, 600) :]
        data[at % len(data)] ^= 1 << dice.randrange(8)
    box = tmp_path / "box"
    path = write(box / "in" / "a", bytes(data))
    before = sorted(tmp_path.iterdir()), sorted(box.rglob("*"))

    collections, errors = opened(path)
    read = texts(collections)

    assert (sorted(tmp_path.iterdir()), sorted(box.rglob("*"))) == before
    assert len(errors) <= 1
    good = {f"/{name}": content for name, content in entries}
    problems = [problem for found in collections for _, problem in found.problems]
    marked = [a for found in collections for home in found.homes for a in home.artifacts if a.problems or a.crc32]
    missing = good.keys() - {name for name in read if read[name] == good.get(name)}
    assert not missing or form == "tar" or problems or errors or marked


def test_headers_of_odd_sizes_are_damage(tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[124:136] = b"\xff" * 12
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + 256 + sum(header[156:512]))
    huge = tarfile.TarInfo("long")
    huge.type, huge.size = tarfile.GNUTYPE_LONGNAME, 1 << 34

    negative = listed(write(tmp_path / "a", tarred(TWO)[:2048] + bytes(header) + tarred(TWO)))
    long_name = listed(write(tmp_path / "b", tarred(TWO)[:2048] + huge.tobuf(tarfile.GNU_FORMAT) + b"x" * 5000))

    assert (None, "archive_damaged", True) in faults(negative)
    assert (None, "archive_damaged", True) in faults(long_name)
    assert long_name.tree.content(f"{long_name.tree.root}/{B}").read_bytes() == b"second"


def test_zip_entries_that_point_nowhere_are_damage(tmp_path: Path) -> None:
    data = bytearray(zipped(TWO))
    struct.pack_into("<I", data, data.find(b"PK\x01\x02") + 42, 10**9)

    archive = listed(write(tmp_path / "a", bytes(data)))

    assert faults(archive) == [(None, "archive_damaged", True)]
    assert archive.tree.content(f"{archive.tree.root}/{B}").read_bytes() == b"second"


def test_other_files_are_no_archives(tmp_path: Path) -> None:
    with pytest.raises(NotAnArchiveError):
        listed(write(tmp_path / "a", b"hello" * 200))


def test_what_was_wrong_with_a_member_is_told_beside_the_damage_in_it(tmp_path: Path, open_lake: OpenLake) -> None:
    cut = session("second")[:-20]
    data = tarred([(A, session("first")), (A, cut)])

    homelake("build", write(tmp_path / "a.tar", data), "-o", tmp_path / "lake", "--workers", "1")

    lake = open_lake(tmp_path / "lake")
    assert lake.rows("select reason, lost from problems order by reason") == [
        ("duplicate_member", True),
        ("json_truncated", True),
    ]
    assert lake.count("timeline", "kind = 'problem'") == 2
    assert lake.rows("select records, rows, losses, silent from artifacts") == [(3, 1, 2, 0)]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_member_that_is_longer_than_a_zip_says_is_cut_with_a_loss(
    tmp_path: Path, open_lake: OpenLake, method: int
) -> None:
    event = b'{"eventName":"chatInteraction","sessionId":"s","prompt":"p","completion":"c"}\n'
    data = bytearray(zipped([("home/dana/.continue/dev_data/chatInteraction.jsonl", event * 2)], method))
    for header, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", data, data.rindex(header) + place, len(event))

    homelake("build", write(tmp_path / "a.zip", bytes(data)), "-o", tmp_path / "lake", "--workers", "1")

    lake = open_lake(tmp_path / "lake")
    assert lake.count("timeline", "kind = 'message'") == 2
    assert lake.rows("select reason, lost from problems") == [("archive_damaged", True)]
    assert lake.rows("select records, rows, losses, silent from artifacts") == [(2, 1, 1, 0)]
