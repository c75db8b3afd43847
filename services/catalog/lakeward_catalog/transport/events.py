"""EventService over gRPC."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncGenerator

from lakeward_catalog.application.caller import Caller, parse_project_id
from lakeward_catalog.application.history import EventReadings, OfProject, OfServer, OfWarehouse, ReadEvents, Stream
from lakeward_catalog.transport import decode
from lakeward_protocol.catalog.v1 import events_pb2 as pb
from lakeward_protocol.catalog.v1 import events_pb2_grpc
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.events.messages import page_message, part_of
from lakeward_servicekit.events.positions import position_of
from lakeward_servicekit.rpc.call import Again


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EventServicer(events_pb2_grpc.EventServiceServicer):
    """Events, in order."""

    read: EventReadings

    async def ReadEvents(self, request: pb.ReadEventsRequest, caller: Caller) -> pb.ReadEventsResponse:
        """See the contract."""
        page = await self.read(ReadEvents(_stream(request), part_of(request.reading)), caller=caller)
        return pb.ReadEventsResponse(page=page_message(page))

    async def Subscribe(
        self, request: pb.SubscribeRequest, again: Again[Caller]
    ) -> AsyncGenerator[pb.SubscribeResponse, None]:
        """See the contract."""
        async for page in self.read.follow(_stream(request), position_of(request.after), again=again):
            yield pb.SubscribeResponse(page=page_message(page))


def _stream(request: pb.ReadEventsRequest | pb.SubscribeRequest) -> Stream:
    match request.WhichOneof("stream"):
        case "warehouse_id":
            return OfWarehouse(decode.warehouse_id(request.warehouse_id))
        case "project_id":
            return OfProject(parse_project_id(request.project_id) if request.project_id else None)
        case "server" if request.server:
            return OfServer()
    raise invalid_field("stream", "unset", "a warehouse, a project, or the server")
