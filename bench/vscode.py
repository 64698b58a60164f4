"""Sessions as the editor extension writes them.

Every call's state repeats the definition of its tool, every reply has a prompt log with the conversation that the model
saw, a `tool` message repeats what a call returned, and a prompt stands once more in `editorState`, as a document tree.
"""

import json
import random
from dataclasses import dataclass
from typing import Any

from bench import words
from bench.projects import PROBLEM, Project, new_id, output_size
from bench.texts import Texts
from bench.tools import DEFINITIONS, Json

MODELS = [
    ("GPT 4.1", "openai"),
    ("Claude Sonnet 4.5", "anthropic"),
    ("Gemini 2.5 Pro", "gemini"),
    ("qwen2.5-coder:7b", "ollama"),
    ("Codestral", "mistral"),
]
MODES = ["agent", "agent", "agent", "chat", "plan"]
LONGEST_PROMPT_PART = 6000
SYSTEM = (
    "<system>\n<important_rules>\n  You are in agent mode.\n\n"
    + "  Read before you write, call several read-only tools at once, and name the file of every block of code.\n" * 4
    + "</important_rules>\n\n"
)
REJECTED = "The user skipped the tool call.\n" + "Go on without it where you can; else ask what to do instead.\n" * 3
OUTCOMES = {
    "done": 940,
    "rejected": 12,
    "canceled": 12,
    "blocked": 8,
    "failed": 14,
    "invalid": 6,
    "calling": 4,
    "generated": 4,
}
"""How calls end, and how often in a thousand."""


@dataclass(slots=True)
class Call:
    """A call of a tool: its arguments, what the extension adds to them, and the output items of a good end."""

    name: str
    arguments: Json
    processed: Json | None
    output: list[Json] | None


class EditorSession:
    """One session of the extension on a project, made turn by turn; its last save is at `end_ms`."""

    def __init__(self, rng: random.Random, texts: Texts, project: Project, start_ms: int) -> None:
        self.rng, self.texts, self.project = rng, texts, project
        self.end_ms = start_ms
        self.history: list[Json] = []
        self.model = rng.choice(MODELS)
        self.long_share = 0.0
        self._said: list[str] = []
        self._room = int(rng.lognormvariate(8.6, 0.5))

    def document(self, items: int, long_share: float) -> Json:
        """The session file's content, with about a number of items and a share of long outputs."""
        self.long_share = long_share
        while len(self.history) < items:
            self._turn()
        if items > 60 and self.rng.random() < 0.3:
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
        if self.rng.random() < 0.1:
            self._think()
        for _ in range(int(self.rng.expovariate(0.2))):
            if not self._act():
                return
        self._answer()

    def _ask(self) -> None:
        rng, language = self.rng, self.project.language
        text = self.texts.prose(rng, 1 + int(rng.expovariate(0.7)), language)
        if rng.random() < 0.08:
            text += "\n\n" + self.texts.output(rng, int(rng.lognormvariate(7, 1)))
        context = [self._file_item() for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 3]))]
        content: Any = text
        if rng.random() < 0.01:
            picture = self.texts.image(rng, rng.randint(20_000, 140_000))
            content = [{"type": "text", "text": text}, {"type": "imageUrl", "imageUrl": {"url": picture}}]
        self.history.append(
            {
                "message": {"role": "user", "content": content, "id": new_id(rng)},
                "contextItems": context,
                "editorState": _editor_state(text, context),
                "appliedRules": [{"name": "House style", "source": "rules-block", "slug": "local/house-style"}],
            }
        )
        self._say("user", "\n\n".join([*(item["content"] for item in context), text]))

    def _file_item(self) -> Json:
        path, text = self.project.pick(self.rng)
        return {
            "name": path.rpartition("/")[2],
            "description": path,
            "content": f"```{path}\n{text}\n```",
            "id": {"providerTitle": "file", "itemId": path},
            "uri": {"type": "file", "value": f"{self.project.uri}/{path}"},
        }

    def _think(self) -> None:
        rng = self.rng
        text = self.texts.prose(rng, rng.randint(2, 12), "en")
        item: Json = {"message": {"id": new_id(rng), "role": "assistant", "content": ""}, "contextItems": []}
        if rng.random() < 0.3:
            item["message"] = {"role": "thinking", "content": text, "id": new_id(rng)}
        else:
            start = self.end_ms - rng.randint(2000, 15_000)
            item["reasoning"] = {"text": text, "startAt": start, "endAt": start + 1900, "active": False}
        self.history.append(item)

    def _answer(self) -> None:
        text = self.texts.reply(self.rng, self.project.language)
        message = {"role": "assistant", "content": text, "id": new_id(self.rng)}
        self._reply(message, None, f"<assistant>\n{text}\n\n")

    def _act(self) -> bool:
        """An assistant item with calls, and their `tool` messages; whether the turn goes on."""
        rng = self.rng
        said = self.texts.prose(rng, 1, self.project.language) if rng.random() < 0.5 else ""
        calls = [self._call() for _ in range(rng.choice([1, 1, 1, 2, 3]))]
        asked = [_tool_call(rng, call) for call in calls]
        outcomes = rng.choices(list(OUTCOMES), list(OUTCOMES.values()), k=len(calls))
        states = [_state(*three) for three in zip(calls, asked, outcomes, strict=True)]
        message = {"id": new_id(rng), "role": "assistant", "content": said, "toolCalls": asked}
        lines = [f"{call['function']['name']}({call['function']['arguments']})" for call in asked]
        steps = "".join(f"<assistant>\n\nundefined({line})\n\n" for line in lines)
        self._reply(message, states, f"<assistant>\n{said}\n\n{steps}", "\n".join([said or " ", *lines]))
        for state in states:
            self._result(state)
        return not {"calling", "generated", "canceled"} & set(outcomes)

    def _reply(self, message: Json, states: list[Json] | None, completion: str, said: str | None = None) -> None:
        item: Json = {"message": message, "contextItems": []}
        if states:
            item["toolCallStates"] = states
        title, provider = self.model
        log = {"modelTitle": title, "modelProvider": provider, "prompt": self._prompt(), "completion": completion}
        self.history.append(item | {"promptLogs": [log], "isGatheringContext": False})
        self._say("assistant", message["content"] if said is None else said)

    def _result(self, state: Json) -> None:
        text = "\n\n".join(item["content"] for item in state.get("output", []))
        if not text or state["output"][0]["name"] == "Security Policy Violation":
            return
        message = {"role": "tool", "content": text, "toolCallId": state["toolCallId"], "id": new_id(self.rng)}
        self.history.append({"message": message, "contextItems": []})
        self._say("tool", text)

    def _say(self, role: str, text: str) -> None:
        self._said.append(f"<{role}>\n{text[:LONGEST_PROMPT_PART]}\n\n")

    def _prompt(self) -> str:
        """The system prompt and as much of the last messages as the model's room holds."""
        first, room = len(self._said) - 1, self._room
        while first > 0 and room > len(self._said[first]):
            room -= len(self._said[first])
            first -= 1
        return SYSTEM + "".join(self._said[first:])

    def _call(self) -> Call:
        rng, project = self.rng, self.project
        name = rng.choices(list(DEFINITIONS), [30, 8, 12, 5, 3, 28, 5, 6, 8])[0]
        match name:
            case "read_file":
                return _read(project, *project.pick(rng))
            case "multi_edit":
                return _edit(project, *project.change(rng, self.texts))
            case "create_new_file" | "edit_existing_file":
                return _write(project, name, *project.add(rng, self.texts))
            case "ls":
                arguments = {"dirPath": ".", "recursive": rng.random() < 0.3}
                return Call(name, arguments, _resolved(project, "."), [_item("File/folder list", _tree(project))])
            case "file_glob_search":
                return Call(name, {"pattern": "**/*.py"}, None, [_item("File results", _tree(project))])
            case "grep_search":
                return Call(name, {"query": self.texts.name(rng)}, None, [_item("Search results", project.search(rng))])
            case "fetch_url_content":
                url = f"https://docs.example.com/{self.texts.name(rng)}"
                return Call(name, {"url": url}, None, [_item(url, self.texts.prose(rng, rng.randint(5, 80), "en"))])
        return self._command()

    def _command(self) -> Call:
        rng = self.rng
        command = f"{rng.choice(words.COMMANDS)} {self.project.pick(rng)[0]}"
        output = _item("Terminal", self.texts.output(rng, output_size(rng, self.long_share)))
        output["status"] = "Command completed" if rng.random() < 0.85 else "Command failed with exit code 1"
        return Call("run_terminal_command", {"command": command, "waitForCompletion": True}, None, [output])


def _item(name: str, content: str) -> Json:
    return {"name": name, "description": f"What {name} gave", "content": content}


def _tree(project: Project) -> str:
    return "\n".join(sorted(project.files))


def _resolved(project: Project, path: str) -> Json:
    uri = f"{project.uri}/{path}"
    return {"resolvedPath": {"uri": uri, "displayPath": path, "isAbsolute": False, "isWithinWorkspace": True}}


def _read(project: Project, path: str, text: str) -> Call:
    item = _item(path.rpartition("/")[2], text)
    item["uri"] = {"type": "file", "value": f"{project.uri}/{path}"}
    return Call("read_file", {"filepath": path}, _resolved(project, path), [item])


def _write(project: Project, name: str, path: str, text: str) -> Call:
    if name == "edit_existing_file":
        return Call(name, {"filepath": path, "changes": f"# ... existing code ...\n{text}"}, None, None)
    item = _item(path.rpartition("/")[2], "File created successfuly")
    item["uri"] = {"type": "file", "value": f"{project.uri}/{path}"}
    return Call(name, {"filepath": path, "contents": text}, _resolved(project, path), [item])


def _edit(project: Project, path: str, before: str, old: str, new: str) -> Call:
    arguments: Json = {"filepath": path, "edits": [{"old_string": old, "new_string": new}]}
    uri = f"{project.uri}/{path}"
    after = project.files[path]
    processed = arguments | {"fileUri": uri, "editingFileContents": before, "newFileContents": after}
    done = {"name": "Edit Success", "content": f"Successfully edited {uri}", "description": "", "hidden": True}
    return Call("multi_edit", arguments, processed, [done])


def _tool_call(rng: random.Random, call: Call) -> Json:
    arguments = json.dumps(call.arguments, ensure_ascii=rng.random() < 0.3)
    function = {"name": call.name, "arguments": arguments}
    return {"id": f"call_{rng.getrandbits(96):024x}", "type": "function", "function": function}


def _state(call: Call, asked: Json, outcome: str) -> Json:
    """The state of a call that ended in one of the `OUTCOMES`."""

    def problem(name: str, about: str, content: str) -> list[Json]:
        return [{"icon": PROBLEM, "name": name, "description": about, "content": content, "hidden": False}]

    failed = f"{call.name} failed with the message: the file does not exist or cannot be opened. Try another path."
    status, output = {
        "done": ("done", call.output),
        "rejected": ("canceled", problem("Tool Call Rejected", "User skipped the tool call", REJECTED)),
        "blocked": ("errored", problem("Security Policy Violation", "Command Disabled", "This command is disabled.")),
        "failed": ("errored", problem("Tool Call Error", "Tool Call Failed", failed)),
        "invalid": ("errored", problem("Invalid Tool Call", "", f"Tool {call.name} not found")),
    }.get(outcome, (outcome, None))
    state: Json = {"status": status, "toolCall": asked, "toolCallId": asked["id"], "parsedArgs": call.arguments}
    if outcome != "invalid":
        state["tool"] = DEFINITIONS[call.name]
        if call.processed:
            state["processedArgs"] = call.processed
    return state if output is None else state | {"output": output}


def _editor_state(text: str, context: list[Json]) -> Json:
    """A prompt as the editor's document: a paragraph per line, mentions of the files behind the first."""
    lines = [{"type": "paragraph", "content": [{"type": "text", "text": line}] if line else []} for line in text.split("\n")]
    for item in context:
        mention = {"id": item["uri"]["value"], "label": item["name"], "query": item["uri"]["value"], "itemType": "file"}
        lines[0]["content"] += [{"type": "mention", "attrs": mention}, {"type": "text", "text": " "}]
    return {"type": "doc", "content": lines}
