"""Event files as the editor extension writes them: `dev_data/0.2.0/<eventName>.jsonl`, a compact object a line.

A reply gives a `chatInteraction` with what the model saw and said, a `tokensGenerated`, and a `chatFeedback` where it
was rated; a call that ended gives a `toolUsage` with its tool's parameters and its output.
"""

import random
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

import orjson

from bench.tools import DEFINITIONS, Json

RATED_SHARE = 0.02
COMPLETIONS_PER_SESSION = 4
ENDED = {"done": (True, True), "errored": (False, False), "canceled": (False, True)}
"""Statuses of calls that have an event, with what it says of `accepted` and `succeeded`."""


def exchange(model: tuple[str, str], prompt: str, completion: str) -> Json:
    """What a reply's event says beside the base fields; the session's id comes with its file."""
    title, provider = model
    return {
        "prompt": prompt,
        "completion": completion,
        "modelProvider": provider,
        "modelName": title,
        "modelTitle": title,
    }


def usage(state: Json) -> Json | None:
    """What the event of a call that ended says; null for one that has none: blocked, invalid or without an end."""
    known = "tool" in state and state["status"] in ENDED
    output = state.get("output", [])
    if not known or (output and output[0]["name"] == "Security Policy Violation"):
        return None
    accepted, succeeded = ENDED[state["status"]]
    function = state["toolCall"]["function"]
    return {
        "toolCallId": state["toolCallId"],
        "functionName": function["name"],
        "functionParams": DEFINITIONS[function["name"]]["function"]["parameters"],
        "toolCallArgs": function["arguments"],
        "accepted": accepted,
        "succeeded": succeeded,
        "output": output,
    }


class EventFiles:
    """The event files of one home while they are made."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._lines: defaultdict[str, list[tuple[int, bytes]]] = defaultdict(list)

    def add(self, session: str, found: list[tuple[int, str, Json]]) -> None:
        """Add a session's events: time (ms), name and fields of each."""
        for moment, name, fields in found:
            of_session = {"sessionId": session} if name == "chatInteraction" else {}
            self._line(moment, name, fields | of_session)
            if name == "chatInteraction":
                self._beside(moment, fields | of_session)
        for _ in range(COMPLETIONS_PER_SESSION):
            self._complete(found[0][0] if found else 0)

    def _beside(self, moment: int, fields: Json) -> None:
        tokens = {
            "model": fields["modelName"],
            "provider": fields["modelProvider"],
            "promptTokens": len(fields["prompt"]) // 4,
            "generatedTokens": len(fields["completion"]) // 4,
        }
        self._line(moment, "tokensGenerated", tokens)
        if self.rng.random() < RATED_SHARE:
            self._line(moment + 30_000, "chatFeedback", fields | {"feedback": self.rng.random() < 0.7})

    def _complete(self, moment: int) -> None:
        if not moment:
            return
        fields = {
            "accepted": self.rng.random() < 0.3,
            "time": self.rng.randint(80, 2000),
            "prefix": "def total(items):\n    return sum(",
            "suffix": ")\n",
            "prompt": "<prefix>def total(items):\n    return sum(<suffix>)\n<middle>",
            "completion": "item.price for item in items",
            "modelProvider": "ollama",
            "modelName": "qwen2.5-coder:1.5b",
            "cacheHit": self.rng.random() < 0.1,
            "filepath": "file:///home/user/app/orders.py",
        }
        self._line(moment, "autocomplete", fields)

    def _line(self, moment: int, name: str, fields: Json) -> None:
        base = {
            "timestamp": _iso(moment),
            "userId": "",
            "userAgent": "Visual Studio Code/1.101.2 (Continue/1.3.40)",
            "selectedProfileId": "local",
            "eventName": name,
            "schema": "0.2.0",
        }
        self._lines[name].append((moment, orjson.dumps(base | fields)))

    def files(self, folder: Path) -> dict[Path, bytes]:
        """The files' content by their path below `folder`, lines in order of time."""
        return {
            folder / f"{name}.jsonl": b"".join(line + b"\n" for _, line in sorted(lines))
            for name, lines in sorted(self._lines.items())
        }


def _iso(moment: int) -> str:
    """Text of a time, as JavaScript writes it."""
    return datetime.fromtimestamp(moment / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
