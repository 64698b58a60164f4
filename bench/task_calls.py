"""Calls of the tools of PearAI's agent: what the model writes, what the panel shows of it, what the tool gives back."""

import json
import random
from dataclasses import dataclass, field

from bench import words
from bench.projects import Project, output_size
from bench.texts import Texts
from bench.tools import Json

WEIGHTS = {
    "read_file": 30,
    "execute_command": 26,
    "apply_diff": 10,
    "write_to_file": 6,
    "search_files": 8,
    "list_files": 6,
    "insert_content": 2,
    "search_and_replace": 2,
    "use_mcp_tool": 4,
    "ask_followup_question": 3,
    "browser_action": 1,
    "switch_mode": 2,
}
"""Tools and how often they are called, in about a hundred."""


@dataclass(slots=True)
class Call:
    """A call: its parameters, what the panel asks about it, and what comes of it when all goes well."""

    tool: str
    parameters: dict[str, str]
    ask: str
    shown: str
    """Text of the panel's question: JSON but for a command or an address."""
    label: str
    """What stands behind the tool's name in front of its result: its main argument."""
    result: str
    said: list[tuple[str, str | None]] = field(default_factory=list)
    """Kinds and texts of what the panel says while the tool runs."""
    touches: tuple[str, str] | None = None
    """Path and source of the entry that the tool adds to the task's files."""

    @property
    def header(self) -> str:
        """What stands in front of the result."""
        return f"[{self.tool}{self.label}] Result:"

    def xml(self) -> str:
        """The call as the model writes it."""
        lines = [
            f"<{name}>\n{value}\n</{name}>" if "\n" in value else f"<{name}>{value}</{name}>"
            for name, value in self.parameters.items()
        ]
        return "\n".join([f"<{self.tool}>", *lines, f"</{self.tool}>"])


def compact(value: Json) -> str:
    """JSON inside a text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def make_call(rng: random.Random, texts: Texts, project: Project, long_share: float) -> Call:
    """A call of some tool on a project; edits change the project's files."""
    tool = rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    match tool:
        case "read_file":
            return _read(project, *project.pick(rng))
        case "execute_command":
            command = f"{rng.choice(words.COMMANDS)} {project.pick(rng)[0]}"
            return _command(rng, project, command, texts.output(rng, output_size(rng, long_share)))
        case "apply_diff" | "search_and_replace":
            return _change(tool, *project.change(rng, texts))
        case "write_to_file" | "insert_content":
            return _add(tool, project, *project.add(rng, texts))
        case "search_files":
            return _search(texts.name(rng), project.search(rng))
        case "list_files":
            return _list(project, is_recursive=rng.random() < 0.3)
        case "use_mcp_tool":
            return _served(texts.title(rng, project.language), texts.prose(rng, rng.randint(1, 40), "en"))
        case "ask_followup_question":
            question, *answers = (texts.title(rng, project.language) for _ in range(4))
            return _question(f"{question}?", answers, rng.choice(answers))
        case "browser_action":
            return _browse(texts.image(rng, rng.randint(20_000, 140_000)))
    mode, reason = rng.choice(["ask", "architect", "debug"]), texts.title(rng, "en")
    parameters = {"mode_slug": mode, "reason": reason}
    shown = compact({"tool": "switchMode", "mode": mode, "reason": reason})
    return Call(tool, parameters, "tool", shown, f" to '{mode}' because: {reason}", f"Switched to {mode} mode.")


def _read(project: Project, path: str, text: str) -> Call:
    shown = {"tool": "readFile", "path": path, "isOutsideWorkspace": False, "content": f"{project.root}/{path}"}
    lines = text.split("\n")
    numbered = "\n".join(f"{number} | {line}" for number, line in enumerate(lines, 1))
    result = f'<file><path>{path}</path>\n<content lines="1-{len(lines)}">\n{numbered}</content>\n</file>'
    touches = (path, "read_tool")
    return Call("read_file", {"path": path}, "tool", compact(shown), f" for '{path}'", result, touches=touches)


def _command(rng: random.Random, project: Project, command: str, output: str) -> Call:
    code = 0 if rng.random() < 0.85 else 1
    where = f"Command executed in terminal  within working directory '{project.root}'."
    result = f"{where} Exit code: {code}\nOutput:\n{output}"
    said: list[tuple[str, str | None]] = [("command_output", output)]
    label = f" for '{command}'"
    return Call("execute_command", {"command": command}, "command", command, label, result, said)


def _change(tool: str, path: str, before: str, old: str, new: str) -> Call:
    label, touches, start = f" for '{path}'", (path, "roo_edited"), before[: before.find(old)].count("\n") + 1
    if tool == "apply_diff":
        diff = f"<<<<<<< SEARCH\n:start_line:{start}\n-------\n{old}\n=======\n{new}\n>>>>>>> REPLACE"
        shown = compact({"tool": "appliedDiff", "path": path, "diff": diff})
        result = f"Changes successfully applied to {path}:\n\n"
        return Call(tool, {"path": path, "diff": diff}, "tool", shown, label, result, touches=touches)
    parameters = {"path": path, "search": old, "replace": new}
    shown = compact({"tool": "searchAndReplace"} | parameters | {"useRegex": False, "ignoreCase": False})
    return Call(tool, parameters, "tool", shown, label, f"Changed {path}.", touches=touches)


def _add(tool: str, project: Project, path: str, text: str) -> Call:
    label, touches = f" for '{path}'", (path, "roo_edited")
    result = f"The content was successfully saved to {path}."
    if tool == "insert_content":
        shown = compact({"tool": "insertContent", "path": path, "diff": text, "lineNumber": 0})
        parameters = {"path": path, "line": "0", "content": text}
        return Call(tool, parameters, "tool", shown, label, result, touches=touches)
    shown = compact({"tool": "newFileCreated", "path": path, "isOutsideWorkspace": False, "content": text})
    parameters = {"path": path, "content": text, "line_count": str(text.count("\n") + 1)}
    return Call(tool, parameters, "tool", shown, label, result, touches=touches)


def _search(name: str, found: str) -> Call:
    parameters = {"path": ".", "regex": name, "file_pattern": "*.py"}
    shown = {"tool": "searchFiles", "path": "", "regex": name, "filePattern": "*.py", "content": found}
    return Call("search_files", parameters, "tool", compact(shown), f" for '{name}' in '*.py'", found)


def _list(project: Project, *, is_recursive: bool) -> Call:
    tree = "\n".join(sorted(project.files))
    shown = {"tool": "listFilesRecursive" if is_recursive else "listFilesTopLevel", "path": "", "content": tree}
    parameters = {"path": ".", "recursive": "true" if is_recursive else "false"}
    return Call("list_files", parameters, "tool", compact(shown), " for '.'", tree)


def _served(title: str, answer: str) -> Call:
    arguments = compact({"title": title})
    parameters = {"server_name": "tickets", "tool_name": "create_ticket", "arguments": arguments}
    shown = {"type": "use_mcp_tool", "serverName": "tickets", "toolName": "create_ticket", "arguments": arguments}
    said = [("mcp_server_request_started", None), ("mcp_server_response", answer)]
    return Call("use_mcp_tool", parameters, "use_mcp_server", compact(shown), " for 'tickets'", answer, said)


def _question(question: str, answers: list[str], answer: str) -> Call:
    options = "\n".join(f"<suggest>{each}</suggest>" for each in answers)
    shown = compact({"question": question, "suggest": [{"answer": each} for each in answers]})
    parameters = {"question": question, "follow_up": options}
    result, said = f"<answer>\n{answer}\n</answer>", [("user_feedback", answer)]
    return Call("ask_followup_question", parameters, "followup", shown, f" for '{question}'", result, [*said])


def _browse(picture: str) -> Call:
    url = "http://localhost:3000"
    seen = compact({"screenshot": picture, "logs": "", "currentUrl": url})
    said: list[tuple[str, str | None]] = [("browser_action_result", ""), ("browser_action_result", seen)]
    result = "The browser action has been executed.\n\nConsole logs:\n(No new logs)"
    parameters = {"action": "launch", "url": url}
    return Call("browser_action", parameters, "browser_action_launch", url, " for 'launch'", result, said)
