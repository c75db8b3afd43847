"""Pages of a listing: how many entries one has, and where the next begins. What a token looks like is each service's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

Entry = TypeVar("Entry")
Place = TypeVar("Place")
Start = TypeVar("Start")


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


async def page_behind(
    after: Start | Place,
    request: PageRequest,
    *,
    sizes: PageSizes,
    place: Callable[[Entry], Place],
    read: Callable[[Start | Place, int], Awaitable[Sequence[Entry]]],
    token: Callable[[Place], str],
) -> Page[Entry]:
    """The part of a listing that is asked for.

    Args:
        after: the place that the request's token names; without one, what is before every entry.
        request: which part.
        sizes: of pages.
        place: an entry's place in the order.
        read: entries behind a place, at most so many.
        token: names a place.
    """
    if request.size is None and request.token is None:
        return Page(await _everything(after, sizes.most, place=place, read=read), "")
    size = min(sizes.default if request.size is None else max(1, request.size), sizes.most)
    entries = tuple(await read(after, size + 1))
    if len(entries) <= size:
        return Page(entries, "")
    return Page(entries[:size], token(place(entries[size - 1])))


async def _everything(
    first: Start | Place,
    size: int,
    *,
    place: Callable[[Entry], Place],
    read: Callable[[Start | Place, int], Awaitable[Sequence[Entry]]],
) -> tuple[Entry, ...]:
    entries = list(await read(first, size))
    last = len(entries)
    while last == size:
        more = await read(place(entries[-1]), size)
        entries += more
        last = len(more)
    return tuple(entries)
