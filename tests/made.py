"""A small home that a test writes: sessions with their index, event files, prompt history."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Json = dict[str, Any]
T0 = datetime(2026, 9, 15, 8, 30)
"""When the sessions began."""


def at(seconds: float) -> datetime:
    """Time of a number of seconds after `T0` (UTC)."""
    return T0 + timedelta(seconds=seconds)


def ms(seconds: float) -> int:
    """The same, as the programs write it (ms since 1970)."""
    return int(at(seconds).replace(tzinfo=UTC).timestamp() * 1000)


def user(text: str) -> Json:
    """An item of the user's."""
    return {"message": {"role": "user", "content": text}, "contextItems": []}


def reply(text: str, *calls: Json, prompt: str | None = None, completion: str | None = None) -> Json:
    """An item of the assistant's with the states of its calls; `prompt` is what its prompt log holds."""
    asked = [call["toolCall"] for call in calls]
    item: Json = {"message": {"role": "assistant", "content": text}, "contextItems": []}
    if calls:
        item["message"]["toolCalls"], item["toolCallStates"] = asked, list(calls)
    if prompt is not None:
        item["promptLogs"] = [{"prompt": prompt, "completion": completion or text}]
    return item


def call(
    call_id: str, arguments: str = "{}", *, name: str = "ls", status: str = "done", output: str | None = "ok"
) -> Json:
    """The state of a call."""
    function = {"name": name, "arguments": arguments}
    state = {"toolCallId": call_id, "toolCall": {"id": call_id, "type": "function", "function": function}}
    return {**state, "status": status, "output": [] if output is None else [{"name": name, "content": output}]}


def exchange(seconds: float, prompt: str, completion: str, session: str = "s1") -> Json:
    """A `chatInteraction`."""
    return _event(seconds) | {"prompt": prompt, "completion": completion, "sessionId": session, "modelTitle": "m"}


def usage(seconds: float, call_id: str, arguments: str = "{}", *, name: str = "ls", ended: str = "true/true") -> Json:
    """A `toolUsage`; `ended` is what it says of accepted and succeeded."""
    accepted, succeeded = (word == "true" for word in ended.split("/"))
    asked = {"toolCallId": call_id, "functionName": name, "toolCallArgs": arguments}
    return _event(seconds) | asked | {"accepted": accepted, "succeeded": succeeded, "output": []}


def _event(seconds: float) -> Json:
    return {"timestamp": at(seconds).isoformat(timespec="milliseconds") + "Z", "userId": ""}


@dataclass(slots=True)
class MadeHome:
    """A home being written."""

    path: Path
    entries: list[Json] = field(default_factory=list)

    def session(self, name: str, *items: Json, created: float | None = 0, **head: Any) -> None:
        """Write a session; without `created` the index lacks it."""
        document = {"sessionId": name, "title": "t", "workspaceDirectory": "/w", "history": list(items)}
        self.file(f"sessions/{name}.json", json.dumps({**document, **head}))
        if created is not None:
            entry = {"sessionId": name, "title": "t", "workspaceDirectory": "/w", "dateCreated": str(ms(created))}
            self.entries.append(entry)
        self.file("sessions/sessions.json", json.dumps(self.entries))

    def events(self, name: str, *events: Json, version: str = "0.2.0") -> None:
        """Write an event file."""
        self.file(f"dev_data/{version}/{name}.jsonl", "".join(json.dumps(event) + "\n" for event in events))

    def history(self, *prompts: tuple[str, float]) -> None:
        """Write the prompt history: texts with their times (seconds after `T0`), as given."""
        found = [{"text": text, "timestamp": ms(seconds)} for text, seconds in prompts]
        self.file("input_history.json", json.dumps(found, indent=2))

    def file(self, path: str, text: str) -> None:
        """Write a file of the assistant's directory."""
        place = self.path / ".continue" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="")
