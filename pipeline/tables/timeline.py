"""The timeline, and what repeats it."""

from pipeline.schema import FLAG, MONEY, SMALL, TEXT, TIME, Column, Sensitivity, Table
from pipeline.tables._columns import (
    AGENT,
    COLLECTION_ID,
    CURRENT,
    EVENT_UTC,
    HOME_PATH,
    HOST,
    PROJECT_PATH,
    ROW_ID,
    SESSION_ID,
    SESSION_KEY,
    SOURCE,
    SOURCE_FILE,
    SOURCE_LINE,
    USER,
)

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
        Column(
            "git_branch",
            TEXT,
            "Always null: no assistant that is read records a branch.",
            repeats=True,
            sensitivity=Sensitivity.NAME,
        ),
        Column(
            "turn_type",
            TEXT,
            "`user`, `assistant`, `thinking`, `tool_use`, `tool_result` or `system`.",
            False,
            True,
            sensitivity=Sensitivity.PLAIN,
        ),
        Column(
            "model",
            TEXT,
            "Model of an assistant, thinking, call, result or model row: its own, else the one in force.",
            repeats=True,
            sensitivity=Sensitivity.NAME,
        ),
        Column(
            "tool_name", TEXT, "Tool of a call, its result or its decision.", repeats=True, sensitivity=Sensitivity.NAME
        ),
        Column(
            "tool_use_id",
            TEXT,
            "Id of the call as the file gives it; ids can repeat.",
            repeats=True,
            sensitivity=Sensitivity.ID,
        ),
        Column(
            "text",
            TEXT,
            "The whole text, white space trimmed at both ends; `''` where there is none.",
            False,
            sensitivity=Sensitivity.TEXT,
        ),
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
            sensitivity=Sensitivity.PLAIN,
        ),
        Column("sequence", SMALL, "Order among all rows of the file, from 0.", False),
        Column(
            "timestamp_basis",
            TEXT,
            "What `timestamp_utc` is: `record`, `session`, `file` or `log_local`.",
            repeats=True,
            sensitivity=Sensitivity.PLAIN,
        ),
        EVENT_UTC,
        Column(
            "event_basis",
            TEXT,
            "What `event_utc` rests on: `record`, `file` or `log_local` (the row's own time), `call_id` (a clock in "
            "the call's id), `chat_interaction` (the event of the same exchange), `tool_usage` (the event of the "
            "call's end), `reasoning` (its start or end), `input_history` (the prompt's twin there) or `session`.",
            repeats=True,
            sensitivity=Sensitivity.PLAIN,
        ),
        Column("secondary", FLAG, "Whether the source repeats what another one holds.", False),
        Column("recovered", FLAG, "Secondary, and no other source holds it: found again.", False),
        Column(
            "repeats_row_id",
            TEXT,
            "Row of a session that this row of an event file repeats; counts leave it out.",
            sensitivity=Sensitivity.KEY,
        ),
        ROW_ID,
        SESSION_KEY,
        Column(
            "call_key",
            TEXT,
            "Stable key of the call on the rows of a call; joins `tool_calls`.",
            repeats=True,
            sensitivity=Sensitivity.KEY,
        ),
        HOME_PATH,
        COLLECTION_ID,
        CURRENT,
    ),
    time="event_utc",
    order=("host", "user", "agent", "session_key", "source_file", "sequence", "source_line", "row_id"),
    counted=("kind",),
)

TWINS = Table(
    "twins",
    "one row per row of a secondary source that repeats a row of the timeline",
    ("row_id",),
    (
        *TIMELINE.columns,
        Column(
            "twin_row_id",
            TEXT,
            "`timeline.row_id` of the row that it repeats.",
            nullable=False,
            sensitivity=Sensitivity.KEY,
        ),
        Column("seconds_apart", MONEY, "Its time minus that row's time (seconds); null without both."),
    ),
    time="event_utc",
    order=TIMELINE.order,
)
