"""The files of an agent's task: one folder a task, named by the task's id, with two transcripts of one talk.

Files: `<globalStorage>/pearai.pearai-roo-cline/tasks/<id>/` with `ui_messages.json` (what the panel showed),
`api_conversation_history.json` (what was sent to the model) and `task_metadata.json`, each rewritten whole
(src/core/task-persistence/ of PearAI's fork of Roo Code 3.15). Old tasks have `claude_messages.json`, which held the
panel's messages or the model's.
"""

import re
from collections.abc import Callable

import polars as pl

from parsers._array import lose, read_elements
from parsers._documents import read_array
from parsers._faults import Element, Fault
from parsers._json import Json, clean, compact, parse, skip_space
from parsers._paths import project_path
from parsers._text import WHITE, Cleaner, decode
from pipeline.normalize import has_text, moment, trim
from pipeline.schema import Column, Table
from pipeline.source import Records

TEXT, NUMBER = pl.String(), pl.Int32()

UI, API = "pearai.ui_messages", "pearai.api_history"

HEADS = Table(
    "heads",
    "one record per file",
    ("artifact",),
    (
        Column("session_id", TEXT, "Name of the task's folder."),
        Column("messages", NUMBER, "Messages of a transcript that holds before others; null in other files."),
        Column("workspace_directory", TEXT, "Working directory that the first environment details name."),
        Column("project_path", TEXT, "The same, decoded."),
    ),
)

_ENVIRONMENT = "<environment_details>"
_WORKSPACE = re.compile(r"(?m)^# Current (?:Workspace|Working) Directory \((.+)\) Files\r?$")
_DATA_URI = r"data:image/[a-z0-9.+-]+(?:;[a-zA-Z0-9=_-]+)*;base64,[A-Za-z0-9+/=_-]*"

Add = Callable[[dict[str, Json], Element, Cleaner, list[str]], None]


def task_path(name: str) -> re.Pattern[str]:
    """Pattern of a file in a task's folder; what lies in a checkpoint is the user's.

    It matches the path below the folder of all tasks, and the path below anything above that.
    """
    return re.compile(rf"(?:(?!(?:.*/)?checkpoints/)(?:.*/)?tasks/)?[^/]+/{re.escape(name)}")


def shape_of(data: bytes) -> str:
    """Name the source that reads a task's `claude_messages.json`, by the first message in it.

    The agent itself reads the file as the model's messages (src/core/task-persistence/apiMessages.ts).
    """
    found = read_array(decode(data).text, lambda value: is_ui_message(value) or is_api_message(value))
    elements = [] if isinstance(found, Fault) else found[0]
    for element in elements:
        if is_api_message(element.value):
            return API
        if is_ui_message(element.value):
            return UI
    return API


def is_ui_message(value: Json) -> bool:
    """Say whether a value is a message of the panel: it asks or says something."""
    return isinstance(value, dict) and (isinstance(value.get("say"), str) or isinstance(value.get("ask"), str))


def is_api_message(value: Json) -> bool:
    """Say whether a value is a message to or from the model."""
    return isinstance(value, dict) and isinstance(value.get("role"), str)


def read_messages(data: bytes, records: Records, is_message: Callable[[Json], bool], add: Add) -> bool:
    """Read a transcript message by message, on past damage; `add` gets each one. Say whether it could be read.

    `add` may raise RecursionError before it has added anything.
    """

    def take(element: Element, cleaner: Cleaner) -> None:
        reason, text = _taken(element, cleaner, records, is_message, add)
        if reason is not None:
            lose(records, element, reason, cleaner.text(text))

    return read_elements(data, is_message, records, take)


def _taken(
    element: Element, cleaner: Cleaner, records: Records, is_message: Callable[[Json], bool], add: Add
) -> tuple[str | None, str]:
    """Hand on a message, or say why an element is none and what it says."""
    value, wrong = element.value, list[str]()
    if isinstance(value, Fault):
        return value.reason, value.text
    try:
        if not (isinstance(value, dict) and is_message(value)):
            return "wrong_type" if isinstance(value, dict) else "not_an_object", compact(clean(value, cleaner))
        add(value, element, cleaner, wrong)
    except RecursionError:
        return "nesting_too_deep", element.raw
    records.count += 1
    records.note_all(element.position, cleaner.reasons, wrong)
    return None, ""


def head(path: str, messages: int | None = None, workspace: str | None = None) -> tuple[object, ...]:
    """Row of `HEADS` for the file at `path` below the home."""
    folder = path.rpartition("/")[0]
    return folder.rpartition("/")[2], messages, workspace, project_path(workspace)


def inner(text: str, cleaner: Cleaner, wrong: list[str]) -> dict[str, Json] | None:
    """Object that a message's text should hold as JSON, cleaned; null with a note where it does not."""
    try:
        value, end = parse(text, skip_space(text, 0))
        value = clean(value, cleaner)
    except (ValueError, RecursionError):
        cleaner.reasons.add("json_invalid")
        return None
    if text[end:].strip(WHITE):
        cleaner.reasons.add("json_invalid")
        return None
    if not isinstance(value, dict):
        wrong.append("text")
        return None
    return value


def workspace_of(text: str) -> str | None:
    """Working directory that environment details in a text name (`getEnvironmentDetails` of src/core/Cline.ts)."""
    start = text.find(_ENVIRONMENT)
    found = _WORKSPACE.search(text, start) if start >= 0 else None
    return found[1] if found else None


def with_images(text: str, images: int) -> str:
    """Text of a message with its images, a line each."""
    return "\n".join([text, *["[image]"] * images]) if images else text


def said(text: pl.Expr) -> pl.Expr:
    """Text of a row: trimmed, data URIs of images as `[image]`."""
    return trim(text.str.replace_all(_DATA_URI, "[image]"))


def key(kind: pl.Expr, name: pl.Expr) -> pl.Expr:
    """Own key of a message's rows: its time as written, its type and its kind."""
    return pl.concat_str(pl.col("ts").fill_null(""), pl.lit("\0"), kind, pl.lit("\0"), name)


def bad_time() -> pl.Expr:
    """Why `ts` gave no time; null where it did or there is none."""
    return pl.when(pl.col("ts").is_not_null() & moment(pl.col("ts")).is_null()).then(pl.lit("bad_timestamp"))


def timed(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the columns of their own time and of what tells a message without one apart."""
    own = moment(pl.col("ts"))
    return rows.with_columns(
        own_utc=own,
        own_basis=pl.when(own.is_not_null()).then(pl.lit("record")),
        keyed_by_text=pl.col("ts").is_null(),
    )


def sessions(heads: pl.DataFrame, messages: pl.DataFrame, drafts: pl.DataFrame) -> pl.DataFrame:
    """The `session_files` of transcripts, with the first time of `messages` and the user's first row of `drafts`."""
    first = messages.with_columns(first_utc=moment(pl.col("ts"))).drop_nulls("first_utc")
    prompts = drafts.filter((pl.col("turn_type") == "user") & has_text(pl.col("text"))).sort("order_line", "part")
    return (
        heads.join(first.group_by("artifact").agg(pl.col("first_utc").first()), on="artifact", how="left")
        .join(prompts.group_by("artifact").agg(pl.col("text").first()), on="artifact", how="left")
        .select(
            "artifact",
            "session_id",
            "messages",
            "workspace_directory",
            "project_path",
            "first_utc",
            first_text=pl.col("text").str.extract(r"^([^\r\n]*)").pipe(trim),
        )
    )


def silent(messages: pl.DataFrame, drafts: pl.DataFrame) -> pl.DataFrame:
    """Count the messages that have no row: those that say nothing."""
    lines = drafts.select("artifact", position="line").unique()
    mute = messages.join(lines, on=("artifact", "position"), how="anti")
    return mute.group_by("artifact", maintain_order=True).agg(records=pl.len().cast(pl.Int64))
