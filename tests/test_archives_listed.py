"""Archives of a directory are listed by several workers, with the same outcome as by one."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import parsers
import pipeline.discover
from pipeline.archives import Archive, NotAnArchiveError, Sizes, open_archive
from pipeline.discover import InputError, Options, discover, try_archive
from pipeline.history import listing_of
from pipeline.model import Collection
from tests.test_incremental import archive

NAMES = ("a", "b", "c", "d")


def listed(folder: Path, workers: int) -> tuple[Sequence[Collection], Sequence[InputError]]:
    return discover([str(folder)], parsers.LAYOUTS, parsers.classify, Options(workers=workers))


def die_over_b(sizes: Sizes, path: str) -> Archive | OSError | NotAnArchiveError:
    if path.endswith("b.tar.gz"):
        os.kill(os.getpid(), signal.SIGKILL)
    return open_archive(path, sizes)


def test_several_workers_list_what_one_does(tmp_path: Path) -> None:
    for name in NAMES:
        archive(tmp_path / f"{name}.tar.gz", name)
    (tmp_path / "bad.tar").write_bytes(b"none")

    (one, wrong), (several, as_wrong) = listed(tmp_path, 1), listed(tmp_path, 3)

    assert [Path(found.input).parent.name for found in one] == [f"{name}.tar.gz" for name in NAMES]
    assert [found.input for found in several] == [found.input for found in one]
    told = [[listing_of(home) for found in each for home in found.homes] for each in (one, several)]
    assert len(told[0]) == len(NAMES)
    assert told[0] == told[1]
    assert list(map(str, wrong)) == list(map(str, as_wrong))
    assert "bad.tar" in str(wrong[0])
    contents = [found.homes[0].artifacts[0].location.read_bytes() for found in several]
    assert contents == [found.homes[0].artifacts[0].location.read_bytes() for found in one]


def test_an_archive_over_which_workers_die_is_told_and_the_others_are_listed(tmp_path: Path) -> None:
    for name in NAMES:
        archive(tmp_path / f"{name}.tar.gz", name)

    with mock.patch.object(pipeline.discover, "try_archive", die_over_b):
        found, errors = listed(tmp_path, 2)

    assert [Path(each.input).parent.name for each in found] == ["a.tar.gz", "c.tar.gz", "d.tar.gz"]
    assert [(str(error), error.is_whole) for error in errors] == [
        (f"{tmp_path}/b.tar.gz: not read: a worker died over it, twice", False)
    ]


def test_an_archive_that_is_gone_is_an_error(tmp_path: Path) -> None:
    assert isinstance(try_archive(Sizes(), str(tmp_path / "gone.tar")), FileNotFoundError)
