"""Changing tags, and what they are set on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg

from lakeward_catalog.adapters.postgres.growth import Growth
from lakeward_catalog.adapters.postgres.tags import DEFINITION, definition_of
from lakeward_catalog.domain.model import Incarnation, ProjectId, WarehouseId
from lakeward_catalog.domain.names import name_key
from lakeward_catalog.domain.tags import (
    AppliedTag,
    TagDefinition,
    TagId,
    TagPlace,
    TagScope,
    no_such_tag_name,
    no_such_target,
    tag_exists,
    tag_in_use,
)
from lakeward_catalog.domain.wording import no_such_project
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.postgres.pools import Connection

# Not for update: it may be set on things meanwhile, whose foreign key needs the row to stay.
LOCK: Final = f"""
select {DEFINITION} from tag_definition d where d.project_id = $1 and d.tag_id = $2 for no key update
"""
INSERT: Final = """
insert into tag_definition (project_id, tag_id, name, name_key, description, scopes, value_kind, allowed_values, created_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""
UPDATE: Final = """
update tag_definition set name = $3, name_key = $4, description = $5, scopes = $6, allowed_values = $7, updated_at = $8
 where project_id = $1 and tag_id = $2
"""
DELETE: Final = "delete from tag_definition where project_id = $1 and tag_id = $2"
# Of two who set one tag on one thing the second waits, and finds what the first one set.
PUT: Final = """
insert into tag_attachment as a (warehouse_id, attachment_id, project_id, tag_id, scope, namespace_id, incarnation, field_id,
       value, created_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    on conflict (warehouse_id, incarnation, namespace_id, field_id, tag_id) do update
       set value = excluded.value, updated_at = excluded.created_at where a.value is distinct from excluded.value
returning a.created_at, a.updated_at
"""
# By what it is on, since null equals nothing that an index could be searched for.
_ON_TABULAR: Final = "incarnation = $3 and field_id is null"
_ON: Final[Mapping[TagScope, str]] = {
    **dict.fromkeys(TagScope, _ON_TABULAR),
    TagScope.WAREHOUSE: "incarnation is null and namespace_id is null",
    TagScope.NAMESPACE: "incarnation is null and namespace_id = $3",
    TagScope.COLUMN: "incarnation = $3 and field_id = $4",
}
SET_ALREADY: Final[Mapping[TagScope, str]] = {
    scope: f"select created_at, updated_at from tag_attachment where warehouse_id = $1 and tag_id = $2 and {on_it}"
    for scope, on_it in _ON.items()
}
REMOVE: Final[Mapping[TagScope, str]] = {
    scope: f"delete from tag_attachment where warehouse_id = $1 and tag_id = $2 and {on_it} returning attachment_id"
    for scope, on_it in _ON.items()
}
LEAVE_COLUMNS: Final = """
delete from tag_attachment where warehouse_id = $1 and incarnation = $2 and field_id = any($3::integer[])
"""


class PostgresTagChanges:
    """`TagChanges` on a connection in a transaction."""

    def __init__(self, connection: Connection, growth: Growth) -> None:
        """Change through `connection`, whose transaction someone else ends; `growth` takes what authz is told."""
        self._connection: Final = connection
        self._growth: Final = growth

    async def insert(self, definition: TagDefinition, *, owner: Principal) -> None:
        """See `TagChanges`."""
        try:
            await self._connection.execute(
                INSERT,
                definition.project_id,
                definition.tag_id,
                definition.name,
                name_key(definition.name),
                definition.description,
                [scope.value for scope in definition.scopes],
                definition.value_kind.value,
                list(definition.allowed_values),
                definition.created_at,
            )
        except asyncpg.UniqueViolationError as taken:
            raise _taken(taken, definition.name) from None
        except asyncpg.ForeignKeyViolationError:
            raise no_such_project(definition.project_id) from None
        self._growth.tag_made(definition, owner=owner)

    async def lock(self, project_id: ProjectId, tag_id: TagId) -> TagDefinition | None:
        """See `TagChanges`."""
        row = await self._connection.fetchrow(LOCK, project_id, tag_id)
        return None if row is None else definition_of(row)

    async def update(self, definition: TagDefinition) -> None:
        """See `TagChanges`."""
        try:
            await self._connection.execute(
                UPDATE,
                definition.project_id,
                definition.tag_id,
                definition.name,
                name_key(definition.name),
                definition.description,
                [scope.value for scope in definition.scopes],
                list(definition.allowed_values),
                definition.updated_at,
            )
        except asyncpg.UniqueViolationError as taken:
            raise _taken(taken, definition.name) from None

    async def delete(self, definition: TagDefinition) -> None:
        """See `TagChanges`."""
        try:
            await self._connection.execute(DELETE, definition.project_id, definition.tag_id)
        except asyncpg.ForeignKeyViolationError:
            raise tag_in_use(definition.tag_id) from None
        self._growth.tag_gone(definition)

    async def put(
        self, place: TagPlace, definition: TagDefinition, value: str | None, *, attachment_id: UUID, at: datetime
    ) -> tuple[AppliedTag, bool]:
        """See `TagChanges`."""
        try:
            row = await self._connection.fetchrow(
                PUT,
                place.warehouse_id,
                attachment_id,
                definition.project_id,
                definition.tag_id,
                place.scope.value,
                place.namespace_id,
                place.incarnation,
                place.field_id,
                value,
                at,
            )
        except asyncpg.ForeignKeyViolationError as gone:
            if gone.constraint_name == "tag_attachment_tag_definition_fkey":
                raise no_such_tag_name(definition.name) from None
            raise no_such_target(place.scope, place.namespace_id or place.incarnation or place.warehouse_id) from None
        changed = row is not None
        if row is None:
            row = await self._connection.fetchrow(SET_ALREADY[place.scope], *_key(place, definition.tag_id))
            assert row is not None, "what was there is held by this transaction"
        return AppliedTag(definition.tag_id, definition.name, value, row[0], row[1]), changed

    async def remove(self, place: TagPlace, tag_id: TagId) -> bool:
        """See `TagChanges`."""
        return await self._connection.fetchval(REMOVE[place.scope], *_key(place, tag_id)) is not None

    async def leave_columns(
        self, warehouse_id: WarehouseId, incarnation: Incarnation, field_ids: Collection[int]
    ) -> None:
        """See `TagChanges`."""
        await self._connection.execute(LEAVE_COLUMNS, warehouse_id, incarnation, list(field_ids))


def _key(place: TagPlace, tag_id: TagId) -> tuple[object, ...]:
    """The parameters of a place and a tag."""
    on_it = (place.namespace_id or place.incarnation, place.field_id)
    return place.warehouse_id, tag_id, *(each for each in on_it if each is not None)


def _taken(violation: asyncpg.UniqueViolationError, name: str) -> Exception:
    return tag_exists(name) if violation.constraint_name == "tag_definition_name" else violation
