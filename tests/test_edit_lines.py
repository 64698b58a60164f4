"""Lines that edits added and removed in the real homes, against what the programs' own diffs and file contents say."""

import difflib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.lake import Lake

Json = dict[str, Any]


def _states(homes: Path) -> Iterator[tuple[str, Json]]:
    """User and state of every finished call in the session files, by the standard library alone."""
    for path in sorted(homes.glob("*/.continue/sessions/*.json")):
        try:
            document = json.loads(path.read_bytes())
        except ValueError:
            continue
        history = document.get("history", []) if isinstance(document, dict) else []
        for item in history:
            for state in item.get("toolCallStates") or ():
                if state.get("status") == "done":
                    yield path.parts[-4], state


def _changed(diff: list[str]) -> tuple[int, int]:
    """Lines that a unified diff adds and removes."""
    body = [line for line in diff if not line.startswith(("+++", "---"))]
    return sum(line.startswith("+") for line in body), sum(line.startswith("-") for line in body)


def _own_diff(state: Json) -> tuple[int, int] | None:
    """What the program says of a call that had both sides: its diff, else the file before and after."""
    arguments = state.get("parsedArgs")
    if not isinstance(arguments, dict) or not (arguments.get("edits") or "old_string" in arguments):
        return None
    output = "\n".join(str(one.get("content")) for one in state.get("output") or ())
    if "\nDiff:\n" in output:
        return _changed(output.partition("\nDiff:\n")[2].splitlines())
    contents = state.get("processedArgs") or {}
    sides = [contents.get(name) for name in ("editingFileContents", "newFileContents")]
    if all(isinstance(side, str) for side in sides):
        before, after = (str(side).splitlines() for side in sides)
        return _changed(list(difflib.unified_diff(before, after, lineterm="")))
    return None


def test_lines_of_edits_are_those_of_the_programs_own_diffs(corpus: Path, corpus_lake: Lake) -> None:
    added, removed, ids = Counter[str](), Counter[str](), dict[str, list[str]]()
    for user, state in _states(corpus):
        found = _own_diff(state)
        if found is not None:
            added[user] += found[0]
            removed[user] += found[1]
            ids.setdefault(user, []).append(state["toolCallId"])

    counted = {
        user: corpus_lake.row(
            "select sum(lines_added), sum(lines_removed) from tool_calls "
            'where "user" = ? and list_contains(?, tool_use_id)',
            user,
            calls,
        )
        for user, calls in ids.items()
    }

    assert ids.keys() == {"alice", "heidi"}
    assert counted == {user: (added[user], removed[user]) for user in ids}
