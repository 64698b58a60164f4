"""Columns that several tables have: the same meaning under the same name."""

from pipeline.schema import FLAG, SMALL, TEXT, TIME, Column, Sensitivity

HOST = Column(
    "host",
    TEXT,
    "Host the home was collected from; null where the input names none.",
    repeats=True,
    sensitivity=Sensitivity.IDENTITY,
)
USER = Column(
    "user",
    TEXT,
    "User whose home it is; null where the input is the home itself.",
    repeats=True,
    sensitivity=Sensitivity.IDENTITY,
)
AGENT = Column(
    "agent", TEXT, "Assistant: `continue` or `pearai`.", nullable=False, repeats=True, sensitivity=Sensitivity.PLAIN
)
SESSION_KEY = Column(
    "session_key",
    TEXT,
    "Stable key of the session's file in its home; joins every table of a session.",
    repeats=True,
    sensitivity=Sensitivity.KEY,
)
SESSION_ID = Column(
    "session_id",
    TEXT,
    "The session's id as its file states it, else the file's name.",
    repeats=True,
    sensitivity=Sensitivity.ID,
)
PROJECT_PATH = Column(
    "project_path",
    TEXT,
    "Workspace directory, `file://` decoded; null where none is stored.",
    repeats=True,
    sensitivity=Sensitivity.PATH,
)
SOURCE = Column(
    "source", TEXT, "Kind of file the row was read from, `<agent>.<kind>`.", repeats=True, sensitivity=Sensitivity.PLAIN
)
SOURCE_FILE = Column(
    "source_file",
    TEXT,
    "Path on the source host; of a loose tree, the path below the input.",
    repeats=True,
    sensitivity=Sensitivity.PATH,
)
SOURCE_LINE = Column(
    "source_line",
    SMALL,
    "Line, or 1-based position in the file's array; 0 for what concerns the whole session.",
)
HOME_PATH = Column("home_path", TEXT, "Path of the file below its home.", repeats=True, sensitivity=Sensitivity.PATH)
ROW_ID = Column(
    "row_id",
    TEXT,
    "Stable key of the row; the same in every collection that holds it.",
    nullable=False,
    sensitivity=Sensitivity.KEY,
)
CURRENT = Column("current", FLAG, "Whether the home's last collection still holds it.", nullable=False)
COLLECTION_ID = Column(
    "collection_id",
    TEXT,
    "Collection in which the file's present bytes were first seen.",
    repeats=True,
    sensitivity=Sensitivity.KEY,
)
EVENT_UTC = Column("event_utc", TIME, "When it really happened, by the best evidence there is (UTC).")
