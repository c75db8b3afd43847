from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest

from lakeward_catalog.application.ports.stores import After, Visibility
from lakeward_catalog.domain.model import Incarnation, Kind, Namespace, State, Tabular
from lakeward_catalog.domain.tasks import Queue, Task
from lakeward_servicekit.authorization.principals import ANONYMOUS
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.stores import Stores
from tests.support.catalog.values import EVERYTHING, NOON, a_body, a_namespace, a_purge, a_tabular, uuid7

NOTHING = Visibility(everything=False)
SILENCE = timedelta(minutes=5)


async def _drop(stores: Stores, *tabulars: Tabular, at: datetime = NOON) -> None:
    for index, tabular in enumerate(tabulars):
        async with stores.changes.change() as change:
            moment = at + timedelta(seconds=index)
            await change.tabulars.drop(tabular, at=moment, expires_at=moment + timedelta(days=7))


async def _deleted(
    stores: Stores,
    namespace: Namespace,
    *,
    only: bool = False,
    after: After | None = None,
    limit: int = 100,
    **visible: Visibility,
) -> list[Tabular]:
    shown = {Kind[kind.upper()]: each for kind, each in visible.items()} or dict.fromkeys(Kind, EVERYTHING)
    within = namespace.namespace_id if only else None
    found = await stores.tabulars.deleted(namespace.warehouse_id, within, visible=shown, after=after, limit=limit)
    return [each.tabular for each in found]


async def _now(stores: Stores, tabular: Tabular) -> Tabular:
    found = await stores.tabulars.by_id(tabular.warehouse_id, tabular.tabular_id)
    assert found is not None
    return found


async def test_a_listing_has_what_was_dropped_and_can_be_restored_in_its_order(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    first, second, third = [await stores.with_tabular(namespace) for _ in range(3)]
    await stores.with_tabular(namespace, state=State.STAGED, expires_at=NOON)
    await _drop(stores, third, first)
    found = await stores.tabulars.deleted(
        namespace.warehouse_id, None, visible=dict.fromkeys(Kind, EVERYTHING), after=None, limit=10
    )
    assert [(each.tabular.incarnation, each.dropped_at) for each in found] == [
        (third.incarnation, NOON),
        (first.incarnation, NOON + timedelta(seconds=1)),
    ]
    assert found[0].tabular == await _now(stores, third)
    assert second.incarnation not in {each.tabular.incarnation for each in found}


async def test_a_page_goes_on_behind_the_last_entry_also_where_several_were_dropped_at_once(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    tabulars = [await stores.with_tabular(namespace) for _ in range(3)]
    for tabular in tabulars:
        await _drop(stores, tabular)
    whole = [each.incarnation for each in await _deleted(stores, namespace)]
    assert whole == sorted(each.incarnation for each in tabulars)
    assert [each.incarnation for each in await _deleted(stores, namespace, limit=2)] == whole[:2]
    rest = await _deleted(stores, namespace, after=After(NOON, whole[1]))
    assert [each.incarnation for each in rest] == whole[2:]


async def test_a_listing_is_narrowed_to_a_namespace_and_never_leaves_its_warehouse(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    warehouse = await stores.warehouse_of(namespace)
    inner = a_namespace(warehouse, parent=namespace)
    async with stores.changes.change() as change:
        await change.namespaces.insert(inner, owner=ANONYMOUS)
    here, below, elsewhere = [await stores.with_tabular(each) for each in (namespace, inner, None)]
    await _drop(stores, here, below, elsewhere)
    assert await _deleted(stores, namespace) == [await _now(stores, here), await _now(stores, below)]
    assert await _deleted(stores, namespace, only=True) == [await _now(stores, here)]


async def test_what_shows_is_said_for_each_kind_by_container_and_by_object(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    warehouse = await stores.warehouse_of(namespace)
    inner = a_namespace(warehouse, parent=namespace)
    beside = a_namespace(warehouse, namespace.ident.name + "x")
    async with stores.changes.change() as change:
        await change.namespaces.insert(inner, owner=ANONYMOUS)
        await change.namespaces.insert(beside, owner=ANONYMOUS)
    tables = [await stores.with_tabular(each) for each in (namespace, inner, beside)]
    views = [await stores.with_tabular(each, kind=Kind.VIEW) for each in (namespace, inner, beside)]
    await _drop(stores, *tables, *views)

    async def shown(**visible: Visibility) -> list[Incarnation]:
        return [each.incarnation for each in await _deleted(stores, namespace, **visible)]

    inside = Visibility(everything=False, containers=frozenset({namespace.namespace_id}))
    table, view = (
        Visibility(everything=False, objects=frozenset({each.incarnation})) for each in (tables[2], views[0])
    )
    assert await shown(table=EVERYTHING) == [each.incarnation for each in tables]
    assert await shown(table=NOTHING, view=inside) == [each.incarnation for each in views[:2]]
    assert await shown(table=table) == [tables[2].incarnation]
    assert await shown(table=table, view=view) == [tables[2].incarnation, views[0].incarnation]
    assert await shown(table=inside, view=view) == [*(each.incarnation for each in tables[:2]), views[0].incarnation]
    assert await shown(table=NOTHING, view=NOTHING) == []


async def test_several_are_found_by_ids_of_their_warehouse_whatever_their_state(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    live, dropped = [await stores.with_tabular(namespace) for _ in range(2)]
    staged = await stores.with_tabular(namespace, state=State.STAGED, expires_at=NOON)
    elsewhere = await stores.with_tabular()
    await _drop(stores, dropped)
    ids = [each.tabular_id for each in (live, dropped, staged, elsewhere)]
    found = await stores.tabulars.by_ids(namespace.warehouse_id, ids)
    assert {each.incarnation for each in found} == {each.incarnation for each in (live, dropped, staged)}
    assert list(await stores.tabulars.by_ids(namespace.warehouse_id, [])) == []


async def test_what_is_restored_has_its_name_again_and_never_expires(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    await _drop(stores, tabular)
    async with stores.changes.change() as change:
        (locked,) = await change.tabulars.lock_incarnations(tabular.warehouse_id, [tabular.incarnation])
        assert locked.state is State.DROPPED
        await change.tabulars.undrop(locked)
    found = (await stores.tabulars.locate(tabular.warehouse_id, tabular.ident)).tabular
    assert found is not None
    assert (found.incarnation, found.state, found.expires_at) == (tabular.incarnation, State.LIVE, None)
    assert found.row_version > locked.row_version


async def test_a_name_that_is_taken_is_not_restored_to_and_one_that_was_promised_is(stores: Stores) -> None:
    for state, wins in ((State.LIVE, False), (State.STAGED, True)):
        tabular = await stores.with_tabular()
        await _drop(stores, tabular)
        namespace = (await stores.namespaces.find(tabular.warehouse_id, tabular.ident.namespace))[1]
        assert namespace is not None
        expires = NOON if state is State.STAGED else None
        other = a_tabular(namespace, tabular.ident.name.upper(), state=state, expires_at=expires)
        async with stores.changes.change() as change:
            await change.tabulars.insert(other, a_body(), owner=ANONYMOUS)
        if wins:
            async with stores.changes.change() as change:
                await change.tabulars.undrop(await _now(stores, tabular))
            assert await stores.tabulars.by_id(other.warehouse_id, other.tabular_id) is None
            continue
        with pytest.raises(Refusal) as refused:
            async with stores.changes.change() as change:
                await change.tabulars.undrop(await _now(stores, tabular))
        assert (refused.value.reason, refused.value.metadata["tabular"]) == (
            Reason.REASON_TABULAR_EXISTS,
            str(tabular.ident),
        )
        assert (await _now(stores, tabular)).state is State.DROPPED


async def test_a_row_that_moved_meanwhile_is_not_restored(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    await _drop(stores, tabular)
    before = await _now(stores, tabular)
    async with stores.changes.change() as change:
        await change.tabulars.set_protection(before, protected=True)
    with pytest.raises(Refusal) as refused:
        async with stores.changes.change() as change:
            await change.tabulars.undrop(before)
    assert refused.value.reason == Reason.REASON_CONCURRENT_CHANGE


async def test_rows_are_locked_once_each_and_those_that_are_gone_are_left_out(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    both = [await stores.with_tabular(namespace) for _ in range(2)]
    wanted = [both[1].incarnation, both[0].incarnation, Incarnation(uuid7()), both[1].incarnation]
    async with stores.changes.change() as change:
        locked = await change.tabulars.lock_incarnations(namespace.warehouse_id, wanted[:3])
        assert [each.incarnation for each in locked] == sorted(each.incarnation for each in both)
        assert list(await change.tabulars.lock_incarnations(namespace.warehouse_id, [])) == []


@pytest.mark.parametrize("begun", [False, True])
async def test_a_cancelled_task_is_gone_with_a_record_and_its_worker_hears_of_it(stores: Stores, begun: bool) -> None:
    await _drained(stores)
    tabular = await stores.with_tabular()
    async with stores.changes.change() as change:
        task_id = await change.tasks.enqueue(a_purge(tabular, queue=Queue.SOFT_DELETION))
    task = await _claim(stores) if begun else None
    async with stores.changes.change() as change:
        await change.tasks.cancel(
            Queue.TABULAR_PURGE, tabular.warehouse_id, [tabular.incarnation], at=NOON, message="another queue's"
        )
        assert task is None or await change.tasks.is_held(task)
        await change.tasks.cancel(
            Queue.SOFT_DELETION, tabular.warehouse_id, [tabular.incarnation], at=NOON, message="restored"
        )
        assert task is None or not await change.tasks.is_held(task)
    assert await stores.state_of(task_id) is None
    assert await stores.attempts(task_id) == [(1, "cancelled")]
    assert await _claim(stores) is None
    if task is not None:
        assert not await stores.tasks.keep(task, now=NOON, silence=SILENCE, progress=0)
        assert not await stores.tasks.finish(task, now=NOON, message="", progress=0)


async def test_one_that_failed_before_is_cancelled_in_the_attempt_that_would_have_come(stores: Stores) -> None:
    await _drained(stores)
    tabular = await stores.with_tabular()
    async with stores.changes.change() as change:
        task_id = await change.tasks.enqueue(a_purge(tabular, queue=Queue.SOFT_DELETION))
    task = await _claim(stores)
    assert task is not None
    await stores.tasks.fail(task, now=NOON, message="no", progress=0, retry_at=NOON)
    async with stores.changes.change() as change:
        await change.tasks.cancel(
            Queue.SOFT_DELETION, tabular.warehouse_id, [tabular.incarnation], at=NOON, message="restored"
        )
    assert await stores.attempts(task_id) == [(1, "failed"), (2, "cancelled")]


@pytest.mark.parametrize("turn", range(4))
async def test_of_a_restoration_and_a_final_deletion_at_once_one_wins(stores: Stores, turn: int) -> None:
    tabular = await stores.with_tabular()
    await _drop(stores, tabular)

    async def restore() -> bool:
        async with stores.changes.change() as change:
            locked = await change.tabulars.lock_incarnations(tabular.warehouse_id, [tabular.incarnation])
            for each in locked:
                await change.tabulars.undrop(each)
        return bool(locked)

    async def expire() -> bool:
        async with stores.changes.change() as change:
            row = await change.tabulars.lock_incarnation(tabular.warehouse_id, tabular.incarnation)
            if row is None or row.state is not State.DROPPED:
                return False
            await change.tabulars.delete(row)
        return True

    pair = [restore(), expire()]
    outcomes = await asyncio.gather(*(pair if turn % 2 else pair[::-1]))
    assert sum(outcomes) == 1


async def _drained(stores: Stores) -> None:
    """Every task of earlier tests is done."""
    while task := await _claim(stores, at=NOON + timedelta(days=365)):
        await stores.tasks.finish(task, now=NOON, message="", progress=0)


async def _claim(stores: Stores, *, at: datetime = NOON) -> Task | None:
    return await stores.tasks.claim(Queue.SOFT_DELETION, now=at, silence=SILENCE, attempts=5)
