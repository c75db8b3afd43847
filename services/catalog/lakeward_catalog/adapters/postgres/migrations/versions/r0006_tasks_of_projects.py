"""Tasks of projects, schedules, turns between tenants, counts of what warehouses hold, and counts of requests."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0006"
down_revision: Final = "0005"
branch_labels: Final = None
depends_on: Final = None

# An older release goes on meanwhile: what it does not write is null, and counts as nothing said.
_STATEMENTS: Final = (
    """alter table task
           add column turn timestamptz,
           add column total bigint,
           add column plan json""",
    "update task set turn = due_at where state in ('waiting', 'running')",
    "create index task_turn on task (queue, turn, task_id) where state in ('waiting', 'running')",
    """create index task_backlog on task (warehouse_id, queue, due_at, turn)
           where warehouse_id is not null and state = 'waiting'""",
    "drop index task_one_active_of_project",
    """create unique index task_one_active_of_project on task (project_id, queue, incarnation) nulls not distinct
           where project_id is not null and state in ('waiting', 'running')""",
    "create index task_of_project_by_age on task (project_id, created_at, task_id) where project_id is not null",
    """alter table task_log
           add column total bigint,
           add column plan json,
           add column in_project text collate "C" """,
    """update task_log l set in_project = coalesce(l.project_id,
           (select w.project_id from warehouse w where w.warehouse_id = l.warehouse_id))""",
    "create index task_log_in_project on task_log (in_project, ended_at)",
    "drop index task_log_age",
    "create index task_log_of_nobody on task_log (ended_at) where in_project is null",
    """alter table queue_setting
           add column cron text,
           add column time_zone text,
           add column next_at timestamptz,
           add constraint queue_setting_cron_check check ((cron is null) = (time_zone is null))""",
    "create index queue_setting_next on queue_setting (queue, next_at) where project_id is not null",
    """
create table warehouse_statistic (
    warehouse_id uuid not null,
    hour timestamptz not null,
    tables bigint not null,
    views bigint not null,
    generic_tables bigint not null,
    counted_at timestamptz not null,
    constraint warehouse_statistic_pkey primary key (warehouse_id, hour),
    constraint warehouse_statistic_warehouse_fkey foreign key (warehouse_id)
        references warehouse (warehouse_id) on delete cascade
)
""",
    """
create table endpoint_count (
    project_id text collate "C" not null,
    hour timestamptz not null,
    route text collate "C" not null,
    status smallint not null,
    warehouse_id uuid not null,
    count bigint not null,
    created_at timestamptz not null,
    updated_at timestamptz,
    constraint endpoint_count_pkey primary key (project_id, hour, route, status, warehouse_id),
    constraint endpoint_count_project_fkey foreign key (project_id) references project (project_id) on delete cascade
)
""",
    "create index endpoint_count_age on endpoint_count (hour)",
)


def upgrade() -> None:
    """Add what is new, and what old rows can say of it."""
    for statement in _STATEMENTS:
        op.execute(statement)
