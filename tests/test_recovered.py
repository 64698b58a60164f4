"""A deleted session's prompts and rated replies are found again: on a real home, from which a session is deleted."""

import json
from pathlib import Path

import pytest

from tests.conftest import OpenLake
from tests.lake import Lake, homelake
from tests.layout import lay_out


def _delete(sessions: Path, session: str) -> None:
    """Delete a session as the extension does: its file and its entry."""
    (sessions / f"{session}.json").unlink()
    index = sessions / "sessions.json"
    entries = [entry for entry in json.loads(index.read_bytes()) if entry["sessionId"] != session]
    index.write_text(json.dumps(entries, indent=2), encoding="utf-8")


@pytest.fixture
def homes(tmp_path: Path) -> Path:
    return lay_out("corpus/homes", tmp_path / "homes")


def _built(homes: Path, lake: Path, open_lake: OpenLake) -> Lake:
    outcome = homelake("build", homes, "-o", lake, "--workers", "1", "--replace")
    assert outcome.exit_code == 0, outcome.stderr
    assert "checks    all passed" in outcome.stdout
    return open_lake(lake)


def test_prompts_of_a_deleted_session_are_recovered(homes: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    twins = (
        "select twins.text, t.session_id from twins join timeline as t on t.row_id = twins.twin_row_id "
        "where twins.source = 'continue.input_history' and twins.\"user\" = 'carol' order by all"
    )
    before = _built(homes, tmp_path / "before", open_lake).rows(twins)
    deleted = before[0][1]
    lost = sorted(text for text, session in before if session == deleted)
    recovered = "select text from timeline where source = 'continue.input_history' and \"user\" = 'carol' and recovered"
    known = set(open_lake(tmp_path / "before").column(recovered))

    _delete(homes / "carol/.continue/sessions", deleted)
    lake = _built(homes, tmp_path / "after", open_lake)

    assert lost
    assert sorted(set(lake.column(recovered)) - known) == lost
    assert not lake.count("sessions", f"session_id = '{deleted}'")


def test_rated_replies_of_a_deleted_session_are_recovered(homes: Path, tmp_path: Path, open_lake: OpenLake) -> None:
    """What was rated is an event of its own, which stays; with that gone, too, the rating alone tells."""
    dev_data = homes / "heidi/.continue/dev_data/0.2.0"
    rated = [json.loads(line) for line in (dev_data / "chatFeedback.jsonl").read_text(encoding="utf-8").splitlines()]
    session = rated[0]["sessionId"]
    of_session = [event for event in rated if event["sessionId"] == session]
    if (homes / f"heidi/.continue/sessions/{session}.json").exists():
        _delete(homes / "heidi/.continue/sessions", session)
    with_events = _built(homes, tmp_path / "with_events", open_lake)
    (dev_data / "chatInteraction.jsonl").unlink()
    alone = _built(homes, tmp_path / "alone", open_lake)

    kept = "select turn_type, text from timeline where session_id = ? and source = ? and kind = 'message' order by all"
    assert with_events.row("select has_file, in_index from sessions where session_id = ?", session) == (False, False)
    assert with_events.rows(kept, session, "continue.chat_interaction")
    assert with_events.count("twins", f"session_id = '{session}'") == 2 * len(of_session)
    expected = [("user", event["prompt"].strip()) for event in of_session]
    expected += [("assistant", event["completion"].strip()) for event in of_session]
    assert alone.rows(kept, session, "continue.chat_feedback") == sorted(expected)
    assert not alone.count("twins", f"session_id = '{session}'")
