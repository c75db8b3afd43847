"""Queued work of projects over HTTP."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from google.protobuf import timestamp_pb2

from lakeward_protocol.catalog.v1 import project_tasks_pb2 as pb
from lakeward_protocol.catalog.v1 import tasks_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.unit.gateway.fakes import World

TASK_ID = "0198e000-0000-7000-8000-000000000003"
PROJECT = "/management/v1/project"
TASK = tasks_pb2.Task(
    task_id=TASK_ID,
    project_id="p",
    queue="statistics",
    status=tasks_pb2.TASK_STATUS_RUNNING,
    scheduled_for=timestamp_pb2.Timestamp(seconds=60),
    created_at=timestamp_pb2.Timestamp(seconds=61),
    attempt=1,
    done=1,
    total=4,
)
SHOWN = {
    "task-id": TASK_ID,
    "project-id": "p",
    "queue-name": "statistics",
    "status": "RUNNING",
    "parent-task-id": None,
    "scheduled-for": "1970-01-01T00:01:00Z",
    "picked-up-at": None,
    "last-heartbeat-at": None,
    "attempt": 1,
    "progress": 0.25,
    "created-at": "1970-01-01T00:01:01Z",
    "updated-at": None,
}


async def test_a_project_s_tasks_are_listed_and_filtered(served: World) -> None:
    served.catalog.answers["ListProjectTasks"] = pb.ListProjectTasksResponse(tasks=[TASK], next_page_token="more")
    document = {"status": ["RUNNING"], "queue-name": ["statistics"], "page-size": 7, "page-token": "t"}
    response = await served.client.post(f"{PROJECT}/task/list", json=document)
    assert response.json() == {"tasks": [SHOWN], "next-page-token": "more"}
    asked = served.asked
    assert (list(asked.statuses.statuses), list(asked.queues.names)) == (
        [tasks_pb2.TASK_STATUS_RUNNING],
        ["statistics"],
    )
    assert (asked.page.size, asked.page.token) == (7, "t")


async def test_a_project_s_task_is_shown_with_what_its_queue_knows(served: World) -> None:
    served.catalog.answers["GetProjectTask"] = pb.GetProjectTaskResponse(task=TASK, plan=b'{"a":1}')
    response = await served.client.get(f"{PROJECT}/task/by-id/{TASK_ID}")
    assert response.json() == {
        **SHOWN,
        "task-data": {"a": 1},
        "message": None,
        "execution-details": {"done": 1},
        "attempts": [],
    }


async def test_a_project_s_tasks_are_controlled(served: World) -> None:
    served.catalog.answers["ControlProjectTasks"] = pb.ControlProjectTasksResponse()
    document = {"action": {"action-type": "cancel"}, "task-ids": [TASK_ID]}
    response = await served.client.post(f"{PROJECT}/task/control", json=document)
    assert (response.status_code, served.asked.action) == (204, tasks_pb2.TASK_ACTION_CANCEL)


async def test_the_log_s_cleanup_is_set_and_shown_in_iso_8601(served: World) -> None:
    served.catalog.answers["SetProjectQueueConfig"] = pb.SetProjectQueueConfigResponse()
    document = {
        "queue-config": {"cleanup-period": "P2D", "retention-period": "PT36H"},
        "max-seconds-since-last-heartbeat": 60,
    }
    path = f"{PROJECT}/task-queue/task_log_cleanup/config"
    assert (await served.client.post(path, json=document)).status_code == 204
    asked = served.asked.config
    assert (asked.silence.seconds, asked.cleanup_period.ToTimedelta()) == (60, timedelta(days=2))
    assert asked.retention_period.ToTimedelta() == timedelta(hours=36)
    served.catalog.answers["GetProjectQueueConfig"] = pb.GetProjectQueueConfigResponse(config=asked)
    shown = (await served.client.get(path)).json()
    assert shown["queue-config"] == {"cleanup-period": "P2D", "retention-period": "P1DT43200S"}
    assert shown["max-seconds-since-last-heartbeat"] == 60
    served.catalog.answers["GetProjectQueueConfig"] = pb.GetProjectQueueConfigResponse()
    assert (await served.client.get(path)).json() == {
        "queue-config": {"cleanup-period": None, "retention-period": None},
        "max-seconds-since-last-heartbeat": None,
    }


@pytest.mark.parametrize("period", ["P1Y", "P1M", "1 day", 5])
async def test_a_period_that_is_no_span_of_time_is_refused(served: World, period: Any) -> None:
    document = {"queue-config": {"cleanup-period": period}}
    response = await served.client.post(f"{PROJECT}/task-queue/task_log_cleanup/config", json=document)
    assert response.status_code == 400


async def test_a_schedule_is_set_shown_and_taken_back(served: World) -> None:
    path = f"{PROJECT}/task-queue/statistics/schedule"
    served.catalog.answers["SetProjectSchedule"] = pb.SetProjectScheduleResponse()
    document = {"cron": "0 * * * *", "time-zone": "Europe/Berlin"}
    assert (await served.client.put(path, json=document)).status_code == 204
    assert (served.asked.queue, served.asked.cron, served.asked.time_zone) == (
        "statistics",
        "0 * * * *",
        "Europe/Berlin",
    )
    found = pb.GetProjectScheduleResponse(cron="0 * * * *", time_zone="UTC")
    found.next_at.FromSeconds(60)
    served.catalog.answers["GetProjectSchedule"] = found
    assert (await served.client.get(path)).json() == {
        "cron": "0 * * * *",
        "time-zone": "UTC",
        "period": None,
        "next-run-at": "1970-01-01T00:01:00Z",
    }
    served.catalog.asked.clear()
    assert (await served.client.delete(path)).status_code == 204
    assert (served.asked.cron, served.asked.time_zone) == ("", "")


async def test_an_empty_cron_expression_does_not_take_the_schedule_back(served: World) -> None:
    served.catalog.answers["SetProjectSchedule"] = pb.SetProjectScheduleResponse()
    await served.client.put(f"{PROJECT}/task-queue/statistics/schedule", json={"cron": ""})
    assert served.asked.cron != ""


async def test_a_task_is_queued_and_its_id_told(served: World) -> None:
    served.catalog.answers["ScheduleProjectTask"] = pb.ScheduleProjectTaskResponse(task_id=TASK_ID)
    path = f"{PROJECT}/task-queue/statistics/schedule"
    response = await served.client.post(path, json={"scheduled-for": "1970-01-01T00:01:00Z"})
    assert (response.status_code, response.json()) == (201, {"task-id": TASK_ID})
    assert served.asked.scheduled_for.seconds == 60


@pytest.mark.parametrize(
    ("reason", "metadata", "status", "word"),
    [
        (Reason.REASON_TASK_ACTIVE, {"queue": "q", "task": "t"}, 409, "TaskAlreadyActive"),
        (Reason.REASON_QUEUE_NOT_SCHEDULABLE, {"queue": "q"}, 400, "QueueNotUserSchedulable"),
        (Reason.REASON_SCHEDULED_TOO_FAR, {"at": "a", "days": "365"}, 400, "ScheduledForTooFarInFuture"),
        (Reason.REASON_NO_SUCH_QUEUE, {"queue": "q"}, 404, "QueueNotFound"),
    ],
)
async def test_what_can_not_be_scheduled_is_told_in_upstream_s_words(
    served: World, reason: Any, metadata: dict[str, str], status: int, word: str
) -> None:
    served.catalog.answers["ScheduleProjectTask"] = Refusal(reason, "no", **metadata)
    response = await served.client.post(f"{PROJECT}/task-queue/statistics/schedule")
    assert (response.status_code, response.json()["error"]["type"]) == (status, word)
