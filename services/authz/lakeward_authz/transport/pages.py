"""Pages of listings: a token says where the page before ended, and of which listing it is."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from lakeward_protocol.common.v1 import context_pb2
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.paging import PageSizes

_LONGEST: Final = 4096


def size_of(page: context_pb2.Page, sizes: PageSizes) -> int:
    """How many entries a page may have."""
    return min(max(page.size, 1) if page.HasField("size") else sizes.default, sizes.most)


def token_of(place: Sequence[str], *, listing: Sequence[object]) -> str:
    """A token for what comes behind a place of a listing.

    Args:
        place: of the last entry.
        listing: what makes two listings one.
    """
    written = json.dumps([_digest(listing), *place], ensure_ascii=False, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(written).decode().rstrip("=")


def place_of(page: context_pb2.Page, *, listing: Sequence[object], parts: Sequence[bool]) -> Sequence[str] | None:
    """The place behind which a page begins; None for the first.

    Args:
        page: which is asked for.
        listing: what makes two listings one.
        parts: of a place, whether each is a UUID.

    Raises:
        Refusal: INVALID_PAGE_TOKEN.
    """
    if not page.token:
        return None
    if len(page.token) > _LONGEST:
        raise _strange()
    try:
        padded = page.token + "=" * (-len(page.token) % 4)
        read = json.loads(base64.b64decode(padded, altchars="-_", validate=True))
    except (ValueError, binascii.Error, RecursionError) as error:
        raise _strange() from error
    if not isinstance(read, list) or len(read) != len(parts) + 1 or not all(isinstance(part, str) for part in read):
        raise _strange()
    digest, *place = read
    if digest != _digest(listing) or not all(map(_fits, place, parts)):
        raise _strange()
    return place


def _fits(part: str, is_uuid: bool) -> bool:  # noqa: FBT001 - mapped over the parts
    if not is_uuid:
        return "\x00" not in part
    try:
        return bool(UUID(part).hex)
    except ValueError:
        return False


def _digest(listing: Sequence[object]) -> str:
    return hashlib.sha256(repr(listing).encode()).hexdigest()[:16]


def _strange() -> Refusal:
    return Refusal(
        Reason.REASON_INVALID_PAGE_TOKEN,
        "the page token is not one of this listing; leave it out to begin at the first page",
    )
