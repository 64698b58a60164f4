"""Members of a zip: by its directory, or where that is damaged or cut off by their own headers.

Format: PKWARE APPNOTE.TXT 6.3 (sections 4.3 to 4.5). Back slashes in names are separators.
"""

import mmap
import stat
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pipeline.decoders import Fault

_LOCAL, _CENTRAL, _END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_END64, _LOCATOR64 = b"PK\x06\x06", b"PK\x06\x07"
_DESCRIPTOR = b"PK\x07\x08"
_ENCRYPTED, _STREAMED = 1, 8
_FULL, _FULL16 = 0xFFFFFFFF, 0xFFFF
_COMMENT = 1 << 16
_UNIX = (3, 19)
"""Systems whose files have a mode in their attributes (section 4.4.2)."""
_FOLDER = 0x10
"""The attribute of a folder of DOS and Windows, also where its name ends in no separator."""


@dataclass(slots=True)
class ZipMember:
    """A member: place of its own header, sizes (bytes), time (ms since 1970), mode (0 where none is kept)."""

    name: str
    header: int
    packed: int
    size: int
    method: int
    crc32: int
    mtime_ms: int
    mode: int
    is_encrypted: bool


def zip_members(path: str, faults: list[Fault]) -> Iterator[ZipMember]:
    """Yield the members of a zip in order; what is wrong with it as a whole is added to `faults`."""
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        found = _directory(data)
        if found is None:
            faults.append(Fault("archive_truncated", "zip directory"))
            yield from _by_headers(data)
            return
        start, size, shift, count = found
        at, end, seen, is_damaged = start, start + size, set[int](), False
        while at + 46 <= end and data[at : at + 4] == _CENTRAL:
            member, at = _central(data, at, shift)
            count -= 1
            if member is not None:
                seen.add(member.header)
                yield member
            else:
                is_damaged = True
        if is_damaged or count & _FULL16:
            faults.append(Fault("archive_damaged", "zip directory"))
            yield from (member for member in _by_headers(data) if member.header not in seen)


def _directory(data: mmap.mmap) -> tuple[int, int, int, int] | None:
    """Place and size of the directory, what to add to places in it, and its number of members."""
    at = data.rfind(_END, max(0, len(data) - _COMMENT - 22))
    if at < 0 or at + 22 > len(data):
        return None
    count, size, start = struct.unpack_from("<HII", data, at + 10)
    end = at
    locator = at - 20
    if locator >= 0 and data[locator : locator + 4] == _LOCATOR64:
        place = struct.unpack_from("<Q", data, locator + 8)[0]
        found = place if data[place : place + 4] == _END64 else data.rfind(_END64, 0, locator)
        if found >= 0 and found + 56 <= len(data):
            count, size, start = struct.unpack_from("<QQQ", data, found + 32)
            end = found
    if size > end:
        return None
    shift = end - size - start
    if size and data[end - size : end - size + 4] != _CENTRAL:
        return None
    return end - size, size, shift, count


def _central(data: mmap.mmap, at: int, shift: int) -> tuple[ZipMember | None, int]:
    """A member by its entry in the directory; null where its header is not where it should be."""
    made_by, flags, method, stamp, crc32, packed, size, name_size, extra_size, comment = struct.unpack_from(
        "<4xH2xHHIIIIHHH", data, at
    )
    attributes, header = struct.unpack_from("<II", data, at + 38)
    name = data[at + 46 : at + 46 + name_size]
    extra = data[at + 46 + name_size : at + 46 + name_size + extra_size]
    fields = _extra(extra)
    if (wide := fields.get(1)) is not None:
        size, packed, header = _wide(wide, (size, packed, header))
    header += shift
    mode = attributes >> 16 if made_by >> 8 in _UNIX else 0
    if not mode and not size and attributes & _FOLDER:
        mode = stat.S_IFDIR
    member = ZipMember(
        _name(name),
        header,
        packed,
        size,
        method,
        crc32,
        _time(stamp, fields),
        mode,
        bool(flags & _ENCRYPTED),
    )
    is_there = 0 <= header <= len(data) - 30 and data[header : header + 4] == _LOCAL
    return member if is_there else None, at + 46 + name_size + extra_size + comment


def _by_headers(data: mmap.mmap) -> Iterator[ZipMember]:
    """Yield the members by their own headers, in the order in which they lie."""
    at = data.find(_LOCAL)
    while 0 <= at <= len(data) - 30:
        flags, method, stamp, crc32, packed, size, name_size, extra_size = struct.unpack_from("<6xHHIIIIHH", data, at)
        start = at + 30 + name_size + extra_size
        if start > len(data):
            return
        fields = _extra(data[start - extra_size : start])
        if (wide := fields.get(1)) is not None:
            size, packed, _ = _wide(wide, (size, packed, 0))
        if flags & _STREAMED and not packed:
            packed, size, crc32 = _measured(data, start, method)
        is_whole = start + packed <= len(data)
        packed = min(packed, len(data) - start)
        name = data[at + 30 : start - extra_size]
        is_encrypted = bool(flags & _ENCRYPTED)
        yield ZipMember(_name(name), at, packed, size, method, crc32, _time(stamp, fields), 0, is_encrypted)
        if not is_whole:
            return
        at = data.find(_LOCAL, start + packed)


def _measured(data: mmap.mmap, start: int, method: int) -> tuple[int, int, int]:
    """Sizes and checksum of a member that its header does not tell: packed, unpacked, CRC-32."""
    if method != 8:
        end = data.find(_DESCRIPTOR, start)
        size = (end if end >= 0 else len(data)) - start
        return size, size, zlib.crc32(data[start : start + size])
    inflate, at, size, crc32 = zlib.decompressobj(-15), start, 0, 0
    rest = b""
    while not inflate.eof and (rest or at < len(data)):
        if not rest:
            rest = data[at : at + 65_536]
            at += len(rest)
        try:
            found = inflate.decompress(rest, 1 << 20)
        except zlib.error:
            end = data.find(_LOCAL, start)
            return (end if end >= 0 else len(data)) - start, size, crc32
        rest = inflate.unconsumed_tail
        size, crc32 = size + len(found), zlib.crc32(found, crc32)
    return at - len(inflate.unused_data) - start, size, crc32


def _extra(data: bytes) -> dict[int, bytes]:
    """Further fields of a header by their number."""
    fields: dict[int, bytes] = {}
    at = 0
    while at + 4 <= len(data):
        number, size = struct.unpack_from("<HH", data, at)
        fields.setdefault(number, data[at + 4 : at + 4 + size])
        at += 4 + size
    return fields


def _wide(field: bytes, numbers: tuple[int, int, int]) -> tuple[int, int, int]:
    """The sizes and the place of a header in 64 bits, those of them that had no room (section 4.5.3)."""
    at, found = 0, list[int]()
    for number in numbers:
        if number == _FULL and at + 8 <= len(field):
            found.append(int(struct.unpack_from("<Q", field, at)[0]))
            at += 8
        else:
            found.append(number)
    return found[0], found[1], found[2]


def _name(name: bytes) -> str:
    """A name with separators `/`; bytes that are not UTF-8 as lone surrogates.

    Whatever a flag says: names without it are UTF-8 far more often than they are code page 437.
    """
    text = name.decode("utf-8", "surrogateescape")
    return text.replace("\\", "/")


def _time(stamp: int, fields: dict[int, bytes]) -> int:
    """Modification time (ms since 1970): the one in UTC where a field has it, else the local one as if it were UTC."""
    unix = fields.get(0x5455)
    if unix is not None and len(unix) >= 5 and unix[0] & 1:
        return int(struct.unpack_from("<i", unix, 1)[0]) * 1000
    windows = fields.get(0x000A)
    if windows is not None and len(windows) >= 16 and windows[4:8] == b"\x01\x00\x18\x00":
        return int(struct.unpack_from("<Q", windows, 8)[0]) // 10_000 - 11_644_473_600_000
    date, clock = stamp >> 16, stamp & 0xFFFF
    try:
        moment = datetime(
            1980 + (date >> 9),
            (date >> 5) & 15,
            date & 31,
            clock >> 11,
            (clock >> 5) & 63,
            (clock & 31) * 2,
            tzinfo=UTC,
        )
    except ValueError:
        return 0
    return int(moment.timestamp()) * 1000
