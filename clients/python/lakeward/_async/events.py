"""Reading the events of a warehouse, a project, or the server."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio

from lakeward._async.connection import AsyncConnection
from lakeward._async.management import AsyncWarehouses
from lakeward._calls import Call, document
from lakeward.errors import RefusedError, UnreachableError
from lakeward.events.positions import BEGINNING, HeldPosition, Position
from lakeward.events.shapes import Event, EventPage, page_of
from lakeward.events.streams import Stream
from lakeward.retrying import REPEATED

_WAIT_MS = 15_000  # shorter than proxies and this client's own timeout let an answer take
_AWAY_SECONDS = 2.0


class AsyncEvents:
    """The events of one stream.

    Args:
        connection: what sends.
        warehouses: who knows warehouses' ids.
        stream: which.
    """

    def __init__(self, connection: AsyncConnection, warehouses: AsyncWarehouses, stream: Stream) -> None:
        self._connection = connection
        self._warehouses = warehouses
        self._stream = stream
        self._places: dict[str, str] = {}

    async def page(self, after: str = BEGINNING, *, limit: int = 100, wait_ms: int = 0) -> EventPage:
        """Some events, and where the next ones begin.

        Args:
            after: "beginning", "now", or the position of an event.
            limit: at most so many, up to 1000.
            wait_ms: how long to wait for one where there is none, up to 20,000.

        Raises:
            EventsForgottenError: what is behind that position is not kept any more.
            NotFoundError: there is no such warehouse or project.
            ForbiddenError: the caller may not know of all that they tell.
        """
        stream = self._stream
        if stream.warehouse is not None and not self._places:
            # asked for once: a warehouse that is renamed meanwhile is the same one
            self._places = {"warehouse_id": await self._warehouses.id_of(stream.warehouse)}
        answer = await self._connection.call(
            Call(
                "GET",
                stream.path,
                places=self._places,
                query={**stream.query, "after": after, "pageSize": limit, "waitMs": wait_ms},
                project=stream.project,
            )
        )
        return page_of(document(answer))

    async def subscribe(
        self, position: Position | str = BEGINNING, *, batch: int = 100, follow: bool = True
    ) -> AsyncIterator[Event]:
        """Every event behind a position, in order, each once, and those that come.

        An event counts as processed when the next one is asked for. What was processed is kept with each page, and when the
        caller leaves; after a crash the events of the last page come again. While the server can't be reached it is asked again.

        Args:
            position: where to begin, and what keeps how far the consumer is; where nothing was kept yet, the beginning: what is
                there comes first, as a snapshot.
            batch: events that are asked for at once, up to 1000.
            follow: False ends with the newest event, instead of waiting for more.

        Raises:
            EventsForgottenError: the consumer was away for longer than events are kept; it begins again, from the beginning.
        """
        kept = HeldPosition(position) if isinstance(position, str) else position
        after = kept.load() or BEGINNING
        while True:
            try:
                found = await self.page(after, limit=batch, wait_ms=_WAIT_MS if follow else 0)
            except (RefusedError, UnreachableError) as error:
                if not follow or (isinstance(error, RefusedError) and error.status not in REPEATED):
                    raise
                await anyio.sleep(_AWAY_SECONDS)
                continue
            processed = after if found.events else found.position  # where "now" was, is kept too
            try:
                for event in found.events:
                    yield event
                    processed = event.position
            finally:
                if processed != after:
                    kept.keep(processed)
            after = found.position
            if not found.events and not follow:
                return
