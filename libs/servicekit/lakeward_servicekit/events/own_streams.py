"""A service's own streams, as one for each project and one of the server, for who reads them.

They say as much about people as the audit does, so reading them demands what reading that one demands.
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Generic, Protocol, TypeVar

from lakeward_protocol.events.v1 import reading_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.events.history import HistoryReads
from lakeward_servicekit.events.messages import page_message, part_of
from lakeward_servicekit.events.positions import position_of
from lakeward_servicekit.events.postgres_history import PostgresHistory
from lakeward_servicekit.events.postgres_snapshots import CONNECTIONS, PostgresSnapshots, Tells
from lakeward_servicekit.events.streams import of_project
from lakeward_servicekit.events.subscribing import Subscriptions
from lakeward_servicekit.events.tail import Tail
from lakeward_servicekit.postgres.pools import Pool, service_pool
from lakeward_servicekit.rpc.call import Again
from lakeward_servicekit.settings.postgres import PostgresSettings
from lakeward_servicekit.system import Ids

Page = TypeVar("Page")
Some = TypeVar("Some")


class StreamDoors(Protocol):
    """Who may read streams; the caller is the service's own."""

    async def server(self, action: Action, *, caller: Any) -> None:  # noqa: ANN401 - each service's own
        """Raises FORBIDDEN."""

    async def project_id(self, action: Action, *, caller: Any, project_id: str | None = None) -> str:  # noqa: ANN401 - each service's own
        """The project's id; None: the one that the call names. Raises PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN."""
        ...


class Asked(Protocol):
    """What both requests of any service have."""

    @property
    def project_id(self) -> str:
        """Empty: the context's."""
        ...

    @property
    def server(self) -> bool:
        """The server's stream is meant."""
        ...

    def WhichOneof(self, oneof_group: Any, /) -> str | None:  # noqa: ANN401, N802 - protobuf's own
        """Which one is set."""
        ...


class ReadRequest(Asked, Protocol):
    """`ReadEventsRequest` of any service."""

    @property
    def reading(self) -> reading_pb2.Reading:
        """Which part is wanted."""
        ...


class SubscribeRequest(Asked, Protocol):
    """`SubscribeRequest` of any service."""

    @property
    def after(self) -> str:
        """A position."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class OwnStreams(Generic[Page, Some]):
    """Reads a service's streams: a servicer of its `EventService`, whichever service it is of.

    Attributes:
        kind: the name of the server's stream, and how those of projects begin.
        page: makes the service's `ReadEventsResponse`.
        some: makes its `SubscribeResponse`.
        parse: a project's id from a caller. Raises MALFORMED_PROJECT_ID.
    """

    kind: str
    doors: StreamDoors
    reads: HistoryReads
    page: Callable[..., Page]
    some: Callable[..., Some]
    parse: Callable[[str], str]

    async def ReadEvents(self, request: ReadRequest, caller: Any) -> Page:  # noqa: ANN401, N802 - each service's own
        """See the contract."""
        part = part_of(request.reading)
        return self.page(page=page_message(await self.reads(await self._opened(request, caller), part)))

    async def Subscribe(  # noqa: N802 - the contract's name
        self, request: SubscribeRequest, again: Again[Any]
    ) -> AsyncGenerator[Some, None]:
        """See the contract."""

        async def admit() -> str:
            return await self._opened(request, await again())

        async for page in Subscriptions(self.reads)(admit, position_of(request.after)):
            yield self.some(page=page_message(page))

    async def _opened(self, request: Asked, caller: Any) -> str:  # noqa: ANN401 - each service's own
        match request.WhichOneof("stream"):
            case "project_id":
                demanded, named = (
                    Action.PROJECT_READ_ASSIGNMENTS,
                    self.parse(request.project_id) if request.project_id else None,
                )
                project_id = await self.doors.project_id(demanded, caller=caller, project_id=named)
                return of_project(project_id, kind=self.kind)
            case "server" if request.server:
                await self.doors.server(Action.SERVER_READ_ASSIGNMENTS, caller=caller)
                return self.kind
        raise invalid_field("stream", "unset", "a project, or the server")


@asynccontextmanager
async def open_reads(
    pool: Pool, settings: PostgresSettings, service: str, *, tells: Tells, ids: Ids
) -> AsyncIterator[HistoryReads]:
    """What reads a service's streams, until the block ends.

    Args:
        pool: to the primary, of the service's schema; its `marked` wakes the sequencer.
        settings: of the database.
        service: whose streams they are.
        tells: what is there, for who reads from the beginning.
        ids: names snapshots.
    """

    def moved() -> None:
        pool.marked()  # who is told of its marked commits, is said later

    history = PostgresHistory(pool)
    async with service_pool(settings, service, size=CONNECTIONS, use="snapshots") as own:
        snapshots = PostgresSnapshots(own, tells=tells, ids=ids, moved=moved)
        try:
            yield HistoryReads(history, snapshots, Tail(history.newest))
        finally:
            await snapshots.close()
