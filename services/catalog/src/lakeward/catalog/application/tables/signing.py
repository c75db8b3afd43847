"""Signing storage requests for clients without credentials."""

from __future__ import annotations

import dataclasses
from typing import Final

from lakeward.catalog.application.access import no_such_tabular, open_warehouse, tabular_ref
from lakeward.catalog.application.caller import Caller
from lakeward.catalog.application.placing import parse_location
from lakeward.catalog.application.ports import TabularStore, WarehouseStore
from lakeward.catalog.application.ports_access import ClientAccess, Level, SignedRequest, StorageRequest
from lakeward.catalog.domain.model import Kind, Tabular, TabularId, Warehouse, WarehouseId
from lakeward.servicekit.authorization.actions import Action
from lakeward.servicekit.authorization.authorizer import Authorizer, Demand, Need, require
from lakeward.servicekit.errors import Reason, Refusal

_READING: Final = frozenset({"GET", "HEAD"})


@dataclasses.dataclass(frozen=True, slots=True)
class SignStorageRequest:
    """Sign one storage request.

    Attributes:
        tabular_id: whose files it is about; None: found by where the request lies.
    """

    warehouse_id: WarehouseId
    tabular_id: TabularId | None
    request: StorageRequest


async def sign_storage_request(
    command: SignStorageRequest,
    *,
    caller: Caller,
    authorizer: Authorizer,
    warehouses: WarehouseStore,
    tabulars: TabularStore,
    access: ClientAccess,
) -> SignedRequest:
    """A signature for what the caller may do to one table's files.

    A request outside of the named table is looked up by its place, because some clients keep signing through the endpoint of a
    table that they loaded earlier, and Spark asks after files of a table that it has just dropped. What lies there and is hidden
    is answered like nothing.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE, FORBIDDEN; SIGNING_INVALID, SIGNING_METHOD, SIGNING_DISABLED, SIGNING_OUTSIDE.
    """
    warehouse = await open_warehouse(
        command.warehouse_id, Action.WAREHOUSE_USE, caller=caller, authorizer=authorizer, warehouses=warehouses
    )
    reading, principal = command.request.method.upper() in _READING, caller.principal.key
    level = Level.READ if reading else Level.READ_WRITE_DELETE
    action = Action.TABLE_READ_DATA if reading else Action.TABLE_WRITE_DATA
    tabular = None
    if command.tabular_id is not None:
        tabular = await tabulars.by_id(command.warehouse_id, command.tabular_id)
        if tabular is not None:
            absent = no_such_tabular(Kind.TABLE, str(command.tabular_id))
            await _require(warehouse, tabular, action, absent, caller=caller, authorizer=authorizer)
    try:
        return await access.sign(warehouse, tabular, level, command.request, principal=principal)
    except Refusal as refusal:
        if refusal.reason != Reason.REASON_SIGNING_OUTSIDE:
            raise
        place = refusal.metadata["location"]
        # by what the caller named, so that an unknown id reads like a hidden one
        shown = place if command.tabular_id is None else str(command.tabular_id)
        absent = no_such_tabular(Kind.TABLE, shown) if tabular is None else refusal
        owner = await tabulars.by_location(command.warehouse_id, parse_location(place))
        if owner is None or (tabular is not None and owner.incarnation == tabular.incarnation):
            raise absent from None
    await _require(warehouse, owner, action, absent, caller=caller, authorizer=authorizer)
    return await access.sign(warehouse, owner, level, command.request, principal=principal)


async def _require(
    warehouse: Warehouse, tabular: Tabular, action: Action, absent: Refusal, *, caller: Caller, authorizer: Authorizer
) -> None:
    if tabular.kind is not Kind.TABLE:
        raise absent
    demand = Demand(tabular_ref(warehouse, tabular), action)
    await require(authorizer, caller.principal, Need(demand, lambda: absent))
