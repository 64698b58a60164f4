"""Starts the command `homelake`. Ctrl-C ends it with one line, also while it still imports what it needs."""

import gc
import os
import signal
import sys
from types import FrameType

STOPPED = 128 + signal.SIGINT
LINE = "homelake: stopped\n"


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
        signal.signal(signal.SIGINT, _leave)
    from pipeline import cli  # takes longest, and workers need it not

    if is_ours:
        signal.signal(signal.SIGINT, stop)
    try:
        cli.main()
    except BaseException as error:
        is_told = isinstance(error, SystemExit) and error.code == STOPPED
        # A library that was interrupted may have made something else of it.
        if is_told or not is_stopped:
            raise
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.stderr.write(LINE)
        sys.exit(STOPPED)
    finally:
        gc.freeze()  # what is left is not walked through once more at the end


def _leave(_number: int, _frame: FrameType | None) -> None:
    """Leave at once, with nothing begun: a library that is being imported would tell of an error at length."""
    os.write(2, LINE.encode())
    os._exit(STOPPED)


if __name__ == "__main__":
    main()
