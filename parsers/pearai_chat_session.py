"""PearAI: chat sessions of its fork of Continue.

Files: `~/.pearai/sessions/<sessionId>.json`, one line, the ids last. Shape: `PersistedSessionInfo` of the fork's
core/index.d.ts; `perplexityHistory` holds the talk with PearAI Search, whose items count on behind those of `history`.
A prompt log names its model in `completionOptions`; there are no tool calls, no reasoning and no usage. Where the
program cannot read a file it puts an empty session titled `Failed to load session` in its place (core/util/history.ts).
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from parsers import _session, _session_rows, _session_types
from parsers._session_types import ContextId, ContextItem, Format, Head, Item, Prompt, Uri
from pipeline.source import Records, Session, Source


class CompletionOptions(msgspec.Struct, gc=False):
    """`CompletionOptions` as far as they name the model."""

    model: Any = None


class PearPrompt(Prompt, rename="camel", gc=False):
    """`PromptLog`."""

    completion_options: CompletionOptions | None = None

    @property
    def model(self) -> object:
        """The model that the request went to."""
        return self.completion_options.model if self.completion_options else None


class Citation(msgspec.Struct, gc=False):
    """`Citation`."""

    url: str | None = None
    title: str | None = None


class PearItem(Item, rename="camel", gc=False):
    """`ChatHistoryItem`."""

    prompt_logs: list[PearPrompt] | None = None  # type: ignore[assignment]  # (its entries name the model elsewhere)
    citations: list[Citation] | None = None

    def contexts(self) -> Sequence[ContextItem]:
        """What came with the message: context items, then citations."""
        cited = [
            ContextItem(name=citation.title, uri=Uri(citation.url), id=ContextId("citation"))
            for citation in self.citations or ()
        ]
        return [*(self.context_items or ()), *cited]


class PearSession(Head, rename="camel", gc=False):
    """`PersistedSessionInfo`."""

    history: list[PearItem] | None = None
    perplexity_history: list[PearItem] | None = None

    def arrays(self) -> Sequence[Sequence[Item] | None]:
        """The chat, and the talk with PearAI Search."""
        return (self.history, self.perplexity_history)


FORMAT = Format(_session_types.decoder(PearSession), PearItem, ("history", "perplexityHistory"))


def read(data: bytes, path: str, records: Records) -> None:
    """Read a session file."""
    _session.read(data, path, records, FORMAT)


SOURCE = Source(
    name="pearai.chat_session",
    agent="pearai",
    pattern=re.compile(r"sessions/(?!sessions\.json$)[^/]+\.json"),
    tables=_session_types.TABLES,
    read=read,
    stage=_session_rows.stage,
    session=Session.FILE,
)
