"""PearAI: what the agent sent to its model in a task, and the replies, `tasks/<id>/api_conversation_history.json`.

It is the transcript where the folder's `ui_messages.json` has none; beside one it tells of decisions alone.
"""

from parsers import _api_history, _api_rows
from parsers._task import API, HEADS, shape_of, task_path
from parsers._task_calls import CALLS
from pipeline.source import NO_RECORD, Session, Source

SOURCE = Source(
    name=API,
    agent="pearai",
    root="tasks",
    pattern=task_path("api_conversation_history.json"),
    file="api_conversation_history.json",
    replaced_on=frozenset(("empty_file", NO_RECORD)),
    tables=(HEADS, _api_history.MESSAGES, _api_history.ROWS, CALLS),
    read=_api_history.read,
    stage=_api_rows.stage,
    session=Session.FOLDER,
    by_content=shape_of,
)
