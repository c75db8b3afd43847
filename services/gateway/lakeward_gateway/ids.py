"""Ids of requests and of faults: UUIDs that sort by time."""

from __future__ import annotations

import random
import time
from typing import Final

# Not for secrets: an id names a line in a log. Seeded by the system, once a process.
_random: Final = random.Random()  # noqa: S311
_VERSION_AND_VARIANT: Final = (7 << 76) | (2 << 62)
_RANDOM_BITS: Final = (((1 << 12) - 1) << 64) | ((1 << 62) - 1)


def uuid7() -> str:
    """A UUID of version 7 in its text form."""
    number = (time.time_ns() // 1_000_000 << 80) | _VERSION_AND_VARIANT | (_random.getrandbits(76) & _RANDOM_BITS)
    digits = f"{number:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
