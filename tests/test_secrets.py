"""Tokens and keys that no text shows."""

import json

import pytest

from pipeline.secrets import mask
from tests.bounded import ending


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('{"userId":"sk-7","prompt":"p"}', '{"userId":"***","prompt":"p"}'),
        ('{"userId":"","apiKey":""}', '{"userId":"","apiKey":""}'),
        ('{"apiKey" \t:\n "sk-7"}', '{"apiKey" \t:\n "***"}'),
        ('{"userId":"a\\"sk-7","b":"c"}', '{"userId":"***","b":"c"}'),
        ('{"userId":"sk-7\\\\","b":"c"}', '{"userId":"***","b":"c"}'),
        ('{"userId":"sk-7', '{"userId":"***'),
        ('{"userId":"sk-7\\', '{"userId":"***'),
        ('{"userId":"', '{"userId":"'),
        ('{"userId":"sk-7{"userId":"sk-7","b":1}', '{"userId":"***"userId":"***","b":1}'),
        ('{"userId":"sk-7","userId":"sk-7"}', '{"userId":"***","userId":"***"}'),
        ('\\"userId":"sk-7","b":1}', '\\"userId":"***","b":1}'),
        ('{"userId":12,"apiKey":null}', '{"userId":***,"apiKey":null}'),
        ('{"apiKey":[],"userId":{}}', '{"apiKey":[],"userId":{}}'),
        ('{"theuserId":"x","userIds":"x","userId2":"x"}', '{"theuserId":"x","userIds":"x","userId2":"x"}'),
        ("no JSON: userId=5", "no JSON: userId=***"),
        ("{ apiKey: 'sk-\\'7', b: 'c' }", "{ apiKey: '***', b: 'c' }"),
        ("{'userId': 'sk-7'}", "{'userId': '***'}"),
        ("{'userId': 'sk-7", "{'userId': '***"),
        ("apiKey: ''", "apiKey: ''"),
        ("apiKey: `sk-7`", "apiKey: `***`"),
        ("GET /models?apiKey=sk-7&b=c", "GET /models?apiKey=***&b=c"),
        ("models:\n  apiKey: sk-7\n  b: c", "models:\n  apiKey: ***\n  b: c"),
        ('{"in":"models:\\napiKey: sk-7\\nb: c"}', '{"in":"models:\\napiKey: ***\\nb: c"}'),
        ("{ apiKey: undefined, userId: null }", "{ apiKey: undefined, userId: null }"),
        ("theuserId=x, userIds=x, my_apiKey: 'x'", "theuserId=x, userIds=x, my_apiKey: 'x'"),
        ("no apiKey, no userId", "no apiKey, no userId"),
        ('line: sk-7","userAgent":"a"}', 'line: ***","userAgent":"a"}'),
        ('\ufffdsk-7" , "userAgent":"a"}', '\ufffd***" , "userAgent":"a"}'),
        ('{"time":"t","use\ufffd":"sk-7","userAgent":"a"}', '{"time":"t","use\ufffd":"***","userAgent":"a"}'),
        ('{\\"erId\\":\\"sk-7\\",\\"userAgent\\":1}', '{\\"erId\\":\\"***\\",\\"userAgent\\":1}'),
        ('{"userId":"","userAgent":"a"}', '{"userId":"","userAgent":"a"}'),
    ],
)
def test_mask_of_a_line(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize("token", ["sk-7", 'a"sk-7', "sk-7\\", 'sk-7\\"', "\\\\sk-7", "sk-7\n"])
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" ,", " : ")])
def test_mask_of_json_inside_strings(token: str, depth: int, separators: tuple[str, str]) -> None:
    def nested(secret: str) -> str:
        text = json.dumps({"a": "x", "apiKey": secret, "b": "y"}, separators=separators)
        for _ in range(depth):
            text = json.dumps({"in": text, "behind": "z"}, separators=separators)
        return text

    assert mask(nested(token)) == nested("***")


@pytest.mark.parametrize("depth", [1, 2])
def test_mask_of_json_that_was_cut_inside_a_string(depth: int) -> None:
    cut = '{"apiKey":"sk-7'
    for _ in range(depth):
        cut = json.dumps({"in": cut, "b": "c"})

    masked = mask(cut)

    assert "sk-7" not in masked
    assert json.loads(masked)["b"] == "c"


def test_mask_of_indented_json_inside_a_string() -> None:
    text = json.dumps({"in": '{"apiKey"\n:\n\t"sk-7"}'})

    assert mask(text) == json.dumps({"in": '{"apiKey"\n:\n\t"***"}'})


def test_mask_is_linear() -> None:
    hostile = ["\\" * 200_000, '"userId"' * 50_000, '"userId":"' * 50_000, '"apiKey" ' + " " * 200_000, '\\"' * 200_000]
    hostile += [
        "apiKey:'" * 50_000,
        "apiKey='\\\\" * 50_000,
        "userId" * 50_000,
        "\\'" * 200_000,
        "userId=" + "x" * 200_000,
    ]

    with ending():
        for text in hostile:
            mask('{"userId":"' + text)
            mask("userId" + text)


@pytest.mark.parametrize(
    "text",
    [
        '{"userId":\0\0"FAKE"}',
        '{"userId"\ufffd:"FAKE"}',
        '{"userId\ufffd" : "FAKE"}',
        '{"userId"\ufffd"FAKE"}',
        '{"apiKey" \0 "FAKE"}',
        '{"in":"{\\"apiKey\\\ufffd:\\"FAKE\\"}"}',
        '{"in":"{\\"apiKey\\":\\\ufffdFAKE\\"}"}',
        '{"in":"{\\"apiKey\\"\ufffd \\"FAKE\\"}"}',
        '\ufffduserId":"FAKE","a":1}',
        'x: apiKey":"FAKE',
    ],
)
def test_damage_around_the_key_hides_no_value(text: str) -> None:
    assert "FAKE" not in mask(text)
