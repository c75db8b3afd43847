"""Objects by what people call them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from lakeward_authz.application.permissions import Named
from lakeward_authz.domain.permissions.objects import NIL, ObjectKey
from lakeward_servicekit.postgres.pools import Pool

# Each arm looks one up by an index of its own. What is named without its warehouse is found only where it is the one of that id.
# Looked up by an index that holds inactive warehouses alone; with an offset, so that no plan joins with it. A warehouse itself is
# there all the same: who may, makes it active again.
SERVED: Final = """
not exists (select from objects d where d.warehouse_id = {0}.warehouse_id and d.inactive and {0}.kind <> 'warehouse' offset 0)
"""
_O: Final = SERVED.format("o").strip()
_FIND: Final = f"""
select n.n, found.project_id, found.warehouse_id, found.object_id
  from unnest($1::text[], $2::text[], $3::uuid[], $4::uuid[]) with ordinality as n(kind, project_id, warehouse_id, id, n),
       lateral (
         (select o.project_id, o.warehouse_id, o.object_id from objects o
           where n.kind = 'project' and o.kind = 'project' and o.project_id = n.project_id
             and o.warehouse_id = '{NIL}' and o.object_id = '{NIL}')
         union all
         (select o.project_id, o.warehouse_id, o.object_id from objects o
           where n.kind = 'warehouse' and o.kind = 'warehouse' and o.warehouse_id = n.warehouse_id)
         union all
         (select o.project_id, o.warehouse_id, o.object_id from objects o
           where o.kind = n.kind and o.warehouse_id = n.warehouse_id and o.public_id = n.id and {_O})
         union all
         (select o.project_id, o.warehouse_id, o.object_id
            from objects w join objects o on o.warehouse_id = w.warehouse_id and o.kind = n.kind and o.public_id = n.id
           where n.warehouse_id is null and n.id is not null and w.kind = 'warehouse' and {_O} limit 2)
         union all
         (select o.project_id, o.warehouse_id, o.object_id from objects o
           where o.kind = n.kind and o.public_id is null and o.object_id <> '{NIL}' and o.object_id = n.id
             and (n.warehouse_id is null or o.warehouse_id = n.warehouse_id) and {_O} limit 2)) as found
 where n.project_id = '' or found.project_id = n.project_id
"""


class PostgresNames:
    """The `ObjectNames` on authz's rows.

    Args:
        pool: of authz's schema, on the primary.
    """

    def __init__(self, pool: Pool) -> None:
        """Read through `pool`."""
        self._pool = pool

    async def find(self, named: Sequence[Named]) -> Sequence[ObjectKey | None]:
        """See `ObjectNames`."""
        found: list[ObjectKey | None] = [ObjectKey("server") if each.type == "server" else None for each in named]
        if all(found):
            return found
        rows = await self._pool.fetch(
            _FIND,
            [each.type for each in named],
            [each.project_id for each in named],
            [each.warehouse_id for each in named],
            [each.id for each in named],
        )
        times = Counter(row["n"] for row in rows)
        for number, project_id, warehouse_id, object_id in rows:
            if times[number] == 1:
                place = number - 1
                found[place] = ObjectKey(named[place].type, project_id, warehouse_id, object_id)
        return found
