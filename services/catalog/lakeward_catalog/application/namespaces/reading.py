"""Reading namespaces: one, or the children of one."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.access import open_namespace, open_warehouse, visibility
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.paging import EVERYTHING, Page, PageRequest, read_page
from lakeward_catalog.application.ports import After, NamespaceStore, Rules, WarehouseStore
from lakeward_catalog.application.refs import namespace_ref, warehouse_ref
from lakeward_catalog.domain.model import Namespace, NamespaceId, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef


@dataclasses.dataclass(frozen=True, slots=True)
class ListNamespaces:
    """List the direct children of a namespace; `parent` None: the top level."""

    warehouse_id: WarehouseId
    parent: NamespaceIdent | None = None
    page: PageRequest = EVERYTHING


async def get_namespace(
    warehouse_id: WarehouseId,
    ident: NamespaceIdent,
    *,
    caller: Caller,
    authorizer: Authorizer,
    namespaces: NamespaceStore,
) -> Namespace:
    """One namespace, with the casing that is stored.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN.
    """
    opened = await open_namespace(
        warehouse_id,
        ident,
        Action.NAMESPACE_GET_METADATA,
        caller=caller,
        authorizer=authorizer,
        namespaces=namespaces,
    )
    return opened.namespace


async def list_namespaces(
    command: ListNamespaces,
    *,
    caller: Caller,
    authorizer: Authorizer,
    warehouses: WarehouseStore,
    namespaces: NamespaceStore,
    rules: Rules,
) -> Page[Namespace]:
    """Those that the caller may see, in the order in which they were made.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE (the parent), FORBIDDEN, INVALID_PAGE_TOKEN.
    """
    parent_id, scope = await _open(
        command, caller=caller, authorizer=authorizer, warehouses=warehouses, namespaces=namespaces
    )
    visible = await visibility(caller, authorizer, scope, ObjectKind.NAMESPACE)
    return await read_page(
        command.page,
        listing=("namespace", str(command.warehouse_id), str(parent_id), caller.principal.key),
        rules=rules,
        place=lambda namespace: After(namespace.created_at, namespace.namespace_id),
        read=lambda after, limit: namespaces.children(
            command.warehouse_id, parent_id, visible=visible, after=after, limit=limit
        ),
    )


async def _open(
    command: ListNamespaces,
    *,
    caller: Caller,
    authorizer: Authorizer,
    warehouses: WarehouseStore,
    namespaces: NamespaceStore,
) -> tuple[NamespaceId | None, ObjectRef]:
    """The parent's id and what is listed. Below a parent the warehouse's own listing is needed too, as upstream has it."""
    if command.parent is None:
        warehouse = await open_warehouse(
            command.warehouse_id,
            Action.WAREHOUSE_LIST_NAMESPACES,
            caller=caller,
            authorizer=authorizer,
            warehouses=warehouses,
        )
        return None, warehouse_ref(warehouse)
    opened = await open_namespace(
        command.warehouse_id,
        command.parent,
        Action.NAMESPACE_LIST_NAMESPACES,
        caller=caller,
        authorizer=authorizer,
        namespaces=namespaces,
        on_warehouse=(Action.WAREHOUSE_LIST_NAMESPACES,),
    )
    return opened.namespace.namespace_id, namespace_ref(opened.warehouse, opened.namespace)
