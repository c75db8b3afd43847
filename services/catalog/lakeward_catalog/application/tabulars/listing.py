"""Listing what is in a namespace: tables, or views."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.paging import read_page
from lakeward_catalog.application.ports.stores import After, Listed
from lakeward_catalog.application.refs import namespace_ref
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.application.tabulars.demands import DEMANDS
from lakeward_catalog.domain.model import Kind, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.paging import EVERYTHING, Page, PageRequest


@dataclasses.dataclass(frozen=True, slots=True)
class ListTabulars:
    """List the tables or views of a namespace."""

    warehouse_id: WarehouseId
    namespace: NamespaceIdent
    kind: Kind
    page: PageRequest = EVERYTHING


@dataclasses.dataclass(frozen=True, slots=True)
class TabularPage:
    """A part of what is in a namespace.

    Attributes:
        namespace: with the stored casing of every part.
    """

    namespace: NamespaceIdent
    page: Page[Listed]


@dataclasses.dataclass(frozen=True, slots=True)
class TabularListings:
    """Lists the tables or views of a namespace."""

    doors: Doors
    rules: Rules

    async def __call__(self, command: ListTabulars, *, caller: Caller) -> TabularPage:
        """Those that the caller may see, in the order in which they were made.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN, INVALID_PAGE_TOKEN.
        """
        demands, doors = DEMANDS[command.kind], self.doors
        opened = await doors.namespace(
            command.warehouse_id,
            command.namespace,
            demands.list,
            caller=caller,
            asked=(Action.NAMESPACE_LIST_EVERYTHING,),
        )
        namespace = opened.namespace
        visible = await doors.shown(
            namespace_ref(opened.warehouse, namespace),
            demands.objects,
            caller=caller,
            everything=bool(opened.allowed),
        )
        page = await read_page(
            command.page,
            listing=(command.kind, str(command.warehouse_id), str(namespace.namespace_id), caller.principal.key),
            rules=self.rules,
            place=lambda listed: After(listed.created_at, listed.incarnation),
            read=lambda after, limit: doors.tabulars.list(
                command.warehouse_id, namespace.namespace_id, command.kind, visible=visible, after=after, limit=limit
            ),
        )
        return TabularPage(namespace.ident, page)
