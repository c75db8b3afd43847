"""Pages of a listing, and the tokens that lead from one to the next.

A token says behind which entry the next page starts, and which listing it is of: another listing, or another principal's,
refuses it. It holds nothing that needs to be kept from its holder, so it is bound by a hash and not signed.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import hashlib
import struct
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, Generic, TypeVar
from uuid import UUID

from lakeward.catalog.application.ports import After, Rules
from lakeward.servicekit.errors import Reason, Refusal

Entry = TypeVar("Entry")

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_FORM: Final = struct.Struct(">B8sq16s")  # 33 bytes: base64 needs no padding
_VERSION: Final = 1


@dataclasses.dataclass(frozen=True, slots=True)
class PageRequest:
    """Which part of a listing is asked for; with neither member everything.

    Attributes:
        size: how many entries; cut to 1 and the most that are served.
        token: from the page before, "" for the first page; None: no pages are asked for by token.
    """

    size: int | None = None
    token: str | None = None


EVERYTHING: Final = PageRequest()


@dataclasses.dataclass(frozen=True, slots=True)
class Page(Generic[Entry]):
    """A part of a listing; `next_token` is "" at the end."""

    entries: tuple[Entry, ...]
    next_token: str


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
    identity = hashlib.blake2b("\0".join(listing).encode(), digest_size=8).digest()
    after = _decode(request.token, identity) if request.token else None
    if request.size is None and request.token is None:
        return Page(await _everything(rules.page_size_max, place=place, read=read), "")
    size = rules.page_size_default if request.size is None else max(1, request.size)
    size = min(size, rules.page_size_max)
    entries = tuple(await read(after, size + 1))
    if len(entries) <= size:
        return Page(entries, "")
    return Page(entries[:size], _encode(place(entries[size - 1]), identity))


async def _everything(
    size: int, *, place: Callable[[Entry], After], read: Callable[[After | None, int], Awaitable[Sequence[Entry]]]
) -> tuple[Entry, ...]:
    entries = list(await read(None, size))
    last = len(entries)
    while last == size:
        more = await read(place(entries[-1]), size)
        entries += more
        last = len(more)
    return tuple(entries)


def _encode(after: After, identity: bytes) -> str:
    microseconds = (after.created_at - _EPOCH) // _MICROSECOND
    packed = _FORM.pack(_VERSION, identity, microseconds, after.id.bytes)
    return base64.urlsafe_b64encode(packed).decode()


def _decode(token: str, identity: bytes) -> After:
    try:
        version, bound_to, microseconds, entry = _FORM.unpack(base64.b64decode(token, altchars=b"-_", validate=True))
        if version == _VERSION and bound_to == identity:
            return After(_EPOCH + microseconds * _MICROSECOND, UUID(bytes=entry))
    except (binascii.Error, ValueError, struct.error, OverflowError):
        pass
    raise Refusal(
        Reason.REASON_INVALID_PAGE_TOKEN,
        "the page token is not one that this listing handed out to you; start again without one",
    )
