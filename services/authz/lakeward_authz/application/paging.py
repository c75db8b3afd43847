"""Pages of a listing, and the tokens that lead from one to the next.

A listing is in the order of a text that each entry has alone. A token says behind which text the next page starts, with a hash
over that and over the listing that it is of, so that another listing refuses it, or another principal's. It keeps nothing from
its holder, and whoever makes one up sees no more than it may list anyway: it is bound by a hash and not signed.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

from lakeward_servicekit.errors import Reason, Refusal

Entry = TypeVar("Entry")

_HASH_BYTES: Final = 12
_LONGEST: Final = 4096


@dataclasses.dataclass(frozen=True, slots=True)
class PageSizes:
    """How many entries a page has.

    Attributes:
        default: where no size is asked for.
        most: at most.
    """

    default: int
    most: int


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
    after = _decode(request.token, listing) if request.token else ""
    if request.size is None and request.token is None:
        entries = list(await read("", sizes.most))
        last = len(entries)
        while last == sizes.most:
            more = await read(place(entries[-1]), sizes.most)
            entries += more
            last = len(more)
        return Page(tuple(entries), "")
    size = min(sizes.default if request.size is None else max(1, request.size), sizes.most)
    found = tuple(await read(after, size + 1))
    if len(found) <= size:
        return Page(found, "")
    return Page(found[:size], _encode(place(found[size - 1]), listing))


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
