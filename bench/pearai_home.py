"""What PearAI writes into a generated home: chats, their event files and log, the agent's tasks and their list.

`.pearai/` has `sessions/*.json` (without blanks) with their index and `dev_data/*.jsonl`; below `.config/PearAI/` lie
the agent's `tasks/<id>/`, the editor's database of state and the log of the chat extension's requests.
"""

import sqlite3
from datetime import UTC, datetime

import orjson

from bench.files import compact, write
from bench.homes import Home, entry_of, index
from bench.pearai import ChatSession
from bench.projects import new_id
from bench.sizes import FIRST_MS, LAST_MS, SPAN_MS
from bench.tasks import AgentTask
from bench.tools import Json

AGENT = "PearAI.pearai-roo-cline"
RATED_SHARE = 0.05
DELETED_SHARE = 0.02
MUTE_SHARE = 0.05
"""Share of the tasks without the panel's messages: what the model saw is all that tells of them."""
LOGGED_SHARE = 0.25
"""Share of the chats, the newest ones, that the log has: it lasts as long as the editor runs."""
CANCELLED_SHARE = 0.02
COMPLETED_SHARE = 0.2
BETWEEN = ("=" * 74 + "\n") * 2
RULE = "#" * 44
SETTINGS = {
    "autoApprovalEnabled": True,
    "alwaysAllowReadOnly": True,
    "alwaysAllowWrite": False,
    "alwaysAllowExecute": True,
    "alwaysAllowMcp": False,
    "allowedCommands": ["npm test", "git log", "git diff", "git show"],
    "mode": "code",
    "apiProvider": "pearai",
}


class PearaiFiles:
    """What PearAI writes into a home."""

    def __init__(self, home: Home) -> None:
        self.home, self.rng = home, home.seeded("pearai")
        self.folder, self.editor = home.path / ".pearai", home.path / ".config" / "PearAI"
        self.chats: list[ChatSession] = []
        self.entries: list[Json] = []
        self.tasks: list[Json] = []
        """Entries of the agent's list of tasks."""

    def write(self, share: float) -> None:
        """Write chats and tasks of about `share` bytes together, and the files beside them."""
        for make in (self._chat, self._task):
            made, count = self.home.made, 0
            start = made.size
            while (left := start + share / 2 - made.size) > 0:
                make(left)
                count += 1
                if count == self.home.sizes.sessions:
                    break
        write(self.folder / "sessions" / "sessions.json", compact(index(self.rng, self.entries)), LAST_MS)
        write(self.folder / "config.json", b'{"models": []}', FIRST_MS)
        self.home.save_events({self.folder / "dev_data" / name: data for name, data in self._events().items()})
        self._write_log()
        write(self.editor / "User" / "globalStorage" / "state.vscdb", self._state(), LAST_MS)

    def _chat(self, room: float) -> None:
        rng = self.rng
        project = rng.choice(self.home.projects)
        chat = ChatSession(rng, self.home.texts, project, FIRST_MS + rng.randrange(SPAN_MS))
        document = chat.document(self.home.items(rng, room))
        self.chats.append(chat)
        if rng.random() < DELETED_SHARE:
            # What was logged of it stays. (It fills no room, but the next one has as good a chance.)
            return
        path = self.folder / "sessions" / f"{chat.session_id}.json"
        damage = self.home.save(path, compact(document), chat.end_ms, rng)
        self.home.made.items += len(chat.history)
        if rng.random() > (0.5 if damage == "cut" else 0.01):
            kind = "perplexity" if chat.is_search else "continue"
            self.entries.append(entry_of(document, chat.start_ms) | {"integrationType": kind})

    def _task(self, room: float) -> None:
        rng = self.rng
        project = rng.choice(self.home.projects)
        task = AgentTask(rng, self.home.texts, project, FIRST_MS + rng.randrange(SPAN_MS))
        files = task.files(self.home.items(rng, room), self.home.sizes.long_share)
        if rng.random() < MUTE_SHARE:
            del files["ui_messages.json"]
        folder = self.editor / "User" / "globalStorage" / AGENT.lower() / "tasks" / task.task_id
        for name, content in files.items():
            self.home.save(folder / name, content, task.now_ms, rng)
        self.home.made.items += len(task.shown)
        if rng.random() > 0.01:
            self.tasks.append(task.entry(len(self.tasks) + 1, sum(map(len, files.values()))))
        if rng.random() < DELETED_SHARE:
            # The list names one whose folder is gone.
            entry = task.entry(len(self.tasks) + 1, 0)
            self.tasks.append(entry | {"id": new_id(rng), "ts": entry["ts"] + rng.randrange(10**9)})

    def _events(self) -> dict[str, bytes]:
        """Event files by name: tokens of every request, prompt logs of rated replies."""
        tokens, rated = [], []
        for chat in sorted(self.chats, key=lambda chat: chat.start_ms):
            for log in chat.exchanges():
                fields = {"model": log["completionOptions"]["model"], "provider": "pearai_server"}
                counts = {"promptTokens": len(log["prompt"]) // 4, "generatedTokens": len(log["completion"]) // 4}
                tokens.append(orjson.dumps(fields | counts) + b"\n")
                if self.rng.random() < RATED_SHARE:
                    rating = {"feedback": self.rng.random() < 0.7, "sessionId": chat.session_id}
                    rated.append(orjson.dumps(log | rating) + b"\n")
        return {"chat.jsonl": b"".join(rated), "tokens_generated.jsonl": b"".join(tokens)}

    def _write_log(self) -> None:
        """Write the output channel: requests and replies of the newest chats, and completions in the editor."""
        chats = sorted(self.chats, key=lambda chat: chat.start_ms)
        chats = chats[-max(1, int(len(chats) * LOGGED_SHARE)) :]
        writes: list[str] = []
        for chat in chats:
            for log in chat.exchanges():
                writes += self._logged(log)
        started, opened = (_stamp(chats[0].start_ms - before) for before in (9000, 4000))
        folder = self.editor / "logs" / started / "window1" / "exthost" / f"output_logging_{opened}"
        last = max(chat.end_ms for chat in chats)
        write(folder / "1-PearAI.log", "".join(BETWEEN + text for text in writes).encode(), last)

    def _logged(self, log: Json) -> list[str]:
        rng = self.rng
        writes = [_request(log["completionOptions"], log["prompt"])]
        if rng.random() < CANCELLED_SHARE:
            # It was sent once before, and stopped without a reply.
            writes *= 2
        writes.append(f"Completion:\n\n{log['completion']}\n\n")
        if rng.random() < COMPLETED_SHARE:
            name = self.home.texts.name(rng)
            # (Nothing ends the last line of such a prompt.)
            writes.append(_request({"model": "codestral-latest"}, f"def {name}(items):\n    return sum(<FIM>)"))
            writes.append("Completion:\n\nitem.price for item in items\n\n")
        return writes

    def _state(self) -> bytes:
        """The editor's database of state, with the agent's row: list of tasks, standing permissions, settings."""
        agent = {"taskHistory": self.tasks} | SETTINGS
        rows = {
            AGENT: orjson.dumps(agent).decode(),
            "pearai.pearai": "{}",
            "telemetry.firstSessionDate": "Thu, 01 May 2025 10:00:00 GMT",
        }
        with sqlite3.connect(":memory:") as database:
            database.execute("create table ItemTable (key text unique on conflict replace, value blob)")
            database.executemany("insert into ItemTable values (?, ?)", rows.items())
            database.commit()
            data = database.serialize()
        database.close()
        return data


def _request(options: Json, prompt: str) -> str:
    settings = {"contextLength": 8192} | options
    # Truth values as JavaScript prints them.
    lines = [f"{key}: {str(value).lower() if value is True else value}" for key, value in settings.items()]
    return "\n".join(["Settings:", *lines, "", RULE, "", prompt])


def _stamp(moment: int) -> str:
    """A time as names of log directories have it."""
    return f"{datetime.fromtimestamp(moment // 1000, UTC):%Y%m%dT%H%M%S}"
