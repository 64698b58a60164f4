"""Sessions as the command line program `cn` writes them.

There are no `tool` messages (a result is in its call's state alone), a prompt is copied into `editorState` as
text, tokens and model of a reply stand in `message.usage`, and a compaction replaces earlier items by one. Beside
the session the program keeps the prompts of all sessions, and logs what went wrong.
"""

import json
import random

from bench import words
from bench.projects import Project, new_id, output_size
from bench.texts import Texts
from bench.tools import Json

MODELS = ["gpt-4.1", "claude-sonnet-4-5", "gpt-4.1-mini", "qwen3-coder"]
TOOLS = {
    "Read": 28,
    "Bash": 34,
    "Edit": 12,
    "MultiEdit": 4,
    "Write": 6,
    "List": 6,
    "Search": 8,
    "Fetch": 3,
    "Checklist": 4,
}
"""Tools and how often they are called, in about a hundred."""

OUTCOMES = {"done": 930, "denied": 15, "blocked": 10, "errored": 30, "unknown": 5, "calling": 10}
"""How calls end, and how often in a thousand."""

DENIED = "Permission denied by user"
BLOCKED = "Command blocked by security policy"


class TerminalSession:
    """One session of `cn` on a project, made turn by turn; its last save is at `end_ms`."""

    def __init__(self, rng: random.Random, texts: Texts, project: Project, start_ms: int) -> None:
        self.rng, self.texts, self.project = rng, texts, project
        self.end_ms = start_ms
        self.history: list[Json] = []
        self.typed: list[tuple[int, str]] = []
        """What was typed, with its time (ms): prompts, commands of the shell behind `!`, commands behind `/`."""
        self.calls: list[tuple[int, str, Json]] = []
        """Calls that were made: time (ms), tool, arguments."""
        self.failures: list[tuple[int, str, str]] = []
        """Calls that failed: time (ms), tool, what the program says of it."""
        self.model = rng.choice(MODELS)
        self.long_share = 0.0
        self._has_usage = rng.random() < 0.9
        self._prompt_tokens, self._completion_tokens, self._cents = 0, 0, 0

    def document(self, items: int, long_share: float) -> Json:
        """The session file's content, with about a number of items and a share of long outputs."""
        self.long_share = long_share
        if self.rng.random() < 0.06:
            self._compact()
        while len(self.history) < items:
            self._turn()
        session: Json = {
            "sessionId": new_id(self.rng),
            "title": self._title(),
            "workspaceDirectory": self.project.root,
            "history": self.history,
        }
        if self._has_usage:
            session["usage"] = {
                "totalCost": self._cents / 100 + 0.00016,
                "promptTokens": self._prompt_tokens,
                "completionTokens": self._completion_tokens,
                "promptTokensDetails": {"cachedTokens": self._prompt_tokens // 2, "cacheWriteTokens": 0},
            }
        return session

    def _title(self) -> str:
        if self.rng.random() < 0.3:
            return "Untitled Session"
        return self.texts.title(self.rng, self.project.language)

    def _compact(self) -> None:
        for _ in range(3):
            self.typed.append((self.end_ms, self._prompt()))
            self.end_ms += self.rng.randint(15_000, 600_000)
        self.typed.append((self.end_ms, "/compact"))
        text = f"## Summary\n\n{self.texts.reply(self.rng, self.project.language)}"
        message = {"role": "assistant", "content": text}
        self.history.append({"message": message, "contextItems": [], "conversationSummary": text})

    def _turn(self) -> None:
        rng, language = self.rng, self.project.language
        self.end_ms += rng.randint(15_000, 600_000)
        if rng.random() < 0.04:
            self._typed_command()
            return
        if rng.random() < 0.02:
            self.model = rng.choice(MODELS)
        text = self._prompt()
        self.typed.append((self.end_ms, text))
        self.history.append({"message": {"role": "user", "content": text}, "contextItems": [], "editorState": text})
        for _ in range(int(rng.expovariate(0.2))):
            if not self._act():
                return
        self._say(self.texts.reply(rng, language), [])

    def _prompt(self) -> str:
        text = self.texts.prose(self.rng, 1 + int(self.rng.expovariate(0.8)), self.project.language)
        if self.rng.random() < 0.06:
            text += "\n\n" + self.texts.output(self.rng, int(self.rng.lognormvariate(7, 1)))
        return text

    def _typed_command(self) -> None:
        """A command that the user typed behind `!`: an assistant item with a call and no prompt."""
        rng = self.rng
        arguments, output = self._command()
        self.typed.append((self.end_ms, f"!{arguments['command']}"))
        call_id = f"shell-{self.end_ms}-{rng.getrandbits(40):010x}"
        self.history.append(_item({"role": "assistant", "content": ""}, [_state(call_id, "Bash", arguments, output)]))

    def _act(self) -> bool:
        """An assistant item with calls; whether the turn goes on."""
        rng = self.rng
        said = self.texts.prose(rng, rng.randint(1, 4), self.project.language) if rng.random() < 0.4 else ""
        first, outcome = rng.getrandbits(32), "done"
        states = []
        for number in range(rng.choice([1, 1, 1, 2, 3])):
            name = rng.choices(list(TOOLS), list(TOOLS.values()))[0]
            arguments, output = self._call(name)
            outcome = rng.choices(list(OUTCOMES), list(OUTCOMES.values()))[0]
            states.append(_state(f"call_{first:08x}_{number}", name, arguments, output, outcome))
            moment = self.end_ms + 1 + len(self.history) * 10
            if outcome != "unknown":
                self.calls.append((moment, name, arguments))
            if outcome in ("errored", "unknown"):
                self.failures.append((moment, name, states[-1]["output"][0]["content"]))
        self._say(said, states)
        return outcome != "calling"

    def _say(self, text: str, states: list[Json]) -> None:
        rng = self.rng
        message: Json = {"role": "assistant", "content": text}
        if states:
            message["toolCalls"] = [state["toolCall"] for state in states]
        if self._has_usage:
            prompt, completion = rng.randint(300, 90_000), 8 + len(text) // 4
            cents = (prompt * 2 + completion * 8) // 10_000
            usage: Json = {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
            }
            if rng.random() < 0.5:
                usage["prompt_tokens_details"] = {
                    "cached_tokens": prompt // 2,
                    "cache_read_tokens": prompt // 2,
                }
            message["usage"] = usage | {"model": self.model, "cost_cents": cents}
            self._prompt_tokens += prompt
            self._completion_tokens += completion
            self._cents += cents
        self.history.append(_item(message, states))

    def _call(self, name: str) -> tuple[Json, str]:
        """Arguments of a call of a tool, and what it returns when all goes well."""
        rng, project, texts = self.rng, self.project, self.texts
        match name:
            case "Read":
                path, text = project.pick(rng)
                return {"filepath": path}, f"Content of {path}:\n{text}"
            case "Write":
                path, text = project.add(rng, texts)
                return {"filepath": path, "content": text}, f"Successfully created file: {path}"
            case "Edit" | "MultiEdit":
                return self._edit(name)
            case "List":
                lines = [f"{path} (file, {len(text)} bytes)" for path, text in sorted(project.files.items())]
                return {"dirpath": "."}, f"Files in {project.root}:\n" + "\n".join(lines)
            case "Search":
                pattern = texts.name(rng)
                return {
                    "pattern": pattern,
                    "path": ".",
                }, f'Search results for pattern "{pattern}":\n\n{project.search(rng)}\n'
            case "Fetch":
                url = f"https://docs.example.com/{texts.name(rng)}"
                return {"url": url}, texts.prose(rng, rng.randint(5, 80), "en")
            case "Checklist":
                steps = "\n".join(f"- [{rng.choice('x ')}] {texts.title(rng, project.language)}" for _ in range(4))
                return {"checklist": steps}, f"Task list status:\n{steps}"
        return self._command()

    def _command(self) -> tuple[Json, str]:
        command = f"{self.rng.choice(words.COMMANDS)} {self.project.pick(self.rng)[0]}"
        output = self.texts.output(self.rng, output_size(self.rng, self.long_share))
        if self.rng.random() < 0.01:
            output = f"(previous {len(output)} lines truncated)\n\n{output}"
        return {"command": command}, output

    def _edit(self, name: str) -> tuple[Json, str]:
        path, before, old, new = self.project.change(self.rng, self.texts)
        change = {"old_string": old, "new_string": new}
        arguments: Json = {"file_path": f"{self.project.root}/{path}"}
        arguments |= {"edits": [change]} if name == "MultiEdit" else change
        lines = [*("-" + line for line in old.split("\n")), *("+" + line for line in new.split("\n"))]
        place = f"@@ -{before[: before.find(old)].count(chr(10)) + 1} @@"
        return arguments, "\n".join([f"Successfully edited {arguments['file_path']}", "Diff:", place, *lines])


def _item(message: Json, states: list[Json]) -> Json:
    item = {"message": message, "contextItems": []}
    return item | {"toolCallStates": states} if states else item


def _state(call_id: str, name: str, arguments: Json, output: str, outcome: str = "done") -> Json:
    """The state of a call that ended in one of the `OUTCOMES`."""
    text = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}
    status, content = {
        "denied": ("canceled", DENIED),
        "blocked": ("canceled", BLOCKED),
        "errored": ("errored", f"Error executing tool {name}: Error (exit code 1): {output[:200]}"),
        "unknown": ("errored", f"Tool {name} not found"),
        "calling": ("calling", output[: len(output) // 2]),
    }.get(outcome, ("done", output))
    state: Json = {"toolCallId": call_id, "toolCall": call, "status": status, "parsedArgs": arguments}
    if status == "calling" and len(output) % 2:
        return state
    result = {"content": content, "name": "Tool Result", "description": "Tool execution result"}
    return state | {"output": [result]}
