"""Chat sessions as PearAI's fork of Continue writes them.

There are no calls and no ids in messages; a talk with PearAI Search is in `perplexityHistory`, with what it cites. A
prompt log names the model in `completionOptions`, and its prompt is the talk so far as blocks behind `<role>` lines.
"""

import random

from bench.projects import Project, new_id
from bench.talk import Talk
from bench.texts import Texts
from bench.tools import Json
from bench.vscode import editor_state, file_item

MODELS = ["pearai_model", "pearai_model", "claude-3-7-sonnet-latest", "gpt-4o", "deepseek-chat"]
SEARCH_SHARE = 0.15
CONTEXT_KEYS = ("content", "name", "description", "id")


class ChatSession:
    """One session on a project, made turn by turn; its last save is at `end_ms`."""

    def __init__(self, rng: random.Random, texts: Texts, project: Project, start_ms: int) -> None:
        self.rng, self.texts, self.project = rng, texts, project
        self.start_ms = self.end_ms = start_ms
        self.session_id = new_id(rng)
        self.is_search = rng.random() < SEARCH_SHARE
        self.history: list[Json] = []
        self.model = rng.choice(MODELS)
        self._talk = Talk("", int(rng.lognormvariate(9, 0.5)))

    def document(self, items: int) -> Json:
        """The session file's content, with about a number of items; ids come last."""
        while len(self.history) < items:
            self._turn()
        first = self.texts.title(self.rng, self.project.language)
        return {
            "history": [] if self.is_search else self.history,
            "perplexityHistory": self.history if self.is_search else [],
            "title": first if self.rng.random() < 0.9 else "New Session",
            "sessionId": self.session_id,
            "workspaceDirectory": self.project.root if self.rng.random() < 0.98 else "",
        }

    def exchanges(self) -> list[Json]:
        """The prompt logs of the session, in order."""
        return [log for item in self.history for log in item.get("promptLogs", [])]

    def _turn(self) -> None:
        rng = self.rng
        self.end_ms += rng.randint(20_000, 900_000)
        if rng.random() < 0.04:
            self.model = rng.choice(MODELS)
        self._ask()
        reply = self.texts.reply(rng, self.project.language)
        item: Json = {"message": {"role": "assistant", "content": reply}, "contextItems": []}
        if self.is_search:
            item["citations"] = [self._citation() for _ in range(rng.randint(0, 5))]
        options = {"model": self.model, "maxTokens": 4096, "stream": True}
        log = {"completionOptions": options, "prompt": self._talk.prompt(), "completion": reply}
        self.history.append(item | {"promptLogs": [log]})
        self._talk.say("assistant", reply)

    def _ask(self) -> None:
        rng = self.rng
        text = self.texts.prose(rng, 1 + int(rng.expovariate(0.7)), self.project.language)
        if rng.random() < 0.08:
            text += "\n\n" + self.texts.output(rng, int(rng.lognormvariate(7, 1)))
        # The search sees no files.
        found = [] if self.is_search else [self.project.pick(rng) for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 3]))]
        files = [file_item(self.project, *file) for file in found]
        context = [{key: file[key] for key in CONTEXT_KEYS} for file in files]
        parts: list[Json] = [{"type": "text", "text": text}]
        if rng.random() < 0.01:
            parts.append({"type": "imageUrl", "imageUrl": {"url": self.texts.image(rng, rng.randint(20_000, 140_000))}})
        message = {"role": "user", "content": parts if len(parts) > 1 else text}
        state = editor_state(text, context)
        self.history.append({"message": message, "contextItems": context, "editorState": state})
        self._talk.say("user", "\n\n".join([*(item["content"] for item in context), text]))

    def _citation(self) -> Json:
        name = self.texts.name(self.rng)
        return {"url": f"https://docs.example.com/{name}", "title": self.texts.title(self.rng, "en")}
