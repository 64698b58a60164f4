"""PearAI: what the agent's panel showed of a task, `tasks/<id>/ui_messages.json`: the transcript, where it has one."""

from parsers import _ui_messages, _ui_rows
from parsers._task import HEADS, UI, task_path
from parsers._task_calls import CALLS
from pipeline.source import NO_RECORD, Session, Source

SOURCE = Source(
    name=UI,
    agent="pearai",
    root="tasks",
    pattern=task_path("ui_messages.json"),
    file="ui_messages.json",
    replaced_on=frozenset(("empty_file", NO_RECORD)),
    tables=(HEADS, _ui_messages.MESSAGES, CALLS),
    read=_ui_messages.read,
    stage=_ui_rows.stage,
    session=Session.FOLDER,
)
