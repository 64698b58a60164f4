"""What a session hands on for others to join: its model requests, its replies' tokens, what a person typed."""

import json

import pytest

from parsers._exchange import exchange
from parsers.continue_session import SOURCE
from tests.staged import BYTE_ORDER_MARK, Staged, session, staged

WAYS = pytest.mark.parametrize("lead", [b"", BYTE_ORDER_MARK], ids=["fast", "careful"])
COUNTS = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens", "cost_usd")


def read(*items: object, lead: bytes = b"") -> Staged:
    return staged(SOURCE, lead + session(*items))


def reply(**fields: object) -> dict[str, object]:
    return {"message": {"role": "assistant", "content": "", **fields}}


def user(**fields: object) -> dict[str, object]:
    return {"message": {"role": "user", "content": "q"}, **fields}


def called(name: str, call_id: str, arguments: object) -> dict[str, object]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return reply(toolCalls=[{"id": call_id, "function": {"name": name, "arguments": text}}])


def test_exchange_is_of_two_texts() -> None:
    assert exchange("p", "c") == exchange("p", "c")
    assert len({exchange("p", "c"), exchange("c", "p"), exchange("pc", ""), exchange("", "pc")}) == 4
    assert exchange("p", None) is exchange(["p"], "c") is exchange(None, None) is None


@WAYS
def test_prompt_logs_are_handed_on_as_exchanges(lead: bytes) -> None:
    first = [{"modelTitle": "M", "prompt": "a", "completion": "b"}, {"prompt": "c", "completion": ""}]
    odd = [{}, {"prompt": "a"}, {"prompt": 1, "completion": "b"}, {"prompt": ["a"], "completion": "b"}]

    found = read(user(promptLogs=first), user(), user(promptLogs=[*odd, *first[:1]]), lead=lead)

    assert found.rows("prompt_logs", "line", "exchange") == [
        (1, exchange("a", "b")),
        (1, exchange("c", "")),
        (3, exchange("a", "b")),
    ]
    assert found.notes() == []


@pytest.mark.parametrize("odd", ["[5]", "[[]]", "5", "{}", "null", '[["a","b"]]'])
def test_prompt_logs_of_other_shapes_are_none(odd: str) -> None:
    found = staged(SOURCE, f'{{"history":[{{"message":{{"role":"user","content":"q"}},"promptLogs":{odd}}}]}}'.encode())

    assert found.rows("prompt_logs", "line") == []
    assert found.notes() == []


@WAYS
def test_odd_characters_in_prompts_are_nobodys_fault(lead: bytes) -> None:
    log = {"prompt": "half \ud83d and \0", "completion": "é\udc00"}

    found = read(user(promptLogs=[log]), lead=lead)

    assert found.rows("prompt_logs", "exchange") == [(exchange("half \ufffd and \ufffd", "é\ufffd"),)]
    assert found.records.problems == []


@WAYS
def test_bad_bytes_in_prompts_are_nobodys_fault(lead: bytes) -> None:
    data = session(user(promptLogs=[{"prompt": "<bad>", "completion": "c"}])).replace(b"<bad>", b"a \xbc\xdb\xb8 b")

    found = staged(SOURCE, lead + data)

    assert found.rows("prompt_logs", "exchange") == [(exchange("a \ufffd\u06f8 b", "c"),)]
    assert found.records.problems == []


def test_requests_of_a_lost_item_are_not_handed_on() -> None:
    deep = json.loads("[" * 300 + "]" * 300)

    found = read({"message": {"role": "user", "content": deep}, "promptLogs": [{"prompt": "a", "completion": "b"}]})

    assert found.rows("prompt_logs", "line") == []
    assert [problem.reason for problem in found.records.problems] == ["nesting_too_deep"]


API = {"prompt_tokens": 11, "completion_tokens": 2, "total_tokens": 13, "cost_cents": 7, "model": "m-1"}


@WAYS
@pytest.mark.parametrize(
    ("usage", "row"),
    [
        (API, (11, 2, None, None, 0.07)),
        ({**API, "prompt_tokens_details": {"cached_tokens": 3, "cache_read_tokens": 4}}, (11, 2, 3, None, 0.07)),
        ({**API, "prompt_tokens_details": {"cache_read_tokens": 4, "cache_write_tokens": 5}}, (11, 2, 4, 5, 0.07)),
        ({**API, "prompt_tokens_details": None, "cost_cents": 0}, (11, 2, None, None, 0.0)),
        (
            {
                "promptTokens": 11,
                "completionTokens": 0,
                "promptTokensDetails": {"cachedTokens": 1, "cacheWriteTokens": 0},
            },
            (11, 0, 1, 0, None),
        ),
        ({"cost_cents": 250}, (None, None, None, None, 2.5)),
    ],
)
def test_reply_tokens_of_either_form(usage: object, row: tuple[object, ...], lead: bytes) -> None:
    found = read(user(), reply(usage=usage), lead=lead)

    assert found.rows("tokens", "line", "grain", *COUNTS) == [(2, "reply", *row)]
    assert found.rows("tokens", "own_utc", "named_session", "provider") == [(None, None, None)]
    assert found.notes() == []


def test_reply_tokens_are_those_of_the_model_that_the_usage_names() -> None:
    named, unnamed = {"prompt_tokens": 1, "model": "m-1"}, {"promptTokens": 2}
    logs = [{"modelTitle": "Title"}]

    found = read(
        reply(usage=unnamed),
        {**reply(usage=named), "promptLogs": logs},
        reply(usage=unnamed),
    )

    assert found.rows("tokens", "line", "model") == [(1, None), (2, "m-1"), (3, "Title")]


def test_key_of_reply_tokens_holds_no_position() -> None:
    one, other = {"prompt_tokens": 1}, {"completion_tokens": 1}

    found = read(reply(usage=one), reply(usage=other), reply(usage=one), reply(usage={"model": "m"}), reply(usage=None))

    (first, second, third) = found.rows("tokens", "key")
    assert first == third
    assert first != second
    assert None not in (*first, *second)


@WAYS
def test_bad_counts_of_a_reply_are_noted(lead: bytes) -> None:
    usage = {"prompt_tokens": "11", "completion_tokens": -2, "cost_cents": 1.5, "prompt_tokens_details": {}}

    found = read(reply(usage=usage), lead=lead)

    assert found.rows("tokens", *COUNTS) == [(None, None, None, None, 0.015)]
    assert found.notes() == [
        (1, "value_out_of_range", "message.usage.completion_tokens"),
        (1, "wrong_type", "message.usage.prompt_tokens"),
    ]


def test_details_of_another_type_cost_no_other_count() -> None:
    found = read(reply(usage={"prompt_tokens": 11, "prompt_tokens_details": 5}))

    assert found.rows("tokens", *COUNTS) == [(11, None, None, None, None)]
    assert found.notes() == [(1, "wrong_type", "prompt_tokens_details")]


def test_item_with_tokens_alone_is_not_silent() -> None:
    found = read(reply(), reply(usage={"prompt_tokens": 1}), reply(usage={"other": 1}))

    assert found.records.count == 4
    assert found.rows("silent", "records") == [(2,)]


@WAYS
@pytest.mark.parametrize(
    ("name", "call_id", "arguments", "typed"),
    [
        ("Bash", "shell-1789461060000-k3q9zz", {"command": "ls -la"}, "!ls -la"),
        ("Bash", "shell-1789461060000-", {"command": "  ls\n"}, "!ls"),
        ("Bash", "shell-1789461060000-k", {"command": "a\0b \ud83d"}, "!a\ufffdb \ufffd"),
        ("Bash", "shell-1789461060000", {"command": "ls"}, None),
        ("Bash", "shell-abc", {"command": "ls"}, None),
        ("Bash", "shell-178946106000-k", {"command": "ls"}, None),
        ("Bash", "shell-１７８９４６１０６００００-k", {"command": "ls"}, None),
        ("Bash", "call_shell-1789461060000-k", {"command": "ls"}, None),
        ("Read", "shell-1789461060000-k", {"command": "ls"}, None),
        ("Bash", "shell-1789461060000-k", {"command": 5}, "!"),
        ("Bash", "shell-1789461060000-k", "ls", "!"),
        ("Bash", "shell-1789461060000-k", "[" * 5000, "!"),
    ],
)
def test_typed_commands(name: str, call_id: str, arguments: object, typed: str | None, lead: bytes) -> None:
    found = read(called(name, call_id, arguments), lead=lead)

    assert found.rows("calls", "typed") == [(typed,)]
