"""Pages of listings: where one starts, and one read for all who ask for an equal one at one moment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Generic, TypeAlias, TypeVar
from uuid import UUID

from lakeward_catalog.application.ports.stores import After
from lakeward_servicekit.coalescing import Coalescer

Result = TypeVar("Result")
Asked: TypeAlias = tuple[Any, ...]

_FIRST: Final = (datetime(1, 1, 1, tzinfo=UTC), UUID(int=0))


def place_of(after: After | None) -> tuple[datetime, UUID]:
    """Where a page starts, behind this place in the order of a listing; before everything for its first page."""
    return _FIRST if after is None else (after.created_at, after.id)


class SharedPages(Generic[Result]):
    """Reads of pages that show the same to everybody.

    Of one page one read is under way at a time; whoever asks for it meanwhile shares the next one, so that no page is older than
    its question, and a crowd that lists one namespace reads it a few times and not each for itself. Others go their own way.

    Args:
        read: reads the page of these arguments; its answer is nobody's to change.
    """

    def __init__(self, read: Callable[[Asked], Awaitable[Result]]) -> None:
        """Read by `read`."""
        self._read: Final = read
        self._rounds: Final[dict[Asked, Coalescer[Asked, Result]]] = {}

    @property
    def busy(self) -> bool:
        """Whether any page is being read; of others nothing is kept."""
        return bool(self._rounds)

    async def __call__(self, page: Asked) -> Result:
        """What was read of one page."""
        rounds = self._rounds.get(page)
        if rounds is None:
            rounds = self._rounds[page] = Coalescer(self._each, max_items=1, patience=None, alike=True)
        try:
            return await rounds(page)
        finally:
            if rounds.idle and self._rounds.get(page) is rounds:
                del self._rounds[page]

    async def _each(self, pages: Sequence[Asked]) -> Sequence[Result]:
        return [await self._read(page) for page in pages]
