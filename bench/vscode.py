"""Sessions as the editor extension writes them.

Every call's state repeats the definition of its tool, every reply has a prompt log with what the model saw, a
`tool` message repeats what a call returned, and a prompt stands again in `editorState`, as a document tree.
"""

import random
from typing import Any

from bench.events import exchange, usage
from bench.projects import Project, new_id
from bench.talk import Talk
from bench.texts import Texts
from bench.tools import Json
from bench.vscode_calls import BLOCKED, OUTCOMES, call_state, make_call, tool_call

MODELS = [
    ("GPT 4.1", "openai"),
    ("Claude Sonnet 4.5", "anthropic"),
    ("Gemini 2.5 Pro", "gemini"),
    ("qwen2.5-coder:7b", "ollama"),
    ("Codestral", "mistral"),
]
MODES = ["agent", "agent", "agent", "chat", "plan"]
RULES = [{"name": "House style", "source": "rules-block", "slug": "local/house-style"}]
SYSTEM = (
    "<system>\n<important_rules>\n  You are in agent mode.\n\n"
    + "  Read before you write, call several read-only tools at once, name the file of every block of code.\n" * 4
    + "</important_rules>\n\n"
)


class EditorSession:
    """One session of the extension on a project, made turn by turn; its last save is at `end_ms`."""

    def __init__(self, rng: random.Random, texts: Texts, project: Project, start_ms: int) -> None:
        self.rng, self.texts, self.project = rng, texts, project
        self.end_ms = start_ms
        self.history: list[Json] = []
        self.events: list[tuple[int, str, Json]] = []
        """What the extension logs beside the session: time (ms), name and fields of each event."""
        self.model = rng.choice(MODELS)
        self.long_share = 0.0
        self._talk = Talk(SYSTEM, int(rng.lognormvariate(8.6, 0.5)))

    def document(self, items: int, long_share: float) -> Json:
        """The session file's content, with about a number of items and a share of long outputs."""
        self.long_share = long_share
        while len(self.history) < items:
            self._turn()
        if items > 40 and self.rng.random() < 0.4:
            summary = self.texts.reply(self.rng, self.project.language)
            self.rng.choice(self.history)["conversationSummary"] = summary
        first = self.texts.title(self.rng, self.project.language)
        return {
            "sessionId": new_id(self.rng),
            "title": first if self.rng.random() < 0.9 else "New Session",
            "workspaceDirectory": self.project.uri if self.rng.random() < 0.98 else "",
            "history": self.history,
            "mode": self.rng.choice(MODES),
            "chatModelTitle": self.model[0],
        }

    def _turn(self) -> None:
        self.end_ms += self.rng.randint(20_000, 900_000)
        if self.rng.random() < 0.04:
            self.model = self.rng.choice(MODELS)
        self._ask()
        if self.rng.random() < 0.2:
            self._think()
        for _ in range(int(self.rng.expovariate(0.2))):
            if not self._act():
                return
        self._answer()

    def _ask(self) -> None:
        rng = self.rng
        text = self.texts.prose(rng, 1 + int(rng.expovariate(0.7)), self.project.language)
        if rng.random() < 0.08:
            text += "\n\n" + self.texts.output(rng, int(rng.lognormvariate(7, 1)))
        context = [file_item(self.project, *self.project.pick(rng)) for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 3]))]
        content: Any = text
        if rng.random() < 0.01:
            picture = {"url": self.texts.image(rng, rng.randint(20_000, 140_000))}
            content = [{"type": "text", "text": text}, {"type": "imageUrl", "imageUrl": picture}]
        self.history.append(
            {
                "message": {"role": "user", "content": content, "id": new_id(rng)},
                "contextItems": context,
                "editorState": editor_state(text, context),
                "appliedRules": RULES,
            }
        )
        self._talk.say("user", "\n\n".join([*(item["content"] for item in context), text]))

    def _think(self) -> None:
        rng = self.rng
        text = self.texts.prose(rng, rng.randint(2, 12), "en")
        message = {"id": new_id(rng), "role": "assistant", "content": ""}
        item: Json = {"message": message, "contextItems": []}
        if rng.random() < 0.3:
            item["message"] = {"role": "thinking", "content": text, "id": new_id(rng)}
        else:
            start = self.end_ms - rng.randint(2000, 15_000)
            item["reasoning"] = {"text": text, "startAt": start, "endAt": start + 1900, "active": False}
        self.history.append(item)

    def _answer(self) -> None:
        text = self.texts.reply(self.rng, self.project.language)
        message = {"role": "assistant", "content": text, "id": new_id(self.rng)}
        self._reply(message, [], f"<assistant>\n{text}\n\n")
        self._talk.say("assistant", text)

    def _act(self) -> bool:
        """An assistant item with calls, and their `tool` messages; whether the turn goes on."""
        rng = self.rng
        said = ""
        if rng.random() < 0.5:
            said = self.texts.prose(rng, rng.randint(1, 4), self.project.language)
        count = rng.choice([1, 1, 1, 2, 3])
        calls = [make_call(rng, self.texts, self.project, self.long_share) for _ in range(count)]
        asked = [tool_call(rng, call) for call in calls]
        outcomes = rng.choices(list(OUTCOMES), list(OUTCOMES.values()), k=count)
        states = [call_state(*three) for three in zip(calls, asked, outcomes, strict=True)]
        lines = [f"{call['function']['name']}({call['function']['arguments']})" for call in asked]
        steps = "".join(f"<assistant>\n\nundefined({line})\n\n" for line in lines)
        message = {"id": new_id(rng), "role": "assistant", "content": said, "toolCalls": asked}
        self._reply(message, states, f"<assistant>\n{said}\n\n{steps}")
        self._talk.say("assistant", "\n".join([said or " ", *lines]))
        for number, state in enumerate(states):
            ended = usage(state)
            if ended is not None:
                self.events.append((self._now() + 900 + number, "toolUsage", ended))
            self._result(state)
        return not {"calling", "generated", "canceled"} & set(outcomes)

    def _reply(self, message: Json, states: list[Json], completion: str) -> None:
        item: Json = {"message": message, "contextItems": []}
        if states:
            item["toolCallStates"] = states
        title, provider = self.model
        log = {
            "modelTitle": title,
            "modelProvider": provider,
            "prompt": self._talk.prompt(),
            "completion": completion,
        }
        self.history.append(item | {"promptLogs": [log], "isGatheringContext": False})
        self.events.append((self._now(), "chatInteraction", exchange(self.model, log["prompt"], completion)))

    def _now(self) -> int:
        """Time of the item that was added last (ms): a second an item, which keeps them apart."""
        return self.end_ms + 1000 * (len(self.history) % 1000)

    def _result(self, state: Json) -> None:
        text = "\n\n".join(item["content"] for item in state.get("output", []))
        if not text or state["output"][0]["name"] == BLOCKED:
            return
        call_id = state["toolCallId"]
        message = {"role": "tool", "content": text, "toolCallId": call_id, "id": new_id(self.rng)}
        self.history.append({"message": message, "contextItems": []})
        self._talk.say("tool", text)


def file_item(project: Project, path: str, text: str) -> Json:
    """A file that was mentioned in a prompt."""
    return {
        "name": path.rpartition("/")[2],
        "description": path,
        "content": f"```{path}\n{text}\n```",
        "id": {"providerTitle": "file", "itemId": path},
        "uri": {"type": "file", "value": f"{project.uri}/{path}"},
    }


def editor_state(text: str, context: list[Json]) -> Json:
    """A prompt as the editor's document: a paragraph per line, mentions of files in the first."""
    lines: list[Json] = [_paragraph(line) for line in text.split("\n")]
    for item in context:
        place = item["uri"]["value"] if "uri" in item else item["description"]
        mention = {"id": place, "label": item["name"], "query": place, "itemType": "file"}
        lines[0]["content"] += [{"type": "mention", "attrs": mention}, {"type": "text", "text": " "}]
    return {"type": "doc", "content": lines}


def _paragraph(line: str) -> Json:
    return {"type": "paragraph"} | ({"content": [{"type": "text", "text": line}]} if line else {})
