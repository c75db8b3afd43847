"""The tags of an If-None-Match header."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from lakeward_servicekit.remembering import remembered

_TAG: Final = re.compile(r'\s*(\*|(?:W/)?"[\x21\x23-\x7e\x80-\xff]*")\s*(?:,|$)')


@remembered(entries=4096, longest=256)
def tags_of(header: bytes) -> Sequence[str]:
    """Tags, quotes and weakness marks included, and `*`; what can't be read as a tag says nothing."""
    return tuple(_TAG.findall(header.decode("latin-1")))
