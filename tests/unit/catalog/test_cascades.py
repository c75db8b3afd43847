"""Dropping a namespace, or a whole warehouse, with everything inside, by a task."""

from __future__ import annotations

import json
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from lakeward_catalog.application.tasks.queues import KINDS
from lakeward_catalog.application.workers import Worker
from lakeward_catalog.domain.model import State, WarehouseId
from lakeward_catalog.domain.tasks import Queue
from lakeward_protocol.catalog.v1 import cascades_pb2, project_tasks_pb2, tables_pb2, tabulars_pb2, tasks_pb2
from lakeward_servicekit.errors import Reason
from tests.support.catalog.house import House, a_house, context, refusal_of, tabular, tabular_ref
from tests.support.catalog.memory_events import QuietBell
from tests.support.catalog.memory_task_rows import held_of
from tests.support.catalog.memory_tasks import MemoryTasks

WEEK = timedelta(days=7)
OF_NAMESPACE, OF_WAREHOUSE = Queue.NAMESPACE_DROP, Queue.WAREHOUSE_DROP


async def drop(house: House, *path: str, key: str = "", **flags: bool) -> cascades_pb2.DropTreeResponse:
    """Of a namespace, or without a path of the warehouse."""
    answer: cascades_pb2.DropTreeResponse = await house.cascades.DropTree(
        cascades_pb2.DropTreeRequest(
            context=context(idempotency_key=key) if key else context(),
            warehouse_id=house.warehouse_id,
            namespace_id=str(house.namespace(*path).namespace_id) if path else None,
            **flags,
        )
    )
    return answer


async def work(house: House, queue: Queue = OF_NAMESPACE) -> str:
    """One attempt at a queue's task that is due; what became of it: "done", or its row's state and message."""
    tasks, kind = MemoryTasks(house.catalog), KINDS[queue]
    task = await tasks.claim(queue, now=house.clock.now(), silence=WEEK, attempts=5)
    if task is None:
        return "nothing is due"
    worker = Worker(queue, tasks, kind.make(house.parts), house.clock, QuietBell(1), lambda: 0.5, kind.terms)
    await worker.attempt(task)
    held = held_of(house.catalog.rows, task.task_id)
    return held.state if held.state == "done" else f"{held.state}: {held.message}"


async def everything(house: House, queue: Queue) -> None:
    """Every task of a queue that is due."""
    while await work(house, queue) != "nothing is due":
        pass


def there(house: House) -> set[str]:
    rows = house.catalog.rows
    tabulars = {str(each.ident) for each in rows.tabulars.values() if each.state is State.LIVE}
    return {str(each.ident) for each in rows.namespaces.values()} | tabulars


def purged(house: House) -> set[str]:
    return {task.name for task in house.catalog.rows.queued.values() if task.queue is Queue.TABULAR_PURGE}


async def nested() -> House:
    house = await a_house()
    await house.make_namespace("sales", "eu")
    await house.make_table("sales", "eu", "deep")
    await house.make_namespace("other")
    return house


async def test_a_dry_run_says_what_would_go_and_queues_nothing() -> None:
    house = await nested()
    house.change_tabular("deep", protected=True)
    answer = await drop(house, "sales", dry_run=True)
    assert (answer.task_id, answer.namespaces, answer.tables, answer.views) == ("", 2, 2, 1)
    assert list(answer.protected) == ["sales.eu.deep"]
    whole = await drop(house, dry_run=True)
    assert (whole.namespaces, whole.tables) == (3, 2)
    assert house.catalog.rows.queued == {}


async def test_a_namespace_goes_with_everything_inside_and_each_is_told_of() -> None:
    house = await nested()
    before = len(house.events())
    answer = await drop(house, "sales")
    assert await work(house) == "done"
    assert there(house) == {"other"}
    assert sorted(house.events()[before:]) == ["dropNamespace"] * 2 + ["dropTable"] * 2 + ["dropView"]
    assert purged(house) == set()
    found = await house.tasks.GetTask(tasks_pb2.GetTaskRequest(warehouse_id=house.warehouse_id, task_id=answer.task_id))
    assert (found.task.queue, list(found.task.path)) == ("namespace_drop", ["sales"])
    assert json.loads(found.plan)["force"] is False


async def test_files_go_where_that_is_asked_for_and_never_those_of_a_table_that_keeps_them() -> None:
    house = await nested()
    await house.make_table("sales", "shared", properties={"gc.enabled": "false"})
    await drop(house, "sales", purge=True, force=True)
    assert await work(house) == "done"
    assert purged(house) == {"sales.orders", "sales.recent", "sales.eu.deep"}


@pytest.mark.parametrize("what", ["namespace", "child", "table"])
async def test_nothing_that_is_protected_or_beside_it_goes_without_force(what: str) -> None:
    house = await nested()
    match what:
        case "namespace":
            house.change_namespace("sales", protected=True)
        case "child":
            house.change_namespace("sales", "eu", protected=True)
        case _:
            house.change_tabular("deep", protected=True)
    before = there(house)
    refusal = await refusal_of(drop(house, "sales"))
    assert refusal.reason in {
        Reason.REASON_NAMESPACE_PROTECTED,
        Reason.REASON_CHILD_NAMESPACE_PROTECTED,
        Reason.REASON_CHILD_TABULAR_PROTECTED,
    }
    assert (await refusal_of(drop(house))).reason == refusal.reason
    assert there(house) == before
    await drop(house, "sales", force=True)
    assert await work(house) == "done"
    assert there(house) == {"other"}


async def test_what_was_protected_after_it_was_asked_for_stays_and_the_task_says_so() -> None:
    house = await nested()
    await drop(house, "sales")
    house.change_tabular("deep", protected=True)
    before = there(house)
    outcome = await work(house)
    assert outcome.startswith("failed: ")
    assert "sales.eu.deep" in outcome
    assert there(house) == before


async def test_what_can_be_restored_is_until_its_time_is_over_and_then_the_namespaces_go() -> None:
    house = await nested()
    house.change_warehouse(restorable_for=WEEK)
    await drop(house, "sales", purge=True)
    assert (await work(house)).startswith("waiting: ")
    assert there(house) == {"sales", "sales.eu", "other"}
    assert await work(house) == "nothing is due"
    house.clock.advance(WEEK)
    await everything(house, Queue.SOFT_DELETION)
    assert await work(house) == "done"
    assert there(house) == {"other"}
    assert purged(house) == {"sales.orders", "sales.recent", "sales.eu.deep"}


async def test_what_somebody_restored_meanwhile_is_not_dropped_again() -> None:
    house = await nested()
    house.change_warehouse(restorable_for=WEEK)
    await drop(house, "sales")
    await work(house)
    orders = house.tabular("orders")
    await house.tabulars.UndropTabulars(
        tabulars_pb2.UndropTabularsRequest(
            warehouse_id=house.warehouse_id, tabulars=[tabular_ref(orders.kind, orders.tabular_id)]
        )
    )
    house.clock.advance(WEEK)
    await everything(house, Queue.SOFT_DELETION)
    outcome = await work(house)
    assert outcome.startswith("failed: ")
    assert "sales.orders was restored or made since" in outcome
    assert "sales.orders" in there(house)


async def test_what_an_earlier_profile_kept_has_its_time_and_the_rest_goes_now() -> None:
    house = await nested()
    house.change_warehouse(restorable_for=WEEK)
    await house.tables.DropTable(
        tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "orders"))
    )
    house.change_warehouse(restorable_for=None)
    await drop(house, "sales")
    assert (await work(house)).startswith("waiting: ")
    assert there(house) == {"sales", "sales.eu", "other"}
    house.clock.advance(WEEK)
    await everything(house, Queue.SOFT_DELETION)
    assert await work(house) == "done"


async def test_a_warehouse_goes_after_its_files_and_takes_its_secret_along() -> None:
    house = await nested()
    (warehouse,) = house.catalog.rows.warehouses.values()
    secret_id = warehouse.storage.secret_id
    assert secret_id in house.judge.kept
    answer = await drop(house, purge=True)
    assert (await work(house, OF_WAREHOUSE)).startswith("waiting: ")
    assert house.catalog.rows.namespaces == {}
    house.clock.advance(timedelta(minutes=5))
    tasks = MemoryTasks(house.catalog)
    while task := await tasks.claim(Queue.TABULAR_PURGE, now=house.clock.now(), silence=WEEK, attempts=5):
        await tasks.finish(task, now=house.clock.now(), message="", progress=1)
    assert await work(house, OF_WAREHOUSE) == "done"
    assert house.catalog.rows.warehouses == {}
    assert secret_id not in house.judge.kept
    assert house.events()[-1] == "deleteWarehouse"
    found = await house.project_tasks.GetProjectTask(project_tasks_pb2.GetProjectTaskRequest(task_id=answer.task_id))
    assert found.task.status == tasks_pb2.TASK_STATUS_SUCCESS


async def test_a_protected_warehouse_goes_by_force_alone() -> None:
    house = await a_house()
    house.change_warehouse(protected=True)
    assert (await refusal_of(drop(house))).reason == Reason.REASON_WAREHOUSE_PROTECTED
    house.change_warehouse(protected=False)
    await drop(house)
    house.change_warehouse(protected=True)
    assert (await work(house, OF_WAREHOUSE)).startswith("failed: ")
    assert there(house) >= {"sales", "sales.orders"}


async def test_the_same_drop_is_queued_once() -> None:
    house, key = await nested(), str(uuid4())
    first = await drop(house, "sales", key=key)
    assert (await drop(house, "sales", key=key)).task_id == first.task_id
    refusal = await refusal_of(drop(house, "sales"))
    assert (refusal.reason, refusal.metadata["task"]) == (Reason.REASON_TASK_ACTIVE, first.task_id)


async def test_a_cancelled_drop_that_waits_goes_on_no_more() -> None:
    house = await nested()
    answer = await drop(house, "sales")
    await house.tasks.ControlTasks(
        tasks_pb2.ControlTasksRequest(
            warehouse_id=house.warehouse_id, task_ids=[answer.task_id], action=tasks_pb2.TASK_ACTION_CANCEL
        )
    )
    assert await work(house) == "nothing is due"
    assert there(house) >= {"sales", "sales.orders"}


async def test_a_worker_that_was_to_stop_drops_nothing_and_its_end_is_what_was_asked() -> None:
    house = await nested()
    answer = await drop(house, "sales")
    tasks, kind = MemoryTasks(house.catalog), KINDS[OF_NAMESPACE]
    task = await tasks.claim(OF_NAMESPACE, now=house.clock.now(), silence=WEEK, attempts=5)
    assert task is not None
    await house.tasks.ControlTasks(
        tasks_pb2.ControlTasksRequest(
            warehouse_id=house.warehouse_id, task_ids=[answer.task_id], action=tasks_pb2.TASK_ACTION_CANCEL
        )
    )
    worker = Worker(OF_NAMESPACE, tasks, kind.make(house.parts), house.clock, QuietBell(1), lambda: 0.5, kind.terms)
    await worker.attempt(task)
    assert there(house) >= {"sales", "sales.orders", "sales.eu.deep"}
    assert [each.outcome for each in house.catalog.rows.attempts if each.task_id == UUID(answer.task_id)] == [
        (1, "cancelled")
    ]


async def test_a_namespace_of_another_warehouse_is_not_there() -> None:
    house = await nested()
    other = await house.make_warehouse("second", base="s3://lake/second")
    request = cascades_pb2.DropTreeRequest(warehouse_id=other, namespace_id=str(house.namespace("sales").namespace_id))
    assert (await refusal_of(house.cascades.DropTree(request))).reason == Reason.REASON_NO_SUCH_NAMESPACE
    assert WarehouseId(UUID(other)) in house.catalog.rows.warehouses
