"""The cases of event files; what is right stands in `fixtures/cases/<case>/expected.md`."""

from datetime import datetime

from tests.conftest import BuildCase
from tests.lake import Loss
from tests.test_cases_damage import session_id

EVENT = datetime(2026, 9, 15, 8, 31)
SAID = (
    "select turn_type, text, source_line from timeline where source = 'continue.chat_interaction' "
    "and kind = 'message' order by sequence"
)
FROM_EVENTS = "select session_id, has_file, in_index from sessions"


def test_003_zero_filled_session_and_events(build_case: BuildCase) -> None:
    lake = build_case("003-zero-filled-session")

    assert lake.rows(
        "select turn_type, text, source_line, timestamp_utc, timestamp_basis, session_id, repeats_row_id "
        "from timeline where source = 'continue.chat_interaction' and kind = 'message' order by sequence"
    ) == [
        ("user", "hello", 1, EVENT, "record", session_id(4), None),
        ("assistant", "hi", 1, EVENT, "record", session_id(4), None),
    ]
    (loss,) = [loss for loss in lake.losses() if loss.file == "chatInteraction.jsonl"]
    assert (loss.file, loss.line, loss.reason) == ("chatInteraction.jsonl", 2, "zero_filled")
    assert loss.text.removeprefix("parser: unparseable line (zero_filled): ").strip("\ufffd") == ""
    assert lake.column("select bytes from problems order by bytes") == [4096, 8192]
    assert lake.notes() == []


def test_019_toolusage_join(build_case: BuildCase) -> None:
    lake = build_case("019-toolusage-join")

    assert lake.rows(
        "select session_id, status, output, decision, ran, usage_match from tool_calls order by session_id"
    ) == [
        (session_id(26), "canceled", "part", "allowed", True, "ambiguous"),
        (session_id(27), "done", "ok", "allowed", True, "ambiguous"),
    ]
    assert lake.rows(
        "select distinct accepted, succeeded, finished_utc, tool_name, arguments, tool_use_id from tool_calls"
    ) == [(None, None, None, "run_terminal_command", '{"command":"x"}', "t1")]
    ended = [
        ("t1", "accepted=true succeeded=true\nok", "accepted=true"),
        ("t1", "accepted=true succeeded=false", "accepted=true"),
        ("t2", "accepted=false succeeded=false", "accepted=false"),
    ]
    assert lake.rows(
        "select source_line, timestamp_utc, tool_use_id, kind, text from timeline "
        "where source = 'continue.tool_usage' order by sequence"
    ) == [
        (line, datetime(2026, 9, 15, 8, 31 + line), call, kind, text)
        for line, (call, result, decision) in enumerate(ended, 1)
        for kind, text in (
            ("tool_call", '{"command":"x"}'),
            ("tool_result", result),
            ("permission_decision", f"permission decision: {decision}"),
        )
    ]
    assert lake.rows(
        "select distinct timestamp_basis, event_basis, tool_name, session_id, project_path, call_key, repeats_row_id "
        "from timeline where source = 'continue.tool_usage'"
    ) == [("record", "record", "run_terminal_command", None, None, None, None)]
    assert lake.rows(
        "select text, session_id from timeline where source = 'continue.session' and kind = 'permission_decision'"
    ) == [("permission decision: canceled", session_id(26))]
    assert lake.count("sessions") == 2
    assert lake.has_no_problem()


def test_020_jsonl_torn_and_joined_lines(build_case: BuildCase) -> None:
    lake = build_case("020-jsonl-torn-and-joined-lines")

    prompts = [("p0", 1), ("p2", 2), ("p3", 4), ("with\u2028separator", 5), ("p4", 6), ("p5", 6)]
    assert lake.rows(SAID) == [
        row for prompt, line in prompts for row in (("user", prompt, line), ("assistant", "c", line))
    ]
    assert lake.column("select distinct timestamp_utc from timeline where kind = 'message'") == [EVENT]
    (loss,) = lake.losses()
    assert (loss.file, loss.line, loss.reason) == ("chatInteraction.jsonl", 2, "json_truncated")
    assert loss.text.startswith(
        'parser: unparseable line (json_truncated): {"eventName":"chatInteraction","schema":"0.2.0",'
        '"timestamp":"2026-09-1{"eventName"'
    )
    assert '"prompt":"p2"' in loss.text
    assert lake.notes() == []
    assert lake.rows(FROM_EVENTS) == [(session_id(28), False, False)]


def test_022_json_numbers_and_duplicate_keys(build_case: BuildCase) -> None:
    lake = build_case("022-json-numbers-and-duplicate-keys")

    assert lake.rows(
        "select source_line, prompt_tokens, completion_tokens, grain, utc from token_usage order by source_line"
    ) == [
        (line, tokens, 0, "request", None)
        for line, tokens in ((1, 2), (3, None), (4, None), (5, 3), (6, None), (7, None))
    ]
    text = (
        'parser: unparseable line (json_invalid): {"model":"m","provider":"p","promptTokens":NaN,"generatedTokens":0}'
    )
    assert lake.losses() == [Loss("tokensGenerated.jsonl", 2, "json_invalid", text)]
    assert [(line, reason) for _, line, reason in lake.notes()] == [
        (3, "value_out_of_range"),
        (4, "value_out_of_range"),
        (6, "wrong_type"),
        (7, "wrong_type"),
    ]
    assert lake.count("timeline") == 1


def test_029_input_history(build_case: BuildCase) -> None:
    lake = build_case("029-input-history")

    first, second = datetime(2026, 9, 15, 8, 40), datetime(2026, 9, 15, 8, 35)
    assert lake.rows(
        "select source_line, text, timestamp_utc, timestamp_basis, event_utc, event_basis from timeline "
        "where kind = 'message' order by source_line"
    ) == [
        (1, "fix tests", first, "record", first, "record"),
        (2, "ls -la", second, "record", second, "record"),
        (3, "old", None, None, None, None),
        (4, "neg", None, None, None, None),
    ]
    assert lake.rows(
        "select distinct source, turn_type, secondary, recovered, session_id, project_path from timeline "
        "where kind = 'message'"
    ) == [("continue.input_history", "user", True, True, None, None)]
    text = 'parser: unparseable record 5 (json_truncated): {\n    "text": "cut her'
    assert lake.losses() == [Loss("input_history.json", 5, "json_truncated", text)]
    assert [(line, reason) for _, line, reason in lake.notes()] == [(3, "bad_timestamp"), (4, "bad_timestamp")]
    assert not lake.count("twins")


def test_031_tokens_of_events(build_case: BuildCase) -> None:
    lake = build_case("031-token-and-cost-oddities")

    assert lake.rows(
        "select prompt_tokens, completion_tokens, source, grain, utc from token_usage order by source_line"
    ) == [
        (prompt, completion, "continue.tokens_generated", "request", EVENT)
        for prompt, completion in ((100, 7), (None, None), (0, 0))
    ]
    assert [(line, reason) for file, line, reason in lake.notes() if file == "tokensGenerated.jsonl"] == [
        (2, "value_out_of_range")
    ]
    assert len(lake.notes()) == 3


def test_060_ignore_errors_invents_rows(build_case: BuildCase) -> None:
    lake = build_case("060-ignore-errors-invents-rows")

    assert lake.rows(SAID) == [
        row
        for prompt, line in (("q0", 1), ("q1", 2), ("q4", 6))
        for row in (("user", prompt, line), ("assistant", "c", line))
    ]
    assert lake.rows("select distinct timestamp_utc, session_id from timeline where kind = 'message'") == [
        (EVENT, session_id(28))
    ]
    trailing, *others = lake.losses()
    assert (trailing.line, trailing.reason) == (2, "trailing_data")
    assert trailing.text.startswith('parser: unparseable line (trailing_data): {"eventName":"chatInteraction"')
    assert trailing.text.endswith("}TRAILER")
    cut = '{"eventName":"chatInteraction","schema":"0.2.0","timestamp":"2026-09-15T08:31:00.000Z","us'
    assert others == [
        Loss("chatInteraction.jsonl", line, reason, f"parser: unparseable line ({reason}): {text}")
        for line, reason, text in ((3, "json_truncated", cut), (4, "not_an_object", "[]"), (5, "not_an_object", '"x"'))
    ]
    assert lake.notes() == []
    assert lake.rows(FROM_EVENTS) == [(session_id(28), False, False)]


def test_067_token_in_user_id(build_case: BuildCase) -> None:
    lake = build_case("067-token-in-user-id")

    assert lake.rows(SAID) == [
        row for line, prompt in enumerate("abc", 1) for row in (("user", prompt, line), ("assistant", "c", line))
    ]
    assert lake.rows("select distinct session_id, repeats_row_id from timeline") == [(session_id(28), None)]
    assert not any(b"FAKE-HUB-TOKEN-7" in file.read_bytes() for file in lake.path.rglob("*") if file.is_file())
    for (table,) in lake.rows("select view_name from duckdb_views() where not internal"):
        assert not lake.count(f'"{table}"', f"contains(\"{table}\"::varchar, 'FAKE-HUB-TOKEN')")
    assert lake.rows(FROM_EVENTS) == [(session_id(28), False, False)]
    assert lake.has_no_problem()
