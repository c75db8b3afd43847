"""Tasks, what became of their attempts, and how their queues are set."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from lakeward_catalog.adapters.postgres.schema.declaring import KEY, LOCATION_PREFIX, TIME, metadata, serves

_ACTIVE_TASK: Final = "state in ('waiting', 'running')"
_ONE_OWNER: Final = "(warehouse_id is null) <> (project_id is null)"


def _about() -> tuple[sa.Column[object], ...]:
    """What a task is about, as people see it when that is long gone; null where it is about no tabular."""
    return (
        sa.Column("kind", sa.Text),
        sa.Column("tabular_id", pg.UUID, doc="its public id"),
        sa.Column("path", pg.ARRAY(sa.Text), doc="its namespace's parts and its name, as they were"),
        sa.Column("parent_id", pg.UUID, doc="the task that queued it"),
    )


task = sa.Table(
    "task",
    metadata,
    sa.Column("warehouse_id", pg.UUID, sa.ForeignKey("warehouse.warehouse_id"), doc="null for a project's own"),
    sa.Column("project_id", KEY, sa.ForeignKey("project.project_id", ondelete="CASCADE"), doc="null for a warehouse's"),
    sa.Column("task_id", pg.UUID, primary_key=True),
    sa.Column("queue", sa.Text, nullable=False),
    sa.Column("incarnation", pg.UUID),
    sa.Column("name", sa.Text, nullable=False),
    *_about(),
    sa.Column("location", sa.Text),
    sa.Column("location_key", KEY),
    sa.Column(
        "location_folded", KEY, doc="its key without regard to case, where that is not `lower` of it; see FOLDED"
    ),
    sa.Column("purge", sa.Boolean, nullable=False),
    sa.Column("state", sa.Text, nullable=False, server_default="waiting"),
    sa.Column("asked", sa.Text, doc="what its worker is to do, once it asks"),
    sa.Column("due_at", TIME, nullable=False, doc="waiting: when it may start; running: when its holder is given up"),
    sa.Column("turn", TIME, doc="due_at, or later where its warehouse has queued much; orders those that are due"),
    sa.Column("scheduled_for", TIME, doc="when the current attempt, or the next, was to begin"),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="0"),
    sa.Column(
        "spent", sa.Integer, nullable=False, server_default="0", doc="attempts that count no more: it was run again"
    ),
    sa.Column("fence", sa.BigInteger, nullable=False, server_default="0", doc="grows with every claim"),
    sa.Column("progress", sa.BigInteger, nullable=False, server_default="0", doc="what its attempt has done"),
    sa.Column("total", sa.BigInteger, doc="of which that is a part; null: nobody knows"),
    sa.Column("plan", pg.JSON, doc="what its queue has to know beside"),
    sa.Column("message", sa.Text),
    sa.Column("created_at", TIME, nullable=False, server_default=sa.func.now()),
    sa.Column("started_at", TIME),
    sa.Column("heard_at", TIME, doc="when its worker last said that it works on it"),
    sa.CheckConstraint("state in ('waiting', 'running', 'failed')", name="state"),
    sa.CheckConstraint("asked in ('stop', 'cancel')", name="asked"),
    sa.CheckConstraint(_ONE_OWNER, name="one_owner"),
    sa.Index(
        "task_one_active",
        "warehouse_id",
        "queue",
        "incarnation",
        unique=True,
        postgresql_where=sa.text(_ACTIVE_TASK),
        info=serves("queue.ENQUEUE"),
    ),
    sa.Index(
        "task_one_active_of_project",
        "project_id",
        "queue",
        "incarnation",
        unique=True,
        postgresql_nulls_not_distinct=True,
        postgresql_where=sa.text(f"project_id is not null and {_ACTIVE_TASK}"),
        info=serves("queue.ENQUEUE_OF_PROJECT"),
    ),
    sa.Index(
        "task_of_project_by_age",
        "project_id",
        "created_at",
        "task_id",
        postgresql_where=sa.text("project_id is not null"),
        info=serves("task_lists.LIST_OF_PROJECT", "the foreign key to projects"),
    ),
    sa.Index(
        "task_turn",
        "queue",
        "turn",
        "task_id",
        postgresql_where=sa.text(_ACTIVE_TASK),
        info=serves("tasks.CLAIM"),
    ),
    sa.Index(
        "task_backlog",
        "warehouse_id",
        "queue",
        "due_at",
        "turn",
        postgresql_where=sa.text("warehouse_id is not null and state = 'waiting'"),
        info=serves("queue.ENQUEUE"),
    ),
    sa.Index(
        "task_due",
        "queue",
        "due_at",
        "task_id",
        postgresql_where=sa.text(_ACTIVE_TASK),
        info=serves("tasks.CLAIM"),
    ),
    sa.Index(
        "task_purged_location",
        "warehouse_id",
        LOCATION_PREFIX,
        postgresql_where=sa.text(f"queue = 'tabular_purge' and {_ACTIVE_TASK}"),
        info=serves("tables.PURGE_PENDING"),
    ),
    sa.Index(
        "task_by_age",
        "warehouse_id",
        "created_at",
        "task_id",
        info=serves("task_lists.LIST", "the foreign key to warehouses"),
    ),
)

task_log = sa.Table(
    "task_log",
    metadata,
    # No foreign keys: it is read after what it tells of is gone.
    sa.Column("warehouse_id", pg.UUID),
    sa.Column("project_id", KEY, doc="of a project's own task; null for a warehouse's"),
    sa.Column("task_id", pg.UUID, primary_key=True),
    sa.Column("attempt", sa.Integer, primary_key=True),
    sa.Column("queue", sa.Text, nullable=False),
    sa.Column("incarnation", pg.UUID),
    sa.Column("name", sa.Text, nullable=False),
    *_about(),
    sa.Column("location", sa.Text),
    sa.Column("purge", sa.Boolean),
    sa.Column("outcome", sa.Text, nullable=False, doc="failed is an attempt's; the others are the task's end too"),
    sa.Column("message", sa.Text),
    sa.Column("progress", sa.BigInteger, nullable=False),
    sa.Column("total", sa.BigInteger),
    sa.Column("plan", pg.JSON),
    sa.Column("in_project", KEY, doc="its owner, or its owner's project; null: that is gone"),
    sa.Column("created_at", TIME, doc="the task"),
    sa.Column("scheduled_for", TIME),
    sa.Column("started_at", TIME),
    sa.Column("ended_at", TIME, nullable=False),
    sa.CheckConstraint("outcome in ('success', 'failed', 'cancelled')", name="outcome"),
    sa.Index(
        "task_log_attempt",
        "warehouse_id",
        "task_id",
        "attempt",
        unique=True,
        info=serves("the release before, which names it in `on conflict`"),
    ),
    sa.Index("task_log_in_project", "in_project", "ended_at", info=serves("task_log_cleanup.FORGET")),
    sa.Index(
        "task_log_of_nobody",
        "ended_at",
        postgresql_where=sa.text("in_project is null"),
        info=serves("sweeps.OLD_TASK_LOG"),
    ),
    sa.Index(
        "task_log_ended",
        "warehouse_id",
        "created_at",
        "task_id",
        postgresql_where=sa.text("outcome in ('success', 'cancelled')"),
        info=serves("task_lists.LIST"),
    ),
    sa.Index(
        "task_log_of_project",
        "project_id",
        "created_at",
        "task_id",
        postgresql_where=sa.text("project_id is not null"),
        info=serves("task_lists.LIST_OF_PROJECT"),
    ),
)

queue_setting = sa.Table(
    "queue_setting",
    metadata,
    sa.Column("setting_id", pg.UUID, primary_key=True),
    sa.Column("warehouse_id", pg.UUID, sa.ForeignKey("warehouse.warehouse_id", ondelete="CASCADE")),
    sa.Column("project_id", KEY, sa.ForeignKey("project.project_id", ondelete="CASCADE")),
    sa.Column("queue", sa.Text, nullable=False),
    sa.Column("silence", pg.INTERVAL, doc="after which a worker is given up; null: the queue's own"),
    sa.Column("cleanup_period", pg.INTERVAL),
    sa.Column("retention_period", pg.INTERVAL),
    sa.Column("cron", sa.Text, doc="when tasks are made; null: every cleanup_period, or as the queue has it"),
    sa.Column("time_zone", sa.Text),
    sa.Column("next_at", TIME, doc="when the next task is made; null: now"),
    sa.CheckConstraint(_ONE_OWNER, name="one_owner"),
    sa.CheckConstraint("(cron is null) = (time_zone is null)", name="cron"),
    sa.Index(
        "queue_setting_next",
        "queue",
        "next_at",
        postgresql_where=sa.text("project_id is not null"),
        info=serves("schedules.DUE"),
    ),
    sa.Index(
        "queue_setting_of_warehouse",
        "warehouse_id",
        "queue",
        unique=True,
        postgresql_where=sa.text("warehouse_id is not null"),
        info=serves("queue_settings.FIND", "tasks.BEGIN"),
    ),
    sa.Index(
        "queue_setting_of_project",
        "project_id",
        "queue",
        unique=True,
        postgresql_where=sa.text("project_id is not null"),
        info=serves("queue_settings.FIND"),
    ),
)
