"""Percent-decoding, a segment or a value at a time, so that an encoded slash never becomes a separator."""

from __future__ import annotations

import re
import urllib.parse
from typing import Final

from lakeward_servicekit.errors import invalid_field

_BROKEN_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def decode(raw: bytes, what: str) -> str:
    """The text that a percent-encoded piece of a URL stands for.

    Args:
        raw: the piece, as it came.
        what: its name in a refusal, such as "path".

    Raises:
        Refusal: INVALID_FIELD, for an escape that does not hold or text that is not UTF-8.
    """
    if b"%" in raw:
        if _BROKEN_ESCAPE.search(raw):
            raise invalid_field(what, raw.decode("latin-1"), 'percent-encoded, each "%" followed by two hex digits')
        raw = urllib.parse.unquote_to_bytes(raw)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise invalid_field(what, raw.decode("latin-1"), "UTF-8 once it is percent-decoded") from None


def decode_form(raw: bytes, what: str) -> str:
    """As `decode`, with "+" for a space.

    Raises:
        Refusal: INVALID_FIELD.
    """
    return decode(raw.replace(b"+", b" ") if b"+" in raw else raw, what)
