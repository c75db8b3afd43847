"""The way to tags, and to what they are set on.

Who manages tags need not see what is tagged in any other way, so a target is decided on alone: what it is in is not asked about.
Whatever keeps somebody from it, that it is absent, hidden, in an inactive warehouse or in another project than the call names, is
refused with one text.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final
from uuid import UUID

import msgspec

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.ports.tags import TagStore
from lakeward_catalog.application.refs import namespace_ref, tabular_ref, warehouse_ref
from lakeward_catalog.domain.model import (
    NIL_PROJECT,
    Kind,
    NamespaceId,
    State,
    Tabular,
    TabularId,
    Warehouse,
    WarehouseId,
)
from lakeward_catalog.domain.tags import (
    TABULAR_SCOPES,
    TagDefinition,
    TaggedObject,
    TagId,
    TagPlace,
    TagScope,
    no_such_tag,
    no_such_tag_name,
    no_such_target,
)
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Need
from lakeward_servicekit.authorization.objects import ObjectRef
from lakeward_servicekit.errors import Refusal


@dataclasses.dataclass(frozen=True, slots=True)
class TagTarget:
    """What a tag is on, as a call names it.

    Attributes:
        id: of a namespace, or the public one of a tabular, or of a column's table; None for the warehouse itself.
        column: its name in the table's current schema.
    """

    scope: TagScope
    warehouse_id: WarehouseId
    id: NamespaceId | TabularId | None = None
    column: str | None = None

    @property
    def absent(self) -> Refusal:
        """The refusal of one that is not there."""
        return no_such_target(self.scope, self.id or self.warehouse_id)


class TagRights(msgspec.Struct, frozen=True):
    """What has to be allowed of a target: to set and remove its tags, and to see them."""

    manage: Action
    see: Action


RIGHTS: Final[Mapping[TagScope, TagRights]] = MappingProxyType(
    {
        TagScope.WAREHOUSE: TagRights(Action.WAREHOUSE_MANAGE_TAGS, Action.WAREHOUSE_GET_METADATA),
        TagScope.NAMESPACE: TagRights(Action.NAMESPACE_MANAGE_TAGS, Action.NAMESPACE_GET_METADATA),
        TagScope.TABLE: TagRights(Action.TABLE_MANAGE_TAGS, Action.TABLE_GET_METADATA),
        TagScope.VIEW: TagRights(Action.VIEW_MANAGE_TAGS, Action.VIEW_GET_METADATA),
        TagScope.GENERIC_TABLE: TagRights(Action.GENERIC_TABLE_MANAGE_TAGS, Action.GENERIC_TABLE_GET_METADATA),
        TagScope.COLUMN: TagRights(Action.TABLE_MANAGE_TAGS, Action.TABLE_GET_METADATA),
    }
)


class OpenedTarget(msgspec.Struct, frozen=True):
    """A target that the caller may act on.

    Attributes:
        place: where its tags are kept; of a column the table's own, whose metadata says which field it is.
        tabular: the table or view; of a column its table.
    """

    target: TagTarget
    warehouse: Warehouse
    place: TagPlace
    ref: ObjectRef
    tabular: Tabular | None = None

    def tagged(self, field_id: int | None = None) -> TaggedObject:
        """As events call it."""
        return TaggedObject(self.target.scope, self.target.warehouse_id, self.target.id, field_id)


@dataclasses.dataclass(frozen=True, slots=True)
class TagDoors:
    """Opens tags and their targets for a caller, or refuses."""

    doors: Doors
    tags: TagStore

    async def definition(self, tag_id: TagId, action: Action, *, caller: Caller) -> TagDefinition:
        """A tag of the project that the call names, else of the default project, on which the caller may take an action.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_TAG, FORBIDDEN.
        """
        project_id = self.doors.chosen_project(caller)
        found = await self.tags.find(project_id, tag_id)
        # Asked in any case, so that how long it takes does not say whether there was something to decide of.
        demand = Demand(ObjectRef.tag(project_id, tag_id), action)
        await self.doors.decide(caller, [Need(demand, lambda: no_such_tag(tag_id))])
        if found is None:
            raise no_such_tag(tag_id)
        return found

    async def seen(self, target: TagTarget, *, caller: Caller) -> OpenedTarget:
        """A target whose tags the caller may see.

        Raises:
            Refusal: NO_SUCH_TAG_TARGET, FORBIDDEN.
        """
        opened = await self._found(target, caller)
        await self.doors.decide(caller, [_need(opened, lambda rights: rights.see)])
        return opened

    async def managed(self, target: TagTarget, tag: str, *, caller: Caller) -> tuple[OpenedTarget, TagDefinition]:
        """A target whose tags the caller may set and remove, and the tag of a name, which it may set and remove.

        Raises:
            Refusal: NO_SUCH_TAG_TARGET, NO_SUCH_TAG_NAME, FORBIDDEN.
        """
        opened = await self._found(target, caller, tag=tag)
        project_id = opened.warehouse.project_id
        definition = await self.tags.find_by_name(project_id, tag)
        needs = [_need(opened, lambda rights: rights.manage)]
        if definition is not None:
            demand = Demand(ObjectRef.tag(project_id, definition.tag_id), Action.TAG_APPLY)
            needs.append(Need(demand, lambda: no_such_tag_name(tag)))
        await self.doors.decide(caller, needs)
        if definition is None:
            raise no_such_tag_name(tag)
        return opened, definition

    async def _found(self, target: TagTarget, caller: Caller, *, tag: str | None = None) -> OpenedTarget:
        """What the caller named, to set or remove a tag there where one is named; nothing is decided of it yet."""
        match target.scope:
            case TagScope.WAREHOUSE:
                warehouse = await self.doors.warehouses.find(target.warehouse_id)
                here = await self._here(warehouse, target, caller, tag=tag, inactive_too=True)
                return OpenedTarget(target, here, TagPlace(target.scope, target.warehouse_id), warehouse_ref(here))
            case TagScope.NAMESPACE:
                return await self._namespace(target, caller, tag)
            case TagScope.COLUMN:
                return await self._tabular(target, Kind.TABLE, caller, tag)
            case scope:
                return await self._tabular(target, TABULAR_SCOPES[scope], caller, tag)

    async def _namespace(self, target: TagTarget, caller: Caller, tag: str | None) -> OpenedTarget:
        namespace_id = NamespaceId(target.id or target.warehouse_id)
        warehouse, namespace = await self.doors.namespaces.find_by_id(target.warehouse_id, namespace_id)
        here = await self._here(warehouse, target, caller, tag=tag, there=namespace is not None)
        assert namespace is not None, "else it was refused"
        place = TagPlace(target.scope, target.warehouse_id, namespace_id=namespace_id)
        return OpenedTarget(target, here, place, namespace_ref(here, namespace))

    async def _tabular(self, target: TagTarget, kind: Kind, caller: Caller, tag: str | None) -> OpenedTarget:
        warehouse, tabular = await asyncio.gather(
            self.doors.warehouses.find(target.warehouse_id),
            self.doors.tabulars.by_id(target.warehouse_id, TabularId(target.id or target.warehouse_id)),
        )
        there = tabular is not None and tabular.kind is kind and tabular.state is not State.STAGED
        here = await self._here(warehouse, target, caller, tag=tag, there=there)
        assert tabular is not None, "else it was refused"
        place = TagPlace(target.scope, target.warehouse_id, incarnation=tabular.incarnation)
        return OpenedTarget(target, here, place, tabular_ref(here, tabular), tabular)

    async def _here(
        self,
        warehouse: Warehouse | None,
        target: TagTarget,
        caller: Caller,
        *,
        tag: str | None,
        there: bool = True,
        inactive_too: bool = False,
    ) -> Warehouse:
        """The warehouse, unless it is not the one that is meant, or what is meant is not `there` in it."""
        serves = warehouse is not None and (warehouse.active or inactive_too)
        if warehouse is not None and serves and there and caller.project in {None, warehouse.project_id}:
            return warehouse
        nobodys: Sequence[Demand] = ()
        if tag is not None:  # as `managed` does of one that is there
            project_id = NIL_PROJECT if warehouse is None else warehouse.project_id
            if await self.tags.find_by_name(project_id, tag) is not None:
                nobodys = [Demand(ObjectRef.tag(NIL_PROJECT, UUID(int=0)), Action.TAG_APPLY)]
        return await self.doors.present(None, absent=lambda: target.absent, caller=caller, asked=nobodys)


def _need(opened: OpenedTarget, which: Callable[[TagRights], Action]) -> Need:
    return Need(Demand(opened.ref, which(RIGHTS[opened.target.scope])), lambda: opened.target.absent)
