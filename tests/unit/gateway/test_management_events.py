"""Events over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward_protocol.authz.v1 import events_pb2 as authz_events_pb2
from lakeward_protocol.catalog.v1 import events_pb2
from lakeward_protocol.events.v1 import reading_pb2
from lakeward_protocol.vending.v1 import events_pb2 as vending_events_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.unit.gateway.fakes import WAREHOUSE, World

PATH = f"/management/v1/warehouse/{WAREHOUSE}/events"
BODY = b'{"specversion":"1.0","id":"e","type":"updateTable","num-events":1,"data":{"big":9007199254740993}}'


def _page() -> events_pb2.ReadEventsResponse:
    event = reading_pb2.LoggedEvent(
        position="12", sequence=12, kind="table", verb="committed", cloud_event=BODY, written_at={"seconds": 0}
    )
    return events_pb2.ReadEventsResponse(page=reading_pb2.EventPage(events=[event], position="12", newest=20))


async def test_a_page_has_each_event_as_it_is_in_its_place(served: World) -> None:
    served.catalog.answers["ReadEvents"] = _page()
    response = await served.client.get(PATH, params={"after": "11", "pageSize": "5000", "waitMs": "90000"})
    document = response.json()
    assert (document["position"], document["newest"]) == ("12", 20)
    (event,) = document["events"]
    assert event == {
        "position": "12",
        "sequence": 12,
        "snapshot": False,
        "kind": "table",
        "verb": "committed",
        "written-at": "1970-01-01T00:00:00Z",
        "event": {
            "specversion": "1.0",
            "id": "e",
            "type": "updateTable",
            "num-events": 1,
            "data": {"big": 9007199254740993},
        },
    }
    asked = served.asked
    assert asked.warehouse_id == WAREHOUSE
    assert (asked.reading.after, asked.reading.limit, asked.reading.wait_ms) == ("11", 1000, 20_000)


async def test_nothing_said_is_the_beginning_without_waiting(served: World) -> None:
    served.catalog.answers["ReadEvents"] = _page()
    await served.client.get(PATH)
    assert served.asked.reading == reading_pb2.Reading()


async def test_who_wants_a_bare_list_has_cloud_events_as_the_standard_has_them(served: World) -> None:
    served.catalog.answers["ReadEvents"] = _page()
    accept = "text/html, application/CloudEvents-batch+json;q=0.9"
    response = await served.client.get(PATH, headers={"accept": accept})
    assert response.headers["content-type"] == "application/cloudevents-batch+json"
    assert response.headers["lakeward-position"] == "12"
    (event,) = response.json()
    assert event.keys() == {"specversion", "id", "type", "data", "sequence", "position"}
    assert all(name.isalnum() and name.islower() for name in event)
    assert (event["sequence"], event["data"]) == ("12", {"big": 9007199254740993})


@pytest.mark.parametrize(
    ("refusal", "status", "kind"),
    [
        (Refusal(Reason.REASON_EVENTS_FORGOTTEN, "gone", stream="w", after="1", oldest="9"), 410, "EventsForgotten"),
        (Refusal(Reason.REASON_EVENTS_BEHIND, "wait", stream="w"), 503, "EventsBehind"),
    ],
)
async def test_what_can_not_be_read_says_what_to_do(served: World, refusal: Any, status: int, kind: str) -> None:
    served.catalog.answers["ReadEvents"] = refusal
    response = await served.client.get(PATH)
    assert (response.status_code, response.json()["error"]["type"]) == (status, kind)


@pytest.mark.parametrize("query", ["pageSize=many", "waitMs=-1", "after=1&after=2"])
async def test_a_reading_of_the_wrong_shape_is_refused_before_it_is_asked(served: World, query: str) -> None:
    assert (await served.client.get(f"{PATH}?{query}")).status_code == 400
    assert served.catalog.asked == []


@pytest.mark.parametrize("service", ["catalog", "authz", "vending"])
async def test_the_events_of_a_project_and_of_the_server_are_read_where_they_are(served: World, service: str) -> None:
    asked = {"catalog": served.catalog, "authz": served.authz, "vending": served.vending}[service]
    page = _page().page
    answers = {
        "catalog": events_pb2.ReadEventsResponse(page=page),
        "authz": authz_events_pb2.ReadEventsResponse(page=page),
        "vending": vending_events_pb2.ReadEventsResponse(page=page),
    }
    asked.answers["ReadEvents"] = answers[service]
    query = {"service": service, "after": "11", "pageSize": "5"}
    for path in ("/management/v1/project/events", "/management/v1/server/events"):
        response = await served.client.get(path, params=query, headers={"x-project-id": "sales"})
        assert (response.status_code, response.json()["position"]) == (200, "12")
    of_project, of_server = asked.asked
    assert (of_project.WhichOneof("stream"), of_project.project_id) == ("project_id", "")
    assert of_project.context.project_id == "sales"
    assert of_server.server
    assert {(each.reading.after, each.reading.limit) for each in (of_project, of_server)} == {("11", 5)}


async def test_a_service_that_has_no_events_is_refused(served: World) -> None:
    response = await served.client.get("/management/v1/server/events", params={"service": "gateway"})
    assert response.status_code == 400
    assert "catalog, authz or vending" in response.text
