"""PearAI: what the chat extension wrote to its output channel, a prompt log of every model request.

Files: `<user data>/logs/<time>/window<N>/exthost/output_logging_<time>/<n>-PearAI.log`, text without times. Each write
is two lines of 74 `=` and a text (extensions/vscode/src/extension/VsCodeExtension.ts), nothing between it and the next
one. A request is `Settings:`, a line per setting, a line of 44 `#` between blank ones, and the prompt; a reply is
`Completion:`, a blank line and the reply (core/llm/index.ts, `_compileLogMessage`). The prompt of a chat is its
messages as blocks behind `<role>` lines, unless the model has a template; a completion in the editor is logged
likewise.

A reply names no request. Requests overlap, and one that was cancelled never has a reply: the nearest one without is
taken.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import polars as pl

from parsers._faults import size_of
from parsers._text import WHITE, Cleaner, decode
from pipeline.normalize import trim
from pipeline.schema import Column, Table
from pipeline.secrets import mask
from pipeline.source import Records, Source, TwinRule

TEXT, NUMBER, FLAG = pl.String(), pl.Int32(), pl.Boolean()

ROWS = Table(
    "rows",
    "one record per row",
    ("artifact", "line", "part"),
    (
        Column("line", NUMBER, "First line of its write."),
        Column("part", NUMBER, "Order among the rows of its write."),
        Column("kind", TEXT, "`timeline.kind`."),
        Column("turn_type", TEXT, "`timeline.turn_type`."),
        Column("text", TEXT, "What it says, without secrets."),
        Column("unmasked", TEXT, "The same with them; null where there are none."),
        Column("model", TEXT, "`timeline.model`."),
        Column("key", TEXT, "SHA-256 of the write; null where the text tells rows apart."),
    ),
)

_BETWEEN = f"{'=' * 74}\n" * 2
_RULE = "\n" + "#" * 44 + "\n"
_REQUEST, _REPLY = "Settings:\n", "Completion:"
_MODEL = re.compile(r"^model: (.+)$", re.MULTILINE)
_ROLE = re.compile(r"<(?:system|user|assistant)>\n")
_USER, _OTHERS = "\n\n<user>\n", ("\n\n<assistant>\n", "\n\n<system>\n")


@dataclass(frozen=True, slots=True)
class _Request:
    """A request without a reply yet."""

    is_chat: bool = False
    model: str | None = None


@dataclass(slots=True)
class _File:
    """One file being read: the model in force and the requests without a reply, the nearest last."""

    records: Records
    model: str | None = None
    waiting: list[_Request] = field(default_factory=list)


def read(data: bytes, path: str, records: Records) -> None:
    """Read the log write by write."""
    decoded = decode(data)
    text = decoded.text
    if text.count("\r\n") == text.count("\n"):
        text = text.replace("\r\n", "\n")
    if _is_zero(text):
        records.lose(0, "zero_filled", "parser: unreadable (zero_filled)", size=len(data))
        return
    file = _File(records)
    for line, is_write, write in _writes(text):
        cleaner = Cleaner(decoded.bad)
        rows = _rows(file, write) if is_write else None
        if rows is None:
            reason = "zero_filled" if _is_zero(write) else "unexpected_record"
            text = f"parser: unparseable record ({reason}): {cleaner.text(write.rstrip(chr(10)))}"
            records.lose(line, reason, text, size=size_of(write))
            continue
        records.count += 1
        records.silent += not rows
        identity = hashlib.sha256(write.encode(errors="surrogatepass")).hexdigest()
        for part, (kind, turn, said, model) in enumerate(rows):
            whole = cleaner.text(said)
            text = mask(whole)
            row = (text, whole if text != whole else None, cleaner.text(model) if model else None)
            records.rows["rows"].append((line, part, kind, turn, *row, None if kind == "model" else identity))
        records.note_all(line, cleaner.reasons, [])


def _is_zero(text: str) -> bool:
    """Say whether a text is what a lost write left: NULs, but for white space."""
    return "\0" in text and not text.strip("\0" + WHITE)


def _writes(text: str) -> Iterator[tuple[int, bool, str]]:
    """Yield the first line of each write, whether it is one, and its text; what stands before the first is none."""
    line, position, is_write = 1, 0, False
    while (end := text.find(_BETWEEN, position)) >= 0:
        write = text[position:end]
        if write.strip():
            yield line, is_write, write
        behind = end + len(_BETWEEN)
        line += text.count("\n", position, behind)
        position, is_write = behind, True
    if text[position:].strip():
        yield line, is_write, text[position:]


_Row = tuple[str, str, str, str | None]


def _rows(file: _File, write: str) -> list[_Row] | None:
    """Return the rows of a write as (kind, turn type, text, model); null for one that is neither request nor reply."""
    if write.startswith(_REQUEST):
        return _request(file, write)
    return _reply(file, write.removeprefix(_REPLY).strip(WHITE)) if write.startswith(_REPLY) else None


def _request(file: _File, write: str) -> list[_Row] | None:
    """Return the rows of a request; null for one that was cut before its prompt."""
    settings, rule, prompt = write.removeprefix(_REQUEST).partition(_RULE)
    if not rule:
        file.waiting.append(_Request())
        return None
    named = _MODEL.search(settings)
    model = named[1].strip() if named and named[1].strip() != "undefined" else None
    said = _last_prompt(prompt.removeprefix("\n"))
    file.waiting.append(_Request(said is not None, model))
    rows: list[_Row] = []
    if model and model != file.model:
        rows.append(("model", "system", f"model: {file.model} -> {model}" if file.model else f"model: {model}", model))
        file.model = model
    if said is not None:
        rows += [("message", "user", said, None)] if said.strip() else []
    elif prompt.strip():
        rows.append(("notice", "system", f"model request: {prompt.strip(WHITE)}", None))
    return rows


def _last_prompt(prompt: str) -> str | None:
    """Return the last thing that the user said in a chat's prompt; null for a prompt of another form."""
    if not _ROLE.match(prompt):
        return None
    # What precedes every block but the first stands before that one too.
    prompt = f"\n\n{prompt}"
    start = prompt.rfind(_USER)
    if start < 0:
        return None
    start += len(_USER)
    ends = [end for other in _OTHERS if (end := prompt.find(other, start)) >= 0]
    return prompt[start : min(ends, default=len(prompt))].strip(WHITE)


def _reply(file: _File, reply: str) -> list[_Row]:
    """Return the row of a reply, to the nearest request without one."""
    request = file.waiting.pop() if file.waiting else _Request()
    if not reply.strip():
        return []
    if request.is_chat:
        return [("message", "assistant", reply, request.model or file.model)]
    return [("notice", "system", f"model completion: {reply}", None)]


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Turn the rows into the drafts of `pipeline.staging`. They have no time: the file names none."""
    drafts = raw["rows"].select(
        "artifact",
        "line",
        "part",
        "kind",
        "turn_type",
        "model",
        "key",
        order_line="line",
        rank=pl.lit(0),
        sub=pl.lit(0),
        text=trim(pl.col("text")),
        unmasked=trim(pl.col("unmasked")),
        own_basis=pl.lit("record"),
        keyed_by_text=pl.col("key").is_null(),
    )
    return {"drafts": drafts}


SOURCE = Source(
    name="pearai.output_log",
    agent="pearai",
    root="editor",
    pattern=re.compile(r"(?:.*/)?logs/[^/]+/window[^/]*/exthost/output_logging_[^/]+/[^/]*-PearAI\.log"),
    tables=(ROWS,),
    read=read,
    stage=stage,
    twin_rule=TwinRule.LOG,
)
