"""Setting the contracts of a warehouse."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Final

from lakeward_catalog.application.announcements import WarehouseChange
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.warehouses.changing import WarehouseEdits
from lakeward_catalog.domain.contracts.contract import Contract, parsed
from lakeward_catalog.domain.model import Warehouse, WarehouseId
from lakeward_servicekit.authorization.actions import Action

_SETS: Final = Action.WAREHOUSE_SET_PROTECTION


@dataclasses.dataclass(frozen=True, slots=True)
class SetContracts:
    """Replace a warehouse's contracts; `document` is JSON, a list."""

    warehouse_id: WarehouseId
    document: bytes


@dataclasses.dataclass(frozen=True, slots=True)
class ContractSettings:
    """Replaces contracts, of inactive warehouses too. Those that are so already are no change, and no event.

    Whoever protects a warehouse from being deleted says what is promised of what is in it. Owners of a namespace may not: a
    contract binds them too.

    Attributes:
        checkers: names of the services that the settings have.
    """

    doors: Doors
    edits: WarehouseEdits
    checkers: Collection[str]

    async def __call__(self, command: SetContracts, *, caller: Caller) -> Warehouse:
        """Replace them.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN, WAREHOUSE_MANAGED; INVALID_CONTRACT, TOO_LARGE.
        """
        opened = await self.doors.specified(command.warehouse_id, _SETS, caller=caller, inactive_too=True)
        contracts = parsed(command.document, checkers=self.checkers)
        return await self.edits(
            opened, WarehouseChange.CONTRACTS_UPDATED, lambda stored: _with(stored, contracts), caller=caller
        )


def _with(warehouse: Warehouse, contracts: tuple[Contract, ...]) -> Warehouse:
    return dataclasses.replace(warehouse, contracts=contracts)
