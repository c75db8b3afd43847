"""The tags of an If-None-Match header."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Final

_TAG: Final = re.compile(r'\s*(\*|(?:W/)?"[\x21\x23-\x7e\x80-\xff]*")\s*(?:,|$)')


@functools.lru_cache(maxsize=4096)
def tags_of(header: bytes) -> Sequence[str]:
    """Tags, quotes and weakness marks included, and `*`; what can't be read as a tag says nothing."""
    return tuple(_TAG.findall(header.decode("latin-1")))
