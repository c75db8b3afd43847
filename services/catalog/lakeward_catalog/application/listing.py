"""Listing what is in a namespace: tables, or views."""

from __future__ import annotations

import dataclasses
from typing import Final

from lakeward_catalog.application.access import open_namespace, visibility
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.paging import EVERYTHING, Page, PageRequest, read_page
from lakeward_catalog.application.ports import After, NamespaceStore, Rules, TabularStore
from lakeward_catalog.application.refs import namespace_ref
from lakeward_catalog.domain.model import Kind, Tabular, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer
from lakeward_servicekit.authorization.objects import ObjectKind

_LISTING: Final = {
    Kind.TABLE: (Action.NAMESPACE_LIST_TABLES, ObjectKind.TABLE),
    Kind.VIEW: (Action.NAMESPACE_LIST_VIEWS, ObjectKind.VIEW),
}


@dataclasses.dataclass(frozen=True, slots=True)
class ListTabulars:
    """List the tables or views of a namespace."""

    warehouse_id: WarehouseId
    namespace: NamespaceIdent
    kind: Kind
    page: PageRequest = EVERYTHING


async def list_tabulars(
    command: ListTabulars,
    *,
    caller: Caller,
    authorizer: Authorizer,
    namespaces: NamespaceStore,
    tabulars: TabularStore,
    rules: Rules,
) -> Page[Tabular]:
    """Those that the caller may see, in the order in which they were made.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN, INVALID_PAGE_TOKEN.
    """
    action, object_kind = _LISTING[command.kind]
    opened = await open_namespace(
        command.warehouse_id,
        command.namespace,
        action,
        caller=caller,
        authorizer=authorizer,
        namespaces=namespaces,
        asked=(Action.NAMESPACE_LIST_EVERYTHING,),
    )
    namespace = opened.namespace
    visible = await visibility(
        caller,
        authorizer,
        namespace_ref(opened.warehouse, namespace),
        object_kind,
        everything=bool(opened.allowed),
    )
    return await read_page(
        command.page,
        listing=(command.kind, str(command.warehouse_id), str(namespace.namespace_id), caller.principal.key),
        rules=rules,
        place=lambda tabular: After(tabular.created_at, tabular.incarnation),
        read=lambda after, limit: tabulars.list(
            command.warehouse_id, namespace.namespace_id, command.kind, visible=visible, after=after, limit=limit
        ),
    )
