"""Where work is done: in this process, or in worker processes, of which one that dies takes no other's work with it."""

import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing import forkserver, resource_tracker, util
from types import FrameType
from typing import Any, TypeVar

Job = TypeVar("Job")
Outcome = TypeVar("Outcome")

Pool = Callable[[int], AbstractContextManager[Executor]]
"""Opens an executor of so many workers."""

_PRELOADED = ["parsers", "pipeline.batch", "pipeline.discover", "pipeline.rewrite", "pyarrow.compute"]
"""What all workers need: it is imported once, not by each of them."""


_LONGEST = 75
"""Bytes that the temporary directory's path may have for the server's socket in it, whose path is bounded (unix(7))."""
_SHORT = "/tmp"  # noqa: S108  (the socket is in a directory of its own there, of a random name and private)
"""Where it is else: the one short path that every such system has."""


@dataclass(frozen=True, slots=True)
class Died:
    """In the place of an outcome: the worker ended while it was at the job, or ran out of memory, twice.

    It was killed, most likely for the memory that it took.
    """


class Inline(Executor):
    """An executor that does the work when it is handed in."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call `fn`; return its outcome as a future that is done."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put off Ctrl-C: a worker that is being started is not yet among those that are to be ended."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[tuple[int, FrameType | None]] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: caught.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if caught and callable(before):
            before(*caught[0])


class _Processes(ProcessPoolExecutor):
    """Worker processes, which are started when work is handed in."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        with _uninterrupted():
            return super().submit(fn, *args, **kwargs)


@contextmanager
def here(_count: int) -> Iterator[Executor]:
    """Executor that works in this process."""
    yield Inline()


@contextmanager
def processes(count: int) -> Iterator[Executor]:
    """Executor of `count` worker processes. Where an error passes, they are ended at once, whatever they are at.

    Workers come from a clean server process that has imported what they need once: a fork of a process that has used
    its libraries' threads could hang.
    """
    context = multiprocessing.get_context("forkserver")
    start_server()
    others = set(multiprocessing.active_children())
    pool = _Processes(count, context, initializer=_end_with_parent)
    try:
        yield pool
    except BaseException:
        for worker in set(multiprocessing.active_children()) - others:
            worker.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def start_server() -> None:
    """Start the server of worker processes, unless it runs, which imports what they need while others go on.

    SIGINT is blocked in it and so in them: a terminal sends it to all, and the build's own process ends them.
    """
    multiprocessing.set_forkserver_preload(_PRELOADED)
    resource_tracker.ensure_running()  # else the server starts it, which unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    folder = tempfile.gettempdir()
    try:
        with temporaries_in(folder if len(os.fsencode(folder)) <= _LONGEST else _SHORT):
            forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def abandon_server() -> None:
    """Remove what the server has on the disk, in a process that ends without the clean-up at its end."""
    shutil.rmtree(util.get_temp_dir(), ignore_errors=True)


def _end_with_parent() -> None:
    """Have this worker end when the build does: one that goes on would write into the next build's files."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def temporaries_in(folder: str) -> Iterator[None]:
    """Have temporary files made in a folder that goes with the build, however that ends: they can hold secrets."""
    before, tempfile.tempdir = tempfile.tempdir, folder
    try:
        yield
    finally:
        tempfile.tempdir = before


def workers(count: int) -> AbstractContextManager[Executor]:
    """Executor of `count` workers: processes, but for a single one, which is this process."""
    return here(count) if count == 1 else processes(count)


def run_all(
    function: Callable[[Job], Outcome], jobs: Iterable[Job], count: int, pool: Pool | None = None
) -> Generator[tuple[Job, Outcome | Died], None, None]:
    """Yield each job with what `function` gives for it, in the order in which that is known.

    `count` jobs are worked on at once, by the workers of `pool`: by default those of `workers`. If a worker dies, the
    jobs that were worked on are done again when all others are done, each alone with one worker of its own; the job of
    which that one dies, too, has `Died`. An error of `function` ends all. An iterator that is not used up is to be
    closed (`contextlib.closing`): that ends the workers.
    """
    opened = pool or (here if count == 1 else processes)
    waiting = deque(jobs)
    suspects: list[Job] = []
    while waiting:
        with opened(count) as executor:
            yield from _until_death(function, waiting, (executor, count), suspects)
    for job in suspects:
        again: list[Job] = []
        with opened(1) as executor:
            yield from _until_death(function, deque([job]), (executor, 1), again)
        if again:
            yield job, Died()


def _until_death(
    function: Callable[[Job], Outcome], waiting: deque[Job], workers: tuple[Executor, int], suspects: list[Job]
) -> Iterator[tuple[Job, Outcome]]:
    """Work through `waiting` until all is done or a worker died; what may have been the cause goes to `suspects`.

    No more is handed in than can be worked on: nobody else tells which jobs were.
    """
    executor, count = workers
    running: dict[Future[Outcome], Job] = {}
    is_alive = True
    while running or (waiting and is_alive):
        while is_alive and waiting and len(running) < count:
            try:
                running[executor.submit(function, waiting[0])] = waiting[0]
                waiting.popleft()
            except BrokenExecutor:
                is_alive = False
        for future in _done(running):
            job = running.pop(future)
            try:
                outcome = future.result()
            except (BrokenExecutor, MemoryError) as error:
                is_alive = is_alive and not isinstance(error, BrokenExecutor)
                suspects.append(job)
                continue
            yield job, outcome


def _done(running: Iterable[Future[Any]]) -> Sequence[Future[Any]]:
    """Wait for the first of the futures, in order; return those that are done."""
    done = wait(running, return_when=FIRST_COMPLETED).done
    return [future for future in running if future in done]
