"""What was dropped and can be restored: listing it, and bringing it back as it was."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from lakeward_catalog.application.announcements import Announcer, Occasion, TabularChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Change, Changes
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.opened import OpenedListing
from lakeward_catalog.application.paging import read_page
from lakeward_catalog.application.ports.gates import ChangeGate, ProposedChange
from lakeward_catalog.application.ports.stores import After, Deleted, Visibility
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.application.tabulars.demands import DEMANDS
from lakeward_catalog.domain.contracts.contract import Operation
from lakeward_catalog.domain.model import Kind, NamespaceId, State, Tabular, TabularKey, Warehouse, WarehouseId
from lakeward_catalog.domain.tasks import Queue
from lakeward_catalog.domain.wording import no_such_tabular
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.paging import EVERYTHING, Page, PageRequest
from lakeward_servicekit.system import Clock

MOST_AT_ONCE: Final = 1000


@dataclasses.dataclass(frozen=True, slots=True)
class ListDeleted:
    """List what was dropped in a warehouse; `namespace_id` None: from all of its namespaces."""

    warehouse_id: WarehouseId
    namespace_id: NamespaceId | None = None
    page: PageRequest = EVERYTHING


@dataclasses.dataclass(frozen=True, slots=True)
class UndropTabulars:
    """Restore tabulars, all or nothing."""

    warehouse_id: WarehouseId
    tabulars: tuple[TabularKey, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class DeletedListings:
    """Lists what was dropped and can be restored."""

    doors: Doors
    rules: Rules

    async def __call__(self, command: ListDeleted, *, caller: Caller) -> Page[Deleted]:
        """What of it the caller may see, in the order in which it was dropped.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN, INVALID_PAGE_TOKEN.
        """
        warehouse_id, namespace_id, doors = command.warehouse_id, command.namespace_id, self.doors
        action = Action.WAREHOUSE_LIST_DELETED_TABULARS
        opened = await doors.listing(warehouse_id, action, namespace_id=namespace_id, caller=caller)
        visible = await shown_of_each(doors, opened, caller=caller)
        return await read_page(
            command.page,
            listing=("deleted", str(warehouse_id), str(namespace_id), caller.principal.key),
            rules=self.rules,
            place=lambda deleted: After(deleted.dropped_at, deleted.tabular.incarnation),
            read=lambda after, limit: doors.tabulars.deleted(
                warehouse_id, namespace_id, visible=visible, after=after, limit=limit
            ),
        )


async def shown_of_each(doors: Doors, opened: OpenedListing, *, caller: Caller) -> Mapping[Kind, Visibility]:
    """What of each kind a listing across kinds shows to the caller."""
    shown = await asyncio.gather(
        *(
            doors.shown(opened.container, DEMANDS[kind].objects, caller=caller, everything=opened.everything)
            for kind in Kind
        )
    )
    return dict(zip(Kind, shown, strict=True))


@dataclasses.dataclass(frozen=True, slots=True)
class TabularUndrops:
    """Restores what was dropped, all or nothing. What was not dropped stays as it is."""

    doors: Doors
    changes: Changes
    once: Once
    announcer: Announcer
    clock: Clock
    gate: ChangeGate

    async def __call__(self, command: UndropTabulars, *, caller: Caller) -> None:
        """Restore some.

        Raises:
            Refusal: TOO_LARGE; NO_SUCH_WAREHOUSE; NO_SUCH_TABLE or NO_SUCH_VIEW, also where final deletion came first;
                FORBIDDEN; TABULAR_EXISTS; CONTRACT_VIOLATED, CONTRACT_CHECK_FAILED.
        """
        if len(command.tabulars) > MOST_AT_ONCE:
            raise Refusal(
                Reason.REASON_TOO_LARGE,
                f"{len(command.tabulars)} tabulars are to be restored; at most {MOST_AT_ONCE} are at once",
                what="tabulars to restore",
                limit=str(MOST_AT_ONCE),
            )
        asked = [[kind.value, str(tabular_id)] for kind, tabular_id in command.tabulars]
        await self.once(
            Keyed(of_warehouse(command.warehouse_id), "undrop", {"tabulars": asked}),
            caller=caller,
            do=lambda keeper: self._undrop(command, caller, keeper),
            again=lambda _: self.doors.still_used(command.warehouse_id, caller=caller),
        )

    async def _undrop(self, command: UndropTabulars, caller: Caller, keeper: Keeper) -> None:
        wanted = tuple(dict.fromkeys(command.tabulars))
        warehouse, opened = await self.doors.tabulars_by_id(
            command.warehouse_id, wanted, lambda kind: DEMANDS[kind].undrop, caller=caller
        )
        await ask_to_restore(self.gate, warehouse, opened, caller=caller)
        async with self.changes.change() as change:
            locked = await lock_all(change, command.warehouse_id, opened)
            when = occasion(caller, self.clock.now())
            await bring_back(change, locked, warehouse=warehouse, announcer=self.announcer, when=when)
            await keeper.keep(change)


async def ask_to_restore(
    gate: ChangeGate, warehouse: Warehouse, tabulars: Sequence[Tabular], *, caller: Caller
) -> None:
    """Ask the contracts about what is to be restored; what is not dropped is passed over.

    Raises:
        Refusal: CHANGE_REFUSED, CONTRACT_VIOLATED, CONTRACT_CHECK_FAILED.
    """
    if not warehouse.contracts:
        return
    for each in tabulars:
        if each.state is State.DROPPED:
            await gate.check(
                ProposedChange(
                    warehouse=warehouse,
                    operation=Operation.UNDROP,
                    principal=caller.who,
                    namespace=each.ident.namespace,
                    name=each.ident.name,
                    kind=each.kind,
                    there=each,
                )
            )


async def lock_all(change: Change, warehouse_id: WarehouseId, tabulars: Sequence[Tabular]) -> Sequence[Tabular]:
    """Tabulars as they are now, held until the end, in the order in which they are given.

    Raises:
        Refusal: NO_SUCH_TABLE or NO_SUCH_VIEW, by its path, for the first that is gone.
    """
    rows = await change.tabulars.lock_incarnations(warehouse_id, [each.incarnation for each in tabulars])
    there = {row.incarnation: row for row in rows}
    for each in tabulars:
        if each.incarnation not in there:
            raise no_such_tabular(each.kind, each.ident)
    return [there[each.incarnation] for each in tabulars]


async def bring_back(
    change: Change, locked: Collection[Tabular], *, warehouse: Warehouse, announcer: Announcer, when: Occasion
) -> None:
    """Make those of a warehouse live again that were dropped, end what was to delete them, and tell of each.

    Raises:
        Refusal: TABULAR_EXISTS, CONCURRENT_CHANGE.
    """
    dropped = [each for each in locked if each.state is State.DROPPED]
    if not dropped:
        return
    for each in dropped:
        await change.tabulars.undrop(each)
    await change.tasks.cancel(
        Queue.SOFT_DELETION,
        dropped[0].warehouse_id,
        [each.incarnation for each in dropped],
        at=when.at,
        message="The tabular was restored",
    )
    live = [dataclasses.replace(each, state=State.LIVE, expires_at=None) for each in dropped]
    change.ledger.emit(
        *(
            announcer.tabular(TabularChange.UNDROPPED, each, when, warehouse=warehouse, place=(index, len(live)))
            for index, each in enumerate(live)
        )
    )
