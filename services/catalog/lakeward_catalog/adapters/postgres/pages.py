"""Pages of listings: where one starts, and one read for all who ask for an equal one at one moment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias, TypeVar
from uuid import UUID

from lakeward_catalog.application.ports.stores import After
from lakeward_servicekit.coalescing import Coalescer

Entry = TypeVar("Entry")
Asked: TypeAlias = tuple[Any, ...]

_FIRST: Final = (datetime(1, 1, 1, tzinfo=UTC), UUID(int=0))
_AT_ONCE: Final = 8


def place_of(after: After | None) -> tuple[datetime, UUID]:
    """Where a page starts, behind this place in the order of a listing; before everything for its first page."""
    return _FIRST if after is None else (after.created_at, after.id)


def shared_pages(read: Callable[[Asked], Awaitable[Sequence[Entry]]]) -> Coalescer[Asked, Sequence[Entry]]:
    """Reads of pages that show the same to everybody. Equal ones that were not sent yet are one; each other goes by itself.

    Args:
        read: reads the page of these arguments; its answer is nobody's to change.
    """

    async def ask(pages: Sequence[Asked]) -> Sequence[Sequence[Entry]]:
        return [await read(page) for page in pages]

    return Coalescer(ask, max_items=1, at_once=_AT_ONCE, patience=None, alike=True)
