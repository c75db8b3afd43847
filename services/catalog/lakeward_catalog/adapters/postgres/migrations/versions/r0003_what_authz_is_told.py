"""What authz is told of: from now on each change of the tree, and once everything that is there."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0003"
down_revision: Final = "0002"
branch_labels: Final = None
depends_on: Final = None

_TABLES: Final = (
    """create table tree_change (
    warehouse_id uuid not null,
    change_id bigint generated always as identity,
    verb text not null,
    kind text not null,
    object_id uuid,
    project_id text collate "C",
    parent_id uuid,
    public_id uuid,
    owner text,
    constraint tree_change_pkey primary key (warehouse_id, change_id),
    constraint tree_change_verb_check check (verb in ('made', 'moved', 'gone', 'nothing'))
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)""",
    """create table tree_stream (
    warehouse_id uuid not null,
    applied bigint not null default 0,
    in_flight bigint[] not null default '{}',
    constraint tree_stream_pkey primary key (warehouse_id)
) with (fillfactor = 50)""",
)
# Containers before what is in them; whose it is nobody knows any more.
_THERE: Final = (
    """insert into tree_change (warehouse_id, verb, kind, project_id)
select '00000000-0000-0000-0000-000000000000', 'made', 'project', project_id from project order by created_at, project_id""",
    """insert into tree_change (warehouse_id, verb, kind, project_id)
select warehouse_id, 'made', 'warehouse', project_id from warehouse order by created_at, warehouse_id""",
    """insert into tree_change (warehouse_id, verb, kind, object_id, parent_id)
select warehouse_id, 'made', 'namespace', namespace_id, parent_id from namespace order by cardinality(path), created_at""",
    """insert into tree_change (warehouse_id, verb, kind, object_id, parent_id, public_id)
select warehouse_id, 'made', kind, incarnation, namespace_id, tabular_id from tabular order by created_at""",
)


def upgrade() -> None:
    """Make the tables, and tell of what is there.

    An older release that goes on meanwhile tells of nothing: what it makes and deletes from here on is found by
    `lakeward authz verify`.
    """
    for statement in (*_TABLES, *_THERE):
        op.execute(statement)
