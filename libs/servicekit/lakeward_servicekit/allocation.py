"""How this process gives memory back."""

from __future__ import annotations

import ctypes
import os
from typing import Final

_M_MMAP_THRESHOLD: Final = -3  # of glibc's malloc.h
_LARGE: Final = 1024 * 1024
_CHOSEN: Final = ("MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")


def give_back_large_blocks() -> None:
    """Have blocks of a MiB and more go back to the system as soon as they are freed.

    glibc takes a large block that is freed as a reason to keep the next ones, up to 32 MiB each, in heaps that shrink only from
    their end: a process that once held a few large bodies would be their size for ever. Once a process, before it serves; nothing
    happens where somebody chose otherwise in the environment, or with another C library, which has no such habit.
    """
    if any(name in os.environ for name in _CHOSEN):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE)


def give_back_what_is_free() -> None:
    """Give back to the system what the start has freed: modules that were compiled for the first time leave megabytes.

    Some milliseconds, so for a moment at which nobody is answered. Nothing happens with a C library that has no such call.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
