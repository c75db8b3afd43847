"""What may be done to the files of a location."""

from __future__ import annotations

import enum


class Access(enum.IntEnum):
    """Levels of access; each holds the ones before it."""

    READ = 1
    READ_WRITE = 2
    READ_WRITE_DELETE = 3

    def allows(self, needed: Access) -> bool:
        """Whether what needs `needed` may be done."""
        return self >= needed
