"""Who reads a warehouse's events from the beginning has its state, whatever changes meanwhile."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio
from google.protobuf.duration_pb2 import Duration

from lakeward.events import Mirror
from lakeward_catalog.adapters.postgres.snapshots import CatalogTold
from lakeward_catalog.adapters.postgres.sweeps import PostgresLeftovers
from lakeward_catalog.application.announcements import Announcer
from lakeward_catalog.domain.model import Kind
from lakeward_protocol.catalog.v1 import (
    contracts_pb2,
    namespaces_pb2,
    server_pb2,
    tables_pb2,
    tabulars_pb2,
    tags_pb2,
    tasks_pb2,
    views_pb2,
    warehouses_pb2,
)
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.bell import LocalBell
from lakeward_servicekit.events.history import HistoryPage, HistoryReads, Part
from lakeward_servicekit.events.positions import Beginning, LogPlace, Now, Position, SnapshotPlace, position_of
from lakeward_servicekit.events.postgres_history import PostgresHistory
from lakeward_servicekit.events.subscribing import Subscriptions
from lakeward_servicekit.postgres.pools import Pool
from tests.support.catalog.house import House, commit_body, ident, refusal_of, tabular, tabular_ref
from tests.support.catalog.stores import PostgresStores, catalog_pool
from tests.support.catalog.values import FreshIds, uuid7
from tests.support.mirrored import mirrored, stored
from tests.support.replaying import caught_up, reads_of, sequencing, shown

pytestmark = pytest.mark.integration

_NAMES = ("a", "b", "c")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stores(postgres_url: str) -> AsyncIterator[PostgresStores]:
    async with catalog_pool(postgres_url) as pool:
        yield PostgresStores(pool)


@pytest_asyncio.fixture(loop_scope="session")
async def house(stores: PostgresStores) -> House:
    """A warehouse of its own for each test."""
    house = House(stores=stores)
    if not (await stores.servers.server()).bootstrapped:
        await house.server.Bootstrap(server_pb2.BootstrapRequest(accept_terms_of_use=True))
    name = f"w-{uuid4()}"
    house.warehouse_id = await house.make_warehouse(name, base=f"s3://lake/{name}")
    return house


def _reads(pool: Pool, *, fresh_within: int = 0) -> HistoryReads:
    announcer = Announcer(source="lakeward://test", ids=FreshIds())
    return reads_of(pool, CatalogTold(announcer), fresh_within=fresh_within)


async def _pages(reads: HistoryReads, stream: str, after: Position, *, limit: int = 5) -> AsyncIterator[HistoryPage]:
    """Pages until the end of the stream for now; each begins where a text says, as with a consumer that started anew."""
    while True:
        page = await reads(stream, Part(position_of(str(after)), limit))
        if not page.events:
            return
        yield page
        after = page.position


@asynccontextmanager
async def _subscribed(reads: HistoryReads, stream: str, bell: LocalBell, mirror: Mirror) -> AsyncIterator[None]:
    """One subscription feeds a mirror, which takes no gap, until the block ends."""

    async def admit() -> str:
        return stream

    async def follow() -> None:
        async for page in Subscriptions(reads)(admit, Beginning()):
            for event in shown(page).events:
                assert event.snapshot or event.sequence == mirror.sequence + 1
                mirror.apply(event)

    async def begin_until_it_can() -> None:
        while True:
            try:
                return await follow()
            except Refusal as refused:  # as with those who ask for pages
                if refused.reason != Reason.REASON_EVENTS_FORGOTTEN or mirror.complete:
                    raise

    tasks = [asyncio.create_task(reads.tail.watch(bell)), asyncio.create_task(begin_until_it_can())]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in ended), ended


class _Changes:
    """Changes a warehouse at random; what does not fit the moment is refused, and that is fine."""

    def __init__(self, house: House, pool: Pool, tag: str, seed: int) -> None:
        self._house, self._pool, self._tag, self._random = house, pool, tag, random.Random(seed)
        self.done = 0

    async def one(self) -> None:
        steps: list[Callable[[], Coroutine[Any, Any, object]]] = [
            self._make_namespace,
            self._move_namespace,
            self._set_properties,
            self._drop_namespace,
            self._make_table,
            self._make_table,
            self._commit,
            self._commit,
            self._rename,
            self._make_view,
            self._drop,
            self._drop,
            self._undrop,
            self._protect,
            self._tag_something,
            self._rename_warehouse,
        ]
        try:
            await self._random.choice(steps)()
        except Refusal as refused:
            assert refused.reason != Reason.REASON_INTERNAL, refused  # noqa: PT017 - the others are races
        else:
            self.done += 1

    def _space(self) -> tuple[str, ...]:
        return tuple(self._random.choices(_NAMES, k=self._random.choice((1, 1, 2))))

    def _name(self) -> tuple[str, ...]:
        return (*self._space(), f"t{self._random.randrange(6)}")

    def _of(self, **members: Any) -> dict[str, Any]:
        return {"warehouse_id": self._house.warehouse_id, **members}

    async def _make_namespace(self) -> None:
        await self._house.make_namespace(*self._space(), color=str(self._random.randrange(9)))

    async def _move_namespace(self) -> None:
        request = namespaces_pb2.MoveNamespaceRequest(
            **self._of(
                namespace_id=await self._any("namespace_id", "namespace"), destination=ident(*self._space(), "moved")
            )
        )
        await self._house.namespaces.MoveNamespace(request)

    async def _set_properties(self) -> None:
        updates = {"size": str(self._random.randrange(99))}
        request = namespaces_pb2.UpdateNamespacePropertiesRequest(
            **self._of(ident=ident(*self._space()), updates=updates, removals=["color"])
        )
        await self._house.namespaces.UpdateNamespaceProperties(request)

    async def _drop_namespace(self) -> None:
        request = namespaces_pb2.DropNamespaceRequest(
            **self._of(ident=ident(*self._space()), recursive=True, force=self._random.random() < 0.3)
        )
        await self._house.namespaces.DropNamespace(request)

    async def _make_table(self) -> None:
        await self._house.make_table(*self._name())

    async def _make_view(self) -> None:
        await self._house.make_view(*self._name())

    async def _commit(self) -> None:
        update = {"action": "set-properties", "updates": {"turn": str(self.done)}}
        request = tables_pb2.CommitTableRequest(**self._of(table=tabular(*self._name()), body=commit_body(update)))
        await self._house.tables.CommitTable(request)

    async def _rename(self) -> None:
        request = tables_pb2.RenameTableRequest(
            **self._of(source=tabular(*self._name()), destination=tabular(*self._name()))
        )
        await self._house.tables.RenameTable(request)

    async def _drop(self) -> None:
        kind, call = self._random.choice(
            (
                (tables_pb2.DropTableRequest, self._house.tables.DropTable),
                (views_pb2.DropViewRequest, self._house.views.DropView),
            )
        )
        field = "table" if kind is tables_pb2.DropTableRequest else "view"
        await call(kind(**self._of(**{field: tabular(*self._name())}, force=self._random.random() < 0.3)))

    async def _undrop(self) -> None:
        found = await self._pool.fetchrow(
            "select tabular_id, kind from tabular where warehouse_id = $1 and state = 'dropped' limit 1",
            UUID(self._house.warehouse_id),
        )
        if found is not None:
            request = tabulars_pb2.UndropTabularsRequest(**self._of(tabulars=[tabular_ref(Kind(found[1]), found[0])]))
            await self._house.tabulars.UndropTabulars(request)

    async def _protect(self) -> None:
        request = tables_pb2.SetTableProtectionRequest(
            **self._of(tabular_id=await self._any("tabular_id", "tabular"), protected=self._random.random() < 0.5)
        )
        await self._house.tables.SetTableProtection(request)

    async def _tag_something(self) -> None:
        table = await self._any("tabular_id", "tabular", "and state = 'live' and kind = 'table'")
        target = self._house.tag_target("table", table)
        if self._random.random() < 0.7:
            value = str(self._random.randrange(9))
            await self._house.tags.SetTag(tags_pb2.SetTagRequest(target=target, tag=self._tag, value=value))
        else:
            await self._house.tags.RemoveTag(tags_pb2.RemoveTagRequest(target=target, tag=self._tag))

    async def _rename_warehouse(self) -> None:
        name = f"w-{uuid4()}"
        await self._house.warehouses.RenameWarehouse(warehouses_pb2.RenameWarehouseRequest(**self._of(name=name)))

    async def _any(self, column: str, table: str, which: str = "") -> str:
        found = await self._pool.fetchval(
            f"select {column} from {table} where warehouse_id = $1 {which} order by random() limit 1",
            UUID(self._house.warehouse_id),
        )
        return str(found or uuid7())


async def _consume(reads: HistoryReads, stream: str, over: asyncio.Event, *, limit: int) -> Mirror:
    """A consumer from the beginning, until all is over and it has all of it.

    Each that begins makes a snapshot, of which the two newest are kept: a slow one may be sent back to the beginning.
    """
    mirror, after = Mirror(), "beginning"
    while True:
        ends = over.is_set()
        try:
            page = await reads(stream, Part(position_of(after), limit))
        except Refusal as refused:
            if refused.reason != Reason.REASON_EVENTS_FORGOTTEN or not after.startswith("snapshot."):
                raise
            mirror, after = Mirror(), "beginning"
            continue
        for event in shown(page).events:
            if event.verb == "created":  # what the snapshot has is not told of once more
                known = {*mirror.namespaces, *mirror.tabulars}
                assert not known & {getattr(event.namespace, "id", ""), getattr(event.tabular, "incarnation", "")}
            mirror.apply(event)  # which takes no gap
        after = str(page.position)
        if ends and not page.events:
            return mirror


@pytest.mark.parametrize("seed", range(2))
async def test_a_snapshot_and_the_log_behind_it_are_the_state_while_everything_changes(
    house: House, stores: PostgresStores, seed: int
) -> None:
    pool, reads, stream = stores.pool, _reads(stores.pool), house.warehouse_id
    tag = await house.make_tag(f"tag-{uuid4()}", "table")
    for name in _NAMES:
        await house.make_namespace(name)
    over = asyncio.Event()
    racing = [_Changes(house, pool, tag, seed * 10 + each) for each in range(3)]
    consumers: list[asyncio.Task[Mirror]] = []

    async def change(one: _Changes) -> None:
        for turn in range(120):
            await one.one()
            if turn % 30 == 0:  # each begins at a moment of its own, among changes under way
                consumers.append(asyncio.create_task(_consume(reads, stream, over, limit=len(consumers) * 5 + 1)))

    bell, subscriber = LocalBell(), Mirror()
    async with sequencing(pool, moved=bell.ring), _subscribed(reads, stream, bell, subscriber):
        await asyncio.gather(*map(change, racing))
        await caught_up(pool)
        over.set()
        mirrors = [*await asyncio.gather(*consumers), subscriber]
        async with asyncio.timeout(30):
            while subscriber.sequence < mirrors[0].sequence:
                await asyncio.sleep(0.01)
    state = await stored(pool, stream)
    assert len(state["tags"]) + sum(each.done for each in racing) > 50
    for mirror in mirrors:
        assert mirror.complete
        assert mirrored(mirror) == state
    assert (await reads(stream, Part(Now()))).newest == mirrors[0].sequence


async def test_a_change_that_nobody_numbered_yet_is_in_the_snapshot_and_not_behind_it(
    house: House, stores: PostgresStores
) -> None:
    reads, stream = _reads(stores.pool), house.warehouse_id
    await house.make_namespace("sales")
    await house.make_table("sales", "orders")
    await house.make_table("sales", "staged", **{"stage-create": True})
    mirror = Mirror()
    position: Position = Beginning()
    async for page in _pages(reads, stream, Beginning(), limit=2):
        assert all(each.snapshot for each in page.events)
        for event in shown(page).events:
            mirror.apply(event)
        position = page.position
    assert mirrored(mirror) == await stored(stores.pool, stream)
    assert position == LogPlace(mirror.sequence)
    assert await stores.pool.fetchval("select count(*) from outbox where stream = $1", stream) == 0
    await house.make_table("sales", "later")
    async with sequencing(stores.pool):
        await caught_up(stores.pool)
    (page,) = [each async for each in _pages(reads, stream, position)]
    assert [(each.sequence, each.kind, each.verb) for each in page.events] == [
        (mirror.sequence + 1, "table", "created")
    ]


async def test_how_queues_are_set_and_which_contracts_are_asked_is_in_a_snapshot(
    house: House, stores: PostgresStores
) -> None:
    contracts = b'[{"name": "readers", "rules": {"columns-stay": true}}]'
    of = {"warehouse_id": house.warehouse_id}
    await house.contracts.SetContracts(contracts_pb2.SetContractsRequest(**of, contracts=contracts))
    for queue, seconds in (("tabular_purge", 60), ("soft_deletion", 90)):
        silence = Duration(seconds=seconds)
        await house.tasks.SetQueueConfig(tasks_pb2.SetQueueConfigRequest(**of, queue=queue, silence=silence))
    await house.tasks.SetQueueConfig(tasks_pb2.SetQueueConfigRequest(**of, queue="tabular_purge"))
    page = shown(await _reads(stores.pool)(house.warehouse_id, Part(Beginning())))
    first, queue, last = page.events
    assert [each["name"] for each in first.data["contracts"]] == ["readers"]
    settings = queue.data["settings"]
    assert (settings["queue"], settings["max-seconds-since-last-heartbeat"]) == ("soft_deletion", 90)
    assert (last.verb, last.data["entities"]) == ("snapshot-completed", 2)


async def test_a_change_under_way_is_behind_the_snapshot_and_not_in_it(house: House, stores: PostgresStores) -> None:
    """The snapshot's moment lies between a change's first statement and its commit, and before one with a smaller number."""
    reads, stream, pool = _reads(stores.pool), house.warehouse_id, stores.pool
    async with pool.raw.acquire() as other:
        transaction = other.transaction()
        await transaction.start()
        await other.execute(
            "insert into outbox (event_id, stream, kind, verb, body) values ($1, $2, 'namespace', 'told', '{}')",
            uuid7(),
            stream,
        )
        await house.make_namespace("sales")
        pages = [page async for page in _pages(reads, stream, Beginning(), limit=1000)]
        await transaction.commit()
    assert [each.kind for each in pages[0].events] == ["warehouse", "namespace", "warehouse"]
    async with sequencing(pool):
        await caught_up(pool)
    (later,) = [page async for page in _pages(reads, stream, pages[0].position)]
    assert [each.verb for each in later.events] == ["told"]


async def test_a_snapshot_is_shared_while_it_is_fresh_and_each_stream_keeps_few(
    house: House, stores: PostgresStores
) -> None:
    pool, stream = stores.pool, house.warehouse_id
    shared, anew = _reads(pool, fresh_within=1000), _reads(pool, fresh_within=-1)
    first = await shared(stream, Part(Beginning(), 1))
    await house.make_namespace("sales")
    second = await shared(stream, Part(Beginning(), 1))
    assert second.position == first.position
    for _ in range(3):
        await anew(stream, Part(Beginning(), 1))
    kept = "select count(*) from event_snapshot where stream = $1"
    assert await pool.fetchval(kept, stream) == 2
    refused = await refusal_of(shared(stream, Part(first.position)))
    assert refused.reason == Reason.REASON_EVENTS_FORGOTTEN
    left = await pool.fetchval(
        "select count(*) from event_snapshot_entry e where not exists (select from event_snapshot s "
        "where s.snapshot_id = e.snapshot_id)"
    )
    assert left == 0


async def test_a_snapshot_of_one_warehouse_is_none_of_another(house: House, stores: PostgresStores) -> None:
    reads, stream = _reads(stores.pool), house.warehouse_id
    page = await reads(stream, Part(Beginning(), 1))
    assert isinstance(page.position, SnapshotPlace)
    other = await house.make_warehouse(f"w-{uuid4()}", base=f"s3://lake/{uuid4()}")
    refused = await refusal_of(reads(other, Part(page.position)))
    assert refused.reason == Reason.REASON_EVENTS_FORGOTTEN


async def test_old_snapshots_are_swept_with_their_events(house: House, stores: PostgresStores) -> None:
    pool, stream = stores.pool, house.warehouse_id
    await _reads(pool)(stream, Part(Beginning(), 1))
    made = await pool.fetchval("select max(made_at) from event_snapshot where stream = $1", stream)
    leftovers = PostgresLeftovers(pool)
    while await leftovers.old_snapshots(before=made + timedelta(microseconds=1), limit=1):
        pass
    assert await pool.fetchval("select count(*) from event_snapshot where stream = $1", stream) == 0
    assert await pool.fetchval("select count(*) from event_snapshot_entry") == 0


async def test_so_much_that_waits_is_no_snapshot(
    house: House, stores: PostgresStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakeward_servicekit.events.postgres_snapshots._MOST_WAITING", 2)
    for name in _NAMES:
        await house.make_namespace(name)
    refused = await refusal_of(_reads(stores.pool)(house.warehouse_id, Part(Beginning())))
    assert (refused.reason, refused.retryable) == (Reason.REASON_EVENTS_BEHIND, True)


async def test_a_page_has_one_event_at_least_and_no_more_bytes_than_it_may(
    house: House, stores: PostgresStores
) -> None:
    history, stream = PostgresHistory(stores.pool), house.warehouse_id
    for name in _NAMES:
        await house.make_namespace(name)
    async with sequencing(stores.pool):
        await caught_up(stores.pool)
    every = await history.read(stream, after=0, limit=10, most_bytes=1 << 20)
    assert [each.sequence for each in every] == [1, 2, 3, 4]
    sizes = [len(each.event.body) for each in every]
    assert len(await history.read(stream, after=0, limit=10, most_bytes=1)) == 1
    assert len(await history.read(stream, after=0, limit=10, most_bytes=sizes[0] + sizes[1])) == 2
    assert len(await history.read(stream, after=0, limit=10, most_bytes=sizes[0] + sizes[1] - 1)) == 1
