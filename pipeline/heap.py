"""Memory that was freed and that the C library keeps for itself: other libraries, with heaps of their own, need it."""

import ctypes


def give_back() -> None:
    """Return what is free to the system, where the C library (glibc) knows how."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
