"""Strategies for archives that no program writes: tars and zips made byte by byte, collections with lying manifests."""

import gzip
import json
import struct
import zlib
from dataclasses import dataclass

import zstandard
from hypothesis import strategies as st

from tests.archived import collected, line, session
from tests.damage import VALUES, Edit, byte_edits, encoded

VICTIM = "@victim@"
"""Stands in names for the directory that nothing may be written to, or read from; as long as what takes its place."""

_FOLDERS = ("home/ann/.continue/sessions", "home/bob/.pearai/sessions", "Users/Ann/.continue/sessions", "fs/home/ann")
_NAMES = ("a.json", "A.json", "b.json", "sessions.json", "manifest.jsonl", "collection.json", "x" * 300, "ä\ud800.json")
_FRONTS = ("", "", "", "./", "/", "../", "../" * 12, "x/../", f"{VICTIM}/", "C:/", "C:\\", "fs/", "\\\\host\\share\\")
_ODD = ("", ".", "..", "/", "a/\0b", "home/ann/.continue", "home/ann/.continue/sessions/", "way/a.json", "a\nb", "way")
NAMES = st.one_of(
    st.builds("{}{}/{}".format, st.sampled_from(_FRONTS), st.sampled_from(_FOLDERS), st.sampled_from(_NAMES)),
    st.builds("{}{}".format, st.sampled_from(_FRONTS), st.sampled_from(_NAMES + _ODD)),
)
TARGETS = st.one_of(
    NAMES, st.sampled_from((VICTIM, f"{VICTIM}/hidden", "/etc/passwd", "../../../hidden", "..", "way/a.json"))
)
CONTENTS = st.one_of(
    st.integers(1, 9).map(lambda number: session(f"prompt {number}")),
    VALUES.map(encoded),
    st.sampled_from((b"", b"\0" * 700, b"x" * 1500)),
)
_KINDS = st.sampled_from(b"0000000000\x00571234567DSVMNAIXZ").map(lambda kind: bytes((kind,)))
_SIZES = st.sampled_from((0, 1, 511, 512, 513, 1 << 20, (1 << 33) - 1, 1 << 40, 1 << 62, -1, -512))
_PAX_KEYS = ("path", "linkpath", "size", "mtime", "comment", "GNU.sparse.major", "GNU.sparse.name")
_SPARSE_KEYS = ("GNU.sparse.realsize", "GNU.sparse.size", "GNU.sparse.map", "GNU.sparse.offset", "GNU.sparse.numbytes")
_PAX_VALUES = st.one_of(
    st.sampled_from(("", "0", "1", "512", "-1", "99999999999999999999", "1.5", "0,512,1024,512", "0,1", "nan")), TARGETS
)
_MTIMES = st.sampled_from((0, 1_789_462_800, -1, 1 << 33, 1 << 60))


@dataclass(frozen=True, slots=True)
class Block:
    """A header of a tar and the bytes behind it: what is told of their size need not be so."""

    name: bytes
    kind: bytes
    data: bytes = b""
    size: int | None = None
    linked: bytes = b""
    mtime: int = 1_789_462_800
    magic: bytes = b"ustar\x0000"
    tail: bytes = b""

    def __bytes__(self) -> bytes:
        size = len(self.data) if self.size is None else self.size
        fields = (self.name[:100], b"0000644\0", bytes(8), bytes(8), _number(size), _number(self.mtime), b" " * 8)
        layout = "100s8s8s8s12s12s8s1s100s8s247s"
        head = struct.pack(layout, *fields, self.kind, self.linked[:100], self.magic, self.tail)
        head = head.ljust(512, b"\0")
        head = head[:148] + b"%06o\0 " % sum(head) + head[156:]
        return head + self.data + bytes(-len(self.data) % 512)


def _number(value: int) -> bytes:
    """A number as tars have it: octal digits, or bytes behind a mark."""
    return b"%011o\0" % value if 0 <= value < 8**11 else (value % (1 << 96) | 0x80 << 88).to_bytes(12, "big")


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


@st.composite
def _blocks(draw: st.DrawFn) -> bytes:
    """A member with what may stand in front of it: its long name, a pax header; or a sparse one."""
    name, data, kind = _bytes(draw(NAMES)), draw(CONTENTS), draw(_KINDS)
    linked = _bytes(draw(TARGETS)) if kind in b"12" else b""
    size = draw(st.one_of(st.none(), st.none(), st.none(), _SIZES))
    parts = list[bytes]()
    how = draw(st.sampled_from(("plain", "plain", "long", "pax", "pax", "sparse", "prefix")))
    tail = b""
    if how == "long":
        parts += [bytes(Block(b"././@LongLink", b"L", name + b"\0", magic=b"ustar  \0"))]
        parts += [bytes(Block(b"././@LongLink", b"K", linked + b"\0", magic=b"ustar  \0"))] if linked else []
    elif how == "pax":
        kinds, told = draw(st.sampled_from((b"x", b"x", b"x", b"g", b"X"))), draw(_pax_records())
        parts += [bytes(Block(b"PaxHeaders/x", kinds, told, draw(st.one_of(st.none(), st.none(), _SIZES))))]
    elif how == "sparse":
        kind, tail = b"S", draw(_old_sparse())
    elif how == "prefix":
        tail = bytes(80) + draw(st.sampled_from((b"home/ann/.continue", b"..", b"/", _bytes(VICTIM))))
    return b"".join([*parts, bytes(Block(name, kind, data, size, linked, draw(_MTIMES), tail=tail))])


@st.composite
def _pax_records(draw: st.DrawFn) -> bytes:
    """Records of a pax header, of which some lie about their length."""
    keys, records = st.sampled_from(_PAX_KEYS + _SPARSE_KEYS), list[bytes]()
    for key, value in draw(st.lists(st.tuples(keys, _PAX_VALUES), max_size=5)):
        rest = b" %s=%s\n" % (key.encode(), _bytes(value))
        length = len(rest) + 1
        length += len(str(length + len(str(length)) - 1)) - 1
        records.append(b"%d%s" % (length + draw(st.sampled_from((0, 0, 0, 0, 1, -1, -40))), rest))
    return b"".join(records)


@st.composite
def _old_sparse(draw: st.DrawFn) -> bytes:
    """The part of a GNU header that tells the stored ranges of a file, from byte 265 on."""
    numbers = draw(st.lists(st.one_of(_SIZES, st.integers(0, 2_000)), min_size=9, max_size=9))
    ranges = b"".join(map(_number, numbers[:8]))
    return bytes(386 - 265) + ranges + draw(st.sampled_from((b"\0", b"\1"))) + _number(numbers[8])


@st.composite
def tars(draw: st.DrawFn) -> bytes:
    """Tars, plain and compressed in every way, ended or not, one behind the other."""
    parts = draw(st.lists(st.one_of(_blocks(), st.just(bytes(1024))), max_size=8))
    data = b"".join(parts) + draw(st.sampled_from((bytes(1024), bytes(1024), b"", bytes(512))))
    how = draw(st.sampled_from(("plain", "gzip", "joined", "zstd", "zstd frames")))
    cut = len(data) * draw(st.integers(0, 10)) // 10
    if how == "gzip":
        return gzip.compress(data, mtime=0)
    if how == "joined":
        padding = bytes(draw(st.sampled_from((0, 0, 700))))
        return gzip.compress(data[:cut], mtime=0) + padding + gzip.compress(data[cut:], mtime=0)
    if how == "zstd":
        return zstandard.ZstdCompressor(write_checksum=True).compress(data)
    if how == "zstd frames":
        pack = zstandard.ZstdCompressor(write_checksum=draw(st.booleans())).compress
        return pack(data[:cut]) + struct.pack("<II", 0x184D2A50, 4) + b"skip" + pack(data[cut:])
    return data


@dataclass(slots=True)
class Zipped:
    """A member of a zip as both of its headers tell of it."""

    name: bytes
    data: bytes
    method: int
    flags: int
    crc32: int
    packed: int
    size: int
    attributes: int
    extra: bytes
    shift: int


@st.composite
def _zipped(draw: st.DrawFn) -> tuple[Zipped, Zipped]:
    """A member, as its own header and as the directory tells of it; one of them may lie."""
    name, content, method = _bytes(draw(NAMES)), draw(CONTENTS), draw(st.sampled_from((0, 8, 8, 12, 93, 99)))
    if draw(st.booleans()):
        name = name.replace(b"/", b"\\")
    pack = zlib.compressobj(wbits=-15)
    data = pack.compress(content) + pack.flush() if method == 8 else content
    if method == 93:
        data = zstandard.compress(content)
    flags = draw(st.sampled_from((0, 0, 0, 0x800, 1, 8)))
    mode = draw(st.sampled_from((0, 0o100644, 0o120777, 0o040755, 0o010644, 0o060644)))
    honest = Zipped(name, data, method, flags, zlib.crc32(content), len(data), len(content), mode << 16, b"", 0)
    lie = draw(st.sampled_from(("", "", "", "crc32", "packed", "size", "method", "flags", "shift", "name", "extra")))
    lying = Zipped(name, data, method, flags, zlib.crc32(content), len(data), len(content), mode << 16, b"", 0)
    if lie == "name":
        lying.name = _bytes(draw(NAMES))
    elif lie == "extra":
        lying.extra = draw(
            st.one_of(st.binary(max_size=20), st.just(struct.pack("<HHQQQ", 1, 24, 1 << 40, 1 << 62, 5)))
        )
        lying.size = lying.packed = 0xFFFFFFFF
    elif lie:
        setattr(lying, lie, draw(st.one_of(st.integers(0, 40), st.sampled_from((0xFFFF, 1, 8)))))
    return (lying, honest) if draw(st.booleans()) else (honest, lying)


@st.composite
def zips(draw: st.DrawFn) -> bytes:
    """Zips with and without a directory, with members that lie."""
    data, directory = b"", b""
    members = draw(st.lists(_zipped(), max_size=6))
    for local, central in members:
        fields = (local.flags, local.method, 0x5D2F4800, local.crc32, local.packed, local.size)
        head = b"PK\3\4\x14\0" + struct.pack("<HHIIIIHH", *fields, len(local.name), len(local.extra))
        entry = (central.flags, central.method, 0x5D2F4800, central.crc32, central.packed, central.size)
        sizes = (len(central.name), len(central.extra), 0, 0, 0, central.attributes, len(data) + central.shift)
        directory += (
            b"PK\1\2\x14\3\x14\0" + struct.pack("<HHIIIIHHHHHII", *entry, *sizes) + central.name + central.extra
        )
        data += head + local.name + local.extra + local.data
    counts = len(members) + draw(st.sampled_from((0, 0, 0, 1, -1))) & 0xFFFF
    place = draw(st.sampled_from((len(data), len(data), 0, 0xFFFFFFFF)))
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, counts, counts, len(directory), place, 0)
    return data + directory + (end if draw(st.integers(0, 5)) else b"")


@st.composite
def members_of_collections(draw: st.DrawFn) -> list[tuple[str, bytes]]:
    """What a collector wrote: members by name. Its manifest, and what it says of itself, are wrong in many ways."""
    lines, files = list[dict[str, object] | str](), dict[str, bytes]()
    for number in range(draw(st.integers(0, 5))):
        path, data = f"/home/ann/.continue/sessions/{number}.json", draw(CONTENTS)
        entry: dict[str, object] = line(path, data)
        entry |= draw(st.dictionaries(st.sampled_from(sorted(entry)), _FIELDS, max_size=2))
        for key in draw(st.lists(st.sampled_from(sorted(entry)), max_size=1)):
            del entry[key]
        lines.append(encoded(entry).decode("utf-8", "replace"))
        if draw(st.integers(0, 4)):
            files[path[1:]] = data
    lines += draw(st.lists(VALUES.map(lambda value: encoded(value).decode("utf-8", "replace")), max_size=2))
    made = collected(lines, files)
    about = json.loads(made[1][1]) | draw(
        st.dictionaries(st.sampled_from(("hostname", "started", "finished")), _FIELDS)
    )
    made[1] = (made[1][0], encoded(about))
    left = draw(st.lists(st.integers(0, len(made) - 1), max_size=1))
    return [member for number, member in enumerate(made) if number not in left]


_FIELDS = st.one_of(
    VALUES,
    TARGETS,
    NAMES.map(lambda name: f"fs/{name}"),
    st.sampled_from(
        ("file", "dir", "symlink", "collected", "skipped_secret", "error_read", "C:\\Users\\Ann", "0" * 64)
    ),
)


@st.composite
def archives(draw: st.DrawFn) -> bytes:
    """Archives of every kind, of which about half are damaged after they were made."""
    packed = members_of_collections().map(_tarred)
    data = draw(st.one_of(tars(), zips(), packed))
    edits: list[Edit] = draw(st.one_of(st.just([]), st.lists(byte_edits(), max_size=3)))
    for edit in edits:
        data = edit(data)
    return data


def _tarred(members: list[tuple[str, bytes]]) -> bytes:
    return b"".join(bytes(Block(_bytes(name), b"0", data)) for name, data in members) + bytes(1024)
