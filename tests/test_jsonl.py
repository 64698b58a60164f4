"""Lines of files, and what a line holds that is not one object."""

import codecs
import json

import pytest

from parsers import _json, _jsonl
from parsers._json import Json
from parsers._jsonl import Contents, Line, Shape, lines, split

SHAPE = Shape.of(("time", "prompt", "output"), ("prompt",))
P, Q = '{"time":1,"prompt":"p"}', '{"time":2,"prompt":"q"}'


def contents(text: str | bytes) -> Contents:
    return split(Line(1, text if isinstance(text, bytes) else text.encode()), SHAPE)


def prompts(found: Contents) -> list[Json]:
    return [each.value.get("prompt") for each in found.objects]


def test_lines_end_at_a_line_feed_alone() -> None:
    data = "\r\n a\u2028b \r\n\n\t\nc\x85d\x0be\rf\n\ng".encode()

    assert [(line.number, line.raw.decode()) for line in lines(data)] == [
        (2, "a\u2028b"),
        (5, "c\x85d\x0be\rf"),
        (7, "g"),
    ]


@pytest.mark.parametrize("data", [b"", b"\n", b" \r\n\t", codecs.BOM_UTF8, codecs.BOM_UTF16_LE])
def test_lines_of_an_empty_file(data: bytes) -> None:
    assert list(lines(data)) == []


def test_lines_have_no_byte_order_mark() -> None:
    data = codecs.BOM_UTF8 + b"a\n" + codecs.BOM_UTF8 + b" b\n\xef\xbb\n"

    assert [(line.number, line.raw) for line in lines(data)] == [(1, b"a"), (2, b"b"), (3, b"\xef\xbb")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_lines_of_utf_16(encoding: str) -> None:
    text = f'{P}\r\n{{"prompt":"\u2028é😀"}}\n'

    found = list(lines(text.encode(encoding)))

    assert [line.raw.decode() for line in found] == [P, '{"prompt":"\u2028é😀"}']
    assert [line.size_of("\u2028é😀") for line in found] == [8, 8]


def test_half_a_surrogate_pair_of_utf_16_stays_text() -> None:
    data = codecs.BOM_UTF16_LE + '{"prompt":"a\ud83d"}\n'.encode("utf-16-le", "surrogatepass")
    [line] = lines(data)

    found = split(line, SHAPE)

    assert (prompts(found), found.reason) == (["a\ud83d"], None)


@pytest.mark.parametrize("text", [P + Q, f"{P} {Q}", f"{P}\r{Q}", f"{P}\t{Q}"])
def test_joined_objects_are_two(text: str) -> None:
    found = contents(text)

    assert (prompts(found), found.reason, found.lost) == (["p", "q"], None, 0)
    assert [each.raw.decode() for each in found.objects] == [P, Q]


def test_an_object_alone_is_a_record_whatever_its_keys() -> None:
    found = contents('{"other":1}{}')

    assert [each.value for each in found.objects] == [{"other": 1}, {}]
    assert found.reason is None


@pytest.mark.parametrize(
    ("text", "kept", "reason", "lost"),
    [
        ('{"time":1,"prompt":"a' + P, ["p"], "json_truncated", 21),
        ('{"time":1,"prompt":' + P, ["p"], "json_truncated", 19),
        ('{"time":1,"output":[{"content":"c"},{"x":' + P, ["p"], "json_truncated", 41),
        ('{"ti' + P + '{"time":3,"prompt":"r' + Q, ["p", "q"], "json_truncated", 25),
        ('{"time":1' + P + ',"prompt":"q"}', ["p"], "json_truncated", 23),
        ('{"time":1, "prompt":"q"' + P + "}", ["p"], "json_truncated", 24),
        ('{"ti' + P + "}" + Q, ["p", "q"], "json_truncated", 5),
        (P + '{"time":1,"pro', ["p"], "json_truncated", 14),
        (P + "TRAILER", ["p"], "trailing_data", 7),
        (P + "}", ["p"], "trailing_data", 1),
        (P + ",", ["p"], "trailing_data", 1),
        (P + "[]", ["p"], "trailing_data", 2),
        (f"{P}, {Q}", ["p", "q"], "trailing_data", 1),
        (P + "\0\0\0", ["p"], "zero_filled", 3),
        ("\0\0" + P, ["p"], "zero_filled", 2),
        ("\0" * 40, [], "zero_filled", 40),
        ('{"prompt":"a\0\0\0b"}', [], "zero_filled", 18),
        ('{"prompt":NaN}' + P, ["p"], "json_invalid", 14),
        ('{"prompt":NaN}', [], "json_invalid", 14),
        ("<<<<<<< HEAD", [], "json_invalid", 12),
        ("2026-01-01 prompt", [], "json_invalid", 17),
        ("[] " + P, ["p"], "not_an_object", 2),
        ("[]", [], "not_an_object", 2),
        ('"x"', [], "not_an_object", 3),
        ("null", [], "not_an_object", 4),
        ("5", [], "not_an_object", 1),
        ("tru", [], "json_truncated", 3),
        ('{"a":1}TRAILER', [], "trailing_data", 14),
    ],
)
def test_damaged_lines(text: str, kept: list[Json], reason: str, lost: int) -> None:
    found = contents(text)

    assert (prompts(found), found.reason, found.lost) == (kept, reason, lost)


@pytest.mark.parametrize(
    "text",
    [
        '{"time":1,"output":[{"prompt":"inner"},{"content":"cut',
        '{"time":1,"output":{"prompt":"inner"},"x":NaN}',
        '[{"prompt":"inner"},{"prompt":"inner"}]',
        '[{"prompt":"inner"} , {"prompt":"inner"} ]',
        '{"time":1,"output":[{"output":"no record"}',
        '{"time":1,"schema":{"name":{"prompt":"inner"}},"x":"cut',
        '{"output":"{\\"prompt\\":\\"inner\\"}","x":"cut',
    ],
)
def test_inner_objects_of_damage_are_no_records(text: str) -> None:
    found = contents(text)

    assert found.objects == []
    assert found.reason in ("json_truncated", "json_invalid", "not_an_object")


def test_bad_bytes_are_marked_and_kept_in_an_objects_own_bytes() -> None:
    raw = b'{"prompt":"a\xff\xfeb\\ud800"}'

    [found] = contents(b"\xff" + raw + b"x").objects

    assert found.raw == raw
    assert found.bad is not None
    assert found.value == {"prompt": f"a{found.bad}b\ud800"}


def test_lost_bytes_are_counted_as_they_lie_in_the_file() -> None:
    assert contents("é\u2028").lost == 5
    assert contents(P.encode() + b"\xff\xff").lost == 2


def test_deeper_than_the_reader_goes() -> None:
    deep = '{"prompt":' * 5000 + "1" + "}" * 5000

    found = contents(deep + P)

    assert (prompts(found), found.reason, found.lost) == (["p"], "nesting_too_deep", len(deep))


def test_the_last_of_a_repeated_key_holds() -> None:
    assert prompts(contents('{"prompt":"a","prompt":"b"}' + P)) == ["b", "p"]


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many characters each attempt to parse an object read, at most."""
    read: list[int] = []

    def counting(text: str, start: int = 0) -> tuple[Json, int]:
        try:
            value, end = parse(text, start)
        except json.JSONDecodeError as error:
            read.append(error.pos - start)
            raise
        except RecursionError:
            read.append(len(text) - start)
            raise
        read.append(end - start)
        return value, end

    parse = _json.parse
    monkeypatch.setattr(_jsonl, "parse", counting)
    return read


@pytest.mark.parametrize(
    "unit",
    [
        "{",
        '{"prompt":',
        '{"prompt":"',
        '{"prompt":1}x',
        '{"prompt":{"a":1},',
        '[{"prompt":1},',
        '{"prompt":"a"}{',
        "{}[",
    ],
    ids=repr,
)
def test_hostile_lines_are_read_a_bounded_number_of_times(parsed: list[int], unit: str) -> None:
    text = unit * (200_000 // len(unit))

    found = contents(text)

    assert found.reason is not None
    assert sum(parsed) <= 22 * len(text)
    assert len(parsed) <= 2 * len(found.objects) + 1001


def test_a_record_behind_much_code_is_found() -> None:
    code = json.dumps("".join(f"if (x{n}) {{ f({{'prompt': {n}}}) }}\n" for n in range(20_000)))

    found = contents('{"time":1,"prompt":' + code[:-1] + P)

    assert (prompts(found), found.reason) == (["p"], "json_truncated")


def test_a_line_of_ten_million_bytes() -> None:
    text = json.dumps({"prompt": "é" * 5_000_000}, ensure_ascii=False)

    found = contents(text + "x")

    assert (len(str(prompts(found)[0])), found.reason, found.lost) == (5_000_000, "trailing_data", 1)
