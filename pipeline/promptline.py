"""The prompt's line: editing, history, highlighting and completion, and the loop that reads and runs what is typed."""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import duckdb
from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.output import create_output
from pygments.lexers.sql import SqlLexer

from pipeline import examples
from pipeline.prompt import COMMANDS, FORMS, Prompt, is_bare
from pipeline.query import QueryError

ASKED, GOES_ON = "homelake> ", "     ...> "
KEYWORDS = tuple(
    re.findall(
        r"\w+",
        "all and as asc between by case count desc describe distinct else end exists explain filter from group having "
        "ilike in interval is join left like limit not null nulls on or order over partition pivot select sum "
        "summarize then union unnest using values when where with",
    )
)
_WORD = re.compile(r"\w+$")
_QUALIFIED = re.compile(r"(\w+)\.\w*$")
_VIEW_NEXT = re.compile(r"\b(from|join|describe|summarize|table)\s+\w*$", re.IGNORECASE)


def talk(prompt: Prompt, views: Mapping[str, Sequence[str]]) -> None:
    """Read from the terminal and run until Ctrl-D or `.quit`; an error is one line and ends nothing."""
    session: PromptSession[str] = PromptSession(
        ASKED,
        prompt_continuation=GOES_ON,
        multiline=Condition(lambda: not is_whole(get_app().current_buffer.text)),
        lexer=PygmentsLexer(SqlLexer),
        completer=Words(views),
        complete_while_typing=False,
        history=history(),
        enable_suspend=True,
        # What is typed is shown on the terminal, also where answers go into a pipe.
        output=None if sys.stdout.isatty() else create_output(always_prefer_tty=True),
    )
    while True:
        try:
            text = session.prompt()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        try:
            if not prompt.run(text):
                return
        except QueryError as error:
            print(f"homelake: {error}", file=sys.stderr)
        except KeyboardInterrupt:
            print("homelake: stopped", file=sys.stderr)


def is_whole(text: str) -> bool:
    """Whether a text is a command, or nothing, or ends with the sign that ends a query."""
    if not text.strip() or text.lstrip().startswith(".") or is_bare(text):
        return True
    try:
        tokens = duckdb.tokenize(text)
    except duckdb.ParserException as error:
        return "unterminated" not in str(error)
    except TypeError:  # half a surrogate pair: to be refused in a line
        return True
    raw = text.encode()
    ends = [at for at, kind in tokens if kind != duckdb.token_type.comment]
    return bool(ends) and raw[ends[-1] :].startswith(b";")


class Words(Completer):
    """Completes names of views and columns, keywords, dot commands and what they take."""

    def __init__(self, views: Mapping[str, Sequence[str]]) -> None:
        self._views = views

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """Words that begin like the one before the cursor."""
        before = document.text_before_cursor
        command, blank, typed = before.lstrip().partition(" ")
        if command.startswith("."):
            known = self._taken(command) if blank else list(COMMANDS)
            typed = typed if blank else command
        else:
            found = _WORD.search(before)
            typed = found[0] if found else ""
            known = self._names(document.text, before)
        for word in dict.fromkeys(known):
            if word.lower().startswith(typed.lower()):
                yield Completion(word, start_position=-len(typed))

    def _taken(self, command: str) -> Sequence[str]:
        """What a dot command takes."""
        taken = {".schema": list(self._views), ".example": list(examples.EXAMPLES), ".expanded": ["on", "off"]}
        return FORMS if command == ".format" else taken.get(command, [])

    def _names(self, text: str, before: str) -> Sequence[str]:
        """Words that can come next in a query: views where one is due, else columns of those that it names first."""
        if qualified := _QUALIFIED.search(before):
            return self._views.get(qualified[1], [])
        if _VIEW_NEXT.search(before):
            return list(self._views)
        named = set(re.findall(r"\w+", text)) & self._views.keys() or self._views.keys()
        columns = [column for view, names in self._views.items() if view in named for column in names]
        return [*columns, *self._views, *KEYWORDS]


class Kept(FileHistory):
    """History in a file; what cannot be written there is for this session alone."""

    def store_string(self, string: str) -> None:
        """Add an entry to the file."""
        with suppress(OSError):
            super().store_string(string)


def history() -> History:
    """The user's history, which only the user can read; in memory where no file can be kept."""
    path = history_file()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.fchmod(opened, 0o600)
        os.close(opened)
    except OSError as error:
        print(f"homelake: no history is kept: {path}: {error.strerror}", file=sys.stderr)
        return InMemoryHistory()
    return Kept(str(path))


def history_file() -> Path:
    """Where history is kept: below the user's directory for states of programs."""
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    state = named if named.is_absolute() else Path.home() / ".local" / "state"
    return state / "homelake" / "sql_history"
