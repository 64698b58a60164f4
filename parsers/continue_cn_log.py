"""Continue: the log of the `cn` command line, `~/.continue/logs/cn.log` and the rotated `cn<N>.log`.

`cn.log` is the oldest file of a rotation. A message is followed by its fields as JSON, an error's stack by lines of its
own. Times are the host's own, without an offset; the eight hex digits are a process, not a session. With `--verbose`
it holds requests, keys and lines of 1.5 MB: only the messages below are decoded. Reference: extensions/cli/src of
continuedev/continue: util/logger.ts, util/metadata.ts, permissions/policyWriter.ts, services/StorageSyncService.ts,
stream/streamChatResponse.helpers.ts, commands/chat.ts (which colours its message for a terminal).
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

import polars as pl

from parsers._json import Json, as_text, clean, parse
from parsers._log import Log, read_log
from parsers._log_posts import RESULTS, answered
from parsers._text import Cleaner, decode
from pipeline.normalize import moment, notes, trim
from pipeline.schema import Column, Table
from pipeline.secrets import mask
from pipeline.source import Problem, Records, Row, Source

TEXT, NUMBER = pl.String(), pl.Int32()

EVENTS = Table(
    "events",
    "one record per log record that gives a row",
    ("artifact", "record"),
    (
        Column("line", NUMBER, "First line of the record, from 1."),
        Column("record", NUMBER, "Number of the record in the file, from 1."),
        Column("file", TEXT, "Name of the file."),
        Column("time", TEXT, "Time as written, the host's own."),
        Column("key", TEXT, "Digest of the record's bytes."),
        Column("event", TEXT, "`post`, `skipped`, `rule` or `notice`."),
        Column("said", TEXT, "Agent, rule, or message with its error; `-` for a missing one."),
        Column("metadata", TEXT, "Names of what was posted, joined by a comma; `-` for none."),
        Column("status", TEXT, "What became of the post; `-` where no record of the file says so."),
        Column("process", TEXT, "Process of a post of which none says so."),
        Column("address", TEXT, "Address of a post of which none says so."),
        Column("tool_name", TEXT, "Tool that the error names."),
    ),
)

_KINDS = {"post": "sync", "skipped": "sync", "rule": "permission_decision", "notice": "notice"}
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_EVENT = re.compile(
    rb"(?:\x1b\[[0-9;]{0,16}m){0,4}(?:"
    rb"(?P<post>\[metadata\] POST )"
    rb"|\[metadata\] (?P<result>Success|Unexpected response|Auth required|Failed|Error)\b"
    rb"|(?P<skipped>Storage sync requested but no Continue API key\b)"
    rb"|(?P<rule>Added policy rule to permissions\.yaml:)"
    rb"|(?P<notice>(?:Invalid tool call|Tool execution failed|Resuming previous session)\b)"
    rb")"
)
_POST = re.compile(r"\[metadata\] POST (\S*) ?")
_AGENT = re.compile(r"/agents/([^/]+)/metadata$")
_RESULT_URL = re.compile(r"\([0-9]+ms\) (\S+)")


@dataclass(slots=True)
class Event:
    """A row of `EVENTS`."""

    line: int
    record: int
    file: str
    time: str
    key: str
    event: str
    said: str = "-"
    metadata: str = "-"
    status: str = "-"
    process: str | None = None
    address: str | None = None
    tool_name: str | None = None


class Messages:
    """Reads the messages of one log; posts wait for the first later result of their process and address."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self.waiting: dict[tuple[str, str], list[Event]] = defaultdict(list)
        self.told: set[tuple[str, str]] = set()

    def read(self, event: Event, text: str, process: str) -> None:
        """Read the message of an event."""
        if event.event == "post":
            self._post(event, text, process)
        elif event.event == "rule":
            # The rest of the line; what stands behind it is torn.
            event.said = _first_line(text).partition(":")[2].strip() or "-"
        elif event.event == "notice":
            self._notice(event, text)

    def _post(self, event: Event, text: str, process: str) -> None:
        """Read a metadata post: its agent and the names of what was posted."""
        head = _POST.match(text)
        address = head[1] if head else ""
        fields = self._fields(event, text, head.end() if head else len(text))
        agent = _AGENT.search(address)
        named = fields.get("agentId") or (agent[1] if agent else None)
        keys = fields.get("metadataKeys")
        event.said = as_text(named) or "-"
        if isinstance(keys, list):
            event.metadata = ",".join(map(as_text, keys)) or "-"
        elif keys is not None:
            self.records.note(event.line, "wrong_type", "metadataKeys")
        if address:
            event.process, event.address = process, address
            self.waiting[process, address].append(event)

    def result(self, text: str, status: str, process: str) -> None:
        """Give a result to the posts that wait for it; the first of a file can be of posts of earlier files, too."""
        addresses = list(dict.fromkeys(_RESULT_URL.findall(text)))
        # The text of an error can hold an address before the post's own.
        addresses = [address for address in addresses if self.waiting.get((process, address))][:1] or addresses
        for address in addresses:
            for post in self.waiting.pop((process, address), []):
                post.status, post.process, post.address = status, None, None
            if (process, address) not in self.told:
                self.told.add((process, address))
                self.records.rows["results"].append((self.records.count, process, address, status))

    def _notice(self, event: Event, text: str) -> None:
        """Read a message and the text of its error; the stack on the lines behind is left out."""
        line = _first_line(text)
        message, brace, _ = line.partition(" {")
        error: Json = None
        if brace:
            fields = self._fields(event, line, len(message) + 1)
            error = fields.get("error") if fields else line[len(message) + 1 :]
        if isinstance(error, dict) and isinstance(error.get("error"), str):
            # A tool's error, which the logger takes for the fields of one of its own.
            tool, error = error.get("name"), error["error"]
            event.tool_name = tool if isinstance(tool, str) else None
        elif isinstance(error, dict) and isinstance(error.get("message"), str):
            error = error["message"]
        event.said = f"{message} {as_text(error)}"

    def _fields(self, event: Event, text: str, start: int) -> dict[str, Json]:
        """The fields behind a message, cleaned; empty, with a note, where they do not parse."""
        if not text.startswith("{", start):
            return {}
        cleaner = Cleaner()
        try:
            value = clean(parse(text, start)[0], cleaner)
        except (ValueError, RecursionError):
            self.records.note(event.line, "json_invalid")
            return {}
        self.records.note_all(event.line, cleaner.reasons, [])
        return value if isinstance(value, dict) else {}


def _first_line(text: str) -> str:
    return text.partition("\n")[0].strip()


def read(data: bytes, path: str, records: Records) -> None:
    """Read the log's records; one without a row is silent, what is none is a loss."""
    if not data.strip(b"\0 \t\r\n"):
        if b"\0" in data:
            records.lose(0, "zero_filled", "parser: unreadable (zero_filled)", size=len(data))
        return
    log = read_log(data)
    if log.lead:
        _lose_lead(log, records)
    events = _events(log, path.rpartition("/")[2], records)
    records.silent += len(log.records) - len(events)
    records.rows["events"] += [_row(event) for event in events]
    for line, nuls in log.zeros.items():
        records.problems.append(Problem(line, "zero_filled", None, size=nuls))


def _lose_lead(log: Log, records: Records) -> None:
    """Record the loss of what stands before the first record."""
    decoded = decode(log.lead)
    reason = "unexpected_record" if log.lead.strip(b"\0 \t\r\n") else "zero_filled"
    text = Cleaner(decoded.bad).text(decoded.text)
    records.lose(log.lead_line, reason, f"parser: unparseable record 1 ({reason}): {text}", size=len(log.lead))


def _events(log: Log, file: str, records: Records) -> list[Event]:
    """Count the records and read those that give a row."""
    messages, events = Messages(records), list[Event]()
    for record in log.records:
        records.count += 1
        match = _EVENT.match(log.data, record.message, record.end)
        if match is None or match.lastgroup is None:
            continue
        decoded = decode(log.data[record.message : record.end])
        cleaner = Cleaner(decoded.bad)
        text = _COLOUR.sub("", cleaner.text(decoded.text))
        if match["result"]:
            messages.result(text, match["result"].decode(), record.process)
            continue
        # Runs of NULs are noted with their size, whether the record gives a row or not.
        records.note_all(record.line, cleaner.reasons - {"zero_filled"}, [])
        key = blake2b(log.data[record.start : record.end].rstrip(b"\r\n"), digest_size=16).hexdigest()
        event = Event(record.line, records.count, file, record.time, key, match.lastgroup)
        messages.read(event, text, record.process)
        events.append(event)
    return events


def _row(event: Event) -> Row:
    """The event as a row of `EVENTS`, without secrets."""
    tool_name = mask(event.tool_name) if event.tool_name else None
    place = (event.line, event.record, event.file, event.time, event.key, event.event)
    return (*place, mask(event.said), mask(event.metadata), event.status, event.process, event.address, tool_name)


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Turn the raw events into the frames of `pipeline.staging`."""
    events = answered(raw).with_columns(utc=moment(pl.col("time")))
    event, place = pl.col("event"), pl.format("(from logs/{}, log line time, host-local)", "file")
    text = (
        pl.when(event == "post")
        .then(pl.format("agent metadata posted: agent {} keys {} {} {}", "said", "metadata", "status", place))
        .when(event == "skipped")
        .then(pl.format("storage upload requested, skipped {}", place))
        .when(event == "rule")
        .then(pl.format("permission decision: allow always rule={} {}", "said", place))
        .otherwise("said")
    )
    drafts = events.select(
        "artifact",
        "line",
        "record",
        "tool_name",
        "key",
        order_line="line",
        rank=pl.lit(1),  # behind a loss on the same line
        part="record",
        sub=pl.lit(0),
        kind=event.replace_strict(_KINDS, return_dtype=pl.String),
        turn_type=pl.lit("system"),
        text=trim(text),
        own_utc="utc",
        own_basis=pl.lit("log_local"),
        keyed_by_text=pl.lit(value=False),
    )
    granted = events.filter((event == "rule") & (pl.col("said") != "-"))
    bad_time = pl.when(pl.col("utc").is_null()).then(pl.lit("bad_timestamp"))
    return {
        "drafts": drafts,
        "grants": granted.select("artifact", "line", "utc", rule="said"),
        "faults": notes(events, pl.col("line"), [("time", bad_time)]),
    }


SOURCE = Source(
    name="continue.cn_log",
    agent="continue",
    pattern=re.compile(r"logs/cn\.log|logs/cn[0-9]+\.log"),
    tables=(EVENTS, RESULTS),
    read=read,
    stage=stage,
)
