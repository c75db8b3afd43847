"""Tags in memory, as the catalog's stores are."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec

from lakeward_catalog.application.ports.stores import After
from lakeward_catalog.application.ports.tags import AttachmentFilter
from lakeward_catalog.application.tree import PROJECTS, Gone, Made
from lakeward_catalog.domain.model import Incarnation, ProjectId, WarehouseId
from lakeward_catalog.domain.names import name_key
from lakeward_catalog.domain.tags import (
    AppliedTag,
    TagAttachment,
    TagDefinition,
    TaggedObject,
    TagId,
    TagPlace,
    TagScope,
    no_such_tag_name,
    no_such_target,
    tag_exists,
    tag_in_use,
)
from lakeward_catalog.domain.wording import no_such_project
from lakeward_servicekit.authorization.objects import ObjectRef
from lakeward_servicekit.authorization.principals import Principal, PrincipalKind

if TYPE_CHECKING:
    from tests.support.catalog.memory import MemoryCatalog
    from tests.support.catalog.memory_rows import Rows


@dataclasses.dataclass(frozen=True)
class Attached:
    """A row of what a tag is set on."""

    attachment_id: UUID
    tag_id: TagId
    value: str | None
    created_at: datetime
    updated_at: datetime | None = None


def forget(rows: Rows, **gone: object) -> None:
    """Take along the tags of a warehouse, namespace or tabular that goes, named by fields of its places."""
    for place, tag_id in list(rows.tagged):
        if all(getattr(place, field) == value for field, value in gone.items()):
            del rows.tagged[place, tag_id]


class MemoryTags:
    def __init__(self, catalog: MemoryCatalog) -> None:
        self._catalog = catalog

    async def find(self, project_id: ProjectId, tag_id: TagId) -> TagDefinition | None:
        return self._catalog.rows.tags.get((project_id, tag_id))

    async def find_by_name(self, project_id: ProjectId, name: str) -> TagDefinition | None:
        return _named(self._catalog.rows, project_id, name)

    async def list(self, project_id: ProjectId, *, after: After | None, limit: int) -> Sequence[TagDefinition]:
        found = [each for each in self._catalog.rows.tags.values() if each.project_id == project_id]
        ordered = sorted(found, key=lambda each: (each.created_at, each.tag_id))
        place = None if after is None else (after.created_at, after.id)
        return [each for each in ordered if place is None or (each.created_at, each.tag_id) > place][:limit]

    async def attachments(
        self, project_id: ProjectId, tag_id: TagId, which: AttachmentFilter, *, after: After | None, limit: int
    ) -> Sequence[TagAttachment]:
        rows = self._catalog.rows
        found = [
            TagAttachment(each.attachment_id, self._target(place), each.value, each.created_at, each.updated_at)
            for (place, tag), each in rows.tagged.items()
            if tag == tag_id
            and (project_id, tag_id) in rows.tags
            and which.value in {None, each.value}
            and which.scope in {None, place.scope}
            and (which.created_after is None or each.created_at >= which.created_after)
            and (which.created_before is None or each.created_at <= which.created_before)
            and which.warehouse_id in {None, place.warehouse_id}
        ]
        ordered = sorted(found, key=lambda each: (each.created_at, each.attachment_id))
        start = None if after is None else (after.created_at, after.id)
        return [each for each in ordered if start is None or (each.created_at, each.attachment_id) > start][:limit]

    def _target(self, place: TagPlace) -> TaggedObject:
        public = place.namespace_id
        if place.incarnation is not None:
            public = self._catalog.rows.tabulars[place.warehouse_id, place.incarnation].tabular_id  # type: ignore[assignment]
        return TaggedObject(place.scope, place.warehouse_id, public, place.field_id)

    async def on(self, place: TagPlace, *, effective: bool) -> Sequence[AppliedTag]:
        found: dict[TagId, AppliedTag] = {}
        for each in [place, *(self._above(place) if effective and place.scope is not TagScope.COLUMN else ())]:
            inherited = None if each == place else self._target(each)
            for applied in self._own(each):
                found.setdefault(applied.tag_id, msgspec.structs.replace(applied, inherited_from=inherited))
        return sorted(found.values(), key=lambda each: name_key(each.name))

    def _above(self, place: TagPlace) -> Sequence[TagPlace]:
        rows, above = self._catalog.rows, list[TagPlace]()
        namespace_id = None
        if place.incarnation is not None:
            namespace_id = rows.tabulars[place.warehouse_id, place.incarnation].namespace_id
        elif place.namespace_id is not None:
            namespace_id = rows.namespaces[place.warehouse_id, place.namespace_id].parent_id
        while namespace_id is not None:
            above.append(TagPlace(TagScope.NAMESPACE, place.warehouse_id, namespace_id=namespace_id))
            namespace_id = rows.namespaces[place.warehouse_id, namespace_id].parent_id
        return [*above, TagPlace(TagScope.WAREHOUSE, place.warehouse_id)]

    def _own(self, place: TagPlace) -> Sequence[AppliedTag]:
        rows = self._catalog.rows
        names = {definition.tag_id: definition.name for definition in rows.tags.values()}
        found = [
            AppliedTag(tag_id, names[tag_id], each.value, each.created_at, each.updated_at)
            for (at, tag_id), each in rows.tagged.items()
            if at == place
        ]
        return sorted(found, key=lambda each: name_key(each.name))

    async def on_columns(
        self, warehouse_id: WarehouseId, incarnation: Incarnation
    ) -> Mapping[int, Sequence[AppliedTag]]:
        key = (warehouse_id, incarnation)
        places = {place for place, _ in self._catalog.rows.tagged if (place.warehouse_id, place.incarnation) == key}
        return {place.field_id: self._own(place) for place in places if place.field_id is not None}


def _named(rows: Rows, project_id: ProjectId, name: str) -> TagDefinition | None:
    found = (each for each in rows.tags.values() if each.project_id == project_id)
    return next((each for each in found if name_key(each.name) == name_key(name)), None)


class TagRowChanges:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    async def insert(self, definition: TagDefinition, *, owner: Principal) -> None:
        if definition.project_id not in self.rows.projects:
            raise no_such_project(definition.project_id)
        self._check_name(definition)
        self.rows.tags[definition.project_id, definition.tag_id] = definition
        made = ObjectRef.tag(definition.project_id, definition.tag_id)
        self.rows.growth.append((PROJECTS, Made(made, stored_owner(owner))))

    def _check_name(self, definition: TagDefinition) -> None:
        other = _named(self.rows, definition.project_id, definition.name)
        if other is not None and other.tag_id != definition.tag_id:
            raise tag_exists(definition.name)

    async def lock(self, project_id: ProjectId, tag_id: TagId) -> TagDefinition | None:
        return self.rows.tags.get((project_id, tag_id))

    async def update(self, definition: TagDefinition) -> None:
        self._check_name(definition)
        self.rows.tags[definition.project_id, definition.tag_id] = definition

    async def delete(self, definition: TagDefinition) -> None:
        if any(tag_id == definition.tag_id for _, tag_id in self.rows.tagged):
            raise tag_in_use(definition.tag_id)
        del self.rows.tags[definition.project_id, definition.tag_id]
        self.rows.growth.append((PROJECTS, Gone(ObjectRef.tag(definition.project_id, definition.tag_id))))

    async def put(
        self, place: TagPlace, definition: TagDefinition, value: str | None, *, attachment_id: UUID, at: datetime
    ) -> tuple[AppliedTag, bool]:
        if (definition.project_id, definition.tag_id) not in self.rows.tags:
            raise no_such_tag_name(definition.name)
        if not self._there(place):
            raise no_such_target(place.scope, place)
        key, was = (place, definition.tag_id), self.rows.tagged.get((place, definition.tag_id))
        row = was or Attached(attachment_id, definition.tag_id, value, at)
        if was is not None and was.value != value:
            row = dataclasses.replace(was, value=value, updated_at=at)
        self.rows.tagged[key] = row
        applied = AppliedTag(definition.tag_id, definition.name, value, row.created_at, row.updated_at)
        return applied, row is not was

    def _there(self, place: TagPlace) -> bool:
        if place.incarnation is not None:
            return (place.warehouse_id, place.incarnation) in self.rows.tabulars
        if place.namespace_id is not None:
            return (place.warehouse_id, place.namespace_id) in self.rows.namespaces
        return place.warehouse_id in self.rows.warehouses

    async def remove(self, place: TagPlace, tag_id: TagId) -> bool:
        return self.rows.tagged.pop((place, tag_id), None) is not None

    async def leave_columns(
        self, warehouse_id: WarehouseId, incarnation: Incarnation, field_ids: Collection[int]
    ) -> None:
        for field_id in field_ids:
            forget(self.rows, warehouse_id=warehouse_id, incarnation=incarnation, field_id=field_id)


def stored_owner(principal: Principal) -> Principal | None:
    """An owner as authz is told of it."""
    match principal.kind:
        case PrincipalKind.USER:
            return principal
        case PrincipalKind.ROLE:
            return Principal(PrincipalKind.ROLE, role_id=principal.role_id)
        case _:
            return None
