"""Taking a table or view out of its namespace."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.announcements import Announcer, TabularChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.contracts.gate import changed_meanwhile
from lakeward_catalog.application.documents import Documents
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.garbage import Garbage
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.opened import OpenedTabular
from lakeward_catalog.application.ports.gates import ChangeGate, ProposedChange
from lakeward_catalog.application.rules import Rules
from lakeward_catalog.application.tabulars.demands import DEMANDS
from lakeward_catalog.domain.contracts.contract import Operation
from lakeward_catalog.domain.model import Kind, State, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_catalog.domain.tasks import NewTask, Queue
from lakeward_catalog.domain.wording import no_such_tabular
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.system import Clock


@dataclasses.dataclass(frozen=True, slots=True)
class DropTabular:
    """Drop a table or view.

    Attributes:
        purge: its files are removed too, now or when it can't be restored any more; None, where nothing was said: unless it is a
            table that keeps them.
        force: overrides protection and soft deletion.
    """

    warehouse_id: WarehouseId
    ident: TabularIdent
    kind: Kind
    purge: bool | None = None
    force: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class TabularDrops:
    """Drops tables and views: restorable for a while where the warehouse soft-deletes, else at once. No file is touched here."""

    doors: Doors
    documents: Documents
    changes: Changes
    once: Once
    announcer: Announcer
    clock: Clock
    rules: Rules
    gate: ChangeGate

    async def __call__(self, command: DropTabular, *, caller: Caller) -> None:
        """Drop one.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE or NO_SUCH_VIEW, FORBIDDEN, TABULAR_PROTECTED; GC_DISABLED where a purge
                was asked for; CONTRACT_VIOLATED, CONTRACT_CHECK_FAILED; CONCURRENT_CHANGE.
        """
        ident = command.ident
        keyed = Keyed(
            of_warehouse(command.warehouse_id),
            f"drop-{command.kind}",
            {
                "namespace": ident.namespace.parts,
                "name": ident.name,
                "purge": command.purge,
                "force": command.force,
            },
        )
        await self.once(
            keyed,
            caller=caller,
            do=lambda keeper: self._drop(command, caller, keeper),
            again=lambda _: self.doors.still_used(command.warehouse_id, caller=caller),
        )

    async def _drop(self, command: DropTabular, caller: Caller, keeper: Keeper) -> None:
        opened = await self.doors.tabular(
            command.warehouse_id, command.ident, command.kind, DEMANDS[command.kind].drop, caller=caller
        )
        asked = await self.gate.check(
            ProposedChange(
                warehouse=opened.warehouse,
                operation=Operation.DROP,
                principal=caller.who,
                namespace=opened.tabular.ident.namespace,
                name=opened.tabular.ident.name,
                kind=command.kind,
                there=opened.tabular,
            )
        )
        garbage = Garbage(self.documents)
        if command.purge is not False:
            await garbage.read([opened.tabular])
        await garbage.settled(lambda: self._take_out(command, opened, garbage, caller, keeper, asked=asked))

    async def _take_out(
        self,
        command: DropTabular,
        opened: OpenedTabular,
        garbage: Garbage,
        caller: Caller,
        keeper: Keeper,
        *,
        asked: bool,
    ) -> None:
        restorable_for = None if command.force else opened.warehouse.restorable_for
        async with self.changes.change() as change:
            tabular = await change.tabulars.lock(
                command.warehouse_id, command.ident, (command.kind,), states=(State.LIVE,)
            )
            if tabular is None or tabular.incarnation != opened.tabular.incarnation:  # what was decided on is gone
                raise no_such_tabular(command.kind, command.ident)
            if asked and tabular.metadata_id != opened.tabular.metadata_id:
                raise changed_meanwhile(str(tabular.ident))
            if tabular.protected and not command.force:
                raise protected(tabular.kind, command.ident)
            if command.purge:
                garbage.check([tabular])
            purge = command.purge if command.purge is not None else not garbage.keeps(tabular)
            now = self.clock.now()
            task = NewTask.of(
                tabular,
                Queue.TABULAR_PURGE if restorable_for is None else Queue.SOFT_DELETION,
                created_at=now,
                scheduled_for=now + (self.rules.purge_after if restorable_for is None else restorable_for),
            )
            if restorable_for is None:
                await change.tabulars.delete(tabular)
            else:
                await change.tabulars.drop(tabular, at=now, expires_at=task.scheduled_for)
            if purge or restorable_for is not None:
                await change.tasks.enqueue(dataclasses.replace(task, purge=purge))
            told = {"purge": purge, "force": command.force, "soft": restorable_for is not None}
            when, warehouse = occasion(caller, now), opened.warehouse
            change.ledger.emit(
                self.announcer.tabular(TabularChange.DROPPED, tabular, when, warehouse=warehouse, data=told)
            )
            await keeper.keep(change, incarnation=tabular.incarnation)


def protected(kind: Kind, ident: TabularIdent) -> Refusal:
    """The refusal to take a protected table or view out of its namespace."""
    shown = str(ident)
    return Refusal(
        Reason.REASON_TABULAR_PROTECTED,
        f"{kind.noun} {shown!r} is protected; take its protection away first, or use force",
        tabular=shown,
    )
