"""A small home of PearAI's that a test writes: chat sessions with their index, tasks, and what lies beside them."""

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from tests.made import Json, ms
from tests.tasks import TASKS

LOG = ".config/PearAI/logs/20260915T083000/window1/exthost/output_logging_20260915T083001/1-PearAI.log"
_BETWEEN = f"{'=' * 74}\n" * 2


def say(seconds: float | None, kind: str, text: object = None, **fields: object) -> Json:
    """What the panel says, so many seconds after `T0`; JSON for what is no text."""
    return _shown(seconds, "say", kind, text) | fields


def ask(seconds: float | None, kind: str, text: object = None, **fields: object) -> Json:
    """What the panel asks."""
    return _shown(seconds, "ask", kind, text) | fields


def _shown(seconds: float | None, type_: str, kind: str, text: object) -> Json:
    message: Json = {} if seconds is None else {"ts": ms(seconds)}
    message |= {"type": type_, type_: kind}
    return message if text is None else message | {"text": text if isinstance(text, str) else json.dumps(text)}


def sent(seconds: float | None, *texts: str) -> Json:
    """What is sent to the model, a part per text."""
    return _message(seconds, "user", texts)


def replied(seconds: float | None, *texts: str) -> Json:
    """What the model replies."""
    return _message(seconds, "assistant", texts)


def _message(seconds: float | None, role: str, texts: tuple[str, ...]) -> Json:
    message: Json = {"role": role, "content": [{"type": "text", "text": text} for text in texts]}
    return message if seconds is None else message | {"ts": ms(seconds)}


def request(prompt: str, **settings: object) -> str:
    """A request in the log of the output channel."""
    lines = "".join(f"{name}: {value}\n" for name, value in settings.items())
    return f"{_BETWEEN}Settings:\n{lines}\n{'#' * 44}\n\n{prompt}"


def completion(text: str) -> str:
    """A reply in the log of the output channel."""
    return f"{_BETWEEN}Completion:\n\n{text}\n\n"


@dataclass(slots=True)
class MadePear:
    """A home being written."""

    path: Path
    entries: list[Json] = field(default_factory=list)

    def chat(self, name: str, *items: Json, created: int | None = None, **head: object) -> None:
        """Write a chat session; with `created` (ms) the index has it."""
        ids = {"title": "t", "sessionId": name, "workspaceDirectory": "/w"}
        self.json(f".pearai/sessions/{name}.json", {"history": items, "perplexityHistory": [], **ids, **head})
        if created is not None:
            entry = {**ids, **head, "dateCreated": str(created), "integrationType": "continue"}
            self.entries.append(entry)
            self.json(".pearai/sessions/sessions.json", self.entries)

    def lines(self, name: str, *lines: Json) -> None:
        """Write a table of `dev_data`."""
        self.file(f".pearai/dev_data/{name}.jsonl", "".join(json.dumps(line) + "\n" for line in lines))

    def ui(self, task: str, *messages: object) -> Path:
        """Write what the panel showed of a task."""
        return self.json(f"{TASKS}/{task}/ui_messages.json", messages)

    def api(self, task: str, *messages: object) -> Path:
        """Write what was sent to the model of a task, and its replies."""
        return self.json(f"{TASKS}/{task}/api_conversation_history.json", messages)

    def listed(self, *items: Json, editor: str = ".config/PearAI", **settings: object) -> None:
        """Write the editor's database with the list of tasks and the agent's settings."""
        place = self.file(f"{editor}/User/globalStorage/state.vscdb", "")
        with closing(sqlite3.connect(place)) as connection:
            connection.execute("create table ItemTable (key text unique on conflict replace, value blob)")
            state = json.dumps({"taskHistory": items, **settings})
            connection.execute("insert into ItemTable values ('pearai.pearai-roo-cline', ?)", (state,))
            connection.commit()

    def json(self, path: str, content: object) -> Path:
        """Write a file of JSON, as the programs do."""
        return self.file(path, json.dumps(content, ensure_ascii=False, separators=(",", ":")))

    def file(self, path: str, text: str) -> Path:
        """Write a file of the home."""
        place = self.path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="")
        return place
