"""Reading events, page by page."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from lakeward_catalog.application import history
from lakeward_catalog.domain.model import NIL_PROJECT
from lakeward_protocol.catalog.v1 import (
    contracts_pb2,
    events_pb2,
    project_tasks_pb2,
    server_pb2,
    tasks_pb2,
    warehouses_pb2,
)
from lakeward_protocol.events.v1 import reading_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason
from lakeward_servicekit.events.cloud_events import Event
from lakeward_servicekit.events.history import Part, Snapshot
from lakeward_servicekit.events.positions import BEGINNING, NOW, LogPlace, position_of
from lakeward_servicekit.events.subscribing import Subscriptions
from tests.support.catalog.house import House, a_house, refusal_of
from tests.support.catalog.memory_history import MemoryHistory, MemorySnapshots
from tests.support.deciding import Rule
from tests.support.event_contracts import checked


async def _page(house: House, after: str = "", *, limit: int = 0, **of: Any) -> reading_pb2.EventPage:
    request = events_pb2.ReadEventsRequest(
        **(of or {"warehouse_id": house.warehouse_id}), reading=reading_pb2.Reading(after=after, limit=limit)
    )
    response = await house.events_service.ReadEvents(request)
    page: reading_pb2.EventPage = response.page
    return page


def _history(house: House) -> MemoryHistory:
    history = house.parts.history.history
    assert isinstance(history, MemoryHistory)
    return history


async def test_the_beginning_is_a_snapshot_of_what_is_there_and_the_log_goes_on_behind_it() -> None:
    house = await a_house()
    told = [*(await _page(house, limit=2)).events]
    assert [each.kind for each in told] == ["warehouse", "namespace"]
    while (page := await _page(house, told[-1].position, limit=2)).events:
        told += page.events
    assert [(each.kind, each.verb) for each in told] == [
        ("warehouse", "snapshot"),
        ("namespace", "snapshot"),
        ("table", "snapshot"),
        ("view", "snapshot"),
        ("warehouse", "snapshot-completed"),
    ]
    assert all(each.snapshot for each in told)
    assert page.position == str(page.newest) == str(told[-1].sequence)
    for each in told:
        checked(Event(house.ids.uuid4(), house.warehouse_id, each.kind, each.verb, each.cloud_event))
    await house.make_namespace("later")
    (later,) = (await _page(house, told[-1].position)).events
    assert (later.snapshot, later.sequence, later.verb) == (False, told[-1].sequence + 1, "created")


@pytest.mark.parametrize("lost", [2, 3])
async def test_a_beginning_whose_snapshot_newer_ones_replaced_is_a_newer_one(
    lost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks for the beginning is not told to go there."""
    house = await a_house()
    snapshots, made = house.parts.history.snapshots, []
    assert isinstance(snapshots, MemorySnapshots)
    make = snapshots.current

    async def replaced(stream: str) -> Snapshot:
        made.append(await make(stream))
        if len(made) <= lost:
            del snapshots.kept[made[-1].snapshot_id]
        return made[-1]

    monkeypatch.setattr(snapshots, "current", replaced)
    if lost < 3:
        assert [each.kind for each in (await _page(house, limit=2)).events] == ["warehouse", "namespace"]
    else:
        refusal = await refusal_of(_page(house))
        assert (refusal.reason, refusal.metadata["object"]) == (
            Reason.REASON_CONCURRENT_CHANGE,
            f"stream {house.warehouse_id}",
        )
    assert len(made) == 3


async def test_what_can_be_restored_is_in_a_snapshot_as_dropped_and_what_is_staged_is_not() -> None:
    house = await a_house()
    await house.make_table("sales", "staged", **{"stage-create": True})
    told = {each.kind: json.loads(each.cloud_event) for each in (await _page(house)).events}
    assert told["table"]["data"]["tabular"]["name"] == "orders"
    assert told["table"]["data"]["dropped"] is False


async def test_now_is_behind_all_that_there_is() -> None:
    house = await a_house()
    page = await _page(house, NOW)
    assert not page.events
    await house.make_namespace("later")
    assert [each.verb for each in (await _page(house, page.position)).events] == ["created"]


async def test_what_was_forgotten_is_refused_with_the_oldest_that_is_kept() -> None:
    house = await a_house()
    _history(house).forgotten[house.warehouse_id] = 2
    refused = await refusal_of(_page(house, "1"))
    assert (refused.reason, refused.metadata["oldest"]) == (Reason.REASON_EVENTS_FORGOTTEN, "3")
    assert "beginning" in refused.message
    assert (await _page(house, "2")).events[0].sequence == 3
    _history(house).forgotten[house.warehouse_id] = 4
    assert (await refusal_of(_page(house, "3"))).reason == Reason.REASON_EVENTS_FORGOTTEN


@pytest.mark.parametrize("after", ["5000", "-1", "1.5", "yesterday", "9" * 30, "snapshot.x.1", "\u0661"])
async def test_a_position_that_never_was_is_refused(after: str) -> None:
    house = await a_house()
    assert (await refusal_of(_page(house, after))).reason == Reason.REASON_INVALID_FIELD


async def test_a_position_in_the_snapshot_of_another_warehouse_is_forgotten_here() -> None:
    house = await a_house()
    place = (await _page(house, limit=1)).position
    house.warehouse_id = await house.make_warehouse("other", base="s3://lake/other")
    assert (await refusal_of(_page(house, place))).reason == Reason.REASON_EVENTS_FORGOTTEN


async def test_a_project_and_a_warehouse_that_are_called_alike_have_a_stream_each() -> None:
    house = await a_house()
    newest = (await _page(house, NOW)).newest
    await house.server.CreateProject(server_pb2.CreateProjectRequest(project_id=house.warehouse_id, name="alike"))
    (made,) = (await _page(house, "0", project_id=house.warehouse_id)).events
    assert (made.kind, made.verb, made.sequence) == ("project", "created", 1)
    assert (await _page(house, NOW)).newest == newest
    place = (await _page(house, limit=1)).position
    refused = await refusal_of(_page(house, place, project_id=house.warehouse_id))
    assert refused.reason == Reason.REASON_EVENTS_FORGOTTEN


async def test_an_inactive_warehouse_tells_its_history() -> None:
    house = await a_house()
    await house.warehouses.DeactivateWarehouse(
        warehouses_pb2.DeactivateWarehouseRequest(warehouse_id=house.warehouse_id)
    )
    assert (await _page(house)).events


async def test_a_project_begins_with_what_is_there_though_its_first_events_are_forgotten() -> None:
    house = await a_house()
    for name in ("first", "second"):
        await house.make_tag(name, "table")
    config = project_tasks_pb2.ProjectQueueConfig(silence=Duration(seconds=60))
    await house.project_tasks.SetProjectQueueConfig(
        project_tasks_pb2.SetProjectQueueConfigRequest(queue="task_log_cleanup", config=config)
    )
    newest = (await _page(house, NOW, project_id="")).newest
    _history(house).forgotten[f"project-{NIL_PROJECT}"] = newest - 1
    assert (await refusal_of(_page(house, "0", project_id=""))).reason == Reason.REASON_EVENTS_FORGOTTEN
    told = (await _page(house, project_id="")).events
    assert [f"{each.kind}.{each.verb}" for each in told] == [
        "project.snapshot",
        "project.snapshot-task-queue",
        "tag-definition.snapshot",
        "tag-definition.snapshot",
        "project.snapshot-completed",
    ]
    for each in told:
        checked(Event(house.ids.uuid4(), f"project-{NIL_PROJECT}", each.kind, each.verb, each.cloud_event))
    assert told[-1].position == str(newest)
    await house.make_tag("third", "table")
    assert [each.verb for each in (await _page(house, told[-1].position, project_id="")).events] == ["created"]


async def test_a_warehouse_begins_with_its_contracts_and_queues_too() -> None:
    house = await a_house()
    contracts = b'[{"name": "readers", "rules": {"columns-stay": true}}]'
    await house.contracts.SetContracts(
        contracts_pb2.SetContractsRequest(warehouse_id=house.warehouse_id, contracts=contracts)
    )
    await house.tasks.SetQueueConfig(
        tasks_pb2.SetQueueConfigRequest(
            warehouse_id=house.warehouse_id, queue="tabular_purge", silence=Duration(seconds=60)
        )
    )
    first, queue, *_ = [
        checked(Event(house.ids.uuid4(), house.warehouse_id, each.kind, each.verb, each.cloud_event))
        for each in (await _page(house)).events
    ]
    assert [each["name"] for each in first["data"]["contracts"]] == ["readers"]
    assert queue["type"] == "snapshotTaskQueue"
    assert queue["data"]["settings"]["max-seconds-since-last-heartbeat"] == 60


async def test_the_server_begins_with_what_it_is() -> None:
    house = await a_house()
    told = (await _page(house, server=True)).events
    assert [f"{each.kind}.{each.verb}" for each in told] == ["server.snapshot", "server.snapshot-completed"]
    for each in told:
        checked(Event(house.ids.uuid4(), "server", each.kind, each.verb, each.cloud_event))
    assert json.loads(told[0].cloud_event)["data"] == {"bootstrapped": house.catalog.rows.server.bootstrapped}


async def test_a_right_that_is_taken_away_ends_the_subscription_that_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "Subscriptions", partial(Subscriptions, asked_again=timedelta(0)))
    house = await a_house()
    subscribed = house.events_service.Subscribe(events_pb2.SubscribeRequest(warehouse_id=house.warehouse_id))
    first = (await anext(subscribed)).page
    assert [each.kind for each in first.events] == ["warehouse", "namespace", "table", "view", "warehouse"]
    await house.make_namespace("later")
    assert [each.verb for each in (await anext(subscribed)).page.events] == ["created"]
    await house.make_namespace("unseen")
    house.authorizer.replace(Rule(allows=False, action=Action.WAREHOUSE_LIST_EVERYTHING), Rule(allows=True))
    assert (await refusal_of(anext(subscribed))).reason == Reason.REASON_FORBIDDEN


async def test_no_stream_at_all_is_refused() -> None:
    house = await a_house()
    assert (await refusal_of(_page(house, server=False))).reason == Reason.REASON_INVALID_FIELD


class _RungBell:
    def __init__(self) -> None:
        self.rung = asyncio.Event()

    async def wait(self, at_most: timedelta) -> None:
        del at_most
        await self.rung.wait()
        self.rung.clear()


async def test_who_waits_at_the_end_is_woken_by_the_bell() -> None:
    house = await a_house()
    reads, stream, bell = house.parts.history, house.warehouse_id, _RungBell()
    watching = asyncio.create_task(reads.tail.watch(bell))
    newest = (await _page(house, NOW)).newest
    waiting = asyncio.create_task(reads(stream, Part(LogPlace(newest), wait=timedelta(seconds=30))))
    while not reads.tail.waits:
        await asyncio.sleep(0)
    await house.make_namespace("later")
    bell.rung.set()
    assert [each.sequence for each in (await waiting).events] == [newest + 1]
    assert not reads.tail.waits
    watching.cancel()


async def test_what_came_before_the_wait_needs_no_bell() -> None:
    house = await a_house()
    await house.parts.history.tail.beyond(house.warehouse_id, 0, at_most=timedelta(days=1))


async def test_a_wait_ends_with_its_time() -> None:
    house = await a_house()
    page = await house.parts.history(house.warehouse_id, Part(position_of(NOW), wait=timedelta(milliseconds=1)))
    assert not page.events


def test_a_position_is_the_text_that_it_was() -> None:
    texts = [BEGINNING, NOW, "0", "120", "snapshot.0198e000-0000-7000-8000-000000000001.17"]
    assert [str(position_of(text)) for text in texts] == texts
