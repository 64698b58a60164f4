"""Work that has to end: on inputs so large that what grows with their square would go on for hours."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SECONDS = 120
"""Of the processor's time: no test comes near to it, so that none tells of a slow machine."""


@contextmanager
def ending() -> Iterator[None]:
    """Stop a block that does not end, and fail."""
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise AssertionError("work without an end")
