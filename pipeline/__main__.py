"""Starts the command `homelake`. Ctrl-C ends it with one line, also while it still imports what it needs."""

import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType

STOPPED = 128 + signal.SIGINT
LINE = "homelake: stopped\n"

_ONE_WORKER = re.compile(r"--workers[ =]1\b")


class Stopped(KeyboardInterrupt):
    """Ctrl-C. For one of the built-in kind that comes while Python makes a class, it would kill itself at the end."""


def main() -> None:
    """Run the command line."""
    gc.set_threshold(100_000)  # what modules and lakes hold has hardly a cycle, and is walked through each time
    is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    is_stopped = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal is_stopped
        is_stopped = True
        raise Stopped

    if is_ours:
        signal.signal(signal.SIGINT, lambda *_: _leave())
    if _has_workers(sys.argv[1:]):
        from pipeline import workers

        if is_ours:
            signal.signal(signal.SIGINT, lambda *_: _leave(workers.abandon_server))
        with suppress(OSError):  # if it cannot start, the command tells of it
            workers.start_server()  # it imports what workers need while this process does
    from pipeline import cli  # takes longest, and workers need it not

    if is_ours:
        signal.signal(signal.SIGINT, stop)
    try:
        cli.main()
    except BaseException as error:
        # A command that went on, as the prompt does, ends as it says; a library that was interrupted may have made
        # something else of it.
        is_told = isinstance(error, SystemExit) and error.code in (None, 0, STOPPED)
        if is_told or not is_stopped:
            raise
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.stderr.write(LINE)
        sys.exit(STOPPED)
    finally:
        gc.freeze()  # what is left is not walked through once more at the end


def _has_workers(words: Sequence[str]) -> bool:
    """Whether a command line, which is not checked yet, is one of a build by several workers."""
    return words[:1] == ["build"] and (os.cpu_count() or 1) > 1 and not _ONE_WORKER.search(" ".join(words))


def _leave(clean_up: Callable[[], None] | None = None) -> None:
    """Leave at once, with nothing begun: a library that is being imported would tell of an error at length."""
    os.write(2, LINE.encode())
    if clean_up is not None:
        clean_up()
    os._exit(STOPPED)


if __name__ == "__main__":
    main()
