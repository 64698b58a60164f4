"""`homelake share`: what a share shows, of which rows, and what it never touches."""

import hashlib
import hmac
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.examples import EXAMPLES, taken
from pipeline.join import selects
from pipeline.schema import Sensitivity, Table
from pipeline.tables import FORMAT_VERSION, TABLES
from tests.lake import Lake, Outcome, homelake, opened, parquet_files, run
from tests.made import MadeHome, call, exchange, reply, usage, user
from tests.marked import MARK, marked_homes
from tests.tiny import snapshot

KINDS = "select source, kind, turn_type, count(*) from timeline group by all order by all"
HIDDEN = {Sensitivity.PATH, Sensitivity.ID, Sensitivity.RULE, Sensitivity.SETTING, Sensitivity.TEXT}
"""Classes of which no value is shown."""


@pytest.fixture(scope="module")
def marked_lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A lake of homes with a marker in every text; two buckets."""
    folder = tmp_path_factory.mktemp("share")
    homes = marked_homes(folder / f"{MARK}-homes")
    options = ("--workers", "1", "--completion-text", "--host", f"h-{MARK}", "--buckets", "2")
    outcome = homelake("build", homes, "-o", folder / "lake", *options)
    assert outcome.exit_code == 0, outcome.stderr
    with opened(folder / "lake") as lake:
        yield lake


@pytest.fixture(scope="module")
def small_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two users of two hosts: one with sessions of two days and an undated one, one with a single session."""
    folder = tmp_path_factory.mktemp("share")
    alice, bob = MadeHome(folder / "a/web01/home/alice"), MadeHome(folder / "a/web02/home/bob")
    alice.session("a1", user("first"), reply("", call("c1"), prompt="first"), created=0)
    alice.session("a2", user("second"), created=86_400)
    alice.session("a3", user("undated"), created=None)
    bob.session("b1", user("third"), created=60)
    bob.events("chatInteraction", exchange(90, "third", "said", session="b1"))
    template = ("--path-template", "{host}/home/{user}")
    outcome = homelake("build", folder / "a", "-o", folder / "lake", "--workers", "1", *template)
    assert outcome.exit_code == 0, outcome.stderr
    return folder / "lake"


FEW = ("--table", "timeline", "--table", "sessions")
"""Tables of shares that are made for a look at these."""


def shared(lake: Path, out: Path, *options: str | Path) -> Outcome:
    """Share a lake; it goes well."""
    outcome = homelake("share", lake, out, *options)
    assert outcome.exit_code == 0, outcome.stderr
    return outcome


def contents(folder: Path) -> Iterator[bytes]:
    """All that a directory tells: names, bytes, and every value of its Parquet files."""
    for path in sorted(folder.rglob("*")):
        yield path.relative_to(folder).as_posix().encode()
        if path.is_file():
            yield path.read_bytes()
        if path.suffix == ".parquet":
            file = pq.ParquetFile(path)
            yield repr((file.metadata.to_dict(), file.schema_arrow.metadata)).encode()
            yield repr(file.read().to_pylist()).encode()


def fetched(lake: Path, query: str) -> list[Any]:
    with opened(lake) as found:
        return found.rows(query)


# What is shown


def test_marked_homes_have_the_marker_in_every_class(marked_lake: Lake) -> None:
    """What the next test looks for is there."""
    found = {
        (table.name, column.name)
        for table in TABLES
        for column in table.columns
        if column.sensitivity in HIDDEN
        and marked_lake.count(table.name, f"contains(\"{column.name}\"::varchar, '{MARK}')")
    }

    assert found >= {
        *(("timeline", name) for name in ("text", "session_id", "project_path", "tool_use_id", "source_file")),
        *(("sessions", name) for name in ("title", "file_id", "workspace_directory", "project_name", "resume_command")),
        *(("tool_calls", name) for name in ("arguments", "output", "command", "file_path", "old_text", "new_text")),
        *(("context_items", name) for name in ("name", "description", "uri", "content")),
        *(("permissions", name) for name in ("rule", "value")),
        *(("completions", name) for name in ("prompt", "completion", "file_path")),
        *(("artifacts", name) for name in ("path", "source_file")),
        ("twins", "text"),
        ("problems", "source_file"),
        ("collections", "input"),
    }
    assert marked_lake.count("timeline", f"kind = 'problem' and contains(text, '{MARK}')")


def test_no_text_is_left_with_the_default_options(marked_lake: Lake, tmp_path: Path) -> None:
    shared(marked_lake.path, tmp_path / "out", "--pseudonyms")

    assert [data[:200] for data in contents(tmp_path / "out") if MARK.encode() in data] == []
    assert fetched(tmp_path / "out", KINDS) == marked_lake.rows(KINDS)
    for table in TABLES:
        counted = f"select count(*) from {table.name}"
        assert fetched(tmp_path / "out", counted) == marked_lake.rows(counted)


def test_hosts_and_users_stay_without_pseudonyms(marked_lake: Lake, tmp_path: Path) -> None:
    shared(marked_lake.path, tmp_path / "out")

    people = 'select distinct host, "user" from timeline order by all'
    assert fetched(tmp_path / "out", people) == [(f"h-{MARK}", "alice"), (f"h-{MARK}", "bob")]
    assert not any(f"{MARK} ".encode() in data or f"/{MARK}".encode() in data for data in contents(tmp_path / "out"))


NO_NAMES = (
    f"/{MARK}/model", f"https://{MARK}", f"{MARK}@example.org", f"C:/{MARK}", f"{MARK} is a whole sentence of words",
    f"{MARK}\n", MARK * 10, f"~/{MARK}", f"sk-{MARK}-" + "0a" * 12,
)  # fmt: skip
"""What stands in the place of a short name and is none."""
FILLED: dict[pa.DataType, Any] = {
    pa.bool_(): True,
    pa.int32(): 1,
    pa.int64(): 2,
    pa.float64(): 0.5,
    pa.timestamp("ms"): 1_769_000_000_000,
    pa.list_(pa.timestamp("ms")): [1_769_000_000_000],
}


def full_row(table: Table, name: str) -> dict[str, Any]:
    """A value in every column: a marker in each text; `name` for each name."""
    row = {}
    for column in table.stored:
        kind = column.sensitivity
        text = (
            "x"
            if kind in (Sensitivity.PLAIN, Sensitivity.IDENTITY)
            else name
            if kind == Sensitivity.NAME
            else f"{MARK} 1"
        )
        type_ = table.arrow().field(column.name).type
        row[column.name] = FILLED.get(type_, [text] if pa.types.is_list(type_) else text)
    return row


def made_lake(lake: Path, names: Sequence[str]) -> Path:
    """A lake in which every table has a row for each of `names`, with a value in every column."""
    for table in TABLES:
        rows = [full_row(table, name) for name in names]
        folder = lake / "builds/1" / table.name
        folder = folder / "agent=x/month=2026-01" if table.time else folder
        folder.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows, table.arrow()), folder / "00.parquet")
    (lake / "builds/1/manifest.json").write_text(json.dumps({"format": FORMAT_VERSION}), encoding="utf-8")
    (lake / "current").symlink_to("builds/1")
    return lake


def test_every_column_is_masked_by_its_class(tmp_path: Path) -> None:
    """Whatever a build puts there: each has a value in a lake made by hand."""
    shared(made_lake(tmp_path / "lake", NO_NAMES), tmp_path / "out")

    assert [data[:300] for data in contents(tmp_path / "out") if MARK.encode() in data] == []
    for table in TABLES:
        rows = fetched(tmp_path / "out", f"from {table.name}")
        assert len(rows) == len(NO_NAMES)
        assert not any(value in (None, "") for row in rows for value in row)


def test_an_address_is_no_number_and_a_token_no_tool(tmp_path: Path) -> None:
    lake, token = made_lake(tmp_path / "lake", ["a"]), "ghp" + "_" + "a1B2" * 9
    (file,) = (lake / "builds/1/permissions").iterdir()
    found = pq.read_table(file)
    rows = [{**found.to_pylist()[0], "rule": rule, "value": value} for rule, value in [
        (token, "10.0.0.7"), ("Bash", "-1.5"), (f"Bash({token})", "1200"),
    ]]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows, found.schema), file)

    shared(lake, tmp_path / "out")

    shown = fetched(tmp_path / "out", "select regexp_replace(rule, 'len=.*', '…'), left(value, 4) from permissions")
    assert sorted(shown) == [("Bash", "-1.5"), ("Bash(…", "1200"), ("…", "len=")]


def test_names_of_models_and_tools_are_shown(tmp_path: Path) -> None:
    names = ["gpt-4.1", "Claude Sonnet 4 (new)", "openai/gpt-4o:free", "mcp__issues__create_pull_request_review"]

    shared(made_lake(tmp_path / "lake", names), tmp_path / "out")

    shown = fetched(tmp_path / "out", "select model, tool_name from timeline order by all")
    assert shown == sorted((name, name) for name in names)
    assert {models[0] for (models,) in fetched(tmp_path / "out", "select models from sessions")} == set(names)


def test_views_answer_as_before_where_a_number_stands_in_a_text(tmp_path: Path) -> None:
    home = MadeHome(tmp_path / "homes/alice")
    home.session("s1", user("said\n and done"), reply("ok"))
    sessions = home.path / ".continue/sessions"
    shutil.copyfile(sessions / "s1.json", sessions / "s1 (1).json")
    ends = ("true/true", "false/false", "false/true")
    home.events("toolUsage", *(usage(at, f"c{at}", ended=ended) for at, ended in enumerate(ends)))
    outcome = homelake("build", tmp_path / "homes", "-o", tmp_path / "lake", "--workers", "1")
    assert outcome.exit_code == 0, outcome.stderr

    shared(tmp_path / "lake", tmp_path / "out")

    for query in (
        "select decision, decision_reason, ran, failed from fact_calls order by all",
        "select turn_type, characters, is_copied from fact_messages order by all",
        "select count(distinct source_file), count(*) from own_turns",
    ):
        assert fetched(tmp_path / "out", query) == fetched(tmp_path / "lake", query)
    copies = fetched(tmp_path / "lake", "select parse_filename(source_file), copy from session_copies order by copy")
    assert copies == [("s1.json", 1), ("s1 (1).json", 2)]


def test_a_text_is_its_length_and_a_keyed_hash(small_lake: Path, tmp_path: Path) -> None:
    key = bytes(range(100))
    (tmp_path / "key").write_bytes(key)

    shared(small_lake, tmp_path / "out", "--key", tmp_path / "key", *FEW)

    digest = hmac.digest(hashlib.sha256(key).digest() if len(key) > 64 else key, b"text\0first", "sha256").hex()[:32]
    texts = fetched(tmp_path / "out", "select text from timeline where turn_type = 'user'")
    assert (f"len=5 hmac={digest}",) in texts
    with opened(small_lake) as lake:
        empty = lake.count("timeline", "text = ''")
    assert fetched(tmp_path / "out", "select count(*) from timeline where text = ''") == [(empty,)]


def test_a_key_makes_the_same_of_a_value_in_every_share_and_no_other_does(small_lake: Path, tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / f"{name}.key").write_bytes(name.encode() * 9)
    users = 'select distinct "user", host from sessions order by all'

    shared(small_lake, tmp_path / "a", "--pseudonyms", "--key", tmp_path / "one.key", *FEW)
    shared(small_lake, tmp_path / "b", "--pseudonyms", "--key", tmp_path / "one.key", "--user", "bob", *FEW)
    shared(small_lake, tmp_path / "c", "--pseudonyms", "--key", tmp_path / "other.key", *FEW)

    assert set(fetched(tmp_path / "b", users)) < set(fetched(tmp_path / "a", users))
    assert not set(fetched(tmp_path / "c", users)) & set(fetched(tmp_path / "a", users))


def test_the_same_lake_and_options_give_the_same_bytes(marked_lake: Lake, tmp_path: Path) -> None:
    shared(marked_lake.path, tmp_path / "a", "--pseudonyms")
    run("share", marked_lake.path, tmp_path / "b", "--pseudonyms")

    assert parquet_files(tmp_path / "a") == parquet_files(tmp_path / "b")
    assert {Path(name).name for name in parquet_files(tmp_path / "a")} == {"00.parquet"}


def test_pseudonyms_keep_the_joins(marked_lake: Lake, tmp_path: Path) -> None:
    joins = """
        select count(distinct sessions.session_key), count(distinct calls.call_key), count(twins.row_id),
            count(collections.collection_id), count(distinct timeline."user"), count(artifacts.row_id),
        from timeline
        left join sessions using (session_key)
        left join tool_calls as calls on calls.call_key = timeline.call_key
        left join twins on twins.twin_row_id = timeline.row_id
        left join collections on collections.collection_id = timeline.collection_id
        left join artifacts on artifacts.source_file = timeline.source_file
    """

    shared(marked_lake.path, tmp_path / "out", "--pseudonyms")

    assert fetched(tmp_path / "out", joins) == marked_lake.rows(joins)
    keys = "select row_id, session_key, call_key from timeline"
    assert not {key for row in fetched(tmp_path / "out", keys) for key in row if key} & {
        key for row in marked_lake.rows(keys) for key in row
    }
    assert fetched(tmp_path / "out", "from timeline where not regexp_full_match(host, 'host-[0-9a-f]{16}')") == []
    assert fetched(tmp_path / "out", "from timeline where not regexp_full_match(\"user\", 'user-[0-9a-f]{16}')") == []


def test_rows_are_in_the_order_of_what_is_shown(marked_lake: Lake, tmp_path: Path) -> None:
    """The order of what was there before would tell of it."""
    shared(marked_lake.path, tmp_path / "out", "--pseudonyms")

    for table in TABLES:
        for path in (tmp_path / "out/current" / table.name).rglob("*.parquet"):
            columns = [name for name in table.order if name != "agent" or table.time is None]
            found = pq.read_table(path, columns=columns, partitioning=None).select(columns)
            rows = [tuple((value is None, value or 0) for value in row.values()) for row in found.to_pylist()]
            assert rows == sorted(rows)


def test_kept_texts_are_the_lake_itself(corpus_lake: Lake, tmp_path: Path) -> None:
    shared(corpus_lake.path, tmp_path / "out", "--texts", "keep")

    assert parquet_files(tmp_path / "out") == parquet_files(corpus_lake.path)


def test_pseudonyms_beside_kept_texts_hide_paths_and_ids_alone(marked_lake: Lake, tmp_path: Path) -> None:
    outcome = shared(marked_lake.path, tmp_path / "out", "--texts", "keep", "--pseudonyms")

    texts = "select text from timeline order by all"
    assert fetched(tmp_path / "out", texts) == marked_lake.rows(texts)
    hidden = "select source_file, project_path, session_id, host from timeline"
    assert not any(MARK in str(row) for row in fetched(tmp_path / "out", hidden))
    assert "texts can name people" in outcome.stdout


def test_rules_and_settings_keep_what_the_views_ask_for(marked_lake: Lake, tmp_path: Path) -> None:
    shared(marked_lake.path, tmp_path / "out")

    rows = fetched(tmp_path / "out", "select scope, regexp_replace(rule, '[0-9a-f]{32}', '#'), value from permissions")
    assert sorted((scope, rule) for scope, rule, _ in rows) == [
        ("allow", "Bash(len=13 hmac=#)"),
        ("allow", "Read"),
        ("exclude", "len=18 hmac=#"),
        ("setting", "allowedCommands"),
        ("setting", "alwaysAllowExecute"),
    ]
    values = {rule: value for _, rule, value in rows if value is not None}
    assert values["alwaysAllowExecute"] == "false"
    assert values["allowedCommands"].startswith("len=")


@pytest.mark.parametrize("texts", ["hash", "secrets"])
def test_views_and_examples_answer_as_before(corpus_lake: Lake, tmp_path: Path, texts: str) -> None:
    shared(corpus_lake.path, tmp_path / "out", "--texts", texts, "--pseudonyms")

    with opened(tmp_path / "out") as share:
        asked = {**selects("views"), **{name: EXAMPLES[name] for name, needed in taken().items() if not needed}}
        for name, select in asked.items():
            found = share.value(f"select count(*) from ({select})")
            assert found == corpus_lake.value(f"select count(*) from ({select})"), name
    numbers = "select agent, tool_name, calls, failures, denied from tool_failures order by all"
    assert fetched(tmp_path / "out", numbers) == corpus_lake.rows(numbers)
    tokens = "select day, agent, model, sum(prompt_tokens) from tokens_used group by all order by all"
    assert fetched(tmp_path / "out", tokens) == corpus_lake.rows(tokens)
    outcome = homelake("export", tmp_path / "out", "-o", tmp_path / "exported")
    assert outcome.exit_code == 0, outcome.stderr


# Which rows


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ((), {"alice": 4, "bob": 3}),
        (("--user", "alice"), {"alice": 4}),
        (("--host", "web02"), {"bob": 3}),
        (("--host", "web02", "--host", "web01", "--user", "bob"), {"bob": 3}),
        (("--since", "2026-09-16"), {"alice": 1}),
        (("--until", "2026-09-15"), {"alice": 2, "bob": 3}),
        (("--until", "2026-09-15", "--undated"), {"alice": 3, "bob": 3}),
        (("--since", "2026-09-15T08:31:00Z", "--until", "2026-09-15T08:31:00+00:00"), {}),
        (("--since", "2026-09-15T10:31:00+02:00", "--until", "2026-09-15T08:31:30"), {"bob": 1}),
    ],
)
def test_rows_are_chosen(small_lake: Path, tmp_path: Path, options: tuple[str, ...], rows: dict[str, int]) -> None:
    outcome = homelake("share", small_lake, tmp_path / "out", "--texts", "keep", *options)

    if not rows:
        assert (outcome.exit_code, list(tmp_path.glob("out/builds/*"))) == (2, [])
        assert "no row is of what is asked for" in outcome.stderr
        return
    query = "select \"user\", count(*) from timeline where kind in ('message', 'tool_call') group by all"
    assert dict(fetched(tmp_path / "out", query)) == rows
    hosts = {"alice": "web01", "bob": "web02"}
    for table in ("sessions", "collections", "artifacts"):
        shown = {host for (host,) in fetched(tmp_path / "out", f"select distinct host from {table}")}
        assert shown <= {hosts[name] for name in rows} or "--since" in options or "--until" in options


def test_an_assistant_and_tables_are_chosen(marked_lake: Lake, tmp_path: Path) -> None:
    shared(marked_lake.path, tmp_path / "out", "--agent", "pearai", "--table", "sessions", "--table", "tool_calls")

    assert fetched(tmp_path / "out", "select distinct agent from sessions") == [("pearai",)]
    counts = {table.name: fetched(tmp_path / "out", f"select count(*) from {table.name}")[0][0] for table in TABLES}
    assert {name for name, count in counts.items() if count} <= {"sessions", "tool_calls"}
    assert fetched(tmp_path / "out", "from timeline_ordered") == []


def test_columns_are_left_empty_and_stay(small_lake: Path, tmp_path: Path) -> None:
    options = ("--without-column", "timeline.text", "--without-column", "user", "--without-column", "sessions.models")

    shared(small_lake, tmp_path / "out", "--texts", "keep", *options)

    assert fetched(tmp_path / "out", 'select distinct text, "user" from timeline') == [("", None)]
    assert fetched(tmp_path / "out", 'select distinct models, "user" from sessions') == [(None, None)]
    assert not any(b"alice" in name.encode() for name in parquet_files(tmp_path / "out"))
    for name in selects("views"):
        fetched(tmp_path / "out", f"from {name}")


# What it never touches


def test_a_lake_is_left_as_it_is(small_lake: Path, tmp_path: Path) -> None:
    before = snapshot(small_lake)

    shared(small_lake, tmp_path / "out", *FEW)

    assert snapshot(small_lake) == before


def test_a_share_is_no_place_for_a_build(small_lake: Path, tmp_path: Path) -> None:
    shared(small_lake, tmp_path / "out", *FEW)
    before = snapshot(tmp_path / "out")
    MadeHome(tmp_path / "home").session("s", user("x"))

    outcomes = [homelake("build", tmp_path / "home", "-o", tmp_path / "out", *more) for more in ((), ("--replace",))]

    for outcome in outcomes:
        assert outcome.exit_code == 2
        assert outcome.stderr.startswith("homelake: ")
        assert outcome.stderr.count("\n") == 1
        assert "made by `homelake share`" in outcome.stderr
    assert snapshot(tmp_path / "out") == before


def test_a_second_share_leaves_nothing_of_the_first(small_lake: Path, tmp_path: Path) -> None:
    shared(small_lake, tmp_path / "out", "--texts", "keep")
    (tmp_path / "out/builds/7.unfinished").mkdir()
    (tmp_path / "out/builds/7.unfinished/left").write_text("of a killed one", encoding="utf-8")

    shared(small_lake, tmp_path / "out", *FEW)

    assert [path.name for path in (tmp_path / "out/builds").iterdir()] == ["2"]
    assert fetched(tmp_path / "out", "select count(*) from timeline where text = 'first'") == [(0,)]


def test_a_share_that_fails_leaves_the_one_before(small_lake: Path, tmp_path: Path) -> None:
    shared(small_lake, tmp_path / "out", *FEW)
    before = snapshot(tmp_path / "out")

    outcome = homelake("share", small_lake, tmp_path / "out", "--user", "nobody")

    assert outcome.exit_code == 2
    assert snapshot(tmp_path / "out") == before


def test_a_share_can_be_shared(small_lake: Path, tmp_path: Path) -> None:
    shared(small_lake, tmp_path / "one", "--user", "bob", *FEW)
    shared(tmp_path / "one", tmp_path / "two", "--texts", "keep")

    assert parquet_files(tmp_path / "two") == parquet_files(tmp_path / "one")


def test_the_manifest_names_nobody(marked_lake: Lake, tmp_path: Path) -> None:
    shared(marked_lake.path, tmp_path / "out", "--user", "alice", "--host", f"h-{MARK}", *FEW)

    manifest = json.loads((tmp_path / "out/current/manifest.json").read_bytes())
    assert set(manifest) == {"format", "homelake", "share", "tables"}
    assert "alice" not in str(manifest)
    assert MARK not in str(manifest)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("NONE", "OUT"), "not a lake"),
        (("LAKE", "LAKE"), "lies in the lake"),
        (("LAKE", "LAKE/x"), "lies in the lake"),
        (("LAKE", "FULL"), "not a lake, and not empty"),
        (("LAKE", "OTHER"), "a lake that is no share"),
        (("LAKE", "OUT", "--table", "nope"), "no table 'nope'; there are timeline, sessions"),
        (("LAKE", "OUT", "--agent", "nope"), "no assistant 'nope'"),
        (("LAKE", "OUT", "--since", "soon"), "'soon' is no date"),
        (("LAKE", "OUT", "--without-column", "nope"), "no column 'nope'"),
        (("LAKE", "OUT", "--without-column", "timeline.row_id"), "timeline.row_id cannot be left out"),
        (("LAKE", "OUT", "--without-column", "kind"), "timeline.kind cannot be left out"),
        (("LAKE", "OUT", "--key", "SHORT"), "a key has 16 bytes or more"),
        (("LAKE", "OUT", "--key", "NOFILE"), "NOFILE: No such file or directory"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(small_lake: Path, tmp_path: Path, words: tuple[str, ...], line: str) -> None:
    (tmp_path / "FULL").mkdir()
    (tmp_path / "FULL/file").write_text("mine", encoding="utf-8")
    (tmp_path / "SHORT").write_text("guessable", encoding="utf-8")
    (tmp_path / "NONE").mkdir()
    shutil.copytree(small_lake, tmp_path / "OTHER", symlinks=True)
    before = snapshot(tmp_path)

    outcome = homelake(
        "share",
        *(
            word.replace("LAKE", str(small_lake)) if "LAKE" in word else tmp_path / word if word.isupper() else word
            for word in words
        ),
    )

    assert outcome.exit_code == 2
    assert outcome.stderr.startswith("homelake: ")
    assert outcome.stderr.count("\n") == 1
    assert line in outcome.stderr
    assert snapshot(tmp_path) == before


def test_a_share_lies_anywhere(small_lake: Path, tmp_path: Path) -> None:
    odd = tmp_path / "a=b [1]*? 'x' é"
    odd.mkdir()
    (odd / "lake").symlink_to(small_lake)

    shared(odd / "lake", odd / "out", "--pseudonyms", *FEW)
    shared(odd / "out", odd / "again", "--texts", "keep")

    with duckdb.connect(str(odd / "again/lake.duckdb"), read_only=True) as client:
        assert client.execute("select count(*) > 5 from timeline").fetchall() == [(True,)]


def test_what_is_named_and_left_out_is_told(small_lake: Path, tmp_path: Path) -> None:
    told = {
        name: homelake("share", small_lake, tmp_path / name, *options).stdout
        for name, options in {
            "plain": (),
            "hidden": ("--pseudonyms",),
            "span": ("--since", "2000-01-01"),
            "all": ("--since", "2000-01-01", "--undated"),
            "part": ("--since", "2000-01-01", "--user", "bob", "--table", "timeline"),
        }.items()
    }

    counted = " union all ".join(f"select count(*) from {table.name}" for table in TABLES)
    counts = {name: sum(count for (count,) in fetched(tmp_path / name, counted)) for name in told}
    assert counts["plain"] == counts["all"] > counts["span"]
    assert (
        f"\nnote      {counts['all'] - counts['span']} rows without a time left out (--undated takes them)\n"
        in told["span"]
    )
    assert [name for name, text in told.items() if "without a time" in text] == ["span"]
    assert [name for name, text in told.items() if "(--pseudonyms hides them)" not in text] == ["hidden"]
