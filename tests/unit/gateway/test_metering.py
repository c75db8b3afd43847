"""Each answer is counted once, under its route, whatever was asked for."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

import pytest

from lakeward_gateway.metering import DURATIONS, PENDING, REQUESTS
from lakeward_protocol.catalog.v1 import tables_pb2
from tests.unit.gateway.fakes import PREFIXED, World

_TABLES = "/catalog/v1/{prefix}/namespaces/{namespace}/tables"


def counted() -> Mapping[tuple[str, ...], float]:
    return dict(REQUESTS.values())


def grown(before: Mapping[tuple[str, ...], float]) -> Mapping[tuple[str, ...], float]:
    return {labels: value - before.get(labels, 0) for labels, value in counted().items() if value != before.get(labels)}


async def test_an_answer_counts_under_its_route_and_not_under_its_path(served: World) -> None:
    served.catalog.answers["ListTables"] = tables_pb2.ListTablesResponse()
    before = counted()
    for name in ("a", "b"):
        reply = await served.client.get(f"{PREFIXED}/namespaces/{name}/tables")
        assert reply.status_code == 200, reply.text
    assert grown(before) == {("GET", "200", _TABLES): 2}


@pytest.mark.parametrize("method", ["GET", "PUT", "TRACE", "BREW", "get"])
async def test_what_no_route_is_for_makes_no_series_of_its_own(served: World, method: str) -> None:
    before = counted()
    for _ in range(3):
        await served.client.request(method, f"/{uuid.uuid4()}")
    ((labels, count),) = grown(before).items()
    assert (labels[0] in {"GET", "PUT", "other"}, labels[2], count) == (True, "unmatched", 3)


async def test_a_refusal_counts_under_its_status(served: World) -> None:
    before = counted()
    await served.client.post(f"{PREFIXED}/namespaces/a/tables", content=b"{}", headers={"content-type": "text/plain"})
    assert grown(before) == {("POST", "415", _TABLES): 1}


async def test_nothing_is_under_way_when_everything_is_answered(served: World) -> None:
    await served.client.get(f"{PREFIXED}/namespaces/a/tables")
    await served.client.post(f"{PREFIXED}/namespaces/a/tables", content=b"nonsense")
    assert set(PENDING.values().values()) == {0.0}


def test_every_series_of_one_request_has_as_many_labels_as_its_family_says() -> None:
    for labels, _ in DURATIONS.seen():
        assert len(labels) == len(DURATIONS.labels)
