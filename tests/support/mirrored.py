"""A warehouse as Postgres has it, and as a consumer of its events has it, in one form to compare."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from lakeward.events import Mirror
from lakeward_servicekit.postgres.pools import Pool

_WAREHOUSE = "select name, active, protected from warehouse where warehouse_id = $1"
_NAMESPACES = "select namespace_id, path, properties, protected from namespace where warehouse_id = $1"
_TABULARS = """
select t.incarnation, t.tabular_id, t.kind, t.state, n.path, t.name, t.metadata_location, t.protected
  from tabular t join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
 where t.warehouse_id = $1 and t.state <> 'staged'
"""
_TAGS = """
select a.scope, coalesce(a.namespace_id, t.tabular_id, a.warehouse_id), a.tag_id, a.value
  from tag_attachment a left join tabular t on t.warehouse_id = a.warehouse_id and t.incarnation = a.incarnation
 where a.warehouse_id = $1 and a.field_id is null
"""


async def stored(pool: Pool, stream: str) -> dict[str, Any]:
    """What Postgres has of a warehouse."""
    of = UUID(stream)
    return {
        "warehouse": [tuple(row) for row in await pool.fetch(_WAREHOUSE, of)],
        "namespaces": {
            str(row[0]): (tuple(row[1]), json.loads(row[2]), row[3]) for row in await pool.fetch(_NAMESPACES, of)
        },
        "tabulars": {
            str(row[0]): (str(row[1]), row[2].replace("_", "-"), row[3] == "dropped", (*row[4], row[5]), *row[6:])
            for row in await pool.fetch(_TABULARS, of)
        },
        "tags": {(row[0], str(row[1]), str(row[2])): row[3] for row in await pool.fetch(_TAGS, of)},
    }


def mirrored(mirror: Mirror) -> dict[str, Any]:
    """What a consumer has of it."""
    warehouse = mirror.warehouse
    return {
        "warehouse": [] if warehouse is None else [tuple(warehouse[each] for each in ("name", "active", "protected"))],
        "namespaces": {
            each.id: (tuple(each.path), dict(each.properties), each.protected) for each in mirror.namespaces.values()
        },
        "tabulars": {
            incarnation: (
                each.tabular.id,
                each.tabular.type,
                each.dropped,
                tuple(mirror.path(each)),
                each.tabular.metadata_location,
                each.tabular.protected,
            )
            for incarnation, each in mirror.tabulars.items()
            if not each.tabular.staged
        },
        "tags": {(kind, of, tag): value for (kind, of, _, tag), value in mirror.tags.items()},
    }
