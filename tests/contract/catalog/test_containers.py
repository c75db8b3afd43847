from __future__ import annotations

import asyncio
import dataclasses
from datetime import timedelta
from uuid import uuid4

import pytest

from lakeward_catalog.application.ports.stores import After, ListedNamespace, Visibility
from lakeward_catalog.domain.model import Kind, Namespace, ProjectId, State, Tabular, Warehouse, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_catalog.domain.tasks import Queue
from lakeward_servicekit.authorization.principals import ANONYMOUS
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.memory_rows import listed
from tests.support.catalog.stores import Stores
from tests.support.catalog.values import (
    EVERYTHING,
    NOON,
    a_body,
    a_key_place,
    a_namespace,
    a_project,
    a_purge,
    a_record,
    a_storage,
    a_tabular,
    a_time,
    a_warehouse,
    an_event,
)


async def test_bootstrap_closes_once(stores: Stores) -> None:
    project = a_project()

    async def close() -> bool:
        async with stores.changes.change() as change:
            return await change.server.bootstrap(default_project=project, owner=ANONYMOUS)

    assert sorted(await asyncio.gather(close(), close())) == [False, True]
    assert (await stores.servers.server()).bootstrapped
    assert await stores.servers.project(project.project_id) == project


async def test_an_absent_project_is_not_found(stores: Stores) -> None:
    assert await stores.servers.project(ProjectId("absent")) is None


async def test_every_project_is_among_the_projects(stores: Stores) -> None:
    made = [a_project(), a_project()]
    for project in made:
        await stores.make_project(project)
    found = await stores.servers.projects(Visibility(everything=True))
    assert {*made} <= {*found}
    assert len({*found}) == len(found)
    assert [*await stores.servers.projects(Visibility(False, projects=frozenset({made[1].project_id, "absent"})))] == [
        made[1]
    ]
    assert not [*await stores.servers.projects(Visibility(everything=False))]


async def test_a_project_is_found_as_it_was_inserted_and_its_id_is_taken(stores: Stores) -> None:
    project = a_project()

    async def insert(name: str) -> None:
        async with stores.changes.change() as change:
            await change.projects.insert(dataclasses.replace(project, name=name), owner=ANONYMOUS)

    await insert(project.name)
    with pytest.raises(Refusal) as refused:
        await insert("another")
    assert refused.value.reason == Reason.REASON_PROJECT_EXISTS
    assert await stores.servers.project(project.project_id) == project


async def test_an_empty_project_is_deleted_and_one_with_a_warehouse_is_not(stores: Stores) -> None:
    full, empty = await stores.with_warehouse(active=False), a_project()
    await stores.make_project(empty)

    async def delete(project_id: ProjectId) -> None:
        async with stores.changes.change() as change:
            await change.projects.delete(project_id)

    await delete(empty.project_id)
    assert await stores.servers.project(empty.project_id) is None
    with pytest.raises(Refusal) as refused:
        await delete(full.project_id)
    assert refused.value.reason == Reason.REASON_PROJECT_NOT_EMPTY
    assert await stores.servers.project(full.project_id) is not None


async def test_a_renamed_project_is_found_by_its_new_name_once_the_change_ended(stores: Stores) -> None:
    project, other = a_project(), a_project()
    await stores.make_project(project)
    await stores.make_project(other)

    async def give_up() -> None:
        async with stores.changes.change() as change:
            await change.projects.rename(project.project_id, "never")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await give_up()
    assert await stores.servers.project(project.project_id) == project
    async with stores.changes.change() as change:
        assert await change.projects.lock(project.project_id) == project
        assert await change.projects.lock(ProjectId("absent")) is None
        await change.projects.rename(project.project_id, "renamed")
    assert await stores.servers.project(project.project_id) == dataclasses.replace(project, name="renamed")
    assert await stores.servers.project(other.project_id) == other


async def test_a_warehouse_is_found_as_it_was_inserted_by_id_and_by_name_without_case(stores: Stores) -> None:
    warehouse = await stores.with_warehouse(name="Lake", restorable_for=None)
    assert await stores.warehouses.find(warehouse.warehouse_id) == warehouse
    assert await stores.warehouses.find_by_name(warehouse.project_id, "lAKE") == warehouse


async def test_a_warehouse_that_was_read_is_remembered_in_its_version_alone(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    warehouse = await stores.warehouse_of(tabular)

    def remembered() -> list[Warehouse | None]:
        return [stores.warehouses.remembered(warehouse.warehouse_id, version) for version in (0, 1, 2, 3)]

    assert remembered() == [None, warehouse, None, None]

    async def give_up() -> None:
        async with stores.changes.change() as change:
            await change.warehouses.update(dataclasses.replace(warehouse, name="never"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await give_up()
    assert remembered() == [None, warehouse, None, None]
    async with stores.changes.change() as change:
        changed = await change.warehouses.update(dataclasses.replace(warehouse, active=False))
    assert remembered() == [None, None, changed, None]
    await stores.tabulars.locate(tabular.warehouse_id, tabular.ident)
    assert remembered() == [None, None, changed, None]
    assert stores.warehouses.remembered(WarehouseId(uuid4()), 1) is None


@pytest.mark.parametrize("name", ["absent", "a\0b"])
async def test_an_absent_warehouse_is_not_found(stores: Stores, name: str) -> None:
    assert await stores.warehouses.find_by_name(ProjectId("absent"), name) is None
    assert await stores.warehouses.find(WarehouseId(uuid4())) is None
    async with stores.changes.change() as change:
        assert await change.warehouses.lock(WarehouseId(uuid4())) is None


async def test_a_warehouses_name_is_taken_without_case_in_its_project_alone(stores: Stores) -> None:
    warehouse = await stores.with_warehouse(name="lake")

    async def insert(name: str, project_id: ProjectId) -> None:
        async with stores.changes.change() as change:
            await change.warehouses.insert(
                a_warehouse(dataclasses.replace(a_project(), project_id=project_id), name), owner=ANONYMOUS
            )

    with pytest.raises(Refusal) as refused:
        await insert("LAKE", warehouse.project_id)
    assert refused.value.reason == Reason.REASON_WAREHOUSE_EXISTS
    await stores.with_warehouse(name="Lake")
    with pytest.raises(Refusal) as refused:
        await insert("other", ProjectId("absent"))
    assert refused.value.reason == Reason.REASON_NO_SUCH_PROJECT


async def test_warehouses_are_listed_by_name_and_by_what_is_visible(stores: Stores) -> None:
    second = await stores.with_warehouse(name="B")
    project = dataclasses.replace(a_project(), project_id=second.project_id)
    first, third = a_warehouse(project, "a"), a_warehouse(project, "c", active=False)
    async with stores.changes.change() as change:
        await change.warehouses.insert(third, owner=ANONYMOUS)
        await change.warehouses.insert(first, owner=ANONYMOUS)

    async def listed(*, active: bool | None = None, visible: Visibility = EVERYTHING) -> list[object]:
        return list(await stores.warehouses.list(project.project_id, active=active, visible=visible))

    assert await listed() == [first, second, third]
    assert await listed(active=False) == [third]
    assert await listed(visible=Visibility(everything=False, objects=frozenset({first.warehouse_id}))) == [first]
    assert await listed(visible=Visibility(everything=False)) == []
    paged = await stores.warehouses.list(project.project_id, active=None, visible=EVERYTHING, after="a", limit=1)
    assert list(paged) == [second]


async def test_an_update_changes_what_is_given_and_its_version(stores: Stores) -> None:
    warehouse = await stores.with_warehouse()
    async with stores.changes.change() as change:
        locked = await change.warehouses.lock(warehouse.warehouse_id)
        assert locked is not None
        renamed = await change.warehouses.update(dataclasses.replace(locked, name="New name"))
    moved = a_storage(base="s3://lake/elsewhere", secret_id=None, credential_kind=None, client_defaults={})
    async with stores.changes.change() as change:
        changed = await change.warehouses.update(dataclasses.replace(renamed, storage=moved, active=False))
    assert await stores.warehouses.find(warehouse.warehouse_id) == changed
    assert changed == dataclasses.replace(
        warehouse, name="New name", storage=moved, active=False, row_version=3, updated_at=stores.clock.now()
    )


async def test_a_warehouses_protection_is_set_and_taken_away(stores: Stores) -> None:
    warehouse = await stores.with_warehouse()
    async with stores.changes.change() as change:
        protected = await change.warehouses.update(dataclasses.replace(warehouse, protected=True))
        renamed = await change.warehouses.update(dataclasses.replace(protected, name="New name"))
    assert renamed.protected
    assert await stores.warehouses.find(warehouse.warehouse_id) == renamed
    async with stores.changes.change() as change:
        freed = await change.warehouses.update(dataclasses.replace(renamed, protected=False))
    assert freed == dataclasses.replace(warehouse, name="New name", row_version=4, updated_at=stores.clock.now())
    assert await stores.warehouses.find(warehouse.warehouse_id) == freed


async def test_an_update_of_an_older_version_is_refused(stores: Stores) -> None:
    warehouse = await stores.with_warehouse()

    async def rename(name: str) -> None:
        async with stores.changes.change() as change:
            await change.warehouses.update(
                dataclasses.replace(warehouse, name=name, storage=a_storage(base="s3://lake/never"))
            )

    await rename("first")
    with pytest.raises(Refusal) as refused:
        await rename("second")
    assert refused.value.reason == Reason.REASON_CONCURRENT_CHANGE
    found = await stores.warehouses.find(warehouse.warehouse_id)
    assert found is not None
    assert found.name == "first"


async def test_a_renamed_warehouse_is_seen_by_the_next_load(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    before = (await stores.tabulars.locate(tabular.warehouse_id, tabular.ident)).warehouse
    assert before is not None
    async with stores.changes.change() as change:
        after = await change.warehouses.update(dataclasses.replace(before, active=False))
    assert (await stores.tabulars.locate(tabular.warehouse_id, tabular.ident)).warehouse == after


async def test_warehouses_of_a_place_are_found_in_all_projects(stores: Stores) -> None:
    place = f"s3://{uuid4()}"
    found = [await stores.with_warehouse(storage=a_storage(place=place), active=active) for active in (True, False)]
    async with stores.changes.change() as change:
        await change.warehouses.lock_place(place)
        assert list(await change.warehouses.at(place)) == sorted(found, key=lambda each: each.warehouse_id)


async def test_a_warehouse_goes_when_it_is_empty(stores: Stores) -> None:
    warehouse = await stores.with_warehouse()

    async def delete() -> None:
        async with stores.changes.change() as change:
            await change.warehouses.delete(warehouse.warehouse_id)

    namespace = await stores.with_namespace(warehouse)
    with pytest.raises(Refusal) as refused:
        await delete()
    assert refused.value.reason == Reason.REASON_WAREHOUSE_NOT_EMPTY
    async with stores.changes.change() as change:
        await change.namespaces.delete(namespace)
        await change.tasks.enqueue(a_purge(a_tabular(namespace)))
    with pytest.raises(Refusal):
        await delete()
    task = await stores.tasks.claim(Queue.TABULAR_PURGE, now=NOON, silence=timedelta(minutes=1), attempts=5)
    assert task is not None
    await stores.tasks.finish(task, now=NOON, message="", progress=0)
    await delete()
    assert await stores.warehouses.find(warehouse.warehouse_id) is None


async def test_a_namespace_is_found_with_its_warehouse_and_keeps_its_case(stores: Stores) -> None:
    warehouse = await stores.with_warehouse()
    namespace = await stores.with_namespace(warehouse, "Sales", properties={"Owner": "anna", "empty": "", "é": "\0"})
    found = await stores.namespaces.find(warehouse.warehouse_id, NamespaceIdent(("sALES",)))
    assert found == (warehouse, namespace)
    assert await stores.namespaces.find(warehouse.warehouse_id, NamespaceIdent(("absent",))) == (warehouse, None)
    assert await stores.namespaces.find(WarehouseId(uuid4()), namespace.ident) == (None, None)


async def test_a_namespaces_name_is_taken_without_case_below_its_parent(stores: Stores) -> None:
    parent = await stores.with_namespace(None, "a")
    warehouse = await stores.warehouse_of(parent)
    await stores.with_namespace(warehouse, "b", parent=parent)
    with pytest.raises(Refusal) as refused:
        await stores.with_namespace(warehouse, "B", parent=parent)
    assert refused.value.reason == Reason.REASON_NAMESPACE_EXISTS
    await stores.with_namespace(warehouse, "B")


async def test_a_namespace_below_one_that_went_is_refused(stores: Stores) -> None:
    parent = await stores.with_namespace(None, "a")
    warehouse = await stores.warehouse_of(parent)
    async with stores.changes.change() as change:
        await change.namespaces.delete(parent)
    with pytest.raises(Refusal) as refused:
        await stores.with_namespace(warehouse, "b", parent=parent)
    assert refused.value.metadata == {"namespace": "a"}
    async with stores.changes.change() as change:
        assert await change.namespaces.lock(parent.warehouse_id, parent.ident, exclusively=False) is None


async def test_properties_are_replaced(stores: Stores) -> None:
    namespace = await stores.with_namespace(properties={"a": "1", "b": "2"})
    async with stores.changes.change() as change:
        locked = await change.namespaces.lock(namespace.warehouse_id, namespace.ident, exclusively=True)
        assert locked is not None
        await change.namespaces.set_properties(locked, {"b": "3"})
    found = (await stores.namespaces.find(namespace.warehouse_id, namespace.ident))[1]
    assert found == dataclasses.replace(namespace, properties={"b": "3"}, row_version=2)


async def test_a_namespace_is_found_by_its_id_in_its_warehouse_alone(stores: Stores) -> None:
    warehouse, other = await stores.with_warehouse(), await stores.with_warehouse()
    namespace = await stores.with_namespace(warehouse, "Sales")
    find = stores.namespaces.find_by_id
    assert await find(warehouse.warehouse_id, namespace.namespace_id) == (warehouse, namespace)
    assert await find(other.warehouse_id, namespace.namespace_id) == (other, None)
    assert await find(WarehouseId(uuid4()), namespace.namespace_id) == (None, None)


async def test_a_namespaces_protection_is_set_and_not_of_an_older_version(stores: Stores) -> None:
    namespace = await stores.with_namespace()

    async def protect(*, protected: bool) -> None:
        async with stores.changes.change() as change:
            await change.namespaces.set_protection(namespace, protected=protected)

    await protect(protected=True)
    found = (await stores.namespaces.find(namespace.warehouse_id, namespace.ident))[1]
    assert found == dataclasses.replace(namespace, protected=True, row_version=2)
    with pytest.raises(Refusal) as refused:
        await protect(protected=False)
    assert refused.value.reason == Reason.REASON_CONCURRENT_CHANGE
    assert (await stores.namespaces.find(namespace.warehouse_id, namespace.ident))[1] == found


async def _tree(stores: Stores) -> tuple[Namespace, Namespace, Namespace, Namespace, list[Tabular]]:
    top = await stores.with_namespace(None, "top")
    warehouse = await stores.warehouse_of(top)
    child = await stores.with_namespace(warehouse, "child", parent=top)
    grandchild = await stores.with_namespace(warehouse, "grandchild", parent=child)
    beside = await stores.with_namespace(warehouse, "top2")
    tabulars = [await stores.with_tabular(each) for each in (top, child, grandchild, beside)]
    return top, child, grandchild, beside, tabulars


async def test_contents_are_everything_below_and_nothing_beside(stores: Stores) -> None:
    top, child, grandchild, _, tabulars = await _tree(stores)
    async with stores.changes.change() as change:
        await change.tabulars.drop(tabulars[2], at=NOON, expires_at=NOON)
    async with stores.changes.change() as change:
        contents = await change.namespaces.contents(top.warehouse_id, top.namespace_id)
    assert contents.namespaces == (child, grandchild)
    assert [each.incarnation for each in contents.tabulars] == sorted(each.incarnation for each in tabulars[:3])
    assert [each.incarnation for each in contents.tabulars if each.state is State.DROPPED] == [tabulars[2].incarnation]


async def test_a_deleted_namespace_takes_everything_below_along(stores: Stores) -> None:
    top, child, _, beside, tabulars = await _tree(stores)
    async with stores.changes.change() as change:
        await change.namespaces.delete(top)
    for gone in (top, child):
        assert (await stores.namespaces.find(gone.warehouse_id, gone.ident))[1] is None
    assert await stores.tabulars.by_id(top.warehouse_id, tabulars[2].tabular_id) is None
    assert (await stores.tabulars.locate(beside.warehouse_id, tabulars[3].ident)).tabular == tabulars[3]


@pytest.mark.parametrize("everything", [True, False])
async def test_pages_of_namespaces_join_to_the_whole_in_order(stores: Stores, everything: bool) -> None:
    warehouse = await stores.with_warehouse()
    parents: list[Namespace | None] = [None, await stores.with_namespace(warehouse, "parent")]
    for parent in parents:
        at = a_time()  # equal times are told apart by ids
        made = [a_namespace(warehouse, parent=parent, created_at=at if index < 4 else a_time()) for index in range(7)]
        async with stores.changes.change() as change:
            for namespace in reversed(made):
                await change.namespaces.insert(namespace, owner=ANONYMOUS)
        visible = EVERYTHING
        if not everything:
            visible = Visibility(everything=False, objects=frozenset(each.namespace_id for each in made))
        found: list[ListedNamespace] = []
        after = None
        while page := await stores.namespaces.children(
            warehouse.warehouse_id,
            None if parent is None else parent.namespace_id,
            visible=visible,
            after=after,
            limit=3,
        ):
            assert len(page) <= 3
            found += page
            after = After(page[-1].created_at, page[-1].namespace_id)
        ids = {each.namespace_id for each in made}
        mine = [each for each in found if each.namespace_id in ids]
        assert [(tuple(each.path), each.protected) for each in mine] == [
            (each.ident.parts, each.protected)
            for each in sorted(made, key=lambda each: (each.created_at, each.namespace_id))
        ]


async def test_a_listing_shows_what_is_granted_and_what_lies_below_a_container(stores: Stores) -> None:
    top, child, grandchild, beside, tabulars = await _tree(stores)

    async def children(of: Namespace | None, *, containers: set[object], objects: set[object]) -> set[object]:
        visible = Visibility(everything=False, containers=frozenset(containers), objects=frozenset(objects))  # type: ignore[arg-type]  # ids
        parent = None if of is None else of.namespace_id
        found = await stores.namespaces.children(top.warehouse_id, parent, visible=visible, after=None, limit=10)
        return {each.namespace_id for each in found}

    async def inside(of: Namespace, *, containers: set[object], objects: set[object]) -> set[object]:
        visible = Visibility(everything=False, containers=frozenset(containers), objects=frozenset(objects))  # type: ignore[arg-type]  # ids
        found = await stores.tabulars.list(
            of.warehouse_id, of.namespace_id, Kind.TABLE, visible=visible, after=None, limit=10
        )
        return {each.incarnation for each in found}

    assert await children(None, containers=set(), objects=set()) == set()
    assert await children(None, containers={beside.namespace_id}, objects=set()) == {beside.namespace_id}
    assert await children(None, containers=set(), objects={top.namespace_id}) == {top.namespace_id}
    assert await children(top, containers=set(), objects={top.namespace_id}) == set()
    assert await children(child, containers={top.namespace_id}, objects=set()) == {grandchild.namespace_id}
    assert await inside(grandchild, containers={top.namespace_id}, objects=set()) == {tabulars[2].incarnation}
    assert await inside(beside, containers={top.namespace_id}, objects=set()) == set()
    assert await inside(top, containers={child.namespace_id}, objects=set()) == set()
    granted: set[object] = {tabulars[0].incarnation, tabulars[1].incarnation}
    assert await inside(top, containers=set(), objects=granted) == {tabulars[0].incarnation}


async def test_pages_of_tables_hold_live_ones_of_the_kind_in_order(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    at = a_time()
    made = [a_tabular(namespace, created_at=at) for _ in range(5)]
    async with stores.changes.change() as change:
        for tabular in made:
            await change.tabulars.insert(tabular, a_body(), owner=ANONYMOUS)
    await stores.with_tabular(namespace, kind=Kind.VIEW)
    await stores.with_tabular(namespace, state=State.STAGED)
    ordered = sorted(made, key=lambda each: each.incarnation)
    for visible in (EVERYTHING, Visibility(everything=False, containers=frozenset({namespace.namespace_id}))):
        key = (namespace.warehouse_id, namespace.namespace_id, Kind.TABLE)
        first = await stores.tabulars.list(*key, visible=visible, after=None, limit=3)
        after = After(first[-1].created_at, first[-1].incarnation)
        rest = await stores.tabulars.list(*key, visible=visible, after=after, limit=3)
        assert [*first, *rest] == [listed(each) for each in ordered]


async def test_a_key_is_remembered_until_its_time(stores: Stores) -> None:
    place, remembered = a_key_place(), a_record()
    async with stores.changes.change() as change:
        change.ledger.remember(place, remembered, until=NOON + timedelta(minutes=1))
    assert await stores.idempotency.find(place, now=NOON) == remembered
    assert await stores.idempotency.find(place, now=NOON + timedelta(minutes=1)) is None
    assert await stores.idempotency.find(dataclasses.replace(place, principal="other"), now=NOON) is None


async def test_of_two_changes_with_one_key_exactly_one_happens(stores: Stores) -> None:
    namespace = await stores.with_namespace()
    place = a_key_place()
    tabulars = [a_tabular(namespace) for _ in range(4)]

    async def make(tabular: Tabular) -> bool:
        async with stores.changes.change() as change:
            change.ledger.remember(place, a_record(), until=NOON + timedelta(minutes=1))
            await change.tabulars.insert(tabular, a_body(), owner=ANONYMOUS)
            change.ledger.emit(an_event(namespace.warehouse_id))
        return True

    outcomes = await asyncio.gather(*(make(each) for each in tabulars), return_exceptions=True)
    refusals = [each for each in outcomes if isinstance(each, Refusal)]
    assert {each.reason for each in refusals} == {Reason.REASON_REQUEST_IN_PROGRESS}
    assert len(refusals) == 3
    found = [(await stores.tabulars.locate(each.warehouse_id, each.ident)).tabular for each in tabulars]
    assert [each is not None for each in found] == [each is True for each in outcomes]


async def test_an_expired_key_may_be_used_again(stores: Stores) -> None:
    place, again = a_key_place(), a_record()
    async with stores.changes.change() as change:
        change.ledger.remember(place, a_record(), until=stores.clock.now())
    async with stores.changes.change() as change:
        change.ledger.remember(place, again, until=NOON + timedelta(days=1))
    assert await stores.idempotency.find(place, now=NOON) == again


async def test_a_refusal_is_kept_where_nothing_was(stores: Stores) -> None:
    place, first, second = a_key_place(), a_record(), a_record()
    await stores.idempotency.keep_refusal(place, first, until=NOON + timedelta(days=1))
    await stores.idempotency.keep_refusal(place, second, until=NOON + timedelta(days=1))
    assert await stores.idempotency.find(place, now=NOON) == first


async def test_of_nothings_name_the_namespace_alone_is_found(stores: Stores) -> None:
    tabular = await stores.with_tabular()
    found = await stores.tabulars.locate(tabular.warehouse_id, TabularIdent(tabular.ident.namespace, ""))
    assert found.namespace is not None
    assert found.namespace.namespace_id == tabular.namespace_id
    assert found.tabular is None
