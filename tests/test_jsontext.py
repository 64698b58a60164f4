"""JSON of a collector's own files, whole and damaged."""

import pytest

from pipeline.jsontext import document, values

MARKS = frozenset(("path",))


@pytest.mark.parametrize(
    ("text", "found", "reason"),
    [
        ("", [], None),
        (' {"a":1}\r', [{"a": 1}], None),
        ('{"a":1}{"a":2}', [{"a": 1}, {"a": 2}], None),
        ('{"a":1} x', [{"a": 1}], "trailing_data"),
        ('{"a":1}\0\0', [{"a": 1}], "zero_filled"),
        ("\0\0\0", [], "zero_filled"),
        ('{"a":"x\0\0', [], "zero_filled"),
        ('{"a":"x', [], "json_truncated"),
        ('{"a":tru', [], "json_truncated"),
        ('{"a":"\\ud8', [], "json_truncated"),
        ("{broken", [], "json_invalid"),
        ("[" * 100_000, [], "nesting_too_deep"),
        ('{"path":"/x{"path":"/y"}', [{"path": "/y"}], "json_invalid"),
        ('<<<{"path":"/y"}{"b":{"path":"/z"', [{"path": "/y"}], "json_invalid"),
    ],
)
def test_values_are_read_up_to_damage_and_records_behind_it(text: str, found: list[object], reason: str) -> None:
    read = values(text, MARKS)

    assert (read.found, read.reason) == (found, reason)


@pytest.mark.parametrize(
    ("text", "members", "reason"),
    [
        ('{"a":1,"b":[2]}', {"a": 1, "b": [2]}, None),
        ('{"a":"x","b":12', {"a": "x"}, "json_truncated"),
        ('{"a":"x","b":[1,2', {"a": "x"}, "json_truncated"),
        ('{"a":"x",\0\0\0', {"a": "x"}, "zero_filled"),
        ('{"a":1} x', {"a": 1}, "trailing_data"),
        ('{"a":1}{"a":2}', {"a": 1}, "trailing_data"),
        (" \n", {}, "empty_file"),
        ("[1]", {}, "not_an_object"),
        ("{}", {}, None),
    ],
)
def test_a_damaged_document_has_the_members_before_the_damage(
    text: str, members: dict[str, object], reason: str | None
) -> None:
    assert document(text) == (members, reason)


def test_what_is_lost_of_a_text_is_told_in_bytes() -> None:
    assert values('{"a":"ä\udcff" x {"path":1}', MARKS).lost == 12
