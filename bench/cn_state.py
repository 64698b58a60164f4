"""What `cn` keeps beside its sessions: the prompts that were typed, its log, the rules that were granted.

`input_history.json` has the newest prompts first, each text once; `logs/cn.log` has the host's own time, a process for
each run of the program, and of an error its stack on lines of its own; a rule that the log says was added stands in
`permissions.yaml`.
"""

import json
import random
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bench.cn import TerminalSession
from bench.files import pretty, write

MOST_PROMPTS = 1000
VERBOSE_SHARE = 0.15
RULES = ["Read", "Bash(git*)", "Bash(npm*)", "List", "Search", "Edit", "Write", "Bash(make*)", "Fetch", "create_ticket"]
EXCLUDED = "Exit"
SERVICES = ["auth", "config", "model", "mcp", "systemMessage", "toolPermissions", "fileIndex", "chatHistory", "update"]
STACK = """    at runTool (file:///usr/lib/node_modules/@continuedev/cli/dist/index.js:{}:{})
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)
    at async stream (file:///usr/lib/node_modules/@continuedev/cli/dist/index.js:{}:{})"""
EMPTY_RULES = """# tool permissions
allow: []
ask: []
exclude: []
"""


@dataclass(slots=True)
class TerminalFiles:
    """The program's own files of one home while they are made."""

    rng: random.Random
    runs: list[tuple[int, TerminalSession]] = field(default_factory=list)
    """When a run of the program began (ms), and the session that it made."""
    _lines: list[tuple[int, str]] = field(default_factory=list)
    _process: str = ""

    def add(self, session: TerminalSession, start_ms: int) -> None:
        """Add the run that made a session."""
        self.runs.append((start_ms, session))

    def write(self, folder: Path) -> None:
        """Write the files into the directory of the program's state; none where it was never run."""
        if not self.runs:
            return
        last = max(session.end_ms for _, session in self.runs)
        write(folder / "input_history.json", pretty(self._prompts()), last)
        rules = self.rng.sample(RULES, self.rng.randint(0, 5))
        write(folder / "logs" / "cn.log", self._log(rules, folder), last)
        write(folder / "permissions.yaml", _rules_file(rules).encode(), last)

    def _prompts(self) -> list[dict[str, object]]:
        newest: dict[str, int] = {}
        for moment, text in sorted(line for _, session in self.runs for line in session.typed):
            newest.pop(text, None)
            newest[text] = moment
        found = list(reversed(newest.items()))[:MOST_PROMPTS]
        return [{"text": text, "timestamp": moment} for text, moment in found]

    def _log(self, rules: list[str], folder: Path) -> bytes:
        """The log's bytes: records in order of time, of each run its own process."""
        runs = sorted(self.runs, key=lambda run: run[0])
        granted: defaultdict[int, list[str]] = defaultdict(list)
        for number, rule in enumerate(rules):
            granted[number * len(runs) // len(rules)].append(rule)
        for number, (start, session) in enumerate(runs):
            self._process = f"{self.rng.getrandbits(32):08x}"
            if not number:
                place = _compact({"path": f"/home/{folder.parent.name}/.continue/permissions.yaml"})
                self._add(start, "info", f"Created default permissions.yaml {place}")
            self._run(start, session)
            for rule in granted[number]:
                self._add(session.end_ms, "info", f"Added policy rule to permissions.yaml: {rule}")
        # The host's clock: some whole hours away from UTC.
        away = self.rng.randint(-8, 9) * 3_600_000
        return "".join(f"{_clock(moment + away)} {text}\n" for moment, text in sorted(self._lines)).encode()

    def _run(self, start: int, session: TerminalSession) -> None:
        rng = self.rng
        if rng.random() < VERBOSE_SHARE:
            self._add(start, "debug", "Verbose logging enabled")
            for name in SERVICES:
                self._add(start + 1, "debug", f"Loading service: {name}")
            for moment, tool, arguments in session.calls:
                self._add(moment, "debug", f"Executing tool {_compact({'name': tool, 'arguments': arguments})}")
        if rng.random() < 0.2:
            self._add(start + 2, "info", "Resuming previous session...")
        for moment, tool, error in session.failures:
            self._fail(moment, tool, error)

    def _fail(self, moment: int, tool: str, error: str) -> None:
        """A call's failure: as the tool's error, or as an exception with its stack."""
        if error.startswith(f"Tool {tool} "):
            fields = {"error": {"name": tool, "error": error}}
            self._add(moment, "error", f"Invalid tool call {_compact(fields)}")
        elif self.rng.random() < 0.5:
            fields = {"error": {"name": tool, "error": error}}
            self._add(moment, "error", f"Tool execution failed {_compact(fields)}")
        else:
            stack = STACK.format(*(self.rng.randint(1, 9000) for _ in range(4)))
            message = f"Tool execution failed {_compact({'error': error})}"
            self._add(moment, "error", f"{message}\nError: {error}\n{stack}")

    def _add(self, moment: int, level: str, message: str) -> None:
        self._lines.append((moment, f"[{self._process}] [{level}]: {message}"))


def _compact(fields: Mapping[str, object]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _clock(moment: int) -> str:
    """A time as the log writes it."""
    return f"{datetime.fromtimestamp(moment // 1000, UTC):%Y-%m-%d %H:%M:%S}.{moment % 1000:03}"


def _rules_file(rules: list[str]) -> str:
    """The rules as the program writes them after the last grant; its template where there was none."""
    if not rules:
        return EMPTY_RULES
    allowed = "\n".join(f"  - {rule}" for rule in rules)
    return f"# tool permissions\n\nallow:\n{allowed}\nask: null\nexclude:\n  - {EXCLUDED}\n"
