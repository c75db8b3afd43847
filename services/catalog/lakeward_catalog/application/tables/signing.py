"""Signing storage requests for clients without credentials."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Final

from lakeward_catalog.application.access import decide, find_warehouse
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import warehouse_needs
from lakeward_catalog.application.placing import parse_location
from lakeward_catalog.application.ports import TabularStore, WarehouseStore
from lakeward_catalog.application.ports_access import ClientAccess, Level, SignedRequest, StorageRequest
from lakeward_catalog.application.refs import tabular_ref
from lakeward_catalog.application.tables.signer_scopes import SignerScopes
from lakeward_catalog.domain.model import Kind, Tabular, TabularId, Warehouse, WarehouseId
from lakeward_catalog.domain.wording import no_such_tabular, no_such_warehouse
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer, Demand, Need, Outcome
from lakeward_servicekit.errors import Reason, Refusal

_READING: Final = frozenset({"GET", "HEAD"})
# The request lies elsewhere, or the warehouse has another secret by now: what is stored knows better than a scope.
_LOOKED_UP_AFTER: Final = frozenset({Reason.REASON_SIGNING_OUTSIDE, Reason.REASON_NO_SUCH_SECRET})


@dataclasses.dataclass(frozen=True, slots=True)
class SignStorageRequest:
    """Sign one storage request.

    Attributes:
        tabular_id: whose files it is about; None: found by where the request lies.
        scope: what a load handed out for the tabular; "" for nothing.
    """

    warehouse_id: WarehouseId
    tabular_id: TabularId | None
    request: StorageRequest
    scope: str = dataclasses.field(default="", repr=False)

    @property
    def level(self) -> Level:
        """How far access has to go."""
        return Level.READ if self.request.method.upper() in _READING else Level.READ_WRITE_DELETE

    @property
    def action(self) -> Action:
        """What has to be allowed on the table."""
        return Action.TABLE_READ_DATA if self.level is Level.READ else Action.TABLE_WRITE_DATA


async def sign_storage_request(
    command: SignStorageRequest,
    *,
    caller: Caller,
    authorizer: Authorizer,
    warehouses: WarehouseStore,
    tabulars: TabularStore,
    access: ClientAccess,
    scopes: SignerScopes,
) -> SignedRequest:
    """A signature for what the caller may do to one table's files.

    With a scope that holds, nothing is read: one question to authz and one to vending. A scope alone never refuses anything;
    whatever does not come to a signature with it is looked up.

    A request outside of the named table is looked up by its place, because some clients keep signing through the endpoint of a
    table that they loaded earlier, and Spark asks after files of a table that it has just dropped. What lies there and is hidden
    is answered like nothing.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE, FORBIDDEN; SIGNING_INVALID, SIGNING_METHOD, SIGNING_DISABLED, SIGNING_OUTSIDE.
    """
    signed = await _sign_within_scope(
        command, caller=caller, authorizer=authorizer, warehouses=warehouses, access=access, scopes=scopes
    )
    if signed is not None:
        return signed
    return await _sign_looked_up(
        command, caller=caller, authorizer=authorizer, warehouses=warehouses, tabulars=tabulars, access=access
    )


async def _sign_within_scope(
    command: SignStorageRequest,
    *,
    caller: Caller,
    authorizer: Authorizer,
    warehouses: WarehouseStore,
    access: ClientAccess,
    scopes: SignerScopes,
) -> SignedRequest | None:
    """A signature by what the scope says; None where it says nothing that leads to one."""
    if command.scope == "" or command.tabular_id is None:
        return None
    principal = caller.principal.key
    scope = scopes.read(
        command.scope, warehouse_id=command.warehouse_id, tabular_id=command.tabular_id, principal=principal
    )
    if scope is None or not scope.covers(command.level):
        return None
    warehouse = warehouses.remembered(command.warehouse_id, scope.warehouse_version)
    if warehouse is None or not warehouse.active:
        return None
    outcomes = await authorizer.decide(caller.principal, scope.demands(warehouse, command.action))
    if any(outcome is not Outcome.ALLOWED for outcome in outcomes):
        return None  # the look tells what the caller is told
    try:
        return await access.sign(warehouse, scope, command.level, command.request, principal=principal)
    except Refusal as refusal:
        if refusal.reason not in _LOOKED_UP_AFTER:
            raise
        return None


async def _sign_looked_up(
    command: SignStorageRequest,
    *,
    caller: Caller,
    authorizer: Authorizer,
    warehouses: WarehouseStore,
    tabulars: TabularStore,
    access: ClientAccess,
) -> SignedRequest:
    """A signature by what is stored."""
    warehouse, tabular = await _look_up(command, warehouses=warehouses, tabulars=tabulars)
    needs = warehouse_needs(warehouse, absent=lambda: no_such_warehouse(command.warehouse_id))
    absent = no_such_tabular(Kind.TABLE, str(command.tabular_id))
    if tabular is not None and tabular.kind is Kind.TABLE:
        needs.append(_need(warehouse, tabular, command.action, absent))
    await decide(caller, authorizer, needs)
    if tabular is not None and tabular.kind is not Kind.TABLE:
        raise absent
    principal = caller.principal.key
    try:
        return await access.sign(warehouse, tabular, command.level, command.request, principal=principal)
    except Refusal as refusal:
        if refusal.reason != Reason.REASON_SIGNING_OUTSIDE:
            raise
        place = refusal.metadata["location"]
        if tabular is not None:
            absent = refusal
        elif command.tabular_id is None:  # else by what the caller named, so that an unknown id reads like a hidden one
            absent = no_such_tabular(Kind.TABLE, place)
        owner = await tabulars.by_location(command.warehouse_id, parse_location(place))
        if (
            owner is None
            or owner.kind is not Kind.TABLE
            or (tabular is not None and owner.incarnation == tabular.incarnation)
        ):
            raise absent from None
    await decide(caller, authorizer, [_need(warehouse, owner, command.action, absent)])
    return await access.sign(warehouse, owner, command.level, command.request, principal=principal)


async def _look_up(
    command: SignStorageRequest, *, warehouses: WarehouseStore, tabulars: TabularStore
) -> tuple[Warehouse, Tabular | None]:
    """The warehouse, and the tabular that the caller named; None where none was named, or there is none."""
    warehouse = find_warehouse(command.warehouse_id, warehouses=warehouses)
    if command.tabular_id is None:
        return await warehouse, None
    return await asyncio.gather(warehouse, tabulars.by_id(command.warehouse_id, command.tabular_id))


def _need(warehouse: Warehouse, table: Tabular, action: Action, absent: Refusal) -> Need:
    return Need(Demand(tabular_ref(warehouse, table), action), lambda: absent)
