"""Deleting files of tabulars that are gone."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Final

from lakeward_catalog.application.ports.files import Files
from lakeward_catalog.application.ports.stores import WarehouseStore
from lakeward_catalog.application.tasks.kinds import QueueKind
from lakeward_catalog.application.workers import Progress, Terms
from lakeward_catalog.domain.tasks import Level, Queue, Task
from lakeward_catalog.domain.wording import no_such_warehouse
from lakeward_locations import Location


@dataclasses.dataclass(frozen=True, slots=True)
class Purges:
    """Deletes files of tabulars that are gone, a page at a time. What an earlier attempt deleted is simply not there."""

    warehouses: WarehouseStore
    files: Files

    async def __call__(self, task: Task, progress: Progress) -> str:
        """Delete every file of one.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, STORE_UNAVAILABLE, STORE_DENIED.
        """
        warehouse = await self.warehouses.find(task.warehouse_id)
        if warehouse is None:
            raise no_such_warehouse(task.warehouse_id)
        location = Location.parse(task.location)
        nothing_left = False
        while not nothing_left:
            deleted, nothing_left = await self.files.purge_page(warehouse, task.incarnation, location)
            progress.done += deleted
        return "Purged tabular data"


KIND: Final = QueueKind(
    queue=Queue.TABULAR_PURGE,
    level=Level.WAREHOUSE,
    terms=Terms(silence=timedelta(minutes=5)),
    make=lambda tools: Purges(tools.doors.warehouses, tools.files),
    cancelled="Cancelled; the files stay",
)
