"""Formats of tables: some have a name here, any other is a text."""

from __future__ import annotations

import re
from enum import Enum

from lakeward.compat.errors import ConfigError

_FORMAT = re.compile(r"[a-z][a-z0-9_-]{0,63}")


class GenericTableFormat(str, Enum):
    """Formats that have a name here; any other is a text."""

    LANCE = "lance"
    DELTA = "delta"
    VORTEX = "vortex"
    PAIMON = "paimon"
    DATASET = "dataset"


def normalize_format(fmt: str | GenericTableFormat) -> str:
    """A format as it is sent.

    Raises:
        ConfigError: it is none.
    """
    told = str(fmt.value if isinstance(fmt, GenericTableFormat) else fmt)
    if not _FORMAT.fullmatch(told):
        raise ConfigError(f"{told!r} is no format: a small letter, then at most 63 of a-z, 0-9, _ and -")
    return told
