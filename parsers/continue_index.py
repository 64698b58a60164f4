"""Continue: the list of sessions, `~/.continue/sessions/sessions.json`, in order of creation."""

import re

from parsers import _session_index
from pipeline.source import Source

SOURCE = Source(
    name="continue.index",
    agent="continue",
    pattern=re.compile(r"sessions/sessions\.json"),
    tables=(_session_index.ENTRIES,),
    read=_session_index.read,
    stage=_session_index.stage,
)
