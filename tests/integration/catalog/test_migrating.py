"""Rows that an older release wrote, after the revisions that came since."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import asyncpg
import pytest

from lakeward_authz.application.tree import ApplyTreeChanges
from lakeward_authz.transport.tree import TreeServicer
from lakeward_catalog.adapters.authz_tree import RemoteTree
from lakeward_catalog.adapters.postgres import containers, schema, shared
from lakeward_catalog.adapters.postgres.location_changes import PostgresLocationChanges
from lakeward_catalog.adapters.postgres.migrations import versions
from lakeward_catalog.adapters.postgres.rows import warehouse_of
from lakeward_catalog.adapters.postgres.tree_streams import PostgresTreeStreams
from lakeward_catalog.application.feeding import TreeFeed
from lakeward_catalog.domain.model import WarehouseId
from lakeward_locations import Location
from lakeward_protocol.authz.v1 import tree_pb2_grpc
from lakeward_servicekit.events.bell import LocalBell
from lakeward_servicekit.postgres.migrating import differences, migrate
from lakeward_servicekit.rpc import Caller, Host
from lakeward_servicekit.secrecy import SecretStr
from tests.support import authz_stores, tree
from tests.support.catalog.stores import MIGRATIONS, SCHEMA, catalog_pool
from tests.support.catalog.values import uuid7

pytestmark = pytest.mark.integration

_WAREHOUSE = """
insert into warehouse (warehouse_id, project_id, name, name_key, active, storage_profile, base_location, place, layout, schemes,
       client_defaults, push_delete_disabled, signs_remotely, allowed_format_versions, default_format_version, created_at)
values ($1, 'p', 'w', 'w', true, '{}', 's3://lake/base', 's3 lake', '{"type": "default"}', '{s3}', '{}', true, true, '{1,2,3}', 2,
       now())
"""
_NAMESPACE = """
insert into namespace (warehouse_id, namespace_id, path, path_key, properties, location, created_at)
values ($1, $2, '{n}', 'n', '{}', 's3://lake/base/n/', now())
"""
_INNER = """
insert into namespace (warehouse_id, namespace_id, parent_id, path, path_key, properties, location, created_at)
values ($1, $2, $3, '{n,m}', E'n\\x1fm', '{}', 's3://lake/base/n/m/', now() - interval '1 day')
"""
_TABULAR = """
insert into tabular (warehouse_id, incarnation, tabular_id, kind, state, namespace_id, name, name_key, location, location_key,
       location_digest, metadata_id, metadata_location, created_at)
values ($1, $2, $2, 'table', 'live', $3, $6, $6, $4, $5, sha256(convert_to($5, 'UTF8')), $2, 's3://lake/base/m',
       now())
"""
_TASK = """
insert into task (warehouse_id, task_id, queue, incarnation, name, location, location_key, purge, due_at)
values ($1, $2, 'tabular_purge', $2, 'n', $3, $4, true, now())
"""


@pytest.fixture
def url(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture
async def old(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database whose catalog has the first revision alone."""
    package = tmp_path / "first_revision"
    (package / "versions").mkdir(parents=True)
    (package / "__init__.py").touch()
    (folder,) = versions.__path__
    shutil.copy(Path(folder) / "r0001_first_schema.py", package / "versions")
    monkeypatch.syspath_prepend(str(tmp_path))
    await migrate(SecretStr(url), package="first_revision", schema=SCHEMA)
    return url


async def test_old_places_are_found_without_regard_to_case_and_their_warehouses_compare_so(old: str) -> None:
    warehouse, namespace = uuid7(), uuid7()
    places = [Location.parse(f"s3://lake/base/{name}") for name in ("Abc%3F", "caf\u00c9/Inner", "\u212aelvin", "abc")]
    purged = Location.parse("s3://lake/base/PURG\u00c9D")
    connection = await asyncpg.connect(old, server_settings={"search_path": SCHEMA})
    try:
        await connection.execute("insert into project (project_id, name) values ('p', 'p')")
        await connection.execute(_WAREHOUSE, warehouse)
        await connection.execute(_NAMESPACE, warehouse, namespace)
        for place in places:
            await connection.execute(_TABULAR, warehouse, uuid7(), namespace, str(place), place.key, str(place))
        await connection.execute(_TASK, warehouse, uuid7(), str(purged), purged.key)
        await migrate(SecretStr(old), package=MIGRATIONS, schema=SCHEMA)
        folded = await connection.fetch(f"select location_key, {shared.FOLDED} from tabular")
        assert {(row[0], row[1]) for row in folded} == {(place.key, place.folded_key) for place in places}
        during = Location.parse("s3://lake/base/Late")  # by a process of the older release, which goes on meanwhile
        await connection.execute(_TABULAR, warehouse, uuid7(), namespace, str(during), during.key, "late")
        found = await connection.fetchrow(containers.WAREHOUSES, [warehouse])
        assert found is not None
        kept = warehouse_of(found)
        assert (kept.storage.tells_case, kept.storage.folds) == (None, True)
        here = WarehouseId(warehouse)
        locations = PostgresLocationChanges(connection)
        for text in (
            "s3://lake/base/abc%3f",
            "s3://lake/base/CAF\u00e9",
            "s3://lake/base/KELVIN/x",
            "s3://lake/base/ABC",
            "s3://lake/base/LATE",
        ):
            location = Location.parse(text)
            assert await locations.overlapping(here, location, enclosed_too=True) is not None, text
        assert await locations.purge_pending(here, Location.parse("s3://lake/base/purg\u00e9d/x"))
    finally:
        await connection.close()
    found_differences = await differences(SecretStr(old), schema=SCHEMA, metadata=schema.metadata)
    assert [each for each in found_differences if "event_log_" not in each] == []


async def test_authz_is_told_of_what_was_there_containers_first_and_staged_and_dropped_tables_too(old: str) -> None:
    warehouse, namespace, inner = uuid7(), uuid7(), uuid7()
    connection = await asyncpg.connect(old, server_settings={"search_path": SCHEMA})
    try:
        await connection.execute("insert into project (project_id, name) values ('p', 'p'), ('empty', 'e')")
        await connection.execute(_WAREHOUSE, warehouse)
        # The inner one is older: by the time of making alone it would come before what it is in.
        await connection.execute(_NAMESPACE, warehouse, namespace)
        await connection.execute(_INNER, warehouse, inner, namespace)
        tables = [uuid7() for _ in range(3)]
        for table in tables:
            place = Location.parse(f"s3://lake/base/{table}")
            await connection.execute(_TABULAR, warehouse, table, inner, str(place), place.key, str(table))
        await connection.execute(
            "update tabular set state = 'dropped', dropped_at = now(), expires_at = now() where incarnation = $1",
            tables[0],
        )
        await connection.execute(
            "update tabular set state = 'staged', expires_at = now() where incarnation = $1", tables[1]
        )
    finally:
        await connection.close()
    async with catalog_pool(old) as pool, authz_stores.opened(old) as authz:
        assert len(await tree.differences(pool)) == 8
        host = Host("authz", reflects=False)
        host.add(
            tree_pb2_grpc.add_TreeServiceServicer_to_server, TreeServicer(ApplyTreeChanges(authz.tree), authz.listing)
        )
        streams = PostgresTreeStreams(pool)
        feed = TreeFeed(streams, RemoteTree(host.channel(caller=Caller.CALLER_CATALOG)), LocalBell(), awaited=False)
        while pending := await streams.pending():
            for stream in reversed(pending):
                await feed.delivered(stream)
        assert await tree.differences(pool) == []
        assert await authz.pool.fetchval("select count(*) from grants where relation = 'ownership'") == 0


async def test_a_server_that_was_opened_keeps_its_id_and_its_marks_in_stores(old: str) -> None:
    connection = await asyncpg.connect(old, server_settings={"search_path": SCHEMA})
    try:
        before = await connection.fetchval("update server set bootstrapped = true returning server_id")
        await migrate(SecretStr(old), package=MIGRATIONS, schema=SCHEMA, given={"server_id": str(uuid7())})
        after = await connection.fetchrow("select server_id, installation_id from server")
    finally:
        await connection.close()
    assert tuple(after) == (before, before)


async def test_streams_of_projects_get_their_own_names_and_keep_their_numbers(old: str) -> None:
    warehouse = uuid7()
    alike = str(warehouse)
    streams = {"p": ["project", "tag-definition"], alike: ["warehouse", "project"], "server": ["server"], "gone": []}
    connection = await asyncpg.connect(old, server_settings={"search_path": SCHEMA})
    try:
        await connection.execute("insert into project (project_id, name) values ('p', 'p'), ($1, 'alike')", alike)
        await connection.execute(_WAREHOUSE, warehouse)
        for stream, kinds in streams.items():
            await connection.execute("insert into event_stream (stream, seq) values ($1, $2)", stream, len(kinds))
            await connection.execute("insert into sink_cursor (sink, stream, seq) values ('nats', $1, 1)", stream)
            for number, kind in enumerate(kinds, 1):
                await connection.execute(
                    "insert into event_log (stream, seq, slot, event_id, kind, verb, body, at) values "
                    "($1, $2, 0, gen_random_uuid(), $3, 'created', '', now())",
                    stream,
                    number,
                    kind,
                )
        for stream, kind in ((alike, "table"), (alike, "project"), ("p", "project")):
            await connection.execute(
                "insert into outbox (event_id, stream, kind, verb, body) values (gen_random_uuid(), $1, $2, 'created', '')",
                stream,
                kind,
            )
        await migrate(SecretStr(old), package=MIGRATIONS, schema=SCHEMA)
        kept = {row[0]: row[1] for row in await connection.fetch("select stream, seq from event_stream")}
        assert kept == {"project-p": 2, alike: 2, "server": 1, "gone": 0}
        logged = {row[0] for row in await connection.fetch("select distinct stream from event_log")}
        assert logged == {"project-p", alike, "server"}
        assert {row[0] for row in await connection.fetch("select stream from sink_cursor")} == {*kept}
        waiting = [tuple(row) for row in await connection.fetch("select stream, kind from outbox order by outbox_id")]
        assert waiting == [(alike, "table"), (f"project-{alike}", "project"), ("project-p", "project")]
    finally:
        await connection.close()
