"""The operations that tasks of warehouses and of projects have in common."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from lakeward_gateway.dialects.management import task_documents as documents
from lakeward_gateway.dialects.management.errors import RENDERED
from lakeward_gateway.http import Request, Response
from lakeward_gateway.operation import IDEMPOTENCY_KEY, Answer, Body, Operation
from lakeward_gateway.query import PageSize

ATTEMPTS: Final = PageSize("numAttempts", "How many ended attempts come along, the newest first; 5 unless given.")
TAG: Final = "tasks"
QUEUE_SHOWN: Final = Answer("How it is set.", "GetQueueConfigResponse", documents.GetQueueConfigResponse)
QUEUE_WANTED: Final = Body("SetQueueConfigRequest", documents.SetQueueConfigRequest)

Handler = Callable[[Request], Awaitable[Response]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Whose tasks operations are about.

    Attributes:
        name: "warehouse" or "project".
        path: of the owner; its tasks are below.
        mark: what the ids of its operations have, where a warehouse's have nothing.
        tasks: its tasks, as a sentence begins with them.
        task: one of them.
        some: a number of them, as it goes on after the number.
    """

    name: str
    path: str
    mark: str
    tasks: str
    task: str
    some: str

    def queue_path(self, queue: str) -> str:
        """Of one of its queues."""
        return f"{self.path}/task-queue/{queue}"


WAREHOUSE: Final = Owner(
    name="warehouse",
    path="/management/v1/warehouse/{warehouse_id}",
    mark="",
    tasks="Tasks of a warehouse",
    task="A task",
    some="tasks",
)
PROJECT: Final = Owner(
    name="project",
    path="/management/v1/project",
    mark="project_",
    tasks="A project's own tasks",
    task="A project's own task",
    some="of a project's own tasks",
)


def on_tasks(
    owner: Owner, *, lister: Handler, page: Body, shown: Answer, viewer: Handler, task: Answer, controller: Handler
) -> Sequence[Operation]:
    """Listing tasks, one of them, and controlling them; each handler with what it takes or answers."""
    return (
        Operation(
            id=f"list_{owner.mark}tasks",
            method="POST",
            path=f"{owner.path}/task/list",
            summary=f"{owner.tasks}, newest first, those that have ended among them.",
            handler=lister,
            body=page,
            answers={200: shown},
            renderings=RENDERED,
            tag=TAG,
        ),
        Operation(
            id=f"get_{owner.mark}task_details",
            method="GET",
            path=f"{owner.path}/task/by-id/{{task_id}}",
            summary=f"{owner.task}, and what came of its attempts.",
            handler=viewer,
            query=(ATTEMPTS,),
            answers={200: task},
            renderings=RENDERED,
            tag=TAG,
        ),
        Operation(
            id=f"control_{owner.mark}tasks",
            method="POST",
            path=f"{owner.path}/task/control",
            summary=f"Stop, cancel or run up to 100 {owner.some}, all or nothing.",
            handler=controller,
            headers=(IDEMPOTENCY_KEY,),
            body=Body("ControlTasksRequest", documents.ControlTasksRequest),
            answers={204: Answer("It is done, or was so already.")},
            renderings=RENDERED,
            tag=TAG,
        ),
    )


def on_queue(
    owner: Owner,
    queue: str,
    *,
    reader: Handler,
    shown: Answer = QUEUE_SHOWN,
    setter: Handler,
    wanted: Body = QUEUE_WANTED,
) -> Sequence[Operation]:
    """How a queue is set, and setting it; each handler with what it answers or takes."""
    path = f"{owner.queue_path(queue)}/config"
    return (
        Operation(
            id=f"get_{owner.mark}task_queue_config_{queue}",
            method="GET",
            path=path,
            summary=f"How a {owner.name}'s queue {queue} is set.",
            handler=reader,
            answers={200: shown},
            renderings=RENDERED,
            tag=TAG,
        ),
        Operation(
            id=f"set_{owner.mark}task_queue_config_{queue}",
            method="POST",
            path=path,
            summary=f"Set a {owner.name}'s queue {queue}.",
            handler=setter,
            body=wanted,
            answers={204: Answer("It is set.")},
            renderings=RENDERED,
            tag=TAG,
        ),
    )
