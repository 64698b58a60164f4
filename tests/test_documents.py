"""Documents with damage: what is read, what is lost, and where the loss ends."""

import json

import pytest

from parsers._documents import read_array, read_object
from parsers._faults import Document, Fault
from parsers._json import Json, compact, parse, reason_of
from tests.bounded import ending


def is_item(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("message"), dict)


def is_entry(value: Json) -> bool:
    return isinstance(value, dict) and "sessionId" in value


def document(text: str) -> Document:
    found = read_object(text, ("history",), ("sessionId", "title", "usage"), is_item)
    assert isinstance(found, Document)
    return found


def history(text: str) -> list[object]:
    return [element.value for element in document(text).arrays["history"]]


U, Z = {"message": {"role": "u"}}, {"message": {"role": "z"}}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}", None),
        ('{"a":1', "json_truncated"),
        ('{"a":"x', "json_truncated"),
        ('{"a":"\\ud83', "json_truncated"),
        ('{"a":tru', "json_truncated"),
        ('{"a":', "json_truncated"),
        ("<<<<<<< HEAD", "json_invalid"),
        ('{"a":NaN}', "json_invalid"),
        ('{"a":1}\0\0', "zero_filled"),
        ('{"a":"\0\0"}', "zero_filled"),
        ("{} x", "trailing_data"),
        ("[" * 20_000 + "]" * 20_000, "nesting_too_deep"),
    ],
)
def test_reason_of_a_text_that_is_no_json(text: str, reason: str | None) -> None:
    assert reason_of(text) == reason


@pytest.mark.parametrize(
    "number",
    ["0.00003", "0.0001234", "0.000001", "1e-7", "2.5e-8", "-0.00001", "0.23679", "1e+21", "1.5e+300", "1e+400"],
)
def test_numbers_are_written_as_javascript_writes_them(number: str) -> None:
    value, _ = parse(number)

    assert compact(value) == number


def test_object_whole() -> None:
    found = document('{"sessionId":"a","history":[{"message":{"role":"u"}}],"title":"t"}')

    assert found == Document({"sessionId": "a", "title": "t"}, found.arrays)
    assert [element.value for element in found.arrays["history"]] == [U]


def test_object_with_a_damaged_key_of_its_array() -> None:
    found = document('{"title":"t","his\x01ory":[{"message":{"role":"u"}},{"message":{"role":"z"}}],"sessionId":"a"}')

    assert [element.value for element in found.arrays["history"]] == [U, Z]
    assert found.head == {"title": "t", "sessionId": "a"}
    assert found.faults == [Fault("json_invalid", '"his\x01ory":[')]


def test_object_cut_in_an_element() -> None:
    found = document('{"history":[{"message":{"role":"u"}},{"message":{"ro')

    assert [e.value for e in found.arrays["history"]] == [U, Fault("json_truncated", '{"message":{"ro')]
    assert found.cut == ["history"]


@pytest.mark.parametrize("tail", ["", "\0" * 20])
def test_object_cut_anywhere_has_one_fault(tail: str) -> None:
    whole = '{"sessionId":"a","history":[{"message":{"role":"u"}}],"title":"t","usage":{"promptTokens":12}}'

    for end in range(1, len(whole)):
        found = read_object(whole[:end] + tail, ("history",), ("sessionId", "title", "usage"), is_item)
        if not isinstance(found, Fault):
            items = [element.value for array in found.arrays.values() for element in array]
            damaged = [value for value in items if isinstance(value, Fault)]
            beside = [*found.faults, *(["cut"] if found.cut and not damaged else [])]
            assert len(damaged) + len(beside) == 1, whole[:end]


def test_object_reads_on_behind_a_run_of_nul() -> None:
    text = '{"history":[{"message":{"role":"u"}},{"message":{"a":"\0\0"}},{"message":{"role":"z"}}],"title":"t"}'

    assert history(text) == [U, Fault("zero_filled", '{"message":{"a":"\0\0"}}'), Z]
    assert document(text).head == {"title": "t"}


def test_object_takes_no_inner_key_for_its_own() -> None:
    text = '{"history":[{"message":{"role":"u","calls":[],"usage":{}, "content":"cut'

    assert history(text) == [Fault("json_truncated", text.removeprefix('{"history":['))]
    assert document(text).head == {}


def test_object_reads_on_behind_a_damaged_member() -> None:
    found = document('{"sessionId":"a","title":"b\0c","history":[{"message":{"role":"u"}}]}')

    assert found.faults == [Fault("zero_filled", '"title":"b\0c"')]
    assert found.head == {"sessionId": "a"}
    assert [element.value for element in found.arrays["history"]] == [U]


def test_object_with_something_behind_it() -> None:
    assert document('{"history":[]} {').trailing == Fault("trailing_data", "{")
    assert document('{"history":[]}\0\0').trailing == Fault("zero_filled", "\0\0")


def test_object_keeps_the_last_of_a_repeated_key() -> None:
    found = document('{"title":"a","history":[{"message":{"role":"u"}}],"title":"b","history":[]}')

    assert (found.head, found.arrays) == ({"title": "b"}, {"history": []})


def test_object_deeper_than_the_reader_goes() -> None:
    deep = '{"message":{"a":' + "[" * 20_000 + "]" * 20_000 + "}}"

    assert history(f'{{"history":[{deep},{{"message":{{"role":"z"}}}}]}}') == [Fault("nesting_too_deep", deep), Z]


@pytest.mark.parametrize("text", ["[]", "null", "5", '"x"'])
def test_object_of_another_type(text: str) -> None:
    assert read_object(text, ("history",), (), is_item) == Fault("not_an_object", text)


def test_array_without_its_first_bracket() -> None:
    found = read_array('{"sessionId":"1"},{"sessionId":"2"}]', is_entry)
    assert not isinstance(found, Fault)

    assert [element.value for element in found[0]] == [{"sessionId": "1"}, {"sessionId": "2"}]


def test_object_without_its_first_bracket() -> None:
    text = '"title":"t","history":[{"message":{"role":"u"}},{"message":{"role":"z"}}],"sessionId":"a"}'

    found = document(text)

    assert [element.value for element in found.arrays["history"]] == [U, Z]
    assert (found.head, found.faults) == ({"title": "t", "sessionId": "a"}, [Fault("json_invalid", "")])


PRETTY = json.dumps({"sessionId": "a", "title": "t", "history": [U, Z], "usage": {}}, indent=2)


@pytest.mark.parametrize(
    ("damaged", "lost", "head"),
    [
        ("\0" * 20 + PRETTY[20:], "\0" * 20, {"title": "t", "usage": {}}),
        (
            PRETTY.replace('  "title"', '<<<<<<< x\n  "title"'),
            "<<<<<<< x",
            {"sessionId": "a", "title": "t", "usage": {}},
        ),
        ("x[" + PRETTY[PRETTY.index("[") + 1 :], "x[", {"usage": {}}),
    ],
)
def test_damage_in_front_of_the_items_is_none_of_them(damaged: str, lost: str, head: dict[str, Json]) -> None:
    found = document(damaged)

    assert [element.position for element in found.arrays["history"]] == [1, 2]
    assert [element.value for element in found.arrays["history"]] == [U, Z]
    assert ([fault.text for fault in found.faults], found.head) == ([lost], head)


@pytest.mark.parametrize("layout", [None, 2])
@pytest.mark.parametrize("at", ["z", "]"])
def test_members_behind_a_lost_end_of_the_items_are_read(layout: int | None, at: str) -> None:
    whole = json.dumps({"history": [U, Z], "sessionId": "a", "title": "t", "usage": {"a": 1}}, indent=layout)
    begin, end = whole.index(at, whole.index('"z"')), whole.index('a"', whole.index("sessionId") + 10)

    found = document(whole[:begin] + "\0" * (end - begin) + whole[end:])

    assert found.head == {"title": "t", "usage": {"a": 1}}
    assert [isinstance(element.value, Fault) for element in found.arrays["history"]][-1]
    assert found.arrays["history"][0].value == U


def test_a_bracket_that_is_lost_alone_costs_nothing() -> None:
    found = document('{"history":[{"message":{"role":"u"}},"sessionId":"a","title":"t"}')

    assert [element.value for element in found.arrays["history"]] == [U]
    assert (found.head, found.faults) == ({"sessionId": "a", "title": "t"}, [])


def test_a_file_cut_behind_an_inner_object_has_no_members_of_it() -> None:
    found = document('{"history":[{"message":{"role":"u"},"citations":[{"url":"u","title":"A"}')

    assert (found.head, found.cut) == ({}, ["history"])


@pytest.mark.parametrize("text", ['{"message":{"role":"u",', '{"message":{"role":"u"'])
def test_an_item_that_is_cut_keeps_its_last_comma(text: str) -> None:
    whole = '{"history":[{"message":{"role":"u","a":1}}]}'

    assert history(whole[: whole.index(text) + len(text)]) == [Fault("json_truncated", text)]


@pytest.mark.parametrize(
    "inner",
    [
        '"properties":{"message":{"type":"string"},"to":{}},"required":["message"]',
        '"properties":{"message":{"type":"string"}}',
        '"list":[{"message":{"type":"string"}}]',
        '"list":[{"message":{}}],"required":[]',
        '"lists":[[{"message":{}}]]',
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_object_takes_no_inner_object_for_an_element(inner: str, indent: int | None) -> None:
    tool = json.loads(f'{{"message":{{"role":"u"}},"tool":{{{inner}}}}}')
    whole = json.dumps({"history": [tool, {"message": {"role": "z"}}], "title": "t"}, indent=indent)

    found = document(whole.replace('"u"', '"u', 1))

    first, second = [element.value for element in found.arrays["history"]]
    assert isinstance(first, Fault)
    assert (second, found.head, found.faults, found.trailing) == (Z, {"title": "t"}, [], None)


@pytest.mark.parametrize("lead", ["", "\0", "x"])
def test_object_that_lost_its_beginning_is_read_from_its_next_element(lead: str) -> None:
    item = '{"message":{"role":"u","usage":{"promptTokens":1}},"contextItems":[]}'
    whole = f'{{"sessionId":"a","history":[{item},{item},{item}],"title":"t"}}'
    element = {"message": {"role": "u", "usage": {"promptTokens": 1}}, "contextItems": []}

    for begin in range(1, whole.index(item)):
        lost = lead * begin + whole[begin:]
        assert history(lost)[-3:] == [element] * 3, lost
    for begin in range(1, 3):  # behind a brace of its own the rest of the first element is no document
        lost = lead * 40 + whole[whole.index(item) + begin :]
        assert history(lost)[-2:] == [element] * 2, lost


def test_array_of_others_is_no_object() -> None:
    text = '[{"sessionId":"1","title":"a"},{"sessionId":"2","ti'

    assert read_object(text, ("history",), ("sessionId", "title"), is_item) == Fault("json_truncated", text)


@pytest.mark.parametrize("text", ["5 6", '"x" {"a":1}', '{"a":1}{"a":2}'])
def test_values_that_are_no_array_of_entries(text: str) -> None:
    assert read_array(text, is_entry) == Fault("not_an_object", text)


def test_array_reads_on_behind_conflict_markers() -> None:
    text = '[{"sessionId":"1"},\n<<<<<<< HEAD\n{"sessionId":"2"}\n=======\n{"sessionId":"3"}\n>>>>>>> x\n]\n'
    found = read_array(text, is_entry)
    assert not isinstance(found, Fault)

    elements, faults, closed = found

    assert [e.value.text if isinstance(e.value, Fault) else None for e in elements] == [
        None,
        "<<<<<<< HEAD",
        None,
        "=======",
        None,
        ">>>>>>> x",
    ]
    assert [element.position for element in elements] == [1, 2, 3, 4, 5, 6]
    assert (faults, closed) == ([], True)


@pytest.mark.parametrize(
    ("text", "position", "run"),
    [
        ('[{"sessionId":"1"},,{"sessionId":"2"}]', 2, ","),
        ('[{"sessionId":"1"}, , ,\n{"sessionId":"2"}]', 2, ", ,"),
        ('[,{"sessionId":"1"}]', 1, ","),
        ('[{"sessionId":"1"},,]', 2, ","),
    ],
)
def test_a_comma_without_an_element_is_no_lost_write(text: str, position: int, run: str) -> None:
    found = read_array(text, is_entry)

    assert not isinstance(found, Fault)
    faults = [(element.position, element.value) for element in found[0] if isinstance(element.value, Fault)]
    assert faults == [(position, Fault("json_invalid", run))]


def test_array_that_is_cut_between_elements() -> None:
    assert read_array('[{"sessionId":"1"},', is_entry)[2] is False  # type: ignore[index]  # no fault of the whole


@pytest.mark.parametrize("piece", ["{", '{"', '{"a":', '{"message":[', '{"message":{"a":'])
def test_looking_behind_damage_is_bounded(piece: str) -> None:
    """A megabyte of openings is one fault, and not the work of minutes."""
    with ending():
        (fault,) = history('{"history":[' + piece * (1_000_000 // len(piece)))

    assert isinstance(fault, Fault)


def test_garbage_that_happens_to_parse_takes_no_item_with_it() -> None:
    assert history('{"history":["cut,{"message":{"role":"u"}},{"message":{"role":"z"}}]}') == [
        Fault("json_truncated", '"cut'),
        U,
        Z,
    ]


@pytest.mark.parametrize("bad", ['{"message":{"content":NaN}}', '{"message":{"a":{"b":{"c":[-Infinity]}}}}'])
def test_a_number_that_is_none_takes_no_item_with_it(bad: str) -> None:
    """Also in a document that is smaller than what one refusal is taken to cost."""
    values = history(f'{{"history":[{{"message":{{"role":"u"}}}},{bad},{{"message":{{"role":"z"}}}}]}}')

    assert values == [U, Fault("json_invalid", bad), Z]


def test_nesting_that_is_cut_takes_no_item_with_it() -> None:
    bad = '{"message":' + "[" * 2000 + "{" + "[" * 2000

    values = history(f'{{"history":[{bad},{{"message":{{"role":"z"}}}}]}}')

    assert [value for value in values if not isinstance(value, Fault)] == [Z]


def test_many_elements_that_are_no_objects_lose_nothing() -> None:
    found = document('{"history":[' + "1," * 2000 + '{"message":{"role":"z"}}],"title":"T"}')

    assert (len(found.arrays["history"]), found.arrays["history"][-1].value, found.head) == (2001, Z, {"title": "T"})


def test_an_array_found_behind_damage_drops_none_before_it() -> None:
    values = history('{"history":[{"message":{"role":"u"}},x],"history":[{"message":{"role":"z"}}]}')

    assert values == [U, Fault("json_invalid", "x"), Z]


@pytest.mark.parametrize("lead", [']}],"b":', "  ]\n}\n],", '{"a":2},{"a":3}],"b":'])
def test_closing_brackets_at_the_beginning_are_garbage(lead: str) -> None:
    found = document(lead + '{"a":1}},{"message":{"role":"z"}}],"title":"t"}')

    assert (found.arrays["history"][-1].value, found.head) == (Z, {"title": "t"})


@pytest.mark.parametrize("layout", [None, 2])
def test_members_are_read_where_all_items_are_lost(layout: int | None) -> None:
    whole = json.dumps({"history": [U], "sessionId": "a", "title": "t"}, indent=layout)
    end = whole.index("role")

    found = document("\0" * end + whole[end:])

    assert (found.arrays, found.head) == ({}, {"sessionId": "a", "title": "t"})
    assert [fault.reason for fault in found.faults] == ["zero_filled"]


def test_an_item_whose_closing_brackets_are_lost_takes_no_other_with_it() -> None:
    """What follows would be read as a part of it, up to the end of the file."""
    found = document('{"history":[{"message":{"role":"u"},"logs":[{"a":"cut},{"message":{"role":"z"}}],"title":"t"}')
    grown = document('{"history":[{"message":{"role":"u"},"logs":[{"a":1},{"message":{"role":"z"}}],"title":"t"}')

    for each in (found, grown):
        first, second = [element.value for element in each.arrays["history"]]
        assert isinstance(first, Fault)
        assert (second, each.head, each.cut) == (Z, {"title": "t"}, [])


def test_items_behind_a_bracket_of_the_damage_are_read() -> None:
    found = document('{"history":[{"message":{"role":"u"}}],{"message":{"role":"z"}}],"title":"t"}')

    assert [(element.position, element.value) for element in found.arrays["history"]] == [(1, U), (2, Z)]
    assert (found.head, len(found.faults)) == ({"title": "t"}, 1)


@pytest.mark.parametrize("indent", [None, 2])
def test_inner_keys_behind_damage_do_not_tire_the_reader(indent: int | None) -> None:
    """A reply has its `usage` behind its calls, as the document has its own behind its items."""
    item = {"message": {"role": "u", "calls": [], "usage": {}}}
    whole = json.dumps({"sessionId": "a", "history": [U, *[item] * 200], "usage": {"a": 1}}, indent=indent)

    found = document(whole.replace('"u"', '"\0"', 1))

    assert [element.value for element in found.arrays["history"][1:]] == [item] * 200
    assert found.head == {"sessionId": "a", "usage": {"a": 1}}


def test_damage_of_an_item_and_of_a_member_are_two() -> None:
    found = document('{"history":[{"message":\0},{"message":{"role":"z"}}],"title":"a\0b","sessionId":"a"}')

    assert [element.value for element in found.arrays["history"]] == [Fault("zero_filled", '{"message":\0}'), Z]
    assert (found.head, found.faults) == ({"sessionId": "a"}, [Fault("zero_filled", '"title":"a\0b"')])


@pytest.mark.parametrize("indent", [None, 2])
def test_a_brace_of_the_damage_does_not_end_the_object(indent: int | None) -> None:
    """As where a block is lost: brackets that closed something else close the array and the object."""
    item = {"message": {"role": "u"}, "calls": [{"arguments": "x"}]}
    whole = json.dumps({"history": [item, Z], "sessionId": "a", "title": "t"}, indent=indent)

    found = document(whole.replace('"calls"', '"c": 1}]}, "calls"', 1))

    assert [element.value for element in found.arrays["history"]] == [U | {"c": 1}, Z]
    assert ((found.head["sessionId"], found.head["title"]), found.trailing) == (("a", "t"), None)
    assert found.faults


@pytest.mark.parametrize("indent", [None, 2])
def test_the_end_of_a_longer_file_behind_a_whole_one_is_none_of_it(indent: int | None) -> None:
    longer = json.dumps({"history": [U, U, Z, Z], "sessionId": "b", "title": "old"}, indent=indent)
    whole = json.dumps({"history": [U], "sessionId": "a", "title": "t"}, indent=indent)

    for end in range(1, len(longer) - len(whole)):
        found = document(whole + longer[-end:])
        assert (found.head, len(found.arrays["history"])) == ({"sessionId": "a", "title": "t"}, 1), longer[-end:]
        assert found.trailing is not None


def test_braces_of_code_behind_damage_do_not_tire_the_reader() -> None:
    code = {"message": {"role": "u", "content": "if (a) { return {x: 1}; }\n" * 5000}}
    whole = json.dumps({"history": [U, code, Z], "title": "t"}, indent=2)

    with ending():
        found = document(whole.replace('"content": "if', '"content": "\0', 1))

    assert [isinstance(element.value, Fault) for element in found.arrays["history"]] == [False, True, False]
    assert found.head == {"title": "t"}


def test_braces_of_code_in_a_damaged_array_do_not_tire_the_reader() -> None:
    entries = [{"sessionId": "1"}, {"sessionId": "2", "title": "{ return {x: 1}; }\n" * 5000}, {"sessionId": "3"}]
    found = read_array(json.dumps(entries).replace('"title": "', '"title": "\0'), is_entry)

    assert not isinstance(found, Fault)
    assert [isinstance(element.value, Fault) for element in found[0]] == [False, True, False]


@pytest.mark.parametrize("begin", [0, 1, 10])
@pytest.mark.parametrize("indent", [None, 2])
def test_damage_from_the_beginning_into_an_item_is_one_fault_and_that_item(begin: int, indent: int | None) -> None:
    item = {"message": {"role": "u", "content": "lost { then kept"}, "contextItems": [{"content": "c"}]}
    whole = json.dumps({"sessionId": "a", "history": [item, U, Z], "title": "t"}, indent=indent)
    end = whole.index("then")

    found = document(whole[:begin] + "\0" * (end - begin) + whole[end:])

    assert [element.position for element in found.arrays["history"]] == [1, 2, 3]
    assert [element.value for element in found.arrays["history"]][1:] == [U, Z]
    assert isinstance(found.arrays["history"][0].value, Fault)
    assert (found.head, found.faults) == ({"title": "t"}, [])


@pytest.mark.parametrize(
    "text",
    [
        '{"history":[]' + "".join(f',"k{number}":1' for number in range(50_000)) + "}" * 500_000 + ',"title":1}',
        '{"history":[' + '[{"message":{}},' * 60_000,
        '{"history":[' + '{"message":{"a":1},"b":' * 100_000,
        '{"a":x,' + '"title":"a",' * 200_000,
    ],
    ids=["braces", "open arrays", "open items", "members"],
)
def test_hostile_documents_are_read_in_bounded_time(text: str) -> None:
    with ending():
        read_object(text, ("history",), ("sessionId", "title", "usage"), is_item)


QUOTED = {"message": {"role": "quoted"}}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    "inner",
    [
        {"history": [QUOTED, QUOTED], "title": "quoted", "sessionId": "quoted"},
        {"title": "quoted", "history": [QUOTED], "b": 1},
        {"a": QUOTED, "title": "quoted"},
        {"a": [QUOTED, QUOTED], "b": 1},
        {"a": [[QUOTED]], "usage": {"a": 1}, "title": "quoted"},
    ],
)
def test_a_session_in_the_arguments_of_a_damaged_item_is_none(inner: Json, indent: int | None) -> None:
    item = {"message": {"role": "u"}, "status": "@", "args": inner, "output": [{"name": "n"}]}
    whole = json.dumps({"sessionId": "a", "title": "t", "history": [U, item, Z]}, indent=indent)

    found = document(whole.replace('"@"', "\0", 1))

    assert [isinstance(element.value, Fault) for element in found.arrays["history"]] == [False, True, False]
    assert (found.head, found.faults) == ({"sessionId": "a", "title": "t"}, [])


@pytest.mark.parametrize("cut", range(1, 150, 10))
def test_what_a_cut_item_quotes_is_no_item_where_lines_tell(cut: int) -> None:
    item = {"message": {"role": "u"}, "args": [QUOTED, QUOTED], "output": [{"name": "n", "content": "c" * 100}]}
    whole = json.dumps({"title": "t", "history": [U, item]}, indent=2)

    values = history(whole[: -len("    }\n  ]\n}") - cut])

    assert values[0] == U
    assert [isinstance(value, Fault) for value in values[1:]] == [True]


def test_elements_behind_one_that_lost_its_brackets_among_others_like_it_are_read() -> None:
    quoted = {"sessionId": "quoted"}
    entries = [{"sessionId": "1", "a": [quoted, quoted]}, {"sessionId": "2"}, {"sessionId": "3"}]
    whole = json.dumps(entries, indent=2)
    begin, end = whole.rindex("quoted") + len('quoted"'), whole.index('"2"') + len('"2"')

    found = read_array(whole[:begin] + whole[end:], is_entry)

    assert not isinstance(found, Fault)
    assert [element.value for element in found[0]][1:] == entries[2:]
    assert isinstance(found[0][0].value, Fault)
