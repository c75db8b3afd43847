"""The tables of the catalog, for Alembic to compare with and for people to read.

Every key leads with the warehouse, project or stream that owns the row. Names compare by their `..._key` columns, whose
collation "C" orders them by code point, so that a range of keys is a subtree. Each index says in `info["serves"]` which
statements need it; a test explains the hot ones against a filled database.

A tabular is spread over tables by how its parts are used: `tabular` is narrow and read by every request, `tabular_body` and
`body_chunk` hold the metadata documents, which a cache in front of them mostly answers.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from lakeward_catalog.adapters.postgres.shared import FOLDED, LOCATION_KEY_INDEXED
from lakeward_servicekit.audit.tables import define_audit
from lakeward_servicekit.events.tables import define_events
from lakeward_servicekit.postgres.lease_table import define_leases

metadata = sa.MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(referred_table_name)s_fkey",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)

_KEY = sa.Text(collation="C")
_TIME = pg.TIMESTAMP(timezone=True)
_ACTIVE_TASK: Final = "state in ('waiting', 'running')"
_NAMED: Final = "state in ('live', 'staged')"
_WAREHOUSE_TEXT: Final = sa.text(
    "((warehouse_id)::text)"
)  # by code points, which Postgres does not call the expression's
_WAREHOUSE_BYTES: Final = sa.text("uuid_send(warehouse_id)")  # by which no other index has it


def _serves(*statements: str) -> dict[str, tuple[str, ...]]:
    return {"serves": statements}


server = sa.Table(
    "server",
    metadata,
    sa.Column("only_row", sa.Boolean, primary_key=True, server_default=sa.true()),
    sa.Column("server_id", pg.UUID, nullable=False),
    sa.Column("bootstrapped", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("installation_id", pg.UUID, nullable=False, server_default=sa.text("gen_random_uuid()")),
    sa.CheckConstraint("only_row", name="one_row"),
)

project = sa.Table(
    "project",
    metadata,
    sa.Column("project_id", _KEY, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("created_at", _TIME, nullable=False, server_default=sa.func.now()),
)

warehouse = sa.Table(
    "warehouse",
    metadata,
    sa.Column("warehouse_id", pg.UUID, primary_key=True),
    sa.Column("project_id", _KEY, sa.ForeignKey("project.project_id"), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("name_key", _KEY, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("storage_profile", sa.Text, nullable=False),
    sa.Column("secret_id", pg.UUID),
    sa.Column("credential_kind", sa.Text),
    sa.Column("base_location", sa.Text, nullable=False),
    sa.Column("place", _KEY, nullable=False),
    sa.Column("layout", sa.Text, nullable=False),
    sa.Column("schemes", pg.ARRAY(sa.Text), nullable=False),
    sa.Column("client_defaults", pg.JSON, nullable=False),
    sa.Column("push_delete_disabled", sa.Boolean, nullable=False),
    sa.Column("signs_remotely", sa.Boolean, nullable=False),
    sa.Column(
        "tells_case", sa.Boolean, doc="its store tells places apart that differ by case alone; null: nobody tried"
    ),
    sa.Column("restorable_for", pg.INTERVAL),
    sa.Column("allowed_format_versions", pg.ARRAY(sa.SmallInteger), nullable=False),
    sa.Column("default_format_version", sa.SmallInteger, nullable=False),
    sa.Column("protected", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("managed_by", sa.Text, nullable=False, server_default="self-managed"),
    sa.Column("contracts", sa.Text, doc="JSON, a list; null: none"),
    sa.Column("row_version", sa.BigInteger, nullable=False, server_default="1"),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("updated_at", _TIME),
    sa.CheckConstraint("managed_by in ('self-managed', 'instance-admin')", name="managed_by"),
    sa.Index(
        "warehouse_name",
        "project_id",
        "name_key",
        unique=True,
        info=_serves("warehouses.FIND_BY_NAME", "warehouses.LIST", "warehouses.INSERT"),
    ),
    sa.Index("warehouse_place", "place", info=_serves("warehouses.AT_PLACE")),
)

unnamed_secret = sa.Table(
    "unnamed_secret",
    metadata,
    sa.Column("secret_id", pg.UUID, primary_key=True, doc="vending's; a warehouse named it, and none does"),
    sa.Column("unnamed_at", _TIME, nullable=False),
)

namespace = sa.Table(
    "namespace",
    metadata,
    sa.Column("warehouse_id", pg.UUID, primary_key=True),
    sa.Column("namespace_id", pg.UUID, primary_key=True),
    sa.Column("parent_id", pg.UUID),
    sa.Column("path", pg.ARRAY(sa.Text), nullable=False, doc="stored casing, outermost first"),
    sa.Column("path_key", _KEY, nullable=False, doc="the parts' keys joined by 0x1F"),
    sa.Column("properties", pg.JSON, nullable=False),
    sa.Column("location", sa.Text, nullable=False),
    sa.Column("protected", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("row_version", sa.BigInteger, nullable=False, server_default="1"),
    sa.Column("created_at", _TIME, nullable=False),
    sa.ForeignKeyConstraint(["warehouse_id"], ["warehouse.warehouse_id"]),
    sa.ForeignKeyConstraint(["warehouse_id", "parent_id"], ["namespace.warehouse_id", "namespace.namespace_id"]),
    sa.CheckConstraint("(parent_id is null) = (cardinality(path) = 1)", name="top_has_no_parent"),
    sa.Index(
        "namespace_path",
        "warehouse_id",
        "path_key",
        unique=True,
        info=_serves("tabulars.LOCATE", "namespaces.FIND", "containers.LOCK_SUBTREE", "containers.INSERT"),
    ),
    # Two, since Postgres does not take `parent_id is null` for an equality that keeps the order of what follows.
    sa.Index(
        "namespace_top_by_age",
        "warehouse_id",
        "created_at",
        "namespace_id",
        postgresql_where=sa.text("parent_id is null"),
        info=_serves("namespaces.TOP_PAGE"),
    ),
    sa.Index(
        "namespace_children_by_age",
        "warehouse_id",
        "parent_id",
        "created_at",
        "namespace_id",
        postgresql_where=sa.text("parent_id is not null"),
        info=_serves("namespaces.CHILDREN_PAGE", "the foreign key to parents"),
    ),
    sa.Index(
        "namespace_search",
        _WAREHOUSE_BYTES,
        "path_key",
        postgresql_using="gin",
        postgresql_ops={"path_key": "gin_trgm_ops"},
        postgresql_with={"gin_pending_list_limit": 512},
        info=_serves("tabulars.SEARCH"),
    ),
)

_LOCATION_PREFIX = sa.text(f'("left"({FOLDED}, {LOCATION_KEY_INDEXED}))')

tabular = sa.Table(
    "tabular",
    metadata,
    sa.Column("warehouse_id", pg.UUID, primary_key=True),
    sa.Column("incarnation", pg.UUID, primary_key=True),
    sa.Column("tabular_id", pg.UUID, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("namespace_id", pg.UUID, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("name_key", _KEY, nullable=False),
    sa.Column("location", sa.Text, nullable=False),
    sa.Column("location_key", _KEY, nullable=False),
    sa.Column(
        "location_folded", _KEY, doc="its key without regard to case, where that is not `lower` of it; see FOLDED"
    ),
    sa.Column("location_digest", sa.LargeBinary, nullable=False, doc="the first half of its key's SHA-256"),
    sa.Column("metadata_id", pg.UUID, nullable=False),
    sa.Column("metadata_location", sa.Text),
    sa.Column("protected", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("row_version", sa.BigInteger, nullable=False, server_default="1"),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("dropped_at", _TIME),
    sa.Column("expires_at", _TIME),
    sa.Column("format", sa.Text, doc="of a generic table, for listings"),
    sa.ForeignKeyConstraint(["warehouse_id", "namespace_id"], ["namespace.warehouse_id", "namespace.namespace_id"]),
    sa.CheckConstraint("kind in ('table', 'view', 'generic_table')", name="kind"),
    sa.CheckConstraint("state in ('staged', 'live', 'dropped')", name="state"),
    sa.CheckConstraint("(state = 'live') = (expires_at is null)", name="live_never_expires"),
    sa.CheckConstraint(
        "state = 'staged' or kind = 'generic_table' or metadata_location is not null", name="has_metadata"
    ),
    sa.CheckConstraint("(kind = 'generic_table') = (format is not null)", name="has_format"),
    # Some say `is not null` of a column that is never null: a statement that compares that column proves it, and one that does
    # not can't take the index, whatever is known of how many rows there are.
    sa.Index(
        "tabular_name",
        "warehouse_id",
        "namespace_id",
        "name_key",
        unique=True,
        postgresql_where=sa.text(f"{_NAMED} and name_key is not null"),
        info=_serves("tabulars.LOCATE", "tables.LOCK", "tables.INSERT"),
    ),
    sa.Index(
        "tabular_public_id",
        "warehouse_id",
        "tabular_id",
        unique=True,
        postgresql_where=sa.text("tabular_id is not null"),
        info=_serves("tabulars.BY_ID", "tables.INSERT"),
    ),
    # Unique by the digest, ordered by the folded key's beginning: ranges of keys and two racing creates at one place.
    sa.Index(
        "tabular_location",
        "warehouse_id",
        _LOCATION_PREFIX,
        "location_digest",
        unique=True,
        postgresql_where=sa.text(f'"left"({FOLDED}, {LOCATION_KEY_INDEXED}) is not null'),
        info=_serves("tabulars.BY_LOCATION", "tables.OVERLAPPING", "tables.INSERT"),
    ),
    sa.Index(
        "tabular_by_age",
        "warehouse_id",
        "namespace_id",
        "kind",
        "state",
        "created_at",
        "incarnation",
        info=_serves("tabulars.PAGE", "tabulars.VISIBLE_PAGE", "the foreign key to namespaces"),
    ),
    sa.Index(
        "tabular_expiry",
        "expires_at",
        postgresql_where=sa.text("expires_at is not null"),
        info=_serves("sweeps.EXPIRED_STAGED"),
    ),
    sa.Index(
        "tabular_dropped",
        "warehouse_id",
        "dropped_at",
        "incarnation",
        postgresql_where=sa.text("state = 'dropped'"),
        info=_serves("tabulars.DELETED"),
    ),
    sa.Index(
        "tabular_generic",
        "warehouse_id",
        "incarnation",
        postgresql_where=sa.text("kind = 'generic_table' and state = 'live'"),
        info=_serves("tabulars.OF_FORMATS"),
    ),
    sa.Index(
        "tabular_beginning",
        _WAREHOUSE_TEXT,
        "name_key",
        postgresql_where=sa.text("state = 'live' and name_key is not null"),
        info=_serves("tabulars.SEARCH"),
    ),
    sa.Index(
        "tabular_search",
        _WAREHOUSE_BYTES,
        "name_key",
        postgresql_using="gin",
        postgresql_ops={"name_key": "gin_trgm_ops"},
        postgresql_with={"gin_pending_list_limit": 512},
        postgresql_where=sa.text("state = 'live'"),
        info=_serves("tabulars.SEARCH"),
    ),
    # A commit changes no indexed column, so with room on its page its row moves within it.
    postgresql_with={"fillfactor": 80},
)


def _form(name: str, *, nullable: bool) -> tuple[sa.Column[object], ...]:
    return (
        sa.Column(f"{name}_ids", pg.ARRAY(pg.UUID), nullable=nullable, doc="null for a part of this body's own"),
        sa.Column(f"{name}_crcs", pg.ARRAY(sa.BigInteger), nullable=nullable),
        sa.Column(f"{name}_sizes", pg.ARRAY(sa.Integer), nullable=nullable, doc="inflated"),
        sa.Column(f"{name}_lengths", pg.ARRAY(sa.Integer), nullable=nullable, doc="of own parts, deflated; else 0"),
        sa.Column(f"{name}_own", sa.LargeBinary, nullable=nullable, doc="own parts, one behind another"),
    )


tabular_body = sa.Table(
    "tabular_body",
    metadata,
    sa.Column("warehouse_id", pg.UUID, primary_key=True),
    sa.Column("metadata_id", pg.UUID, primary_key=True),
    sa.Column("incarnation", pg.UUID, nullable=False),
    *_form("everything", nullable=False),
    *_form("refs", nullable=True),
    sa.ForeignKeyConstraint(
        ["warehouse_id", "incarnation"], ["tabular.warehouse_id", "tabular.incarnation"], ondelete="CASCADE"
    ),
    sa.Index(
        "tabular_body_incarnation",
        "warehouse_id",
        "incarnation",
        unique=True,
        postgresql_where=sa.text("incarnation is not null"),
        info=_serves("the foreign key to tabulars", "one body for each incarnation"),
    ),
)

body_chunk = sa.Table(
    "body_chunk",
    metadata,
    sa.Column("warehouse_id", pg.UUID, primary_key=True),
    sa.Column("incarnation", pg.UUID, primary_key=True),
    sa.Column("chunk_id", pg.UUID, primary_key=True),
    sa.Column("raw", sa.LargeBinary, nullable=False),
    sa.ForeignKeyConstraint(
        ["warehouse_id", "incarnation"], ["tabular.warehouse_id", "tabular.incarnation"], ondelete="CASCADE"
    ),
)

table_version = sa.Table(
    "table_version",
    metadata,
    sa.Column("warehouse_id", pg.UUID, primary_key=True),
    sa.Column("incarnation", pg.UUID, primary_key=True),
    sa.Column("version", sa.BigInteger, primary_key=True),
    sa.Column("path", sa.Text, nullable=False, doc="of its file, below the table's location"),
    sa.Column("size", sa.BigInteger),
    sa.Column("properties", sa.JSON, nullable=False),
    sa.Column("claimed_at", _TIME, nullable=False),
    sa.ForeignKeyConstraint(
        ["warehouse_id", "incarnation"], ["tabular.warehouse_id", "tabular.incarnation"], ondelete="CASCADE"
    ),
)

idempotency = sa.Table(
    "idempotency",
    metadata,
    sa.Column("owner", _KEY, primary_key=True, doc="a warehouse's or project's id"),
    sa.Column("principal", _KEY, primary_key=True),
    sa.Column("key", pg.UUID, primary_key=True),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False),
    sa.Column("outcome", sa.LargeBinary, nullable=False),
    sa.Column("expires_at", _TIME, nullable=False),
    sa.Index("idempotency_expiry", "expires_at", info=_serves("sweeps.FORGOTTEN_KEYS")),
)

define_events(metadata)
define_audit(metadata)

event_snapshot = sa.Table(
    "event_snapshot",
    metadata,
    sa.Column("stream", _KEY, nullable=False),
    sa.Column("snapshot_id", pg.UUID, primary_key=True),
    sa.Column("seq", sa.BigInteger, nullable=False, doc="of the last event whose change is in it"),
    sa.Column("entries", sa.BigInteger, nullable=False),
    sa.Column("made_at", _TIME, nullable=False),
    sa.Index("event_snapshot_newest", "stream", "made_at", info=_serves("snapshots.CURRENT")),
    # Made again of what is there, where a crash took it.
    prefixes=["UNLOGGED"],
)

event_snapshot_entry = sa.Table(
    "event_snapshot_entry",
    metadata,
    sa.Column("snapshot_id", pg.UUID, primary_key=True),
    sa.Column("entry", sa.BigInteger, primary_key=True, doc="1 and up, without gaps"),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("verb", sa.Text, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
    prefixes=["UNLOGGED"],
)

tree_change = sa.Table(
    "tree_change",
    metadata,
    sa.Column("warehouse_id", pg.UUID, primary_key=True, doc="the stream: all zeros for that of projects"),
    sa.Column("change_id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("verb", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False, doc="as authz names it"),
    sa.Column("object_id", pg.UUID, doc="of a tabular its incarnation; null for warehouses and projects"),
    sa.Column("project_id", _KEY, doc="of projects and warehouses; what is inside has its warehouse's"),
    sa.Column("parent_id", pg.UUID),
    sa.Column("public_id", pg.UUID),
    sa.Column("owner", sa.Text, doc="user:<id> or role:<id>"),
    sa.CheckConstraint("verb in ('made', 'moved', 'opened', 'closed', 'gone', 'nothing')", name="verb"),
    # No foreign keys: it is told after what it tells of is gone. Rows live for milliseconds, as those of the outbox.
    postgresql_with={"autovacuum_vacuum_scale_factor": 0, "autovacuum_vacuum_threshold": 2000},
)

tree_stream = sa.Table(
    "tree_stream",
    metadata,
    sa.Column("warehouse_id", pg.UUID, primary_key=True),
    sa.Column("applied", sa.BigInteger, nullable=False, server_default="0", doc="what authz confirmed"),
    sa.Column(
        "in_flight",
        pg.ARRAY(sa.BigInteger),
        nullable=False,
        server_default="{}",
        doc="changes that were sent and are not confirmed; their numbers follow `applied`",
    ),
    postgresql_with={"fillfactor": 50},
)

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
    sa.Column(
        "project_id", _KEY, sa.ForeignKey("project.project_id", ondelete="CASCADE"), doc="null for a warehouse's"
    ),
    sa.Column("task_id", pg.UUID, primary_key=True),
    sa.Column("queue", sa.Text, nullable=False),
    sa.Column("incarnation", pg.UUID),
    sa.Column("name", sa.Text, nullable=False),
    *_about(),
    sa.Column("location", sa.Text),
    sa.Column("location_key", _KEY),
    sa.Column(
        "location_folded", _KEY, doc="its key without regard to case, where that is not `lower` of it; see FOLDED"
    ),
    sa.Column("purge", sa.Boolean, nullable=False),
    sa.Column("state", sa.Text, nullable=False, server_default="waiting"),
    sa.Column("asked", sa.Text, doc="what its worker is to do, once it asks"),
    sa.Column("due_at", _TIME, nullable=False, doc="waiting: when it may start; running: when its holder is given up"),
    sa.Column("turn", _TIME, doc="due_at, or later where its warehouse has queued much; orders those that are due"),
    sa.Column("scheduled_for", _TIME, doc="when the current attempt, or the next, was to begin"),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="0"),
    sa.Column(
        "spent", sa.Integer, nullable=False, server_default="0", doc="attempts that count no more: it was run again"
    ),
    sa.Column("fence", sa.BigInteger, nullable=False, server_default="0", doc="grows with every claim"),
    sa.Column("progress", sa.BigInteger, nullable=False, server_default="0", doc="what its attempt has done"),
    sa.Column("total", sa.BigInteger, doc="of which that is a part; null: nobody knows"),
    sa.Column("plan", pg.JSON, doc="what its queue has to know beside"),
    sa.Column("message", sa.Text),
    sa.Column("created_at", _TIME, nullable=False, server_default=sa.func.now()),
    sa.Column("started_at", _TIME),
    sa.Column("heard_at", _TIME, doc="when its worker last said that it works on it"),
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
        info=_serves("queue.ENQUEUE"),
    ),
    sa.Index(
        "task_one_active_of_project",
        "project_id",
        "queue",
        "incarnation",
        unique=True,
        postgresql_nulls_not_distinct=True,
        postgresql_where=sa.text(f"project_id is not null and {_ACTIVE_TASK}"),
        info=_serves("queue.ENQUEUE_OF_PROJECT"),
    ),
    sa.Index(
        "task_of_project_by_age",
        "project_id",
        "created_at",
        "task_id",
        postgresql_where=sa.text("project_id is not null"),
        info=_serves("task_lists.LIST_OF_PROJECT", "the foreign key to projects"),
    ),
    sa.Index(
        "task_turn",
        "queue",
        "turn",
        "task_id",
        postgresql_where=sa.text(_ACTIVE_TASK),
        info=_serves("tasks.CLAIM"),
    ),
    sa.Index(
        "task_backlog",
        "warehouse_id",
        "queue",
        "due_at",
        "turn",
        postgresql_where=sa.text("warehouse_id is not null and state = 'waiting'"),
        info=_serves("queue.ENQUEUE"),
    ),
    sa.Index(
        "task_due",
        "queue",
        "due_at",
        "task_id",
        postgresql_where=sa.text(_ACTIVE_TASK),
        info=_serves("tasks.CLAIM"),
    ),
    sa.Index(
        "task_purged_location",
        "warehouse_id",
        _LOCATION_PREFIX,
        postgresql_where=sa.text(f"queue = 'tabular_purge' and {_ACTIVE_TASK}"),
        info=_serves("tables.PURGE_PENDING"),
    ),
    sa.Index(
        "task_by_age",
        "warehouse_id",
        "created_at",
        "task_id",
        info=_serves("task_lists.LIST", "the foreign key to warehouses"),
    ),
)

task_log = sa.Table(
    "task_log",
    metadata,
    # No foreign keys: it is read after what it tells of is gone.
    sa.Column("warehouse_id", pg.UUID),
    sa.Column("project_id", _KEY, doc="of a project's own task; null for a warehouse's"),
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
    sa.Column("in_project", _KEY, doc="its owner, or its owner's project; null: that is gone"),
    sa.Column("created_at", _TIME, doc="the task"),
    sa.Column("scheduled_for", _TIME),
    sa.Column("started_at", _TIME),
    sa.Column("ended_at", _TIME, nullable=False),
    sa.CheckConstraint("outcome in ('success', 'failed', 'cancelled')", name="outcome"),
    sa.Index(
        "task_log_attempt",
        "warehouse_id",
        "task_id",
        "attempt",
        unique=True,
        info=_serves("the release before, which names it in `on conflict`"),
    ),
    sa.Index("task_log_in_project", "in_project", "ended_at", info=_serves("task_log_cleanup.FORGET")),
    sa.Index(
        "task_log_of_nobody",
        "ended_at",
        postgresql_where=sa.text("in_project is null"),
        info=_serves("sweeps.OLD_TASK_LOG"),
    ),
    sa.Index(
        "task_log_ended",
        "warehouse_id",
        "created_at",
        "task_id",
        postgresql_where=sa.text("outcome in ('success', 'cancelled')"),
        info=_serves("task_lists.LIST"),
    ),
    sa.Index(
        "task_log_of_project",
        "project_id",
        "created_at",
        "task_id",
        postgresql_where=sa.text("project_id is not null"),
        info=_serves("task_lists.LIST_OF_PROJECT"),
    ),
)

queue_setting = sa.Table(
    "queue_setting",
    metadata,
    sa.Column("setting_id", pg.UUID, primary_key=True),
    sa.Column("warehouse_id", pg.UUID, sa.ForeignKey("warehouse.warehouse_id", ondelete="CASCADE")),
    sa.Column("project_id", _KEY, sa.ForeignKey("project.project_id", ondelete="CASCADE")),
    sa.Column("queue", sa.Text, nullable=False),
    sa.Column("silence", pg.INTERVAL, doc="after which a worker is given up; null: the queue's own"),
    sa.Column("cleanup_period", pg.INTERVAL),
    sa.Column("retention_period", pg.INTERVAL),
    sa.Column("cron", sa.Text, doc="when tasks are made; null: every cleanup_period, or as the queue has it"),
    sa.Column("time_zone", sa.Text),
    sa.Column("next_at", _TIME, doc="when the next task is made; null: now"),
    sa.CheckConstraint(_ONE_OWNER, name="one_owner"),
    sa.CheckConstraint("(cron is null) = (time_zone is null)", name="cron"),
    sa.Index(
        "queue_setting_next",
        "queue",
        "next_at",
        postgresql_where=sa.text("project_id is not null"),
        info=_serves("schedules.DUE"),
    ),
    sa.Index(
        "queue_setting_of_warehouse",
        "warehouse_id",
        "queue",
        unique=True,
        postgresql_where=sa.text("warehouse_id is not null"),
        info=_serves("queue_settings.FIND", "tasks.BEGIN"),
    ),
    sa.Index(
        "queue_setting_of_project",
        "project_id",
        "queue",
        unique=True,
        postgresql_where=sa.text("project_id is not null"),
        info=_serves("queue_settings.FIND"),
    ),
)

tag_definition = sa.Table(
    "tag_definition",
    metadata,
    sa.Column("project_id", _KEY, sa.ForeignKey("project.project_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("tag_id", pg.UUID, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("name_key", _KEY, nullable=False),
    sa.Column("description", sa.Text),
    sa.Column("scopes", pg.ARRAY(sa.Text), nullable=False),
    sa.Column("value_kind", sa.Text, nullable=False),
    sa.Column("allowed_values", pg.ARRAY(sa.Text), nullable=False, doc="of an enumerated one; empty for others"),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("updated_at", _TIME),
    sa.CheckConstraint("value_kind in ('marker', 'free-text', 'enumerated')", name="value_kind"),
    sa.CheckConstraint("cardinality(scopes) > 0", name="some_scope"),
    sa.Index(
        "tag_definition_name", "project_id", "name_key", unique=True, info=_serves("tags.FIND_BY_NAME", "tags.INSERT")
    ),
    sa.Index("tag_definition_by_age", "project_id", "created_at", "tag_id", info=_serves("tags.LIST")),
)

tag_attachment = sa.Table(
    "tag_attachment",
    metadata,
    sa.Column("warehouse_id", pg.UUID, sa.ForeignKey("warehouse.warehouse_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("attachment_id", pg.UUID, primary_key=True),
    sa.Column("project_id", _KEY, nullable=False),
    sa.Column("tag_id", pg.UUID, nullable=False),
    sa.Column("scope", sa.Text, nullable=False),
    sa.Column("namespace_id", pg.UUID),
    sa.Column("incarnation", pg.UUID, doc="of a tabular, or of a column's table"),
    sa.Column("field_id", sa.Integer),
    sa.Column("value", sa.Text),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("updated_at", _TIME),
    sa.ForeignKeyConstraint(["project_id", "tag_id"], ["tag_definition.project_id", "tag_definition.tag_id"]),
    sa.ForeignKeyConstraint(
        ["warehouse_id", "namespace_id"], ["namespace.warehouse_id", "namespace.namespace_id"], ondelete="CASCADE"
    ),
    sa.ForeignKeyConstraint(
        ["warehouse_id", "incarnation"], ["tabular.warehouse_id", "tabular.incarnation"], ondelete="CASCADE"
    ),
    sa.CheckConstraint(
        "case scope"
        " when 'warehouse' then namespace_id is null and incarnation is null and field_id is null"
        " when 'namespace' then namespace_id is not null and incarnation is null and field_id is null"
        " when 'column' then namespace_id is null and incarnation is not null and field_id is not null"
        " else namespace_id is null and incarnation is not null and field_id is null end",
        name="one_place",
    ),
    sa.Index(
        "tag_attachment_place",
        "warehouse_id",
        "incarnation",
        "namespace_id",
        "field_id",
        "tag_id",
        unique=True,
        postgresql_nulls_not_distinct=True,
        info=_serves("tags.ON", "tag_changes.PUT", "the foreign key to tabulars"),
    ),
    sa.Index(
        "tag_attachment_of_namespace",
        "warehouse_id",
        "namespace_id",
        info=_serves("tags.EFFECTIVE", "the foreign key to namespaces"),
    ),
    sa.Index(
        "tag_attachment_of_tag",
        "project_id",
        "tag_id",
        "created_at",
        "attachment_id",
        info=_serves("tags.ATTACHMENTS", "the foreign key to definitions"),
    ),
)

warehouse_statistic = sa.Table(
    "warehouse_statistic",
    metadata,
    sa.Column("warehouse_id", pg.UUID, sa.ForeignKey("warehouse.warehouse_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("hour", _TIME, primary_key=True, doc="at whose end it counts; hours in which nothing changed have none"),
    sa.Column("tables", sa.BigInteger, nullable=False),
    sa.Column("views", sa.BigInteger, nullable=False),
    sa.Column("generic_tables", sa.BigInteger, nullable=False),
    sa.Column("counted_at", _TIME, nullable=False),
)

endpoint_count = sa.Table(
    "endpoint_count",
    metadata,
    sa.Column("project_id", _KEY, sa.ForeignKey("project.project_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("hour", _TIME, primary_key=True, doc="its end"),
    sa.Column("route", _KEY, primary_key=True, doc="method and template of the path"),
    sa.Column("status", sa.SmallInteger, primary_key=True),
    sa.Column("warehouse_id", pg.UUID, primary_key=True, doc="all zeros for none"),
    sa.Column("count", sa.BigInteger, nullable=False),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("updated_at", _TIME),
    sa.Index("endpoint_count_age", "hour", info=_serves("sweeps.OLD_COUNTS")),
)

lease = define_leases(metadata)

EXTERNAL: Final = (
    ("tabular_body", "everything_own"),
    ("tabular_body", "refs_own"),
    ("body_chunk", "raw"),
)
"""Columns that Postgres stores as they are: they are compressed already."""
