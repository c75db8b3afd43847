from __future__ import annotations

import asyncio
import dataclasses
from datetime import timedelta
from typing import Any

import pytest

from lakeward_catalog.application.ports.stores import After
from lakeward_catalog.application.ports.tags import EVERY_ATTACHMENT, AttachmentFilter
from lakeward_catalog.application.tree import PROJECTS, Answer, Gone, Made, TreeChange
from lakeward_catalog.domain.model import Namespace, ProjectId, Tabular, Warehouse
from lakeward_catalog.domain.tags import (
    AppliedTag,
    NoSuchTagTarget,
    TagDefinition,
    TaggedObject,
    TagId,
    TagPlace,
    TagScope,
    ValueKind,
)
from lakeward_servicekit.authorization.objects import ObjectRef
from lakeward_servicekit.authorization.principals import ANONYMOUS, user
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.stores import Stores
from tests.support.catalog.values import NOON, a_namespace, a_project, uuid7

LATER = NOON + timedelta(hours=1)


def a_tag(project_id: ProjectId, name: str = "", **changes: Any) -> TagDefinition:
    tag_id = TagId(uuid7())
    definition = TagDefinition(
        project_id=project_id,
        tag_id=tag_id,
        name=name or f"tag {tag_id}",
        description="what it is for",
        scopes=tuple(TagScope),
        value_kind=ValueKind.ENUMERATED,
        allowed_values=("low", "high"),
        created_at=NOON,
    )
    return dataclasses.replace(definition, **changes)


async def define(stores: Stores, definition: TagDefinition) -> TagDefinition:
    async with stores.changes.change() as change:
        await change.tags.insert(definition, owner=ANONYMOUS)
    return definition


async def put(stores: Stores, place: TagPlace, tag: TagDefinition, value: str | None = "low", **more: Any) -> Any:
    async with stores.changes.change() as change:
        at = more.pop("at", NOON)
        return await change.tags.put(place, tag, value, attachment_id=more.pop("attachment_id", uuid7()), at=at)


def on_warehouse(warehouse: Warehouse) -> TagPlace:
    return TagPlace(TagScope.WAREHOUSE, warehouse.warehouse_id)


def on_namespace(namespace: Namespace) -> TagPlace:
    return TagPlace(TagScope.NAMESPACE, namespace.warehouse_id, namespace_id=namespace.namespace_id)


def on_table(tabular: Tabular) -> TagPlace:
    return TagPlace(TagScope.TABLE, tabular.warehouse_id, incarnation=tabular.incarnation)


def on_column(tabular: Tabular, field_id: int) -> TagPlace:
    return TagPlace(TagScope.COLUMN, tabular.warehouse_id, incarnation=tabular.incarnation, field_id=field_id)


@dataclasses.dataclass
class Lake:
    """A warehouse with a namespace in a namespace, and a table in that."""

    warehouse: Warehouse
    top: Namespace
    inner: Namespace
    table: Tabular
    tag: TagDefinition

    @property
    def places(self) -> list[TagPlace]:
        return [
            on_warehouse(self.warehouse),
            on_namespace(self.top),
            on_namespace(self.inner),
            on_table(self.table),
            on_column(self.table, 3),
        ]


async def a_lake(stores: Stores) -> Lake:
    warehouse = await stores.with_warehouse()
    top = await stores.with_namespace(warehouse)
    inner = a_namespace(warehouse, parent=top)
    async with stores.changes.change() as change:
        await change.namespaces.insert(inner, owner=ANONYMOUS)
    table = await stores.with_tabular(inner)
    return Lake(warehouse, top, inner, table, await define(stores, a_tag(warehouse.project_id)))


async def _values(stores: Stores, place: TagPlace, *, effective: bool = False) -> list[str | None]:
    return [each.value for each in await stores.tags.on(place, effective=effective)]


async def _attached(stores: Stores, tag: TagDefinition, which: AttachmentFilter = EVERY_ATTACHMENT) -> list[Any]:
    found = await stores.tags.attachments(tag.project_id, tag.tag_id, which, after=None, limit=100)
    return [each.target for each in found]


async def test_a_tag_is_found_as_it_was_defined_by_id_and_by_name_without_case(stores: Stores) -> None:
    project = a_project()
    await stores.make_project(project)
    tag = await define(stores, a_tag(project.project_id, "Pii.Straße"))
    assert await stores.tags.find(project.project_id, tag.tag_id) == tag
    assert await stores.tags.find_by_name(project.project_id, "pii.STRASSE") == tag
    assert await stores.tags.find_by_name(project.project_id, "pii") is None
    assert await stores.tags.find_by_name(project.project_id, "a\0b") is None
    assert await stores.tags.find(ProjectId("another"), tag.tag_id) is None


async def test_a_name_that_differs_by_case_alone_is_taken_in_its_project_and_free_in_others(stores: Stores) -> None:
    here, there = a_project(), a_project()
    await stores.make_project(here)
    await stores.make_project(there)
    tag, other = await define(stores, a_tag(here.project_id, "pii")), await define(stores, a_tag(here.project_id))
    await define(stores, a_tag(there.project_id, "PII"))

    async def rename() -> None:
        async with stores.changes.change() as change:
            await change.tags.update(dataclasses.replace(other, name="Pii"))

    for taken in (define(stores, a_tag(here.project_id, "PII")), rename()):
        with pytest.raises(Refusal) as refused:
            await taken
        assert refused.value.reason == Reason.REASON_TAG_EXISTS
    assert await stores.tags.list(here.project_id, after=None, limit=10) == sorted(
        [tag, other], key=lambda each: each.tag_id
    )


async def test_a_tag_of_a_project_that_is_gone_is_not_defined(stores: Stores) -> None:
    with pytest.raises(Refusal) as refused:
        await define(stores, a_tag(ProjectId("absent")))
    assert refused.value.reason == Reason.REASON_NO_SUCH_PROJECT


async def test_tags_are_listed_in_the_order_in_which_they_were_defined_and_in_pages(stores: Stores) -> None:
    project = a_project()
    await stores.make_project(project)
    made = [
        await define(stores, a_tag(project.project_id, created_at=NOON + timedelta(seconds=number)))
        for number in (2, 0, 1)
    ]
    ordered = sorted(made, key=lambda each: each.created_at)
    assert await stores.tags.list(project.project_id, after=None, limit=2) == ordered[:2]
    last = After(ordered[1].created_at, ordered[1].tag_id)
    assert await stores.tags.list(project.project_id, after=last, limit=2) == ordered[2:]


async def test_a_tag_is_stored_as_it_is_changed_to(stores: Stores) -> None:
    lake = await a_lake(stores)
    wider = dataclasses.replace(
        lake.tag, name="renamed", description=None, allowed_values=("low", "high", "higher"), updated_at=LATER
    )
    async with stores.changes.change() as change:
        assert await change.tags.lock(lake.tag.project_id, lake.tag.tag_id) == lake.tag
        assert await change.tags.lock(lake.tag.project_id, TagId(uuid7())) is None
        await change.tags.update(wider)
    assert await stores.tags.find(lake.tag.project_id, lake.tag.tag_id) == wider


async def test_a_tag_goes_while_it_is_set_on_nothing_and_not_before(stores: Stores) -> None:
    lake = await a_lake(stores)

    async def delete() -> None:
        async with stores.changes.change() as change:
            await change.tags.delete(lake.tag)

    for place in lake.places:
        await put(stores, place, lake.tag)
        with pytest.raises(Refusal) as refused:
            await delete()
        assert refused.value.reason == Reason.REASON_TAG_IN_USE
        async with stores.changes.change() as change:
            assert await change.tags.remove(place, lake.tag.tag_id)
    await delete()
    assert await stores.tags.find(lake.tag.project_id, lake.tag.tag_id) is None
    with pytest.raises(Refusal) as refused:
        await put(stores, lake.places[0], lake.tag)
    assert refused.value.reason == Reason.REASON_NO_SUCH_TAG_NAME


async def test_a_project_takes_its_tags_along(stores: Stores) -> None:
    project = a_project()
    await stores.make_project(project)
    tag = await define(stores, a_tag(project.project_id))
    async with stores.changes.change() as change:
        await change.projects.delete(project.project_id)
    assert await stores.tags.find(project.project_id, tag.tag_id) is None


async def test_a_tag_is_set_once_on_each_thing_and_again_only_with_another_value(stores: Stores) -> None:
    lake = await a_lake(stores)
    for place in lake.places:
        set_first = AppliedTag(lake.tag.tag_id, lake.tag.name, "low", NOON)
        assert await put(stores, place, lake.tag) == (set_first, True)
        assert await put(stores, place, lake.tag, at=LATER) == (set_first, False)
        again = AppliedTag(lake.tag.tag_id, lake.tag.name, "high", NOON, LATER)
        assert await put(stores, place, lake.tag, "high", at=LATER) == (again, True)
        assert list(await stores.tags.on(place, effective=False)) == [again]
    async with stores.changes.change() as change:
        assert [await change.tags.remove(place, lake.tag.tag_id) for place in lake.places] == [True] * 5
        assert [await change.tags.remove(place, lake.tag.tag_id) for place in lake.places] == [False] * 5
    assert [await _values(stores, place) for place in lake.places] == [[]] * 5


async def test_of_two_who_set_one_tag_at_once_both_succeed_and_it_is_there_once(stores: Stores) -> None:
    lake = await a_lake(stores)
    place = on_table(lake.table)
    outcomes = await asyncio.gather(*(put(stores, place, lake.tag, "low") for _ in range(4)))
    assert sorted(changed for _, changed in outcomes) == [False, False, False, True]
    assert len(await _attached(stores, lake.tag)) == 1


async def test_a_marker_has_no_value_and_stays_as_it_is(stores: Stores) -> None:
    lake = await a_lake(stores)
    marker = await define(stores, a_tag(lake.tag.project_id, value_kind=ValueKind.MARKER, allowed_values=()))
    place = on_table(lake.table)
    assert (await put(stores, place, marker, None))[1] is True
    assert (await put(stores, place, marker, None, at=LATER))[1] is False
    assert await _values(stores, place) == [None]


async def test_what_is_gone_is_not_tagged(stores: Stores) -> None:
    lake = await a_lake(stores)
    async with stores.changes.change() as change:
        await change.namespaces.delete(lake.top)
    for place in lake.places[1:]:
        with pytest.raises(NoSuchTagTarget):
            await put(stores, place, lake.tag)


async def test_a_thing_takes_its_tags_along_with_those_of_all_that_is_in_it(stores: Stores) -> None:
    lake = await a_lake(stores)
    other = await stores.with_namespace(lake.warehouse)
    for place in [*lake.places, on_namespace(other)]:
        await put(stores, place, lake.tag)
    async with stores.changes.change() as change:
        await change.namespaces.delete(lake.top)
    left = [each.id for each in await _attached(stores, lake.tag)]
    assert sorted(left, key=str) == sorted([None, other.namespace_id], key=str)
    async with stores.changes.change() as change:
        await change.namespaces.delete(other)
        await change.warehouses.delete(lake.warehouse.warehouse_id)
    assert await _attached(stores, lake.tag) == []


async def test_a_dropped_table_keeps_its_tags_and_one_that_is_deleted_does_not(stores: Stores) -> None:
    lake = await a_lake(stores)
    await put(stores, on_table(lake.table), lake.tag)
    await put(stores, on_column(lake.table, 1), lake.tag)
    async with stores.changes.change() as change:
        await change.tabulars.drop(lake.table, at=NOON, expires_at=LATER)
    assert await _values(stores, on_table(lake.table)) == ["low"]
    dropped = dataclasses.replace(lake.table, row_version=lake.table.row_version + 1)
    async with stores.changes.change() as change:
        await change.tabulars.undrop(dropped)
    assert await _values(stores, on_column(lake.table, 1)) == ["low"]
    async with stores.changes.change() as change:
        await change.tabulars.delete(dropped)
    assert await _attached(stores, lake.tag) == []


async def test_of_a_tag_that_is_set_above_the_nearest_counts(stores: Stores) -> None:
    lake = await a_lake(stores)
    far, near = [await define(stores, a_tag(lake.tag.project_id, name)) for name in ("b far", "a near")]
    warehouse, top, inner, table, column = lake.places
    await put(stores, warehouse, far, "low")
    await put(stores, warehouse, near, "low")
    await put(stores, top, near, "high")
    await put(stores, table, lake.tag, "low")
    above_all = TaggedObject(TagScope.WAREHOUSE, lake.warehouse.warehouse_id)
    above = TaggedObject(TagScope.NAMESPACE, lake.warehouse.warehouse_id, lake.top.namespace_id)

    async def shown(place: TagPlace) -> list[tuple[str, str | None, TaggedObject | None]]:
        found = await stores.tags.on(place, effective=True)
        return [(each.name, each.value, each.inherited_from) for each in found]

    inherited = [("a near", "high", above), ("b far", "low", above_all)]
    assert await shown(table) == sorted([*inherited, (lake.tag.name, "low", None)], key=lambda each: each[0])
    assert await shown(inner) == inherited
    assert await shown(top) == [("a near", "high", None), ("b far", "low", above_all)]
    assert await shown(warehouse) == [("a near", "low", None), ("b far", "low", None)]
    assert await shown(column) == []
    await put(stores, table, near, "low")
    assert ("a near", "low", None) in await shown(table)
    assert await _values(stores, table) == ["low", "low"]


async def test_tags_of_columns_are_told_apart_and_those_of_fields_that_left_are_forgotten(stores: Stores) -> None:
    lake = await a_lake(stores)
    other = await stores.with_tabular(lake.inner)
    second = await define(stores, a_tag(lake.tag.project_id, "a second"))
    for table in (lake.table, other):
        for field_id in (0, 1, 2):
            await put(stores, on_column(table, field_id), lake.tag)
        await put(stores, on_table(table), lake.tag)
    await put(stores, on_column(lake.table, 2), second, "high")
    async with stores.changes.change() as change:
        await change.tags.leave_columns(lake.table.warehouse_id, lake.table.incarnation, [0, 1, 7])
    found = await stores.tags.on_columns(lake.table.warehouse_id, lake.table.incarnation)
    assert {field: [each.name for each in tags] for field, tags in found.items()} == {2: ["a second", lake.tag.name]}
    assert await _values(stores, on_table(lake.table)) == ["low"]
    assert set(await stores.tags.on_columns(other.warehouse_id, other.incarnation)) == {0, 1, 2}


async def test_what_a_tag_is_set_on_is_listed_in_order_in_pages_and_by_every_filter(stores: Stores) -> None:
    lake = await a_lake(stores)
    for number, place in enumerate(lake.places):
        await put(stores, place, lake.tag, "high" if number == 2 else "low", at=NOON + timedelta(minutes=number))
    warehouse_id = lake.warehouse.warehouse_id
    targets = [
        TaggedObject(TagScope.WAREHOUSE, warehouse_id),
        TaggedObject(TagScope.NAMESPACE, warehouse_id, lake.top.namespace_id),
        TaggedObject(TagScope.NAMESPACE, warehouse_id, lake.inner.namespace_id),
        TaggedObject(TagScope.TABLE, warehouse_id, lake.table.tabular_id),
        TaggedObject(TagScope.COLUMN, warehouse_id, lake.table.tabular_id, 3),
    ]
    assert await _attached(stores, lake.tag) == targets
    assert await _attached(stores, lake.tag, AttachmentFilter(value="high")) == [targets[2]]
    assert await _attached(stores, lake.tag, AttachmentFilter(value="h\0")) == []
    assert await _attached(stores, lake.tag, AttachmentFilter(scope=TagScope.NAMESPACE)) == targets[1:3]
    between = AttachmentFilter(created_after=NOON + timedelta(minutes=1), created_before=NOON + timedelta(minutes=3))
    assert await _attached(stores, lake.tag, between) == targets[1:4]
    assert await _attached(stores, lake.tag, AttachmentFilter(warehouse_id=warehouse_id)) == targets
    elsewhere = (await stores.with_warehouse()).warehouse_id
    assert await _attached(stores, lake.tag, AttachmentFilter(warehouse_id=elsewhere)) == []
    key = (lake.tag.project_id, lake.tag.tag_id, EVERY_ATTACHMENT)
    first = await stores.tags.attachments(*key, after=None, limit=2)
    rest = await stores.tags.attachments(*key, after=After(first[-1].created_at, first[-1].attachment_id), limit=10)
    assert [each.target for each in (*first, *rest)] == targets


async def test_authz_is_told_of_a_tag_that_is_defined_or_deleted_and_of_its_owner(stores: Stores) -> None:
    project = a_project()
    await stores.make_project(project)
    await _told(stores)
    tag = a_tag(project.project_id)
    async with stores.changes.change() as change:
        await change.tags.insert(tag, owner=user("oidc~anna"))
    async with stores.changes.change() as change:
        await change.tags.update(dataclasses.replace(tag, name="renamed", updated_at=LATER))
    async with stores.changes.change() as change:
        await change.tags.delete(tag)
    ref = ObjectRef.tag(project.project_id, tag.tag_id)
    assert await _told(stores) == [Made(ref, user("oidc~anna")), Gone(ref)]


async def _told(stores: Stores) -> list[TreeChange]:
    """What the stream of projects has that was not asked about before."""
    told: list[TreeChange] = []
    answer = None
    while True:
        batch = await stores.tree.take(PROJECTS, answer, limit=100)
        if not batch.changes:
            return told
        told += [numbered.change for numbered in batch.changes]
        answer = Answer(batch.base, batch.changes[-1].sequence)
