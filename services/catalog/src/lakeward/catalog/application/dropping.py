"""Taking a table or view out of its namespace."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final

from lakeward.catalog.application.access import open_tabular
from lakeward.catalog.application.announcements import Announcer, TabularChange, occasion
from lakeward.catalog.application.caller import Caller
from lakeward.catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward.catalog.application.ports import Changes, Clock, Rules, TabularStore, WarehouseStore
from lakeward.catalog.application.replaying import may_still_use
from lakeward.catalog.domain.model import Kind, State, WarehouseId
from lakeward.catalog.domain.names import TabularIdent
from lakeward.catalog.domain.tasks import NewTask, Queue
from lakeward.catalog.domain.wording import no_such_tabular
from lakeward.servicekit.authorization.actions import Action
from lakeward.servicekit.authorization.authorizer import Authorizer
from lakeward.servicekit.errors import Reason, Refusal

_DROP: Final = {Kind.TABLE: Action.TABLE_DROP, Kind.VIEW: Action.VIEW_DROP}


@dataclasses.dataclass(frozen=True, slots=True)
class DropTabular:
    """Drop a table or view.

    Attributes:
        purge: its files are removed too, now or when it can't be restored any more.
        force: overrides protection and soft deletion.
    """

    warehouse_id: WarehouseId
    ident: TabularIdent
    kind: Kind
    purge: bool = True
    force: bool = False


async def drop_tabular(
    command: DropTabular,
    *,
    caller: Caller,
    authorizer: Authorizer,
    warehouses: WarehouseStore,
    tabulars: TabularStore,
    changes: Changes,
    once: Once,
    announcer: Announcer,
    clock: Clock,
    rules: Rules,
) -> None:
    """Drop it: restorable for a while where the warehouse soft-deletes, else at once. No file is touched here.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE or NO_SUCH_VIEW, FORBIDDEN, TABULAR_PROTECTED.
    """

    async def drop(keeper: Keeper) -> None:
        opened = await open_tabular(
            command.warehouse_id,
            command.ident,
            command.kind,
            _DROP[command.kind],
            caller=caller,
            authorizer=authorizer,
            tabulars=tabulars,
        )
        restorable_for = None if command.force else opened.warehouse.restorable_for
        async with changes.change() as change:
            tabular = await change.lock_tabular(
                command.warehouse_id, command.ident, (command.kind,), states=(State.LIVE,)
            )
            if tabular.incarnation != opened.tabular.incarnation:  # what was decided on is gone
                raise no_such_tabular(command.kind, command.ident)
            if tabular.protected and not command.force:
                raise protected(tabular.kind, command.ident)
            now = clock.now()
            task = NewTask(
                queue=Queue.TABULAR_PURGE if restorable_for is None else Queue.SOFT_DELETION,
                warehouse_id=tabular.warehouse_id,
                incarnation=tabular.incarnation,
                name=str(tabular.ident),
                location=tabular.location,
                scheduled_for=now + (rules.purge_after if restorable_for is None else restorable_for),
                purge=command.purge,
            )
            if restorable_for is None:
                await change.delete_tabular(tabular)
            else:
                await change.drop_tabular(tabular, at=now, expires_at=task.scheduled_for)
            if command.purge or restorable_for is not None:
                await change.enqueue(task)
            told = {"purge": command.purge, "force": command.force, "soft": restorable_for is not None}
            await change.emit(announcer.tabular(TabularChange.DROPPED, tabular, occasion(caller, now), data=told))
            await keeper.keep(change, incarnation=tabular.incarnation)

    async def again(_: Mapping[str, str]) -> None:
        await may_still_use(command.warehouse_id, caller=caller, authorizer=authorizer, warehouses=warehouses)

    keyed = Keyed(
        of_warehouse(command.warehouse_id),
        f"drop-{command.kind}",
        {
            "namespace": command.ident.namespace.parts,
            "name": command.ident.name,
            "purge": command.purge,
            "force": command.force,
        },
    )
    await once(keyed, caller=caller, do=drop, again=again)


def protected(kind: Kind, ident: TabularIdent) -> Refusal:
    """The refusal to take a protected table or view out of its namespace."""
    shown = str(ident)
    return Refusal(
        Reason.REASON_TABULAR_PROTECTED,
        f"{kind} {shown!r} is protected; take its protection away first, or use force",
        tabular=shown,
    )
