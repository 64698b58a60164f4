"""Calls of the editor extension's tools and the states in which they end."""

import json
import random
from dataclasses import dataclass

from bench import words
from bench.projects import Project, output_size
from bench.texts import Texts
from bench.tools import DEFINITIONS, Json

WEIGHTS = {
    "read_file": 30,
    "run_terminal_command": 26,
    "grep_search": 12,
    "multi_edit": 8,
    "ls": 8,
    "edit_existing_file": 6,
    "create_new_file": 5,
    "file_glob_search": 4,
    "fetch_url_content": 3,
}
"""Tools and how often they are called, in about a hundred."""

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

BLOCKED = "Security Policy Violation"
REJECTED = "The user skipped the tool call.\n" + "Go on without it where you can; else ask what to do.\n" * 3


@dataclass(slots=True)
class Call:
    """A call: its arguments, what the extension adds to them, and the output items of a good end."""

    name: str
    arguments: Json
    processed: Json | None
    output: list[Json] | None


def make_call(rng: random.Random, texts: Texts, project: Project, long_share: float) -> Call:
    """A call of some tool on a project; edits change the project's files."""
    name = rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    match name:
        case "read_file":
            return _read(project, *project.pick(rng))
        case "multi_edit":
            return _edit(project, *project.change(rng, texts))
        case "create_new_file" | "edit_existing_file":
            return _write(project, name, *project.add(rng, texts))
        case "ls":
            arguments = {"dirPath": ".", "recursive": rng.random() < 0.3}
            return Call(name, arguments, _resolved(project, "."), [_item("File/folder list", _tree(project))])
        case "file_glob_search":
            return Call(name, {"pattern": "**/*.py"}, None, [_item("File results", _tree(project))])
        case "grep_search":
            return Call(name, {"query": texts.name(rng)}, None, [_item("Search results", project.search(rng))])
        case "fetch_url_content":
            url = f"https://docs.example.com/{texts.name(rng)}"
            return Call(name, {"url": url}, None, [_item(url, texts.prose(rng, rng.randint(5, 80), "en"))])
    command = f"{rng.choice(words.COMMANDS)} {project.pick(rng)[0]}"
    output = _item("Terminal", texts.output(rng, output_size(rng, long_share)))
    output["status"] = "Command completed" if rng.random() < 0.85 else "Command failed with exit code 1"
    return Call(name, {"command": command, "waitForCompletion": True}, None, [output])


def tool_call(rng: random.Random, call: Call) -> Json:
    """The call as the model wrote it; some models escape what is not ASCII."""
    arguments = json.dumps(call.arguments, ensure_ascii=rng.random() < 0.3)
    function = {"name": call.name, "arguments": arguments}
    return {"id": f"call_{rng.getrandbits(96):024x}", "type": "function", "function": function}


def call_state(call: Call, asked: Json, outcome: str) -> Json:
    """The state of a call that ended in one of the `OUTCOMES`."""
    failed = f"{call.name} failed with the message: the file does not exist or cannot be opened."
    status, output = {
        "done": ("done", call.output),
        "rejected": ("canceled", _problem("Tool Call Rejected", "User skipped the tool call", REJECTED)),
        "blocked": (
            "errored",
            _problem(BLOCKED, "Command Disabled", f"{call.name} is disabled by a policy."),
        ),
        "failed": ("errored", _problem("Tool Call Error", "Tool Call Failed", failed)),
        "invalid": ("errored", _problem("Invalid Tool Call", "", f"Tool {call.name} not found")),
    }.get(outcome, (outcome, None))
    state: Json = {
        "status": status,
        "toolCall": asked,
        "toolCallId": asked["id"],
        "parsedArgs": call.arguments,
    }
    if outcome != "invalid":
        state["tool"] = DEFINITIONS[call.name]
        if call.processed:
            state["processedArgs"] = call.processed
    return state if output is None else state | {"output": output}


def _problem(name: str, about: str, content: str) -> list[Json]:
    return [{"icon": "problems", "name": name, "description": about, "content": content, "hidden": False}]


def _item(name: str, content: str) -> Json:
    return {"name": name, "description": f"What {name} gave", "content": content}


def _tree(project: Project) -> str:
    return "\n".join(sorted(project.files))


def _resolved(project: Project, path: str) -> Json:
    place = {"uri": f"{project.uri}/{path}", "displayPath": path, "isAbsolute": False}
    return {"resolvedPath": place | {"isWithinWorkspace": True}}


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
    uri, after = f"{project.uri}/{path}", project.files[path]
    processed = arguments | {"fileUri": uri, "editingFileContents": before, "newFileContents": after}
    done = {
        "name": "Edit Success",
        "content": f"Successfully edited {uri}",
        "description": "",
        "hidden": True,
    }
    return Call("multi_edit", arguments, processed, [done])
