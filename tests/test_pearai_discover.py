"""Where PearAI's agent and the editors keep state: what of it is an artifact, a secret, a session, or nobody's."""

import json
import os
from pathlib import Path

import pytest

import parsers
from pipeline.agentdirs import AgentDirs
from pipeline.discover import Options, discover
from pipeline.model import Artifact, Collection, Home, Status
from pipeline.volume import DISK
from tests.layout import lay_out
from tests.trees import put

PLACES = (
    ".config/PearAI",
    ".config/pearai",
    "Library/Application Support/PearAI",
    "AppData/Roaming/PearAI",
    ".pearai-server/data",
)
GLOBAL = ".config/PearAI/User/globalStorage"
AGENT = f"{GLOBAL}/pearai.pearai-roo-cline"
TASK = f"{AGENT}/tasks/t1"


def collections(root: Path, *tasks: str) -> list[Collection]:
    found, errors = discover([str(root)], parsers.LAYOUTS, parsers.classify, Options(tasks={"pearai": tasks}))
    assert not errors
    return found


def the_home(root: Path, *tasks: str) -> Home:
    (home,) = (home for collection in collections(root, *tasks) for home in collection.homes)
    return home


def statuses(root: Path, *tasks: str) -> dict[str, str]:
    return {artifact.home_path: artifact.status.value for artifact in the_home(root, *tasks).artifacts}


def sources(root: Path, *tasks: str) -> dict[str, str | None]:
    return {artifact.home_path: artifact.source for artifact in the_home(root, *tasks).artifacts}


def folders(root: Path, *tasks: str) -> list[str]:
    return [path for _, path in the_home(root, *tasks).session_folders]


@pytest.mark.parametrize("place", PLACES)
def test_editor_directory_makes_a_home_and_holds_tasks(tmp_path: Path, place: str) -> None:
    agent = f"{place}/User/globalStorage/pearai.pearai-roo-cline"
    names = ("ui_messages", "api_conversation_history", "task_metadata")
    put(tmp_path / "alice", *(f"{agent}/tasks/t1/{name}.json" for name in names))
    put(tmp_path / "alice", f"{place}/User/globalStorage/state.vscdb")

    home = the_home(tmp_path)

    assert home.user == "alice"
    assert [(a.agent, a.home_path, a.source, a.status.value) for a in home.artifacts] == [
        ("pearai", f"{agent}/tasks/t1/api_conversation_history.json", "pearai.api_history", "parsed"),
        ("pearai", f"{agent}/tasks/t1/task_metadata.json", "pearai.task_metadata", "parsed"),
        ("pearai", f"{agent}/tasks/t1/ui_messages.json", "pearai.ui_messages", "parsed"),
        ("pearai", f"{place}/User/globalStorage/state.vscdb", "pearai.state", "parsed"),
    ]
    assert home.session_folders == (("pearai", f"{agent}/tasks/t1"),)


def test_everything_of_the_two_extensions_is_an_artifact(tmp_path: Path) -> None:
    put(tmp_path, f"{AGENT}/settings/custom_modes.json", f"{AGENT}/settings/pearai_agent_mcp_settings.json")
    put(tmp_path, f"{AGENT}/cache/a/b.json", f"{AGENT}/checkpoints/hash/.git/HEAD", f"{AGENT}/tasks/_index.json")
    put(tmp_path, f"{TASK}/checkpoints/.git/HEAD", f"{TASK}/notes/x.txt", f"{GLOBAL}/pearai.pearai/x/y.json")

    assert statuses(tmp_path) == {
        f"{AGENT}/settings/custom_modes.json": "known",
        f"{AGENT}/settings/pearai_agent_mcp_settings.json": "secret",
        f"{AGENT}/cache": "known",
        f"{AGENT}/checkpoints": "known",
        f"{AGENT}/tasks/_index.json": "known",
        f"{TASK}/checkpoints": "known",
        f"{TASK}/notes/x.txt": "known",
        f"{GLOBAL}/pearai.pearai/x/y.json": "known",
    }
    assert set(sources(tmp_path).values()) == {None}
    assert folders(tmp_path) == [TASK]


def test_nothing_else_of_the_editor_is_an_artifact(tmp_path: Path) -> None:
    put(tmp_path, f"{TASK}/ui_messages.json", f"{GLOBAL}/storage.json", f"{GLOBAL}/state.vscdb.old")
    put(tmp_path, ".config/PearAI/User/settings.json", ".config/PearAI/User/workspaceStorage/h/state.vscdb")
    put(tmp_path, ".config/PearAI/Cache/x", ".config/PearAI/machineid", f"{GLOBAL}/ms.python/tasks/t/x.json")
    put(tmp_path, ".config/PearAI/logs/20260915T083000/main.log", ".config/PearAI/tasks/t1/ui_messages.json")
    put(tmp_path, ".config/PearAI/User/globalStorage/pearai.pearai-roo-cline2/tasks.txt")

    assert statuses(tmp_path) == {f"{TASK}/ui_messages.json": "parsed"}
    assert folders(tmp_path) == [TASK]


def test_files_of_the_database_of_state(tmp_path: Path) -> None:
    put(
        tmp_path,
        *(f"{GLOBAL}/state.vscdb{end}" for end in ("", "-wal", "-shm", "-journal", ".backup")),
        text="a database",
    )

    home = the_home(tmp_path)

    assert [(a.home_path.rpartition("/")[2], a.source, a.status.value, a.stands_in) for a in home.artifacts] == [
        ("state.vscdb", "pearai.state", "parsed", False),
        ("state.vscdb-journal", None, "known", False),
        ("state.vscdb-shm", None, "known", False),
        ("state.vscdb-wal", None, "known", False),
        ("state.vscdb.backup", "pearai.state", "known", True),
    ]


def test_backup_stands_in_for_a_database_that_is_missing(tmp_path: Path) -> None:
    put(tmp_path, f"{GLOBAL}/state.vscdb.backup", text="x")

    (artifact,) = the_home(tmp_path).artifacts

    assert (artifact.source, artifact.status, artifact.stands_in) == ("pearai.state", Status.PARSED, True)


def test_logs_of_the_two_channels(tmp_path: Path) -> None:
    channels = ".config/PearAI/logs/20260915T083000/window1/exthost/output_logging_20260915T083001"
    put(tmp_path, *(f"{channels}/{name}.log" for name in ("1-PearAI", "3-Roo-Code", "2-Git", "PearAI")))
    put(tmp_path, ".config/PearAI/logs/20260915T083000/window1/exthost/1-PearAI.log")
    put(tmp_path, f"{channels}/deeper/1-PearAI.log")

    assert statuses(tmp_path) == {f"{channels}/1-PearAI.log": "parsed", f"{channels}/3-Roo-Code.log": "known"}
    assert sources(tmp_path)[f"{channels}/1-PearAI.log"] == "pearai.output_log"


@pytest.mark.parametrize("path", ["tasks", "agent/tasks", "a/b/c/d/tasks", "globalStorage/tasks"])
def test_tasks_elsewhere_below_the_user_directory(tmp_path: Path, path: str) -> None:
    above = f".config/PearAI/User/{path}"
    put(tmp_path, f"{above}/t1/api_conversation_history.json", f"{above}/t2/", f"{above}/t1/checkpoints/x")

    assert sources(tmp_path) == {
        f"{above}/t1/api_conversation_history.json": "pearai.api_history",
        f"{above}/t1/checkpoints": None,
    }
    assert folders(tmp_path) == [f"{above}/t1", f"{above}/t2"]


@pytest.mark.parametrize("name", ["claude_messages.json", ".ui_messages.json.new_1_a.tmp", "task_metadata.json"])
def test_tasks_elsewhere_are_told_by_a_file(tmp_path: Path, name: str) -> None:
    put(tmp_path, f".config/PearAI/User/x/tasks/t1/{name}", ".config/PearAI/User/y/tasks/t1/other.json")

    assert folders(tmp_path) == [".config/PearAI/User/x/tasks/t1"]


@pytest.mark.parametrize("path", ["node_modules/tasks", ".git/tasks"])
def test_some_directories_are_not_searched_for_tasks(tmp_path: Path, path: str) -> None:
    put(tmp_path, f"{TASK}/ui_messages.json", f".config/PearAI/User/{path}/t1/ui_messages.json")

    assert folders(tmp_path) == [TASK]


@pytest.mark.parametrize(("given", "above"), [("a/b", "a/b/tasks"), ("a/tasks/", "a/tasks"), ("./mine", "mine")])
def test_tasks_under_a_given_path(tmp_path: Path, given: str, above: str) -> None:
    put(tmp_path / "alice", f"{above}/t1/ui_messages.json", f"{above}/t2/", "a/b/settings/x.json", "mine.txt")

    home = the_home(tmp_path, given)

    assert home.user == "alice"
    assert [(a.home_path, a.source) for a in home.artifacts] == [(f"{above}/t1/ui_messages.json", "pearai.ui_messages")]
    assert home.session_folders == (("pearai", f"{above}/t1"), ("pearai", f"{above}/t2"))
    assert collections(tmp_path) == []


def test_empty_directory_of_tasks_at_a_given_path(tmp_path: Path) -> None:
    put(tmp_path, "a/tasks/t1/", "a/other/")

    assert folders(tmp_path, "a") == ["a/tasks/t1"]


@pytest.mark.parametrize("path", ["/abs", "a/../b", ""])
def test_tasks_outside_of_homes_are_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match=r"directory of tasks of pearai: .* is not a path below a home"):
        collections(tmp_path, path)


@pytest.mark.parametrize(
    "name",
    [
        "ui_messages.json.new_1",
        ".ui_messages.json.bak_1789461000000_ab12.tmp",
        "ui_messages.json.bak_x",
        ".ui_messages.json.new_1 (1).json",
    ],
)
def test_leftover_is_planned_only_without_the_file_itself(tmp_path: Path, name: str) -> None:
    put(tmp_path, f"{TASK}/{name}", *(f"{AGENT}/tasks/{task}/{name}" for task in ("t2", "t3", "t4")))
    for task, text in {"t2": "[{}]", "t3": "", "t4": "[]"}.items():
        put(tmp_path, f"{AGENT}/tasks/{task}/ui_messages.json", text=text)

    found = {a.home_path: a for a in the_home(tmp_path).artifacts if a.stands_in}

    assert {path.split("/")[-2]: (a.source, a.status.value) for path, a in found.items()} == {
        "t1": ("pearai.ui_messages", "parsed"),
        "t2": ("pearai.ui_messages", "known"),
        "t3": ("pearai.ui_messages", "parsed"),
        "t4": ("pearai.ui_messages", "parsed"),
    }


@pytest.mark.parametrize("name", ["ui_messages.json~", "ui_messages.json.tmp", "x.json.new_1", ".bak_1", "new_1"])
def test_what_is_no_leftover(tmp_path: Path, name: str) -> None:
    put(tmp_path, f"{TASK}/{name}")

    assert statuses(tmp_path) == {f"{TASK}/{name}": "known"}


def test_old_name_of_a_history_stands_in_for_it(tmp_path: Path) -> None:
    put(tmp_path, f"{TASK}/claude_messages.json", f"{AGENT}/tasks/t2/claude_messages.json")
    put(tmp_path, f"{AGENT}/tasks/t2/api_conversation_history.json", text="[{}]")

    found = [a for a in the_home(tmp_path).artifacts if a.home_path.endswith("/claude_messages.json")]

    assert [(a.source, a.stands_in, a.status.value) for a in found] == [
        ("pearai.api_history", True, "parsed"),
        ("pearai.api_history", True, "known"),
    ]


def test_secrets_are_named_and_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = "Library/Application Support/Code/User/globalStorage/continue.continue"
    put(tmp_path, f"{store}/key.bin", f"{store}/note.txt", f"{AGENT}/settings/pearai_agent_mcp_settings.json")
    put(tmp_path, ".vscode-server/data/User/globalStorage/continue.continue/a.bin", ".continue/x_mcp_settings.json")
    put(tmp_path, ".continue/sessions/", ".continue/.configs/host/config.json")
    put(tmp_path, "Library/Application Support/Code/User/globalStorage/other.ext/x.bin")
    monkeypatch.setattr("io.open", None)
    monkeypatch.setattr("os.open", None)

    assert [(a.agent, a.home_path, a.status.value) for a in the_home(tmp_path).artifacts] == [
        ("pearai", f"{AGENT}/settings/pearai_agent_mcp_settings.json", "secret"),
        ("continue", ".continue/.configs/host/config.json", "secret"),
        ("continue", ".continue/x_mcp_settings.json", "secret"),
        ("continue", ".vscode-server/data/User/globalStorage/continue.continue/a.bin", "secret"),
        ("continue", f"{store}/key.bin", "secret"),
        ("continue", f"{store}/note.txt", "known"),
    ]


@pytest.mark.parametrize("index", ["", "[]", '[{"sessionId":"a"}]', '[{"sessionId":"a","integ'])
def test_moved_directory_belongs_to_the_agent_of_its_sessions_where_its_index_tells_none(
    tmp_path: Path, index: str
) -> None:
    put(tmp_path, ".continue/sessions/a.json", "state/dev_data/", "other/index/")
    put(tmp_path, "state/sessions/sessions.json", "other/sessions/sessions.json", text=index)
    put(tmp_path, "state/sessions/a.json", "other/sessions/a.json", text='{"history":[]}')
    put(tmp_path, "state/sessions/b.json", text='{"history":[],"perplexityHistory":[')
    put(tmp_path, "other/sessions/b.json", text=json.dumps({"title": '"perplexityHistory"', "history": []}))

    found = the_home(tmp_path).artifacts

    assert {a.agent for a in found if a.home_path.startswith("state/")} == {"pearai"}
    assert {a.agent for a in found if a.home_path.startswith("other/")} == {"continue"}


def test_moved_directory_with_an_index_in_utf_16(tmp_path: Path) -> None:
    put(tmp_path, ".continue/sessions/a.json", "state/dev_data/", "state/sessions/")
    (tmp_path / "state/sessions/sessions.json").write_text('[{"integrationType":"x"}]', encoding="utf-16")

    assert {a.agent for a in the_home(tmp_path).artifacts if a.home_path.startswith("state/")} == {"pearai"}


def test_editor_without_the_extension_is_none_of_ours(tmp_path: Path) -> None:
    put(tmp_path, ".config/Code/User/globalStorage/state.vscdb", ".config/Cursor/User/settings.json", ".config/x")

    assert collections(tmp_path) == []


def test_links_in_the_places_of_the_agent_are_told_of(tmp_path: Path) -> None:
    put(tmp_path, "away/x", "alice/.config/PearAI/User/globalStorage/", "bob/notes", "carol/x")
    (tmp_path / "alice" / GLOBAL / "pearai.pearai-roo-cline").symlink_to(tmp_path / "away")
    (tmp_path / "alice/.config/PearAI/User/settings.json").symlink_to(tmp_path / "away/x")
    (tmp_path / "alice/.config/PearAI/logs").symlink_to(tmp_path / "away")
    put(tmp_path, "bob/.config/")
    (tmp_path / "bob/.config/PearAI").symlink_to(tmp_path / "alice/.config/PearAI")
    (tmp_path / "carol/.config").symlink_to(tmp_path / "alice/.config")

    (collection,) = collections(tmp_path)

    assert [(home.user, home.artifacts, home.links) for home in collection.homes] == [
        ("alice", (), (f"/alice/{AGENT}", "/alice/.config/PearAI/logs"))
    ]
    assert collection.links == ("/bob/.config/PearAI",)


def test_directories_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, f"{TASK}/ui_messages.json", ".config/PearAI/User/History/x/y", f"{AGENT}/settings/x")
    scandir = os.scandir
    shut = {str(tmp_path / ".config/PearAI/User/History"), str(tmp_path / AGENT / "settings")}

    def refuse(path: str) -> object:
        if path in shut:
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)

    assert statuses(tmp_path) == {f"{AGENT}/settings": "unreadable", f"{TASK}/ui_messages.json": "parsed"}


def test_special_files_count_in_the_agents_places_alone(tmp_path: Path) -> None:
    put(tmp_path, f"{TASK}/", ".config/PearAI/User/")
    os.mkfifo(tmp_path / TASK / "ui_messages.json")
    os.mkfifo(tmp_path / ".config/PearAI/User/pipe")

    assert statuses(tmp_path) == {f"{TASK}/ui_messages.json": "skipped"}


@pytest.mark.parametrize("place", PLACES)
def test_editor_directory_as_input(tmp_path: Path, place: str) -> None:
    put(tmp_path, f"home/alice/{place}/User/globalStorage/state.vscdb", "home/alice/.pearai/sessions/a.json")

    home = the_home(tmp_path / "home/alice" / place)

    assert home.identity == f"place\0{tmp_path}/home/alice"
    assert home.user == "alice"
    assert [a.source_file for a in home.artifacts] == [f"/{place}/User/globalStorage/state.vscdb"]


def test_all_directories_of_a_home_are_one_home(tmp_path: Path) -> None:
    put(tmp_path, ".pearai/sessions/a.json", ".pearai/extensions/x/y", ".continue/sessions/b.json")
    put(tmp_path, *(f"{place}/User/globalStorage/state.vscdb" for place in PLACES))

    found = sources(tmp_path)

    assert len(found) == 8
    assert found[".pearai/sessions/a.json"] == "pearai.chat_session"
    assert found[".pearai/extensions"] is None


def test_one_directory_by_two_paths_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system on which `PearAI` and `pearai` are one name."""
    put(tmp_path, ".config/PearAI/User/globalStorage/state.vscdb")
    lstat = os.lstat
    monkeypatch.setattr(os, "lstat", lambda path: lstat(path.replace("/pearai", "/PearAI")))

    dirs, _ = AgentDirs(parsers.LAYOUTS, {}, {}).at(str(tmp_path), DISK.listed(str(tmp_path))[0])

    assert list(dirs) == [".config/PearAI"]


def test_roots_of_the_agent_hold_no_chat_sessions(tmp_path: Path) -> None:
    put(tmp_path, ".pearai/sessions/", ".pearai/tasks/t1/ui_messages.json", ".pearai/User/globalStorage/state.vscdb")
    put(tmp_path, f"{AGENT}/sessions/a.json", f"{AGENT}/dev_data/chat.jsonl", f"{TASK}/sessions/sessions.json")

    assert set(statuses(tmp_path).values()) == {"known"}
    assert folders(tmp_path) == [TASK]


def case(name: str, tmp_path: Path) -> Home:
    return the_home(lay_out(f"cases/{name}/home", tmp_path / "home"))


def by_task(artifacts: tuple[Artifact, ...]) -> list[tuple[str, str, str | None, str]]:
    """Last digits of the task, path in its folder, source, status."""
    found = []
    for artifact in artifacts:
        task, _, path = artifact.home_path.partition("/tasks/")[2].partition("/")
        found.append((task[-2:], path, artifact.source, artifact.status.value))
    return found


def test_043_checkpoint_only_and_empty_folders(tmp_path: Path) -> None:
    home = case("043-checkpoint-only-and-empty-folders", tmp_path)

    assert [path[-2:] for _, path in home.session_folders] == ["0a", "0b", "0c", "0d"]
    assert by_task(home.artifacts) == [
        ("0a", "checkpoints", None, "known"),
        ("0c", "ui_messages.json", "pearai.ui_messages", "parsed"),
        ("0d", "task_metadata.json", "pearai.task_metadata", "parsed"),
    ]


def test_044_atomic_write_leftovers(tmp_path: Path) -> None:
    home = case("044-atomic-write-leftovers", tmp_path)

    assert by_task(home.artifacts) == [
        ("0e", ".ui_messages.json.bak_1789461000000_ab12.tmp", "pearai.ui_messages", "known"),
        ("0e", "ui_messages.json", "pearai.ui_messages", "parsed"),
        ("0f", ".ui_messages.json.bak_1789461000000_ab12.tmp", "pearai.ui_messages", "parsed"),
        ("10", ".ui_messages.json.new_1789461000001_cd34.tmp", "pearai.ui_messages", "parsed"),
        ("10", "ui_messages.json", "pearai.ui_messages", "parsed"),
    ]


def test_049_output_channel_logs(tmp_path: Path) -> None:
    home = case("049-output-channel-logs", tmp_path)

    assert [(a.home_path.rpartition("/")[2], a.source, a.status.value) for a in home.artifacts] == [
        ("1-PearAI.log", "pearai.output_log", "parsed"),
        ("3-Roo-Code.log", None, "known"),
        ("1-PearAI.log", "pearai.output_log", "parsed"),
    ]
    assert home.session_folders == ()


def test_moved_directory_whose_index_tells_nothing_belongs_to_the_agent_of_its_sessions(tmp_path: Path) -> None:
    put(tmp_path, ".continue/sessions/a.json", "state/dev_data/", "state/sessions/empty.json", text="")
    put(tmp_path, "state/sessions/sessions.json", text="[]")
    put(tmp_path, "state/sessions/b.json", text='{"history":[],"perplexityHistory":[]}')

    assert {a.agent for a in the_home(tmp_path).artifacts if a.home_path.startswith("state/")} == {"pearai"}
