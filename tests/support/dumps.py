"""What a database holds, so that a test can say that nothing changed."""

from __future__ import annotations

from collections.abc import Mapping

import asyncpg

# Where background work stands; it moves while nobody asks for anything. What authz is told has rows of its own that are compared.
_RESTLESS = frozenset(
    {
        "lease",
        "sink_cursor",
        "event_stream",
        "tree_change",
        "tree_stream",
        "schema_version",
        "alembic_version",
        "idempotency",
        "endpoint_count",
        "warehouse_statistic",
    }
)
# Rows that the schedules make and move by themselves, of queues that nobody queues anything in.
_ASKED_FOR = {
    "task": "t.queue not in ('statistics', 'generic_statistics', 'task_log_cleanup')",
    "task_log": "t.queue not in ('statistics', 'generic_statistics', 'task_log_cleanup')",
    "queue_setting": "num_nonnulls(t.silence, t.cleanup_period, t.retention_period, t.cron) > 0",
}
_EVENTS = frozenset({"outbox", "event_log"})


async def dump(url: str, *schemas: str) -> Mapping[str, list[str]]:
    """Every row of every table, as text, by the table's name; events as one set of ids, wherever they are by now."""
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            return await _dump(connection, schemas or ("lakeward_catalog", "lakeward_vending"))
    finally:
        await connection.close()


async def _dump(connection: asyncpg.Connection[asyncpg.Record], schemas: tuple[str, ...]) -> Mapping[str, list[str]]:
    tables = await connection.fetch(
        "select table_schema, table_name from information_schema.tables"
        " where table_schema = any($1::text[]) and table_type = 'BASE TABLE'",
        schemas,
    )
    found: dict[str, list[str]] = {}
    for schema, name in tables:
        if name in _RESTLESS or name.startswith("event_log_"):
            continue
        column = "t.event_id::text" if name in _EVENTS else "t::text"
        rows = await connection.fetch(f"select {column} from {schema}.{name} t where {_ASKED_FOR.get(name, 'true')}")
        key = f"{schema}.events" if name in _EVENTS else f"{schema}.{name}"
        found[key] = sorted([*found.get(key, []), *(row[0] for row in rows)])
    return found
