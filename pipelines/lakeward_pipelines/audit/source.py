"""A warehouse's log, read in order from a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.errors import EventsForgottenError

if TYPE_CHECKING:
    from lakeward import Client
    from lakeward.events import Event, EventPage

_LARGEST_PAGE = 1000


class EventsMissing(Exception):  # noqa: N818 - what is the case, not that it is an error
    """Events behind the table's last one are not kept any more: the table would have a hole."""


@dataclass(frozen=True)
class Log:
    """One warehouse's.

    Attributes:
        client: who asks; it needs the right to list all that is in the warehouse.
        warehouse: its name, for messages.
        warehouse_id: its id.
    """

    client: Client
    warehouse: str
    warehouse_id: str

    @classmethod
    def of(cls, client: Client, warehouse: str) -> Log:
        """The log of a warehouse.

        Args:
            client: who asks.
            warehouse: its name or id.
        """
        found = client.management.warehouses.get(warehouse)
        return cls(client, found.name, found.id)

    def newest(self) -> int:
        """The number of the newest event there is; 0 for none."""
        return self._page("now", 1, 0).newest

    def read(self, after: int, *, limit: int, wait_ms: int = 0) -> Sequence[Event]:
        """Events behind a number, in order.

        Args:
            after: the number.
            limit: at most so many.
            wait_ms: how long to wait for one where there is none.

        Raises:
            EventsMissing: the next one is not kept any more.
        """
        try:
            return self._page(str(after), min(limit, _LARGEST_PAGE), wait_ms).events
        except EventsForgottenError as error:
            raise EventsMissing(
                f"of the events of {self.warehouse}, those behind {after} are not kept any more: {error.message}"
            ) from error

    def kept_behind(self, after: int) -> int:
        """The number, where all events behind it are kept; else the number before the oldest one that is.

        The API says no more than that a number is too small, so it is found by halves; it may become too small meanwhile.
        """
        if self._is_kept_behind(after):
            return after
        small, large = after, self.newest()
        while large - small > 1:
            middle = (small + large) // 2
            if self._is_kept_behind(middle):
                large = middle
            else:
                small = middle
        return large

    def _is_kept_behind(self, after: int) -> bool:
        try:
            self._page(str(after), 1, 0)
        except EventsForgottenError:
            return False
        return True

    def _page(self, after: str, limit: int, wait_ms: int) -> EventPage:
        return self.client.warehouse(self.warehouse_id).events.page(after, limit=limit, wait_ms=wait_ms)
