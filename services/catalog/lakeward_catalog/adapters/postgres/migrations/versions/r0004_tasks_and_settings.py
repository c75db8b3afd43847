"""Tasks as people see them, queues' settings, warehouses' managers, what was dropped in order, and how names are alike."""

from __future__ import annotations

from typing import Final

from alembic import op

from lakeward_servicekit.postgres.extensions import require_extension

revision: Final = "0004"
down_revision: Final = "0003"
branch_labels: Final = None
depends_on: Final = None

# An older release goes on meanwhile: what it does not write is null or has a default, and what it looks for is still there.
_STATEMENTS: Final = (
    "alter table warehouse add column managed_by text not null default 'self-managed'",
    """alter table warehouse add constraint warehouse_managed_by_check
           check (managed_by in ('self-managed', 'instance-admin'))""",
    "create index tabular_dropped on tabular (warehouse_id, dropped_at, incarnation) where state = 'dropped'",
    # A task is a warehouse's or a project's.
    "alter table task drop constraint task_pkey",
    "alter table task add constraint task_pkey primary key (task_id)",
    """alter table task
           alter column warehouse_id drop not null,
           alter column incarnation drop not null,
           alter column location drop not null,
           alter column location_key drop not null,
           add column project_id text collate "C",
           add column kind text,
           add column tabular_id uuid,
           add column path text[],
           add column parent_id uuid,
           add column asked text,
           add column spent integer not null default 0,
           add column scheduled_for timestamptz,
           add column heard_at timestamptz,
           add constraint task_project_fkey foreign key (project_id) references project (project_id) on delete cascade,
           add constraint task_one_owner_check check ((warehouse_id is null) <> (project_id is null)),
           add constraint task_asked_check check (asked in ('stop', 'cancel'))""",
    """create unique index task_one_active_of_project on task (project_id, queue)
           where project_id is not null and state in ('waiting', 'running')""",
    "create index task_by_age on task (warehouse_id, created_at, task_id)",
    """update task set kind = t.kind, tabular_id = t.tabular_id, path = n.path || t.name
         from tabular t join namespace n on n.warehouse_id = t.warehouse_id and n.namespace_id = t.namespace_id
        where t.warehouse_id = task.warehouse_id and t.incarnation = task.incarnation""",
    "update task set scheduled_for = due_at where state = 'waiting'",
    "alter table task_log drop constraint task_log_pkey",
    "alter table task_log add constraint task_log_pkey primary key (task_id, attempt)",
    """alter table task_log
           alter column warehouse_id drop not null,
           alter column incarnation drop not null,
           alter column location drop not null,
           add column project_id text collate "C",
           add column kind text,
           add column tabular_id uuid,
           add column path text[],
           add column parent_id uuid,
           add column purge boolean,
           add column scheduled_for timestamptz,
           add column created_at timestamptz""",
    "update task_log set created_at = coalesce(started_at, ended_at)",
    "create unique index task_log_attempt on task_log (warehouse_id, task_id, attempt)",
    """create index task_log_ended on task_log (warehouse_id, created_at, task_id)
           where outcome in ('success', 'cancelled')""",
    """create index task_log_of_project on task_log (project_id, created_at, task_id) where project_id is not null""",
    """
create table queue_setting (
    setting_id uuid not null,
    warehouse_id uuid,
    project_id text collate "C",
    queue text not null,
    silence interval,
    cleanup_period interval,
    retention_period interval,
    constraint queue_setting_pkey primary key (setting_id),
    constraint queue_setting_warehouse_fkey foreign key (warehouse_id) references warehouse (warehouse_id) on delete cascade,
    constraint queue_setting_project_fkey foreign key (project_id) references project (project_id) on delete cascade,
    constraint queue_setting_one_owner_check check ((warehouse_id is null) <> (project_id is null))
)
""",
    """create unique index queue_setting_of_warehouse on queue_setting (warehouse_id, queue) where warehouse_id is not null""",
    """create unique index queue_setting_of_project on queue_setting (project_id, queue) where project_id is not null""",
)

# The extension may have been there already, in a schema that we don't look into.
_DISTANCE: Final = """
do $$
declare home text;
begin
    select quote_ident(n.nspname) into home
      from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm';
    execute format(
        'create function name_distance(sought text, name text, path text) returns real language sql immutable strict as %L',
        format('select 1 - greatest(%1$s.similarity(sought, name), %1$s.word_similarity(sought, path))', home));
end $$
"""


def upgrade() -> None:
    """Add what is new, and what old rows can say of it."""
    for statement in _STATEMENTS:
        op.execute(statement)
    require_extension(op.get_bind(), "pg_trgm", use="with which tables and views are searched by name")
    op.execute(_DISTANCE)
