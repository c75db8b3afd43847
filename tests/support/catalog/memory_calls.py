"""Counts of requests in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta

from lakeward_catalog.application.ports.counting import Calls, Counted, Window
from lakeward_catalog.domain.model import ProjectId, Warehouse, WarehouseId
from lakeward_catalog.domain.names import name_key
from tests.support.catalog.memory import MemoryCatalog

HOUR = timedelta(hours=1)


class MemoryCalls:
    """`CallStore`."""

    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog

    def _warehouse(self, calls: Calls) -> Warehouse | None:
        for each in self._catalog.rows.warehouses.values():
            named = (each.project_id, name_key(each.name)) == (calls.project_id, calls.name_key)
            if each.warehouse_id == calls.warehouse_id or named:
                return each
        return None

    async def add(self, calls: Sequence[Calls]) -> None:
        rows = self._catalog.rows
        for each in calls:
            warehouse = self._warehouse(each)
            project_id = each.project_id if warehouse is None else warehouse.project_id
            if project_id is None or project_id not in rows.projects:
                continue
            hour = each.last_at.replace(minute=0, second=0, microsecond=0) + HOUR
            warehouse_id = None if warehouse is None else warehouse.warehouse_id
            key = (project_id, hour, each.route, each.status, warehouse_id)
            count, created_at, _ = rows.calls.get(key, (0, each.first_at, None))
            updated_at = each.last_at if count or each.last_at != each.first_at else None
            rows.calls[key] = (count + each.count, created_at, updated_at)

    async def read(
        self,
        project_id: ProjectId,
        window: Window,
        *,
        of: WarehouseId | None,
        unmapped: bool,
        statuses: Collection[int],
    ) -> Sequence[Counted]:
        found = []
        for (owner, hour, route, status, warehouse_id), (
            count,
            created_at,
            updated_at,
        ) in self._catalog.rows.calls.items():
            wanted = (
                owner == project_id
                and window.start <= hour - HOUR < window.end
                and (of is None or warehouse_id == of)
                and not (unmapped and warehouse_id is not None)
                and (not statuses or status in statuses)
            )
            if wanted:
                warehouse = None if warehouse_id is None else self._catalog.rows.warehouses.get(warehouse_id)
                name = None if warehouse is None else warehouse.name
                found.append(Counted(hour, route, status, warehouse_id, name, count, created_at, updated_at))
        return sorted(found, key=lambda each: (each.hour, each.route, each.status, str(each.warehouse_id or "")))
