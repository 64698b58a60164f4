"""Where the assistants keep their state below a home.

Continue: `~/.continue` on every system (core/util/paths.ts), and its extension's store of secrets in the editor's
`globalStorage` (extensions/vscode/src/stubs/SecretStorage.ts). PearAI's fork of it: `~/.pearai`, which is the editor's
own data folder, too. PearAI's agent, a fork of Roo Code 3.15: its extension's `globalStorage`, below the editor's
`User` directory, or wherever its setting `customStoragePath` puts it (src/shared/storagePathManager.ts); its list of
tasks in the editor's database of state; the log of the chat extension's requests below `logs` beside `User`.
"""

import re

from pipeline.model import Inner, Layout, Root

_STATE = ("sessions", "dev_data", "logs/cn.log", "input_history.json", "permissions.yaml")
_WHOLE = ("index", "extensions")
_SECRETS = (
    "config.yaml",
    "config.json",
    ".configs/*/config.json",
    "config.ts",
    ".env",
    "auth*.json",
    "index/globalContext.json",
    "mcpServers/*",
    "*_mcp_settings.json",
)

_EDITORS = ("Code", "Code - Insiders", "Code - OSS", "VSCodium", "Cursor", "Windsurf")
_SERVERS = (".vscode-server", ".vscode-server-insiders", ".vscodium-server", ".cursor-server", ".windsurf-server")
_EDITOR_PLACES = (
    *(
        f"{above}/{name}"
        for name in _EDITORS
        for above in (".config", "Library/Application Support", "AppData/Roaming")
    ),
    *(f"{name}/data" for name in _SERVERS),
    ".local/share/code-server",
)
_STORE = "User/globalStorage/continue.continue"

_PEARAI_PLACES = (
    ".config/PearAI",
    ".config/pearai",
    "Library/Application Support/PearAI",
    "AppData/Roaming/PearAI",
    ".pearai-server/data",
)
_AGENT = "User/globalStorage/pearai.pearai-roo-cline"
_DATABASE = "User/globalStorage/state.vscdb"
_CHANNELS = "logs/*/window*/exthost/output_logging_*"
_LEFTOVER = re.compile(r"\.?(.+?)\.(?:new|bak)_.*", re.DOTALL)
"""What an interrupted write leaves beside a file of a task: `.ui_messages.json.new_<ms>_<random>.tmp`."""


def _is_pearai(told: bytes) -> bool:
    """Say whether a session index or a session is PearAI's: by the kind of chat, or the talk with its search."""
    told = told.replace(b"\0", b"")  # (UTF-16)
    return b'"integrationType"' in told or b'"perplexityHistory"' in told


def _task_file(name: str) -> str | None:
    """Name the file of a task that a leftover was to become, or that an old version wrote under another name."""
    if name == "claude_messages.json":
        return "api_conversation_history.json"
    leftover = _LEFTOVER.fullmatch(name)
    return leftover[1] if leftover else None


def _backed_up(name: str) -> str | None:
    """Name the database that a backup is of."""
    return "state.vscdb" if name == "state.vscdb.backup" else None


_TASKS = Root(
    "tasks", whole=("*/checkpoints",), secrets=("*_mcp_settings.json",), holds_sessions=True, stands_for=_task_file
)

CONTINUE = Layout(
    "continue",
    (
        Root("state", (".continue",), _STATE, whole=_WHOLE, secrets=_SECRETS),
        Root("editor", _EDITOR_PLACES, (_STORE,), (f"{_STORE}/**",), secrets=(f"{_STORE}/*.bin",)),
    ),
    lambda told: not _is_pearai(told),
)
PEARAI = Layout(
    "pearai",
    (
        Root("state", (".pearai",), _STATE, whole=_WHOLE, secrets=_SECRETS),
        Root(
            "editor",
            _PEARAI_PLACES,
            ("User", "logs"),
            own=(
                f"{_AGENT}/**",
                "User/globalStorage/pearai.pearai/**",
                *(f"{_DATABASE}{ending}" for ending in ("", ".backup", "-wal", "-shm", "-journal")),
                f"{_CHANNELS}/*-PearAI.log",
                f"{_CHANNELS}/*-Roo-Code.log",
            ),
            whole=(f"{_AGENT}/checkpoints", f"{_AGENT}/cache"),
            secrets=("*_mcp_settings.json",),
            inner=Inner(_TASKS, "tasks", (f"{_AGENT}/tasks",), "User"),
            stands_for=_backed_up,
        ),
    ),
    _is_pearai,
    given=Root("given", own=(), inner=Inner(_TASKS, "tasks", ("tasks",), "")),
)
