"""What a repetition under an idempotency key still asks authz, where the thing itself is gone or has moved."""

from __future__ import annotations

from lakeward_catalog.application.access import open_warehouse
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.ports import WarehouseStore
from lakeward_catalog.domain.model import WarehouseId
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer


async def may_still_use(
    warehouse_id: WarehouseId, *, caller: Caller, authorizer: Authorizer, warehouses: WarehouseStore
) -> None:
    """Whether the caller may still use the warehouse in which it made its change.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE.
    """
    await open_warehouse(
        warehouse_id, Action.WAREHOUSE_USE, caller=caller, authorizer=authorizer, warehouses=warehouses
    )
