"""Reading the installation, projects and warehouses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lakeward_catalog.adapters.postgres.containers import Containers
from lakeward_catalog.adapters.postgres.locating import Locating
from lakeward_catalog.adapters.postgres.rows import PROJECT, WAREHOUSE, project_of, searchable, warehouse_of
from lakeward_catalog.application.ports.stores import Visibility
from lakeward_catalog.domain.model import Project, ProjectId, Server, Warehouse, WarehouseId
from lakeward_catalog.domain.names import name_key
from lakeward_servicekit.coalescing import Coalescer
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.pools import Pool

SERVER: Final = "select server_id, installation_id, bootstrapped from server"
FIND_PROJECT: Final = f"select {PROJECT} from project p where p.project_id = $1"
LIST_PROJECTS: Final = f"select {PROJECT} from project p"
SHOWN_PROJECTS: Final = f"select {PROJECT} from project p where p.project_id = any($1::text[])"
NAMED: Final = """
select k.n, w.warehouse_id, w.row_version
  from unnest($1::text[], $2::text[]) with ordinality as k(project_id, name_key, n)
  join warehouse w on w.project_id = k.project_id and w.name_key = k.name_key
"""
FIND_BY_NAME: Final = f"select {WAREHOUSE} from warehouse w where w.project_id = $1 and w.name_key = $2"
LIST: Final = f"""
select {WAREHOUSE} from warehouse w
 where w.project_id = $1 and ($2::boolean is null or w.active = $2) and ($3 or w.warehouse_id = any($4::uuid[]))
   and ($5::text is null or w.name_key > $5)
 order by w.name_key limit $6
"""

_MOST_NAMES: Final = 128


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
        return Server(server_id=row[0], installation_id=row[1], bootstrapped=row[2])

    async def project(self, project_id: ProjectId) -> Project | None:
        """See `ServerStore`."""
        row = await self._pool.fetchrow(FIND_PROJECT, searchable(project_id))
        return None if row is None else project_of(row)

    async def projects(self, visible: Visibility) -> Sequence[Project]:
        """See `ServerStore`."""
        shown = () if visible.everything else ([*visible.projects],)
        rows = await self._pool.fetch(LIST_PROJECTS if visible.everything else SHOWN_PROJECTS, *shown)
        return [project_of(row) for row in rows]


class PostgresWarehouses:
    """`WarehouseStore` on Postgres. Concurrent looks for single ones share statements."""

    def __init__(self, pool: Pool, locating: Locating, containers: Containers, *, listings: Pool | None = None) -> None:
        """Read through `pool` and `locating`, which lead to the primary, and keep single ones in `containers`.

        Args:
            pool: best one whose sessions plan once; see `with_generic_plans`.
            locating: point reads by id.
            containers: rows by version.
            listings: lists are read here, and may lag behind; None: `pool`.
        """
        self._pool: Final = pool
        self._listings: Final = listings or pool
        self._locating: Final = locating
        self._containers: Final = containers
        # Clients that start ask for few warehouses: of more statements at a time each would be shared by fewer.
        self._named: Final[Coalescer[tuple[str, str], Warehouse | None]] = Coalescer(
            self._find_named, max_items=_MOST_NAMES, alike=True
        )

    async def find(self, warehouse_id: WarehouseId) -> Warehouse | None:
        """See `WarehouseStore`."""
        return await self._locating.warehouse(warehouse_id)

    def remembered(self, warehouse_id: WarehouseId, row_version: int) -> Warehouse | None:
        """See `WarehouseStore`."""
        return self._containers.remembered(warehouse_id, row_version)

    async def find_by_name(self, project_id: ProjectId, name: str) -> Warehouse | None:
        """See `WarehouseStore`."""
        return await self._named((searchable(project_id), searchable(name_key(name))))

    async def _find_named(self, names: Sequence[tuple[str, str]]) -> Sequence[Warehouse | None]:
        """What has each name, in their order; one statement where this version of it is kept."""
        found: list[Warehouse | None] = [None] * len(names)
        projects, keys = zip(*names, strict=True)
        for number, warehouse_id, row_version in await self._pool.fetch(NAMED, projects, keys):
            index = number - 1
            # a version that is new is read by the name again: it may be another's by now
            found[index] = self._containers.warehouse(warehouse_id, row_version) or await self._read_named(names[index])
        return found

    async def _read_named(self, name: tuple[str, str]) -> Warehouse | None:
        row = await self._pool.fetchrow(FIND_BY_NAME, *name)
        if row is None:
            return None
        warehouse = warehouse_of(row)
        self._containers.keep(warehouse)
        return warehouse

    async def list(
        self,
        project_id: ProjectId,
        *,
        active: bool | None,
        visible: Visibility,
        after: str | None = None,
        limit: int | None = None,
    ) -> Sequence[Warehouse]:
        """See `WarehouseStore`."""
        shown = list(visible.containers | visible.objects)
        wanted = (searchable(project_id), active, visible.everything, shown, after, limit)
        rows = await self._listings.fetch(LIST, *wanted)
        return [warehouse_of(row) for row in rows]
