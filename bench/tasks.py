"""Tasks as PearAI's agent writes them: one talk as the panel showed it, as the model saw it, and its files.

A reply of the model is one text with a call as XML tags in it; the next message of the user's has the result behind a
header that names the tool, and the surroundings. The panel repeats that message in what it says of the request.
"""

import random
from typing import Any

from bench.files import compact as file_of
from bench.projects import Project, new_id
from bench.task_calls import Call, compact, make_call
from bench.texts import Texts
from bench.tools import Json

OUTCOMES = {
    "done": 925,
    "denied": 20,
    "denied with a note": 10,
    "approved with a note": 8,
    "failed": 20,
    "called twice": 7,
    "stopped": 6,
    "left": 4,
}
"""How calls end, and how often in a thousand; `left` is cut off for good while the model writes."""

SKIPPED = "was not executed because a tool has already been used in this message. Use one tool at a time."
NO_CALL = "[ERROR] You did not use a tool in your previous response! Call one, or say that the task is done."
RESUMED = "[TASK RESUMPTION] The task was stopped and goes on now; look at the state of the files before you do."


class AgentTask:
    """One task on a project, made turn by turn; its last message is from `now_ms`."""

    def __init__(self, rng: random.Random, texts: Texts, project: Project, start_ms: int) -> None:
        self.rng, self.texts, self.project = rng, texts, project
        self.task_id, self.now_ms = new_id(rng), start_ms
        self.shown: list[Json] = []
        self.sent: list[Json] = []
        self.touched: list[Json] = []
        self.long_share = 0.0
        self.is_open = True
        self._tokens = {"tokensIn": 0, "tokensOut": 0, "cacheWrites": 0, "cacheReads": 0}
        self._cost = 0.0
        self._checkpoint = ""

    def files(self, messages: int, long_share: float) -> dict[str, bytes]:
        """The files of the task's folder by name, with about a number of messages of the panel."""
        self.long_share = long_share
        waiting = self._begin()
        while self.is_open and len(self.shown) < messages:
            waiting = self._turn(waiting)
        if self.is_open:
            self._finish(waiting)
        files = {"ui_messages.json": file_of(self.shown), "api_conversation_history.json": file_of(self.sent)}
        if self.touched:
            files["task_metadata.json"] = file_of({"files_in_context": self.touched})
        return files

    def entry(self, number: int, size: int) -> Json:
        """The task's entry in the agent's list."""
        totals = self._tokens | {"totalCost": self._cost, "size": size, "workspace": self.project.root}
        return {"id": self.task_id, "number": number, "ts": self.now_ms, "task": self.shown[0]["text"]} | totals

    def _begin(self) -> list[Json]:
        """Say the task; return the parts of the first message."""
        rng = self.rng
        text = self.texts.prose(rng, 1 + int(rng.expovariate(0.5)), self.project.language)
        parts: list[Json] = [_part(f"<task>\n{text}\n</task>")]
        images = [self.texts.image(rng, rng.randint(20_000, 140_000))] if rng.random() < 0.03 else []
        self._show("say", "text", text, images=images)
        for image in images:
            source = {"type": "base64", "media_type": "image/png", "data": image.partition(",")[2]}
            parts.append({"type": "image", "source": source})
        return parts

    def _turn(self, waiting: list[Json]) -> list[Json]:
        """Send what is waiting, and show the reply and what came of its call; return what waits then."""
        rng = self.rng
        outcome = rng.choices(list(OUTCOMES), list(OUTCOMES.values()))[0]
        self._request(waiting, is_stopped=outcome == "stopped")
        thought, said = self._words()
        if outcome == "stopped":
            self._reply(f"{thought}{said}\n\n[Response interrupted by user]")
            return self._resume()
        if said and rng.random() < 0.01:
            self._reply(f"{thought}{said}")
            return [_part(NO_CALL)]
        call = make_call(rng, self.texts, self.project, self.long_share)
        if call.ask == "followup":
            outcome = "done"  # a question is answered, not allowed
        self._ask(call, is_partial=outcome == "left")
        if outcome == "left":
            self.is_open = False
            self._reply(f"{thought}{said}\n\n{call.xml()[: -len(call.tool) - 8]}")
            return []
        again = f"\n\n{call.xml()}" if outcome == "called twice" else ""
        self._reply(f"{thought}{said}\n\n{call.xml()}{again}")
        parts = self._end(call, outcome)
        return [*parts, _part(f"Tool [{call.tool}] {SKIPPED}")] if again else parts

    def _words(self) -> tuple[str, str]:
        """What the model thinks and says before its call, as it stands in its reply; both are shown."""
        rng = self.rng
        if rng.random() < 0.15:
            self._show("say", "reasoning", self.texts.prose(rng, rng.randint(2, 12), "en"))
        thought = self.texts.prose(rng, rng.randint(1, 4), "en") if rng.random() < 0.3 else ""
        said = self.texts.prose(rng, rng.randint(1, 4), self.project.language) if rng.random() < 0.6 else ""
        if thought or said:
            self._show("say", "text", f"{thought}\n\n{said}".strip(), partial=False)
        return (f"<thinking>\n{thought}\n</thinking>\n\n" if thought else ""), said

    def _ask(self, call: Call, *, is_partial: bool) -> None:
        self._show("ask", call.ask, call.shown, partial=is_partial)

    def _end(self, call: Call, outcome: str) -> list[Json]:
        """Show what came of a call; return the parts that tell the model."""
        header = _part(call.header)
        note = self.texts.title(self.rng, self.project.language)
        feedback = f"<feedback>\n{note}\n</feedback>"
        match outcome:
            case "denied":
                return [header, _part("The user denied this operation.")]
            case "denied with a note":
                self._show("say", "user_feedback", note, images=[])
                said = f"The user denied this operation and provided the following feedback:\n{feedback}"
                return [header, _part(said)]
            case "failed":
                error = f"Error executing {call.tool}: ENOENT: no such file or directory, open '{self.project.root}/x'"
                self._show("say", "error", error)
                said = f"The tool execution failed with the following error:\n<error>\n{error}\n</error>"
                return [header, _part(said)]
        approval: list[Json] = []
        if outcome == "approved with a note":
            self._show("say", "user_feedback", note, images=[])
            said = f"The user approved this operation and provided the following context:\n{feedback}"
            approval = [header, _part(said)]
        for kind, text in call.said:
            self._show("say", kind, text)
        if call.touches:
            self._touch(*call.touches)
        return [*approval, header, _part(call.result)]

    def _resume(self) -> list[Json]:
        self.now_ms += self.rng.randint(60_000, 86_400_000)
        self._show("ask", "resume_task", None)
        text = self.texts.prose(self.rng, 1, self.project.language)
        self._show("say", "user_feedback", text, images=[])
        return [_part(f"{RESUMED}\n\n<user_message>\n{text}\n</user_message>")]

    def _finish(self, waiting: list[Json]) -> None:
        """Let the model say that the task is done, unless the user has lost interest."""
        self._request(waiting, is_stopped=False)
        if self.rng.random() < 0.1:
            return
        text = self.texts.reply(self.rng, self.project.language)
        self._show("say", "completion_result", text, partial=False)
        self._reply(f"<attempt_completion>\n<result>\n{text}\n</result>\n</attempt_completion>")
        self._show("ask", "completion_result", "", partial=False)

    def _request(self, parts: list[Json], *, is_stopped: bool) -> None:
        """Send parts and the surroundings to the model, and show what that took."""
        rng = self.rng
        parts = [*parts, _part(self._surroundings())]
        texts = [part["text"] if part["type"] == "text" else "[Image]" for part in parts]
        used = dict(zip(self._tokens, (rng.randint(10, 4000), rng.randint(20, 900), 0, 0), strict=True))
        if rng.random() < 0.7:
            used |= {"cacheWrites": rng.randint(0, 3000), "cacheReads": rng.randint(5000, 90_000)}
        # An amount that binary fractions hold, so that sums of it are the same in any order.
        cost = rng.randint(1, 400) / 4096
        said = {"request": "\n\n".join(texts)} | used | {"cost": cost}
        if is_stopped:
            said["cancelReason"] = "user_cancelled"
        self._tokens = {name: total + used[name] for name, total in self._tokens.items()}
        self._cost += cost
        self._show("say", "api_req_started", compact(said), conversationHistoryIndex=len(self.sent) - 1)
        self._send("user", parts)
        self.now_ms += rng.randint(1000, 20_000)

    def _reply(self, text: str) -> None:
        self._send("assistant", [_part(text.strip())])

    def _surroundings(self) -> str:
        """The environment details; the first ones name the workspace and its files."""
        seen = self.project.pick(self.rng)[0]
        parts = [
            f"# VSCode Visible Files\n{seen}",
            f"# VSCode Open Tabs\n{seen}",
            f"# Current Cost\n${self._cost:.2f}",
            "# Current Mode\n<slug>code</slug>\n<name>Code</name>\n<model>pearai-model</model>\n",
        ]
        if not self.sent:
            tree = "\n".join(sorted(self.project.files))
            parts.append(f"# Current Workspace Directory ({self.project.root}) Files\n{tree}")
        return "<environment_details>\n" + "\n\n".join(parts) + "\n</environment_details>"

    def _touch(self, path: str, source: str) -> None:
        """Note that the agent read or changed a file; the file's earlier dates are repeated."""
        dates: Json = {"roo_read_date": None, "roo_edit_date": None, "user_edit_date": None}
        for entry in self.touched:
            if entry["path"] == path:
                entry["record_state"] = "stale"
                dates = {name: entry[name] for name in dates}
        now = {"roo_read_date": self.now_ms}
        if source == "roo_edited":
            now["roo_edit_date"] = self.now_ms
            self._save_checkpoint()
        entry = {"path": path, "record_state": "active", "record_source": source}
        self.touched.append(entry | dates | now)

    def _save_checkpoint(self) -> None:
        before, self._checkpoint = self._checkpoint, f"{self.rng.getrandbits(160):040x}"
        moved = {"isFirst": not before, "from": before or self._checkpoint, "to": self._checkpoint}
        self._show("say", "checkpoint_saved", self._checkpoint, checkpoint=moved)

    def _show(self, kind: str, name: str, text: str | None, **more: Any) -> None:
        self.now_ms += self.rng.randint(5, 3000)
        said = {} if text is None else {"text": text}
        self.shown.append({"ts": self.now_ms, "type": kind, kind: name} | said | more)

    def _send(self, role: str, parts: list[Json]) -> None:
        self.now_ms += 3
        self.sent.append({"role": role, "content": parts, "ts": self.now_ms})


def _part(text: str) -> Json:
    return {"type": "text", "text": text}
