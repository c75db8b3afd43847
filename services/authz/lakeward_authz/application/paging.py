"""Pages of a listing, and the tokens that lead from one to the next.

A listing is in the order of a text that each entry has alone. A token says behind which text the next page starts, with a hash
over that and over the listing that it is of, so that another listing refuses it, or another principal's. It keeps nothing from
its holder, and whoever makes one up sees no more than it may list anyway: it is bound by a hash and not signed.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.paging import Page, PageRequest, PageSizes, page_behind

Entry = TypeVar("Entry")

_HASH_BYTES: Final = 12
_LONGEST: Final = 4096


async def read_page(
    request: PageRequest,
    *,
    listing: Sequence[str],
    sizes: PageSizes,
    place: Callable[[Entry], str],
    read: Callable[[str, int], Awaitable[Sequence[Entry]]],
) -> Page[Entry]:
    """The part of a listing that is asked for.

    Args:
        request: which part.
        listing: what identifies the listing and whose it is; a token is good for an equal one.
        sizes: of pages.
        place: an entry's text in the order.
        read: entries behind a text, at most so many; "" is before all of them.

    Raises:
        Refusal: INVALID_PAGE_TOKEN.
    """
    return await page_behind(
        _decode(request.token, listing) if request.token else "",
        request,
        sizes=sizes,
        place=place,
        read=read,
        token=lambda last: _encode(last, listing),
    )


def _encode(after: str, listing: Sequence[str]) -> str:
    place = after.encode()
    return base64.urlsafe_b64encode(_hash(place, listing) + place).decode().rstrip("=")


def _decode(token: str, listing: Sequence[str]) -> str:
    with contextlib.suppress(ValueError):
        decoded = base64.urlsafe_b64decode(token[:_LONGEST] + "=" * (-len(token) % 4))
        bound_by, place = decoded[:_HASH_BYTES], decoded[_HASH_BYTES:]
        # what is no digit is passed over: only the spelling that was handed out counts
        if bound_by == _hash(place, listing) and _encode(place.decode(), listing) == token:
            return place.decode()
    raise Refusal(
        Reason.REASON_INVALID_PAGE_TOKEN,
        "the page token is not one that this listing handed out to you; start again without one",
    )


def _hash(place: bytes, listing: Sequence[str]) -> bytes:
    return hashlib.blake2b(place + b"\0" + "\0".join(listing).encode(), digest_size=_HASH_BYTES).digest()
