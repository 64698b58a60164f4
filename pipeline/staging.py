"""The frames that stage two hands to stage three: what every source's records become, whatever their format.

`sql/` joins them; `artifact` is the number of the artifact in its batch (the table `artifacts`), and stands for its
host, user, assistant and path.
"""

import polars as pl

from pipeline.schema import COUNT, FLAG, MONEY, SMALL, TEXT, TIME, Column, Table

ARTIFACT = Column("artifact", SMALL, "Number of the artifact in its batch.", nullable=False)
LINE = Column("line", SMALL, "Line or 1-based position in the file; 0 for what concerns the whole session.")
RECORD = Column("record", SMALL, "Number of its record in the file, from 1; null: its line tells records apart.")
KEY = Column("key", TEXT, "The row's own key (beside its text), of which its id is made.")
OCCURRENCE = Column("occurrence", SMALL, "Which of the file's rows with the same key it is, from 0.")

ROWS = Table(
    "rows",
    "one row per row of the timeline",
    ("artifact", "sequence"),
    (
        ARTIFACT,
        Column("sequence", SMALL, "Order among all rows of the file, from 0."),
        LINE,
        RECORD,
        Column("kind", TEXT, "`timeline.kind`."),
        Column("turn_type", TEXT, "`timeline.turn_type`."),
        Column("text", TEXT, "`timeline.text`, trimmed; of a session row, what follows its title."),
        Column("whole_text", TEXT, "The text as its file has it, where `text` hides a part: its twin has the same."),
        Column("model", TEXT, "`timeline.model`."),
        Column("tool_name", TEXT, "`timeline.tool_name`."),
        Column("tool_use_id", TEXT, "`timeline.tool_use_id`."),
        Column("own_utc", TIME, "The row's own time."),
        Column(
            "own_basis",
            TEXT,
            "What the row's time is: `record` or `log_local` (`own_utc`), `file` (its modification time); null: its "
            "session's.",
        ),
        Column("named_session", TEXT, "Session that the record names; null in a session's own file."),
        Column("call_artifact", SMALL, "Artifact of its call, where that is another one."),
        Column("standby", FLAG, "Whether the row holds only where its session has no better transcript."),
        Column("call_id_utc", TIME, "The clock in the call's id."),
        Column("reasoning_utc", TIME, "When the reasoning of its item began or ended."),
        Column("call_no", SMALL, "Number of its call in the file."),
        KEY,
        Column("keyed_by_text", FLAG, "Whether the text is part of the key."),
        OCCURRENCE,
    ),
)

POSITION = (
    Column("order_line", SMALL, "Position of the record that the row stands at, for the order alone."),
    Column("rank", SMALL, "Order among the rows of a record."),
    Column("part", SMALL, "Order among the rows of a rank."),
    Column("sub", SMALL, "Order among the rows of a part."),
)
"""What orders the rows of a file before they have their `sequence`."""

LAST = 2**31 - 1
"""`order_line` of what stands behind all records of a file."""

DRAFTS = Table(
    "drafts",
    "one row per row of the timeline, before the rows of a file are in order",
    (),
    (*POSITION, *(column for column in ROWS.columns if column.name not in ("sequence", "occurrence"))),
)

CALLS = Table(
    "calls",
    "one row per tool call",
    ("artifact", "call_no"),
    (
        ARTIFACT,
        Column("call_no", SMALL, "Number of the call in the file."),
        Column("records", SMALL, "Raw records it was made from."),
        Column("arguments", TEXT, "`tool_calls.arguments`."),
        Column("status", TEXT, "`tool_calls.status`."),
        Column("output", TEXT, "`tool_calls.output`."),
        Column("output_bytes", COUNT, "`tool_calls.output_bytes`."),
        Column("typed", TEXT, "What a person typed to make the call themselves; null for a call of the assistant's."),
        Column("tool_kind", TEXT, "`tool_calls.tool_kind`."),
        Column("decision", TEXT, "`tool_calls.decision`, as far as the call itself tells."),
        Column("decision_reason", TEXT, "`tool_calls.decision_reason`."),
        Column("ran", FLAG, "`tool_calls.ran`."),
        Column("command", TEXT, "`tool_calls.command`."),
        Column("file_path", TEXT, "`tool_calls.file_path`."),
        Column("old_text", TEXT, "`tool_calls.old_text`."),
        Column("new_text", TEXT, "`tool_calls.new_text`."),
        Column("lines_added", COUNT, "`tool_calls.lines_added`."),
        Column("lines_removed", COUNT, "`tool_calls.lines_removed`."),
        Column("exit_code", COUNT, "`tool_calls.exit_code`."),
    ),
)

PROMPT_LOGS = Table(
    "prompt_logs",
    "one row per model request that an item of a session keeps",
    (),
    (ARTIFACT, LINE, Column("exchange", COUNT, "Hash of its prompt and its completion, of this process.")),
)

EXCHANGES = Table(
    "exchanges",
    "one row per event of a model request and its reply",
    ("artifact", "record"),
    (
        ARTIFACT,
        LINE,
        RECORD,
        Column("session_id", TEXT, "Session that the event names."),
        Column("utc", TIME, "When the reply had come."),
        Column("exchange", COUNT, "Hash of its prompt and its completion, of this process."),
        Column("reply", TEXT, "The reply as a session holds it, trimmed."),
    ),
)

USAGES = Table(
    "usages",
    "one row per event of a tool call that ended",
    ("artifact", "record"),
    (
        ARTIFACT,
        LINE,
        RECORD,
        Column("utc", TIME, "When it ended."),
        Column("tool_use_id", TEXT, "Id of the call."),
        Column("tool_name", TEXT, "Tool."),
        Column("arguments", TEXT, "Arguments as stored, trimmed."),
        Column("accepted", FLAG, "`tool_calls.accepted`."),
        Column("succeeded", FLAG, "`tool_calls.succeeded`."),
    ),
)

RULES = Table(
    "rules",
    "one row per standing rule or setting; its row of the timeline has the same line and key",
    (),
    (
        ARTIFACT,
        LINE,
        RECORD,
        Column("scope", TEXT, "`permissions.scope`."),
        Column("rule", TEXT, "`permissions.rule`."),
        Column("value", TEXT, "`permissions.value`."),
        Column("honoured", FLAG, "`permissions.honoured`."),
        KEY,
        OCCURRENCE,
    ),
)

GRANTS = Table(
    "grants",
    "one row per record of a rule that was granted",
    (),
    (
        ARTIFACT,
        LINE,
        Column("rule", TEXT, "The rule."),
        Column("utc", TIME, "When it was granted."),
    ),
)

TOKENS = Table(
    "tokens",
    "one row per request, reply or task that states tokens",
    (),
    (
        ARTIFACT,
        LINE,
        RECORD,
        Column("grain", TEXT, "`request`, `reply` or `task`."),
        Column("named_session", TEXT, "Session that the record names; null in a session's own file."),
        Column("own_utc", TIME, "Its own time; a reply has that of its item."),
        Column("model", TEXT, "`token_usage.model`."),
        Column("provider", TEXT, "`token_usage.provider`."),
        Column("prompt_tokens", COUNT, "`token_usage.prompt_tokens`."),
        Column("completion_tokens", COUNT, "`token_usage.completion_tokens`."),
        Column("cache_read_tokens", COUNT, "`token_usage.cache_read_tokens`."),
        Column("cache_write_tokens", COUNT, "`token_usage.cache_write_tokens`."),
        Column("cost_usd", MONEY, "`token_usage.cost_usd`."),
        KEY,
        OCCURRENCE,
    ),
)

SUGGESTIONS = Table(
    "suggestions",
    "one row per completion that was offered in the editor",
    (),
    (
        ARTIFACT,
        LINE,
        RECORD,
        Column("utc", TIME, "`completions.utc`."),
        Column("model", TEXT, "`completions.model`."),
        Column("provider", TEXT, "`completions.provider`."),
        Column("file_path", TEXT, "`completions.file_path`."),
        Column("accepted", FLAG, "`completions.accepted`."),
        Column("latency_ms", COUNT, "`completions.latency_ms`."),
        Column("cache_hit", FLAG, "`completions.cache_hit`."),
        Column("prompt_chars", COUNT, "`completions.prompt_chars`."),
        Column("completion_chars", COUNT, "`completions.completion_chars`."),
        Column("prompt", TEXT, "`completions.prompt`."),
        Column("completion", TEXT, "`completions.completion`."),
        KEY,
        OCCURRENCE,
    ),
)

SESSIONS = Table(
    "session_files",
    "one row per session file that could be read",
    ("artifact",),
    (
        ARTIFACT,
        Column("session_id", TEXT, "The file's own id."),
        Column("title", TEXT, "The file's title, trimmed; null where it has none."),
        Column("workspace_directory", TEXT, "Workspace directory as stored."),
        Column("project_path", TEXT, "Workspace directory, decoded."),
        Column("mode", TEXT, "`sessions.mode`."),
        Column("prompt_tokens", COUNT, "`sessions.prompt_tokens`."),
        Column("completion_tokens", COUNT, "`sessions.completion_tokens`."),
        Column("cached_tokens", COUNT, "`sessions.cached_tokens`."),
        Column("total_cost_usd", MONEY, "`sessions.total_cost_usd`."),
        Column("compacted", FLAG, "`sessions.compacted`."),
        Column("scratch", FLAG, "`sessions.scratch`."),
        Column("messages", COUNT, "Messages of the better of several transcripts; null for any other file."),
        Column("first_utc", TIME, "Time of its first message that has one."),
        Column("first_text", TEXT, "First line of the user's first text."),
    ),
)

ENTRIES = Table(
    "entries",
    "one row per usable entry of an index",
    ("artifact", "position"),
    (
        ARTIFACT,
        Column("position", SMALL, "1-based position in the index."),
        Column("session_id", TEXT, "Id that the entry names.", nullable=False),
        Column("title", TEXT, "Title, trimmed."),
        Column("created_utc", TIME, "When the session was created."),
        Column("workspace_directory", TEXT, "Workspace directory as stored."),
        Column("project_path", TEXT, "Workspace directory, decoded."),
        Column("message_count", COUNT, "Assistant messages that the entry counts."),
        Column("basis", TEXT, "What `created_utc` is: `session`, or `task_list`."),
        Column("integration_type", TEXT, "Kind of chat that the entry names."),
        Column("scratch", FLAG, "Whether its workspace is a temporary one of the assistant's own."),
    ),
)

CONTEXT = Table(
    "contexts",
    "one row per context item or citation",
    ("artifact", "sequence"),
    (
        ARTIFACT,
        Column("sequence", SMALL, "Order among the context items of the file, from 0."),
        LINE,
        Column("provider", TEXT, "`context_items.provider`."),
        Column("name", TEXT, "`context_items.name`."),
        Column("description", TEXT, "`context_items.description`."),
        Column("uri", TEXT, "`context_items.uri`."),
        Column("content", TEXT, "`context_items.content`."),
        Column("content_bytes", COUNT, "`context_items.content_bytes`."),
        OCCURRENCE,
    ),
)

PROBLEMS = Table(
    "faults",
    "one row per loss, and per note and reason of a record",
    (),
    (
        ARTIFACT,
        LINE,
        Column("reason", TEXT, "A name of the closed list.", nullable=False),
        Column("text", TEXT, "A loss's timeline text; null for a note."),
        Column("detail", TEXT, "Position, count or names of fields."),
        Column("bytes", COUNT, "Size of what was not read."),
        KEY,
        OCCURRENCE,
    ),
)

SILENT = Table(
    "silent",
    "one row per artifact whose records some rule names as giving no row",
    (),
    (ARTIFACT, Column("records", COUNT, "How many.")),
)

HOMES = Table(
    "homes",
    "one row per home of the batch",
    ("home",),
    (
        Column("home", SMALL, "Number of the home in the batch."),
        Column("host", TEXT, "Its host."),
        Column("user", TEXT, "Its user."),
        Column("identity", TEXT, "What names the home over time."),
    ),
)

FOLDERS = Table(
    "folders",
    "one row per folder that is a session, with files in it or without",
    ("home", "session_path"),
    (
        Column("home", SMALL, "Number of its home in the batch."),
        Column("agent", TEXT, "Assistant."),
        Column("session_path", TEXT, "Path below the home."),
    ),
)

ARTIFACTS = Table(
    "files",
    "one row per artifact of the batch",
    ("artifact",),
    (
        ARTIFACT,
        Column("home", SMALL, "Number of its home in the batch."),
        Column("agent", TEXT, "Assistant."),
        Column("source", TEXT, "Source; null for a file that no parser reads."),
        Column("session_path", TEXT, "Path below the home of its session: its own, or its folder's; null without one."),
        Column("resume", TEXT, "Command that takes its session up again, without the id."),
        Column("twin_rule", TEXT, "How rows of a secondary source find their twins; null for a primary source."),
        Column("home_path", TEXT, "Path below the home."),
        Column("told_path", TEXT, "Path below the home of the file that it stands in for; else its own."),
        Column("source_file", TEXT, "Path on the source host."),
        Column("bytes", COUNT, "Size of the file."),
        Column("mtime_utc", TIME, "Modification time."),
        Column("sha256", TEXT, "SHA-256 of what was read."),
        Column("status", TEXT, "What became of it."),
        Column("records", COUNT, "Raw records in it; null where none were looked for."),
    ),
)

HANDED: dict[str, Table] = {
    table.name: table
    for table in (
        DRAFTS,
        CALLS,
        SESSIONS,
        ENTRIES,
        CONTEXT,
        PROMPT_LOGS,
        EXCHANGES,
        USAGES,
        RULES,
        GRANTS,
        TOKENS,
        SUGGESTIONS,
        PROBLEMS,
        SILENT,
    )
}
"""What a source's stage two may hand on, by name."""


def conform(frame: pl.DataFrame, table: Table) -> pl.DataFrame:
    """Return `frame` with the table's columns, in order and type; a column that it lacks is null.

    Raises polars' error where a value does not fit its type: a cast never makes a null silently.
    """
    schema, found = table.polars, frame.schema
    if found == pl.Schema(schema):
        return frame
    return frame.select(
        pl.lit(None, dtype).alias(name)
        if name not in found
        else pl.col(name)
        if found[name] == dtype
        else pl.col(name).cast(dtype)
        for name, dtype in schema.items()
    )
