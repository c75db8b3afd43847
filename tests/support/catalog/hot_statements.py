"""The catalog's statements that are asked often, each with arguments, and a catalog large enough to tell a bad plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import timedelta
from typing import Final, cast
from uuid import UUID, uuid4

from lakeward_catalog.adapters.postgres import (
    bodies,
    containers,
    endpoint_counts,
    idempotency,
    locating,
    location_changes,
    namespace_changes,
    namespaces,
    sweeps,
    tabular_changes,
    tabulars,
    task_changes,
    tasks,
    tree_rows,
    tree_streams,
    upkeep,
    warehouses,
)
from lakeward_catalog.adapters.postgres.bodies import BodyRow
from lakeward_catalog.adapters.postgres.ledger import PostgresLedger
from lakeward_catalog.adapters.postgres.pages import place_of
from lakeward_catalog.adapters.postgres.places import at_or_above, at_or_inside
from lakeward_catalog.application.changes import TabularInsert
from lakeward_catalog.domain.model import Incarnation, MetadataId, Tabular, TabularId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_catalog.domain.tasks import Level
from lakeward_locations import Location
from lakeward_servicekit.authorization.principals import ANONYMOUS
from lakeward_servicekit.events import postgres_log
from lakeward_servicekit.postgres.pools import Connection
from tests.support.catalog.stores import PostgresStores
from tests.support.catalog.values import (
    NOON,
    HeldClock,
    a_body,
    a_namespace,
    a_project,
    a_tabular,
    a_warehouse,
    an_event,
)

TABLES: Final = 10_000
NAMESPACES: Final = 1_000
_FILL: Final = """
with base as (select t from tabular t where t.warehouse_id = $1 limit 1),
made as (select gen_random_uuid() as incarnation, gen_random_uuid() as metadata_id, g from generate_series(1, $2) g),
rows as (
    insert into tabular (warehouse_id, incarnation, tabular_id, kind, state, namespace_id, name, name_key, location,
           location_key, location_digest, metadata_id, metadata_location, created_at, expires_at)
    select $1, incarnation, gen_random_uuid(), 'table', case when g % 50 = 0 then 'staged' else 'live' end,
           ($3::uuid[])[1 + g % cardinality($3::uuid[])], 't' || g, 't' || g,
           's3://lake/base/' || incarnation, 's3://lake/base/' || incarnation || '/',
           uuid_send(incarnation), metadata_id, 's3://lake/base/m', now() + g * interval '1 second',
           case when g % 50 = 0 then now() + g * interval '1 second' end
      from made returning warehouse_id, incarnation, metadata_id)
insert into tabular_body (warehouse_id, metadata_id, incarnation, everything_ids, everything_crcs, everything_sizes,
       everything_lengths, everything_own)
select warehouse_id, metadata_id, incarnation, array[null::uuid], array[0], array[1], array[1], 'x'::bytea from rows
"""
_FILL_OTHERS: Final = (
    """insert into task (warehouse_id, task_id, queue, incarnation, name, location, location_key, purge, due_at)
       select $1, gen_random_uuid(), 'tabular_purge', gen_random_uuid(), 'n', 's3://lake/p' || g, 's3://lake/p' || g || '/',
              true, now() + g * interval '1 second' from generate_series(1, 5000) g""",
    """insert into queue_setting (setting_id, warehouse_id, queue)
       select gen_random_uuid(), $1, 'q' || g from generate_series(1, 5000) g""",
    """insert into endpoint_count (project_id, hour, route, status, warehouse_id, count, created_at)
       select p.project_id, now() + g * interval '1 hour', 'r', 200, $1, 1, now()
         from generate_series(1, 5000) g, (select project_id from project limit 1) p""",
    """insert into idempotency (owner, principal, key, fingerprint, outcome, expires_at)
       select $1::uuid::text, 'p', gen_random_uuid(), 'f', 'o', now() + g * interval '1 second'
         from generate_series(1, 5000) g""",
    """insert into task_log (warehouse_id, task_id, attempt, queue, incarnation, name, location, outcome, progress, ended_at)
       select $1, gen_random_uuid(), 1, 'q', gen_random_uuid(), 'n', 'l', 'success', 0, now() + g * interval '1 second'
         from generate_series(1, 5000) g""",
    """insert into event_log (stream, seq, slot, event_id, kind, verb, body, at)
       select case when $1::uuid is null then '' else 's' || g % 10 end, g, g % 4, gen_random_uuid(), 'k', 'v', 'b', now()
         from generate_series(1, 5000) g""",
    """insert into outbox (event_id, stream, kind, verb, body)
       select gen_random_uuid(), case when $1::uuid is null then '' else 's' end, 'k', 'v', 'b'
         from generate_series(1, 5000) g""",
    """insert into tree_change (warehouse_id, verb, kind, object_id)
       select coalesce(case when g % 2 = 0 then $1::uuid end, md5((g % 100)::text)::uuid), 'made', 'table', gen_random_uuid()
         from generate_series(1, 20000) g""",
    """insert into tree_stream (warehouse_id)
       select gen_random_uuid() from generate_series(1, 5000) g where $1::uuid is not null""",
    """insert into body_chunk (warehouse_id, incarnation, chunk_id, raw)
       select t.warehouse_id, t.incarnation, gen_random_uuid(), 'x' from tabular t where t.warehouse_id = $1 limit 5000""",
)


async def furnish(stores: PostgresStores) -> Tabular:
    """A warehouse with one namespace, and a table in it."""
    warehouse = await stores.with_warehouse()
    namespace = a_namespace(warehouse, "ns0")
    tabular = a_tabular(namespace, "mine")
    async with stores.changes.change() as change:
        await change.namespaces.insert(namespace, owner=ANONYMOUS)
        await change.tabulars.insert(tabular, a_body(), owner=ANONYMOUS)
    return tabular


async def fill(
    stores: PostgresStores, tabular: Tabular, *, tables: int = TABLES, namespaces: int = NAMESPACES, used: int = 20
) -> None:
    """So many tables beside it, in so many of the namespaces, and thousands of everything else; nothing is analysed."""
    warehouse = await stores.warehouses.find(tabular.warehouse_id)
    assert warehouse is not None
    async with stores.changes.change() as change:
        first = await change.namespaces.lock(warehouse.warehouse_id, tabular.ident.namespace, exclusively=False)
        assert first is not None
        made = [first]
        for index in range(1, namespaces):
            parent = made[index % 10] if index >= 10 else None
            made.append(a_namespace(warehouse, f"ns{index}", parent=parent))
            await change.namespaces.insert(made[-1], owner=ANONYMOUS)
    async with stores.pool.changing() as connection:
        ids = [namespace.namespace_id for namespace in made[:used]]
        await connection.execute(_FILL, warehouse.warehouse_id, tables, ids)
        for statement in _FILL_OTHERS:
            await connection.execute(statement, warehouse.warehouse_id)


def statements(tabular: Tabular) -> dict[str, tuple[str, tuple[object, ...], set[str]]]:
    """Name: (statement, arguments, indexes that it must use)."""
    here, incarnation, namespace_id = tabular.warehouse_id, tabular.incarnation, tabular.namespace_id
    path_key, name_key = tabular.ident.key
    location = Location.parse(tabular.location)
    page = (here, namespace_id, "table", *place_of(None), 100)
    ids: list[UUID] = [incarnation]
    row = BodyRow.of(a_body())
    commit = (
        here,
        incarnation,
        tabular.metadata_id,
        tabular.metadata_id,
        "m",
        None,
        None,
        None,
        *row.forms,
        [],
        [],
        [],
        None,
    )
    children = (here, *place_of(None), 100)
    return {
        "locate": (locating.LOCATE, ([here], [path_key], [name_key]), {"namespace_path", "tabular_name"}),
        "views": (
            tabulars.VIEWS,
            (here, [path_key], [name_key]),
            {"namespace_path", "tabular_name", "tabular_body_pkey"},
        ),
        "namespaces by id": (containers.NAMESPACES, ([here], [namespace_id]), {"namespace_pkey"}),
        "by id": (tabulars.BY_ID, (here, tabular.tabular_id), {"tabular_public_id"}),
        "by location": (tabulars.BY_LOCATION, (here, *at_or_above(location)), {"tabular_location"}),
        "page": (tabulars.PAGE, page, {"tabular_by_age"}),
        "visible page": (tabulars.VISIBLE_PAGE, (*page, [namespace_id], ids), {"tabular_by_age", "tabular_pkey"}),
        "search": (
            tabulars.SEARCH,
            (here, "t1", ["table"], [], [], [], 10, 300, "t1"),
            {"tabular_beginning", "tabular_search", "namespace_search", "tabular_pkey"},
        ),
        "namespace": (namespaces.FIND_BY_ID, (here, namespace_id), {"namespace_pkey"}),
        "warehouse by name": (warehouses.NAMED, (["p"], ["w"]), set()),
        "top namespaces": (namespaces.TOP_PAGE, children, {"namespace_top_by_age"}),
        "namespaces inside": (namespaces.CHILDREN_PAGE, (*children, namespace_id), {"namespace_children_by_age"}),
        "visible top namespaces": (namespaces.VISIBLE_TOP_PAGE, (*children, [namespace_id]), {"namespace_pkey"}),
        "visible namespaces inside": (
            namespaces.VISIBLE_CHILDREN_PAGE,
            (*children, namespace_id, [namespace_id], [namespace_id]),
            {"namespace_children_by_age", "namespace_pkey"},
        ),
        "body": (bodies.EVERYTHING, (here, tabular.metadata_id), {"tabular_body_pkey"}),
        "body of references": (bodies.REFERENCES, (here, tabular.metadata_id), {"tabular_body_pkey"}),
        "commit": (tabular_changes.COMMIT, commit, {"tabular_pkey", "tabular_body_pkey", "body_chunk_pkey"}),
        "commit of several": (tabular_changes.LOCK_FOR_COMMIT, ([here], [incarnation]), {"tabular_pkey"}),
        "lock": (
            tabular_changes.LOCK,
            (here, path_key, name_key, ["table"], ["live"]),
            {"namespace_path", "tabular_name"},
        ),
        "overlapping": (
            location_changes.OVERLAPPING,
            (here, *at_or_above(location), None),
            {"tabular_location"},
        ),
        "enclosed": (location_changes.ENCLOSED, (here, *at_or_inside(location), None), {"tabular_location"}),
        "purge pending": (
            location_changes.PURGE_PENDING,
            (here, *at_or_above(location), *at_or_inside(location)),
            {"task_purged_location"},
        ),
        "generic tables": (tabulars.OF_FORMATS, (here, incarnation, ["lance"], 50), {"tabular_generic"}),
        "namespace lock": (namespace_changes.LOCK_SHARED, (here, path_key), {"namespace_path"}),
        "subtree lock": (namespace_changes.LOCK_SUBTREE, (here, namespace_id), {"namespace_path"}),
        "key": (idempotency.FIND, (str(here), "p", incarnation, NOON), {"idempotency_pkey"}),
        "queued": (task_changes.QUEUED[Level.WAREHOUSE], (here, "tabular_purge", incarnation), {"task_one_active"}),
        "claim": (tasks.CLAIM, ("tabular_purge", NOON, timedelta(minutes=5), 5), {"task_turn", "task_due"}),
        "replay": (postgres_log.READ, ("s1", 0, 100), {"event_log_00_pkey"}),
        "replay of large ones": (postgres_log.READ_LARGE, ("s1", 0, 100), {"event_log_00_pkey"}),
        "move": (postgres_log.MOVE, (100, "events-sequencer", "holder", 1), {"outbox_pkey"}),
        "streams to tell": (tree_streams.PENDING, (), {"tree_change_pkey"}),
        "a stream's next changes": (
            tree_streams.TAKE,
            (here, [1, 2], [3, 4], 1000, 7),
            {"tree_change_pkey", "tree_stream_pkey"},
        ),
        "tables to compare": (tree_rows.TABULARS, (here, namespace_id, 1000, "table"), {"tabular_pkey"}),
        "expired staged": (sweeps.EXPIRED_STAGED, (NOON, 100), {"tabular_expiry", "tabular_pkey"}),
        "expired keys": (sweeps.FORGOTTEN_KEYS, (NOON, 100), {"idempotency_expiry"}),
        "old attempts": (sweeps.OLD_TASK_LOG, (NOON, 100), {"task_log_of_nobody"}),
        "old counts": (sweeps.OLD_COUNTS, (NOON, 100), {"endpoint_count_age"}),
        "counts of a window": (endpoint_counts.READ, ("p", NOON, NOON, None, False, None), {"endpoint_count_pkey"}),
        "old attempts of a project": (upkeep.FORGET, ("p", NOON, 100), {"task_log_in_project"}),
    }


class _Noting:
    """Stands in for a connection: it notes what is asked, and answers as if a create went well."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[object, ...]]] = []

    async def fetchval(self, statement: str, *arguments: object) -> object:
        self.asked.append((statement, arguments))
        return arguments[1]

    async def fetchmany(self, statement: str, arguments: Sequence[tuple[object, ...]]) -> list[tuple[object]]:
        self.asked.append((statement, arguments[0]))
        return [(each[1],) for each in arguments]

    async def fetchrow(self, statement: str, *arguments: object) -> tuple[bool, bool]:
        self.asked.append((statement, arguments))
        return True, False


async def creating(tabular: Tabular) -> dict[str, tuple[str, tuple[object, ...], set[str]]]:
    """The same for the statements of a create beside a table."""
    new = dataclasses.replace(
        tabular,
        incarnation=Incarnation(uuid4()),
        tabular_id=TabularId(uuid4()),
        metadata_id=MetadataId(uuid4()),
        ident=TabularIdent(tabular.ident.namespace, "new"),
        location=f"{tabular.location}-new",
    )
    noting = _Noting()
    connection = cast("Connection", noting)
    ledger = PostgresLedger(connection, clock=HeldClock())
    changes = tabular_changes.PostgresTabularChanges(connection, ledger)
    await changes.insert(new, a_body(), owner=ANONYMOUS, looks=True)
    ledger.emit(an_event())
    await ledger.flush()
    # what has shared parts is written by the statement that also lets a staged row make way
    await changes.insert(new, a_body((uuid4(), '{"format-version":2}')), owner=ANONYMOUS)
    several = PostgresLedger(connection, clock=HeldClock())
    others = [
        dataclasses.replace(new, incarnation=Incarnation(uuid4()), location=f"{new.location}-{number}")
        for number in range(8)
    ]
    together = tabular_changes.PostgresTabularChanges(connection, several)
    await together.insert_each([TabularInsert(each, a_body(), ANONYMOUS) for each in others])
    for _ in others:
        several.emit(an_event())
    await several.flush()
    (insert, told, whole, _, told_of_several) = noting.asked
    return {
        "create": (*insert, {"namespace_pkey"}),
        "create that makes room": (*whole, {"namespace_pkey", "tabular_name"}),
        "a create's event and the look around its place": (*told, {"tabular_location"}),
        "the same of several creates": (*told_of_several, {"tabular_location"}),
    }


CREATING: Final = (
    "create",
    "create that makes room",
    "a create's event and the look around its place",
    "the same of several creates",
)
NAMES: Final = tuple(statements(a_tabular(a_namespace(a_warehouse(a_project())))))
