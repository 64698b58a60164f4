"""The real homes: what the lake holds of them, against what their JSON alone says (`tests.oracle`)."""

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import oracle
from tests.conftest import OpenLake
from tests.lake import Lake, homelake, opened
from tests.layout import lay_out


@pytest.fixture(scope="module")
def session_homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real homes' session files and indexes alone, so that no other source tells of a session."""
    homes = lay_out("corpus/homes", tmp_path_factory.mktemp("sessions") / "homes")
    kept = {".continue": "sessions"}
    for path in [*homes.glob("*/*"), *homes.glob("*/.continue/*")]:
        if path.name not in kept and kept.get(path.parent.name) != path.name:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return homes


@pytest.fixture(scope="module")
def session_lake(session_homes: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """The lake of them."""
    path = tmp_path_factory.mktemp("sessions_lake") / "lake"
    outcome = homelake("build", session_homes, "-o", path, "--workers", "1")
    assert outcome.exit_code == 0, outcome.stderr
    with opened(path) as lake:
        yield lake


@pytest.fixture(scope="module")
def sessions(session_homes: Path) -> list[oracle.Session]:
    return oracle.sessions(session_homes)


def test_corpus_is_what_the_counts_below_rest_on(sessions: list[oracle.Session]) -> None:
    rows = Counter((row.kind, row.turn_type) for session in sessions for row in session.rows)

    assert len(sessions) == 88
    assert [session.path.name for session in sessions if session.cut] == ["f0662616-1dd8-4828-be8b-8fa603a33593.json"]
    assert rows["message", "user"] == 1601
    assert rows["message", "assistant"] == 1610
    assert rows["tool_call", "tool_use"] == 199
    assert rows["tool_result", "tool_result"] == 187
    assert rows["permission_decision", "system"] == 16


def test_every_session_file_is_a_session(session_lake: Lake, sessions: list[oracle.Session]) -> None:
    found = session_lake.rows(
        "select \"user\", count(*) from sessions where has_file and source = 'continue.session' group by all"
    )

    assert dict(found) == Counter(session.user for session in sessions)


def test_rows_are_counted_per_home_kind_and_turn(session_lake: Lake, sessions: list[oracle.Session]) -> None:
    found = session_lake.rows('select "user", kind, turn_type, count(*) from session_rows group by all')

    expected = Counter((session.user, row.kind, row.turn_type) for session in sessions for row in session.rows)
    assert {row[:3]: row[3] for row in found} == expected


def test_calls_are_counted_per_home_and_status(session_lake: Lake, sessions: list[oracle.Session]) -> None:
    found = session_lake.rows('select "user", status, count(*) from tool_calls group by all')

    expected = Counter((session.user, call.status) for session in sessions for call in session.calls)
    assert {row[:2]: row[2] for row in found} == expected


def test_decisions_are_counted_by_text(session_lake: Lake, sessions: list[oracle.Session]) -> None:
    found = session_lake.rows("select text, count(*) from session_rows where kind = 'permission_decision' group by all")

    decisions = Counter(f"permission decision: {call.decision}" for s in sessions for call in s.calls if call.decision)
    assert dict(found) == decisions


def test_states_and_calls_of_the_json_are_all_there(session_lake: Lake, sessions: list[oracle.Session]) -> None:
    """Counted without pairing: every state has its status, every call that no state repeats has none."""
    items = [item for session in sessions for item in session.items]
    states = Counter(state["status"] for item in items for state in item.get("toolCallStates") or ())

    found = session_lake.pairs("select status, count(*) from tool_calls where status is not null group by all")

    assert found == states
    assert session_lake.count("tool_calls") >= sum(len(item["message"].get("toolCalls") or ()) for item in items)


def test_image_parts_are_counted(session_lake: Lake, sessions: list[oracle.Session]) -> None:
    contents = [item["message"].get("content") for session in sessions for item in session.items]
    parts = [part for content in contents if isinstance(content, list) for part in content]

    found = session_lake.column("select text from session_rows where contains(text, '[image]')")

    images = sum(part["type"] == "imageUrl" for part in parts)
    assert images == 2
    assert sum(text.count("[image]") for text in found) == images
    assert not session_lake.count("timeline", "contains(text, 'data:image/png;base64,iVBOR')")


def test_timeline_holds_every_row_in_order(session_lake: Lake, sessions: list[oracle.Session]) -> None:
    """Every text byte for byte: messages, arguments, outputs; with its line, model, tool and call id."""
    found: dict[object, list[oracle.Row]] = {}
    for file, *row in session_lake.rows(
        "select source_file, source_line, kind, turn_type, text, model, tool_name, tool_use_id "
        "from session_rows order by source_file, sequence"
    ):
        found.setdefault(file, []).append(oracle.Row(*row))

    assert found.keys() == set(map(oracle.source_file, sessions))
    for session in sessions:
        rows = found[oracle.source_file(session)]
        if session.cut:
            assert [row._replace(text="") for row in rows if row.kind == "session"] == [
                oracle.Row(0, "session", "system", "")
            ]
            assert [row for row in rows if row.kind != "session"] == session.rows[1:]
        else:
            assert rows == session.rows, session.path


@pytest.mark.parametrize("time", ["1", "2", "3"])
def test_timeline_holds_every_row_of_a_home_over_time(time: str, tmp_path: Path, open_lake: OpenLake) -> None:
    homes = lay_out(f"corpus/over_time/{time}", tmp_path / "homes")
    outcome = homelake("build", homes, "-o", tmp_path / "lake", "--workers", "1")
    assert outcome.exit_code == 0, outcome.stderr

    found = open_lake(tmp_path / "lake").rows(
        "select source_line, kind, turn_type, text, model, tool_name, tool_use_id "
        "from session_rows order by source_file, sequence"
    )

    assert found == [row for session in oracle.sessions(homes) for row in session.rows]


def test_calls_hold_arguments_and_output(session_lake: Lake, sessions: list[oracle.Session]) -> None:
    found = session_lake.rows(
        "select source_file, source_line, tool_name, tool_use_id, arguments, status, coalesce(output, ''), "
        "model from tool_calls order by source_file, sequence"
    )

    expected = [
        (
            oracle.source_file(s),
            call.line,
            call.name,
            call.id,
            call.arguments,
            call.status,
            call.output or "",
            call.model,
        )
        for s in sorted(sessions, key=oracle.source_file)
        for call in s.calls
    ]
    assert found == expected


def test_rows_of_a_call_carry_its_key(session_lake: Lake) -> None:
    """A result and a decision have the key of a call of the same file, tool and id."""
    strays = session_lake.rows(
        "select row.text from session_rows as row left join tool_calls as call using (call_key) "
        "where row.kind in ('tool_call', 'tool_result', 'permission_decision') and (call.call_key is null "
        "or call.source_file <> row.source_file or call.tool_name is distinct from row.tool_name "
        "or call.tool_use_id is distinct from row.tool_use_id)"
    )

    assert strays == []
    assert session_lake.count("timeline", "call_key is not null and kind = 'tool_call'") == session_lake.count(
        "tool_calls"
    )
    assert not session_lake.count("timeline", "call_key is not null and kind in ('message', 'summary', 'session')")


def test_context_items_are_kept_whole(session_lake: Lake, sessions: list[oracle.Session]) -> None:
    found = session_lake.rows(
        "select source_file, source_line, provider, name, description, uri, content, content_bytes "
        "from context_items where source = 'continue.session' order by source_file, sequence"
    )

    assert len(found) == 3
    assert found == [
        (oracle.source_file(session), *context, len((context.content or "").encode()))
        for session in sorted(sessions, key=oracle.source_file)
        for context in session.contexts
    ]


def test_sessions_hold_what_file_and_index_say(session_lake: Lake, sessions: list[oracle.Session]) -> None:
    found = {
        row[0]: row[1:]
        for row in session_lake.rows(
            "select source_file, session_id, file_id, title, workspace_directory, mode, has_file, in_index, "
            "compacted, damaged, scratch, user_turns, assistant_turns, tool_calls, prompt_tokens, "
            "completion_tokens, cached_tokens, total_cost_usd, index_message_count "
            "from sessions where source = 'continue.session'"
        )
    }

    for session in sessions:
        head, usage = session.head, session.head.get("usage") or {}
        assert found[oracle.source_file(session)] == (
            head["sessionId"],
            session.path.stem,
            session.title,
            oracle.clean(head["workspaceDirectory"]),
            head.get("mode"),
            True,
            session.entry is not None,
            any(item.get("conversationSummary") for item in session.items),
            session.cut,
            False,
            session.count("message", "user"),
            session.count("message", "assistant"),
            len(session.calls),
            usage.get("promptTokens"),
            usage.get("completionTokens"),
            (usage.get("promptTokensDetails") or {}).get("cachedTokens"),
            usage.get("totalCost"),
            (session.entry or {}).get("messageCount"),
        ), session.path


def test_sessions_name_their_models_in_order(session_lake: Lake, sessions: list[oracle.Session]) -> None:
    found = session_lake.pairs("select source_file, models from sessions where source = 'continue.session'")

    for session in sessions:
        models = list(dict.fromkeys(row.model for row in session.rows if row.model))
        assert (found[oracle.source_file(session)] or []) == models, session.path


def test_session_rows_have_the_time_of_the_index(session_lake: Lake, sessions: list[oracle.Session]) -> None:
    found = session_lake.pairs(
        "select source_file, list(distinct (epoch_ms(timestamp_utc), timestamp_basis)) from session_rows group by all"
    )
    started = session_lake.pairs(
        "select source_file, epoch_ms(started_utc) from sessions where started_basis = 'session'"
    )

    for session in sessions:
        created = int(session.entry["dateCreated"]) if session.entry else None
        assert found[oracle.source_file(session)] == [(created, "session" if created else None)]
        assert started.get(oracle.source_file(session)) == created


def test_workspaces_are_decoded(session_lake: Lake) -> None:
    found = session_lake.pairs(
        "select title, project_path from sessions where \"user\" = 'judy' and title similar to 't[23].'"
    )

    assert found["t20"] == "c:/Users/Judy O'Hara/proj#a"
    assert found["t21"] == "C:/Users/judy/proj"
    assert found["t22"] == "c:\\Users\\judy\\proj"
    assert found["t23"] == "vscode-remote://ssh-remote%2B7b22686f73744e616d65223a22622d3031227d/home/judy/proj"
    assert found["t26"] == "//server/share/proj"
    assert found["t27"] == "/home/judy/東京 proj/"
    assert found["t28"] == "/home/judy/proj"
    assert found["t29"] is None
    assert found["t30"] == "/"
    assert found["t31"] == "untitled:Untitled-1"
    assert found["t32"] == "/home/judy/%ZZbad%escape"


def test_only_the_cut_file_lost_something(session_lake: Lake) -> None:
    (loss,) = session_lake.losses()

    assert (loss.file, loss.line, loss.reason) == (
        "f0662616-1dd8-4828-be8b-8fa603a33593.json",
        3,
        "json_truncated",
    )
    assert loss.text.startswith("parser: unparseable record 3 (json_truncated): {")
    assert session_lake.value("select damaged from sessions where file_id = 'f0662616-1dd8-4828-be8b-8fa603a33593'")


def test_cut_file_loses_nothing_but_its_end(session_lake: Lake, session_homes: Path) -> None:
    """The loss's text is the file from its unfinished item on, to the byte."""
    (loss,) = session_lake.losses()
    data = (session_homes / "peggy/.continue/sessions" / loss.file).read_bytes().decode(errors="replace")

    text = loss.text.removeprefix("parser: unparseable record 3 (json_truncated): ")

    assert data.rstrip(oracle.SPACE).endswith(text)
    _, items, cut = oracle.document(data.encode())
    assert (len(items), cut) == (2, True)
    assert data.removesuffix(text).rstrip(oracle.SPACE + ",").endswith("}")


def test_notes_are_of_texts_that_no_column_takes(session_lake: Lake, sessions: list[oracle.Session]) -> None:
    expected = {(session.path.name, *note) for session in sessions for note in oracle.odd_texts(session)}

    names = {session.path.name for session in sessions}
    found = {note for note in session_lake.notes() if note[0] in names}

    assert len(expected) == 16
    assert found == expected
    assert {note[2] for note in session_lake.notes()} == {"lone_surrogate", "nul_character"}


def test_no_text_holds_nul(session_lake: Lake) -> None:
    columns = session_lake.rows(
        "select table_name, column_name from duckdb_columns() where not internal and data_type = 'VARCHAR'"
    )

    holding = [(t, c) for t, c in columns if session_lake.count(str(t), f'contains("{c}", chr(0))')]

    assert holding == []


def test_every_record_is_accounted_for(session_lake: Lake) -> None:
    unbalanced = session_lake.rows(
        "select source_file, records, rows, losses, silent from artifacts "
        "where records is not null and records <> rows + losses + silent"
    )

    assert unbalanced == []
    assert not session_lake.count("artifacts", "status = 'parsed' and (records is null or records = 0)")


def test_artifacts_are_the_files_of_the_homes(session_lake: Lake, session_homes: Path) -> None:
    found = {
        row[0]: row[1:]
        for row in session_lake.rows(
            "select source_file, bytes, sha256 from artifacts where source in ('continue.session', 'continue.index')"
        )
    }

    files = sorted(session_homes.glob("*/.continue/sessions/*.json"))
    assert found == {
        f"/{file.relative_to(session_homes)}": (file.stat().st_size, hashlib.sha256(file.read_bytes()).hexdigest())
        for file in files
    }


def test_credentials_are_listed_and_not_opened(corpus_lake: Lake, corpus: Path) -> None:
    found = corpus_lake.rows("select source_file, sha256 from artifacts where status = 'secret'")

    configured = {f"/{file.relative_to(corpus)}" for file in corpus.glob("*/.continue/config.yaml")}
    assert configured <= {file for file, _ in found}
    assert {sha256 for _, sha256 in found} == {None}


def test_users_are_the_folders(corpus_lake: Lake, corpus: Path) -> None:
    """A home whose assistant has no session of these sources is there with its files."""
    users = corpus_lake.column('select distinct "user" from artifacts order by all')

    assert users == sorted(folder.name for folder in corpus.iterdir())
    assert corpus_lake.rows("select distinct host from artifacts") == [(None,)]


def test_index_entries_without_a_file_are_sessions(session_lake: Lake, session_homes: Path) -> None:
    listed = {
        (folder.name, entry["sessionId"])
        for folder in session_homes.iterdir()
        if (folder / ".continue").exists()
        for entry in json.loads((folder / ".continue/sessions/sessions.json").read_bytes())
    }
    files = {(path.parents[2].name, path.stem) for path in session_homes.glob("*/.continue/sessions/*.json")}

    deleted = session_lake.rows("select \"user\", session_id from sessions where not has_file and agent = 'continue'")

    assert set(deleted) == listed - files
