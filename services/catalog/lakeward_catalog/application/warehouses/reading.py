"""Reading warehouses: one, or those of a project."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from lakeward_catalog.application.access import open_project, open_warehouse, visibility
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.ports import Rules, ServerStore, WarehouseStore
from lakeward_catalog.domain.model import Warehouse, WarehouseId
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef


async def get_warehouse(
    warehouse_id: WarehouseId, *, caller: Caller, authorizer: Authorizer, warehouses: WarehouseStore
) -> Warehouse:
    """One warehouse, active or not.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN.
    """
    return await open_warehouse(
        warehouse_id,
        Action.WAREHOUSE_GET_METADATA,
        caller=caller,
        authorizer=authorizer,
        warehouses=warehouses,
        inactive_too=True,
    )


async def list_warehouses(
    active: Collection[bool],
    *,
    caller: Caller,
    authorizer: Authorizer,
    servers: ServerStore,
    warehouses: WarehouseStore,
    rules: Rules,
) -> Sequence[Warehouse]:
    """The warehouses of the call's project that the caller may see, by name.

    Args:
        active: which are listed, by whether they serve; empty: those that do.
        caller: who asks.
        authorizer: who decides.
        servers: where projects are.
        warehouses: where they are.
        rules: names the default project.

    Raises:
        Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN.
    """
    project = await open_project(
        Action.PROJECT_LIST_WAREHOUSES, caller=caller, rules=rules, authorizer=authorizer, servers=servers
    )
    visible = await visibility(caller, authorizer, ObjectRef.project(project.project_id), ObjectKind.WAREHOUSE)
    wanted = set(active) or {True}
    only = None if len(wanted) > 1 else next(iter(wanted))
    return await warehouses.list(project.project_id, active=only, visible=visible)
