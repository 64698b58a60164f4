"""Bytes to text, and text that every column takes: no bad UTF-8, no lone surrogate, no NUL."""

import codecs
import re
from dataclasses import dataclass, field

REPLACEMENT = "\ufffd"
WHITE = " \t\r\n"
"""JSON's white space."""

_BAD_RUNS = re.compile("([\udc80-\udcff]+)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NUL_RUN = re.compile("\0{17,}")
NONCHARACTERS = [chr(code) for code in range(0xFDD0, 0xFDF0)]


@dataclass(slots=True)
class Text:
    """Decoded bytes. `bad` stands for each run of bytes that were not UTF-8; null where there was none."""

    text: str
    bad: str | None = None


def decode(data: bytes) -> Text:
    """Decode UTF-8 with or without a byte order mark, or UTF-16 with one (or with every other byte NUL)."""
    wide = decode_utf_16(data)
    return decode_utf_8(data.removeprefix(codecs.BOM_UTF8)) if wide is None else Text(wide)


def decode_utf_16(data: bytes) -> str | None:
    """Decode UTF-16 with a byte order mark or with every other byte NUL; null for what is none."""
    for mark, encoding, at in ((codecs.BOM_UTF16_LE, "utf-16-le", 1), (codecs.BOM_UTF16_BE, "utf-16-be", 0)):
        if data.startswith(mark):
            return _wide(data[2:], encoding)
        if len(data) >= 4 and data[at:4:2] == b"\0\0" and 0 not in data[1 - at : 4 : 2]:
            return _wide(data, encoding)
    return None


def decode_utf_8(data: bytes) -> Text:
    """Decode UTF-8 without a byte order mark, each run of other bytes as one mark."""
    try:
        return Text(data.decode())
    except UnicodeDecodeError:
        text = data.decode(errors="surrogateescape")
        # A noncharacter that the text does not hold marks the bad runs, so that they are told from escaped surrogates.
        bad = next((mark for mark in NONCHARACTERS if mark not in text), REPLACEMENT)
        return Text(_BAD_RUNS.sub(bad, text), bad)


def _wide(data: bytes, encoding: str) -> str:
    """Decode UTF-16; half a surrogate pair stays one, to be noted."""
    return data[: len(data) // 2 * 2].decode(encoding, "surrogatepass")


def _is_clean(text: str) -> bool:
    """Say whether a text holds neither a NUL nor half a surrogate pair."""
    if "\0" in text:
        return False
    if not text.isascii():
        try:
            text.encode()  # (several times as fast as a look at each character)
        except UnicodeEncodeError:
            return False
    return True


@dataclass(slots=True)
class Cleaner:
    """Makes texts storable and remembers why they were not; one record at a time."""

    bad: str | None = None
    reasons: set[str] = field(default_factory=set)

    def text(self, value: str) -> str:
        """Return `value` with what no column takes replaced by U+FFFD."""
        if self.bad is not None and self.bad in value:
            self.reasons.add("invalid_utf8")
            value = value.replace(self.bad, REPLACEMENT)
        if _is_clean(value):
            return value
        if "\0" in value:
            value = self._without_nul(value)
        if _SURROGATE.search(value) is not None:
            self.reasons.add("lone_surrogate")
            value = _SURROGATE.sub(REPLACEMENT, value)
        return value

    def _without_nul(self, value: str) -> str:
        """Replace a long run of NULs by one U+FFFD, and each other NUL by one."""
        if _NUL_RUN.search(value) is not None:
            self.reasons.add("zero_filled")
            value = _NUL_RUN.sub(REPLACEMENT, value)
        if "\0" in value:
            self.reasons.add("nul_character")
            value = value.replace("\0", REPLACEMENT)
        return value
