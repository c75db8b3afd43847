"""Queued work as people see it and steer it; what cancelling means is each queue's own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from lakeward_catalog.application.tasks.queues.soft_deletion import Expiries
from lakeward_catalog.application.workers import Progress
from lakeward_catalog.domain.model import Kind, State
from lakeward_catalog.domain.tasks import Queue, Task
from lakeward_protocol.catalog.v1 import tables_pb2, tasks_pb2
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.errors import Reason
from tests.support.catalog.house import ANYTHING, House, a_house, refusal_of, tabular, tabular_ref
from tests.support.catalog.memory_tasks import MemoryTasks
from tests.support.deciding import Rule

SILENCE = timedelta(minutes=5)
STOP, CANCEL, RUN = tasks_pb2.TASK_ACTION_STOP, tasks_pb2.TASK_ACTION_CANCEL, tasks_pb2.TASK_ACTION_RUN
NO_LISTS = Rule(allows=False, action=Action.WAREHOUSE_GET_ALL_TASKS)
NO_CONTROL = Rule(allows=False, action=Action.WAREHOUSE_CONTROL_ALL_TASKS)


async def restorable() -> House:
    house = await a_house()
    house.change_warehouse(restorable_for=timedelta(days=7))
    return house


async def drop(house: House, name: str = "orders", **flags: bool) -> None:
    await house.tables.DropTable(
        tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", name), **flags)
    )


def listing(house: House, **which: Any) -> Any:
    return house.tasks.ListTasks(tasks_pb2.ListTasksRequest(warehouse_id=house.warehouse_id, **which))


def seeing(house: House, task_id: object, **more: Any) -> Any:
    return house.tasks.GetTask(tasks_pb2.GetTaskRequest(warehouse_id=house.warehouse_id, task_id=str(task_id), **more))


def control(house: House, action: tasks_pb2.TaskAction.ValueType, *ids: object, at: datetime | None = None) -> Any:
    message = tasks_pb2.ControlTasksRequest(
        warehouse_id=house.warehouse_id, task_ids=[str(each) for each in ids], action=action
    )
    if at is not None:
        message.at.FromDatetime(at)
    return house.tasks.ControlTasks(message)


async def status(house: House, task_id: object) -> str:
    found = await seeing(house, task_id)
    return tasks_pb2.TaskStatus.Name(found.task.status).removeprefix("TASK_STATUS_")


async def begun(house: House, queue: Queue = Queue.TABULAR_PURGE) -> tuple[MemoryTasks, Task]:
    """A worker's claim, a month from now."""
    tasks = MemoryTasks(house.catalog)
    house.clock.advance(timedelta(days=30))
    task = await tasks.claim(queue, now=house.clock.now(), silence=SILENCE, attempts=5)
    assert task is not None
    return tasks, task


async def test_a_task_says_what_it_is_about_though_that_is_gone() -> None:
    house = await a_house()
    orders = house.tabular("orders")
    await drop(house)
    (task,) = (await listing(house)).tasks
    assert (task.queue, task.tabular.tabular_id, list(task.path)) == (
        "tabular_purge",
        str(orders.tabular_id),
        ["sales", "orders"],
    )
    assert task.scheduled_for.ToDatetime(UTC) == house.clock.now() + timedelta(minutes=1)
    assert (task.attempt, task.HasField("picked_up_at"), task.HasField("heard_at")) == (0, False, False)
    found = await seeing(house, task.task_id)
    assert (found.location, found.purge, list(found.attempts)) == (orders.location, True, [])


async def test_a_purge_names_the_task_that_queued_it() -> None:
    house = await restorable()
    await drop(house, purge=True)
    expiration = house.task_id(Queue.SOFT_DELETION)
    tasks, task = await begun(house, Queue.SOFT_DELETION)
    await Expiries(house.parts.doors.warehouses, house.parts.changes, house.parts.announcer, house.clock)(
        task, Progress()
    )
    await tasks.finish(task, now=house.clock.now(), message="Deleted tabular", progress=1)
    purge = await seeing(house, house.task_id(Queue.TABULAR_PURGE))
    assert purge.task.parent_id == expiration
    done = await seeing(house, expiration)
    assert (await status(house, expiration), done.message) == ("SUCCESS", "Deleted tabular")


async def test_a_task_is_listed_once_whatever_became_of_its_attempts() -> None:
    house = await a_house()
    await drop(house)
    tasks, task = await begun(house)
    await tasks.fail(task, now=house.clock.now(), message="away", progress=3, retry_at=house.clock.now())
    again = await tasks.claim(task.queue, now=house.clock.now(), silence=SILENCE, attempts=5)
    assert again is not None
    (listed,) = (await listing(house)).tasks
    assert (listed.status, listed.attempt) == (tasks_pb2.TASK_STATUS_RUNNING, 2)
    await tasks.finish(again, now=house.clock.now(), message="done", progress=4)
    (listed,) = (await listing(house)).tasks
    assert (listed.status, listed.attempt, listed.done) == (tasks_pb2.TASK_STATUS_SUCCESS, 2, 4)
    found = await seeing(house, task.task_id)
    assert [(each.attempt, each.message, each.done) for each in found.attempts] == [(2, "done", 4), (1, "away", 3)]
    assert [each.attempt for each in (await seeing(house, task.task_id, attempts=1)).attempts] == [2]


async def test_a_listing_is_newest_first_and_goes_on_where_it_ended() -> None:
    house = await restorable()
    for name in ("a", "b", "c"):
        await house.make_table("sales", name)
        house.clock.advance(timedelta(seconds=1))
        await drop(house, name)
    request = tasks_pb2.ListTasksRequest(warehouse_id=house.warehouse_id)
    request.page.size = 2
    first = await house.tasks.ListTasks(request)
    request.page.token = first.next_page_token
    second = await house.tasks.ListTasks(request)
    assert [each.path[-1] for each in (*first.tasks, *second.tasks)] == ["c", "b", "a"]
    assert second.next_page_token == ""
    request.queues.names.append("soft_deletion")
    assert (await refusal_of(house.tasks.ListTasks(request))).reason == Reason.REASON_INVALID_PAGE_TOKEN


async def test_filters_narrow_a_listing_and_an_empty_one_leaves_nothing() -> None:
    house = await restorable()
    await house.make_table("sales", "gone")
    await drop(house, "gone", force=True)
    house.clock.advance(timedelta(hours=1))
    await drop(house)

    async def names(**which: Any) -> list[str]:
        return [each.path[-1] for each in (await listing(house, **which)).tasks]

    scheduled, running = tasks_pb2.TASK_STATUS_SCHEDULED, tasks_pb2.TASK_STATUS_RUNNING
    assert await names() == ["orders", "gone"]
    assert await names(queues=tasks_pb2.QueueNames(names=["tabular_purge"])) == ["gone"]
    assert await names(queues=tasks_pb2.QueueNames(names=["tabular_expiration"])) == ["orders"], "its older name"
    assert await names(queues=tasks_pb2.QueueNames(names=["nobody's"])) == []
    assert await names(queues=tasks_pb2.QueueNames()) == []
    assert await names(statuses=tasks_pb2.TaskStatuses(statuses=[scheduled])) == ["orders", "gone"]
    assert await names(statuses=tasks_pb2.TaskStatuses(statuses=[running])) == []
    assert await names(statuses=tasks_pb2.TaskStatuses()) == []
    about = tabular_ref(Kind.TABLE, house.tabular("orders").tabular_id)
    assert await names(entities=tasks_pb2.TaskEntities(tabulars=[about])) == ["orders"]
    assert await names(entities=tasks_pb2.TaskEntities(warehouse=True)) == []
    request = tasks_pb2.ListTasksRequest(warehouse_id=house.warehouse_id)
    request.created_after.FromDatetime(house.clock.now() - timedelta(minutes=1))
    assert [each.path[-1] for each in (await house.tasks.ListTasks(request)).tasks] == ["orders"]


async def test_who_may_not_see_all_tasks_sees_those_of_tabulars_that_they_name_and_may_ask_of() -> None:
    house = await restorable()
    await drop(house)
    about = tabular_ref(Kind.TABLE, house.tabular("orders").tabular_id)
    house.authorizer.replace(NO_LISTS, ANYTHING)
    (task,) = (await listing(house, entities=tasks_pb2.TaskEntities(tabulars=[about]))).tasks
    assert (await seeing(house, task.task_id)).task.task_id == task.task_id
    for refused in (
        listing(house),
        listing(house, entities=tasks_pb2.TaskEntities(tabulars=[about], warehouse=True)),
    ):
        refusal = await refusal_of(refused)
        assert (refusal.reason, refusal.metadata["action"]) == (Reason.REASON_FORBIDDEN, "get_all_tasks")
    gone = tabular_ref(Kind.TABLE, uuid4())
    unknown = listing(house, entities=tasks_pb2.TaskEntities(tabulars=[gone]))
    assert (await refusal_of(unknown)).reason == Reason.REASON_NO_SUCH_TABLE


async def test_who_may_not_see_all_tasks_cannot_tell_an_absent_task_from_one_of_what_is_gone_or_hidden() -> None:
    house = await restorable()
    await drop(house)
    await house.make_table("sales", "gone")
    await drop(house, "gone", force=True)
    hidden, gone = house.task_id(Queue.SOFT_DELETION), house.task_id(Queue.TABULAR_PURGE)
    house.authorizer.replace(NO_LISTS, NO_CONTROL, Rule(allows=False, kind=ObjectKind.TABLE), ANYTHING)
    for make in (lambda each: seeing(house, each), lambda each: control(house, CANCEL, each)):
        refusals = [await refusal_of(make(each)) for each in (uuid4(), gone, hidden)]
        assert len({(each.reason, each.message) for each in refusals}) == 1
        assert refusals[0].reason == Reason.REASON_FORBIDDEN


async def test_a_task_of_another_warehouse_is_not_there() -> None:
    house = await a_house()
    await drop(house)
    task_id = house.task_id(Queue.TABULAR_PURGE)
    house.warehouse_id = await house.make_warehouse("other", base="s3://lake/other")
    for call in (seeing(house, task_id), control(house, CANCEL, task_id)):
        assert (await refusal_of(call)).reason == Reason.REASON_NO_SUCH_TASK
    assert list((await listing(house)).tasks) == []


async def test_cancelling_a_soft_deletion_restores_what_it_was_to_delete_and_tells_of_it() -> None:
    house = await restorable()
    await drop(house)
    task_id = house.task_id(Queue.SOFT_DELETION)
    await control(house, CANCEL, task_id)
    assert house.tabular("orders").state is State.LIVE
    assert house.events()[-1] == "undropTabulars"
    assert await status(house, task_id) == "CANCELLED"


async def test_cancelling_the_task_of_an_earlier_drop_restores_nothing() -> None:
    house = await restorable()
    await drop(house)
    earlier = house.task_id(Queue.SOFT_DELETION)
    await control(house, CANCEL, earlier)
    await drop(house)
    await control(house, CANCEL, earlier)
    assert house.tabular("orders").state is State.DROPPED


async def test_a_soft_deletion_whose_name_is_taken_is_not_cancelled_and_neither_is_anything_beside() -> None:
    house = await restorable()
    await house.make_table("sales", "gone")
    await drop(house, "gone", force=True)
    await drop(house)
    await house.make_table("sales", "orders")
    before = house.catalog.rows.copy()
    both = [house.task_id(queue) for queue in (Queue.TABULAR_PURGE, Queue.SOFT_DELETION)]
    assert (await refusal_of(control(house, CANCEL, *both))).reason == Reason.REASON_TABULAR_EXISTS
    assert house.catalog.rows == before


async def test_a_soft_deletion_is_cancelled_while_its_worker_is_at_it_and_that_one_deletes_nothing() -> None:
    house = await restorable()
    await drop(house)
    _, task = await begun(house, Queue.SOFT_DELETION)
    await control(house, CANCEL, task.task_id)
    await Expiries(house.parts.doors.warehouses, house.parts.changes, house.parts.announcer, house.clock)(
        task, Progress()
    )
    assert house.tabular("orders").state is State.LIVE


async def test_a_purge_that_waits_is_cancelled_at_once_and_its_place_is_free() -> None:
    house = await a_house()
    location = house.tabular("orders").location
    await drop(house)
    house.files.stored.clear()
    taken = house.make_table("sales", "new", location=location)
    assert (await refusal_of(taken)).reason == Reason.REASON_LOCATION_BEING_PURGED
    task_id = house.task_id(Queue.TABULAR_PURGE)
    await control(house, CANCEL, task_id)
    assert await status(house, task_id) == "CANCELLED"
    await house.make_table("sales", "new", location=location)


async def test_a_purge_that_runs_keeps_its_place_until_its_worker_has_stopped() -> None:
    house = await a_house()
    location = house.tabular("orders").location
    await drop(house)
    house.files.stored.clear()
    tasks, task = await begun(house)
    await control(house, CANCEL, task.task_id)
    assert await status(house, task.task_id) == "STOPPING"
    taken = house.make_table("sales", "new", location=location)
    assert (await refusal_of(taken)).reason == Reason.REASON_LOCATION_BEING_PURGED
    now = house.clock.now()
    assert not await tasks.keep(task, now=now, silence=SILENCE, progress=2)
    await tasks.stopped(task, now=now, progress=2, retry_at=now)
    assert await status(house, task.task_id) == "CANCELLED"
    await house.make_table("sales", "new", location=location)


async def test_a_running_task_that_is_to_stop_is_tried_again_later() -> None:
    house = await a_house()
    await drop(house)
    tasks, task = await begun(house)
    await control(house, STOP, task.task_id)
    assert await status(house, task.task_id) == "STOPPING"
    now = house.clock.now()
    await tasks.stopped(task, now=now, progress=2, retry_at=now + SILENCE)
    assert await status(house, task.task_id) == "SCHEDULED"
    found = await seeing(house, task.task_id)
    assert found.task.scheduled_for.ToDatetime(UTC) == now + SILENCE
    assert [each.status for each in found.attempts] == [tasks_pb2.TASK_STATUS_FAILED]


async def test_a_task_that_does_not_run_is_not_stopped() -> None:
    house = await a_house()
    await drop(house)
    task_id = house.task_id(Queue.TABULAR_PURGE)
    await control(house, STOP, task_id)
    assert await status(house, task_id) == "SCHEDULED"


@pytest.mark.parametrize("later", [None, timedelta(days=3)])
async def test_a_task_runs_when_it_is_told_to(later: timedelta | None) -> None:
    house = await a_house()
    await drop(house)
    task_id, now = house.task_id(Queue.TABULAR_PURGE), house.clock.now()
    at = None if later is None else now + later
    await control(house, RUN, task_id, at=at)
    assert (await seeing(house, task_id)).task.scheduled_for.ToDatetime(UTC) == (at or now)
    far = control(house, RUN, task_id, at=now + timedelta(days=366))
    assert (await refusal_of(far)).reason == Reason.REASON_INVALID_FIELD


async def test_a_task_that_failed_for_good_is_run_again_with_all_its_attempts() -> None:
    house = await a_house()
    await drop(house)
    tasks, task = await begun(house)
    await tasks.fail(task, now=house.clock.now(), message="no", progress=0, retry_at=None)
    assert await status(house, task.task_id) == "FAILED"
    await control(house, RUN, task.task_id)
    for number in range(2, 7):
        again = await tasks.claim(task.queue, now=house.clock.now(), silence=SILENCE, attempts=5)
        assert again is not None
        assert again.attempt == number
        await tasks.fail(again, now=house.clock.now(), message="no", progress=0, retry_at=house.clock.now())
    assert await tasks.claim(task.queue, now=house.clock.now(), silence=SILENCE, attempts=5) is None
    assert await status(house, task.task_id) == "FAILED"


async def test_what_did_not_stop_in_time_is_run_again_and_its_attempt_recorded() -> None:
    house = await a_house()
    await drop(house)
    tasks, task = await begun(house)
    await control(house, STOP, task.task_id)
    await control(house, RUN, task.task_id)
    found = await seeing(house, task.task_id)
    assert [(each.attempt, each.message) for each in found.attempts] == [(1, "It did not stop in time")]
    again = await tasks.claim(task.queue, now=house.clock.now(), silence=SILENCE, attempts=5)
    assert again is not None
    assert not await tasks.finish(task, now=house.clock.now(), message="", progress=0)


@pytest.mark.parametrize("action", [STOP, CANCEL, RUN])
async def test_what_has_ended_stays_as_it_is(action: tasks_pb2.TaskAction.ValueType) -> None:
    house = await a_house()
    await drop(house)
    tasks, task = await begun(house)
    await tasks.finish(task, now=house.clock.now(), message="done", progress=1)
    before = house.catalog.rows.copy()
    await control(house, action, task.task_id)
    await control(house, action)
    assert house.catalog.rows == before


async def test_one_unknown_task_keeps_all_from_being_controlled() -> None:
    house, nobody = await a_house(), uuid4()
    await drop(house)
    before = house.catalog.rows.copy()
    refusal = await refusal_of(control(house, CANCEL, house.task_id(Queue.TABULAR_PURGE), nobody))
    assert (refusal.reason, refusal.metadata) == (Reason.REASON_NO_SUCH_TASK, {"task": str(nobody)})
    assert house.catalog.rows == before


async def test_more_than_a_hundred_and_one_twice_are_refused() -> None:
    house, task_id = await a_house(), uuid4()
    many = control(house, CANCEL, *(uuid4() for _ in range(101)))
    assert (await refusal_of(many)).reason == Reason.REASON_TOO_MANY_NAMED
    assert (await refusal_of(control(house, CANCEL, task_id, task_id))).reason == Reason.REASON_DUPLICATE_TASK
    named = tasks_pb2.QueueNames(names=["q"] * 101)
    assert (await refusal_of(listing(house, queues=named))).reason == Reason.REASON_TOO_MANY_NAMED
    entities = tasks_pb2.TaskEntities(tabulars=[tabular_ref(Kind.TABLE, uuid4()) for _ in range(101)])
    assert (await refusal_of(listing(house, entities=entities))).reason == Reason.REASON_TOO_MANY_NAMED


async def test_what_is_no_task_status_or_action_is_refused_as_such() -> None:
    house = await a_house()
    nothing = tasks_pb2.TaskStatuses(statuses=[tasks_pb2.TASK_STATUS_UNSPECIFIED])
    for call in (seeing(house, "orders"), control(house, CANCEL, "orders"), listing(house, statuses=nothing)):
        assert (await refusal_of(call)).reason == Reason.REASON_INVALID_FIELD
    unspecified = control(house, tasks_pb2.TASK_ACTION_UNSPECIFIED, uuid4())
    assert (await refusal_of(unspecified)).reason == Reason.REASON_INVALID_FIELD


def set_queue(house: House, queue: str, seconds: int | None) -> Any:
    message = tasks_pb2.SetQueueConfigRequest(warehouse_id=house.warehouse_id, queue=queue)
    if seconds is not None:
        message.silence.seconds = seconds
    return house.tasks.SetQueueConfig(message)


def get_queue(house: House, queue: str) -> Any:
    return house.tasks.GetQueueConfig(tasks_pb2.GetQueueConfigRequest(warehouse_id=house.warehouse_id, queue=queue))


async def test_a_queue_s_limit_counts_for_the_next_worker_of_its_warehouse_and_can_be_taken_back() -> None:
    house = await a_house()
    assert not (await get_queue(house, "tabular_purge")).HasField("silence")
    await set_queue(house, "tabular_purge", 60)
    assert (await get_queue(house, "tabular_purge")).silence.seconds == 60
    assert not (await get_queue(house, "soft_deletion")).HasField("silence")
    await drop(house)
    _, task = await begun(house)
    assert task.silence == timedelta(seconds=60)
    await set_queue(house, "tabular_purge", None)
    assert not (await get_queue(house, "tabular_purge")).HasField("silence")


async def test_a_change_of_a_queue_is_told_once() -> None:
    house = await a_house()
    told = len(house.events())
    for seconds in (None, 60, 60, None):
        await set_queue(house, "soft_deletion", seconds)
    events = [house.event(index) for index in range(told, len(house.events()))]
    assert [(each["type"], each["data"]["settings"]["max-seconds-since-last-heartbeat"]) for each in events] == [
        ("updateTaskQueueConfig", 60),
        ("updateTaskQueueConfig", None),
    ]


@pytest.mark.parametrize("seconds", [0, 9, 86_401])
async def test_a_limit_that_cannot_be_is_refused(seconds: int) -> None:
    house = await a_house()
    assert (await refusal_of(set_queue(house, "tabular_purge", seconds))).reason == Reason.REASON_INVALID_FIELD


@pytest.mark.parametrize("queue", ["", "task_log_cleanup", "compaction"])
async def test_a_queue_that_a_warehouse_has_not_is_refused_by_name(queue: str) -> None:
    house = await a_house()
    for call in (get_queue(house, queue), set_queue(house, queue, 60)):
        assert (await refusal_of(call)).reason == Reason.REASON_NO_SUCH_QUEUE
