"""Connections that go at the worst moment, callers that are cancelled, and what is known afterwards."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from lakeward_catalog.adapters.postgres.changes import PostgresChanges
from lakeward_catalog.application.changes import TabularInsert
from lakeward_catalog.domain.model import Namespace, Tabular
from lakeward_servicekit.authorization.principals import ANONYMOUS
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.postgres.pools import Pool
from tests.support.catalog.stores import PostgresStores, catalog_pool
from tests.support.catalog.values import FreshIds, HeldClock, a_body, a_commit, a_tabular, an_event
from tests.support.proxy import TO_CLIENT, TO_SERVER, Direction, Line, proxy

pytestmark = pytest.mark.integration

_COMMIT_MESSAGE = {TO_SERVER: 12, TO_CLIENT: 18}  # 'Q' "commit"; 'C' "COMMIT" and 'Z'


@dataclass(frozen=True)
class Passed:
    before_commit: int
    after_commit: int


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def line(postgres_url: str, pool: Pool) -> AsyncIterator[Line]:
    assert pool is not None  # the schema is there
    parts = urlsplit(postgres_url)
    assert parts.hostname is not None
    assert parts.port is not None
    async with proxy(parts.hostname, parts.port) as opened:
        yield opened


@contextlib.asynccontextmanager
async def _changes(line: Line, postgres_url: str) -> AsyncIterator[PostgresChanges]:
    async with catalog_pool(line.instead_of(postgres_url), size=1, migrated=True) as through:
        yield PostgresChanges(through, clock=HeldClock(), ids=FreshIds())


async def _create(changes: PostgresChanges, tabular: Tabular) -> None:
    async with changes.change() as change:
        await change.tabulars.insert(tabular, a_body(), owner=ANONYMOUS)
        change.ledger.emit(an_event(tabular.warehouse_id))


async def _measured(line: Line, postgres_url: str, namespace: Namespace) -> dict[Direction, Passed]:
    """How many bytes pass before and with a commit, on a new connection."""
    start = dict(line.passed)
    async with _changes(line, postgres_url) as changes:
        await _create(changes, a_tabular(namespace, "as_long_as"))
        now = dict(line.passed)
    whole = {way: now.get(way, 0) - start.get(way, 0) for way in Direction}
    return {way: Passed(whole[way] - _COMMIT_MESSAGE[way], whole[way]) for way in Direction}


@pytest.mark.parametrize("way", list(Direction))
async def test_a_line_that_is_cut_around_a_commit_never_makes_a_wrong_answer(
    stores: PostgresStores, line: Line, postgres_url: str, way: Direction
) -> None:
    namespace = await stores.with_namespace()
    passed = (await _measured(line, postgres_url, namespace))[way]
    seen: set[tuple[str, bool]] = set()
    # the numbers in the names of prepared statements may have become a digit longer since they were measured
    for after in range(passed.before_commit - 3, passed.after_commit + 25):
        tabular = a_tabular(namespace, f"cut_{after:06d}")
        line.cut_next(after=after, direction=way, abruptly=after % 2 == 0)
        async with _changes(line, postgres_url) as changes:
            try:
                await _create(changes, tabular)
                outcome = "done"
            except Refusal as refused:
                outcome = Reason.Name(refused.reason)
        current = await stores.changes.current_metadata(tabular.warehouse_id, tabular.incarnation)
        happened = current == tabular.metadata_id
        assert (outcome, happened) not in {("done", False), ("REASON_DATABASE_UNAVAILABLE", True)}, f"cut after {after}"
        assert outcome in {"done", "REASON_DATABASE_UNAVAILABLE", "REASON_COMMIT_STATE_UNKNOWN"}
        seen.add((outcome, happened))
    assert ("REASON_COMMIT_STATE_UNKNOWN", way is TO_CLIENT) in seen
    assert ("REASON_DATABASE_UNAVAILABLE", False) in seen
    assert ("done", True) in seen


async def test_a_commit_that_is_cancelled_ends_first(stores: PostgresStores, line: Line, postgres_url: str) -> None:
    tabular = await stores.with_tabular()
    commit = a_commit(tabular)
    async with _changes(line, postgres_url) as changes:
        sent = asyncio.Event()

        async def move() -> None:
            async with changes.change() as change:
                assert not (await change.tabulars.commit([commit])).lost
                line.pause()  # nothing is left to be written: the commit comes next
                sent.set()

        moving = asyncio.create_task(move())
        await sent.wait()
        for _ in range(5):
            moving.cancel()
            await asyncio.sleep(0)
        assert not moving.done()
        line.resume()
        with pytest.raises(asyncio.CancelledError):
            await moving
        assert await changes.current_metadata(tabular.warehouse_id, tabular.incarnation) == commit.metadata_id


async def test_a_change_that_is_cancelled_before_its_commit_leaves_nothing(
    stores: PostgresStores, line: Line, postgres_url: str
) -> None:
    tabular = a_tabular(await stores.with_namespace())
    async with _changes(line, postgres_url) as changes:
        inserted = asyncio.Event()

        async def create() -> None:
            async with changes.change() as change:
                await change.tabulars.insert(tabular, a_body(), owner=ANONYMOUS)
                inserted.set()
                await asyncio.Event().wait()

        creating = asyncio.create_task(create())
        await inserted.wait()
        creating.cancel()
        with pytest.raises(asyncio.CancelledError):
            await creating
        # the pool has one connection: it works again
        assert await changes.current_metadata(tabular.warehouse_id, tabular.incarnation) is None
        await _create(changes, tabular)


async def test_reading_an_unknown_outcome_waits_for_the_commit_that_is_under_way(stores: PostgresStores) -> None:
    tabular = await stores.with_tabular()
    commit = a_commit(tabular)
    async with stores.changes.change() as change:
        await change.tabulars.commit([commit])
        asking = asyncio.create_task(stores.changes.current_metadata(tabular.warehouse_id, tabular.incarnation))
        await _until_one_waits(stores.pool)
        assert not asking.done()
    assert await asking == commit.metadata_id


async def test_reading_an_unknown_outcome_waits_for_the_create_that_is_under_way(stores: PostgresStores) -> None:
    tabular = a_tabular(await stores.with_namespace())
    async with stores.changes.change() as change:
        await change.tabulars.insert(tabular, a_body(), owner=ANONYMOUS)
        asking = asyncio.create_task(stores.changes.current_metadata(tabular.warehouse_id, tabular.incarnation))
        await _until_one_waits(stores.pool)
        assert not asking.done()
    assert await asking == tabular.metadata_id


async def test_of_several_whose_transaction_is_cut_off_each_is_told_and_none_happened(
    stores: PostgresStores, line: Line, postgres_url: str
) -> None:
    namespace = await stores.with_namespace()
    tables = [await stores.with_tabular(namespace) for _ in range(4)]
    new = [a_tabular(namespace) for _ in range(4)]

    async with _changes(line, postgres_url) as changes:

        async def asked() -> list[object]:
            return await asyncio.gather(
                *(changes.commit(a_commit(each), lambda _: an_event(namespace.warehouse_id)) for each in tables),
                *(changes.insert(TabularInsert(each, a_body(), ANONYMOUS), an_event()) for each in new),
                return_exceptions=True,
            )

        async with stores.changes.change() as change:
            await change.tabulars.lock_incarnation(tables[0].warehouse_id, tables[0].incarnation)
            await change.namespaces.lock(namespace.warehouse_id, namespace.ident, exclusively=True)
            asking = asyncio.create_task(asked())
            await _until_one_waits(stores.pool)
            line.cut_all()
            await line.refuse()
            outcomes = await asking
        await line.accept()
    refused = [each.reason for each in outcomes if isinstance(each, Refusal)]
    assert refused == [Reason.REASON_DATABASE_UNAVAILABLE] * 8
    for each in tables:
        assert await stores.changes.current_metadata(each.warehouse_id, each.incarnation) == each.metadata_id
    for each in new:
        assert await stores.changes.current_metadata(each.warehouse_id, each.incarnation) is None


async def test_a_database_that_is_away_is_told_and_comes_back(
    stores: PostgresStores, line: Line, postgres_url: str
) -> None:
    tabular = await stores.with_tabular()
    async with _changes(line, postgres_url) as changes:
        await line.refuse()
        with pytest.raises(Refusal) as refused:
            await changes.current_metadata(tabular.warehouse_id, tabular.incarnation)
        assert refused.value.reason == Reason.REASON_DATABASE_UNAVAILABLE
        await line.accept()
        assert await changes.current_metadata(tabular.warehouse_id, tabular.incarnation) == tabular.metadata_id


async def _until_one_waits(pool: Pool) -> None:
    """Until some session waits for a lock of this database."""
    waiting = """select exists (select from pg_stat_activity
                                 where datname = current_database() and wait_event_type = 'Lock')"""
    async with asyncio.timeout(20):
        while not await pool.fetchval(waiting):
            await asyncio.sleep(0.005)
