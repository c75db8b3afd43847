"""Giving a table or view another name, perhaps in another namespace of its warehouse."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final

import msgspec

from lakeward_catalog.application.access import decide
from lakeward_catalog.application.announcements import Announcer, TabularChange, occasion
from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.changes import Changes
from lakeward_catalog.application.doors import warehouse_needs
from lakeward_catalog.application.idempotency import Keeper, Keyed, Once, of_warehouse
from lakeward_catalog.application.ports import Clock, TabularStore, WarehouseStore
from lakeward_catalog.application.refs import namespace_ref, tabular_ref
from lakeward_catalog.application.replaying import may_still_use
from lakeward_catalog.domain.model import Kind, Namespace, State, Tabular, WarehouseId
from lakeward_catalog.domain.names import TabularIdent, check_new_name
from lakeward_catalog.domain.wording import new_name_taken, no_such_namespace, no_such_tabular, no_such_warehouse
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer, Demand, Need

_RENAME: Final = {
    Kind.TABLE: (Action.TABLE_RENAME, Action.NAMESPACE_CREATE_TABLE),
    Kind.VIEW: (Action.VIEW_RENAME, Action.NAMESPACE_CREATE_VIEW),
}


@dataclasses.dataclass(frozen=True, slots=True)
class RenameTabular:
    """Rename a table or view."""

    warehouse_id: WarehouseId
    kind: Kind
    source: TabularIdent
    destination: TabularIdent


async def rename_tabular(
    command: RenameTabular,
    *,
    caller: Caller,
    authorizer: Authorizer,
    warehouses: WarehouseStore,
    tabulars: TabularStore,
    changes: Changes,
    once: Once,
    announcer: Announcer,
    clock: Clock,
) -> None:
    """Rename it; its location, ids and metadata stay. A name that it has already is no change, and no event.

    Raises:
        Refusal: INVALID_TABULAR_NAME, NO_SUCH_WAREHOUSE, NO_SUCH_TABLE or NO_SUCH_VIEW (the source), NO_SUCH_NAMESPACE (the
            destination's), FORBIDDEN, TABULAR_EXISTS.
    """
    check_new_name(command.destination.name)

    async def rename(keeper: Keeper) -> None:
        decided_on, namespace = await _open(command, caller=caller, authorizer=authorizer, tabulars=tabulars)
        async with changes.change() as change:
            target = await change.namespaces.lock(command.warehouse_id, namespace.ident, exclusively=False)
            if target is None or target.namespace_id != namespace.namespace_id:
                raise no_such_namespace(command.destination.namespace)
            tabular = await change.tabulars.lock(
                command.warehouse_id, command.source, (command.kind,), states=(State.LIVE,)
            )
            if tabular is None or tabular.incarnation != decided_on.incarnation:
                raise no_such_tabular(command.kind, command.source)
            moved = tabular.namespace_id != target.namespace_id or tabular.ident.name != command.destination.name
            if moved:
                await change.tabulars.rename(tabular, namespace=target, name=command.destination.name)
                event = announcer.tabular(
                    TabularChange.RENAMED,
                    tabular,
                    occasion(caller, clock.now()),
                    data={"new-namespace": str(target.ident), "new-name": command.destination.name},
                    request=_request(command),
                )
                change.ledger.emit(event)
            await keeper.keep(change, incarnation=tabular.incarnation)

    async def again(_: Mapping[str, str]) -> None:
        await may_still_use(command.warehouse_id, caller=caller, authorizer=authorizer, warehouses=warehouses)

    keyed = Keyed(of_warehouse(command.warehouse_id), f"rename-{command.kind}", _document(command))
    await once(keyed, caller=caller, do=rename, again=again)


async def _open(
    command: RenameTabular,
    *,
    caller: Caller,
    authorizer: Authorizer,
    tabulars: TabularStore,
) -> tuple[Tabular, Namespace]:
    """What is renamed, and the namespace it goes to: two reads, one question.

    Raises:
        Refusal: see `rename_tabular`; TABULAR_EXISTS where the new name is seen to be another's already.
    """
    rename, create = _RENAME[command.kind]
    located = await tabulars.locate(command.warehouse_id, command.source)
    warehouse, tabular = located.warehouse, located.tabular
    if warehouse is None or not warehouse.active:
        raise no_such_warehouse(command.warehouse_id)
    there = await tabulars.locate(command.warehouse_id, command.destination)
    namespace, other = there.namespace, there.tabular
    needs = warehouse_needs(warehouse, absent=lambda: no_such_warehouse(command.warehouse_id))
    if tabular is None or tabular.kind is not command.kind or tabular.state is not State.LIVE:
        await decide(caller, authorizer, needs)
        raise no_such_tabular(command.kind, command.source)
    needs.append(
        Need(Demand(tabular_ref(warehouse, tabular), rename), lambda: no_such_tabular(command.kind, command.source))
    )
    if namespace is None:
        await decide(caller, authorizer, needs)
        raise no_such_namespace(command.destination.namespace)
    needs.append(
        Need(
            Demand(namespace_ref(warehouse, namespace), create),
            lambda: no_such_namespace(command.destination.namespace),
        )
    )
    await decide(caller, authorizer, needs)
    if other is not None and other.state is State.LIVE and other.incarnation != tabular.incarnation:
        raise new_name_taken(command.source, command.destination, by=other.kind)
    return tabular, namespace


def _document(command: RenameTabular) -> dict[str, object]:
    return {
        "source": {"namespace": command.source.namespace.parts, "name": command.source.name},
        "destination": {"namespace": command.destination.namespace.parts, "name": command.destination.name},
    }


def _request(command: RenameTabular) -> bytes:
    return msgspec.json.encode(_document(command))
