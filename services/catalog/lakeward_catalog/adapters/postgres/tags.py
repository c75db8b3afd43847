"""Reading tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from lakeward_catalog.adapters.postgres.pages import place_of
from lakeward_catalog.adapters.postgres.rows import searchable
from lakeward_catalog.application.ports.stores import After
from lakeward_catalog.application.ports.tags import AttachmentFilter
from lakeward_catalog.domain.model import Incarnation, NamespaceId, ProjectId, WarehouseId
from lakeward_catalog.domain.names import name_key
from lakeward_catalog.domain.tags import (
    AppliedTag,
    TagAttachment,
    TagDefinition,
    TaggedObject,
    TagId,
    TagPlace,
    TagScope,
    ValueKind,
)
from lakeward_servicekit.postgres.pools import Pool

DEFINITION: Final = (
    "d.project_id, d.tag_id, d.name, d.description, d.scopes, d.value_kind, d.allowed_values, d.created_at, "
    "d.updated_at"
)
FIND: Final = f"select {DEFINITION} from tag_definition d where d.project_id = $1 and d.tag_id = $2"
FIND_BY_NAME: Final = f"select {DEFINITION} from tag_definition d where d.project_id = $1 and d.name_key = $2"
LIST: Final = f"""
select {DEFINITION} from tag_definition d
 where d.project_id = $1 and (d.created_at, d.tag_id) > ($2, $3)
 order by d.created_at, d.tag_id limit $4
"""
ATTACHMENTS: Final = """
select a.attachment_id, a.scope, a.warehouse_id, coalesce(a.namespace_id, t.tabular_id), a.field_id, a.value, a.created_at,
       a.updated_at
  from tag_attachment a left join tabular t on t.warehouse_id = a.warehouse_id and t.incarnation = a.incarnation
 where a.project_id = $1 and a.tag_id = $2 and (a.created_at, a.attachment_id) > ($3, $4)
   and ($6::text is null or a.value = $6) and ($7::text is null or a.scope = $7)
   and ($8::timestamptz is null or a.created_at >= $8) and ($9::timestamptz is null or a.created_at <= $9)
   and ($10::uuid is null or a.warehouse_id = $10)
 order by a.created_at, a.attachment_id limit $5
"""
_APPLIED: Final = "d.tag_id, d.name, d.name_key, a.value, a.created_at, a.updated_at"
_DEFINED: Final = "join tag_definition d on d.project_id = a.project_id and d.tag_id = a.tag_id"


def _on(*conditions: str) -> str:
    """The tags of one object."""
    return f"""
select {_APPLIED} from tag_attachment a {_DEFINED}
 where a.warehouse_id = $1 and {" and ".join(conditions)} order by d.name_key
"""


_NO_TABULAR: Final = "a.incarnation is null"
ON_WAREHOUSE: Final = _on(_NO_TABULAR, "a.namespace_id is null")
ON_NAMESPACE: Final = _on(_NO_TABULAR, "a.namespace_id = $2")
ON_TABULAR: Final = _on("a.incarnation = $2", "a.field_id is null")
ON_COLUMN: Final = _on("a.incarnation = $2", "a.field_id = $3")
ON_COLUMNS: Final = f"""
select a.field_id, {_APPLIED} from tag_attachment a {_DEFINED}
 where a.warehouse_id = $1 and a.incarnation = $2 and a.field_id is not null order by a.field_id, d.name_key
"""
# Of each tag the nearest: the object's own, then those of the namespaces above it, and of the warehouse.
EFFECTIVE: Final = f"""
with recursive above(namespace_id, parent_id, distance) as (
    select n.namespace_id, n.parent_id, 1 from namespace n
     where n.warehouse_id = $1 and n.namespace_id = coalesce(
           $2::uuid, (select t.namespace_id from tabular t where t.warehouse_id = $1 and t.incarnation = $3))
    union all
    select n.namespace_id, n.parent_id, above.distance + 1
      from above join namespace n on n.warehouse_id = $1 and n.namespace_id = above.parent_id),
attached as (
    select a.project_id, a.tag_id, a.value, a.created_at, a.updated_at, a.scope, a.namespace_id, 0 as distance
      from tag_attachment a where a.warehouse_id = $1 and a.incarnation = $3 and a.field_id is null
    union all
    select a.project_id, a.tag_id, a.value, a.created_at, a.updated_at, a.scope, a.namespace_id, above.distance
      from above join tag_attachment a on a.warehouse_id = $1 and a.namespace_id = above.namespace_id
    union all
    select a.project_id, a.tag_id, a.value, a.created_at, a.updated_at, a.scope, a.namespace_id, 1000
      from tag_attachment a where a.warehouse_id = $1 and {_NO_TABULAR} and a.namespace_id is null)
select * from (
    select distinct on (a.tag_id) {_APPLIED}, a.scope, a.namespace_id from attached a {_DEFINED}
     order by a.tag_id, a.distance) nearest
 order by name_key
"""


# They inherit nothing: nothing is above the one, and what its table is called is not said of the other.
_HEIRLESS: Final = frozenset({TagScope.WAREHOUSE, TagScope.COLUMN})


class PostgresTags:
    """`TagStore` on Postgres."""

    def __init__(self, pool: Pool) -> None:
        """Read through `pool`, which leads to the primary."""
        self._pool: Final = pool

    async def find(self, project_id: ProjectId, tag_id: TagId) -> TagDefinition | None:
        """See `TagStore`."""
        row = await self._pool.fetchrow(FIND, project_id, tag_id)
        return None if row is None else definition_of(row)

    async def find_by_name(self, project_id: ProjectId, name: str) -> TagDefinition | None:
        """See `TagStore`."""
        row = await self._pool.fetchrow(FIND_BY_NAME, project_id, searchable(name_key(name)))
        return None if row is None else definition_of(row)

    async def list(self, project_id: ProjectId, *, after: After | None, limit: int) -> Sequence[TagDefinition]:
        """See `TagStore`."""
        return [definition_of(row) for row in await self._pool.fetch(LIST, project_id, *place_of(after), limit)]

    async def attachments(
        self, project_id: ProjectId, tag_id: TagId, which: AttachmentFilter, *, after: After | None, limit: int
    ) -> Sequence[TagAttachment]:
        """See `TagStore`."""
        value = which.value
        if value and not searchable(value):
            return ()  # what can't be stored is nobody's
        rows = await self._pool.fetch(
            ATTACHMENTS,
            project_id,
            tag_id,
            *place_of(after),
            limit,
            value,
            None if which.scope is None else which.scope.value,
            which.created_after,
            which.created_before,
            which.warehouse_id,
        )
        return [_attachment_of(row) for row in rows]

    async def on(self, place: TagPlace, *, effective: bool) -> Sequence[AppliedTag]:
        """See `TagStore`."""
        key = (place.warehouse_id, place.namespace_id, place.incarnation)
        if effective and place.scope not in _HEIRLESS:
            return [_nearest(place, row) for row in await self._pool.fetch(EFFECTIVE, *key)]
        match place.scope:
            case TagScope.WAREHOUSE:
                rows = await self._pool.fetch(ON_WAREHOUSE, place.warehouse_id)
            case TagScope.NAMESPACE:
                rows = await self._pool.fetch(ON_NAMESPACE, place.warehouse_id, place.namespace_id)
            case TagScope.COLUMN:
                rows = await self._pool.fetch(ON_COLUMN, place.warehouse_id, place.incarnation, place.field_id)
            case _:
                rows = await self._pool.fetch(ON_TABULAR, place.warehouse_id, place.incarnation)
        return [_applied_of(row) for row in rows]

    async def on_columns(
        self, warehouse_id: WarehouseId, incarnation: Incarnation
    ) -> Mapping[int, Sequence[AppliedTag]]:
        """See `TagStore`."""
        found: dict[int, list[AppliedTag]] = {}
        for field_id, *applied in await self._pool.fetch(ON_COLUMNS, warehouse_id, incarnation):
            found.setdefault(field_id, []).append(_applied_of(applied))
        return found


def definition_of(row: Iterable[Any]) -> TagDefinition:
    """From the columns of `DEFINITION`."""
    project_id, tag_id, name, description, scopes, value_kind, allowed_values, created_at, updated_at = row
    return TagDefinition(
        ProjectId(project_id),
        TagId(tag_id),
        name,
        description,
        tuple(map(TagScope, scopes)),
        ValueKind(value_kind),
        tuple(allowed_values),
        created_at,
        updated_at,
    )


def _applied_of(row: Iterable[Any], inherited_from: TaggedObject | None = None) -> AppliedTag:
    """From the columns of `_APPLIED`."""
    tag_id, name, _, value, created_at, updated_at = row
    return AppliedTag(TagId(tag_id), name, value, created_at, updated_at, inherited_from)


def _nearest(place: TagPlace, row: Iterable[Any]) -> AppliedTag:
    *applied, scope, namespace_id = row
    own = scope == place.scope.value and namespace_id == place.namespace_id
    above = None if own else TaggedObject(TagScope(scope), place.warehouse_id, _of_namespace(namespace_id))
    return _applied_of(applied, above)


def _of_namespace(namespace_id: UUID | None) -> NamespaceId | None:
    return None if namespace_id is None else NamespaceId(namespace_id)


def _attachment_of(row: Iterable[Any]) -> TagAttachment:
    """From the columns of `ATTACHMENTS`."""
    attachment_id, scope, warehouse_id, object_id, field_id, value, created_at, updated_at = row
    target = TaggedObject(TagScope(scope), WarehouseId(warehouse_id), object_id, field_id)
    return TagAttachment(attachment_id, target, value, created_at, updated_at)
