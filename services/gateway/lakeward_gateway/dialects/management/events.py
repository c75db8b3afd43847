"""Events of a warehouse, a project and the server, in order, from where a consumer is or from the beginning.

Each service has the events of its own changes. What a warehouse's consumer needs the catalog has alone; of a project and of the
server each service has some, and a position is one service's, so a consumer of them says whose it reads.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final, Protocol, TypeAlias

import msgspec

from lakeward_gateway.dialects.management.documents import time_text
from lakeward_gateway.dialects.management.errors import RENDERED
from lakeward_gateway.http import Header, Request, Response, encode, json_response
from lakeward_gateway.operation import Answer, HeaderParameter, Operation
from lakeward_gateway.query import Milliseconds, PageSize, Text
from lakeward_protocol.authz.v1 import events_pb2 as authz_events_pb2
from lakeward_protocol.authz.v1 import events_pb2_grpc as authz_events_pb2_grpc
from lakeward_protocol.catalog.v1 import events_pb2, events_pb2_grpc
from lakeward_protocol.events.v1 import reading_pb2
from lakeward_protocol.vending.v1 import events_pb2 as vending_events_pb2
from lakeward_protocol.vending.v1 import events_pb2_grpc as vending_events_pb2_grpc
from lakeward_servicekit.errors import invalid_field

AFTER: Final = Text(
    "after",
    '"beginning", which is what is there now and then what changes; "now"; or the position of the last event that is known. '
    "The beginning unless given.",
)
SERVICE: Final = Text(
    "service",
    "Whose events: catalog, of projects, tags' definitions and the server itself; authz, of users, roles and grants; or vending, "
    "of storage credentials. The catalog's unless given.",
)
PAGE_SIZE: Final = PageSize("pageSize", "At most so many events, up to 1000; 100 unless given.")
WAIT: Final = Milliseconds(
    "waitMs", "Milliseconds to wait for an event where there is none, up to 20000; 0 unless given."
)
BATCH: Final = b"application/cloudevents-batch+json"
POSITION: Final = "lakeward-position"
_ACCEPT: Final = HeaderParameter(
    "Accept",
    f"`{BATCH.decode()}` for a bare list of CloudEvents; their members are then those that the standard allows.",
)
# Leaves time for the answer, whatever a request may take.
_LONGEST_WAIT: Final = timedelta(seconds=20)
_MOST: Final = 1000
_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])

CloudEvent: TypeAlias = dict[str, Any]


class LoggedEvent(msgspec.Struct, frozen=True, rename="kebab"):
    """An event in its place.

    Attributes:
        position: where a consumer is that has it and all before.
        sequence: its number in the stream, from 1; of a snapshot that of the last event whose change is in it.
        snapshot: it says what is there, and not what changed.
        event: the CloudEvent.
    """

    position: str
    sequence: int
    snapshot: bool
    kind: str
    verb: str
    written_at: str
    event: CloudEvent | msgspec.Raw


class EventsResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """Events in order.

    Attributes:
        position: where the next page begins.
        newest: number of the newest event there is; 0 for none.
    """

    events: list[LoggedEvent]
    position: str
    newest: int


class _Answer(Protocol):
    @property
    def page(self) -> reading_pb2.EventPage: ...


Read: TypeAlias = Callable[..., Awaitable[_Answer]]
"""Asks a service for events; takes what its request has."""


async def list_events(request: Request, *, events: events_pb2_grpc.EventServiceAsyncStub) -> Response:
    """A page of a warehouse's events."""
    asked = events_pb2.ReadEventsRequest(
        context=request.context, warehouse_id=request.arguments[0], reading=_reading(request)
    )
    return _answered(request, await events.ReadEvents(asked))


async def list_project_events(request: Request, *, services: Mapping[str, Read]) -> Response:
    """A page of a project's events, of one service."""
    read = _service(request, services)
    return _answered(request, await read(context=request.context, project_id="", reading=_reading(request)))


async def list_server_events(request: Request, *, services: Mapping[str, Read]) -> Response:
    """A page of the server's events, of one service."""
    read = _service(request, services)
    return _answered(request, await read(context=request.context, server=True, reading=_reading(request)))


def _service(request: Request, services: Mapping[str, Read]) -> Read:
    named = SERVICE.read(request.query) or "catalog"
    if named not in services:
        raise invalid_field(SERVICE.name, named[:100], "catalog, authz or vending")
    return services[named]


def _reading(request: Request) -> reading_pb2.Reading:
    query = request.query
    wait = min(WAIT.read(query) or timedelta(0), _LONGEST_WAIT)
    return reading_pb2.Reading(
        after=AFTER.read(query) or "",
        limit=min(PAGE_SIZE.read(query) or 0, _MOST),
        wait_ms=int(wait / timedelta(milliseconds=1)),
    )


def _answered(request: Request, answer: _Answer) -> Response:
    page = answer.page
    if _wants_batch(request.headers.get(b"accept", b"")):
        position: Header = (POSITION.encode(), page.position.encode())
        body = encode([_standard(each) for each in page.events])
        return Response(200, headers=((b"content-type", BATCH), position), body=body)
    return json_response(EventsResponse([_shown(each) for each in page.events], page.position, page.newest))


def _wants_batch(accept: bytes) -> bool:
    return any(part.partition(b";")[0].strip().lower() == BATCH for part in accept.split(b","))


def _shown(event: reading_pb2.LoggedEvent) -> LoggedEvent:
    return LoggedEvent(
        position=event.position,
        sequence=event.sequence,
        snapshot=event.snapshot,
        kind=event.kind,
        verb=event.verb,
        written_at=time_text(event.written_at),
        event=msgspec.Raw(event.cloud_event),
    )


def _standard(event: reading_pb2.LoggedEvent) -> dict[str, object]:
    """The CloudEvent without upstream's attributes, whose names the standard does not allow, and with its place."""
    members: dict[str, object] = {
        name: value for name, value in _members.decode(event.cloud_event).items() if "-" not in name
    }
    return {**members, "sequence": str(event.sequence), "position": event.position}


def operations(
    events: events_pb2_grpc.EventServiceAsyncStub,
    *,
    authz: authz_events_pb2_grpc.EventServiceAsyncStub,
    vending: vending_events_pb2_grpc.EventServiceAsyncStub,
) -> Sequence[Operation]:
    """The operations."""
    services: Mapping[str, Read] = {
        "catalog": lambda **asked: events.ReadEvents(events_pb2.ReadEventsRequest(**asked)),
        "authz": lambda **asked: authz.ReadEvents(authz_events_pb2.ReadEventsRequest(**asked)),
        "vending": lambda **asked: vending.ReadEvents(vending_events_pb2.ReadEventsRequest(**asked)),
    }
    return (
        Operation(
            id="list_events",
            method="GET",
            path="/management/v1/warehouse/{warehouse_id}/events",
            summary="Events of a warehouse and of what is in it, in order: what is there, then what changed.",
            handler=partial(list_events, events=events),
            query=(AFTER, PAGE_SIZE, WAIT),
            headers=(_ACCEPT,),
            answers=_ANSWERS,
            renderings=RENDERED,
            tag="warehouse",
        ),
        Operation(
            id="list_project_events",
            method="GET",
            path="/management/v1/project/events",
            summary="Events of a project, in order: what is there, then what changed. Each service has some.",
            handler=partial(list_project_events, services=services),
            query=(SERVICE, AFTER, PAGE_SIZE, WAIT),
            headers=(_ACCEPT,),
            answers=_ANSWERS,
            renderings=RENDERED,
            tag="project",
        ),
        Operation(
            id="list_server_events",
            method="GET",
            path="/management/v1/server/events",
            summary="Events of the server, in order: what is there, then what changed. Each service has some.",
            handler=partial(list_server_events, services=services),
            query=(SERVICE, AFTER, PAGE_SIZE, WAIT),
            headers=(_ACCEPT,),
            answers=_ANSWERS,
            renderings=RENDERED,
            tag="server",
        ),
    )


_ANSWERS: Final = {
    200: Answer(
        "Events, and where the next page begins.",
        "EventsResponse",
        EventsResponse,
        headers={POSITION: "Where the next page begins, beside a bare list."},
    )
}
