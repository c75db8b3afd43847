"""Telling authz of the tree, over a catalog in memory and an authz that answers as a test says."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeward_catalog.application.feeding import FeedPace, TreeFeed
from lakeward_catalog.application.refs import namespace_ref, tabular_ref, warehouse_ref
from lakeward_catalog.application.tree import PROJECTS, Numbered, StreamId, stream_of
from lakeward_catalog.domain.model import Namespace, Tabular, Warehouse
from lakeward_servicekit.authorization.objects import ObjectRef
from lakeward_servicekit.authorization.principals import user
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.events.bell import LocalBell
from tests.support.catalog.memory import MemoryCatalog
from tests.support.catalog.memory_tree import MemoryTree, MemoryTreeStreams, away
from tests.support.catalog.values import a_body, a_namespace, a_project, a_tabular, a_warehouse

ANNA = user("oidc~anna")
QUICK = FeedPace(poll=timedelta(0), gather=timedelta(0), first_retry=timedelta(0), last_retry=timedelta(0))


class World:
    """A catalog, an authz, and what tells the one of the other; `feeds` more than one stand for processes."""

    def __init__(self, *, awaited: bool = True, pace: FeedPace = QUICK) -> None:
        self.catalog, self.tree = MemoryCatalog(), MemoryTree()
        self.streams = MemoryTreeStreams(self.catalog)
        self.awaited, self.pace = awaited, pace
        self.feed = self.another_feed()

    def another_feed(self) -> TreeFeed:
        return TreeFeed(self.streams, self.tree, LocalBell(), awaited=self.awaited, pace=self.pace)

    async def a_warehouse(self) -> Warehouse:
        project = a_project()
        warehouse = a_warehouse(project)
        async with self.catalog.changes.change() as change:
            await change.projects.insert(project, owner=ANNA)
        async with self.catalog.changes.change() as change:
            await change.warehouses.insert(warehouse, owner=ANNA)
        return warehouse

    async def a_namespace(self, warehouse: Warehouse, *, parent: Namespace | None = None) -> Namespace:
        namespace = a_namespace(warehouse, parent=parent)
        async with self.catalog.changes.change() as change:
            await change.namespaces.insert(namespace, owner=ANNA)
        return namespace

    async def a_table(self, namespace: Namespace) -> Tabular:
        tabular = a_tabular(namespace)
        async with self.catalog.changes.change() as change:
            await change.tabulars.insert(tabular, a_body(), owner=ANNA)
        return tabular

    def expected(self) -> dict[tuple[object, str, str, bytes], bytes]:
        """The tree that the catalog's rows are."""
        rows = self.catalog.rows
        refs = [ObjectRef.project(each) for each in rows.projects]
        refs += [warehouse_ref(each) for each in rows.warehouses.values()]
        refs += [namespace_ref(rows.warehouses[each.warehouse_id], each) for each in rows.namespaces.values()]
        refs += [tabular_ref(rows.warehouses[each.warehouse_id], each) for each in rows.tabulars.values()]
        return {(ref.kind, ref.project_id, ref.warehouse_id, ref.id): ref.parent_id for ref in refs}

    async def settle(self) -> None:
        """Tell everything that is pending."""
        for stream in await self.streams.pending():
            await self.feed.delivered(stream)

    def heard(self, stream: StreamId) -> list[int]:
        return [numbered.sequence for each, numbered in self.tree.heard if each == stream]


async def _running(world: World, until: Callable[[], bool], feed: TreeFeed | None = None) -> None:
    """Run the loop until something is so."""
    loop = asyncio.create_task((feed or world.feed).run(jitter=lambda: 0.0))
    try:
        async with asyncio.timeout(30):
            while not until():
                await asyncio.sleep(0)
    finally:
        loop.cancel()
        await asyncio.gather(loop, return_exceptions=True)


async def test_a_maker_waits_until_authz_knows_of_what_it_made_and_of_all_that_holds_it() -> None:
    world = World()
    warehouse = await world.a_warehouse()
    namespace = await world.a_namespace(warehouse)
    await world.feed.grown([stream_of(warehouse.warehouse_id)], awaited=True)
    assert world.tree.objects == world.expected()
    assert next(each for each, _ in world.tree.heard) == PROJECTS
    assert namespace_ref(warehouse, namespace).id in {key[3] for key in world.tree.objects}


async def test_nobody_waits_where_decisions_are_not_made_from_the_tree_and_it_is_told_all_the_same() -> None:
    world = World(awaited=False)
    warehouse = await world.a_warehouse()
    await world.feed.grown([stream_of(warehouse.warehouse_id)], awaited=True)
    assert world.tree.calls == 0
    await _running(world, lambda: world.tree.objects == world.expected())


async def test_a_deletion_waits_for_nothing_and_is_told_by_the_loop() -> None:
    world = World()
    warehouse = await world.a_warehouse()
    await world.settle()
    async with world.catalog.changes.change() as change:
        await change.warehouses.delete(warehouse.warehouse_id)
    calls = world.tree.calls
    await world.feed.grown([stream_of(warehouse.warehouse_id)], awaited=False)
    assert world.tree.calls == calls
    await _running(world, lambda: world.tree.objects == world.expected())


async def test_what_was_made_while_authz_is_away_stands_and_is_told_when_it_is_back() -> None:
    world = World()

    def refuse(_stream: StreamId, _changes: Sequence[Numbered]) -> None:
        raise away()

    world.tree.before = refuse
    warehouse = await world.a_warehouse()
    await world.feed.grown([stream_of(warehouse.warehouse_id)], awaited=True)
    assert world.tree.objects == {}
    assert set(await world.streams.pending()) == {PROJECTS, stream_of(warehouse.warehouse_id)}
    world.tree.before = lambda _stream, _changes: None
    await _running(world, lambda: world.tree.objects == world.expected())


async def test_a_maker_waits_no_longer_than_its_patience_for_an_authz_that_does_not_answer() -> None:
    world = World(pace=FeedPace(patience=timedelta(0)))
    warehouse = await world.a_warehouse()
    await world.feed.grown([stream_of(warehouse.warehouse_id)], awaited=True)
    await world.settle()
    assert world.tree.objects == world.expected()


async def test_the_loop_outlives_a_database_and_an_authz_that_are_away() -> None:
    world, failures = World(), iter([True] * 5)
    await world.a_warehouse()
    pending = world.streams.pending

    async def sometimes() -> Sequence[StreamId]:
        if next(failures, False):
            raise Refusal(Reason.REASON_DATABASE_UNAVAILABLE, "the database is away")
        return await pending()

    def refuse(_stream: StreamId, _changes: Sequence[Numbered]) -> None:
        if random.random() < 0.5:
            raise away()

    world.streams.pending, world.tree.before = sometimes, refuse  # type: ignore[method-assign]
    await _running(world, lambda: world.tree.objects == world.expected())


async def test_an_answer_that_is_lost_repeats_what_was_told_and_applies_it_once() -> None:
    world, lost = World(), iter([True, True])

    def lose() -> None:
        if next(lost, False):
            raise away()

    warehouse = await world.a_warehouse()
    world.tree.after = lose
    for _ in range(3):
        await world.feed.grown([stream_of(warehouse.warehouse_id)], awaited=True)
    assert world.heard(stream_of(warehouse.warehouse_id)) == [1]
    assert world.tree.objects == world.expected()


async def test_another_process_goes_on_where_one_died_between_telling_and_noting() -> None:
    world = World()
    warehouse = await world.a_warehouse()
    stream = stream_of(warehouse.warehouse_id)
    await world.feed.delivered(stream)  # what authz answered is in this process's memory alone
    for _ in range(3):
        await world.a_namespace(warehouse)
        await world.another_feed().delivered(stream)
    assert world.heard(stream) == [1, 2, 3, 4]
    assert world.tree.objects == world.expected()


async def test_two_processes_that_tell_of_one_stream_at_once_apply_each_change_once() -> None:
    world = World()
    warehouse = await world.a_warehouse()
    stream, feeds = stream_of(warehouse.warehouse_id), [world.another_feed() for _ in range(3)]

    async def make_some(feed: TreeFeed) -> None:
        for _ in range(10):
            await world.a_namespace(warehouse)
            await feed.grown([stream], awaited=True)

    await asyncio.gather(*map(make_some, feeds))
    assert world.heard(stream) == list(range(1, 32))
    assert world.tree.objects == world.expected()


async def test_makers_that_come_together_share_a_call() -> None:
    world = World()
    warehouse = await world.a_warehouse()
    stream = stream_of(warehouse.warehouse_id)
    await world.feed.delivered(stream)
    calls = world.tree.calls
    for _ in range(20):
        await world.a_namespace(warehouse)
    await asyncio.gather(*(world.feed.grown([stream], awaited=True) for _ in range(20)))
    assert world.tree.calls == calls + 1


async def test_nothing_is_kept_of_streams_whose_makers_have_their_answers() -> None:
    world = World()
    streams = [stream_of((await world.a_warehouse()).warehouse_id) for _ in range(20)]
    await asyncio.gather(*(world.feed.grown([stream], awaited=True) for stream in streams for _ in range(3)))
    assert not world.feed.telling


async def test_a_maker_that_gave_up_leaves_its_round_to_those_who_wait_and_to_those_who_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    stream = stream_of((await world.a_warehouse()).warehouse_id)
    await world.feed.delivered(PROJECTS)
    asked, answers, apply = asyncio.Event(), asyncio.Event(), world.tree.apply
    calls = 0

    async def slowly(each: StreamId, changes: Sequence[Numbered]) -> int:
        nonlocal calls
        calls += 1
        asked.set()
        await answers.wait()
        return await apply(each, changes)

    monkeypatch.setattr(world.tree, "apply", slowly)
    impatient, patient = (asyncio.create_task(world.feed.delivered(stream)) for _ in range(2))
    await asked.wait()
    impatient.cancel()
    await asyncio.wait([impatient])
    late = asyncio.create_task(world.feed.delivered(stream))
    await asyncio.sleep(0)
    assert (list(world.feed.telling), calls) == ([stream], 1)
    answers.set()
    await asyncio.gather(patient, late)
    assert not world.feed.telling
    assert calls == 1


async def test_what_was_deleted_with_its_project_before_authz_heard_of_either_leaves_nothing() -> None:
    world = World()
    warehouse = await world.a_warehouse()
    namespace = await world.a_namespace(warehouse)
    async with world.catalog.changes.change() as change:
        await change.namespaces.delete(namespace)
        await change.warehouses.delete(warehouse.warehouse_id)
        await change.projects.delete(warehouse.project_id)
    await world.feed.delivered(PROJECTS)
    await world.feed.delivered(stream_of(warehouse.warehouse_id))
    assert world.tree.objects == {}


async def test_one_change_that_no_tree_can_take_keeps_no_other_from_authz(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    warehouse = await world.a_warehouse()
    lost = await world.a_namespace(warehouse)
    await world.settle()
    for key in [key for key in world.tree.objects if key[3] == lost.namespace_id.bytes]:
        del world.tree.objects[key]  # a drift made by hand
    inside = await world.a_table(lost)
    beside = [await world.a_namespace(warehouse) for _ in range(9)]
    await world.feed.delivered(stream_of(warehouse.warehouse_id))
    known = {key[3] for key in world.tree.objects}
    assert {each.namespace_id.bytes for each in beside} <= known
    assert inside.incarnation.bytes not in known
    (error,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert vars(error)["sequence"] == 3


async def test_an_authz_that_lost_what_it_had_confirmed_is_told_of_what_comes_next() -> None:
    world = World()
    warehouse = await world.a_warehouse()
    stream = stream_of(warehouse.warehouse_id)
    for _ in range(3):
        await world.a_namespace(warehouse)
    await world.settle()
    await world.settle()
    world.tree.applied[stream] = 2  # restored from a backup
    late = await world.a_namespace(warehouse)
    await world.feed.delivered(stream)
    assert world.tree.applied[stream] == 3
    assert late.namespace_id.bytes in {key[3] for key in world.tree.objects}


async def test_an_authz_that_knows_more_than_was_sent_is_told_of_what_comes_next() -> None:
    world = World()
    warehouse = await world.a_warehouse()
    stream = stream_of(warehouse.warehouse_id)
    await world.settle()
    world.tree.applied[stream] = 70  # the catalog was restored
    late = await world.a_namespace(warehouse)
    await world.feed.delivered(stream)
    assert world.tree.applied[stream] == 71
    assert late.namespace_id.bytes in {key[3] for key in world.tree.objects}


Step = Callable[[World, random.Random], Awaitable[None]]


async def _make_namespace(world: World, chance: random.Random) -> None:
    warehouse = chance.choice(list(world.catalog.rows.warehouses.values()))
    inside = [each for each in world.catalog.rows.namespaces.values() if each.warehouse_id == warehouse.warehouse_id]
    await world.a_namespace(warehouse, parent=chance.choice([None, *inside]))


async def _make_table(world: World, chance: random.Random) -> None:
    if world.catalog.rows.namespaces:
        await world.a_table(chance.choice(list(world.catalog.rows.namespaces.values())))


async def _move_table(world: World, chance: random.Random) -> None:
    rows = world.catalog.rows
    if rows.tabulars:
        tabular = chance.choice(list(rows.tabulars.values()))
        homes = [each for each in rows.namespaces.values() if each.warehouse_id == tabular.warehouse_id]
        async with world.catalog.changes.change() as change:
            await change.tabulars.rename(tabular, namespace=chance.choice(homes), name=tabular.ident.name)


async def _drop_table(world: World, chance: random.Random) -> None:
    if world.catalog.rows.tabulars:
        async with world.catalog.changes.change() as change:
            await change.tabulars.delete(chance.choice(list(world.catalog.rows.tabulars.values())))


async def _drop_namespace(world: World, chance: random.Random) -> None:
    if world.catalog.rows.namespaces:
        async with world.catalog.changes.change() as change:
            await change.namespaces.delete(chance.choice(list(world.catalog.rows.namespaces.values())))


async def _tell_some(world: World, chance: random.Random) -> None:
    for stream in await world.streams.pending():
        if chance.random() < 0.5:
            feed = chance.choice([world.feed, world.another_feed()])
            await asyncio.gather(feed.delivered(stream), return_exceptions=True)


STEPS: Sequence[Step] = (_make_namespace, _make_table, _move_table, _drop_table, _drop_namespace, _tell_some)


@given(st.integers(min_value=0, max_value=2**32), st.lists(st.sampled_from(STEPS), max_size=40))
@settings(max_examples=60, deadline=None)
async def test_the_tree_is_the_catalogs_whatever_was_done_and_whatever_failed(seed: int, steps: list[Step]) -> None:
    chance, world = random.Random(seed), World()

    def fail(*_: object) -> None:
        if chance.random() < 0.3:
            raise away()

    await world.a_warehouse()
    await world.a_warehouse()
    world.tree.before = world.tree.after = fail
    for step in steps:
        await step(world, chance)
    world.tree.before = world.tree.after = lambda *_: None
    await world.settle()
    assert world.tree.objects == world.expected()
    for stream, applied in world.tree.applied.items():
        assert world.heard(stream) == list(range(1, applied + 1))
