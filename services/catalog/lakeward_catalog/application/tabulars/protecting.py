"""Protecting tables and views from being dropped without force."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.announcements import Announcer, TabularChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.tabulars.demands import DEMANDS
from lakeward_catalog.domain.model import Kind, TabularId, WarehouseId
from lakeward_catalog.domain.wording import no_such_tabular
from lakeward_servicekit.system import Clock


@dataclasses.dataclass(frozen=True, slots=True)
class ProtectTabular:
    """Protect a table or view, or take its protection away."""

    warehouse_id: WarehouseId
    tabular_id: TabularId
    kind: Kind
    protected: bool


@dataclasses.dataclass(frozen=True, slots=True)
class TabularProtections:
    """Protects tables and views of any state. Where it is so already nothing changes."""

    doors: Doors
    changes: Changes
    announcer: Announcer
    clock: Clock

    async def __call__(self, command: ProtectTabular, *, caller: Caller) -> None:
        """Protect one, or take its protection away.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE or NO_SUCH_VIEW, FORBIDDEN.
        """
        needed = DEMANDS[command.kind].protect
        warehouse, opened = await self.doors.tabular_by_id(
            command.warehouse_id, command.tabular_id, command.kind, needed, caller=caller
        )
        async with self.changes.change() as change:
            tabular = await change.tabulars.lock_incarnation(command.warehouse_id, opened.incarnation)
            if tabular is None:
                raise no_such_tabular(command.kind, command.tabular_id)
            if tabular.protected is command.protected:
                return
            await change.tabulars.set_protection(tabular, protected=command.protected)
            when, after = occasion(caller, self.clock.now()), dataclasses.replace(tabular, protected=command.protected)
            change.ledger.emit(
                self.announcer.tabular(TabularChange.PROTECTION_UPDATED, after, when, warehouse=warehouse)
            )
