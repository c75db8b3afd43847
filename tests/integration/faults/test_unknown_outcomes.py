"""Commits whose answer from Postgres never comes.

A trigger holds each commit up while the test holds its lock, so that the line is cut exactly while Postgres commits.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import asyncpg
import httpx
import pytest

from tests.support import failpoint
from tests.support.audit import Table, load, loaded, snapshot_ids
from tests.support.faults import UNKNOWN, House, append, create
from tests.support.http import NOBODY
from tests.support.installations import Composition
from tests.support.proxy import TO_CLIENT, TO_SERVER, Cut, Direction
from tests.support.warehouses import Warehouse, make_namespace

pytestmark = [
    pytest.mark.integration,
    pytest.mark.parametrize("composition", [Composition.ONE_PROCESS], indirect=True),
]

Beside: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

_LOCK = 4711
_TRIGGER = f"""
create or replace function hold_commit() returns trigger language plpgsql
    as 'begin perform pg_advisory_xact_lock_shared({_LOCK}); return null; end';
create constraint trigger hold_commit after insert on lakeward_catalog.outbox
    deferrable initially deferred for each row execute function hold_commit();
"""
_UNTRIGGER = "drop trigger hold_commit on lakeward_catalog.outbox; drop function hold_commit()"
_COMMITTING = """
select pid from pg_stat_activity
 where datname = current_database() and query = 'commit' and wait_event_type = 'Lock' and pid <> pg_backend_pid()
"""


@dataclass(frozen=True, slots=True)
class Held:
    """Commits that Postgres does not end until it is let go."""

    house: House
    beside: Beside

    async def reached(self) -> int:
        """Wait until a commit is held; its backend's pid."""
        async with asyncio.timeout(20):
            while (pid := await self.beside.fetchval(_COMMITTING)) is None:
                await asyncio.sleep(0.01)
        return int(pid)

    async def let_go(self) -> None:
        await self.beside.execute("select pg_advisory_unlock_all()")


@pytest.fixture
async def held(house: House, beside: Beside) -> AsyncIterator[Held]:
    await beside.execute(_TRIGGER)
    await beside.execute(f"select pg_advisory_lock({_LOCK})")
    made = Held(house, beside)
    try:
        yield made
    finally:
        await made.let_go()
        await house.lines.mend()
        await beside.execute(_UNTRIGGER)


@pytest.fixture
async def table(house: House) -> Table:
    (made,) = await house.tables({"t": 1})
    return made


async def _commits(http: httpx.AsyncClient, table: Table, snapshot_id: int) -> httpx.Response:
    body = append(await load(http, table), snapshot_id)
    return await http.post(table.path, json=body)


async def test_a_commit_whose_answer_was_lost_is_read_back_once_it_has_ended(
    house: House, http: httpx.AsyncClient, table: Table, held: Held
) -> None:
    committing = asyncio.create_task(_commits(http, table, 1))
    await held.reached()
    house.lines.postgres.cut_all()
    await held.let_go()
    assert (await committing).status_code == 200
    assert not (await house.audit({table: [1]})).wrong


async def test_a_commit_that_surely_did_not_happen_is_refused_with_503_and_leaves_nothing(
    house: House, http: httpx.AsyncClient, table: Table, held: Held
) -> None:
    committing = asyncio.create_task(_commits(http, table, 1))
    pid = await held.reached()
    house.lines.postgres.cut_all()
    await held.beside.execute("select pg_terminate_backend($1)", pid)
    reply = await committing
    assert (reply.status_code, reply.json()["error"]["type"]) == (503, "CatalogBackendError")
    findings = await house.audit({table: []})
    assert not findings.wrong + findings.orphans


async def test_a_commit_whose_outcome_stays_unknown_is_said_to_be_and_keeps_its_file(
    house: House, http: httpx.AsyncClient, table: Table, held: Held
) -> None:
    committing = asyncio.create_task(_commits(http, table, 1))
    await held.reached()
    await house.lines.postgres.refuse()
    reply = await committing
    assert (reply.status_code, reply.json()["error"]["type"]) == (500, UNKNOWN)
    await held.let_go()
    await house.lines.mend()
    assert snapshot_ids(await load(http, table)) == [1]
    assert not (await house.audit({table: [1]})).wrong


async def test_reading_back_without_waiting_for_the_commit_deletes_a_file_that_is_pointed_to(
    house: House, table: Table, held: Held
) -> None:
    """The twin: the read-back waits for a commit that is under way; without that, the file is gone when it ends."""
    async with (
        house.faulty_catalog(failpoint.UNLOCKED),
        httpx.AsyncClient(verify=NOBODY, base_url=house.installation.url, timeout=60) as http,
    ):
        committing = asyncio.create_task(_commits(http, table, 1))
        await held.reached()
        house.lines.postgres.cut_all()
        assert (await committing).status_code == 503
        await held.let_go()
        findings = await house.audit({table: [1]})
    assert [found for found in findings.wrong if "is pointed to, and is not there" in found]


Change: TypeAlias = Callable[[httpx.AsyncClient, "Scene"], Awaitable[httpx.Response]]


@dataclass(frozen=True, slots=True)
class Scene:
    """What there is to change.

    Attributes:
        file: a metadata file that no table has.
    """

    warehouse: Warehouse
    namespace: str
    table: Table
    metadata: dict[str, Any]
    file: str

    @property
    def path(self) -> str:
        return f"{self.warehouse.path}/namespaces/{self.namespace}"


_SCHEMA = {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "id", "type": "long", "required": False}]}
_VIEW = {
    "name": "v",
    "schema": _SCHEMA,
    "properties": {},
    "view-version": {
        "version-id": 1,
        "timestamp-ms": 1,
        "schema-id": 0,
        "summary": {},
        "default-namespace": [],
        "representations": [{"type": "sql", "sql": "select 1 as id", "dialect": "spark"}],
    },
}


async def _properties(http: httpx.AsyncClient, scene: Scene, path: str, kind: str) -> httpx.Response:
    update = {"action": "set-properties", "updates": {"a": "b"}}
    uuid = (await http.get(path)).json()["metadata"][f"{kind}-uuid"]
    return await http.post(
        path, json={"requirements": [{"type": f"assert-{kind}-uuid", "uuid": uuid}], "updates": [update]}
    )


_CHANGES: dict[str, Change] = {
    "create a table": lambda http, at: http.post(f"{at.path}/tables", json={"name": "new", "schema": _SCHEMA}),
    "stage a table": lambda http, at: http.post(
        f"{at.path}/tables", json={"name": "new", "schema": _SCHEMA, "stage-create": True}
    ),
    "create a view": lambda http, at: http.post(f"{at.path}/views", json={**_VIEW, "name": "new"}),
    "register": lambda http, at: http.post(f"{at.path}/register", json={"name": "new", "metadata-location": at.file}),
    "commit a view": lambda http, at: _properties(http, at, f"{at.path}/views/v", "view"),
    "commit a transaction": lambda http, at: http.post(
        f"{at.warehouse.path}/transactions/commit",
        json={
            "table-changes": [
                {"identifier": {"namespace": [at.namespace], "name": "t"}, **append(at.metadata, 1)},
            ]
        },
    ),
    "rename": lambda http, at: http.post(
        f"{at.warehouse.path}/tables/rename",
        json={
            "source": {"namespace": [at.namespace], "name": "t"},
            "destination": {"namespace": [at.namespace], "name": "new"},
        },
    ),
    "drop": lambda http, at: http.delete(f"{at.path}/tables/t"),
    "create a namespace": lambda http, at: http.post(f"{at.warehouse.path}/namespaces", json={"namespace": ["new"]}),
    "set properties": lambda http, at: http.post(f"{at.path}/properties", json={"updates": {"a": "b"}}),
    "drop a namespace": lambda http, at: http.delete(f"{at.path}?force=true&recursive=true&purge=false"),
}


@pytest.mark.parametrize("change", _CHANGES)
async def test_no_change_whose_outcome_is_unknown_is_answered_as_if_it_had_not_happened(
    house: House, http: httpx.AsyncClient, held: Held, change: str
) -> None:
    await held.let_go()
    scene = await _scene(house, http)
    await held.beside.execute(f"select pg_advisory_lock({_LOCK})")
    changing = asyncio.ensure_future(_CHANGES[change](http, scene))
    await held.reached()
    await house.lines.postgres.refuse()
    reply = await changing
    assert (reply.status_code, reply.json()["error"]["type"]) == (500, UNKNOWN)


async def _scene(house: House, http: httpx.AsyncClient) -> Scene:
    warehouse = await house.warehouse(http)
    namespace = await make_namespace(http, warehouse)
    table = await create(http, warehouse, namespace, "t")
    gone = await create(http, warehouse, namespace, "gone")
    file = (await loaded(http, gone))["metadata-location"]
    assert (await http.delete(gone.path, params={"purgeRequested": "false"})).status_code == 204
    assert (await http.post(f"{warehouse.path}/namespaces/{namespace}/views", json=_VIEW)).is_success
    return Scene(warehouse, namespace, table, await load(http, table), file)


_SAMPLES = 14
_SEED = 20


@pytest.mark.parametrize("direction", [TO_SERVER, TO_CLIENT], ids=lambda direction: direction.value)
async def test_a_connection_that_is_cut_at_any_byte_of_a_commit_is_survived(
    house: House, http: httpx.AsyncClient, table: Table, direction: Direction
) -> None:
    line = house.lines.postgres
    whole = await _bytes_of_a_commit(house, http, table, direction)
    numbers = random.Random(_SEED)
    committed = [1]
    answers: list[tuple[int, int]] = []
    offsets = [0, 1, whole - 1, *(numbers.randrange(whole) for _ in range(_SAMPLES))]
    for number, offset in enumerate(offsets, start=2):
        metadata = await load(http, table)
        async with _cutting(house, Cut(offset, direction)):
            reply = await http.post(table.path, json=append(metadata, number))
        kind = "" if reply.is_success else reply.json()["error"]["type"]
        answers.append((offset, reply.status_code))
        there = number in snapshot_ids(await load(http, table))
        assert (reply.status_code, kind) in {(200, ""), (503, "CatalogBackendError"), (500, UNKNOWN)}, (
            offset,
            reply.text,
        )
        if reply.status_code != 500:
            assert there is reply.is_success, (
                f"cut after {offset} of {whole} bytes: {reply.text}, and the snapshot is in: {there}"
            )
        if there:
            committed.append(number)
    assert line.connections > len(offsets), "no connection was cut"
    assert {status for _, status in answers} >= {503}, answers
    assert not (await house.audit({table: committed})).wrong


@asynccontextmanager
async def _cutting(house: House, cut: Cut) -> AsyncIterator[None]:
    house.lines.postgres.cut_each(cut)
    house.lines.postgres.cut_all()
    try:
        yield
    finally:
        house.lines.postgres.cut_each(None)
        house.lines.postgres.cut_all()


async def _bytes_of_a_commit(house: House, http: httpx.AsyncClient, table: Table, direction: Direction) -> int:
    """How many bytes pass while one commit is made over new connections."""
    line = house.lines.postgres
    metadata = await load(http, table)
    line.cut_all()
    before = line.passed[direction]
    assert (await http.post(table.path, json=append(metadata, 1))).status_code == 200
    return line.passed[direction] - before
