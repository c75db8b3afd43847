"""Authz's tree beside the catalog's rows, both read straight from the tables, so that nothing that is tested says so itself."""

from __future__ import annotations

from typing import Final

from lakeward_servicekit.postgres.pools import Connection, Pool

_ROWS: Final = """
    select project_id, '00000000-0000-0000-0000-000000000000'::uuid as warehouse_id, 'project' as kind,
           '00000000-0000-0000-0000-000000000000'::uuid as object_id, null::uuid as parent_id, null::uuid as public_id
      from lakeward_catalog.project
    union all
    select project_id, warehouse_id, 'warehouse', '00000000-0000-0000-0000-000000000000', null, null
      from lakeward_catalog.warehouse
    union all
    select w.project_id, w.warehouse_id, 'namespace', n.namespace_id, n.parent_id, null
      from lakeward_catalog.namespace n join lakeward_catalog.warehouse w using (warehouse_id)
    union all
    select w.project_id, w.warehouse_id, t.kind, t.incarnation, t.namespace_id, t.tabular_id
      from lakeward_catalog.tabular t join lakeward_catalog.warehouse w using (warehouse_id)
    union all
    select project_id, '00000000-0000-0000-0000-000000000000', 'tag', tag_id, null, null from lakeward_catalog.tag_definition
"""
_TREE: Final = """
    select project_id, warehouse_id, kind, object_id, parent_id, public_id
      from lakeward_authz.objects where kind in ('project', 'warehouse', 'namespace', 'table', 'view', 'generic_table', 'tag')
"""
_DIFFERENCES: Final = f"""
with rows as ({_ROWS}), tree as ({_TREE})
select 'missing in authz' as what, kind, warehouse_id, object_id from (select * from rows except select * from tree) missing
union all
select 'too much in authz', kind, warehouse_id, object_id from (select * from tree except select * from rows) extra
"""
# Above each object stand its namespaces, outermost first: what hangs below must have been moved along.
_ASTRAY: Final = """
select o.kind, o.object_id from lakeward_authz.objects o
  left join lakeward_authz.objects p
    on p.project_id = o.project_id and p.warehouse_id = o.warehouse_id and p.kind = 'namespace' and p.object_id = o.parent_id
 where o.parent_id is not null and o.path is distinct from p.path || o.parent_id
"""


async def differences(database: Pool | Connection) -> list[str]:
    """How authz's tree differs from what the catalog has; both schemas are in one database."""
    found = [f"{what}: {kind} {warehouse}/{id_}" for what, kind, warehouse, id_ in await database.fetch(_DIFFERENCES)]
    return sorted(found + [f"astray: {kind} {id_}" for kind, id_ in await database.fetch(_ASTRAY)])
