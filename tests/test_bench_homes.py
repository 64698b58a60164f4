"""What the benchmark's generator writes beside the sessions of Continue: PearAI's homes, and the files of `cn`."""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench.baseline import session_files
from bench.cn_state import MOST_PROMPTS
from bench.generate import generate
from bench.pearai_home import BETWEEN
from bench.sizes import Made, Sizes
from tests.lake import homelake, opened

Json = dict[str, Any]
PEARAI = Sizes(megabytes=6, homes=2, items=14, damage_share=0.0, pearai_share=0.5)
LOSING = ("cut", "empty", "zeros")
"""Kinds of damage that lose something; of the others a build takes note."""
AGENT = ".config/PearAI/User/globalStorage/pearai.pearai-roo-cline"


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bench") / "homes"
    generate(out, PEARAI)
    return out


@pytest.fixture(scope="module")
def home(homes: Path) -> Path:
    """The home in which PearAI is used."""
    (folder,) = homes.glob("*/.pearai")
    return folder.parent


def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


def lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def chats(home: Path) -> dict[str, Json]:
    found = home.glob(".pearai/sessions/*.json")
    return {path.stem: read(path) for path in found if path.name != "sessions.json"}


def prompt_logs(chat: Json) -> list[Json]:
    items = chat["history"] + chat["perplexityHistory"]
    return [log for item in items for log in item.get("promptLogs", [])]


def tasks(home: Path, name: str) -> dict[str, Any]:
    return {path.parent.name: read(path) for path in home.glob(f"{AGENT}/tasks/*/{name}.json")}


def agent_state(home: Path) -> Json:
    with closing(sqlite3.connect(home / ".config/PearAI/User/globalStorage/state.vscdb")) as database:
        (value,) = database.execute("select value from ItemTable where key = 'PearAI.pearai-roo-cline'").fetchone()
    found: Json = json.loads(value)
    return found


def parts(messages: list[Json]) -> Iterator[str]:
    for message in messages:
        yield from (part["text"] for part in message["content"] if part["type"] == "text")


@pytest.mark.parametrize(("share", "count"), [(0.0, 0), (0.4, 2), (1.0, 4)])
def test_pearai_is_used_in_a_share_of_the_homes(share: float, count: int, tmp_path: Path) -> None:
    made = generate(tmp_path / "homes", Sizes(megabytes=2, homes=4, items=5, pearai_share=share))

    assert made.homes == len(list(tmp_path.glob("homes/*/.continue"))) == 4
    assert len(list(tmp_path.glob("homes/*/.pearai"))) == len(list(tmp_path.glob("homes/*/.config"))) == count


def test_half_of_the_session_files_of_such_a_home_are_pearais(tmp_path: Path) -> None:
    made = generate(tmp_path / "homes", Sizes(megabytes=8, homes=1, items=10, long_share=0.0, pearai_share=1.0))
    files = session_files(tmp_path / "homes")
    sizes: Counter[str] = Counter()
    for path in files:
        sizes[path.relative_to(tmp_path / "homes" / "user001").parts[0]] += path.stat().st_size

    assert made.files == len(files)
    assert made.size == sizes.total() == pytest.approx(8e6, rel=0.3)
    assert sizes[".pearai"] == pytest.approx(2e6, rel=0.4)
    assert sizes[".config"] == pytest.approx(2e6, rel=0.4)


def test_every_file_parses(homes: Path) -> None:
    files = [path for path in homes.rglob("*") if path.is_file()]
    unknown = {path.suffix for path in files} - {".json", ".jsonl", ".log", ".yaml", ".vscdb"}

    for path in files:
        match path.suffix:
            case ".json":
                read(path)
            case ".jsonl":
                assert lines(path)
                assert path.read_bytes().endswith(b"\n")
            case ".yaml":
                assert yaml.safe_load(path.read_bytes())
            case ".log":
                assert path.read_text("utf-8")
    assert not unknown


def test_chats_are_printed_without_blanks_and_with_the_ids_last(home: Path) -> None:
    keys = ["history", "perplexityHistory", "title", "sessionId", "workspaceDirectory"]

    for path in home.glob(".pearai/sessions/*-*.json"):
        chat, data = read(path), path.read_bytes()

        assert data == json.dumps(chat, separators=(",", ":"), ensure_ascii=False).encode()
        assert list(chat) == keys
        assert chat["sessionId"] == path.stem
        assert not (chat["history"] and chat["perplexityHistory"])
        for log in prompt_logs(chat):
            assert list(log) == ["completionOptions", "prompt", "completion"]
            assert re.match("<(user|assistant)>\n", log["prompt"])


def test_index_names_the_kind_of_each_chat(home: Path) -> None:
    found = chats(home)
    entries = {entry["sessionId"]: entry for entry in read(home / ".pearai/sessions/sessions.json")}
    kinds = {name: "perplexity" if chat["perplexityHistory"] else "continue" for name, chat in found.items()}

    assert {name: entries[name]["integrationType"] for name in entries.keys() & found.keys()} == {
        name: kinds[name] for name in entries.keys() & found.keys()
    }
    assert len(entries.keys() & found.keys()) > 0.9 * len(found)
    assert entries.keys() - found.keys()


def test_every_request_of_a_chat_has_its_tokens(home: Path) -> None:
    logs = [log for chat in chats(home).values() for log in prompt_logs(chat)]
    tokens = lines(home / ".pearai/dev_data/tokens_generated.jsonl")
    models = Counter(log["completionOptions"]["model"] for log in logs)

    assert len(tokens) >= len(logs) > 50
    assert not models - Counter(line["model"] for line in tokens)
    assert {tuple(line) for line in tokens} == {("model", "provider", "promptTokens", "generatedTokens")}


def test_rated_replies_are_those_of_chats(home: Path) -> None:
    found = chats(home)

    for line in lines(home / ".pearai/dev_data/chat.jsonl"):
        log = {key: line[key] for key in ("completionOptions", "prompt", "completion")}
        if line["sessionId"] in found:
            assert log in prompt_logs(found[line["sessionId"]])
        assert isinstance(line["feedback"], bool)


def test_output_log_has_requests_and_replies_of_the_newest_chats(home: Path) -> None:
    (path,) = home.glob(".config/PearAI/logs/*T*/window1/exthost/output_logging_*T*/1-PearAI.log")
    first, *writes = path.read_text("utf-8").split(BETWEEN)
    entries = sorted(read(home / ".pearai/sessions/sessions.json"), key=lambda entry: int(entry["dateCreated"]))
    found = chats(home)
    newest = prompt_logs(next(found[entry["sessionId"]] for entry in reversed(entries) if entry["sessionId"] in found))
    requests = [write.partition("#" * 44 + "\n\n")[2] for write in writes if write.startswith("Settings:\n")]
    replies = [write for write in writes if write.startswith("Completion:\n\n")]

    assert first == ""
    assert len(requests) + len(replies) == len(writes)
    assert len(requests) >= len(replies) > 0
    assert {log["prompt"] for log in newest} <= set(requests)
    assert {f"Completion:\n\n{log['completion']}\n\n" for log in newest} <= set(replies)


def test_task_list_and_folders_agree_but_for_a_few(home: Path) -> None:
    shown, sent = tasks(home, "ui_messages"), tasks(home, "api_conversation_history")
    state = agent_state(home)
    entries = {entry["id"]: entry for entry in state["taskHistory"]}

    assert len(entries) == len(state["taskHistory"])
    assert len(entries.keys() & sent.keys()) > 0.9 * len(sent)
    assert shown.keys() <= sent.keys()
    for name in entries.keys() & shown.keys():
        requests = [json.loads(m["text"]) for m in shown[name] if m.get("say") == "api_req_started"]
        assert entries[name]["task"] == shown[name][0]["text"]
        assert entries[name]["tokensIn"] == sum(request["tokensIn"] for request in requests)
        assert entries[name]["totalCost"] == sum(request["cost"] for request in requests)
    assert state["autoApprovalEnabled"] is True
    assert state["alwaysAllowWrite"] is False


def test_both_transcripts_of_a_task_tell_the_same(home: Path) -> None:
    shown, sent = tasks(home, "ui_messages"), tasks(home, "api_conversation_history")

    for name, messages in shown.items():
        requests = [json.loads(m["text"])["request"] for m in messages if m.get("say") == "api_req_started"]
        asked = [m for m in messages if m["type"] == "ask" and m["ask"] not in ("completion_result", "resume_task")]
        headers = [text for text in parts(sent[name]) if re.fullmatch(r"\[[a-z_]+ .*\] Result:", text)]
        approvals = [text for text in parts(sent[name]) if text.startswith("The user approved this operation")]
        unended = [m for m in asked if m.get("partial")]
        users = [message for message in sent[name] if message["role"] == "user"]
        assert len(requests) == len(users)
        assert all(request.endswith(user["content"][-1]["text"]) for request, user in zip(requests, users, strict=True))
        assert len(headers) - len(approvals) == len(asked) - len(unended)
        assert [m["ts"] for m in messages] == sorted({m["ts"] for m in messages})


def test_calls_of_tasks_end_in_every_way(tmp_path: Path) -> None:
    generate(tmp_path / "homes", Sizes(megabytes=30, homes=1, long_share=0.0, pearai_share=1.0, damage_share=0.0))
    home = tmp_path / "homes" / "user001"
    texts = "\n".join(text for messages in tasks(home, "api_conversation_history").values() for text in parts(messages))
    kinds = {m.get("ask") or m.get("say") for messages in tasks(home, "ui_messages").values() for m in messages}

    for begin in (
        "The user denied this operation.",
        "The user denied this operation and provided the following feedback:\n<feedback>",
        "The user approved this operation and provided the following context:\n<feedback>",
        "The tool execution failed with the following error:\n<error>",
        "[ERROR] You did not use a tool",
        "[TASK RESUMPTION]",
        "[Response interrupted by user]",
        "was not executed because a tool has already been used",
        "<environment_details>",
        "<attempt_completion>",
    ):
        assert begin in texts
    assert kinds >= {"api_req_started", "tool", "command", "command_output", "use_mcp_server", "checkpoint_saved"}
    assert kinds >= {"reasoning", "followup", "user_feedback", "error", "completion_result", "resume_task"}


def test_metadata_of_a_task_name_the_files_that_it_touched(home: Path) -> None:
    found = tasks(home, "task_metadata")

    assert found
    for name, metadata in found.items():
        entries = metadata["files_in_context"]
        active = [entry["path"] for entry in entries if entry["record_state"] == "active"]
        assert sorted(active) == sorted({entry["path"] for entry in entries})
        assert all(entry["roo_read_date"] for entry in entries)
        assert name in tasks(home, "api_conversation_history")


def typed_prompts(home: Path) -> set[str]:
    """Texts of the prompts of a home's terminal sessions."""
    sessions = [read(path) for path in home.glob(".continue/sessions/*-*.json")]
    items = [item for session in sessions if "chatModelTitle" not in session for item in session["history"]]
    return {item["message"]["content"] for item in items if item["message"]["role"] == "user"}


def test_input_history_has_the_prompts_of_terminal_sessions_newest_first(homes: Path) -> None:
    for home in homes.iterdir():
        history = read(home / ".continue/input_history.json")
        texts, times = [entry["text"] for entry in history], [entry["timestamp"] for entry in history]
        prompts = typed_prompts(home)

        assert prompts
        assert len(set(texts)) == len(texts) <= 1000
        assert times == sorted(times, reverse=True)
        assert prompts <= set(texts)


def test_input_history_keeps_the_newest_prompts_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = Sizes(megabytes=2, homes=1, terminal_share=1.0)
    generate(tmp_path / "all", sizes)
    monkeypatch.setattr("bench.cn_state.MOST_PROMPTS", 10)
    generate(tmp_path / "some", sizes)
    every, some = (read(tmp_path / name / "user001/.continue/input_history.json") for name in ("all", "some"))

    assert MOST_PROMPTS == 1000
    assert len(every) > 10
    assert some == every[:10]


def test_log_tells_of_defaults_rules_and_failures(tmp_path: Path) -> None:
    generate(tmp_path / "homes", Sizes(megabytes=60, homes=3, terminal_share=1.0, damage_share=0.0))
    records = 0
    for home in sorted(tmp_path.glob("homes/*")):
        text = (home / ".continue/logs/cn.log").read_text("utf-8")
        rules = yaml.safe_load((home / ".continue/permissions.yaml").read_bytes())
        times = re.findall(
            r"(?m)^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) \[[0-9a-f]{8}\] \[(?:info|error|debug)\]: ", text
        )
        failures = re.findall(r"(?m)\]: Tool execution failed (\{.*\})$", text)
        records += len(times)

        assert times == sorted(times)
        assert text.count("Created default permissions.yaml") == 1
        assert re.findall(r"(?m)Added policy rule to permissions\.yaml: (.*)$", text) == rules["allow"]
        assert re.search(r"(?m)^Error: Error executing tool \w+: [^\0]+?\n    at ", text)
        assert all("error" in json.loads(fields) for fields in failures)
    assert records > 3 * 200


def test_files_of_the_command_line_program_are_there_where_it_was_used(tmp_path: Path) -> None:
    generate(tmp_path / "homes", Sizes(megabytes=0.5, homes=1, terminal_share=0.0))

    assert not list(tmp_path.rglob("input_history.json"))
    assert not list(tmp_path.rglob("cn.log"))
    assert not list(tmp_path.rglob("permissions.yaml"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Made, str, Path]:
    """Homes with much damage, what was made, what a build of them said, and its lake."""
    folder = tmp_path_factory.mktemp("built")
    made = generate(folder / "homes", Sizes(megabytes=6, homes=3, items=10, damage_share=0.15, pearai_share=0.67))
    outcome = homelake("build", folder / "homes", "-o", folder / "lake")
    assert outcome.exit_code == 0, outcome.stderr
    return folder / "homes", made, outcome.stdout, folder / "lake"


def test_build_of_generated_homes_passes_its_checks(built: tuple[Path, Made, str, Path]) -> None:
    summary = built[2]

    assert "checks    all passed" in summary


def test_build_of_generated_homes_loses_what_was_damaged_alone(built: tuple[Path, Made, str, Path]) -> None:
    out, made, _, path = built
    unreadable = {"/" + name.relative_to(out).as_posix() for name, kind in made.damaged.items() if kind in LOSING}

    with opened(path) as lake:
        lost = set(lake.column("select source_file from problems where lost"))
        noted = set(lake.column("select source_file from problems where not lost"))

    assert unreadable
    assert lost == unreadable
    assert noted <= {"/" + name.relative_to(out).as_posix() for name in made.damaged}


def test_build_of_generated_homes_has_their_calls_and_decisions(homes: Path, home: Path, tmp_path: Path) -> None:
    shown, sent = tasks(home, "ui_messages"), tasks(home, "api_conversation_history")
    calls = {"tool", "command", "use_mcp_server", "browser_action_launch", "browser_action"}
    decided = [
        text for messages in sent.values() for text in parts(messages) if re.match("The user (denied|appro)", text)
    ]
    asked = [m for messages in shown.values() for m in messages if m.get("ask") in calls]

    homelake("build", homes, "-o", tmp_path / "lake")

    with opened(tmp_path / "lake") as lake:
        assert lake.has_no_problem()
        assert lake.count("tool_calls", "source_file like '%/ui_messages.json'") == len(asked)
        assert lake.count("timeline", "agent = 'pearai' and kind = 'permission_decision'") == len(decided)
        assert lake.count("sessions", "agent = 'pearai' and has_file") == len(sent) + len(chats(home))
        assert lake.count("timeline", "source = 'pearai.tokens_generated'") == len(
            lines(home / ".pearai/dev_data/tokens_generated.jsonl")
        )
