"""Looking whether a table or view is there."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.tabulars.demands import DEMANDS
from lakeward_catalog.domain.model import Kind, WarehouseId
from lakeward_catalog.domain.names import TabularIdent


@dataclasses.dataclass(frozen=True, slots=True)
class LookForTabular:
    """Whether there is a table or view of this name."""

    warehouse_id: WarehouseId
    ident: TabularIdent
    kind: Kind


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TabularLooks:
    """Looks whether tables and views are there."""

    doors: Doors

    async def __call__(self, command: LookForTabular, *, caller: Caller) -> None:
        """Return where it is there.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE or NO_SUCH_VIEW, FORBIDDEN.
        """
        await self.doors.tabular(
            command.warehouse_id, command.ident, command.kind, DEMANDS[command.kind].see, caller=caller
        )
