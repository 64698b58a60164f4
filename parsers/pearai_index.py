"""PearAI: the list of chat sessions, `~/.pearai/sessions/sessions.json`, in order of creation.

An entry has `integrationType` beside Continue's fields: `perplexity` for a session that has only a talk with PearAI
Search, else `continue` (`SessionInfo` of the fork's core/index.d.ts).
"""

import re

from parsers import _session_index
from pipeline.source import Source

SOURCE = Source(
    name="pearai.index",
    agent="pearai",
    pattern=re.compile(r"sessions/sessions\.json"),
    tables=(_session_index.ENTRIES,),
    read=_session_index.read,
    stage=_session_index.stage,
)
