"""The log of Continue's command line: the corpus against a reader of lines, then logs made for one point each."""

import json
import re
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

import pytest

from parsers.continue_cn_log import SOURCE
from tests.bounded import ending
from tests.conftest import OpenLake
from tests.lake import homelake
from tests.source_files import Staged, fixtures_of, stage_bytes, stage_files

LOGS = fixtures_of(SOURCE, ".continue")
PREFIX = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) \[[0-9a-f]{8}\] \[[a-z]+\]: ")
FROM = "(from logs/cn.log, log line time, host-local)"
URL = "https://api.continue.dev/agents/a1/metadata"


def log(*messages: str, process: str = "aaaa0001") -> str:
    """A log of the messages, one a minute; a message that begins with `@<8 hex> ` is of that process."""
    lines = []
    for minute, message in enumerate(messages):
        of = process
        if message.startswith("@"):
            of, message = message[1:9], message[10:]
        lines.append(f"2026-09-15 10:{minute:02}:00.000 [{of}] [info]: {message}\n")
    return "".join(lines)


def staged(tmp_path: Path, data: bytes | str, name: str = "cn.log") -> Staged:
    return stage_bytes(SOURCE, tmp_path, data, f".continue/logs/{name}")


def post(address: str = URL, fields: str = '{"agentId":"a1","metadataKeys":["summary","isComplete"]}') -> str:
    return f"[metadata] POST {address} {fields}"


def posted(staged: Staged) -> list[str]:
    """Agent, keys and status of each post."""
    said = re.compile(re.escape("agent metadata posted: agent ") + "(.*) " + re.escape(FROM))
    return [match[1] for text in staged.texts() if (match := said.fullmatch(text))]


def expected_rows(path: Path) -> list[tuple[object, ...]]:
    """Rows of a healthy log, by its lines alone."""
    rows: list[tuple[object, ...]] = []
    for line, text in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        prefix = PREFIX.match(text)
        if prefix is None:
            continue
        utc, message = datetime.fromisoformat(prefix[1]), text[prefix.end() :]
        if message.startswith("Added policy rule to permissions.yaml: "):
            rule = message.split(": ", 1)[1]
            rows.append(
                (line, "permission_decision", utc, None, f"permission decision: allow always rule={rule} {FROM}")
            )
        elif message.startswith(("Invalid tool call {", "Tool execution failed {")):
            said, fields = message.split(" {", 1)
            error = json.loads("{" + fields)["error"]
            rows.append((line, "notice", utc, error["name"], f"{said} {error['error']}".strip()))
        elif message == "Resuming previous session...":
            rows.append((line, "notice", utc, None, message))
    return rows


@pytest.mark.parametrize("path", LOGS, ids=lambda path: "-".join((*path.parts[-5:-3], path.stem)))
def test_log_of_the_corpus_gives_what_its_lines_say(path: Path) -> None:
    records = len([line for line in path.read_text(encoding="utf-8").split("\n") if PREFIX.match(line)])
    expected = expected_rows(path)

    found = stage_files(SOURCE, {path: LOGS[path]})

    assert found.rows("line", "kind", "own_utc", "tool_name", "text") == expected
    assert (found.reads[0].records, found.silent()) == (records, records - len(expected))
    assert (found.losses(), found.notes(), found.unaccounted()) == ([], [], [])


def test_logs_of_the_corpus_hold_every_kind_of_row_but_posts() -> None:
    kinds = [kind for path in LOGS for _, kind, *_ in expected_rows(path)]

    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"notice": 86, "permission_decision": 18}


def test_verbose_logs_give_no_row_with_what_they_hold() -> None:
    assert sum(b"sk-local-test" in path.read_bytes() for path in LOGS) == 2

    found = stage_files(SOURCE, LOGS)

    assert "sk-local-test" not in found.everything()
    assert max(map(len, found.texts())) < 500


def test_rule_is_a_grant_of_its_time() -> None:
    path = next(path for path in LOGS if "mona" in path.parts)

    found = stage_files(SOURCE, {path: LOGS[path]})

    assert found.frames["grants"].select("line", "rule", "utc").rows() == [
        (4, "Bash(git*)", datetime(2026, 11, 30, 3, 28, 48, 523000)),
        (5, "create_ticket", datetime(2026, 11, 30, 3, 28, 57, 142000)),
    ]


def test_columns_that_all_rows_share(tmp_path: Path) -> None:
    found = staged(tmp_path, log("Added policy rule to permissions.yaml: Read", "Invalid tool call", post()))

    assert found.rows("turn_type", "own_basis", "named_session", "keyed_by_text", "record", "sequence") == [
        ("system", "log_local", None, False, number, number - 1) for number in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    ("result", "status"),
    [
        (f"[metadata] Success: 200 (22ms) {URL}", "Success"),
        (f"[metadata] Unexpected response: 302 (9ms) {URL}", "Unexpected response"),
        (f"[metadata] Auth required (skipping) (0ms) {URL}", "Auth required"),
        (f'[metadata] Failed: 404 Not Found (30ms) {URL} {{"response":"(1ms) x"}}', "Failed"),
        (f"[metadata] Error: read ECONNRESET (7ms) {URL}", "Error"),
        (f"[metadata] Error: two\nlines (3ms) http://other/ (7ms) {URL}", "Error"),
        (f"[metadata] Success: 200 (22ms) {URL}/more", "-"),
        ("[metadata] Success: 200", "-"),
        (f"@bbbb0002 [metadata] Success: 200 (22ms) {URL}", "-"),
        ("nothing", "-"),
    ],
)
def test_post_has_the_status_of_its_result(tmp_path: Path, result: str, status: str) -> None:
    found = staged(tmp_path, log(post(), '[metadata] Request body {"metadata":{}}', result))

    assert found.texts() == [f"agent metadata posted: agent a1 keys summary,isComplete {status} {FROM}"]
    assert (found.rows("kind", "line"), found.silent()) == ([("sync", 1)], 2)


def test_post_has_the_first_later_result_of_its_process_and_address(tmp_path: Path) -> None:
    other = "https://api.continue.dev/agents/b2/metadata"
    found = staged(
        tmp_path,
        log(
            f"[metadata] Success: 200 (1ms) {URL}",
            post(),
            post(other, '{"agentId":"b2","metadataKeys":["usage"]}'),
            "@bbbb0002 " + post(),
            post(),
            post(),
            f"[metadata] Error: late (1ms) {URL}",
            f"@bbbb0002 [metadata] Failed: 500 No (1ms) {URL} {{}}",
            f"[metadata] Success: 200 (1ms) {URL}",
            f"[metadata] Auth required (skipping) (1ms) {other}",
        ),
    )

    assert posted(found) == [
        "a1 keys summary,isComplete Error",
        "b2 keys usage Auth required",
        "a1 keys summary,isComplete Failed",
        "a1 keys summary,isComplete Error",
        "a1 keys summary,isComplete Error",
    ]


def rotated(folder: Path, logs: dict[str, str]) -> list[str]:
    """Names of the files and statuses of the posts of logs, given by their path below the home."""
    paths = {folder / str(number): f".continue/logs/{name}" for number, name in enumerate(logs)}
    for path, text in zip(paths, logs.values(), strict=True):
        path.write_text(text)
    said = re.compile(r"agent metadata posted: agent a1 keys \S+ (.*) \(from logs/([^,]*),.*")
    matches = map(said.fullmatch, stage_files(SOURCE, paths).texts())
    return [f"{match[2]} {match[1]}" for match in matches if match]


def test_result_in_a_later_file_is_of_the_post_before(tmp_path: Path) -> None:
    other = "@bbbb0002 "
    logs = {
        "cn.log": log(post(), f"[metadata] Success: 200 (1ms) {URL}", post(), other + post()),
        "cn10.log": log(f"{other}[metadata] Failed: 500 No (1ms) {URL}", f"[metadata] Success: 200 (3ms) {URL}"),
        "cn2.log": log("start"),
        "cn3.log": log(f"[metadata] Error: x (1ms) {URL}/more (2ms) {URL}", "start", post()),
    }

    found = rotated(tmp_path, logs)

    assert found == ["cn.log Success", "cn.log Error", "cn.log Failed", "cn3.log Success"]


def test_result_of_a_later_post_is_of_the_one_that_waited_too(tmp_path: Path) -> None:
    results = f"[metadata] Failed: 500 No (1ms) {URL}", f"[metadata] Success: 200 (3ms) {URL}"

    found = rotated(tmp_path, {"cn.log": log(post()), "cn1.log": log(post(), *results)})

    assert found == ["cn.log Failed", "cn1.log Failed"]


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("cn1.log", f"[metadata] Success: 200 (1ms) {URL}/more"),
        ("cn1.log", f"@bbbb0002 [metadata] Success: 200 (1ms) {URL}"),
        ("../elsewhere/logs/cn1.log", f"[metadata] Success: 200 (1ms) {URL}"),
    ],
)
def test_result_of_another_post_is_none_of_an_earlier_file(tmp_path: Path, name: str, result: str) -> None:
    assert rotated(tmp_path, {"cn.log": log(post()), name: log(result)}) == ["cn.log -"]


def test_result_in_an_earlier_file_is_of_no_later_post(tmp_path: Path) -> None:
    found = rotated(tmp_path, {"cn.log": log(f"[metadata] Success: 200 (1ms) {URL}"), "cn1.log": log(post())})

    assert found == ["cn1.log -"]


def test_result_in_a_later_file_is_of_its_own_home(tmp_path: Path, open_lake: OpenLake) -> None:
    for user, name, text in (("alice", "cn.log", post()), ("bob", "cn1.log", f"[metadata] Success: 200 (1ms) {URL}")):
        path = tmp_path / "homes" / user / ".continue/logs" / name
        path.parent.mkdir(parents=True)
        path.write_text(log(text))

    homelake("build", tmp_path / "homes", "-o", tmp_path / "lake", "--workers", "1")

    texts = open_lake(tmp_path / "lake").rows("select text from timeline where kind = 'sync'")
    assert texts == [(f"agent metadata posted: agent a1 keys summary,isComplete - {FROM}",)]


@pytest.mark.parametrize(
    ("message", "said", "notes"),
    [
        (post(fields='{"agentId":"","metadataKeys":[]}'), "a1 keys - -", []),
        (post(fields='{"metadataKeys":["a",2,null]}'), "a1 keys a,2, -", []),
        (post(fields='{"agentId":"a1","metadataKeys":"all"}'), "a1 keys - -", [(1, "wrong_type", "metadataKeys")]),
        (post(fields='{"agentId":"a1","metadataKe'), "a1 keys - -", [(1, "json_invalid", None)]),
        (post("https://h/agents/%C3%A9/metadata", ""), "%C3%A9 keys - -", []),
        (post("https://h/elsewhere", ""), "- keys - -", []),
    ],
)
def test_post_with_missing_fields(
    tmp_path: Path, message: str, said: str, notes: list[tuple[int, str, str | None]]
) -> None:
    found = staged(tmp_path, log(message))

    assert (posted(found), found.notes()) == ([said], notes)


def test_skipped_upload_names_the_rotated_file(tmp_path: Path) -> None:
    skipped = "Storage sync requested but no Continue API key is available; skipping uploads."
    empty = "Storage sync requested but the provided storage identifier was empty; skipping uploads."

    found = staged(tmp_path, log(skipped, empty, post()), "cn12.log")

    place = "(from logs/cn12.log, log line time, host-local)"
    assert found.rows("kind", "text") == [
        ("sync", f"storage upload requested, skipped {place}"),
        ("sync", f"agent metadata posted: agent a1 keys summary,isComplete - {place}"),
    ]
    assert found.silent() == 1


@pytest.mark.parametrize("name", ["logs/cn.log", "logs/cn1.log", "logs/cn23.log"])
def test_pattern_takes_rotated_logs(name: str) -> None:
    assert SOURCE.pattern.fullmatch(name)


@pytest.mark.parametrize("name", ["logs/prompt.log", "logs/cn-1.log", "logs/cn.log.gz", "cn.log", "logs/x/cn.log"])
def test_pattern_takes_no_other_file(name: str) -> None:
    assert not SOURCE.pattern.fullmatch(name)


@pytest.mark.parametrize(
    ("message", "tool", "text"),
    [
        (
            'Invalid tool call {"error":{"name":"Diff","error":"no \\"Diff\\"\\n"}}',
            "Diff",
            'Invalid tool call no "Diff"',
        ),
        ('Tool execution failed {"error":"boom"}\nError: boom\n    at f', None, "Tool execution failed boom"),
        (
            'Tool execution failed {"error":{"name":"TypeError","message":"x is null","stack":"at g"}}',
            None,
            "Tool execution failed x is null",
        ),
        (
            'Tool execution failed {"error":{"name":"Bash","code":1}}',
            None,
            'Tool execution failed {"name":"Bash","code":1}',
        ),
        ('Invalid tool call {"name":"Bash"}', None, "Invalid tool call"),
        ("Invalid tool call\nat h", None, "Invalid tool call"),
        ("\x1b[33mResuming previous session...\x1b[39m", None, "Resuming previous session..."),
    ],
)
def test_notice_is_the_message_and_the_text_of_its_error(
    tmp_path: Path, message: str, tool: str | None, text: str
) -> None:
    found = staged(tmp_path, log(message))

    assert found.rows("kind", "tool_name", "text") == [("notice", tool, text)]
    assert found.notes() == []


@pytest.mark.parametrize(
    "message",
    [
        "Invalid tool calls",
        "An Invalid tool call",
        "No previous session found, starting fresh...",
        "Created default permissions.yaml",
        '[metadata] Request body {"metadata":{"summary":"Invalid tool call"}}',
        "first\nAdded policy rule to permissions.yaml: Read",
        'Received chunk {"x":"2026-09-15 10:00:00.000 [aaaa0001] [info]: Resuming previous session..."}',
    ],
)
def test_other_record_is_silent(tmp_path: Path, message: str) -> None:
    found = staged(tmp_path, log(message))

    assert (found.texts(), found.silent(), found.reads[0].records) == ([], 1, 1)


def test_lines_without_a_time_belong_to_the_record_above(tmp_path: Path) -> None:
    found = staged(
        tmp_path, log("one\ntwo\n2026-09-15 10:00 [x]\n", "Added policy rule to permissions.yaml: Read\nrest")
    )

    assert found.rows("line", "record", "text") == [
        (5, 2, f"permission decision: allow always rule=Read {FROM}"),
    ]


def test_torn_fields_are_kept_as_they_are_with_a_note(tmp_path: Path) -> None:
    found = staged(tmp_path, log('Tool execution failed {"error":{"name":"Bash","err', "Resuming previous session..."))

    assert found.rows("tool_name", "text") == [
        (None, 'Tool execution failed {"error":{"name":"Bash","err'),
        (None, "Resuming previous session..."),
    ]
    assert found.notes() == [(1, "json_invalid", None)]


@pytest.mark.parametrize(
    "fields",
    [
        '{"error":{"name":"Bash","error":"{\\"apiKey\\":\\"FAKE-KEY-1\\"}"}}',
        '{"error":{"apiKey":"FAKE-KEY-1","userId": "FAKE-KEY-1"}}',
        '{"error":{"name":"Bash","error":"cut \\"apiKey\\":\\"FAKE-KEY-1',
        '{"apiKey":"FAKE-KEY-1","error":"none"',
        '{"error":{"name":"\\"userId\\":\\"FAKE-KEY-1\\"","error":"x"}}',
    ],
)
def test_secrets_reach_no_row(tmp_path: Path, fields: str) -> None:
    found = staged(tmp_path, log(f"Invalid tool call {fields}", post(fields=fields)))

    assert len(found.texts()) == 2
    assert "FAKE-KEY" not in found.everything()
    assert "***" in found.everything()


def test_secrets_reach_no_loss(tmp_path: Path) -> None:
    found = staged(tmp_path, 'tail of a line "apiKey":"FAKE-KEY-1","model":"m"\n' + log("start"))

    text = 'parser: unparseable record 1 (unexpected_record): tail of a line "apiKey":"***","model":"m"'
    assert found.losses() == [(1, "unexpected_record", text)]
    assert "FAKE-KEY" not in found.everything()


def test_request_body_reaches_no_row(tmp_path: Path) -> None:
    found = staged(tmp_path, log(post(), '[metadata] Request body {"metadata":{"summary":"PRIVATE"}}'))

    assert len(found.texts()) == 1
    assert "PRIVATE" not in found.everything()


def test_text_before_the_first_record_is_one_loss(tmp_path: Path) -> None:
    found = staged(tmp_path, "\n  \ntorn\nlines\n" + log("Resuming previous session..."))

    text = "parser: unparseable record 1 (unexpected_record): torn\nlines"
    assert found.losses() == [(3, "unexpected_record", text)]
    assert found.rows("line", "record") == [(5, 2)]
    assert found.reads[0].records == 2


def test_file_without_a_record_is_one_loss(tmp_path: Path) -> None:
    data = b"\x7fELF\x02 \xff\xfe no log"

    found = staged(tmp_path, data)

    text = "parser: unparseable record 1 (unexpected_record): \x7fELF\x02 \ufffd no log"
    assert found.losses() == [(1, "unexpected_record", text)]
    assert found.frames["faults"]["bytes"].to_list() == [len(data)]


@pytest.mark.parametrize("data", [b"", b"\n \r\n\t"])
def test_log_without_text_holds_no_record(tmp_path: Path, data: bytes) -> None:
    found = staged(tmp_path, data)

    assert (found.reads[0].records, found.losses(), found.notes()) == (0, [], [])


def test_log_of_zeros_is_unreadable(tmp_path: Path) -> None:
    found = staged(tmp_path, b"\0" * 4096)

    assert found.losses() == [(0, "zero_filled", "parser: unreadable (zero_filled)")]


def test_run_of_zeros_belongs_to_the_record_above(tmp_path: Path) -> None:
    first, second = log("start", "Resuming previous session...").encode().splitlines(keepends=True)

    found = staged(tmp_path, first + b"\0" * 1_048_467 + b"\n" + second)

    assert found.rows("line", "record", "text") == [(3, 2, "Resuming previous session...")]
    assert found.frames["faults"].select("line", "reason", "text", "bytes").rows() == [
        (1, "zero_filled", None, 1_048_467)
    ]
    assert (found.reads[0].records, found.silent()) == (2, 1)


def test_record_behind_a_run_of_zeros_is_read(tmp_path: Path) -> None:
    torn, whole = (
        log("Added policy rule to permissions.yaml: Bash(g", "Resuming previous session...").encode().splitlines()
    )

    found = staged(tmp_path, torn + b"\0" * 100 + whole)

    assert found.texts() == [
        f"permission decision: allow always rule=Bash(g\ufffd {FROM}",
        "Resuming previous session...",
    ]
    assert found.notes() == [(1, "zero_filled", None)]
    assert found.unaccounted() == []


def test_zeros_before_the_first_record_are_a_loss(tmp_path: Path) -> None:
    found = staged(tmp_path, b"\0" * 512 + log("Resuming previous session...").encode())

    assert found.losses() == [(1, "zero_filled", "parser: unparseable record 1 (zero_filled): \ufffd")]
    assert found.frames["rows"]["kind"].to_list() == ["problem", "notice"]


@pytest.mark.parametrize("moment", ["2026-13-01 10:00:00.000", "2026-09-15 25:00:00.000", "1999-01-01 00:00:00.000"])
def test_time_that_is_none_is_null_with_a_note(tmp_path: Path, moment: str) -> None:
    found = staged(tmp_path, f"{moment} [aaaa0001] [info]: Added policy rule to permissions.yaml: Read\n")

    assert found.rows("own_utc", "kind") == [(None, "permission_decision")]
    assert found.notes() == [(1, "bad_timestamp", "time")]
    assert found.frames["grants"]["utc"].to_list() == [None]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_log_in_other_encodings(tmp_path: Path, encoding: str) -> None:
    text = log("start", "Added policy rule to permissions.yaml: Bash(é*)").replace("\n", "\r\n")

    found = staged(tmp_path, text.encode(encoding))

    assert found.rows("line", "text") == [(2, f"permission decision: allow always rule=Bash(é*) {FROM}")]
    assert found.losses() == found.notes() == []


def test_odd_characters_are_replaced_with_a_note(tmp_path: Path) -> None:
    messages = ["Tool execution failed \xff", "Invalid tool call \x00", 'Invalid tool call {"error":"\\ud83d"}']

    found = staged(tmp_path, log(*messages).encode("latin-1"))

    assert found.texts() == ["Tool execution failed \ufffd", "Invalid tool call \ufffd", "Invalid tool call \ufffd"]
    assert found.notes() == [(1, "invalid_utf8", None), (2, "nul_character", None), (3, "lone_surrogate", None)]


def test_key_is_of_the_record_alone(tmp_path: Path) -> None:
    one = log("Resuming previous session...").strip()

    alone = staged(tmp_path, one)
    among = staged(tmp_path, log("start") + one + "\n" + one + "\n" + log("end"))

    digest = blake2b(one.encode(), digest_size=16).hexdigest()
    assert alone.rows("key", "occurrence") == [(digest, 0)]
    assert among.rows("key", "occurrence") == [(digest, 0), (digest, 1)]


@pytest.mark.parametrize(
    "message",
    [
        "Invalid tool call " + '{"error":' * 100_000,
        "Invalid tool call " + "[" * 1_000_000,
        'Invalid tool call {"error":{"error":"' + "\\" * 4_000_001,
        "[metadata] Success: 200 " + "(1ms) " * 500_000,
        "[metadata] POST " + "/agents/" * 500_000,
        "\x1b[0m" * 1_000_000 + "Invalid tool call",
        "Resuming previous session" + " {" * 1_000_000,
        "x" + "\n2026-09-15 10:00:00.000 [aaaa0001] [" * 100_000,
        post() + ("\n2026-09-15 10:00:00.000 [aaaa0001] [info]: " + post()) * 20_000,
    ],
    ids=["deep", "brackets", "escapes", "results", "address", "colours", "braces", "prefixes", "posts"],
)
def test_hostile_log_is_read_in_little_time(tmp_path: Path, message: str) -> None:
    with ending():
        found = staged(tmp_path, log(message))

    assert found.unaccounted() == []


def test_deep_fields_are_a_note(tmp_path: Path) -> None:
    deep = '{"error":' + "[" * 300 + "]" * 300 + "}"

    found = staged(tmp_path, log(f"Invalid tool call {deep}", "Resuming previous session..."))

    assert found.texts() == [f"Invalid tool call {deep}", "Resuming previous session..."]
    assert found.notes() == [(1, "json_invalid", None)]
