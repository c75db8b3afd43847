"""Time and ids, from the machine that this runs on."""

from __future__ import annotations

import functools
import os
import random
import time
import uuid
from datetime import UTC, datetime
from typing import Final, Protocol

_VERSION_AND_VARIANT: Final = (7 << 76) | (2 << 62)
_RANDOM_BITS: Final = (((1 << 12) - 1) << 64) | ((1 << 62) - 1)
# Not for secrets, nor for what outlives a process. Seeded by the system, once a process.
_random: Final = random.Random()  # noqa: S311


def request_id() -> str:
    """A name for what passes, such as a request or a fault in a log: a UUID of version 7 in its text form, made cheaply."""
    number = (time.time_ns() // 1_000_000 << 80) | _VERSION_AND_VARIANT | (_random.getrandbits(76) & _RANDOM_BITS)
    digits = f"{number:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


class Clock(Protocol):
    """The time."""

    def now(self) -> datetime:
        """In UTC, with its time zone."""
        ...


class Ids(Protocol):
    """Fresh ids."""

    def uuid7(self) -> uuid.UUID:
        """One that is larger than those before, by the time at which it was made."""
        ...

    def uuid4(self) -> uuid.UUID:
        """One that nobody can guess."""
        ...


class SystemClock:
    """The machine's clock."""

    # In UTC. It is asked a few times a request, so it is no function of ours.
    now = staticmethod(functools.partial(datetime.now, UTC))


class SystemIds:
    """Ids from the machine's clock and randomness."""

    def uuid7(self) -> uuid.UUID:
        """RFC 9562 version 7: milliseconds, then 74 random bits."""
        bits = int.from_bytes(os.urandom(10), "big") & _RANDOM_BITS
        return uuid.UUID(int=(time.time_ns() // 1_000_000 << 80) | _VERSION_AND_VARIANT | bits)

    def uuid4(self) -> uuid.UUID:
        """Random."""
        return uuid.uuid4()
