"""What there is in the tree of objects, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from lakeward_authz.application.tree import Place, Standing
from lakeward_authz.domain.permissions.objects import ObjectKey
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.postgres.pools import Pool

# Jumps from place to place, however much is in each.
_PLACES: Final = """
with recursive place(project_id, warehouse_id, number) as (
    (select project_id, warehouse_id, 1 from objects
      where (project_id, warehouse_id) > ($1, $2) order by project_id, warehouse_id limit 1)
    union all
    select next.project_id, next.warehouse_id, place.number + 1
      from place cross join lateral (
           select o.project_id, o.warehouse_id from objects o
            where (o.project_id, o.warehouse_id) > (place.project_id, place.warehouse_id)
            order by o.project_id, o.warehouse_id limit 1) next
     where place.number < $3)
select project_id, warehouse_id from place
"""
_OBJECTS: Final = """
select kind, object_id, parent_id, inactive from objects
 where project_id = $1 and warehouse_id = $2 and (kind, object_id) > ($3, $4)
 order by kind, object_id limit $5
"""
_SOME: Final = """
select kind, object_id, parent_id, inactive from objects
 where project_id = $1 and warehouse_id = $2 and (kind, object_id) > ($3, $4) and kind = any($6::text[])
   and object_id = any($7::uuid[])
 order by kind, object_id limit $5
"""
_KINDS: Final = [kind.word for kind in ObjectKind]
_START: Final = ObjectKey("")


class PostgresTreeListing:
    """The `TreeListing` in Postgres."""

    def __init__(self, pool: Pool) -> None:
        """Read through `pool`."""
        self._pool = pool

    async def places(self, *, after: Place | None, limit: int) -> Sequence[Place]:
        """See `TreeListing`."""
        last = after or Place("")
        rows = await self._pool.fetch(_PLACES, last.project_id, last.warehouse_id, limit)
        return [Place(project_id, warehouse_id) for project_id, warehouse_id in rows]

    async def objects(
        self, place: Place, *, after: ObjectKey | None, limit: int, ids: Sequence[UUID] = ()
    ) -> Sequence[Standing]:
        """See `TreeListing`."""
        last = after or _START
        asked = (place.project_id, place.warehouse_id, last.type, last.id, limit)
        rows = await (self._pool.fetch(_SOME, *asked, _KINDS, ids) if ids else self._pool.fetch(_OBJECTS, *asked))
        return [
            Standing(ObjectKey(kind, place.project_id, place.warehouse_id, object_id), parent_id, inactive)
            for kind, object_id, parent_id, inactive in rows
        ]
