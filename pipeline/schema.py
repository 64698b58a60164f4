"""Every table of the lake, declared once.

A `Table` feeds empty frames, casts, the Parquet files' types and column comments, the views' comments, the data
dictionary (`homelake schema`) and the tests that compare what was built with it. Polars types are the only type
vocabulary; Arrow types are derived from them.
"""

from dataclasses import dataclass
from typing import cast

import polars as pl
import pyarrow as pa

from pipeline.reasons import REASONS

TEXT = pl.String()
FLAG = pl.Boolean()
SMALL = pl.Int32()
COUNT = pl.Int64()
MONEY = pl.Float64()
TIME = pl.Datetime("ms")

LONG = {"text", "arguments", "output", "content", "prompt", "completion", "old_text", "new_text"}
"""Columns of whole texts, which the checks of a build need not look at."""

FORMAT_VERSION = 1
"""Version of the lake's layout; a lake of another version is not updated."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, type and meaning (with the unit, and where the value comes from)."""

    name: str
    dtype: pl.DataType
    description: str
    nullable: bool = True
    repeats: bool = False
    """Few distinct values: stored with a dictionary."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table: its grain, key and columns.

    `time` names the column whose month partitions the table (`<table>/agent=<agent>/month=<YYYY-MM>/`, where `agent`
    is in the path alone); a table without one is a file per bucket. `order` is the total order of its rows.
    """

    name: str
    grain: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    time: str | None = None
    order: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Column names, in order."""
        return [column.name for column in self.columns]

    @property
    def polars(self) -> dict[str, pl.DataType]:
        """Column names and types."""
        return {column.name: column.dtype for column in self.columns}

    @property
    def stored(self) -> tuple[Column, ...]:
        """Columns of the Parquet files: all of them, but `agent` where the path holds it."""
        return tuple(column for column in self.columns if self.time is None or column.name != "agent")

    def empty(self) -> pl.DataFrame:
        """A frame without rows."""
        return pl.DataFrame(schema=self.polars)

    def arrow(self) -> pa.Schema:
        """Arrow schema of the Parquet files; each field's metadata holds its column's comment."""
        return pa.schema(
            [pa.field(c.name, arrow_type(c.dtype), c.nullable, {"comment": c.description}) for c in self.stored],
            metadata={"homelake.table": self.name, "homelake.grain": self.grain},
        )


def arrow_type(dtype: pl.DataType) -> pa.DataType:
    """Arrow type of a column in a Parquet file."""
    if isinstance(dtype, pl.List):
        return pa.list_(arrow_type(cast("pl.DataType", dtype.inner)))
    return ARROW_TYPES[dtype]


ARROW_TYPES: dict[pl.DataType, pa.DataType] = {
    TEXT: pa.string(),
    FLAG: pa.bool_(),
    SMALL: pa.int32(),
    COUNT: pa.int64(),
    MONEY: pa.float64(),
    TIME: pa.timestamp("ms"),
}

HOST = Column("host", TEXT, "Host the home was collected from; null where the input names none.", repeats=True)
USER = Column("user", TEXT, "User whose home it is; null where the input is the home itself.", repeats=True)
AGENT = Column("agent", TEXT, "Assistant: `continue` or `pearai`.", nullable=False, repeats=True)
SESSION_KEY = Column(
    "session_key",
    TEXT,
    "Stable key of the session's file in its home; joins every table of a session.",
    repeats=True,
)
SESSION_ID = Column("session_id", TEXT, "The session's id as its file states it, else the file's name.", repeats=True)
PROJECT_PATH = Column(
    "project_path", TEXT, "Workspace directory, `file://` decoded; null where none is stored.", repeats=True
)
SOURCE = Column("source", TEXT, "Kind of file the row was read from, `<agent>.<kind>`.", repeats=True)
SOURCE_FILE = Column(
    "source_file", TEXT, "Path on the source host; of a loose tree, the path below the input.", repeats=True
)
SOURCE_LINE = Column(
    "source_line",
    SMALL,
    "Line, or 1-based position in the file's array; 0 for what concerns the whole session.",
)
HOME_PATH = Column("home_path", TEXT, "Path of the file below its home.", repeats=True)
ROW_ID = Column("row_id", TEXT, "Stable key of the row; the same in every collection that holds it.", nullable=False)
CURRENT = Column("current", FLAG, "Whether the home's last collection still holds it.", nullable=False)
COLLECTION_ID = Column(
    "collection_id", TEXT, "Collection in which the file's present bytes were first seen.", repeats=True
)
EVENT_UTC = Column("event_utc", TIME, "When it really happened, by the best evidence there is (UTC).")

TIMELINE = Table(
    "timeline",
    "one row per thing that was said, done or decided",
    ("row_id",),
    (
        Column(
            "timestamp_utc",
            TIME,
            "Time of the record as its file gives it (UTC): the session's, where it has none.",
        ),
        HOST,
        USER,
        AGENT,
        SESSION_ID,
        PROJECT_PATH,
        Column("git_branch", TEXT, "Always null: no assistant that is read records a branch.", repeats=True),
        Column(
            "turn_type",
            TEXT,
            "`user`, `assistant`, `thinking`, `tool_use`, `tool_result` or `system`.",
            False,
            True,
        ),
        Column(
            "model",
            TEXT,
            "Model of an assistant, thinking, call, result or model row: its own, else the one in force.",
            repeats=True,
        ),
        Column("tool_name", TEXT, "Tool of a call, its result or its decision.", repeats=True),
        Column("tool_use_id", TEXT, "Id of the call as the file gives it; ids can repeat.", repeats=True),
        Column("text", TEXT, "The whole text, white space trimmed at both ends; `''` where there is none.", False),
        SOURCE_FILE,
        SOURCE_LINE,
        SOURCE,
        Column(
            "kind",
            TEXT,
            "What the row is: `session`, `model`, `permission_mode`, `scratch_directory`, `message`, `summary`, "
            "`tool_call`, `tool_result`, `permission_decision`, `permission_setting`, `edit`, `feedback`, `sync`, "
            "`task`, `usage`, `file_context`, `notice` or `problem` (a loss).",
            False,
            True,
        ),
        Column("sequence", SMALL, "Order among all rows of the file, from 0.", False),
        Column(
            "timestamp_basis",
            TEXT,
            "What `timestamp_utc` is: `record`, `session`, `file` or `log_local`.",
            repeats=True,
        ),
        EVENT_UTC,
        Column(
            "event_basis",
            TEXT,
            "What `event_utc` rests on: `record`, `file` or `log_local` (the row's own time), `call_id` (a clock in "
            "the call's id), `chat_interaction` (the event of the same exchange), `tool_usage` (the event of the "
            "call's end), `reasoning` (its start or end), `input_history` (the prompt's twin there) or `session`.",
            repeats=True,
        ),
        Column("secondary", FLAG, "Whether the source repeats what another one holds.", False),
        Column("recovered", FLAG, "Secondary, and no other source holds it: found again.", False),
        Column(
            "repeats_row_id",
            TEXT,
            "Row of a session that this row of an event file repeats; counts leave it out.",
        ),
        ROW_ID,
        SESSION_KEY,
        Column(
            "call_key",
            TEXT,
            "Stable key of the call on the rows of a call; joins `tool_calls`.",
            repeats=True,
        ),
        HOME_PATH,
        COLLECTION_ID,
        CURRENT,
    ),
    time="event_utc",
    order=("host", "user", "agent", "session_key", "source_file", "sequence", "source_line", "row_id"),
)

SESSIONS = Table(
    "sessions",
    "one row per session file, per index entry without one, and per session that events alone name",
    ("session_key",),
    (
        HOST,
        USER,
        AGENT,
        SESSION_KEY,
        SESSION_ID,
        Column("file_id", TEXT, "Name of the session's file without `.json`; null without a file."),
        Column("title", TEXT, "Title: the file's, else the index's."),
        PROJECT_PATH,
        Column("project_name", TEXT, "Last component of `project_path`.", repeats=True),
        Column("workspace_directory", TEXT, "Workspace directory as stored.", repeats=True),
        Column("mode", TEXT, "Mode at the last save: `chat`, `agent`, `plan` or `background`.", repeats=True),
        Column("models", pl.List(TEXT), "Models named by the session, in order of first use."),
        Column("started_utc", TIME, "Start of the session (UTC)."),
        Column(
            "started_basis",
            TEXT,
            "What `started_utc` is: `session` (the index), `file` (its modification time), `record` (its first event).",
            repeats=True,
        ),
        Column("first_event_utc", TIME, "Earliest `event_utc` of its rows (UTC)."),
        Column("last_event_utc", TIME, "Latest `event_utc` of its rows (UTC)."),
        Column("user_turns", COUNT, "Messages of the user.", False),
        Column("assistant_turns", COUNT, "Messages of the assistant.", False),
        Column("tool_calls", COUNT, "Tool calls.", False),
        Column("prompt_tokens", COUNT, "Prompt tokens by the session's own usage record."),
        Column("completion_tokens", COUNT, "Completion tokens by the session's own usage record."),
        Column("cached_tokens", COUNT, "Prompt tokens read from a cache by the session's own usage record."),
        Column("total_cost_usd", MONEY, "Cost by the session's own usage record (US dollars)."),
        Column("index_message_count", COUNT, "Assistant messages that the index counts."),
        Column("has_file", FLAG, "Whether a file of the session exists; false: it was deleted.", False),
        Column("in_index", FLAG, "Whether the index lists it.", False),
        Column("compacted", FLAG, "Whether an item holds a summary that replaced earlier turns.", False),
        Column("scratch", FLAG, "Whether it ran in a temporary worktree of the assistant's own.", False),
        Column("damaged", FLAG, "Whether a part of its file could not be read.", False),
        Column(
            "integration_type",
            TEXT,
            "Kind of chat that the index names: `continue` or `perplexity`.",
            repeats=True,
        ),
        SOURCE,
        SOURCE_FILE,
        HOME_PATH,
        COLLECTION_ID,
        CURRENT,
    ),
    order=("host", "user", "agent", "session_key", "source_file", "session_id"),
)

TOOL_CALLS = Table(
    "tool_calls",
    "one row per tool call of a session",
    ("call_key",),
    (
        HOST,
        USER,
        AGENT,
        SESSION_KEY,
        SESSION_ID,
        PROJECT_PATH,
        Column("tool_name", TEXT, "Tool as the file names it.", repeats=True),
        Column("tool_use_id", TEXT, "Id of the call as the file gives it; ids can repeat."),
        Column("model", TEXT, "Model in force: the item's own, else the one named last before it.", repeats=True),
        Column("arguments", TEXT, "Arguments as stored: JSON, or the raw text where they are none."),
        Column(
            "status",
            TEXT,
            "`generating`, `generated`, `calling`, `done`, `errored` or `canceled`; null without a state.",
            repeats=True,
        ),
        Column(
            "output",
            TEXT,
            "Text that the tool returned, white space trimmed at both ends; null where there is none.",
        ),
        Column("output_bytes", COUNT, "Size of the output as stored (bytes of UTF-8)."),
        Column("accepted", FLAG, "Whether the editor's event of the call says that it was accepted.", repeats=True),
        Column("succeeded", FLAG, "Whether the editor's event of the call says that it succeeded.", repeats=True),
        Column(
            "usage_match",
            TEXT,
            "Whether the call has an event of its own: `matched`, `none`, or `ambiguous` (several fit; none is taken).",
            False,
            True,
        ),
        Column(
            "requested_utc",
            TIME,
            "When the call was made (UTC), where more than the session's time is known.",
        ),
        Column("finished_utc", TIME, "When the call ended (UTC), by its event."),
        EVENT_UTC,
        SOURCE,
        SOURCE_FILE,
        SOURCE_LINE,
        Column("sequence", SMALL, "`timeline.sequence` of the call's row.", False),
        Column("call_key", TEXT, "Stable key of the call; joins `timeline.call_key`.", False),
        ROW_ID,
        HOME_PATH,
        COLLECTION_ID,
        CURRENT,
    ),
    time="event_utc",
    order=("host", "user", "agent", "session_key", "source_file", "sequence", "source_line", "row_id"),
)

CONTEXT_ITEMS = Table(
    "context_items",
    "one row per context item or citation that came with a message",
    ("row_id",),
    (
        HOST,
        USER,
        AGENT,
        SESSION_KEY,
        SESSION_ID,
        PROJECT_PATH,
        Column("provider", TEXT, "Provider of the item; `citation` for a link of a search reply.", repeats=True),
        Column("name", TEXT, "Name shown for the item."),
        Column("description", TEXT, "Description, often a path."),
        Column("uri", TEXT, "Address of the item."),
        Column("content", TEXT, "The whole content."),
        Column("content_bytes", COUNT, "Size of the content (bytes of UTF-8)."),
        EVENT_UTC,
        SOURCE,
        SOURCE_FILE,
        SOURCE_LINE,
        Column("sequence", SMALL, "Order among the context items of the file, from 0.", False),
        ROW_ID,
        HOME_PATH,
        COLLECTION_ID,
        CURRENT,
    ),
    time="event_utc",
    order=("host", "user", "agent", "session_key", "source_file", "sequence", "source_line", "row_id"),
)

PERMISSIONS = Table(
    "permissions",
    "one row per standing rule or setting",
    ("row_id",),
    (
        HOST,
        USER,
        AGENT,
        SESSION_KEY,
        Column(
            "scope",
            TEXT,
            "List the rule stands in: `allow`, `ask` or `exclude`; `setting` for an auto-approval setting.",
            repeats=True,
        ),
        Column("rule", TEXT, "Rule, `Tool` or `Tool(<pattern>)`, or name of the setting."),
        Column("value", TEXT, "Value of a setting, as JSON; null for a rule."),
        Column("recorded_utc", TIME, "When it was last recorded: the file's modification time (UTC)."),
        Column("granted_utc", TIME, "When it was granted by the log, the last time (host-local time read as UTC)."),
        Column("honoured", FLAG, "Whether the assistant itself would use the file; null where it is not known."),
        EVENT_UTC,
        SOURCE,
        SOURCE_FILE,
        SOURCE_LINE,
        ROW_ID,
        HOME_PATH,
        COLLECTION_ID,
        CURRENT,
    ),
    order=("host", "user", "agent", "source_file", "source_line", "row_id"),
)

TOKEN_USAGE = Table(
    "token_usage",
    "one row per request, reply or task that states tokens; sums take one grain, the first there is",
    ("row_id",),
    (
        HOST,
        USER,
        AGENT,
        SESSION_KEY,
        SESSION_ID,
        PROJECT_PATH,
        Column("grain", TEXT, "`request`, `reply` (`message.usage`) or `task`.", False, True),
        Column("utc", TIME, "When the tokens were used (UTC): `event_utc`."),
        Column("model", TEXT, "Model, as the record names it.", repeats=True),
        Column("provider", TEXT, "Provider of the model.", repeats=True),
        Column("prompt_tokens", COUNT, "Tokens of the prompt."),
        Column("completion_tokens", COUNT, "Tokens of the reply."),
        Column("cache_read_tokens", COUNT, "Prompt tokens read from a cache."),
        Column("cache_write_tokens", COUNT, "Prompt tokens written to a cache."),
        Column("cost_usd", MONEY, "Cost (US dollars)."),
        EVENT_UTC,
        SOURCE,
        SOURCE_FILE,
        SOURCE_LINE,
        ROW_ID,
        HOME_PATH,
        COLLECTION_ID,
        CURRENT,
    ),
    time="event_utc",
    order=("host", "user", "agent", "session_key", "source_file", "source_line", "row_id"),
)

COMPLETIONS = Table(
    "completions",
    "one row per completion or next edit that the editor offered",
    ("row_id",),
    (
        HOST,
        USER,
        AGENT,
        SESSION_KEY,
        Column("utc", TIME, "When it was offered (UTC): `event_utc`."),
        Column("model", TEXT, "Model that made it.", repeats=True),
        Column("provider", TEXT, "Provider of the model.", repeats=True),
        Column("file_path", TEXT, "File it was offered for, `file://` decoded."),
        Column("accepted", FLAG, "Whether it was taken."),
        Column("latency_ms", COUNT, "Time it took (milliseconds)."),
        Column("cache_hit", FLAG, "Whether it came from the cache."),
        Column("prompt_chars", COUNT, "Length of the prompt (characters)."),
        Column("completion_chars", COUNT, "Length of the completion (characters)."),
        Column("prompt", TEXT, "The prompt; null unless the lake was built with `--completion-text`."),
        Column("completion", TEXT, "The completion; null unless the lake was built with `--completion-text`."),
        EVENT_UTC,
        SOURCE,
        SOURCE_FILE,
        SOURCE_LINE,
        ROW_ID,
        HOME_PATH,
        COLLECTION_ID,
        CURRENT,
    ),
    time="event_utc",
    order=("host", "user", "agent", "source_file", "source_line", "row_id"),
)

TWINS = Table(
    "twins",
    "one row per row of a secondary source that repeats a row of the timeline",
    ("row_id",),
    (
        *TIMELINE.columns,
        Column("twin_row_id", TEXT, "`timeline.row_id` of the row that it repeats.", nullable=False),
        Column("seconds_apart", MONEY, "Its time minus that row's time (seconds); null without both."),
    ),
    time="event_utc",
    order=TIMELINE.order,
)

PROBLEMS = Table(
    "problems",
    "one row per loss, and per note and reason of a record",
    ("row_id",),
    (
        HOST,
        USER,
        AGENT,
        SESSION_KEY,
        SESSION_ID,
        PROJECT_PATH,
        Column(
            "reason",
            TEXT,
            "What could not be read, or is odd: " + ", ".join(f"`{reason}`" for reason in REASONS) + ".",
            False,
            True,
        ),
        Column(
            "lost",
            FLAG,
            "True: a loss, something gives no row; false: a note on a record that is kept.",
            False,
        ),
        Column("detail", TEXT, "Position, count or names of fields; never content."),
        Column("bytes", COUNT, "Size of what was not read (bytes of the file)."),
        SOURCE,
        SOURCE_FILE,
        SOURCE_LINE,
        ROW_ID,
        HOME_PATH,
        COLLECTION_ID,
        CURRENT,
    ),
    order=("host", "user", "agent", "session_key", "source_file", "source_line", "reason", "row_id"),
)

ARTIFACTS = Table(
    "artifacts",
    "one row per file of an assistant in a home",
    ("host", "user", "source_file"),
    (
        HOST,
        USER,
        AGENT,
        SESSION_KEY,
        Column("path", TEXT, "Path of the file below its home.", False),
        SOURCE_FILE,
        Column("bytes", COUNT, "Size of the file (bytes); null for a folder that is listed as a whole."),
        Column("mtime_utc", TIME, "Modification time (UTC)."),
        Column("sha256", TEXT, "SHA-256 of the bytes that were read; null where the file was not opened."),
        Column(
            "status",
            TEXT,
            "`parsed`, `known` (not read), `secret` (never opened), `skipped`, `missing` or `unreadable`.",
            False,
            True,
        ),
        SOURCE,
        Column("records", COUNT, "Raw records in the file."),
        Column("rows", COUNT, "Records that give a row of any table."),
        Column("losses", COUNT, "Losses of the file."),
        Column("silent", COUNT, "Records that a rule names as giving no row."),
        COLLECTION_ID,
        CURRENT,
    ),
    order=("host", "user", "agent", "source_file", "collection_id"),
)

COLLECTIONS = Table(
    "collections",
    "one row per collection that was read",
    ("collection_id",),
    (
        Column("collection_id", TEXT, "Hash of host, times and the files' paths, sizes and hashes.", False),
        Column("input", TEXT, "Where the collection was read from, as the command line named it."),
        HOST,
        Column(
            "collected_utc",
            TIME,
            "When it was collected (UTC), by the collector, the command line or the newest file.",
        ),
        Column("tool", TEXT, "Collector that made it."),
        Column("version", TEXT, "The collector's version."),
        Column("homes", COUNT, "Homes with an assistant's state.", False),
        Column("files", COUNT, "Files of an assistant.", False),
        Column("bytes", COUNT, "Size of those files (bytes).", False),
    ),
    order=("collection_id",),
)

TABLES: tuple[Table, ...] = (
    TIMELINE,
    SESSIONS,
    TOOL_CALLS,
    CONTEXT_ITEMS,
    PERMISSIONS,
    TOKEN_USAGE,
    COMPLETIONS,
    TWINS,
    PROBLEMS,
    ARTIFACTS,
    COLLECTIONS,
)
