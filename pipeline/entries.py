"""Histories of homes as the manifest has them: every path once, and files by the phases that held them."""

from itertools import chain, pairwise
from typing import Annotated

import msgspec

from pipeline import sightings
from pipeline.history import History, Phase, Session, Spans, Version

_Position = Annotated[int, msgspec.Meta(ge=0)]
_Ends = list[_Position]
"""`Spans`, one behind the other."""


class EntryPhase(msgspec.Struct, array_like=True):
    """`Phase`; the collections in base64, as `Sightings` packs them."""

    digest: str
    listing: str | None
    is_partial: bool
    seen: bytes


class Entry(msgspec.Struct):
    """A history with the home's bucket: of each file the position of its paths, its size, SHA-256, and phases."""

    identity: str
    host: str | None
    user: str | None
    bucket: int
    paths: list[tuple[str, str]]
    files: list[tuple[_Position, int | None, str | None, _Ends]]
    sessions: list[tuple[str, str, _Ends]]
    phases: list[EntryPhase]
    last_held: dict[str, _Position]


def dumped(history: History, bucket: int) -> Entry:
    """A history for the manifest, all of whose collections have their ids."""
    paths = sorted({(version.home_path, version.source_file) for version in history.files})
    place = {path: at for at, path in enumerate(paths)}
    files = [
        (place[version.home_path, version.source_file], version.bytes, version.sha256, [*chain(*spans)])
        for version, spans in history.files.items()
    ]
    return Entry(
        history.identity,
        history.host,
        history.user,
        bucket,
        paths,
        sorted(files, key=lambda file: (file[0], file[3], -1 if file[1] is None else file[1], file[2] or "")),
        sorted((*session, [*chain(*spans)]) for session, spans in history.sessions.items()),
        [EntryPhase(phase.digest, phase.listing, phase.is_partial, phase.seen.packed) for phase in history.phases],
        dict(sorted(history.last_held.items())),
    )


def loaded(entry: Entry) -> History:
    """A history from the manifest. Raises IndexError or ValueError where it is none."""
    count = len(entry.phases)
    files: dict[Version, Spans] = {}
    for at, size, sha256, ends in entry.files:
        files[Version(*entry.paths[at], size, sha256)] = _spans(ends, count)
    sessions: dict[Session, Spans] = {(agent, path): _spans(ends, count) for agent, path, ends in entry.sessions}
    if not count or any(at >= count for at in entry.last_held.values()):
        raise ValueError("no home")
    phases = tuple(
        Phase(sightings.loaded(each.seen), each.digest, each.listing, each.is_partial) for each in entry.phases
    )
    return History(entry.identity, entry.host, entry.user, phases, files, sessions, entry.last_held)


def _spans(ends: _Ends, count: int) -> Spans:
    """Stretches of `count` phases. Raises ValueError where they are none."""
    spans = tuple(zip(ends[::2], ends[1::2], strict=True))
    if not spans or ends[-1] >= count or any(before > after for before, after in pairwise(ends)):
        raise ValueError("no phases")
    return spans
