"""Making a namespace below one that exists, or at the top."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from uuid import UUID

from lakeward_catalog.application.access import open_namespace, open_warehouse
from lakeward_catalog.application.announcements import Announcer, NamespaceChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.namespaces.properties import LOCATION, storable
from lakeward_catalog.application.namespaces.reading import get_namespace
from lakeward_catalog.application.placing import base_of, check_place, layout_of, parse_location
from lakeward_catalog.application.ports import Clock, Ids, NamespaceStore, Rules, WarehouseStore
from lakeward_catalog.domain.model import Namespace, NamespaceId, Warehouse, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent, check_not_reserved
from lakeward_catalog.domain.wording import no_such_namespace
from lakeward_locations.layout import Named
from lakeward_locations.location import Location, LocationError
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer
from lakeward_servicekit.errors import Reason, Refusal


@dataclasses.dataclass(frozen=True, slots=True)
class CreateNamespace:
    """Make a namespace; `properties` may hold its location."""

    warehouse_id: WarehouseId
    ident: NamespaceIdent
    properties: Mapping[str, str]


async def create_namespace(
    command: CreateNamespace,
    *,
    caller: Caller,
    authorizer: Authorizer,
    warehouses: WarehouseStore,
    namespaces: NamespaceStore,
    changes: Changes,
    once: Once,
    announcer: Announcer,
    clock: Clock,
    ids: Ids,
    rules: Rules,
) -> Namespace:
    """Make it. Its location is fixed now: a later change of the warehouse's layout does not move it.

    Raises:
        Refusal: RESERVED_NAMESPACE, PROPERTY_NOT_LOWERCASE; NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE (the parent), FORBIDDEN;
            MALFORMED_LOCATION, LOCATION_NOT_ALLOWED, NAMESPACE_EXISTS.
    """
    check_not_reserved(command.ident, rules.reserved_namespaces)
    properties = storable(command.properties)
    wanted_location = properties.pop(LOCATION, None)

    async def create(keeper: Keeper) -> Namespace:
        warehouse, parent = await _open(
            command, caller=caller, authorizer=authorizer, warehouses=warehouses, namespaces=namespaces
        )
        namespace_id = NamespaceId(ids.uuid7())
        if wanted_location is None:
            named = Named(command.ident.name, namespace_id)
            location = await _by_layout(warehouse, parent, named, namespaces=namespaces)
        else:
            location = parse_location(wanted_location)
            check_place(warehouse, location)
        ident = NamespaceIdent((*(parent.ident.parts if parent is not None else ()), command.ident.name))
        now = clock.now()
        namespace = Namespace(
            warehouse_id=warehouse.warehouse_id,
            namespace_id=namespace_id,
            parent_id=None if parent is None else parent.namespace_id,
            ident=ident,
            properties=properties,
            location=location.directory,
            protected=False,
            row_version=1,
            created_at=now,
        )
        async with changes.change() as change:
            if parent is not None:
                held = await change.namespaces.lock(command.warehouse_id, parent.ident, exclusively=False)
                if held is None or held.namespace_id != parent.namespace_id:  # what was decided on is gone
                    raise no_such_namespace(parent.ident)
            await change.namespaces.insert(namespace)
            told = {"properties": properties}
            change.ledger.emit(
                announcer.namespace(NamespaceChange.CREATED, namespace, occasion(caller, now), data=told)
            )
            await keeper.keep(change, namespace_id=namespace_id)
        return namespace

    async def again(kept: Mapping[str, str]) -> Namespace:
        namespace = await get_namespace(
            command.warehouse_id, command.ident, caller=caller, authorizer=authorizer, namespaces=namespaces
        )
        if namespace.namespace_id != UUID(kept["namespace_id"]):
            raise no_such_namespace(command.ident)
        return namespace

    keyed = Keyed(
        of_warehouse(command.warehouse_id),
        "create-namespace",
        {"namespace": command.ident.parts, "properties": command.properties},
    )
    return await once(keyed, caller=caller, do=create, again=again)


async def _open(
    command: CreateNamespace,
    *,
    caller: Caller,
    authorizer: Authorizer,
    warehouses: WarehouseStore,
    namespaces: NamespaceStore,
) -> tuple[Warehouse, Namespace | None]:
    if command.ident.parent is None:
        warehouse = await open_warehouse(
            command.warehouse_id,
            Action.WAREHOUSE_CREATE_NAMESPACE,
            caller=caller,
            authorizer=authorizer,
            warehouses=warehouses,
        )
        return warehouse, None
    opened = await open_namespace(
        command.warehouse_id,
        command.ident.parent,
        Action.NAMESPACE_CREATE_NAMESPACE,
        caller=caller,
        authorizer=authorizer,
        namespaces=namespaces,
    )
    return opened.warehouse, opened.namespace


async def _by_layout(
    warehouse: Warehouse, parent: Namespace | None, named: Named, *, namespaces: NamespaceStore
) -> Location:
    """Where the layout puts a namespace. Only a layout that has directories for namespaces needs to know its ancestors."""
    layout = layout_of(warehouse)
    path = [named]
    if layout.namespace is not None:
        above = parent
        while above is not None:
            path.insert(0, Named(above.ident.name, above.namespace_id))
            upper = above.ident.parent
            above = None if upper is None else (await namespaces.find(warehouse.warehouse_id, upper))[1]
    try:
        return layout.namespace_location(base_of(warehouse), path)
    except LocationError as error:
        raise Refusal(
            Reason.REASON_LOCATION_NOT_ALLOWED,
            f"the storage layout can't place this namespace: {error}; give a shorter name, or a location"[:1000],
            location=error.location,
        ) from None
