"""Signing storage requests for clients without credentials."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from typing import Final

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors, absent_warehouse, warehouse_needs
from lakeward_catalog.application.placing import parse_location
from lakeward_catalog.application.ports.access import Access, ClientAccess, SignedRequest, StorageRequest
from lakeward_catalog.application.refs import nobodys_tabular, tabular_ref
from lakeward_catalog.application.tables.signer_scopes import SignerScope, SignerScopes
from lakeward_catalog.application.tabulars.demands import DEMANDS
from lakeward_catalog.domain.model import Kind, Tabular, TabularId, Warehouse, WarehouseId
from lakeward_catalog.domain.wording import no_such_tabular
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Need, Outcome, Turn
from lakeward_servicekit.authorization.principals import Principal, user
from lakeward_servicekit.errors import NoSuchSecret, Refusal, SigningOutside

_READING: Final = frozenset({"GET", "HEAD"})
_SIGNED: Final = frozenset({Kind.TABLE, Kind.GENERIC_TABLE})  # nobody reads a view's files by itself


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
    def level(self) -> Access:
        """How far access has to go."""
        return Access.READ if self.request.method.upper() in _READING else Access.READ_WRITE_DELETE

    def action(self, kind: Kind) -> Action:
        """What has to be allowed on a table or generic table."""
        reading, writing = DEMANDS[kind].data
        return reading if self.level is Access.READ else writing


@dataclasses.dataclass(frozen=True, slots=True)
class StorageSignings:
    """Signs storage requests for what callers may do to the files of one table or generic table."""

    doors: Doors
    access: ClientAccess
    scopes: SignerScopes

    async def __call__(self, command: SignStorageRequest, *, caller: Caller) -> SignedRequest:
        """A signature.

        With a scope that holds, nothing is read: one question to authz and one to vending. A scope alone never refuses anything;
        whatever does not come to a signature with it is looked up.

        A request outside of the named table is looked up by its place, because some clients keep signing through the endpoint
        of a table that they loaded earlier, and Spark asks after files of a table that it has just dropped. What lies there and
        is hidden is answered like nothing.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE, FORBIDDEN; SIGNING_INVALID, SIGNING_METHOD, SIGNING_DISABLED,
                SIGNING_OUTSIDE.
        """
        signed = await self._within_scope(command, caller)
        return signed if signed is not None else await self._looked_up(command, caller)

    async def _within_scope(self, command: SignStorageRequest, caller: Caller) -> SignedRequest | None:
        """A signature by what the scope says; None where it says nothing that leads to one."""
        if command.scope == "" or command.tabular_id is None:
            return None
        warehouse_id, principal = command.warehouse_id, caller.principal.key
        scope = self.scopes.read(
            command.scope, warehouse_id=warehouse_id, tabular_id=command.tabular_id, principal=principal
        )
        if scope is None or not scope.covers(command.level):
            return None
        warehouse = self.doors.warehouses.remembered(warehouse_id, scope.warehouse_version)
        if warehouse is None or not warehouse.active:
            return None
        if not await self._may(caller.principal, scope, scope.demands(warehouse, command.action(scope.kind))):
            return None  # the look tells what the caller is told
        try:
            return await self.access.sign(warehouse, scope, command.level, command.request, principal=principal)
        except (SigningOutside, NoSuchSecret):
            return None  # it lies elsewhere, or the warehouse has another secret by now: what is stored knows better

    async def _may(self, caller: Principal, scope: SignerScope, demands: tuple[Demand, Demand]) -> bool:
        """Whether what a scope is for is allowed now, to whoever reads the table: what was read as an owner is signed as that.

        That the caller may read through the views was decided when the scope was made, and counts as long as it.
        """
        if scope.owner is None:
            outcomes = await self.doors.authorizer.decide(caller, demands)
            return all(outcome is Outcome.ALLOWED for outcome in outcomes)
        if not caller.engines:
            return False  # the principal's token is no engine's any more
        use, act = demands
        answers = await self.doors.authorizer.decide_each(
            [Turn(caller, [use]), Turn(user(scope.owner), [act], as_owner=True)]
        )
        return all(outcome is Outcome.ALLOWED for outcomes in answers for outcome in outcomes)

    async def _looked_up(self, command: SignStorageRequest, caller: Caller) -> SignedRequest:
        """A signature by what is stored."""
        warehouse, named = await self._look_up(command, caller)
        absent = no_such_tabular(Kind.TABLE, str(command.tabular_id))
        needs = warehouse_needs(warehouse, absent=absent_warehouse(command.warehouse_id))
        asked: Sequence[Demand] = ()
        if named is not None and named.kind in _SIGNED:
            needs.append(_need(warehouse, named, command.action(named.kind), absent))
        elif command.tabular_id is not None:
            asked = [Demand(nobodys_tabular(warehouse, Kind.TABLE), command.action(Kind.TABLE))]
        await self.doors.decide(caller, needs, asked)
        if named is not None and named.kind not in _SIGNED:
            raise absent
        try:
            return await self._sign(command, warehouse, named, caller)
        except SigningOutside as outside:
            owner, hidden = await self._owner(command, named, outside)
        await self.doors.decide(caller, [_need(warehouse, owner, command.action(owner.kind), hidden)])
        return await self._sign(command, warehouse, owner, caller)

    async def _look_up(self, command: SignStorageRequest, caller: Caller) -> tuple[Warehouse, Tabular | None]:
        """The warehouse, and the tabular that the caller named; None where none was named, or there is none."""
        warehouse = self.doors.found_warehouse(command.warehouse_id, caller=caller)
        if command.tabular_id is None:
            return await warehouse, None
        return await asyncio.gather(warehouse, self.doors.tabulars.by_id(command.warehouse_id, command.tabular_id))

    async def _owner(
        self, command: SignStorageRequest, named: Tabular | None, outside: SigningOutside
    ) -> tuple[Tabular, Refusal]:
        """The other table that a request outside of the named one is about, and how it is refused if it is hidden.

        Raises:
            Refusal: that one, where there is no such table.
        """
        place = outside.metadata["location"]
        hidden: Refusal
        if named is not None:
            hidden = outside
        elif command.tabular_id is not None:  # by what the caller named, so that an unknown id reads like a hidden one
            hidden = no_such_tabular(Kind.TABLE, str(command.tabular_id))
        else:
            hidden = no_such_tabular(Kind.TABLE, place)
        owner = await self.doors.tabulars.by_location(command.warehouse_id, parse_location(place))
        if owner is None or owner.kind not in _SIGNED:
            raise hidden from None
        if named is not None and owner.incarnation == named.incarnation:
            raise hidden from None
        return owner, hidden

    async def _sign(
        self, command: SignStorageRequest, warehouse: Warehouse, table: Tabular | None, caller: Caller
    ) -> SignedRequest:
        return await self.access.sign(warehouse, table, command.level, command.request, principal=caller.principal.key)


def _need(warehouse: Warehouse, table: Tabular, action: Action, absent: Refusal) -> Need:
    return Need(Demand(tabular_ref(warehouse, table), action), lambda: absent)
