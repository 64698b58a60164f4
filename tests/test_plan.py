"""How homes are spread over buckets and batches."""

from pathlib import Path

import pytest

from pipeline.batch import Taken
from pipeline.model import Artifact, Collection, Home, Status
from pipeline.plan import default_buckets, plan

MB = 1_000_000


def taken(size: int, number: int = 0) -> Taken:
    name = f"u{number:03}"
    place = f".continue/sessions/{name}.json"
    file = Artifact("continue", "continue.session", Status.PARSED, place, f"/home/{name}/{place}", Path(), size, 0)
    return Taken(number, 0, Home("box", name, f"home of {name}", (file,)))


@pytest.mark.parametrize(("megabytes", "buckets"), [(0, 1), (2000, 1), (2001, 16), (90_000, 16)])
def test_a_new_lake_has_buckets_by_its_size(megabytes: int, buckets: int) -> None:
    collection = Collection("in", "box", 0, (taken(megabytes * MB).home,))

    assert default_buckets([collection]) == buckets


@pytest.mark.parametrize(
    ("homes", "most", "sizes"),
    [
        (1, 10, [1]),
        (14, 10, [14]),
        (21, 10, [11, 10]),
        (33, 10, [11, 11, 11]),
        (34, 10, [12, 12, 10]),
        (3, 1, [1, 1, 1]),
    ],
)
def test_batches_of_a_bucket_are_about_as_large(homes: int, most: int, sizes: list[int]) -> None:
    batches = plan([taken(MB, number) for number in range(homes)], 1, batch_bytes=most * MB)

    assert [batch.bytes // MB for batch in batches] == sizes
    users = [each.home.user for batch in batches for each in batch.homes]
    assert users == [f"u{number:03}" for number in range(homes)]


def test_homes_without_bytes_are_one_batch() -> None:
    (batch,) = plan([taken(0, number) for number in range(5)], 1)

    assert len(batch.homes) == 5


def test_each_bucket_has_batches_of_its_own() -> None:
    batches = plan([taken(MB, number) for number in range(40)], 4, batch_bytes=5 * MB)

    assert [batch.number for batch in batches] == list(range(len(batches)))
    assert [batch.bucket for batch in batches] == sorted(batch.bucket for batch in batches)
    assert {batch.bucket for batch in batches} == {0, 1, 2, 3}
    assert sum(len(batch.homes) for batch in batches) == 40
    assert all(len(batch.homes) <= 8 for batch in batches)
