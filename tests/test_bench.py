"""The benchmark's generator and its measuring."""

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench import nights, run
from bench.baseline import KINDS, event_files, files_of, measure, session_files
from bench.files import DAMAGE, INSERTED
from bench.generate import generate, main
from bench.measure import Measured, cores, family, run_measured
from bench.sizes import Made, Sizes
from bench.words import EMOJI

SMALL = Sizes(megabytes=3, homes=2, items=12, long_share=0.02, damage_share=0.0)
MIXED = Sizes(megabytes=2, homes=2, items=12, damage_share=0.2, pearai_share=0.5)
needs_proc = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Made]:
    out = tmp_path_factory.mktemp("bench") / "homes"
    return out, generate(out, SMALL)


@pytest.fixture(scope="module")
def sessions(homes: tuple[Path, Made]) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in session_files(homes[0])]


def tree_hash(out: Path) -> str:
    digest = hashlib.sha256()
    for path in [out, *sorted(out.rglob("*"))]:
        digest.update(f"{path.relative_to(out)} {path.stat().st_mtime_ns}".encode())
        digest.update(path.read_bytes() if path.is_file() else b"/")
    return digest.hexdigest()


def items_of(sessions: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for session in sessions:
        yield from session["history"]


def states_of(sessions: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for item in items_of(sessions):
        yield from item.get("toolCallStates", [])


def is_editor(session: dict[str, Any]) -> bool:
    return "chatModelTitle" in session


def editor(sessions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [session for session in sessions if is_editor(session)]


def terminal(sessions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [session for session in sessions if not is_editor(session)]


@pytest.mark.parametrize("sizes", [SMALL, MIXED], ids=["continue", "with_pearai"])
def test_same_flags_give_the_same_tree(sizes: Sizes, tmp_path: Path) -> None:
    for name in ("once", "again"):
        generate(tmp_path / name, sizes)

    assert tree_hash(tmp_path / "once") == tree_hash(tmp_path / "again")


def test_another_seed_gives_another_tree(tmp_path: Path) -> None:
    for seed in (1, 2):
        generate(tmp_path / str(seed), Sizes(megabytes=0.3, homes=1, seed=seed))

    assert tree_hash(tmp_path / "1") != tree_hash(tmp_path / "2")


def test_sizes_come_near_the_target(homes: tuple[Path, Made]) -> None:
    out, made = homes
    files = session_files(out)

    assert made.homes == len(list(out.iterdir())) == 2
    assert made.files == len(files)
    assert made.size == sum(path.stat().st_size for path in files)
    assert made.size == pytest.approx(3e6, rel=0.5)


def test_sessions_of_a_home_are_limited(tmp_path: Path) -> None:
    made = generate(tmp_path / "homes", Sizes(megabytes=5, homes=3, sessions=2, items=3))

    assert made.files == 6


def test_index_and_files_agree_but_for_a_few(homes: tuple[Path, Made]) -> None:
    for home in sorted(homes[0].iterdir()):
        folder = home / ".continue" / "sessions"
        index = json.loads((folder / "sessions.json").read_bytes())
        files = {path.stem: json.loads(path.read_bytes()) for path in session_files(homes[0]) if home in path.parents}
        listed = {entry["sessionId"]: entry for entry in index}
        created = [int(entry["dateCreated"]) for entry in index]

        assert created == sorted(created)
        assert len(listed) == len(index)
        assert 1 <= len(listed.keys() - files.keys()) <= 1 + len(index) // 25
        assert len(files.keys() - listed.keys()) <= 2
        for name in files.keys() & listed.keys():
            assert files[name]["sessionId"] == name
            assert files[name]["title"] == listed[name]["title"]
            assert files[name]["workspaceDirectory"] == listed[name]["workspaceDirectory"]
            roles = Counter(item["message"]["role"] for item in files[name]["history"])
            assert listed[name].get("messageCount", roles["assistant"]) == roles["assistant"]


def test_files_are_printed_as_the_programs_do(homes: tuple[Path, Made]) -> None:
    for path in session_files(homes[0]):
        data = path.read_bytes()

        assert data == json.dumps(json.loads(data), indent=2, ensure_ascii=False).encode()


def test_editor_sessions_repeat_definitions_prompts_and_outputs(sessions: list[dict[str, Any]]) -> None:
    chosen = editor(sessions)

    assert chosen
    assert {item["message"]["role"] for item in items_of(chosen)} >= {"user", "assistant", "tool"}
    for item in items_of(chosen):
        if item["message"]["role"] == "user":
            assert item["editorState"]["type"] == "doc"
            assert item["appliedRules"]
        if item["message"].get("content") and item["message"]["role"] == "assistant":
            assert set(item["promptLogs"][0]) == {"modelTitle", "modelProvider", "prompt", "completion"}
    for state in states_of(chosen):
        if state["status"] == "done":
            assert state["tool"]["function"]["name"] == state["toolCall"]["function"]["name"]
            assert json.loads(state["toolCall"]["function"]["arguments"]) == state["parsedArgs"]
    done = {state["toolCallId"]: state for state in states_of(chosen) if state["status"] == "done"}
    answers = [item["message"] for item in items_of(chosen) if item["message"]["role"] == "tool"]
    for message in answers:
        if message["toolCallId"] in done:
            assert message["content"] == done[message["toolCallId"]]["output"][0]["content"]
    assert len(answers) > 0.8 * len(done)


def test_prompts_are_about_a_third_of_the_editors_bytes(tmp_path: Path) -> None:
    generate(tmp_path / "homes", Sizes(megabytes=8, homes=2, long_share=0.0, damage_share=0.0, terminal_share=0.0))
    sessions = [json.loads(path.read_bytes()) for path in session_files(tmp_path / "homes")]
    logs = [item.get("promptLogs", []) for item in items_of(sessions)]

    share = len(json.dumps(logs, ensure_ascii=False)) / len(json.dumps(sessions, ensure_ascii=False))

    assert 0.25 < share < 0.5


def test_terminal_sessions_have_usage_and_no_tool_messages(sessions: list[dict[str, Any]]) -> None:
    chosen = terminal(sessions)

    assert chosen
    assert {item["message"]["role"] for item in items_of(chosen)} == {"user", "assistant"}
    assert any("usage" in item["message"] for item in items_of(chosen))
    for item in items_of(chosen):
        if item["message"]["role"] == "user":
            assert item["editorState"] == item["message"]["content"]
    for state in states_of(chosen):
        assert "tool" not in state
        assert [part["name"] for part in state.get("output", [])] in ([], ["Tool Result"])


def test_calls_end_in_every_way(tmp_path: Path) -> None:
    generate(tmp_path / "homes", Sizes(megabytes=50, homes=2, long_share=0.0, damage_share=0.0))
    sessions = [json.loads(path.read_bytes()) for path in session_files(tmp_path / "homes")]
    statuses = {state["status"] for state in states_of(sessions)}
    outputs = [part for state in states_of(sessions) for part in state.get("output", [])]

    assert statuses == {"done", "canceled", "errored", "calling", "generated"}
    assert {part["name"] for part in outputs} >= {"Tool Call Rejected", "Security Policy Violation"}
    assert {"Permission denied by user", "Command blocked by security policy"} <= {part["content"] for part in outputs}
    assert any(isinstance(item["message"]["content"], list) for item in items_of(sessions))
    assert any(item.get("conversationSummary") for item in items_of(sessions))
    assert any(item.get("reasoning") for item in items_of(sessions))


def test_texts_are_of_several_scripts(tmp_path: Path) -> None:
    generate(tmp_path / "homes", Sizes(megabytes=4, homes=8, foreign_share=0.9))
    text = "".join(path.read_text("utf-8", "replace") for path in session_files(tmp_path / "homes"))

    for sign in ("ж", "の", "的", "e\u0301", "├", "\\u001b"):
        assert sign in text
    assert any(sign in text for sign in EMOJI)


def test_every_kind_of_damage_appears(tmp_path: Path) -> None:
    made = generate(tmp_path / "homes", Sizes(megabytes=4, homes=1, items=4, long_share=0.0, damage_share=0.6))
    healthy = [path for path in session_files(tmp_path / "homes") if path not in made.damaged]

    assert set(made.damaged.values()) == set(DAMAGE)
    assert all(json.loads(path.read_bytes()) for path in healthy)
    for path, kind in made.damaged.items():
        data = path.read_bytes()
        match kind:
            case "cut":
                assert data[:1] == b"{"
                assert not data.endswith(b"\n}")
            case "empty":
                assert data == b""
            case "zeros":
                assert data
                assert not data.strip(b"\0")
            case _:
                assert INSERTED[kind] in data


def test_long_outputs_are_a_share(tmp_path: Path) -> None:
    longest = {}
    for share in (0.0, 1.0):
        out = tmp_path / str(share)
        generate(out, Sizes(megabytes=2, homes=1, long_share=share))
        sessions = [json.loads(path.read_bytes()) for path in session_files(out) if path.stat().st_size > 9000]
        longest[share] = max(len(part["content"]) for state in states_of(sessions) for part in state.get("output", []))

    assert longest[0.0] < 50_000 < longest[1.0]


def test_generate_command_refuses_a_directory_with_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(tmp_path / "homes"), "--megabytes", "0.2", "--homes", "1"])
    printed = capsys.readouterr().out

    with pytest.raises(SystemExit) as stopped:
        main([str(tmp_path / "homes")])

    assert printed.startswith("1 homes, ")
    assert stopped.value.code == 2


def test_baseline_counts_files_bytes_and_refusals(homes: tuple[Path, Made]) -> None:
    figures = measure(homes[0])

    histories = list(homes[0].glob("*/.continue/input_history.json"))
    assert figures["files"] == homes[1].files + len(event_files(homes[0])) + len(histories)
    assert figures["bytes"] == homes[1].size + homes[1].event_bytes + sum(path.stat().st_size for path in histories)
    assert figures["failed"] == 0
    assert 0 < figures["loads"] < 10


def test_baseline_decodes_what_is_json_of_both_assistants(tmp_path: Path) -> None:
    made = generate(tmp_path / "homes", MIXED)
    broken = [path for path, kind in made.damaged.items() if kind != "nul"]

    figures = measure(tmp_path / "homes")

    sizes = {kind.name: sum(path.stat().st_size for path in files_of(kind, tmp_path / "homes")) for kind in KINDS}
    assert figures["kinds"] == sizes
    assert all(sizes.values())
    assert figures["bytes"] == sum(sizes[kind.name] for kind in KINDS if kind.is_decoded)
    assert figures["failed"] == len(broken) > 0


@needs_proc
def test_measuring_sees_time_memory_and_children(tmp_path: Path) -> None:
    grow = "import time; data = bytearray(50_000_000); data[::4096] = b'x' * len(data[::4096]); time.sleep(0.4)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {grow!r}]); print('done')"

    measured = run_measured([sys.executable, "-c", code], tmp_path)

    assert measured.code == 0
    assert measured.output == "done\n"
    assert 0.4 < measured.seconds < 20
    assert measured.peak is not None
    assert measured.peak_rss is not None
    assert 50e6 < measured.peak <= measured.peak_rss < 200e6


@needs_proc
@pytest.mark.skipif(len(cores()) < 2, reason="needs two cores")
def test_measuring_binds_the_command_and_not_itself(tmp_path: Path) -> None:
    before = cores()

    measured = run_measured([sys.executable, "-c", "import os; print(len(os.sched_getaffinity(0)))"], tmp_path, 1)

    assert measured.output == "1\n"
    assert cores() == before


def test_measuring_without_proc_says_nothing_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.measure.PROC", tmp_path / "none")

    measured = run_measured([sys.executable, "-c", "raise SystemExit(3)"], tmp_path)

    assert (measured.peak, measured.peak_rss, measured.basis, measured.code) == (None, None, None, 3)


@needs_proc
def test_family_holds_children_and_forgets_what_ended() -> None:
    parents: dict[int, int] = {2**31 - 2: os.getpid()}

    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        living = family(os.getpid(), parents)
        child.communicate(b"\n")
    ended = family(os.getpid(), parents)

    assert child.pid in living
    assert child.pid not in ended
    assert 2**31 - 2 not in living
    assert family(2**31 - 1, parents) == [2**31 - 1]


def fake_build(command: list[str], folder: Path, wanted: int | None) -> Measured:
    """Stands for a build: writes a lake of three rows, or measures the files when it is the baseline."""
    if "bench.baseline" in command:
        return Measured(1.0, 1, 1, "pss", 0, json.dumps(measure(Path(command[3]))))
    part = Path(command[command.index("-o") + 1]) / "builds" / "1" / "timeline" / "agent=continue" / "month=2026-01"
    part.mkdir(parents=True)
    pq.write_table(pa.table({"text": ["a", "b", "c"]}), part / "00.parquet")
    (part.parents[4] / "current").symlink_to("builds/1")
    return Measured(0.5, 10_000_000, 20_000_000, "pss", 0, "")


def test_run_prints_a_line_per_number_of_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "run_measured", fake_build)
    flags = ["--megabytes", "0.2", "--homes", "1", "--keep", str(tmp_path / "homes")]

    run.main(flags)
    table = capsys.readouterr().out
    run.main([*flags, "--json", "--workers", "4"])
    figures = json.loads(capsys.readouterr().out)

    kinds = [line for line in table.splitlines() if "%" in line]
    assert kinds
    assert sum(float(line.split()[2].rstrip("%")) for line in kinds) == pytest.approx(100, abs=1)
    assert [line.split()[0] for line in table.splitlines()[4 + len(kinds) : 6 + len(kinds)]] == ["1", "2"]
    assert "PSS of the whole process tree" in table
    assert figures["builds"][0]["workers"] == 4
    assert figures["builds"][0]["rows"] == 3
    assert figures["builds"][0]["rows_per_second"] == 6
    assert figures["builds"][0]["ratio"] == pytest.approx(0.5 / figures["baseline"]["loads"])
    assert len(list((tmp_path / "homes").iterdir())) == 1


def test_nights_change_some_sessions_of_every_home(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(nights, "TOLD", 2)

    nights.main(["--megabytes", "0.1", "--homes", "2", "--nights", "3", "--changed", "1"])

    first, last = capsys.readouterr().out.splitlines()[1:]
    assert (first.split()[0], last.split()[0]) == ("0", "2")
    assert int(last.split()[3]) - int(first.split()[3]) == 2 * 2 * 2


def test_run_ends_with_the_output_of_a_failed_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = Measured(0.1, None, None, None, 2, "no such input")
    monkeypatch.setattr(run, "run_measured", lambda command, folder, wanted: failed)

    with pytest.raises(SystemExit, match="no such input"):
        run.main(["--megabytes", "0.2", "--homes", "1", "--keep", str(tmp_path / "homes")])


def test_events_tell_of_the_replies_and_calls_of_their_sessions(
    homes: tuple[Path, Made], sessions: list[dict[str, Any]]
) -> None:
    files = [path for path in event_files(homes[0]) if "user001" in path.parts]
    lines = {path.stem: [json.loads(line) for line in path.read_bytes().splitlines()] for path in files}
    keys = {
        (session["sessionId"], log["prompt"], log["completion"])
        for session in editor(sessions)
        for item in session["history"]
        for log in item.get("promptLogs", [])
    }
    calls = {state["toolCallId"] for state in states_of(editor(sessions))}
    exchanges = lines["chatInteraction"]

    assert {(e["sessionId"], e["prompt"], e["completion"]) for e in exchanges} <= keys
    assert len(lines["tokensGenerated"]) == len(exchanges) > 10
    assert [e["timestamp"] for e in exchanges] == sorted(e["timestamp"] for e in exchanges)
    assert {e["toolCallId"] for e in lines["toolUsage"]} <= calls
