"""Run a command as a user would and measure it: wall time, and peak memory of its whole process tree."""

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
INTERVAL = 0.02
"""Seconds between two samples of the memory."""
BUSY = 0.1
"""Share of a core that sampling may take; where reading the sizes is slow, samples become rarer."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a command took: seconds from start to exit, peak memory in bytes, exit code, what it printed.

    `peak` is the largest sum over the process tree of one sample: of PSS (a shared page counts once) where
    `basis` is `pss`, else of RSS; `peak_rss` is that of RSS. Null on a system without /proc.
    """

    seconds: float
    peak: int | None
    peak_rss: int | None
    basis: str | None
    code: int
    output: str


def cores() -> list[int]:
    """Cores that this process may run on; none where the system does not say."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def run_measured(command: Sequence[str], folder: Path, wanted: int | None = None) -> Measured:
    """Run a command in a folder, on at most `wanted` cores, and wait for its end."""
    started = time.perf_counter()
    child = _start(command, folder, wanted)
    sampler = Sampler(child.pid)
    sampler.start()
    output, _ = child.communicate()
    seconds = time.perf_counter() - started
    sampler.stop()
    return Measured(seconds, sampler.peak, sampler.peak_rss, sampler.basis, child.returncode, output)


def _start(command: Sequence[str], folder: Path, wanted: int | None) -> subprocess.Popen[str]:
    """Start a command; it inherits the cores of the thread that starts it, so they are set and put back."""
    allowed = cores() if wanted else []
    if allowed:
        os.sched_setaffinity(0, allowed[-(wanted or 1) :])
    try:
        return subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
    finally:
        if allowed:
            os.sched_setaffinity(0, allowed)


class Sampler(threading.Thread):
    """Samples the memory of a process and its descendants until it is stopped.

    `basis` is what the system tells: `pss`, `rss` or nothing.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        own = os.getpid()
        self.pid = pid
        self.basis = "pss" if proportional(own) else "rss" if resident(own) else None
        self._peak, self._peak_rss = 0, 0
        self._parents: dict[int, int] = {}
        self._ended = threading.Event()

    @property
    def peak(self) -> int | None:
        """Largest sum so far, in bytes of `basis`."""
        return self._peak if self.basis == "pss" else self.peak_rss

    @property
    def peak_rss(self) -> int | None:
        """Largest sum of RSS so far, in bytes."""
        return self._peak_rss if self.basis else None

    def run(self) -> None:
        """Sample until `stop`."""
        pause = 0.0
        while self.basis and not self._ended.wait(pause):
            before = time.perf_counter()
            self._sample()
            pause = max(INTERVAL, (time.perf_counter() - before) / BUSY)

    def stop(self) -> None:
        """End the sampling."""
        self._ended.set()
        self.join()

    def _sample(self) -> None:
        pids = family(self.pid, self._parents)
        total = sum(map(resident, pids))
        self._peak_rss = max(self._peak_rss, total)
        # PSS is never above RSS, and the kernel walks all pages for it: only read what can be a new peak.
        if self.basis == "pss" and total > self._peak:
            self._peak = max(self._peak, sum(map(proportional, pids)))


def family(pid: int, parents: dict[int, int]) -> list[int]:
    """A process and its descendants.

    `parents` starts empty and keeps the parent of every process once seen, so that only new ones are read.
    """
    living = {int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()}
    for gone in parents.keys() - living:
        del parents[gone]
    for new in living - parents.keys():
        # The name in parentheses may hold anything; state and parent's id follow it.
        after = _read(f"{PROC}/{new}/stat").rpartition(b") ")[2].split(maxsplit=2)
        if len(after) > 1:
            parents[new] = int(after[1])
    children: dict[int, list[int]] = {}
    for child, parent in parents.items():
        children.setdefault(parent, []).append(child)
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def resident(pid: int) -> int:
    """RSS of a process in bytes; 0 where it cannot be read."""
    counts = _read(f"{PROC}/{pid}/statm").split()
    return int(counts[1]) * os.sysconf("SC_PAGE_SIZE") if len(counts) > 1 else 0


def proportional(pid: int) -> int:
    """PSS of a process in bytes; 0 where it cannot be read."""
    found = _read(f"{PROC}/{pid}/smaps_rollup").partition(b"\nPss:")[2].split(maxsplit=1)
    return int(found[0]) * 1024 if found else 0


def _read(path: str) -> bytes:
    """A file of /proc; nothing where it is missing, forbidden, or its process has just ended."""
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""
