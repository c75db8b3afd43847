"""StatisticsService over gRPC."""

from __future__ import annotations

import dataclasses
import itertools
from datetime import UTC
from typing import Any, Final
from uuid import UUID

from lakeward_catalog.application.caller import Caller, is_project_id
from lakeward_catalog.application.calls import DAY, CallStatistics, SeeCalls
from lakeward_catalog.application.ports.counting import Calls, CallStore
from lakeward_catalog.domain.model import ProjectId
from lakeward_catalog.domain.names import name_key
from lakeward_catalog.transport import decode
from lakeward_catalog.transport.task_messages import moment, span
from lakeward_protocol.catalog.v1 import statistics_pb2 as pb
from lakeward_protocol.catalog.v1 import statistics_pb2_grpc
from lakeward_servicekit.errors import invalid_field

MOST: Final = 20_000
_LONGEST_NAME: Final = 512
_STATUSES: Final = range(100, 600)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsServicer(statistics_pb2_grpc.StatisticsServiceServicer):
    """How often what was asked; `default_project` is of requests that name none, where it is on."""

    calls: CallStore
    see: CallStatistics
    default_project: ProjectId | None

    async def RecordCalls(self, request: pb.RecordCallsRequest, context: Any) -> pb.RecordCallsResponse:
        """See the contract."""
        del context
        if len(request.counts) > MOST:
            raise invalid_field("counts", f"{len(request.counts)} counts", f"at most {MOST}")
        await self.calls.add([self._calls(each) for each in request.counts])
        return pb.RecordCallsResponse()

    def _calls(self, count: pb.CallCount) -> Calls:
        if count.status not in _STATUSES or not count.count:
            raise invalid_field("counts", f"{count.count} of status {count.status}", "a status of HTTP, at least once")
        named = count.warehouse[:_LONGEST_NAME]
        project_id = ProjectId(count.project) if is_project_id(count.project) else None
        if not count.project:
            project_id = self.default_project
        try:
            warehouse_id, name = UUID(named), None
        except ValueError:
            warehouse_id, name = None, named or None
        if name is not None:
            project, slash, rest = name.partition("/")
            if slash and is_project_id(project):
                project_id, name = ProjectId(project), rest
        return Calls(
            route=count.route,
            status=count.status,
            warehouse_id=warehouse_id,
            # what a name can't hold is no warehouse's
            name_key=None if name is None else name_key(name.replace("\\0", "")),
            project_id=project_id,
            count=count.count,
            first_at=count.first_at.ToDatetime(UTC),
            last_at=count.last_at.ToDatetime(UTC),
        )

    async def GetCallStatistics(
        self, request: pb.GetCallStatisticsRequest, caller: Caller
    ) -> pb.GetCallStatisticsResponse:
        """See the contract."""
        command = SeeCalls(
            of=decode.warehouse_id(request.warehouse_id) if request.HasField("warehouse_id") else None,
            unmapped=request.unmapped,
            statuses=tuple(request.statuses),
            end=moment(request.end, "end") if request.HasField("end") else None,
            interval=span(request.interval, "interval", "at most 366 days") if request.HasField("interval") else DAY,
            token=request.page_token,
        )
        seen = await self.see(command, caller=caller)
        response = pb.GetCallStatisticsResponse(previous_page_token=seen.before, next_page_token=seen.after)
        for ends_at, counted in itertools.groupby(seen.counted, key=lambda each: each.hour):
            hour = response.hours.add()
            hour.ends_at.FromDatetime(ends_at)
            for each in counted:
                call = hour.calls.add(
                    route=each.route,
                    status=each.status,
                    warehouse_id="" if each.warehouse_id is None else str(each.warehouse_id),
                    warehouse_name=each.warehouse_name or "",
                    count=each.count,
                )
                call.created_at.FromDatetime(each.created_at)
                if each.updated_at is not None:
                    call.updated_at.FromDatetime(each.updated_at)
        return response
