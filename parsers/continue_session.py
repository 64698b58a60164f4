"""Continue: chat sessions of the editor extension and of the `cn` CLI.

Files: `~/.continue/sessions/<sessionId>.json`, pretty-printed with two spaces. The CLI writes no `mode` and no
`chatModelTitle`; the model of its replies is in `message.usage.model`. Both write into one directory, and
`cn --resume` appends items of its kind to a session of the editor.
"""

import re

from parsers import _session, _session_rows, _session_types
from pipeline.source import Session, Source

SOURCE = Source(
    name="continue.session",
    agent="continue",
    pattern=re.compile(r"sessions/(?!sessions\.json$)[^/]+\.json"),
    tables=_session_types.TABLES,
    read=_session.read,
    stage=_session_rows.stage,
    session=Session.FILE,
    resume="cn --fork",
)
