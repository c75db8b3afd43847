"""Pages of a listing, and the tokens that lead from one to the next.

A token says behind which entry the next page starts, with a hash over that and over the listing that it is of: another listing,
or another principal's, refuses it, and its own does where a character was changed. It holds nothing that needs to be kept from
its holder, and whoever makes one up sees no more than it may list anyway, so it is bound by a hash and not signed.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import struct
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar
from uuid import UUID

from lakeward_catalog.application.ports.stores import After
from lakeward_catalog.application.rules import Rules
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.paging import Page, PageRequest, PageSizes, page_behind

Entry = TypeVar("Entry")

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_PLACE: Final = struct.Struct(">Bq16s")
_HASH_BYTES: Final = 8  # 33 bytes with the place: base64 needs no padding, and has one spelling
_LENGTH: Final = (_PLACE.size + _HASH_BYTES) * 4 // 3
_VERSION: Final = 2


async def read_page(
    request: PageRequest,
    *,
    listing: Sequence[str],
    rules: Rules,
    place: Callable[[Entry], After],
    read: Callable[[After | None, int], Awaitable[Sequence[Entry]]],
) -> Page[Entry]:
    """The part of a listing that is asked for.

    Args:
        request: which part.
        listing: what identifies the listing and whose it is; a token is good for an equal one.
        rules: page sizes.
        place: an entry's place in the order.
        read: entries behind a place, at most so many.

    Raises:
        Refusal: INVALID_PAGE_TOKEN.
    """
    return await page_behind(
        _decode(request.token, listing) if request.token else None,
        request,
        sizes=PageSizes(rules.page_size_default, rules.page_size_max),
        place=place,
        read=read,
        token=lambda last: _encode(last, listing),
    )


def _encode(after: After, listing: Sequence[str]) -> str:
    microseconds = (after.created_at - _EPOCH) // _MICROSECOND
    packed = _PLACE.pack(_VERSION, microseconds, after.id.bytes)
    return base64.urlsafe_b64encode(packed + _hash(packed, listing)).decode()


def _decode(token: str, listing: Sequence[str]) -> After:
    with contextlib.suppress(ValueError, struct.error, OverflowError):
        decoded = base64.urlsafe_b64decode(token[:_LENGTH])
        packed, bound_by = decoded[:-_HASH_BYTES], decoded[-_HASH_BYTES:]
        version, microseconds, entry = _PLACE.unpack(packed)
        # "+" is read as "-", and what is no digit is passed over: only the spelling that was handed out counts
        spelling = base64.urlsafe_b64encode(decoded).decode()
        if version == _VERSION and spelling == token and bound_by == _hash(packed, listing):
            return After(_EPOCH + microseconds * _MICROSECOND, UUID(bytes=entry))
    raise no_such_page()


def no_such_page() -> Refusal:
    """The refusal of a token that leads nowhere."""
    return Refusal(
        Reason.REASON_INVALID_PAGE_TOKEN,
        "the page token is not one that this listing handed out to you; start again without one",
    )


def _hash(packed: bytes, listing: Sequence[str]) -> bytes:
    return hashlib.blake2b(packed + "\0".join(listing).encode(), digest_size=_HASH_BYTES).digest()
