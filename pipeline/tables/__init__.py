"""Every table of the lake, declared once."""

from pipeline.schema import Table
from pipeline.tables.calls import PERMISSIONS, TOOL_CALLS
from pipeline.tables.inventory import ARTIFACTS, COLLECTIONS, PROBLEMS
from pipeline.tables.sessions import CONTEXT_ITEMS, SESSIONS
from pipeline.tables.timeline import TIMELINE, TWINS
from pipeline.tables.usage import COMPLETIONS, TOKEN_USAGE

FORMAT_VERSION = 6
"""Version of the lake's layout; a lake of another version is not updated."""

LONG = {"text", "arguments", "output", "content", "prompt", "completion", "old_text", "new_text"}
"""Columns of whole texts, which the checks of a build need not look at."""

TABLES: tuple[Table, ...] = (
    TIMELINE,
    SESSIONS,
    TOOL_CALLS,
    CONTEXT_ITEMS,
    PERMISSIONS,
    TOKEN_USAGE,
    COMPLETIONS,
    TWINS,
    PROBLEMS,
    ARTIFACTS,
    COLLECTIONS,
)
