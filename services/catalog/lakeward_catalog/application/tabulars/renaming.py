"""Giving a table or view another name, perhaps in another namespace of its warehouse."""

from __future__ import annotations

import dataclasses

import msgspec

from lakeward_catalog.application.announcements import Announcer, FormerName, TabularChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.contracts.gate import changed_meanwhile
from lakeward_catalog.application.doors import Doors, absent_warehouse, warehouse_needs
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.ports.gates import ChangeGate, ProposedChange
from lakeward_catalog.application.refs import namespace_ref, nobodys_namespace, nobodys_tabular, tabular_ref
from lakeward_catalog.application.tabulars.demands import DEMANDS
from lakeward_catalog.application.tabulars.taken import refuse_taken
from lakeward_catalog.domain.contracts.contract import Operation
from lakeward_catalog.domain.model import Kind, Namespace, State, Tabular, Warehouse, WarehouseId
from lakeward_catalog.domain.names import TabularIdent, check_new_name
from lakeward_catalog.domain.wording import new_name_taken, no_such_namespace, no_such_tabular, unseen_new_name_taken
from lakeward_servicekit.authorization.authorizer import Demand, Need
from lakeward_servicekit.system import Clock


@dataclasses.dataclass(frozen=True, slots=True)
class RenameTabular:
    """Rename a table or view."""

    warehouse_id: WarehouseId
    kind: Kind
    source: TabularIdent
    destination: TabularIdent


@dataclasses.dataclass(frozen=True, slots=True)
class TabularRenames:
    """Renames tables and views; their locations, ids and metadata stay."""

    doors: Doors
    changes: Changes
    once: Once
    announcer: Announcer
    clock: Clock
    gate: ChangeGate

    async def __call__(self, command: RenameTabular, *, caller: Caller) -> None:
        """Rename one. A name that it has already is no change, and no event.

        Raises:
            Refusal: INVALID_TABULAR_NAME, NO_SUCH_WAREHOUSE, NO_SUCH_TABLE or NO_SUCH_VIEW (the source), NO_SUCH_NAMESPACE
                (the destination's), FORBIDDEN, TABULAR_EXISTS; CONTRACT_VIOLATED, CONTRACT_CHECK_FAILED; CONCURRENT_CHANGE.
        """
        check_new_name(command.destination.name)
        keyed = Keyed(of_warehouse(command.warehouse_id), f"rename-{command.kind}", _document(command))
        await self.once(
            keyed,
            caller=caller,
            do=lambda keeper: self._rename(command, caller, keeper),
            again=lambda _: self.doors.still_used(command.warehouse_id, caller=caller),
        )

    async def _rename(self, command: RenameTabular, caller: Caller, keeper: Keeper) -> None:
        warehouse, decided_on, namespace = await self._open(command, caller)
        goes_to = TabularIdent(namespace.ident, command.destination.name)
        asked = goes_to != decided_on.ident and await self.gate.check(
            ProposedChange(
                warehouse=warehouse,
                operation=Operation.RENAME,
                principal=caller.who,
                namespace=decided_on.ident.namespace,
                name=decided_on.ident.name,
                kind=command.kind,
                there=decided_on,
                destination=goes_to,
            )
        )
        async with self.changes.change() as change:
            target = await change.namespaces.lock(command.warehouse_id, namespace.ident, exclusively=False)
            if target is None or target.namespace_id != namespace.namespace_id:
                raise no_such_namespace(command.destination.namespace)
            tabular = await change.tabulars.lock(
                command.warehouse_id, command.source, (command.kind,), states=(State.LIVE,)
            )
            if tabular is None or tabular.incarnation != decided_on.incarnation:
                raise no_such_tabular(command.kind, command.source)
            if asked and tabular.metadata_id != decided_on.metadata_id:
                raise changed_meanwhile(str(tabular.ident))
            name = command.destination.name
            if tabular.namespace_id != target.namespace_id or tabular.ident.name != name:
                await change.tabulars.rename(tabular, namespace=target, name=name)
                event = self.announcer.tabular(
                    TabularChange.RENAMED,
                    dataclasses.replace(
                        tabular, namespace_id=target.namespace_id, ident=TabularIdent(target.ident, name)
                    ),
                    occasion(caller, self.clock.now()),
                    warehouse=warehouse,
                    data={"before": FormerName.of(tabular)},
                    request=msgspec.json.encode(_document(command)),
                )
                change.ledger.emit(event)
            await keeper.keep(change, incarnation=tabular.incarnation)

    async def _open(self, command: RenameTabular, caller: Caller) -> tuple[Warehouse, Tabular, Namespace]:
        """Where it is, what is renamed, and the namespace it goes to: two reads, one question.

        Raises:
            Refusal: see `__call__`; TABULAR_EXISTS where the new name is seen to be another's already.
        """
        demands, source, destination = DEMANDS[command.kind], command.source, command.destination
        found = await self.doors.tabulars.locate(command.warehouse_id, source)
        tabular, absent = found.tabular, absent_warehouse(command.warehouse_id)
        there = await self.doors.tabulars.locate(command.warehouse_id, destination)
        warehouse = await self.doors.present(found.warehouse, absent=absent, caller=caller)
        namespace, other = there.namespace, there.tabular
        needs = warehouse_needs(warehouse, absent=absent)
        goes_to = nobodys_namespace(warehouse) if namespace is None else namespace_ref(warehouse, namespace)
        create = Demand(goes_to, demands.create)
        if tabular is None or tabular.kind is not command.kind or tabular.state is not State.LIVE:
            rename = Demand(nobodys_tabular(warehouse, command.kind), demands.rename)
            await self.doors.decide(caller, needs, [rename, create])
            raise no_such_tabular(command.kind, source)
        needs.append(
            Need(Demand(tabular_ref(warehouse, tabular), demands.rename), lambda: no_such_tabular(command.kind, source))
        )
        if namespace is None:
            await self.doors.decide(caller, needs, [create])
            raise no_such_namespace(destination.namespace)
        needs.append(Need(create, lambda: no_such_namespace(destination.namespace)))
        await self.doors.decide(caller, needs)
        if other is not None and other.state is State.LIVE and other.incarnation != tabular.incarnation:
            await refuse_taken(
                self.doors,
                warehouse,
                other,
                seen=new_name_taken(source, destination, by=other.kind),
                unseen=lambda: unseen_new_name_taken(source, destination),
                caller=caller,
            )
        return warehouse, tabular, namespace


def _document(command: RenameTabular) -> dict[str, object]:
    return {
        "source": {"namespace": command.source.namespace.parts, "name": command.source.name},
        "destination": {"namespace": command.destination.namespace.parts, "name": command.destination.name},
    }
