"""Counting answers beside their way."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import timestamp_pb2

from lakeward_gateway.counting import Counts, flush_once
from lakeward_gateway.http import NO_CONTENT, Request, Response
from lakeward_gateway.operation import Operation
from lakeward_gateway.query import Text
from lakeward_protocol.catalog.v1 import statistics_pb2 as pb
from lakeward_servicekit.errors import Reason, Refusal
from tests.unit.gateway.fakes import WAREHOUSE, World

PATH = "/management/v1/endpoint-statistics"


async def _handler(_: Request) -> Response:
    return NO_CONTENT


def operation(path: str = "/catalog/v1/{prefix}/namespaces", **changes: Any) -> Operation:
    members: dict[str, Any] = {
        "id": path,
        "method": "GET",
        "path": path,
        "summary": "",
        "handler": _handler,
        "answers": {},
        "renderings": {},
        "tag": "",
    }
    return Operation(**{**members, **changes})


class Clock:
    def __init__(self) -> None:
        self.at = 7000.5

    def __call__(self) -> float:
        return self.at


def taken(counts: Counts, *operations: Operation) -> list[tuple[str, int, str, str, int]]:
    routes = {each.id: f"{each.method} {each.path}" for each in operations}
    found = counts.take(routes)
    return [(each.route, each.status, each.warehouse, each.project, each.count) for each in found]


def test_alike_answers_are_one_count_with_the_times_of_the_first_and_the_last() -> None:
    clock = Clock()
    counts, listing = Counts(now=clock), operation()
    for _ in range(3):
        counts.add(listing, [WAREHOUSE], b"", {b"x-project-id": b"p"}, 200)
        clock.at += 1
    (count,) = counts.take({listing.id: "GET /x"})
    assert (count.count, count.warehouse, count.project) == (3, WAREHOUSE, "p")
    assert (count.first_at.seconds, count.first_at.nanos, count.last_at.seconds) == (7000, 500_000_000, 7002)
    assert counts.take({}) == []


def test_counts_do_not_cross_the_hour() -> None:
    clock = Clock()
    counts, listing = Counts(now=clock), operation()
    for _ in range(2):
        counts.add(listing, [WAREHOUSE], b"", {}, 200)
        clock.at += 3600
    assert len(taken(counts, listing)) == 2


def test_the_warehouse_is_the_path_s_or_what_a_query_names() -> None:
    counts = Counts()
    drop = operation("/management/v1/warehouse/{warehouse_id}/task/by-id/{task_id}")
    config = operation("/catalog/v1/config", query=(Text("warehouse", "which"),))
    users = operation("/management/v1/user/{user_id}")
    counts.add(drop, [WAREHOUSE, "t"], b"", {}, 200)
    counts.add(config, [], b"warehouse=p%2Fdemo", {}, 200)
    counts.add(config, [], b"warehouse=%ff", {}, 400)
    counts.add(users, ["u"], b"warehouse=demo", {}, 200)
    assert [(each[1], each[2]) for each in taken(counts, drop, config, users)] == [
        (200, WAREHOUSE),
        (200, "p/demo"),
        (400, ""),
        (200, ""),
    ]


def test_whom_nobody_knows_health_checks_and_pages_are_not_counted() -> None:
    counts = Counts()
    counts.add(operation(), [WAREHOUSE], b"", {}, 401)
    counts.add(operation(bare=True), [], b"", {}, 200)
    counts.add(operation("/ui/"), [], b"", {}, 200)
    assert counts.take({}) == []


def test_a_full_map_loses_counts_and_says_how_many_and_refusals_can_not_crowd_out_the_rest() -> None:
    counts, listing = Counts(most=4), operation()
    for index in range(10):
        counts.add(listing, [f"made-up-{index}"], b"", {}, 404)
    assert counts.lost == 8
    for index in range(3):
        counts.add(listing, [f"real-{index}"], b"", {}, 200)
    assert counts.lost == 9
    assert sorted(each[1] for each in taken(counts, listing)) == [200, 200, 404, 404]


class Catalog:
    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.asked: list[pb.RecordCallsRequest] = []

    async def RecordCalls(self, request: pb.RecordCallsRequest) -> object:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def test_what_the_catalog_does_not_take_is_lost_told_and_never_counted_twice(
    caplog: pytest.LogCaptureFixture,
) -> None:
    away = Refusal(Reason.REASON_SERVICE_UNAVAILABLE, "away", service="catalog")
    counts, listing = Counts(), operation()
    catalog: Any = Catalog(away, pb.RecordCallsResponse())
    for _ in range(2):
        counts.add(listing, [WAREHOUSE], b"", {}, 200)
    await flush_once(counts, catalog, {listing.id: "GET /x"})
    (warning,) = [each for each in caplog.records if each.getMessage() == "requests were not counted"]
    assert warning.__dict__["requests"] == 2
    counts.add(listing, [WAREHOUSE], b"", {}, 200)
    await flush_once(counts, catalog, {listing.id: "GET /x"})
    await flush_once(counts, catalog, {listing.id: "GET /x"})
    assert [sum(each.count for each in asked.counts) for asked in catalog.asked] == [2, 1]


async def test_statistics_are_asked_for_and_shown_in_upstream_s_shape(served: World) -> None:
    call = pb.CallStatistic(route="GET /x", status=200, count=2, created_at=timestamp_pb2.Timestamp(seconds=60))
    named = pb.CallStatistic(route="GET /y", status=404, warehouse_id=WAREHOUSE, warehouse_name="demo", count=1)
    named.updated_at.FromSeconds(61)
    hour = pb.CallHour(ends_at=timestamp_pb2.Timestamp(seconds=3600), calls=[call, named])
    served.catalog.answers["GetCallStatistics"] = pb.GetCallStatisticsResponse(
        hours=[hour], previous_page_token="before", next_page_token="after"
    )
    document = {
        "warehouse": {"type": "warehouse-id", "id": WAREHOUSE},
        "range-specifier": {"type": "window", "end": "1970-01-01T01:00:00Z", "interval": "PT2H"},
        "status-codes": [200, 404],
    }
    response = await served.client.post(PATH, json=document)
    assert response.json() == {
        "timestamps": ["1970-01-01T01:00:00Z"],
        "called-endpoints": [
            [
                {
                    "count": 2,
                    "http-route": "GET /x",
                    "status-code": 200,
                    "warehouse-id": None,
                    "warehouse-name": None,
                    "created-at": "1970-01-01T00:01:00Z",
                    "updated-at": None,
                },
                {
                    "count": 1,
                    "http-route": "GET /y",
                    "status-code": 404,
                    "warehouse-id": WAREHOUSE,
                    "warehouse-name": "demo",
                    "created-at": "1970-01-01T00:00:00Z",
                    "updated-at": "1970-01-01T00:01:01Z",
                },
            ]
        ],
        "previous-page-token": "before",
        "next-page-token": "after",
    }
    asked = served.asked
    assert (asked.warehouse_id, asked.end.seconds, asked.interval.seconds) == (WAREHOUSE, 3600, 7200)
    assert list(asked.statuses) == [200, 404]


@pytest.mark.parametrize(
    ("document", "unmapped", "statuses", "token"),
    [
        ({"warehouse": {"type": "all"}}, False, [], ""),
        ({"warehouse": {"type": "unmapped"}, "status-codes": []}, True, [0], ""),
        ({"warehouse": {"type": "all"}, "range-specifier": {"type": "page-token", "token": "t"}}, False, [], "t"),
    ],
)
async def test_what_narrows_statistics_is_handed_on(
    served: World, document: dict[str, Any], unmapped: bool, statuses: list[int], token: str
) -> None:
    served.catalog.answers["GetCallStatistics"] = pb.GetCallStatisticsResponse()
    assert (await served.client.post(PATH, json=document)).status_code == 200
    asked = served.asked
    assert (asked.unmapped, list(asked.statuses), asked.page_token) == (unmapped, statuses, token)
    assert not asked.HasField("warehouse_id")


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"warehouse": {"type": "none"}},
        {
            "warehouse": {"type": "all"},
            "range-specifier": {"type": "window", "end": "1970-01-01T01:00:00Z", "interval": "P1Y"},
        },
        {"warehouse": {"type": "all"}, "status-codes": [-1]},
    ],
)
async def test_statistics_of_the_wrong_shape_are_refused(served: World, document: dict[str, Any]) -> None:
    assert (await served.client.post(PATH, json=document)).status_code == 400
