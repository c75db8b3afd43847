"""Protecting namespaces from being dropped without force."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.announcements import Announcer, NamespaceChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.domain.model import NamespaceId, WarehouseId
from lakeward_catalog.domain.wording import no_such_namespace
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.system import Clock


@dataclasses.dataclass(frozen=True, slots=True)
class ProtectNamespace:
    """Protect a namespace, or take its protection away."""

    warehouse_id: WarehouseId
    namespace_id: NamespaceId
    protected: bool


@dataclasses.dataclass(frozen=True, slots=True)
class NamespaceProtections:
    """Protects namespaces. Where it is so already nothing changes."""

    doors: Doors
    changes: Changes
    announcer: Announcer
    clock: Clock

    async def __call__(self, command: ProtectNamespace, *, caller: Caller) -> None:
        """Protect one, or take its protection away.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN.
        """
        warehouse_id, needed = command.warehouse_id, Action.NAMESPACE_SET_PROTECTION
        opened = await self.doors.namespace_by_id(warehouse_id, command.namespace_id, needed, caller=caller)
        async with self.changes.change() as change:
            namespace = await change.namespaces.lock(warehouse_id, opened.namespace.ident, exclusively=True)
            if (
                namespace is None or namespace.namespace_id != opened.namespace.namespace_id
            ):  # what was decided on is gone
                raise no_such_namespace(command.namespace_id)
            if namespace.protected is command.protected:
                return
            await change.namespaces.set_protection(namespace, protected=command.protected)
            when, after = (
                occasion(caller, self.clock.now()),
                dataclasses.replace(namespace, protected=command.protected),
            )
            change.ledger.emit(
                self.announcer.namespace(NamespaceChange.PROTECTION_UPDATED, after, when, warehouse=opened.warehouse)
            )
