"""Gzip, with bounds on what it may become and on the work that it may make."""

from __future__ import annotations

import zlib
from typing import Final

from lakeward_servicekit.errors import Reason, Refusal

# Writers that work in parallel or in blocks end a member every 64 KiB or so; a file of nothing but empty members is an attack.
MAX_MEMBERS: Final = 4096
_GZIP: Final = 31  # zlib's word for gzip framing with the largest window
_SUFFIXES: Final = (".gz", ".gz.metadata.json")
# What follows a member's end is copied, so that much is given to a member at a time and not all of the file.
_PIECE: Final = 64 * 1024


def is_gzip_name(key: str) -> bool:
    """Whether a file's name says that it is gzipped, as Iceberg writes it: "v1.gz.metadata.json", "v1.metadata.json.gz"."""
    return key.endswith(_SUFFIXES)


def inflate(content: bytes, *, limit: int, location: str) -> bytes:
    """Inflate gzip of one or more members. The work grows with `content` and `limit`, and not faster.

    Args:
        content: the whole file.
        limit: most bytes that may come out.
        location: the file's name, for the refusal.

    Raises:
        Refusal: FILE_UNREADABLE: not gzip, cut short, more than `limit` bytes, or more than `MAX_MEMBERS` members.
    """
    inflated = bytearray()
    view, at, members = memoryview(content), 0, 0
    try:
        while at < len(content):
            members += 1
            if members > MAX_MEMBERS:
                raise _unreadable(location, f"it has more than {MAX_MEMBERS} gzip members")
            member = zlib.decompressobj(wbits=_GZIP)
            while not member.eof and at < len(content):
                piece = view[at : at + _PIECE]
                at += len(piece)
                inflated += member.decompress(piece, limit + 1 - len(inflated))
                if len(inflated) > limit:
                    raise _unreadable(location, f"it inflates to more than {limit} bytes")
            if not member.eof:
                raise _unreadable(location, "its gzip data is cut short")
            at -= len(member.unused_data)
    except zlib.error as error:
        raise _unreadable(location, "its name says gzip and its content is not") from error
    if not content:
        raise _unreadable(location, "its name says gzip and it is empty")
    return bytes(inflated)


def _unreadable(location: str, fault: str) -> Refusal:
    return Refusal(Reason.REASON_FILE_UNREADABLE, f"the file {location} can't be read: {fault}", location=location)
