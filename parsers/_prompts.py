"""Prompts as PearAI's chat sends and logs them.

A prompt is the messages one after the other, each `<role>`, a line feed, its content and a blank line
(`_formatChatMessages` of core/llm/index.ts); the context of a user message stands inside it. A model with a template of
its own gets another form.
"""

import re

_USER = re.compile(r"\A<user>(?:\r?\n)?|\n\n<user>\r?\n")
_ROLE = re.compile(r"\n\n<(?:system|user|assistant)>\r?(?:\n|\Z)")


def last_user_block(prompt: str) -> str | None:
    """Return the content of a prompt's last user message; null where the prompt has another form."""
    starts = [match.end() for match in _USER.finditer(prompt)]
    if not starts:
        return None
    end = _ROLE.search(prompt, starts[-1])
    return prompt[starts[-1] : end.start() if end else len(prompt)]
