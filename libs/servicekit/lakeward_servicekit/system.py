"""Time and ids, from the machine that this runs on."""

from __future__ import annotations

import os
import time
import uuid
from datetime import UTC, datetime


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """In UTC."""
        return datetime.now(UTC)


class SystemIds:
    """Ids from the machine's clock and randomness."""

    def uuid7(self) -> uuid.UUID:
        """RFC 9562 version 7: milliseconds, then 74 random bits."""
        value = (int(time.time() * 1000) & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10), "big")
        value = value & ~(0xF << 76) | 0x7 << 76
        return uuid.UUID(int=value & ~(0x3 << 62) | 0x2 << 62)

    def uuid4(self) -> uuid.UUID:
        """Random."""
        return uuid.uuid4()
