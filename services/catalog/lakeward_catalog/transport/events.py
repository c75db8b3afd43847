"""EventService over gRPC."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.caller import Caller, parse_project_id
from lakeward_catalog.application.history import EventReadings, OfProject, OfServer, OfWarehouse, ReadEvents, Stream
from lakeward_catalog.transport import decode
from lakeward_protocol.catalog.v1 import events_pb2 as pb
from lakeward_protocol.catalog.v1 import events_pb2_grpc
from lakeward_servicekit.errors import invalid_field
from lakeward_servicekit.events.messages import page_message, part_of


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EventServicer(events_pb2_grpc.EventServiceServicer):
    """Events, in order."""

    read: EventReadings

    async def ReadEvents(self, request: pb.ReadEventsRequest, caller: Caller) -> pb.ReadEventsResponse:
        """See the contract."""
        page = await self.read(ReadEvents(_stream(request), part_of(request.reading)), caller=caller)
        return pb.ReadEventsResponse(page=page_message(page))


def _stream(request: pb.ReadEventsRequest) -> Stream:
    match request.WhichOneof("stream"):
        case "warehouse_id":
            return OfWarehouse(decode.warehouse_id(request.warehouse_id))
        case "project_id":
            return OfProject(parse_project_id(request.project_id))
        case "server" if request.server:
            return OfServer()
    raise invalid_field("stream", "unset", "a warehouse, a project, or the server")
