"""What a change leaves for authz to be told, and how it is numbered."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from uuid import UUID

import pytest

from lakeward_catalog.application.refs import namespace_ref, tabular_ref, warehouse_ref
from lakeward_catalog.application.tree import (
    PROJECTS,
    Answer,
    Gone,
    Made,
    Moved,
    Nothing,
    Numbered,
    StreamId,
    Switched,
    TreeChange,
    stream_of,
)
from lakeward_catalog.domain.model import Kind, State, Warehouse, WarehouseId
from lakeward_servicekit.authorization.objects import ObjectRef
from lakeward_servicekit.authorization.principals import (
    ANONYMOUS,
    SERVICE,
    Principal,
    PrincipalKind,
    RoleId,
    UserId,
    user,
)
from lakeward_servicekit.errors import Refusal
from tests.support.catalog.stores import Stores
from tests.support.catalog.values import (
    NOON,
    a_body,
    a_commit,
    a_namespace,
    a_project,
    a_tabular,
    a_warehouse,
    an_event,
    uuid7,
)

ANNA = user("oidc~anna")
STEWARDS = "018f4c4e-7f6b-7000-8000-000000000001"
AS_STEWARD = Principal(PrincipalKind.ROLE, UserId("oidc~anna"), RoleId(STEWARDS))


async def _told(stores: Stores, stream: StreamId) -> list[TreeChange]:
    """What the stream has that was not asked about before."""
    told: list[TreeChange] = []
    answer = None
    while True:
        batch = await stores.tree.take(stream, answer, limit=100)
        if not batch.changes:
            return told
        told += [numbered.change for numbered in batch.changes]
        answer = Answer(batch.base, batch.changes[-1].sequence)


async def _a_quiet_warehouse(stores: Stores) -> Warehouse:
    """One whose own making was told."""
    warehouse = await stores.with_warehouse()
    await _told(stores, stream_of(warehouse.warehouse_id))
    return warehouse


async def test_what_is_made_is_told_with_its_place_its_owner_and_the_id_that_people_use(stores: Stores) -> None:
    project = a_project()
    warehouse = a_warehouse(project)
    top = a_namespace(warehouse)
    inner = a_namespace(warehouse, parent=top)
    table, view = a_tabular(inner), a_tabular(inner, kind=Kind.VIEW)
    await _told(stores, PROJECTS)
    async with stores.changes.change() as change:
        await change.projects.insert(project, owner=ANNA)
        await change.warehouses.insert(warehouse, owner=AS_STEWARD)
        await change.namespaces.insert(top, owner=ANNA)
        await change.namespaces.insert(inner, owner=ANONYMOUS)
        await change.tabulars.insert(table, a_body(), owner=ANNA)
        await change.tabulars.insert(view, a_body(), owner=SERVICE)
    assert await _told(stores, PROJECTS) == [Made(ObjectRef.project(project.project_id), ANNA)]
    assert await _told(stores, stream_of(warehouse.warehouse_id)) == [
        Made(warehouse_ref(warehouse), Principal(PrincipalKind.ROLE, role_id=RoleId(STEWARDS))),
        Made(namespace_ref(warehouse, top), ANNA),
        Made(namespace_ref(warehouse, inner), None),
        Made(tabular_ref(warehouse, table), ANNA, table.tabular_id),
        Made(tabular_ref(warehouse, view), None, view.tabular_id),
    ]


async def test_what_is_deleted_is_told_once_whatever_was_in_it(stores: Stores) -> None:
    warehouse = await _a_quiet_warehouse(stores)
    namespace = await stores.with_namespace(warehouse)
    inner = a_namespace(warehouse, parent=namespace)
    async with stores.changes.change() as change:
        await change.namespaces.insert(inner, owner=ANNA)
    tabular, other = await stores.with_tabular(inner), await stores.with_tabular(namespace)
    stream = stream_of(warehouse.warehouse_id)
    await _told(stores, stream)
    async with stores.changes.change() as change:
        await change.tabulars.delete(other)
        await change.namespaces.delete(namespace)
    told = [_bare(each) for each in await _told(stores, stream)]
    assert told == [_bare(Gone(tabular_ref(warehouse, other))), _bare(Gone(namespace_ref(warehouse, namespace)))]
    assert (await stores.tabulars.by_id(tabular.warehouse_id, tabular.tabular_id)) is None


async def test_deleting_a_warehouse_and_its_project_is_told(stores: Stores) -> None:
    project = a_project()
    warehouse = a_warehouse(project)
    await _told(stores, PROJECTS)
    async with stores.changes.change() as change:
        await change.projects.insert(project, owner=ANNA)
        await change.warehouses.insert(warehouse, owner=ANNA)
    stream = stream_of(warehouse.warehouse_id)
    await _told(stores, stream)
    async with stores.changes.change() as change:
        await change.warehouses.delete(warehouse.warehouse_id)
        await change.projects.delete(project.project_id)
    assert await _told(stores, stream) == [Gone(warehouse_ref(warehouse))]
    assert await _told(stores, PROJECTS) == [
        Made(ObjectRef.project(project.project_id), ANNA),
        Gone(ObjectRef.project(project.project_id)),
    ]
    assert stream not in await stores.tree.pending()


async def test_a_default_project_is_told_by_the_bootstrap_that_makes_it(stores: Stores) -> None:
    project = a_project()
    await _told(stores, PROJECTS)
    async with stores.changes.change() as change:
        opened = await change.server.bootstrap(default_project=project, owner=ANNA)
    assert await _told(stores, PROJECTS) == ([Made(ObjectRef.project(project.project_id), ANNA)] if opened else [])


async def test_a_rename_is_told_where_the_namespace_is_another(stores: Stores) -> None:
    warehouse = await _a_quiet_warehouse(stores)
    here, there = await stores.with_namespace(warehouse), await stores.with_namespace(warehouse)
    tabular = await stores.with_tabular(here)
    stream = stream_of(warehouse.warehouse_id)
    await _told(stores, stream)
    async with stores.changes.change() as change:
        await change.tabulars.rename(tabular, namespace=here, name="renamed")
    assert await _told(stores, stream) == []
    renamed = dataclasses.replace(tabular, row_version=tabular.row_version + 1)
    async with stores.changes.change() as change:
        await change.tabulars.rename(renamed, namespace=there, name="moved")
    moved = dataclasses.replace(tabular, namespace_id=there.namespace_id)
    assert await _told(stores, stream) == [Moved(tabular_ref(warehouse, moved))]


async def test_a_staged_one_that_makes_way_is_gone_before_what_took_its_name(stores: Stores) -> None:
    warehouse = await _a_quiet_warehouse(stores)
    namespace = await stores.with_namespace(warehouse)
    by_create = await stores.with_tabular(namespace, "created", state=State.STAGED)
    by_rename = await stores.with_tabular(namespace, "renamed", state=State.STAGED)
    other = await stores.with_namespace(warehouse)
    elsewhere = await stores.with_tabular(other)
    dropped = await stores.with_tabular(namespace, "restored")
    async with stores.changes.change() as change:
        await change.tabulars.drop(dropped, at=NOON, expires_at=NOON)
    by_restoring = await stores.with_tabular(namespace, "restored", state=State.STAGED)
    stream = stream_of(warehouse.warehouse_id)
    await _told(stores, stream)
    made = a_tabular(namespace, "created")
    async with stores.changes.change() as change:
        await change.tabulars.insert(made, a_body(), owner=ANNA)
    async with stores.changes.change() as change:
        await change.tabulars.rename(elsewhere, namespace=namespace, name="renamed")
    async with stores.changes.change() as change:
        await change.tabulars.undrop(dataclasses.replace(dropped, row_version=dropped.row_version + 1))
    moved = dataclasses.replace(elsewhere, namespace_id=namespace.namespace_id)
    assert [_bare(each) for each in await _told(stores, stream)] == [
        _bare(each)
        for each in (
            Gone(tabular_ref(warehouse, by_create)),
            Made(tabular_ref(warehouse, made), ANNA, made.tabular_id),
            Gone(tabular_ref(warehouse, by_rename)),
            Moved(tabular_ref(warehouse, moved)),
            Gone(tabular_ref(warehouse, by_restoring)),
        )
    ]


async def test_what_changes_no_place_is_not_told(stores: Stores) -> None:
    warehouse = await _a_quiet_warehouse(stores)
    namespace = await stores.with_namespace(warehouse)
    live, staged = await stores.with_tabular(namespace), await stores.with_tabular(namespace, state=State.STAGED)
    dropped = await stores.with_tabular(namespace)
    stream = stream_of(warehouse.warehouse_id)
    await _told(stores, stream)
    async with stores.changes.change() as change:
        assert not (await change.tabulars.commit([a_commit(live), a_commit(staged)])).lost
        await change.tabulars.drop(dropped, at=NOON, expires_at=NOON)
        await change.namespaces.set_protection(namespace, protected=True)
        await change.namespaces.set_properties(namespace, {"a": "b"})
        change.ledger.emit(an_event(warehouse.warehouse_id))
    assert await _told(stores, stream) == []


async def test_a_warehouse_that_is_switched_is_told_and_another_change_of_it_is_not(stores: Stores) -> None:
    warehouse = await _a_quiet_warehouse(stores)
    stream = stream_of(warehouse.warehouse_id)
    for edit in ({"active": False}, {"protected": True}, {"active": True}):
        async with stores.changes.change() as change:
            stored = await change.warehouses.lock(warehouse.warehouse_id)
            assert stored is not None
            await change.warehouses.update(dataclasses.replace(stored, **edit))
    ref = warehouse_ref(warehouse)
    assert await _told(stores, stream) == [Switched(ref, active=False), Switched(ref, active=True)]


async def test_a_change_that_is_refused_tells_nothing(stores: Stores) -> None:
    warehouse = await _a_quiet_warehouse(stores)
    namespace = await stores.with_namespace(warehouse)
    stream = stream_of(warehouse.warehouse_id)
    await _told(stores, stream)

    async def make_two_of_one_name() -> None:
        async with stores.changes.change() as change:
            tabular = a_tabular(namespace)
            await change.tabulars.insert(tabular, a_body(), owner=ANNA)
            twin = dataclasses.replace(a_tabular(namespace), ident=tabular.ident)
            await change.tabulars.insert(twin, a_body(), owner=ANNA)

    with pytest.raises(Refusal):
        await make_two_of_one_name()
    assert await _told(stores, stream) == []


async def _three(stores: Stores) -> tuple[StreamId, list[UUID]]:
    """A stream whose next changes are three namespaces, and their ids."""
    warehouse = await _a_quiet_warehouse(stores)
    made = [await stores.with_namespace(warehouse) for _ in range(3)]
    return stream_of(warehouse.warehouse_id), [each.namespace_id for each in made]


async def _one_more(stores: Stores, stream: StreamId) -> UUID:
    found = await stores.warehouses.find(WarehouseId(stream))
    assert found is not None
    return (await stores.with_namespace(found)).namespace_id


def _seen(changes: Sequence[Numbered]) -> list[tuple[int, UUID]]:
    return [(each.sequence, UUID(bytes=each.change.object.id)) for each in changes if not _is_nothing(each)]


def _is_nothing(numbered: Numbered) -> bool:
    return isinstance(numbered.change, Nothing)


async def test_what_was_taken_keeps_its_numbers_until_it_is_confirmed(stores: Stores) -> None:
    stream, (one, two, three) = await _three(stores)
    batch = await stores.tree.take(stream, None, limit=2)
    assert (batch.base, _seen(batch.changes), batch.more) == (1, [(2, one), (3, two)], True)
    again = await stores.tree.take(stream, None, limit=2)
    assert (again.base, _seen(again.changes)) == (1, [(2, one), (3, two)])
    part = await stores.tree.take(stream, Answer(1, 2), limit=2)
    assert (part.base, _seen(part.changes)) == (2, [(3, two), (4, three)])
    late = await _one_more(stores, stream)
    rest = await stores.tree.take(stream, Answer(2, 4), limit=2)
    assert (rest.base, _seen(rest.changes), rest.more) == (4, [(5, late)], False)
    assert stream in await stores.tree.pending()
    assert not (await stores.tree.take(stream, Answer(4, 5), limit=2)).changes
    assert stream not in await stores.tree.pending()


async def test_two_that_take_at_once_get_the_same(stores: Stores) -> None:
    stream, _ = await _three(stores)
    batches = await asyncio.gather(*(stores.tree.take(stream, None, limit=10) for _ in range(8)))
    assert len({tuple(_seen(batch.changes)) for batch in batches}) == 1


async def test_an_answer_that_comes_late_confirms_nothing_twice(stores: Stores) -> None:
    stream, (_, _, three) = await _three(stores)
    await stores.tree.take(stream, None, limit=2)
    await stores.tree.take(stream, Answer(1, 3), limit=2)
    batch = await stores.tree.take(stream, Answer(1, 2), limit=2)
    assert (batch.base, _seen(batch.changes)) == (3, [(4, three)])


async def test_where_authz_lost_what_it_had_confirmed_numbers_go_on_where_it_is(stores: Stores) -> None:
    stream, (one, two, three) = await _three(stores)
    batch = await stores.tree.take(stream, None, limit=10)
    behind = await stores.tree.take(stream, Answer(batch.base, 0), limit=10)
    assert (behind.base, _seen(behind.changes)) == (0, [(1, one), (2, two), (3, three)])


async def test_where_authz_is_ahead_of_what_was_sent_nothing_counts_as_applied(stores: Stores) -> None:
    stream, (one, two, three) = await _three(stores)
    batch = await stores.tree.take(stream, None, limit=10)
    ahead = await stores.tree.take(stream, Answer(batch.base, 70), limit=10)
    assert (ahead.base, _seen(ahead.changes)) == (70, [(71, one), (72, two), (73, three)])


async def test_nothing_stands_where_a_change_was_passed_over(stores: Stores) -> None:
    stream, (one, _, three) = await _three(stores)
    await stores.tree.take(stream, None, limit=10)
    await stores.tree.pass_over(stream, 3)
    batch = await stores.tree.take(stream, None, limit=10)
    assert [each.sequence for each in batch.changes] == [2, 3, 4]
    assert _seen(batch.changes) == [(2, one), (4, three)]
    await stores.tree.pass_over(stream, 1)
    await stores.tree.pass_over(stream, 5)
    assert await stores.tree.take(stream, None, limit=10) == batch


async def test_everything_of_a_deleted_warehouse_reads_as_gone(stores: Stores) -> None:
    warehouse = await stores.with_warehouse()
    namespace = await stores.with_namespace(warehouse)
    stream = stream_of(warehouse.warehouse_id)
    await stores.tree.take(stream, None, limit=1)
    async with stores.changes.change() as change:
        await change.namespaces.delete(namespace)
        await change.warehouses.delete(warehouse.warehouse_id)
    told = await _told(stores, stream)
    place, home = _bare(Gone(namespace_ref(warehouse, namespace))), _bare(Gone(warehouse_ref(warehouse)))
    assert [_bare(each) for each in told] == [home, place, place, home]


async def test_a_stream_that_nobody_wrote_to_has_nothing(stores: Stores) -> None:
    batch = await stores.tree.take(StreamId(uuid7()), None, limit=10)
    assert (batch.base, list(batch.changes), batch.more) == (0, [], False)


async def test_streams_with_changes_are_pending_and_that_of_projects_is_first(stores: Stores) -> None:
    first, _ = await _three(stores)
    second, _ = await _three(stores)
    async with stores.changes.change() as change:
        await change.projects.insert(a_project(), owner=ANNA)
    pending = await stores.tree.pending()
    assert pending[0] == PROJECTS
    assert {first, second} <= set(pending)
    await _told(stores, first)
    assert first not in await stores.tree.pending()


def _bare(change: TreeChange) -> TreeChange:
    """A change without what does not count where something is gone."""
    if not isinstance(change, Gone):
        return change
    ref = change.object
    return Gone(ObjectRef(ref.kind, ref.project_id, ref.warehouse_id, ref.id))
