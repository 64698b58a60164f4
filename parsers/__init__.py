"""The parsers: one module a source, listed here. A new source is a module, a line and its fixtures."""

from parsers import (
    continue_autocomplete,
    continue_chat_feedback,
    continue_chat_interaction,
    continue_cn_log,
    continue_edit_interaction,
    continue_edit_outcome,
    continue_index,
    continue_input_history,
    continue_next_edit,
    continue_permissions,
    continue_session,
    continue_tokens_generated,
    continue_tool_usage,
    pearai_api_history,
    pearai_chat_feedback,
    pearai_chat_session,
    pearai_index,
    pearai_output_log,
    pearai_state,
    pearai_task_metadata,
    pearai_tokens_generated,
    pearai_ui_messages,
)
from parsers.layouts import CONTINUE, PEARAI
from pipeline.model import Layout
from pipeline.source import Source

SOURCES: tuple[Source, ...] = (
    continue_session.SOURCE,
    continue_index.SOURCE,
    pearai_chat_session.SOURCE,
    pearai_index.SOURCE,
    continue_chat_interaction.SOURCE,
    continue_tool_usage.SOURCE,
    continue_edit_interaction.SOURCE,
    continue_edit_outcome.SOURCE,
    continue_chat_feedback.SOURCE,
    continue_tokens_generated.SOURCE,
    continue_autocomplete.SOURCE,
    continue_next_edit.SOURCE,
    pearai_chat_feedback.SOURCE,
    pearai_tokens_generated.SOURCE,
    continue_input_history.SOURCE,
    continue_permissions.SOURCE,
    continue_cn_log.SOURCE,
    pearai_ui_messages.SOURCE,
    pearai_api_history.SOURCE,
    pearai_task_metadata.SOURCE,
    pearai_output_log.SOURCE,
    pearai_state.SOURCE,
)

LAYOUTS: tuple[Layout, ...] = (CONTINUE, PEARAI)


def classify(agent: str, path: str, root: str = "state") -> str | None:
    """Name the source of the file at `path` below one of an assistant's roots; null where there is none."""
    found = (s.name for s in SOURCES if s.agent == agent and s.root == root and s.pattern.fullmatch(path))
    return next(found, None)
