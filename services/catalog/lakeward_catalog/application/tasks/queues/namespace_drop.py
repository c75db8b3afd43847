"""Dropping a namespace with everything inside."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from lakeward_catalog.application.announcements import Occasion
from lakeward_catalog.application.cascading.contents import Cascade, Wish
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.tasks.kinds import QueueKind
from lakeward_catalog.application.workers import Again, GivenUp, Progress, Terms
from lakeward_catalog.domain.model import Namespace, NamespaceId, Warehouse, WarehouseId
from lakeward_catalog.domain.tasks import Level, Queue, Task
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.cloud_events import Actor
from lakeward_servicekit.system import Clock

WAITING: Final = "waiting"
_PROTECTED: Final = (
    Reason.REASON_NAMESPACE_PROTECTED,
    Reason.REASON_CHILD_NAMESPACE_PROTECTED,
    Reason.REASON_CHILD_TABULAR_PROTECTED,
)


def wish_of(task: Task, clock: Clock) -> Wish:
    """How a task was asked for."""
    plan, when = task.plan, occasion_of(task.plan, clock)
    return Wish(force=plan["force"], purge=plan["purge"], again=plan.get(WAITING, False), task=task, when=when)


def occasion_of(plan: Mapping[str, Any], clock: Clock) -> Occasion:
    """Now, by whom the task was asked for."""
    return Occasion(clock.now(), Actor(plan["user"], plan["role"]), plan["request"])


async def step(cascade: Cascade, warehouse: Warehouse, namespace: Namespace, wish: Wish) -> datetime | None:
    """One namespace of a cascade; what is protected ends it.

    Raises:
        GivenUp: see `Cascade`.
    """
    try:
        return await cascade(warehouse, namespace, wish)
    except Refusal as refused:
        if refused.reason in _PROTECTED:
            raise GivenUp(str(refused)) from refused
        raise


@dataclasses.dataclass(frozen=True, slots=True)
class NamespaceDrops:
    """Drops one namespace; comes again while something inside can be restored."""

    doors: Doors
    cascade: Cascade
    clock: Clock

    async def __call__(self, task: Task, progress: Progress) -> str | Again:
        """Drop it."""
        namespace_id = NamespaceId(task.incarnation)
        warehouse, namespace = await self.doors.namespaces.find_by_id(WarehouseId(task.warehouse_id), namespace_id)
        if warehouse is None or namespace is None:
            return "The namespace is gone already"
        progress.total = 1
        until = await step(self.cascade, warehouse, namespace, wish_of(task, self.clock))
        if until is not None:
            return Again(until, "Waits until nothing inside can be restored", {**task.plan, WAITING: True})
        progress.done = 1
        return "Dropped the namespace with everything inside"


KIND: Final = QueueKind(
    queue=Queue.NAMESPACE_DROP,
    level=Level.WAREHOUSE,
    terms=Terms(silence=timedelta(minutes=5)),
    make=lambda tools: NamespaceDrops(
        tools.doors, Cascade(tools.documents, tools.changes, tools.announcer, tools.rules), tools.clock
    ),
    cancelled="Cancelled; what was dropped stays so",
)
