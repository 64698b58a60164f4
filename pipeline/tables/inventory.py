"""What was read: collections, files, and what of them could not be read."""

from dataclasses import replace

from pipeline.reasons import REASONS
from pipeline.schema import COUNT, FLAG, TEXT, TIME, Column, Sensitivity, Table
from pipeline.tables._columns import (
    AGENT,
    COLLECTION_ID,
    CURRENT,
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

PROBLEMS = Table(
    "problems",
    "one row per loss, and per note and reason of a record",
    ("row_id",),
    (
        HOST,
        USER,
        replace(AGENT, description=AGENT.description[:-1] + "; null for what belongs to no home.", nullable=True),
        SESSION_KEY,
        SESSION_ID,
        PROJECT_PATH,
        Column(
            "reason",
            TEXT,
            "What could not be read, or is odd: " + ", ".join(f"`{reason}`" for reason in REASONS) + ".",
            False,
            True,
            sensitivity=Sensitivity.PLAIN,
        ),
        Column(
            "lost",
            FLAG,
            "True: a loss, something gives no row; false: a note on a record that is kept.",
            False,
        ),
        Column(
            "detail",
            TEXT,
            "Position, count or names of fields; of an archive what is wrong with it, such as `sha256` (the hash "
            "beside it) or `crc32`. Never content.",
            sensitivity=Sensitivity.TEXT,
        ),
        Column("bytes", COUNT, "Size of what was not read (bytes of the file)."),
        SOURCE,
        SOURCE_FILE,
        SOURCE_LINE,
        ROW_ID,
        HOME_PATH,
        COLLECTION_ID,
        CURRENT,
    ),
    order=("host", "user", "agent", "session_key", "source_file", "source_line", "row_id"),
    counted=("reason", "lost"),
)

ARTIFACTS = Table(
    "artifacts",
    "one row per file of an assistant in a home",
    ("row_id",),
    (
        HOST,
        USER,
        AGENT,
        SESSION_KEY,
        Column("path", TEXT, "Path of the file below its home.", False, sensitivity=Sensitivity.PATH),
        SOURCE_FILE,
        Column("bytes", COUNT, "Size of the file (bytes); null for a folder that is listed as a whole."),
        Column("mtime_utc", TIME, "Modification time (UTC)."),
        Column(
            "sha256",
            TEXT,
            "SHA-256 of the bytes that were read; null where the file was not opened.",
            sensitivity=Sensitivity.KEY,
        ),
        Column(
            "status",
            TEXT,
            "`parsed`, `known` (not read), `secret` (never opened), `skipped`, `missing` or `unreadable`.",
            False,
            True,
            sensitivity=Sensitivity.PLAIN,
        ),
        SOURCE,
        Column("records", COUNT, "Raw records in the file."),
        Column("rows", COUNT, "Records that give a row of any table."),
        Column("losses", COUNT, "Losses of the file."),
        Column("silent", COUNT, "Records that a rule names as giving no row."),
        ROW_ID,
        COLLECTION_ID,
        CURRENT,
    ),
    order=("host", "user", "agent", "session_key", "source_file", "row_id"),
    file="path",
    counted=("status",),
)

COLLECTIONS = Table(
    "collections",
    "one row per collection that the lake was built from",
    ("collection_id",),
    (
        Column(
            "collection_id",
            TEXT,
            "Hash of the homes, times and the files' paths, sizes and hashes.",
            False,
            sensitivity=Sensitivity.KEY,
        ),
        Column(
            "input",
            TEXT,
            "Where the collection was read from, as the command line named it.",
            sensitivity=Sensitivity.PATH,
        ),
        HOST,
        Column(
            "collected_utc",
            TIME,
            "When it was collected (UTC), by the collector, the command line or the newest file.",
        ),
        Column("tool", TEXT, "Collector that made it.", sensitivity=Sensitivity.NAME),
        Column("version", TEXT, "The collector's version.", sensitivity=Sensitivity.NAME),
        Column("homes", COUNT, "Homes with an assistant's state.", False),
        Column("files", COUNT, "Files of an assistant.", False),
        Column("bytes", COUNT, "Size of those files (bytes).", False),
    ),
    order=("collection_id",),
)
