"""Homes with a marker in every text, path and id that a lake keeps."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.made import MadeHome, call, exchange, reply, usage, user
from tests.made_pear import LOG, MadePear, completion, replied, request, say, sent

MARK = "zqxmark"


def marked_homes(root: Path) -> Path:
    """Write a home of each assistant; every text in them holds `MARK`."""
    homes = root / MARK / "home"
    _continue(MadeHome(homes / "alice"))
    _pearai(MadePear(homes / "bob"))
    return root


def _continue(home: MadeHome) -> None:
    words = [f"{MARK} {number}" for number in range(8)]
    context = {
        "id": {"providerTitle": "file", "itemId": "i"},
        "name": f"{MARK}.py",
        "description": f"src/{MARK}.py",
        "content": words[0],
        "uri": {"type": "file", "value": f"file:///w/{MARK}.py"},
    }
    edit = json.dumps({"filepath": f"/w/{MARK}.py", "old_string": words[1], "new_string": words[2]})
    calls = (
        call(f"call_{MARK}", json.dumps({"command": f"echo {MARK}"}), name="Bash", output=words[3]),
        call(f"edit_{MARK}", edit, name="Edit", output=None),
        call(f"none_{MARK}", "{}", name="Read", status="canceled", output=words[4]),
    )
    asked = user(words[5]) | {"contextItems": [context]}
    thought = {"message": {"role": "thinking", "content": words[6]}, "contextItems": []}
    talk = (asked, thought, reply(words[7], *calls, prompt=words[5]))
    home.session(f"s-{MARK}", *talk, title=f"Title {MARK}", workspaceDirectory=f"file:///srv/{MARK}", sessionId=MARK)
    home.file(f"sessions/cut-{MARK}.json", f'{{"sessionId": "c", "history": [{{"message": {{"content": "{MARK}')
    home.events("toolUsage", usage(20, f"call_{MARK}", json.dumps({"command": f"echo {MARK}"}), name="Bash"))
    home.events(
        "chatInteraction", exchange(10, words[5], words[7], session=MARK), exchange(30, MARK, MARK, session=f"g-{MARK}")
    )
    offered = {
        "prompt": MARK,
        "completion": MARK,
        "modelName": "m",
        "accepted": True,
        "filepath": f"file:///w/{MARK}.py",
    }
    home.events("autocomplete", {"timestamp": "2026-09-15T08:30:00Z", "userId": MARK, **offered})
    home.history((words[5], 1), (f"typed {MARK}", 2))
    home.file(
        "permissions.yaml", f"allow:\n  - Bash(echo {MARK}*)\n  - Read\nask: []\nexclude:\n  - {MARK} is no tool\n"
    )
    home.file("logs/cn.log", f"2026-09-15 10:00:00.000 [aaaa0001] [error]: failed {MARK}\nTAIL {MARK}\n")
    home.file(f"notes-{MARK}.txt", MARK)


def _pearai(home: MadePear) -> None:
    words = [f"{MARK} {number}" for number in range(10, 16)]
    home.chat(f"p-{MARK}", user(words[0]), reply(words[1]), created=1_789_461_000_000, title=f"{MARK} chat")
    task = f"t-{MARK}"
    asked = f"<task>{words[2]}</task>"
    tool = f"<execute_command><command>ls {MARK}</command></execute_command>"
    home.ui(task, say(0, "text", words[2]), say(1, "text", words[3]), say(2, "error", words[4]))
    home.api(task, sent(0, asked), replied(1, f"{words[3]} {tool}"), sent(2, f"[execute_command] Result: {words[5]}"))
    listed = {"id": task, "number": 1, "ts": 1_789_461_000_000, "task": words[2], "tokensIn": 5, "tokensOut": 6}
    state = {"taskHistory": [listed], "allowedCommands": [f"npm {MARK}"], "alwaysAllowExecute": False}
    home.listed()
    place = home.path / ".config/PearAI/User/globalStorage/state.vscdb"
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("insert into ItemTable values ('pearai.pearai-roo-cline', ?)", (json.dumps(state),))
        connection.commit()
    home.file(LOG, request(f"log {MARK}", model="m", apiKey=MARK) + completion(f"said {MARK}"))
