"""What may be done to the files of a location."""

from __future__ import annotations

import enum


class Access(enum.IntEnum):
    """Levels of access, as the contract names and numbers them; each holds the ones before it."""

    READ = 1
    READ_WRITE = 2
    READ_WRITE_DELETE = 3
