"""Logs of lines that begin with a time: records, and what stands before the first.

A record begins at a line `YYYY-MM-DD HH:mm:ss.SSS [<8 hex>] [<level>]: `, which is how winston writes the log of
Continue's command line (extensions/cli/src/util/logger.ts), and takes the lines after it that do not. A line also
begins behind the NULs that a lost write left.
"""

import re
from bisect import bisect_right
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass

from parsers._text import decode

_BLANK = b" \t\r\n"
_PREFIX = (
    rb"(?=(([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3})"
    rb" \[([0-9a-fA-F]{8})\] \[[A-Za-z]{1,16}\]: ))"
)
_START, _START_OR_NUL = re.compile(rb"\n" + _PREFIX), re.compile(rb"[\n\0]" + _PREFIX)
"""The first is ten times as fast."""

_ZEROS = re.compile(rb"\0{17,}")


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One record: its first line from 1, its time as written, its process, and where it and its message lie."""

    line: int
    time: str
    process: str
    start: int
    message: int
    end: int


@dataclass(slots=True)
class Log:
    """A log's bytes (UTF-8) and its records.

    `lead` is what stands before the first record, `lead_line` its first line that is not blank. `zeros` holds the line
    and the number of NULs of each record with a run of them that a lost write left.
    """

    data: bytes
    records: list[LogRecord]
    lead: bytes
    lead_line: int
    zeros: dict[int, int]


def read_log(data: bytes) -> Log:
    """Find the records of a log."""
    # A line feed in front makes the first line one like the others.
    data = b"\n" + _utf8(data)
    has_nul = b"\0" in data
    starts = list((_START_OR_NUL if has_nul else _START).finditer(data))
    records = []
    line, counted = 0, 0
    for number, start in enumerate(starts):
        line += data.count(b"\n", counted, start.end())
        counted = start.end()
        end = starts[number + 1].start() if number + 1 < len(starts) else len(data)
        time, process = start[2].decode(), start[3].decode().lower()
        records.append(LogRecord(line, time, process, start.end(), start.end(1), end))
    lead = data[: records[0].start] if records else data
    blank = len(lead) - len(lead.lstrip(_BLANK))
    return Log(data, records, lead.strip(_BLANK), lead.count(b"\n", 0, blank), _zeros(data, records) if has_nul else {})


def _utf8(data: bytes) -> bytes:
    """The bytes as UTF-8 without a byte order mark; UTF-16 is written anew."""
    if data[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) or b"\0" in data[:4]:
        decoded = decode(data)
        return data if decoded.bad is not None else decoded.text.encode(errors="surrogatepass")
    return data.removeprefix(BOM_UTF8)


def _zeros(data: bytes, records: list[LogRecord]) -> dict[int, int]:
    """Lines of records that hold long runs of NULs, and how many NULs."""
    starts = [record.start for record in records]
    found: dict[int, int] = {}
    for run in _ZEROS.finditer(data):
        place = bisect_right(starts, run.start()) - 1
        if place >= 0:
            line = records[place].line
            found[line] = found.get(line, 0) + len(run[0])
    return found
