"""Reading the installation, projects and warehouses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lakeward_catalog.adapters.postgres.containers import Containers
from lakeward_catalog.adapters.postgres.rows import PROJECT, WAREHOUSE, project_of, searchable, warehouse_of
from lakeward_catalog.application.ports.stores import Visibility
from lakeward_catalog.domain.model import Project, ProjectId, Server, Warehouse, WarehouseId
from lakeward_catalog.domain.names import name_key
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.pools import Pool

SERVER: Final = "select server_id, bootstrapped from server"
FIND_PROJECT: Final = f"select {PROJECT} from project p where p.project_id = $1"
LIST_PROJECTS: Final = f"select {PROJECT} from project p"
FIND: Final = f"select {WAREHOUSE} from warehouse w where w.warehouse_id = $1"
FIND_BY_NAME: Final = f"select {WAREHOUSE} from warehouse w where w.project_id = $1 and w.name_key = $2"
LIST: Final = f"""
select {WAREHOUSE} from warehouse w
 where w.project_id = $1 and ($2::boolean is null or w.active = $2) and ($3 or w.warehouse_id = any($4::uuid[]))
 order by w.name_key
"""


class PostgresServer:
    """`ServerStore` on Postgres."""

    def __init__(self, pool: Pool) -> None:
        """Read through `pool`."""
        self._pool = pool

    async def server(self) -> Server:
        """See `ServerStore`."""
        row = await self._pool.fetchrow(SERVER)
        if row is None:
            raise Refusal(
                Reason.REASON_INTERNAL,
                "the catalog's schema has no server row; run `lakeward migrate`",
                error_id="no-server",
            )
        return Server(server_id=row[0], bootstrapped=row[1])

    async def project(self, project_id: ProjectId) -> Project | None:
        """See `ServerStore`."""
        row = await self._pool.fetchrow(FIND_PROJECT, searchable(project_id))
        return None if row is None else project_of(row)

    async def projects(self) -> Sequence[Project]:
        """See `ServerStore`."""
        return [project_of(row) for row in await self._pool.fetch(LIST_PROJECTS)]


class PostgresWarehouses:
    """`WarehouseStore` on Postgres."""

    def __init__(self, pool: Pool, containers: Containers, *, listings: Pool | None = None) -> None:
        """Read through `pool`, which leads to the primary, and keep single ones that were read in `containers`.

        Lists are read through `listings`, which may lag behind; None: `pool`.
        """
        self._pool: Final = pool
        self._listings: Final = listings or pool
        self._containers: Final = containers

    async def find(self, warehouse_id: WarehouseId) -> Warehouse | None:
        """See `WarehouseStore`."""
        row = await self._pool.fetchrow(FIND, warehouse_id)
        if row is None:
            return None
        warehouse = warehouse_of(row)
        self._containers.keep(warehouse)
        return warehouse

    def remembered(self, warehouse_id: WarehouseId, row_version: int) -> Warehouse | None:
        """See `WarehouseStore`."""
        return self._containers.remembered(warehouse_id, row_version)

    async def find_by_name(self, project_id: ProjectId, name: str) -> Warehouse | None:
        """See `WarehouseStore`."""
        row = await self._pool.fetchrow(FIND_BY_NAME, searchable(project_id), searchable(name_key(name)))
        return None if row is None else warehouse_of(row)

    async def list(self, project_id: ProjectId, *, active: bool | None, visible: Visibility) -> Sequence[Warehouse]:
        """See `WarehouseStore`."""
        shown = list(visible.containers | visible.objects)
        rows = await self._listings.fetch(LIST, searchable(project_id), active, visible.everything, shown)
        return [warehouse_of(row) for row in rows]
