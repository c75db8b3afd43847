"""The machine's clock, and ids that nobody can guess."""

from __future__ import annotations

import datetime as dt
from uuid import UUID, uuid4


class SystemClock:
    """The time of this machine."""

    def now(self) -> dt.datetime:
        """Now, in UTC."""
        return dt.datetime.now(dt.UTC)


class RandomIds:
    """Random UUIDs."""

    def new(self) -> UUID:
        """122 random bits."""
        return uuid4()
