from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import duration_pb2, timestamp_pb2

from lakeward_protocol.catalog.v1 import tabulars_pb2, tasks_pb2
from tests.unit.gateway.fakes import WAREHOUSE, World

ONE = f"/management/v1/warehouse/{WAREHOUSE}"
TASK_ID = "0198e000-0000-7000-8000-000000000003"
TABLE_ID = "0198e000-0000-7000-8000-000000000004"
QUEUES = ("soft_deletion", "tabular_purge")
RUNNING = tasks_pb2.Task(
    task_id=TASK_ID,
    project_id="p",
    warehouse_id=WAREHOUSE,
    queue="tabular_purge",
    status=tasks_pb2.TASK_STATUS_RUNNING,
    tabular=tabulars_pb2.TabularRef(kind=tabulars_pb2.TABULAR_KIND_TABLE, tabular_id=TABLE_ID),
    path=["a", "b", "t.x"],
    parent_id="0198e000-0000-7000-8000-000000000005",
    scheduled_for=timestamp_pb2.Timestamp(seconds=60),
    picked_up_at=timestamp_pb2.Timestamp(seconds=61),
    heard_at=timestamp_pb2.Timestamp(seconds=62),
    attempt=2,
    done=7,
    created_at=timestamp_pb2.Timestamp(seconds=1),
)
SHOWN: dict[str, Any] = {
    "task-id": TASK_ID,
    "project-id": "p",
    "warehouse-id": WAREHOUSE,
    "queue-name": "tabular_purge",
    "status": "RUNNING",
    "entity": {"type": "table", "table-id": TABLE_ID},
    "entity-name": ["a", "b", "t.x"],
    "parent-task-id": "0198e000-0000-7000-8000-000000000005",
    "scheduled-for": "1970-01-01T00:01:00Z",
    "picked-up-at": "1970-01-01T00:01:01Z",
    "last-heartbeat-at": "1970-01-01T00:01:02Z",
    "attempt": 2,
    "progress": 0.0,
    "created-at": "1970-01-01T00:00:01Z",
    "updated-at": None,
}


async def test_tasks_are_listed_a_hundred_at_a_time_and_unfiltered_where_nothing_is_said(served: World) -> None:
    served.catalog.answers["ListTasks"] = tasks_pb2.ListTasksResponse(tasks=[RUNNING], next_page_token="more")
    for body in ({"json": {}}, {"content": b""}):
        served.catalog.asked.clear()
        response = await served.client.post(f"{ONE}/task/list", **body)  # type: ignore[arg-type]  # either form
        assert response.json() == {"tasks": [SHOWN], "next-page-token": "more"}
        asked = served.asked
        assert [field.name for field, _ in asked.ListFields()] == ["context", "warehouse_id", "page"]
        assert (asked.page.HasField("size"), asked.page.HasField("token"), asked.page.token) == (False, True, "")


async def test_every_filter_of_tasks_is_handed_on_and_an_empty_one_as_one(served: World) -> None:
    served.catalog.answers["ListTasks"] = tasks_pb2.ListTasksResponse()
    document = {
        "status": ["SCHEDULED", "FAILED"],
        "queue-name": [],
        "entities": [
            {"type": "table", "table-id": TABLE_ID},
            {"type": "view", "view-id": WAREHOUSE},
            {"type": "warehouse"},
        ],
        "created-after": "1970-01-01T00:00:01Z",
        "created-before": "1970-01-01T01:00:02+01:00",
        "page-size": 5000000000,
        "page-token": "more",
    }
    response = await served.client.post(f"{ONE}/task/list", json=document)
    assert response.json() == {"tasks": [], "next-page-token": None}
    asked = served.asked
    assert list(asked.statuses.statuses) == [tasks_pb2.TASK_STATUS_SCHEDULED, tasks_pb2.TASK_STATUS_FAILED]
    assert (asked.HasField("queues"), list(asked.queues.names)) == (True, [])
    assert [(each.kind, each.tabular_id) for each in asked.entities.tabulars] == [(1, TABLE_ID), (2, WAREHOUSE)]
    assert asked.entities.warehouse
    assert (asked.created_after.seconds, asked.created_before.seconds) == (1, 2)
    assert (asked.page.size, asked.page.token) == (2**31 - 1, "more")


async def test_a_task_is_shown_with_what_it_does_and_what_came_of_its_attempts(served: World) -> None:
    attempt = tasks_pb2.TaskAttempt(
        attempt=1,
        status=tasks_pb2.TASK_STATUS_SUCCESS,
        scheduled_for=timestamp_pb2.Timestamp(seconds=60),
        started_at=timestamp_pb2.Timestamp(seconds=61),
        ended_at=timestamp_pb2.Timestamp(seconds=63, nanos=500_000_000),
        message="Purged tabular data",
        done=7,
    )
    served.catalog.answers["GetTask"] = tasks_pb2.GetTaskResponse(
        task=RUNNING, message="away", location="s3://lake/t", purge=True, attempts=[attempt]
    )
    response = await served.client.get(f"{ONE}/task/by-id/{TASK_ID}?numAttempts=3")
    assert response.json() == {
        **SHOWN,
        "task-data": {"tabular_location": "s3://lake/t"},
        "message": "away",
        "execution-details": {"done": 7},
        "attempts": [
            {
                "attempt": 1,
                "status": "SUCCESS",
                "scheduled-for": "1970-01-01T00:01:00Z",
                "started-at": "1970-01-01T00:01:01Z",
                "duration": "PT2.500S",
                "message": "Purged tabular data",
                "progress": 1.0,
                "execution-details": {"done": 7},
                "created-at": "1970-01-01T00:01:01Z",
            }
        ],
    }
    assert (served.asked.task_id, served.asked.attempts) == (TASK_ID, 3)


async def test_a_task_of_which_little_is_known_is_shown_with_nulls(served: World) -> None:
    bare = tasks_pb2.Task(task_id=TASK_ID, queue="soft_deletion", status=tasks_pb2.TASK_STATUS_CANCELLED)
    never = tasks_pb2.TaskAttempt(attempt=1, status=tasks_pb2.TASK_STATUS_CANCELLED)
    served.catalog.answers["GetTask"] = tasks_pb2.GetTaskResponse(task=bare, attempts=[never])
    document = (await served.client.get(f"{ONE}/task/by-id/{TASK_ID}")).json()
    names = ("entity", "entity-name", "parent-task-id", "picked-up-at", "last-heartbeat-at", "message")
    assert {document[name] for name in names} == {None}
    assert document["task-data"] == {"deletion_kind": "default"}
    assert (document["attempts"][0]["started-at"], document["attempts"][0]["duration"]) == (None, None)
    assert not served.asked.HasField("attempts")


@pytest.mark.parametrize(
    ("action", "asked", "at"),
    [
        ({"action-type": "stop"}, tasks_pb2.TASK_ACTION_STOP, None),
        ({"action-type": "cancel"}, tasks_pb2.TASK_ACTION_CANCEL, None),
        ({"action-type": "run-now"}, tasks_pb2.TASK_ACTION_RUN, None),
        ({"action-type": "run-at", "scheduled-for": "1970-01-01T00:01:00Z"}, tasks_pb2.TASK_ACTION_RUN, 60),
    ],
)
async def test_tasks_are_controlled(served: World, action: dict[str, str], asked: int, at: int | None) -> None:
    served.catalog.answers["ControlTasks"] = tasks_pb2.ControlTasksResponse()
    response = await served.client.post(f"{ONE}/task/control", json={"action": action, "task-ids": [TASK_ID]})
    assert (response.status_code, response.content) == (204, b"")
    message = served.asked
    assert (message.action, list(message.task_ids)) == (asked, [TASK_ID])
    assert (message.at.seconds if message.HasField("at") else None) == at


@pytest.mark.parametrize("queue", QUEUES)
async def test_a_queue_is_set_and_shown_and_its_limit_taken_back(served: World, queue: str) -> None:
    path = f"{ONE}/task-queue/{queue}/config"
    served.catalog.answers["SetQueueConfig"] = tasks_pb2.SetQueueConfigResponse()
    for limit, seconds in (({"max-seconds-since-last-heartbeat": 60}, 60), ({}, None)):
        served.catalog.asked.clear()
        response = await served.client.post(path, json={"queue-config": {}, **limit})
        assert (response.status_code, response.content) == (204, b"")
        asked = served.asked
        assert (asked.queue, asked.silence.seconds if asked.HasField("silence") else None) == (queue, seconds)
    for silence, shown in ((duration_pb2.Duration(seconds=60), 60), (None, None)):
        served.catalog.answers["GetQueueConfig"] = tasks_pb2.GetQueueConfigResponse(silence=silence)
        document = (await served.client.get(path)).json()
        assert document == {"queue-config": {}, "max-seconds-since-last-heartbeat": shown}


@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("task/list", {"status": ["DONE"]}),
        ("task/list", {"entities": [{"type": "namespace"}]}),
        ("task/list", {"created-after": "yesterday"}),
        ("task/list", {"created-after": "2026-01-01T00:00:00"}),
        ("task/control", {"task-ids": []}),
        ("task/control", {"action": {"action-type": "run-at"}, "task-ids": []}),
        ("task/control", {"action": {"action-type": "kill"}, "task-ids": []}),
        ("task-queue/tabular_purge/config", {}),
        ("task-queue/tabular_purge/config", {"queue-config": {}, "max-seconds-since-last-heartbeat": -1}),
    ],
)
async def test_a_request_about_tasks_of_the_wrong_shape_is_refused(
    served: World, path: str, document: dict[str, Any]
) -> None:
    assert (await served.client.post(f"{ONE}/{path}", json=document)).status_code == 400
    assert not served.catalog.asked
