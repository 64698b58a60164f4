"""A generated home: what belongs to all of it, and the part that Continue writes.

`.continue/` has `sessions/*.json` (two-space pretty print, no final line feed), the editor's event files
`dev_data/0.2.0/*.jsonl`, the index `sessions/sessions.json`, `config.yaml` and, where `cn` was used, its own files.
"""

import math
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from bench.cn import TerminalSession
from bench.cn_state import TerminalFiles
from bench.events import EventFiles
from bench.files import DAMAGE, damaged, pretty, write
from bench.projects import Project, make_project, new_id
from bench.sizes import FIRST_MS, LAST_MS, SPAN_MS, Made, Sizes
from bench.texts import Texts
from bench.tools import Json
from bench.vscode import EditorSession

COUNTS_SINCE_MS = FIRST_MS + SPAN_MS // 2
"""Index entries state `messageCount` from here on."""

CONFIG = """name: Local Config
version: 1.0.0
schema: v1
models:
  - name: GPT 4.1
    provider: openai
    model: gpt-4.1
"""


@dataclass(slots=True)
class Home:
    """A home directory while it is written, below `path`; counts go into `made`."""

    path: Path
    sizes: Sizes
    texts: Texts
    made: Made
    rng: random.Random = field(init=False)
    projects: list[Project] = field(init=False)

    def __post_init__(self) -> None:
        self.rng = self.seeded("home")
        home, share = f"/home/{self.path.name}", self.sizes.foreign_share
        self.projects = [make_project(self.rng, self.texts, home, share) for _ in range(self.rng.randint(2, 6))]

    def seeded(self, purpose: str) -> random.Random:
        """Random numbers for one purpose in this home."""
        return random.Random(f"{purpose} {self.path.name} {self.sizes.seed}")

    def items(self, rng: random.Random, room: float) -> int:
        """How many items a session gets that has room for some bytes."""
        items = rng.lognormvariate(math.log(self.sizes.items) - 0.4, 0.9)
        return int(min(items, 10 * self.sizes.items, room / 6000)) + 1

    def save(self, path: Path, data: bytes, modified_ms: int, rng: random.Random) -> str | None:
        """Write a session file, whole or damaged; return the kind of damage."""
        damage = rng.choice(DAMAGE) if rng.random() < self.sizes.damage_share else None
        if damage:
            self.made.damaged[path] = damage
            data = damaged(data, damage, rng)
        write(path, data, modified_ms)
        self.made.files += 1
        self.made.size += len(data)
        return damage

    def save_events(self, files: dict[Path, bytes]) -> None:
        """Write event files, if there are to be any."""
        for path, data in files.items() if self.sizes.events else ():
            write(path, data, LAST_MS)
            self.made.event_bytes += len(data)


class ContinueFiles:
    """What Continue writes into a home."""

    def __init__(self, home: Home) -> None:
        self.home, self.rng = home, home.rng
        self.folder = home.path / ".continue"
        self.entries: list[Json] = []
        self.events = EventFiles(home.seeded("events"))
        self.terminal = TerminalFiles(home.seeded("terminal"))

    def write(self, share: float) -> None:
        """Write session files of about `share` bytes, and the files beside them."""
        made, count = self.home.made, 0
        start = made.size
        while (left := start + share - made.size) > 0:
            self._session(left)
            count += 1
            if count == self.home.sizes.sessions:
                break
        write(self.folder / "sessions" / "sessions.json", pretty(index(self.rng, self.entries)), LAST_MS)
        write(self.folder / "config.yaml", CONFIG.encode(), FIRST_MS)
        self.terminal.write(self.folder)
        self.home.save_events(self.events.files(self.folder / "dev_data" / "0.2.0"))

    def _session(self, room: float) -> None:
        rng, sizes = self.rng, self.home.sizes
        start = FIRST_MS + rng.randrange(SPAN_MS)
        project: Project = rng.choice(self.home.projects)
        kind = TerminalSession if rng.random() < sizes.terminal_share else EditorSession
        session = kind(rng, self.home.texts, project, start)
        document = session.document(self.home.items(rng, room), sizes.long_share)
        path = self.folder / "sessions" / f"{document['sessionId']}.json"
        damage = self.home.save(path, pretty(document), session.end_ms, rng)
        self.home.made.items += len(document["history"])
        if isinstance(session, EditorSession):
            self.events.add(document["sessionId"], session.events)
        else:
            self.terminal.add(session, start)
        if rng.random() > (0.5 if damage == "cut" else 0.01):
            self._list(document, start)

    def _list(self, document: Json, start: int) -> None:
        entry = entry_of(document, start)
        if start >= COUNTS_SINCE_MS:
            roles = Counter(item["message"]["role"] for item in document["history"])
            entry["messageCount"] = roles["assistant"]
        self.entries.append(entry)


def entry_of(document: Json, start: int) -> Json:
    """A session's entry in an index."""
    return {
        "sessionId": document["sessionId"],
        "title": document["title"],
        "dateCreated": str(start),
        "workspaceDirectory": document["workspaceDirectory"],
    }


def index(rng: random.Random, entries: list[Json]) -> list[Json]:
    """The entries in order of creation, with one in fifty of a session that was deleted since."""
    deleted = []
    for entry in rng.sample(entries, (len(entries) + 49) // 50):
        later = str(int(entry["dateCreated"]) + rng.randrange(10**9))
        deleted.append(entry | {"sessionId": new_id(rng), "dateCreated": later})
    return sorted([*entries, *deleted], key=lambda entry: int(entry["dateCreated"]))
