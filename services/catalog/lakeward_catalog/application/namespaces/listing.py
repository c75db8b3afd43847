"""Listing the children of a warehouse or namespace."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.paging import read_page
from lakeward_catalog.application.ports.stores import After, ListedNamespace
from lakeward_catalog.application.refs import namespace_ref, warehouse_ref
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.domain.model import NamespaceId, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.paging import EVERYTHING, Page, PageRequest


@dataclasses.dataclass(frozen=True, slots=True)
class ListNamespaces:
    """List the direct children of a namespace; `parent` None: the top level."""

    warehouse_id: WarehouseId
    parent: NamespaceIdent | None = None
    page: PageRequest = EVERYTHING


@dataclasses.dataclass(frozen=True, slots=True)
class NamespaceListings:
    """Lists namespaces that the caller may see, in the order in which they were made."""

    doors: Doors
    rules: Rules

    async def __call__(self, command: ListNamespaces, *, caller: Caller) -> Page[ListedNamespace]:
        """A page of them.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE (the parent), FORBIDDEN, INVALID_PAGE_TOKEN.
        """
        parent_id, container, everything = await self._open(command, caller)
        visible = await self.doors.shown(container, ObjectKind.NAMESPACE, caller=caller, everything=everything)
        return await read_page(
            command.page,
            listing=("namespace", str(command.warehouse_id), str(parent_id), caller.principal.key),
            rules=self.rules,
            place=lambda listed: After(listed.created_at, listed.namespace_id),
            read=lambda after, limit: self.doors.namespaces.children(
                command.warehouse_id, parent_id, visible=visible, after=after, limit=limit
            ),
        )

    async def _open(self, command: ListNamespaces, caller: Caller) -> tuple[NamespaceId | None, ObjectRef, bool]:
        """The parent's id, what is listed, and whether all of it shows.

        Below a parent the warehouse's own listing is needed too, as upstream has it.
        """
        if command.parent is None:
            warehouse, everything = await self.doors.listed_warehouse(command.warehouse_id, caller=caller)
            return None, warehouse_ref(warehouse), everything
        opened = await self.doors.namespace(
            command.warehouse_id,
            command.parent,
            Action.NAMESPACE_LIST_NAMESPACES,
            caller=caller,
            on_warehouse=(Action.WAREHOUSE_LIST_NAMESPACES,),
            asked=(Action.NAMESPACE_LIST_EVERYTHING,),
        )
        return opened.namespace.namespace_id, namespace_ref(opened.warehouse, opened.namespace), bool(opened.allowed)
