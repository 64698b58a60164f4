"""Where work is done: in this process, or in worker processes."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any


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
def workers(count: int) -> Iterator[Executor]:
    """Executor of `count` worker processes; a single worker is this process.

    Workers come from a clean server process that has imported what they need once: a fork of a process that has used
    its libraries' threads could hang.
    """
    if count == 1:
        yield Inline()
        return
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload(["pipeline.batch", "pipeline.lake"])
    pool = ProcessPoolExecutor(count, context)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
