"""Events of changes: names that the CloudEvents standard allows, facts about what changed, and where a broker has them."""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import UUID

import msgspec
import pytest

from lakeward_catalog.application.announcements import (
    Announcer,
    NamespaceChange,
    Occasion,
    ProjectChange,
    ServerChange,
    TabularChange,
    WarehouseChange,
)
from lakeward_protocol.catalog.v1 import tables_pb2, warehouses_pb2
from lakeward_servicekit.events.cloud_events import Actor, Event
from lakeward_servicekit.events.nats.messages import MESSAGE_ID, messages_of
from lakeward_servicekit.events.references import WHOLE_MAX
from lakeward_servicekit.events.relay import LoggedEvent
from tests.support.catalog.house import House, a_house, tabular
from tests.support.catalog.values import NOON, FreshIds, a_namespace, a_project, a_tabular, a_warehouse

ANNOUNCER = Announcer(source="lakeward://test", ids=FreshIds())
WHEN = Occasion(NOON, Actor("oidc~anna", "role-1"), "request-1", "00-" + "a" * 32 + "-" + "b" * 16 + "-01")
PROJECT = a_project()
WAREHOUSE = a_warehouse(PROJECT, "demo")
NAMESPACE = a_namespace(WAREHOUSE, "sales", "eu")
TABLE = a_tabular(NAMESPACE, "orders")
EVENTS = [
    *(ANNOUNCER.tabular(change, TABLE, WHEN, warehouse=WAREHOUSE) for change in TabularChange),
    *(ANNOUNCER.namespace(change, NAMESPACE, WHEN, warehouse=WAREHOUSE) for change in NamespaceChange),
    *(ANNOUNCER.warehouse(change, WAREHOUSE, WHEN) for change in WarehouseChange),
    *(ANNOUNCER.project(change, PROJECT, WHEN) for change in ProjectChange),
    ANNOUNCER.server(ServerChange.BOOTSTRAPPED, WHEN, data={"is-operator": False}),
]
UPSTREAMS = {"tabular-type", "tabular-id", "warehouse-id", "num-events", "sequence-number", "trace-id"}


def name_of(event: Event) -> str:
    return f"{event.kind}-{event.verb}"


def document(event: Event) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(event.body)
    return found


@pytest.mark.parametrize("event", EVENTS, ids=name_of)
def test_an_event_has_the_standards_attributes_and_no_forbidden_name_but_upstreams(event: Event) -> None:
    told = document(event)
    assert UUID(told["id"]) == event.event_id
    assert (told["time"], bool(told["subject"]), told["datacontenttype"]) == (
        "2026-08-01T12:00:00Z",
        True,
        "application/json",
    )
    assert {name for name in told if not re.fullmatch(r"[a-z0-9]{1,20}", name)} <= UPSTREAMS


def test_no_two_kinds_of_change_share_a_type() -> None:
    assert len({document(event)["type"] for event in EVENTS}) == len(EVENTS)


@pytest.mark.parametrize("change", list(TabularChange), ids=lambda change: change.value[0])
def test_an_event_of_a_table_says_what_it_is_now_and_not_only_what_was_asked_for(change: TabularChange) -> None:
    told = document(ANNOUNCER.tabular(change, TABLE, WHEN, warehouse=WAREHOUSE, request=b'{"name":"orders"}'))
    what = told["data"]["tabular"]
    assert what["metadata-location"] == TABLE.metadata_location
    assert what["incarnation"] == str(TABLE.incarnation)
    assert told["data"]["request"] == {"name": "orders"}
    assert (told["prefix"], told["namespace"]) == (str(WAREHOUSE.warehouse_id), "sales.eu")


async def test_a_drop_tells_whether_files_go_and_whether_it_can_be_undone() -> None:
    house = await a_house()
    await house.tables.DropTable(
        tables_pb2.DropTableRequest(
            warehouse_id=house.warehouse_id, table=tabular("sales", "orders"), purge=False, force=True
        )
    )
    told = house.event()["data"]
    assert {key: told[key] for key in ("purge", "force", "soft")} == {"purge": False, "force": True, "soft": False}


@pytest.mark.parametrize("active", [True, False])
async def test_switching_a_warehouse_on_or_off_is_told(active: bool) -> None:
    house = await a_house()
    house.change_warehouse(active=not active)
    await switch(house, active=active)
    assert house.events()[-1] == ("activateWarehouse" if active else "deactivateWarehouse")


async def switch(house: House, *, active: bool) -> None:
    if active:
        await house.warehouses.ActivateWarehouse(
            warehouses_pb2.ActivateWarehouseRequest(warehouse_id=house.warehouse_id)
        )
    else:
        await house.warehouses.DeactivateWarehouse(
            warehouses_pb2.DeactivateWarehouseRequest(warehouse_id=house.warehouse_id)
        )


def logged(event: Event) -> LoggedEvent:
    return LoggedEvent(7, event, NOON)


@pytest.mark.parametrize("event", EVENTS, ids=name_of)
def test_each_event_has_a_subject_by_stream_kind_and_verb(event: Event) -> None:
    own = messages_of(logged(event), topic="lake", room=1 << 20)[-1]
    assert own.subject == f"lake.{event.stream}.{event.kind}.{event.verb}"
    assert own.headers[MESSAGE_ID] == str(event.event_id)


def test_what_upstream_tells_is_told_at_the_topic_too_and_nothing_else_is() -> None:
    at_topic = {
        document(event)["type"]
        for event in EVENTS
        for message in messages_of(logged(event), topic="lake", room=1 << 20)
        if message.subject == "lake"
    }
    assert at_topic == {
        "createTable",
        "registerTable",
        "updateTable",
        "renameTable",
        "dropTable",
        "undropTabulars",
    }


def a_commit(size: int) -> Event:
    """With a request of about so many bytes."""
    request = json.dumps({"x": "y" * size}).encode()
    return ANNOUNCER.tabular(TabularChange.COMMITTED, TABLE, WHEN, warehouse=WAREHOUSE, request=request)


def test_a_large_event_travels_as_a_reference_to_the_log() -> None:
    event = ANNOUNCER.tabular(
        TabularChange.COMMITTED, TABLE, WHEN, warehouse=WAREHOUSE, request=json.dumps({"x": "y" * WHOLE_MAX}).encode()
    )
    for message in messages_of(logged(event), topic="lake", room=1 << 20):
        told = json.loads(message.payload)
        assert "data" not in told
        assert told["dataref"] == f"lakeward:events/{event.stream}/7"
        assert told["tabular-id"] == str(TABLE.tabular_id)


def sized(room: int, **attributes: str) -> list[tuple[int, list[str]]]:
    """Each message's size and members, for an event with data of 2000 bytes, in so much room."""
    event = ANNOUNCER.tabular(
        TabularChange.COMMITTED, TABLE, WHEN, warehouse=WAREHOUSE, request=json.dumps({"x": "y" * 2000}).encode()
    )
    document = {**json.loads(event.body), **attributes}
    event = msgspec.structs.replace(event, body=json.dumps(document).encode())
    messages = messages_of(logged(event), topic="lake", room=room, expecting={"Nats-Expected-Last-Sequence": "12"})
    return [(message.size, sorted(json.loads(message.payload))) for message in messages]


@pytest.mark.parametrize("attribute", ["", "x" * 3000])
def test_a_message_is_as_whole_as_there_is_room_for(attribute: str) -> None:
    [(_, copied), (needed, whole)] = sized(1 << 20, attribute=attribute)
    assert "data" in copied
    assert [members for _, members in sized(needed, attribute=attribute)] == [whole, whole]
    [_, (size, members)] = sized(needed - 1, attribute=attribute)
    assert members == sorted({*whole, "dataref"} - {"data"})
    assert size < needed
    [_, (least, bare)] = sized(size - 1, attribute=attribute)
    assert bare == ["dataref", "id", "source", "specversion", "time", "type"]
    assert least < size
    assert sized(least - 1, attribute=attribute)[-1] == (least, bare)
