"""How often what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Final, TypeAlias

import msgspec
from google.protobuf.duration_pb2 import Duration

from lakeward_gateway.dialects.management.documents import time_text
from lakeward_gateway.dialects.management.errors import RENDERED
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import Request, Response, json_response
from lakeward_gateway.operation import Answer, Body, Operation
from lakeward_protocol.catalog.v1 import statistics_pb2 as pb
from lakeward_protocol.catalog.v1 import statistics_pb2_grpc

Moment: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]


class OfWarehouse(msgspec.Struct, frozen=True, tag_field="type", tag="warehouse-id"):
    """Of one warehouse."""

    id: str


class Unmapped(msgspec.Struct, frozen=True, tag_field="type", tag="unmapped"):
    """Of requests that name no warehouse."""


class OfAll(msgspec.Struct, frozen=True, tag_field="type", tag="all"):
    """Of the whole project."""


class Window(msgspec.Struct, frozen=True, tag_field="type", tag="window"):
    """From `end` less `interval` until `end`; the interval is ISO 8601 without years and months."""

    end: Moment
    interval: timedelta


class Token(msgspec.Struct, frozen=True, tag_field="type", tag="page-token"):
    """A window beside one that was answered."""

    token: str


class GetEndpointStatisticsRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """Of what, in which window (of the last day, unless one is named), with which statuses."""

    warehouse: OfWarehouse | Unmapped | OfAll
    range_specifier: Window | Token | None = None
    status_codes: list[Annotated[int, msgspec.Meta(ge=0, le=2**31)]] | None = None


class EndpointStatistic(msgspec.Struct, frozen=True, rename="kebab"):
    """Requests that were answered alike in an hour."""

    count: int
    http_route: str
    status_code: int
    warehouse_id: str | None
    warehouse_name: str | None
    created_at: str
    updated_at: str | None


class EndpointStatisticsResponse(msgspec.Struct, frozen=True, rename="kebab"):
    """By the ends of hours, the earliest first, what was asked in each."""

    timestamps: list[str]
    called_endpoints: list[list[EndpointStatistic]]
    previous_page_token: str
    next_page_token: str


_decoder: Final = msgspec.json.Decoder(GetEndpointStatisticsRequest)


async def get_statistics(request: Request, *, statistics: statistics_pb2_grpc.StatisticsServiceAsyncStub) -> Response:
    """What was counted in a window."""
    document = await parsed(_decoder, request.body)
    message = pb.GetCallStatisticsRequest(context=request.context)
    match document.warehouse:
        case OfWarehouse(id=warehouse_id):
            message.warehouse_id = warehouse_id
        case Unmapped():
            message.unmapped = True
        case OfAll():
            pass
    match document.range_specifier:
        case Window(end=end, interval=interval):
            message.end.FromDatetime(end)
            message.interval.CopyFrom(_duration(interval))
        case Token(token=token):
            message.page_token = token or " "
        case None:
            pass
    if document.status_codes is not None:
        # an empty list leaves none, as everywhere; no answer has this status
        message.statuses.extend(document.status_codes or [0])
    found = await statistics.GetCallStatistics(message)
    return json_response(
        EndpointStatisticsResponse(
            timestamps=[time_text(hour.ends_at) for hour in found.hours],
            called_endpoints=[[_shown(call) for call in hour.calls] for hour in found.hours],
            previous_page_token=found.previous_page_token,
            next_page_token=found.next_page_token,
        )
    )


def _duration(span: timedelta) -> Duration:
    message = Duration()
    message.FromTimedelta(span)
    return message


def _shown(call: pb.CallStatistic) -> EndpointStatistic:
    return EndpointStatistic(
        count=call.count,
        http_route=call.route,
        status_code=call.status,
        warehouse_id=call.warehouse_id or None,
        warehouse_name=call.warehouse_name or None,
        created_at=time_text(call.created_at),
        updated_at=time_text(call.updated_at) if call.HasField("updated_at") else None,
    )


def operations(statistics: statistics_pb2_grpc.StatisticsServiceAsyncStub) -> Sequence[Operation]:
    """The operation."""
    return (
        Operation(
            id="get_endpoint_statistics",
            method="POST",
            path="/management/v1/endpoint-statistics",
            summary="How often what was asked, by hour, endpoint, status and warehouse.",
            handler=partial(get_statistics, statistics=statistics),
            body=Body("GetEndpointStatisticsRequest", GetEndpointStatisticsRequest),
            answers={200: Answer("Counts.", "EndpointStatisticsResponse", EndpointStatisticsResponse)},
            renderings=RENDERED,
            tag="project",
        ),
    )
