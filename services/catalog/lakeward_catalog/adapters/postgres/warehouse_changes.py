"""Changing warehouses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import asyncpg

from lakeward_catalog.adapters.postgres.growth import Growth
from lakeward_catalog.adapters.postgres.places import LOCK_EXCLUSIVE, storage_lock
from lakeward_catalog.adapters.postgres.rows import WAREHOUSE, encode_mapping, warehouse_of
from lakeward_catalog.domain.contracts.contract import encoded
from lakeward_catalog.domain.model import ProjectId, Warehouse, WarehouseId
from lakeward_catalog.domain.names import name_key
from lakeward_catalog.domain.wording import no_such_project
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.pools import Connection
from lakeward_servicekit.system import Clock

AT_PLACE: Final = f"select {WAREHOUSE} from warehouse w where w.place = $1 order by w.warehouse_id"
# Not for update: namespaces may be made meanwhile, whose foreign key needs the row to stay.
LOCK: Final = f"select {WAREHOUSE} from warehouse w where w.warehouse_id = $1 for no key update"
INSERT: Final = """
insert into warehouse (warehouse_id, project_id, name, name_key, active, storage_profile, secret_id, credential_kind,
       base_location, place, layout, schemes, client_defaults, push_delete_disabled, signs_remotely, tells_case,
       restorable_for, allowed_format_versions, default_format_version, protected, managed_by, contracts, row_version,
       created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)
"""
# A secret that the row names no longer is remembered in the same statement, until vending has forgotten it.
UPDATE: Final = f"""
with before as materialized (
    select active from warehouse where warehouse_id = $1),
unnamed as (
    insert into unnamed_secret (secret_id, unnamed_at)
    select w.secret_id, $23 from warehouse w
     where w.warehouse_id = $1 and w.row_version = $2 and w.secret_id is distinct from $7 and w.secret_id is not null
        on conflict (secret_id) do nothing)
update warehouse w
   set name = $3, name_key = $4, active = $5, storage_profile = $6, secret_id = $7, credential_kind = $8, base_location = $9,
       place = $10, layout = $11, schemes = $12, client_defaults = $13, push_delete_disabled = $14, signs_remotely = $15,
       tells_case = $16, restorable_for = $17, allowed_format_versions = $18, default_format_version = $19, protected = $20,
       managed_by = $21, contracts = $22, row_version = w.row_version + 1, updated_at = $23
 where w.warehouse_id = $1 and w.row_version = $2
returning {WAREHOUSE}, (select active from before) as was_active
"""
# What failed for good keeps no warehouse; what waits or runs does, by its foreign key.
FORGET_FAILED_TASKS: Final = "delete from task where warehouse_id = $1 and state = 'failed'"
DELETE: Final = """
with gone as (
    delete from warehouse where warehouse_id = $1 returning project_id, secret_id),
unnamed as (
    insert into unnamed_secret (secret_id, unnamed_at)
    select secret_id, $2 from gone where secret_id is not null
        on conflict (secret_id) do nothing)
select project_id from gone
"""


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
                *_columns(warehouse),
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

    async def update(self, warehouse: Warehouse) -> Warehouse:
        """See `WarehouseChanges`."""
        key = (warehouse.warehouse_id, warehouse.row_version)
        try:
            row = await self._connection.fetchrow(UPDATE, *key, *_columns(warehouse), self._clock.now())
        except asyncpg.UniqueViolationError as taken:
            raise _named_twice(taken, warehouse.name) from None
        if row is None:
            raise Refusal(
                Reason.REASON_CONCURRENT_CHANGE,
                f"warehouse {warehouse.name!r} was changed meanwhile; read it again and retry",
                object=f"warehouse {warehouse.name}",
            )
        *columns, was_active = row
        updated = warehouse_of(columns)
        if updated.active != was_active:
            self._growth.warehouse_switched(updated)
        self._updated.append(updated)
        return updated

    async def delete(self, warehouse_id: WarehouseId) -> None:
        """See `WarehouseChanges`."""
        await self._connection.execute(FORGET_FAILED_TASKS, warehouse_id)
        try:
            project_id = await self._connection.fetchval(DELETE, warehouse_id, self._clock.now())
        except asyncpg.ForeignKeyViolationError:
            shown = str(warehouse_id)
            raise Refusal(
                Reason.REASON_WAREHOUSE_NOT_EMPTY,
                f"warehouse {shown!r} has namespaces, or tasks that have not ended; remove them first",
                warehouse=shown,
            ) from None
        if project_id is not None:
            self._growth.warehouse_gone(warehouse_id, ProjectId(project_id))


def _columns(warehouse: Warehouse) -> tuple[object, ...]:
    """What can change of a warehouse, in the order of the statements."""
    storage = warehouse.storage
    return (
        warehouse.name,
        name_key(warehouse.name),
        warehouse.active,
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
        warehouse.restorable_for,
        warehouse.allowed_format_versions,
        warehouse.default_format_version,
        warehouse.protected,
        warehouse.managed_by.value,
        encoded(warehouse.contracts).decode() if warehouse.contracts else None,
    )


def _named_twice(violation: asyncpg.UniqueViolationError, name: str) -> Exception:
    if violation.constraint_name != "warehouse_name":
        return violation
    return Refusal(
        Reason.REASON_WAREHOUSE_EXISTS,
        f"the project has a warehouse {name!r} already; names compare without case",
        warehouse=name,
    )
