"""What a warehouse has, and had."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import timedelta

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.paging import read_page
from lakeward_catalog.application.ports.stores import After
from lakeward_catalog.application.ports.upkeep import Hour, StatisticsStore
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.domain.model import Kind, WarehouseId
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.paging import EVERYTHING, Page, PageRequest
from lakeward_servicekit.system import Clock


@dataclasses.dataclass(frozen=True, slots=True)
class CountWarehouse:
    """Say what a warehouse has, and had hour by hour."""

    warehouse_id: WarehouseId
    page: PageRequest = EVERYTHING


@dataclasses.dataclass(frozen=True, slots=True)
class WarehouseStatistics:
    """Tells what lives in warehouses, active or not: counted when somebody asks, and behind that as earlier hours left it."""

    doors: Doors
    statistics: StatisticsStore
    rules: Rules
    clock: Clock

    async def __call__(self, command: CountWarehouse, *, caller: Caller) -> Page[Hour]:
        """Hours of one, the one that runs first.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN, INVALID_PAGE_TOKEN.
        """
        warehouse_id, action = command.warehouse_id, Action.WAREHOUSE_GET_METADATA
        await self.doors.warehouse(warehouse_id, action, caller=caller, inactive_too=True)

        async def read(after: After | None, limit: int) -> Sequence[Hour]:
            if after is not None:
                return await self.statistics.hours(warehouse_id, before=after.created_at, limit=limit)
            now = await self._now(warehouse_id)
            return [now, *await self.statistics.hours(warehouse_id, before=now.ended_at, limit=limit - 1)]

        return await read_page(
            command.page,
            listing=("statistics", str(warehouse_id), caller.principal.key),
            rules=self.rules,
            place=lambda hour: After(hour.ended_at, warehouse_id),
            read=read,
        )

    async def _now(self, warehouse_id: WarehouseId) -> Hour:
        now, counts = self.clock.now(), await self.doors.tabulars.counts(warehouse_id)
        ends = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        tables, views, generic = (counts.get(kind, 0) for kind in (Kind.TABLE, Kind.VIEW, Kind.GENERIC_TABLE))
        return Hour(ends, tables, views, generic, now)
