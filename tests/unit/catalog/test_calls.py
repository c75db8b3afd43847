"""What is told of how often what was asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lakeward_protocol.catalog.v1 import statistics_pb2 as pb
from lakeward_servicekit.errors import Reason
from tests.support.catalog.house import House, a_house, refusal_of

ROUTE = "POST /management/v1/warehouse"
HOUR = timedelta(hours=1)


def count(house: House, *, route: str = ROUTE, status: int = 200, times: int = 1, **named: str) -> pb.CallCount:
    message = pb.CallCount(route=route, status=status, count=times, **named)
    message.first_at.FromDatetime(house.clock.now())
    message.last_at.FromDatetime(house.clock.now())
    return message


async def record(house: House, *counts: pb.CallCount) -> None:
    await house.statistics.RecordCalls(pb.RecordCallsRequest(counts=counts))


async def seen(house: House, **which: Any) -> pb.GetCallStatisticsResponse:
    found: pb.GetCallStatisticsResponse = await house.statistics.GetCallStatistics(pb.GetCallStatisticsRequest(**which))
    return found


async def test_what_was_asked_is_told_hour_by_hour() -> None:
    house = await a_house()
    await record(house, count(house, warehouse=house.warehouse_id, times=2), count(house))
    house.clock.advance(2.5 * HOUR)
    await record(
        house, count(house, warehouse="demo"), count(house, warehouse="00000000-0000-0000-0000-000000000000/demo")
    )
    found = await seen(house)
    told = [
        (hour.ends_at.ToDatetime(UTC).hour, [(call.warehouse_name, call.count) for call in hour.calls])
        for hour in found.hours
    ]
    assert told == [(13, [("", 1), ("demo", 2)]), (15, [("demo", 2)])]


async def test_tokens_lead_to_the_windows_beside_and_no_hour_is_in_two() -> None:
    house = await a_house()
    for _ in range(6):
        await record(house, count(house))
        house.clock.advance(HOUR)
    message = pb.GetCallStatisticsRequest()
    message.end.FromDatetime(house.clock.now() - timedelta(minutes=30))
    message.interval.FromTimedelta(2 * HOUR)
    hours: list[datetime] = []
    found = await house.statistics.GetCallStatistics(message)
    last = found
    for _ in range(3):
        hours = [hour.ends_at.ToDatetime(UTC) for hour in found.hours] + hours
        last = found
        found = await seen(house, page_token=found.previous_page_token)
    assert [hour.hour for hour in hours] == [13, 14, 15, 16, 17, 18]
    again = await seen(house, page_token=last.next_page_token)
    assert [hour.ends_at.ToDatetime(UTC).hour for hour in again.hours] == [15, 16]


@pytest.mark.parametrize("token", ["nonsense", " ", "AQ" * 40, "ÄÖÜ"])
async def test_a_token_that_nobody_handed_out_is_refused(token: str) -> None:
    house = await a_house()
    assert (await refusal_of(seen(house, page_token=token))).reason == Reason.REASON_INVALID_PAGE_TOKEN


@pytest.mark.parametrize("interval", [timedelta(0), timedelta(days=367), -HOUR])
async def test_a_window_of_no_length_or_too_long_is_refused(interval: timedelta) -> None:
    house = await a_house()
    message = pb.GetCallStatisticsRequest()
    message.interval.FromTimedelta(interval)
    refusal = await refusal_of(house.statistics.GetCallStatistics(message))
    assert (refusal.reason, refusal.metadata["field"]) == (Reason.REASON_INVALID_FIELD, "interval")


@pytest.mark.parametrize("end", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, tzinfo=UTC)])
async def test_a_window_whose_neighbours_no_calendar_has_is_refused(end: datetime) -> None:
    house = await a_house()
    message = pb.GetCallStatisticsRequest()
    message.end.FromDatetime(end)
    assert (await refusal_of(house.statistics.GetCallStatistics(message))).reason == Reason.REASON_INVALID_FIELD


@pytest.mark.parametrize(("status", "times"), [(0, 1), (700, 1), (200, 0)])
async def test_a_count_that_can_not_be_is_refused(status: int, times: int) -> None:
    house = await a_house()
    refusal = await refusal_of(record(house, count(house, status=status, times=times)))
    assert refusal.reason == Reason.REASON_INVALID_FIELD
