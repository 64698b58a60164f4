"""Files that stand in for another of their directory: leftovers of a write, backups, names of old versions.

One of them is read where the file itself is missing or gives nothing: the newest that can be read whole, else the
newest that gives rows. Where nothing can be read of any, and the file is missing, the newest tells why.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pipeline.extract import Read
from pipeline.model import Artifact, Status
from pipeline.owned import place_of
from pipeline.source import NO_RECORD, Records, Source

_LEFT_OUT = (Status.SKIPPED, Status.SECRET)


class StandIns:
    """What is read in one home; what became of the files themselves must be told (`seen`) before any is `settled`."""

    def __init__(self, sources: Mapping[str, Source], artifacts: Iterable[Artifact]) -> None:
        self._sources = sources
        self._waiting = [artifact for artifact in artifacts if artifact.stands_in and artifact.source in sources]
        self._there: dict[tuple[str, str | None], str | None] = {}
        self._chosen: dict[str, Artifact] | None = None
        self._looked_at: dict[str, str | None] = {}

    def seen(self, artifact: Artifact, read: Read) -> None:
        """Remember a file that is there: why nothing of it could be read, null where something could.

        One that the collector left out or found to be a link cannot be read, either.
        """
        if read.status is not Status.MISSING:
            is_left_out = read.status is Status.SKIPPED
            is_empty = read.status is Status.PARSED and read.records == 0
            lost = "unreadable" if is_left_out else read.lost
            self._there[place_of(artifact)] = lost or (NO_RECORD if is_empty else None)

    def settled(self, artifact: Artifact) -> Artifact:
        """Return an artifact as it is to be read, or as one that is known alone."""
        if not artifact.stands_in:
            return artifact
        if artifact.source not in self._sources:
            return replace(artifact, status=Status.KNOWN)
        if self._chosen is None:
            self._chosen = {chosen.home_path: chosen for chosen in self._choose()}
        status = artifact.status if artifact.status in _LEFT_OUT else Status.KNOWN
        return self._chosen.get(artifact.home_path, replace(artifact, source=None, status=status))

    def looked_at(self, artifact: Artifact, read: Read) -> Read:
        """What became of a file, with the hash of its bytes where they decided that it is not to be read."""
        if artifact.home_path not in self._looked_at or read.status is not Status.KNOWN:
            return read
        sha256 = self._looked_at[artifact.home_path]
        return replace(read, sha256=sha256, is_closed=sha256 is None)

    def _choose(self) -> Iterator[Artifact]:
        groups: defaultdict[tuple[str, str | None], list[Artifact]] = defaultdict(list)
        for artifact in self._waiting:
            known = self._by_content(artifact)
            groups[place_of(known)].append(known)
        for place, artifacts in groups.items():
            source = self._sources.get(place[1] or "")
            if source and (place not in self._there or self._there[place] in source.replaced_on):
                artifacts.sort(key=lambda artifact: (artifact.mtime_ms, artifact.home_path), reverse=True)
                best = self._best(source, artifacts, is_missing=place not in self._there)
                if best is not None:
                    yield best if best.status is Status.UNREADABLE else replace(best, status=Status.PARSED)

    def _by_content(self, artifact: Artifact) -> Artifact:
        """The artifact with the source that its bytes tell, where its name alone does not."""
        tell = self._sources[artifact.source or ""].by_content
        data = self._bytes(artifact) if tell else None
        return replace(artifact, source=tell(data)) if tell and data is not None else artifact

    def _best(self, source: Source, artifacts: Iterable[Artifact], *, is_missing: bool) -> Artifact | None:
        """Return the first artifact without a loss, else the first with rows, else the first if its file is missing."""
        with_rows: list[Artifact] = []
        opened: list[Artifact] = []
        closed: list[Artifact] = []
        for artifact in artifacts:
            records = Records({table.name: [] for table in source.tables})
            data = self._bytes(artifact)
            if data is None:
                closed += [] if artifact.status in _LEFT_OUT else [artifact]
                continue
            source.read(data, artifact.home_path, records)
            if all(problem.text is None for problem in records.problems):
                return artifact
            opened.append(artifact)
            if any(records.rows.values()):
                with_rows.append(artifact)
        return next(iter(with_rows or (opened or closed if is_missing else [])), None)

    def _bytes(self, artifact: Artifact) -> bytes | None:
        try:
            data = artifact.location.read_bytes()
        except OSError:
            self._looked_at[artifact.home_path] = None
            return None
        self._looked_at[artifact.home_path] = hashlib.sha256(data).hexdigest()
        return data
