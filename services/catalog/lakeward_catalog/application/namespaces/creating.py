"""Making a namespace below one that exists, or at the top."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from uuid import UUID

from lakeward_catalog.application.announcements import Announcer, NamespaceChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.namespaces.properties import LOCATION, storable
from lakeward_catalog.application.placing import base_of, check_place, layout_of, parse_location
from lakeward_catalog.application.ports.gates import ChangeGate, ProposedChange
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.domain.contracts.contract import Operation
from lakeward_catalog.domain.model import Namespace, NamespaceId, Warehouse, WarehouseId
from lakeward_catalog.domain.names import NamespaceIdent, check_not_reserved
from lakeward_catalog.domain.wording import no_such_namespace
from lakeward_locations.layout import Named
from lakeward_locations.location import Location, LocationError
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.system import Clock, Ids


@dataclasses.dataclass(frozen=True, slots=True)
class CreateNamespace:
    """Make a namespace; `properties` may hold its location."""

    warehouse_id: WarehouseId
    ident: NamespaceIdent
    properties: Mapping[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class NamespaceCreations:
    """Makes namespaces. A location is fixed then: a later change of the warehouse's layout does not move it."""

    doors: Doors
    changes: Changes
    once: Once
    announcer: Announcer
    clock: Clock
    ids: Ids
    rules: Rules
    gate: ChangeGate

    async def __call__(self, command: CreateNamespace, *, caller: Caller) -> Namespace:
        """Make one.

        Raises:
            Refusal: RESERVED_NAMESPACE, PROPERTY_NOT_LOWERCASE; NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE (the parent), FORBIDDEN;
                MALFORMED_LOCATION, LOCATION_NOT_ALLOWED, NAMESPACE_EXISTS; CONTRACT_VIOLATED, CONTRACT_CHECK_FAILED.
        """
        check_not_reserved(command.ident, self.rules.reserved_namespaces)
        properties = storable(command.properties)
        keyed = Keyed(
            of_warehouse(command.warehouse_id),
            "create-namespace",
            {"namespace": command.ident.parts, "properties": command.properties},
        )
        return await self.once(
            keyed,
            caller=caller,
            do=lambda keeper: self._create(command, properties, caller, keeper),
            again=lambda kept: self._again(command, kept, caller),
        )

    async def _create(
        self, command: CreateNamespace, properties: dict[str, str], caller: Caller, keeper: Keeper
    ) -> Namespace:
        warehouse, parent = await self._open(command, caller)
        now = self.clock.now()
        namespace_id = NamespaceId(self.ids.uuid7())
        wanted_location = properties.pop(LOCATION, None)
        if wanted_location is None:
            location = await self._by_layout(warehouse, parent, Named(command.ident.name, namespace_id))
        else:
            location = parse_location(wanted_location)
            check_place(warehouse, location)
        namespace = Namespace(
            warehouse_id=warehouse.warehouse_id,
            namespace_id=namespace_id,
            parent_id=None if parent is None else parent.namespace_id,
            ident=NamespaceIdent((*(parent.ident.parts if parent is not None else ()), command.ident.name)),
            properties=properties,
            location=location.directory,
            protected=False,
            row_version=1,
            created_at=now,
        )
        await self.gate.check(
            ProposedChange(
                warehouse=warehouse,
                operation=Operation.CREATE_NAMESPACE,
                principal=caller.who,
                namespace=namespace.ident,
                properties=properties,
            )
        )
        async with self.changes.change() as change:
            if parent is not None:
                held = await change.namespaces.lock(command.warehouse_id, parent.ident, exclusively=False)
                if held is None or held.namespace_id != parent.namespace_id:  # what was decided on is gone
                    raise no_such_namespace(parent.ident)
                if held.ident.parts != parent.ident.parts:  # it is spelt otherwise by now
                    spelt = NamespaceIdent((*held.ident.parts, command.ident.name))
                    namespace = dataclasses.replace(namespace, ident=spelt)
            await change.namespaces.insert(namespace, owner=caller.principal)
            when = occasion(caller, now)
            change.ledger.emit(self.announcer.namespace(NamespaceChange.CREATED, namespace, when, warehouse=warehouse))
            await keeper.keep(change, namespace_id=namespace_id)
        return namespace

    async def _again(self, command: CreateNamespace, kept: Mapping[str, str], caller: Caller) -> Namespace:
        opened = await self.doors.namespace(
            command.warehouse_id, command.ident, Action.NAMESPACE_GET_METADATA, caller=caller
        )
        if opened.namespace.namespace_id != UUID(kept["namespace_id"]):
            raise no_such_namespace(command.ident)
        return opened.namespace

    async def _open(self, command: CreateNamespace, caller: Caller) -> tuple[Warehouse, Namespace | None]:
        if command.ident.parent is None:
            needed = Action.WAREHOUSE_CREATE_NAMESPACE
            return await self.doors.warehouse(command.warehouse_id, needed, caller=caller), None
        opened = await self.doors.namespace(
            command.warehouse_id, command.ident.parent, Action.NAMESPACE_CREATE_NAMESPACE, caller=caller
        )
        return opened.warehouse, opened.namespace

    async def _by_layout(self, warehouse: Warehouse, parent: Namespace | None, named: Named) -> Location:
        """Where the layout puts a namespace. Only a layout that has directories for namespaces needs to know its ancestors."""
        layout = layout_of(warehouse)
        path = [named]
        if layout.namespace is not None:
            above = parent
            while above is not None:
                path.insert(0, Named(above.ident.name, above.namespace_id))
                upper = above.ident.parent
                above = None if upper is None else (await self.doors.namespaces.find(warehouse.warehouse_id, upper))[1]
        try:
            return layout.namespace_location(base_of(warehouse), path)
        except LocationError as error:
            raise Refusal(
                Reason.REASON_LOCATION_NOT_ALLOWED,
                f"the storage layout can't place this namespace: {error}; give a shorter name, or a location"[:1000],
                location=error.location,
            ) from None
