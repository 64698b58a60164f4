"""Where the assistants keep their state below a home.

Continue: `~/.continue` on every system (core/util/paths.ts). PearAI's fork of it: `~/.pearai`, which is the editor's
own data folder, too.
"""

from pipeline.model import Layout

_STATE = ("sessions", "dev_data", "logs/cn.log", "input_history.json", "permissions.yaml")
_WHOLE = ("index", "extensions")
_SECRETS = (
    "config.yaml",
    "config.json",
    "config.ts",
    ".env",
    "auth*.json",
    "index/globalContext.json",
    "mcpServers/*",
)


def _is_pearai(index: bytes) -> bool:
    """Say whether a session index is PearAI's: its entries name the kind of chat."""
    return b'"integrationType"' in index or b'"perplexityHistory"' in index


CONTINUE = Layout("continue", ".continue", _STATE, _WHOLE, _SECRETS, lambda index: not _is_pearai(index))
PEARAI = Layout("pearai", ".pearai", _STATE, _WHOLE, _SECRETS, _is_pearai)
