"""The parsers: one module a source, listed here. A new source is a module, a line and its fixtures."""

from parsers import continue_index, continue_session, pearai_chat_session, pearai_index
from parsers.layouts import CONTINUE, PEARAI
from pipeline.model import Layout
from pipeline.source import Source

SOURCES: tuple[Source, ...] = (
    continue_session.SOURCE,
    continue_index.SOURCE,
    pearai_chat_session.SOURCE,
    pearai_index.SOURCE,
)

LAYOUTS: tuple[Layout, ...] = (CONTINUE, PEARAI)


def classify(agent: str, path: str) -> str | None:
    """Name the source that reads the file at `path` below an assistant's directory; null where none does."""
    return next((s.name for s in SOURCES if s.agent == agent and s.pattern.fullmatch(path)), None)
