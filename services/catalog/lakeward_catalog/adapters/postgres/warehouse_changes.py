"""Changing warehouses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import asyncpg

from lakeward_catalog.adapters.postgres.growth import Growth
from lakeward_catalog.adapters.postgres.places import LOCK_EXCLUSIVE, storage_lock
from lakeward_catalog.adapters.postgres.rows import WAREHOUSE, encode_mapping, warehouse_of
from lakeward_catalog.application.ports.system import Clock
from lakeward_catalog.domain.model import ProjectId, Storage, Warehouse, WarehouseId
from lakeward_catalog.domain.names import name_key
from lakeward_catalog.domain.wording import no_such_project
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.pools import Connection

AT_PLACE: Final = f"select {WAREHOUSE} from warehouse w where w.place = $1 order by w.warehouse_id"
# Not for update: namespaces may be made meanwhile, whose foreign key needs the row to stay.
LOCK: Final = f"select {WAREHOUSE} from warehouse w where w.warehouse_id = $1 for no key update"
INSERT: Final = """
insert into warehouse (warehouse_id, project_id, name, name_key, active, storage_profile, secret_id, credential_kind,
       base_location, place, layout, schemes, client_defaults, push_delete_disabled, signs_remotely, tells_case,
       restorable_for, allowed_format_versions, default_format_version, protected, row_version, created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
"""
UPDATE: Final = f"""
update warehouse w
   set name = coalesce($3, w.name), name_key = coalesce($4, w.name_key), active = coalesce($5, w.active),
       protected = coalesce($7, w.protected), row_version = w.row_version + 1, updated_at = $6
 where w.warehouse_id = $1 and w.row_version = $2
returning {WAREHOUSE}
"""
UPDATE_STORAGE: Final = """
update warehouse w
   set storage_profile = $2, secret_id = $3, credential_kind = $4, base_location = $5, place = $6, layout = $7, schemes = $8,
       client_defaults = $9, push_delete_disabled = $10, signs_remotely = $11, tells_case = $12
 where w.warehouse_id = $1
"""
# What failed for good keeps no warehouse; what waits or runs does, by its foreign key.
FORGET_FAILED_TASKS: Final = "delete from task where warehouse_id = $1 and state = 'failed'"
DELETE: Final = "delete from warehouse where warehouse_id = $1 returning project_id"


class PostgresWarehouseChanges:
    """`WarehouseChanges` on a connection in a transaction."""

    def __init__(self, connection: Connection, growth: Growth, *, clock: Clock, updated: list[Warehouse]) -> None:
        """Change through `connection`, whose transaction someone else ends.

        Args:
            connection: in a transaction.
            growth: takes what authz is told.
            clock: says when a row was changed.
            updated: takes each warehouse that was updated, as it will be once the transaction has ended.
        """
        self._connection: Final = connection
        self._growth: Final = growth
        self._clock: Final = clock
        self._updated: Final = updated

    async def lock_place(self, place: str) -> None:
        """See `WarehouseChanges`."""
        await self._connection.execute(LOCK_EXCLUSIVE, storage_lock(place))

    async def at(self, place: str) -> Sequence[Warehouse]:
        """See `WarehouseChanges`."""
        return [warehouse_of(row) for row in await self._connection.fetch(AT_PLACE, place)]

    async def insert(self, warehouse: Warehouse, *, owner: Principal) -> None:
        """See `WarehouseChanges`."""
        try:
            await self._connection.execute(
                INSERT,
                warehouse.warehouse_id,
                warehouse.project_id,
                warehouse.name,
                name_key(warehouse.name),
                warehouse.active,
                *_columns(warehouse.storage),
                warehouse.restorable_for,
                warehouse.allowed_format_versions,
                warehouse.default_format_version,
                warehouse.protected,
                warehouse.row_version,
                warehouse.created_at,
                warehouse.updated_at,
            )
        except asyncpg.ForeignKeyViolationError:
            raise no_such_project(warehouse.project_id) from None
        except asyncpg.UniqueViolationError as taken:
            raise _named_twice(taken, warehouse.name) from None
        self._growth.warehouse_made(warehouse, owner=owner)

    async def lock(self, warehouse_id: WarehouseId) -> Warehouse | None:
        """See `WarehouseChanges`."""
        row = await self._connection.fetchrow(LOCK, warehouse_id)
        return None if row is None else warehouse_of(row)

    async def update(
        self,
        warehouse: Warehouse,
        *,
        name: str | None = None,
        active: bool | None = None,
        protected: bool | None = None,
        storage: Storage | None = None,
    ) -> Warehouse:
        """See `WarehouseChanges`."""
        if storage is not None:
            await self._connection.execute(UPDATE_STORAGE, warehouse.warehouse_id, *_columns(storage))
        key = None if name is None else name_key(name)
        try:
            row = await self._connection.fetchrow(
                UPDATE, warehouse.warehouse_id, warehouse.row_version, name, key, active, self._clock.now(), protected
            )
        except asyncpg.UniqueViolationError as taken:
            raise _named_twice(taken, name or warehouse.name) from None
        if row is None:
            raise Refusal(
                Reason.REASON_CONCURRENT_CHANGE,
                f"warehouse {warehouse.name!r} was changed meanwhile; read it again and retry",
                object=f"warehouse {warehouse.name}",
            )
        updated = warehouse_of(row)
        self._updated.append(updated)
        return updated

    async def delete(self, warehouse_id: WarehouseId) -> None:
        """See `WarehouseChanges`."""
        await self._connection.execute(FORGET_FAILED_TASKS, warehouse_id)
        try:
            project_id = await self._connection.fetchval(DELETE, warehouse_id)
        except asyncpg.ForeignKeyViolationError:
            shown = str(warehouse_id)
            raise Refusal(
                Reason.REASON_WAREHOUSE_NOT_EMPTY,
                f"warehouse {shown!r} has namespaces, or tasks that have not ended; remove them first",
                warehouse=shown,
            ) from None
        if project_id is not None:
            self._growth.warehouse_gone(warehouse_id, ProjectId(project_id))


def _columns(storage: Storage) -> tuple[object, ...]:
    return (
        storage.profile.decode(),
        storage.secret_id,
        storage.credential_kind,
        storage.base_location,
        storage.place,
        storage.layout.decode(),
        storage.schemes,
        encode_mapping(storage.client_defaults),
        storage.push_delete_disabled,
        storage.signs_remotely,
        storage.tells_case,
    )


def _named_twice(violation: asyncpg.UniqueViolationError, name: str) -> Exception:
    if violation.constraint_name != "warehouse_name":
        return violation
    return Refusal(
        Reason.REASON_WAREHOUSE_EXISTS,
        f"the project has a warehouse {name!r} already; names compare without case",
        warehouse=name,
    )
