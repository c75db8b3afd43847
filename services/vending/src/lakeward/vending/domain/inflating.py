"""Gzip, with a bound on what it may become."""

from __future__ import annotations

import zlib
from typing import Final

from lakeward.servicekit.errors import Reason, Refusal

_GZIP: Final = 31  # zlib's word for gzip framing with the largest window
_SUFFIXES: Final = (".gz", ".gz.metadata.json")


def is_gzip_name(key: str) -> bool:
    """Whether a file's name says that it is gzipped, as Iceberg writes it: "v1.gz.metadata.json", "v1.metadata.json.gz"."""
    return key.endswith(_SUFFIXES)


def inflate(content: bytes, *, limit: int, location: str) -> bytes:
    """Inflate gzip of one or more members.

    Args:
        content: the whole file.
        limit: most bytes that may come out.
        location: the file's name, for the refusal.

    Raises:
        Refusal: FILE_UNREADABLE: not gzip, cut short, or more than `limit` bytes.
    """
    inflated = bytearray()
    rest = content
    try:
        while rest:
            member = zlib.decompressobj(wbits=_GZIP)
            inflated += member.decompress(rest, limit + 1 - len(inflated))
            if len(inflated) > limit:
                raise _unreadable(location, f"it inflates to more than {limit} bytes")
            if not member.eof:
                raise _unreadable(location, "its gzip data is cut short")
            rest = member.unused_data
    except zlib.error as error:
        raise _unreadable(location, "its name says gzip and its content is not") from error
    if not content:
        raise _unreadable(location, "its name says gzip and it is empty")
    return bytes(inflated)


def _unreadable(location: str, fault: str) -> Refusal:
    return Refusal(Reason.REASON_FILE_UNREADABLE, f"the file {location} can't be read: {fault}", location=location)
