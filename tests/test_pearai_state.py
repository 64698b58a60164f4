"""PearAI's list of tasks and its settings, in the editor's database: whole, being written, damaged."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from parsers._sqlite import read_values
from tests.conftest import OpenLake
from tests.lake import Lake, homelake

GLOBAL = ".config/PearAI/User/globalStorage"
TASKS = f"{GLOBAL}/pearai.pearai-roo-cline/tasks"
KEY = "pearai.pearai-roo-cline"
SCHEMA = "create table ItemTable (key text unique on conflict replace, value blob);"
T0 = 1_789_461_000_000
AT = datetime(2026, 9, 15, 8, 30)
ROWS = "select kind, text from timeline where source = 'pearai.state' order by sequence"
UNBALANCED = "select path from artifacts where records <> rows + losses + silent"
STANDING = "(from state.vscdb pearai.pearai-roo-cline, file mtime)"

Built = Callable[[], Lake]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with PearAI's global storage."""
    (tmp_path / "home" / GLOBAL).mkdir(parents=True)
    return tmp_path / "home"


@pytest.fixture
def built(home: Path, tmp_path: Path, open_lake: OpenLake) -> Built:
    """Build the home and check what must hold of every lake."""

    def build() -> Lake:
        outcome = homelake("build", home, "-o", tmp_path / "lake", "--workers", "1")
        assert outcome.exit_code == 0, outcome.stderr
        lake = open_lake(tmp_path / "lake")
        assert lake.rows(UNBALANCED) == []
        lake.losses()
        return lake

    return build


def database(home: Path, *rows: tuple[str, Any], sql: str = SCHEMA, name: str = "state.vscdb") -> Path:
    """Make a database of rows of (key, value)."""
    path = home / GLOBAL / name
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(sql)
        for row in rows:
            connection.execute("insert into ItemTable values (?, ?)", row)
        connection.commit()
    return path


def item(n: int, **fields: Any) -> dict[str, Any]:
    """An item of the list of tasks, as the program writes it."""
    return {
        "id": f"t{n}",
        "number": n,
        "ts": T0,
        "task": f"do {n}",
        "tokensIn": 10 * n,
        "tokensOut": n,
        "cacheWrites": 0,
        "cacheReads": 0,
        "totalCost": 0.5,
        "size": 99,
        "workspace": "/home/dana/pear",
        "creatorModeConfig": {"creatorMode": False},
        **fields,
    }


def state(*items: Any, **settings: Any) -> str:
    """The extension's state, as the program writes it."""
    return json.dumps({"taskHistory": items, "mode": "code", **settings}, separators=(",", ":"))


def told(number: int) -> tuple[str, str]:
    """Kind and text of the row of an item."""
    return "task", f"task: do {number} | tokensIn={10 * number} tokensOut={number} totalCost=0.5 number={number}"


def test_real_list_says_what_its_json_says(corpus_lake: Lake, corpus: Path) -> None:
    path = corpus / "kim/Library/Application Support/PearAI/User/globalStorage/state.vscdb"
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        (value,) = connection.execute("select value from ItemTable where key = ?", (KEY,)).fetchone()
    stored = json.loads(value)

    tokens = corpus_lake.rows(
        "select session_id, epoch_ms(utc), prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens, "
        "cost_usd from token_usage where source = 'pearai.state' order by source_line"
    )
    texts = corpus_lake.column(
        "select text from timeline where source = 'pearai.state' and kind = 'task' order by sequence"
    )
    settings = corpus_lake.pairs("select rule, value from permissions where source = 'pearai.state'")

    assert tokens == [
        (
            entry["id"],
            entry["ts"],
            entry["tokensIn"],
            entry["tokensOut"],
            entry.get("cacheReads"),
            entry.get("cacheWrites"),
            entry["totalCost"],
        )
        for entry in stored["taskHistory"]
    ]
    assert texts[0].startswith(
        "task: Fix the failing test in invoice 🧾 日本語 | tokensIn=2700 tokensOut=440 totalCost="
    )
    assert texts[3].endswith(" number=4 | creator mode: newProjectType=webapp newProjectPath=~/pearai-projects/")
    assert len(texts) == 4
    assert {rule: json.loads(text) for rule, text in settings.items()} == {
        rule: stored[rule]
        for rule in ("autoApprovalEnabled", "alwaysAllowReadOnly", "alwaysAllowExecute", "allowedCommands")
    }


@pytest.mark.parametrize("key", [KEY, "PearAI.pearai-roo-cline", "PEARAI.PEARAI-ROO-CLINE"])
@pytest.mark.parametrize("as_bytes", [False, True])
def test_value_is_found_whatever_its_type_and_the_capitals_of_its_key(
    home: Path, built: Built, key: str, *, as_bytes: bool
) -> None:
    text = state(item(1))
    database(home, ("pearai.pearai", '{"taskHistory":5}'), (key, text.encode() if as_bytes else text), ("x", None))

    lake = built()

    assert lake.rows(ROWS) == [told(1)]
    assert lake.has_no_problem()


def test_nothing_but_the_agents_row_reaches_the_lake(home: Path, built: Built) -> None:
    database(home, ('secret://{"extensionId":"x"}', "FAKE-1"), (f"{KEY}.x", "FAKE-2"), (KEY, state(item(1))))

    lake = built()

    files = [path for path in lake.path.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if b"FAKE-" in path.read_bytes()]


def test_settings_are_rules_and_rows_in_the_order_of_the_program(home: Path, built: Built) -> None:
    settings = {"allowedCommands": ["npm test", "git \u2028log"], "alwaysAllowMcp": False, "autoApprovalEnabled": True}
    database(home, (KEY, state(alwaysAllowWrite=None, alwaysAllowOther=True, **settings)))

    lake = built()

    expected = [
        ("autoApprovalEnabled", "true"),
        ("alwaysAllowWrite", "null"),
        ("alwaysAllowMcp", "false"),
        ("allowedCommands", '["npm test","git \u2028log"]'),
    ]
    assert lake.rows(ROWS) == [
        ("permission_setting", f"permission setting: {rule}={value} {STANDING}") for rule, value in expected
    ]
    assert sorted(
        lake.rows("select rule, value from permissions where scope = 'setting' and honoured is null")
    ) == sorted(expected)
    assert lake.rows(
        "select distinct timestamp_basis, timestamp_utc = mtime_utc, session_id, source_line from timeline "
        "join artifacts using (source_file) where kind = 'permission_setting'"
    ) == [("file", True, None, 0)]
    assert (
        lake.rows("select recorded_utc = mtime_utc from permissions join artifacts using (source_file)")
        == [(True,)] * 4
    )
    assert lake.has_no_problem()


@pytest.mark.parametrize(
    ("config", "ending"),
    [
        ({"creatorMode": False, "newProjectType": "x"}, ""),
        ({"creatorMode": True}, " | creator mode: newProjectType=- newProjectPath=-"),
        ({"newProjectPath": "~/p"}, " | creator mode: newProjectType=- newProjectPath=~/p"),
        ({"creatorMode": True, "newProjectType": "a b"}, " | creator mode: newProjectType=a b newProjectPath=-"),
        ({}, ""),
        (None, ""),
    ],
)
def test_task_of_the_creator_says_so(home: Path, built: Built, config: object, ending: str) -> None:
    database(home, (KEY, state(item(1, creatorModeConfig=config))))

    assert built().rows(ROWS) == [("task", told(1)[1] + ending)]


def test_missing_and_odd_values_are_noted(home: Path, built: Built) -> None:
    odd = item(2, ts="soon", tokensIn=-1, tokensOut="20", totalCost=True, number=None, cacheReads=1.5, task=["x"])
    bare = {"id": "t3"}
    database(home, (KEY, state(item(1), odd, bare)))

    lake = built()

    assert lake.rows(ROWS) == [
        told(1),
        ("task", "task: - | tokensIn=-1 tokensOut=- totalCost=- number=-"),
        ("task", "task: - | tokensIn=- tokensOut=- totalCost=- number=-"),
    ]
    assert lake.rows("select source_line, reason, detail from problems order by all") == [
        (2, "bad_timestamp", "ts"),
        (2, "value_out_of_range", "tokensIn"),
        (2, "wrong_type", "task, tokensOut, cacheReads, totalCost"),
    ]
    assert lake.rows("select session_id, started_utc, started_basis from sessions order by all") == [
        ("t1", AT, "task_list"),
        ("t2", None, None),
        ("t3", None, None),
    ]
    assert lake.rows("select session_id, prompt_tokens, cache_write_tokens from token_usage order by all") == [
        ("t1", 10, 0),
        ("t2", None, 0),
    ]


def test_items_without_a_usable_id_are_lost(home: Path, built: Built) -> None:
    entries = [item(1), {"task": "x", "userId": "hush"}, 5, item(4, id=""), item(5, id=7), item(6)]
    database(home, (KEY, state(*entries)))

    lake = built()

    assert lake.rows(ROWS)[0] == told(1)
    assert [row for row in lake.rows(ROWS) if row[0] == "task"] == [told(1), told(6)]
    assert [(loss.line, loss.reason) for loss in lake.losses()] == [(n, "index_entry_invalid") for n in (2, 3, 4, 5)]
    assert lake.losses()[0].text == ('parser: unparseable record 2 (index_entry_invalid): {"task":"x","userId":"***"}')
    assert lake.losses()[1].text == "parser: unparseable record 3 (index_entry_invalid): 5"


def test_second_item_of_an_id_is_noted_and_counts_once(home: Path, built: Built) -> None:
    database(home, (KEY, state(item(1), item(2), item(1, ts=T0 - 1000, task="again", tokensIn=70))))

    lake = built()

    assert lake.notes() == [("state.vscdb", 3, "duplicate_id")]
    assert lake.rows("select session_id, title, epoch_ms(started_utc) from sessions order by all") == [
        ("t1", "again", T0 - 1000),
        ("t2", "do 2", T0),
    ]
    assert lake.rows("select session_id, prompt_tokens from token_usage order by all") == [("t1", 70), ("t2", 20)]
    assert lake.count("timeline", "kind = 'task'") == 3
    assert lake.value("select count(distinct row_id) from timeline") == 3


def test_title_is_the_first_line_of_the_task(home: Path, built: Built) -> None:
    database(home, (KEY, state(item(1, task="\n first \r\nsecond", workspace="file:///c%3A/x"))))

    lake = built()

    assert lake.row("select title, project_path, workspace_directory from sessions") == (
        "first",
        "c:/x",
        "file:///c%3A/x",
    )
    assert lake.value("select text from timeline").startswith("task: \n first \r\nsecond | tokensIn=10 ")


@pytest.mark.parametrize("folder", ["t1/", "t1/checkpoints/x", "t1/notes.txt"])
def test_listed_task_whose_folder_tells_nothing_is_one_session(home: Path, built: Built, folder: str) -> None:
    place = home / TASKS / folder
    if folder.endswith("/"):
        place.mkdir(parents=True)
    else:
        place.parent.mkdir(parents=True)
        place.write_text("x", encoding="utf-8")
    database(home, (KEY, state(item(1))))

    lake = built()

    assert lake.rows("select session_id, has_file, in_index, title, project_path, started_basis from sessions") == [
        ("t1", True, True, "do 1", "/home/dana/pear", "task_list")
    ]
    assert lake.rows(
        "select t.session_id, t.session_key = s.session_key, t.project_path, u.session_key = s.session_key "
        "from timeline as t, sessions as s, token_usage as u"
    ) == [("t1", True, "/home/dana/pear", True)]


def test_states_of_several_keys_are_read_one_after_the_other(home: Path, built: Built) -> None:
    old, new = state(item(1), alwaysAllowMcp=True, alwaysAllowWrite=True), state(item(2), alwaysAllowMcp=False)
    database(home, ("PearAI.pearai-roo-cline", old), (KEY, new))

    lake = built()

    assert lake.rows("select source_line, text from timeline where kind = 'task' order by sequence") == [
        (1, told(1)[1]),
        (2, told(2)[1]),
    ]
    assert lake.pairs("select rule, value from permissions") == {"alwaysAllowMcp": "false", "alwaysAllowWrite": "true"}


def hot(home: Path, first: str, second: str) -> None:
    """A database whose last state stands in its write-ahead log alone, as a running editor leaves it."""
    path = database(home, (KEY, first), sql=f"pragma journal_mode = wal; {SCHEMA}")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma wal_autocheckpoint = 0")
        connection.execute("update ItemTable set value = ?", (second,))
        connection.commit()
        kept = {name: Path(f"{path}{name}").read_bytes() for name in ("", "-wal", "-shm")}
    for name, data in kept.items():
        Path(f"{path}{name}").write_bytes(data)


def test_write_ahead_log_is_read(home: Path, built: Built) -> None:
    hot(home, state(item(1)), state(item(1), item(2)))

    lake = built()

    assert lake.rows(ROWS) == [told(1), told(2)]
    assert lake.rows("select parse_filename(path), status, sha256 is not null, records from artifacts") == [
        ("state.vscdb", "parsed", True, 2),
        ("state.vscdb-shm", "known", False, None),
        ("state.vscdb-wal", "known", True, None),
    ]


def test_write_ahead_log_that_is_torn_gives_what_it_holds(home: Path, built: Built) -> None:
    hot(home, state(item(1)), state(item(1), item(2)))
    wal = home / GLOBAL / "state.vscdb-wal"
    wal.write_bytes(wal.read_bytes()[:-100])

    assert built().rows(ROWS) == [told(1)]


def test_write_ahead_log_that_cannot_be_read_is_a_loss(
    home: Path, built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    hot(home, state(item(1)), state(item(1), item(2)))
    read_bytes = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "state.vscdb-wal":
            raise PermissionError(13, "Permission denied")
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)

    lake = built()

    assert lake.rows(ROWS) == [told(1)]
    assert [(loss.file, loss.reason) for loss in lake.losses()] == [("state.vscdb-wal", "unreadable")]


def test_nothing_is_written_beside_the_database(home: Path, built: Built) -> None:
    hot(home, state(item(1)), state(item(2)))

    def seen() -> list[tuple[str, int, bytes]]:
        files = sorted(path for path in (home / GLOBAL).iterdir() if path.is_file())
        return [(path.name, path.stat().st_mtime_ns, path.read_bytes()) for path in files]

    before = seen()
    built()

    assert seen() == before


def damaged(path: Path, page: int, *, size: int = 4096, fill: bytes = b"\xa5") -> None:
    """Overwrite a page, counted from 1."""
    data = bytearray(path.read_bytes())
    data[(page - 1) * size : page * size] = fill * size
    path.write_bytes(data)


@pytest.mark.parametrize("page", [1, 2])
@pytest.mark.parametrize("fill", [b"\0", b"\xa5"])
def test_backup_of_a_damaged_database_is_read(home: Path, built: Built, page: int, fill: bytes) -> None:
    database(home, (KEY, state(item(1))), name="state.vscdb.backup")
    damaged(database(home, (KEY, state(item(1), item(2)))), page, fill=fill)

    lake = built()

    assert lake.rows("select parse_filename(source_file), text from timeline where kind = 'task'") == [
        ("state.vscdb.backup", told(1)[1])
    ]
    (loss,) = lake.losses()
    assert (loss.file, loss.line, loss.reason) == ("state.vscdb", 0, "database_damaged")
    assert loss.text == "parser: unreadable (database_damaged)"
    assert lake.pairs("select parse_filename(path), status from artifacts") == {
        "state.vscdb": "parsed",
        "state.vscdb.backup": "parsed",
    }


def test_damage_beside_the_agents_row_leaves_it(home: Path, built: Built) -> None:
    """The index of keys is damaged: the table itself is read."""
    database(home, (KEY, state(item(1))), name="state.vscdb.backup")
    damaged(database(home, (KEY, state(item(1), item(2)))), 3)

    lake = built()

    assert lake.rows(ROWS)[:2] == [told(1), told(2)]
    assert [(loss.file, loss.reason) for loss in lake.losses()] == [("state.vscdb", "database_damaged")]
    assert lake.pairs("select parse_filename(path), status from artifacts")["state.vscdb.backup"] == "known"


def test_value_that_the_database_computes_is_no_longer_than_the_database(home: Path, built: Built) -> None:
    computed = "create table ItemTable (key text, own int, value blob as (zeroblob(900000000)));"
    database(home, sql=f"{computed} insert into ItemTable (key, own) values ('{KEY}', 1)")

    lake = built()

    assert [loss.reason for loss in lake.losses()] == ["database_damaged"]


def test_damage_in_pages_of_others_costs_nothing(home: Path, built: Built) -> None:
    path = database(home, ("a", "x" * 100_000), (KEY, state(item(1))), ("b", "y" * 100_000))
    damaged(path, 10)

    lake = built()

    assert lake.rows(ROWS) == [told(1)]
    assert lake.has_no_problem()


@pytest.mark.parametrize("end", [0, 50, 4096, 6000])
def test_cut_database_is_a_loss_and_its_backup_is_read(home: Path, built: Built, end: int) -> None:
    database(home, (KEY, state(item(1))), name="state.vscdb.backup")
    path = database(home, (KEY, state(item(2))))
    path.write_bytes(path.read_bytes()[:end])

    lake = built()

    assert [row for row in lake.rows(ROWS) if row[0] == "task"] == [told(1)]
    assert [loss.reason for loss in lake.losses()] == ["database_damaged" if end else "empty_file"]


def test_backup_of_a_database_that_is_gone_is_read(home: Path, built: Built) -> None:
    database(home, (KEY, state(item(1))), name="state.vscdb.backup")

    lake = built()

    assert lake.rows(ROWS) == [told(1)]
    assert lake.has_no_problem()


def test_backup_of_a_database_without_the_row_is_not_read(home: Path, built: Built) -> None:
    database(home, (KEY, state(item(1))), name="state.vscdb.backup")
    database(home, ("x", "y"))

    lake = built()

    assert lake.rows(ROWS) == []
    assert lake.has_no_problem()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("", "empty_file"),
        (None, "empty_file"),
        ("no JSON", "json_invalid"),
        ("[1]", "not_an_object"),
        (7, "not_an_object"),
        ("\0" * 50, "zero_filled"),
    ],
)
def test_row_that_is_no_state_is_one_loss(home: Path, built: Built, value: object, reason: str) -> None:
    database(home, (KEY, value))

    lake = built()

    (loss,) = lake.losses()
    assert (loss.line, loss.reason, loss.text) == (0, reason, f"parser: unreadable ({reason})")
    assert lake.count("timeline") == 1


@pytest.mark.parametrize("value", ["{}", " { }\n", b"{}", '{"mcpEnabled":true}', '{"taskHistory":[]}'])
def test_state_that_says_nothing_is_no_damage(home: Path, built: Built, value: object) -> None:
    database(home, (KEY, state(item(1))), name="state.vscdb.backup")
    database(home, (KEY, value))

    lake = built()

    assert lake.rows(ROWS) == []
    assert lake.has_no_problem()


def test_row_that_is_no_state_sends_to_the_backup(home: Path, built: Built) -> None:
    database(home, (KEY, state(item(1))), name="state.vscdb.backup")
    database(home, (KEY, "no JSON"))

    lake = built()

    assert [row for row in lake.rows(ROWS) if row[0] == "task"] == [told(1)]
    assert [loss.reason for loss in lake.losses()] == ["json_invalid"]


def test_cut_state_keeps_the_items_before_the_cut(home: Path, built: Built) -> None:
    text = json.dumps({"alwaysAllowMcp": True, "taskHistory": [item(1), item(2), item(3)]}, separators=(",", ":"))
    database(home, (KEY, text[: text.index('"do 3"')]))

    lake = built()

    assert [row for row in lake.rows(ROWS) if row[0] != "problem"] == [
        ("permission_setting", f"permission setting: alwaysAllowMcp=true {STANDING}"),
        told(1),
        told(2),
    ]
    (loss,) = lake.losses()
    assert (loss.line, loss.reason) == (3, "json_truncated")


def test_damage_in_the_list_costs_one_item(home: Path, built: Built) -> None:
    text = state(item(1), item(2), item(3), alwaysAllowMcp=True)
    database(home, (KEY, text.replace('"do 2"', '"do\x00 2')))

    lake = built()

    assert [row for row in lake.rows(ROWS) if row[0] == "task"] == [told(1), told(3)]
    assert lake.pairs("select rule, value from permissions") == {"alwaysAllowMcp": "true"}
    (loss,) = lake.losses()
    assert loss.line == 2


@pytest.mark.parametrize("tasks", ['{"a":1}', '"x"', "5"])
def test_list_of_another_type_leaves_the_settings(home: Path, built: Built, tasks: str) -> None:
    database(home, (KEY, f'{{"taskHistory":{tasks},"alwaysAllowMcp":true}}'))

    lake = built()

    assert lake.count("permissions") == 1
    (loss,) = lake.losses()
    assert (loss.reason, loss.text) == ("wrong_type", f"parser: unparseable record 0 (wrong_type): {tasks}")


def test_deep_values_cost_themselves_alone(home: Path, built: Built) -> None:
    deep = "[" * 5000 + "]" * 5000
    kept = "[" * 250 + "]" * 250
    item_text = json.dumps(item(1))
    database(
        home,
        (
            KEY,
            f'{{"taskHistory":[{item_text},{{"id":"t2","ts":{kept}}}],"customModes":{deep},"alwaysAllowMcp":{kept}}}',
        ),
    )

    lake = built()

    assert [row for row in lake.rows(ROWS) if row[0] == "task"] == [told(1)]
    assert {loss.reason for loss in lake.losses()} == {"nesting_too_deep"}
    assert not lake.count("permissions")


def test_bad_text_is_noted(home: Path, built: Built) -> None:
    database(home, (KEY, b'{"taskHistory":[{"id":"t1","task":"a\xffb\\u0000\\ud83d"}],"allowedCommands":["\\udc00"]}'))

    lake = built()

    assert [text for _, text in lake.rows(ROWS)] == [
        f'permission setting: allowedCommands=["\ufffd"] {STANDING}',
        "task: a\ufffdb\ufffd\ufffd | tokensIn=- tokensOut=- totalCost=- number=-",
    ]
    assert [(line, reason) for _, line, reason in lake.notes()] == [
        (0, "lone_surrogate"),
        (1, "invalid_utf8"),
        (1, "lone_surrogate"),
        (1, "nul_character"),
    ]


@pytest.mark.parametrize(
    "sql",
    [
        "create view ItemTable as with recursive n as (select 1 as x union all select x from n) select x as key from n",
        "create table other (key, value);",
        "create table ItemTable (key text primary key, value blob) without rowid;"
        f"insert into ItemTable values ('{KEY}', '{{\"taskHistory\":[]}}');",
        "create table ItemTable (name text);",
    ],
)
def test_databases_of_other_shapes_are_no_fault_of_the_home(home: Path, built: Built, sql: str) -> None:
    database(home, sql=sql)

    lake = built()

    assert {kind for kind, _ in lake.rows(ROWS)} <= {"problem"}
    assert {loss.reason for loss in lake.losses()} <= {"database_damaged"}


def test_query_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("parsers._sqlite._MOST_STEPS", 2000)
    monkeypatch.setattr("parsers._sqlite._STEPS", 1000)
    path = tmp_path / "large"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA)
        connection.executemany("insert into ItemTable values (?, 'x')", [(str(n),) for n in range(10_000)])
        connection.commit()

    stored = read_values(path.read_bytes(), None, KEY)

    assert (stored.values, stored.is_damaged) == ([], True)
