"""The way to an object: found by the stores, decided by authz, refused alike where it is absent or hidden.

Each function reads first and asks once, with every demand of the use case in one batch, and answers in the order warehouse,
namespace, tabular. A refusal of an absent object is made from what the caller wrote alone, so that it can't differ from that of
a hidden one. An inactive warehouse is absent, except where a function says otherwise.

A tabular is decided without its namespace: whoever sees a table may load it, though its namespace may not be listed to them. A
namespace that is absent makes a tabular's own refusal, because engines try `namespace.table.branch` as a table and go on when
there is no such *table*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import LIVE, OpenedNamespace, OpenedTabular, warehouse_needs
from lakeward_catalog.application.ports import (
    Located,
    NamespaceStore,
    Rules,
    ServerStore,
    TabularStore,
    Visibility,
    WarehouseStore,
)
from lakeward_catalog.application.refs import namespace_ref, tabular_ref
from lakeward_catalog.domain.model import (
    Kind,
    Project,
    ProjectId,
    State,
    Warehouse,
    WarehouseId,
)
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_catalog.domain.wording import no_such_namespace, no_such_project, no_such_tabular, no_such_warehouse
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer, Demand, Need, Outcome, refuse
from lakeward_servicekit.authorization.objects import ObjectKind, ObjectRef
from lakeward_servicekit.errors import Reason, Refusal


async def open_project(
    action: Action, *, caller: Caller, rules: Rules, authorizer: Authorizer, servers: ServerStore
) -> Project:
    """The project that the call names, else the default project.

    Raises:
        Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN.
    """
    project_id = chosen_project(caller, rules)
    project = await servers.project(project_id)
    if project is None:
        raise no_such_project(project_id)
    demand = Demand(ObjectRef.project(project_id), action)
    await decide(caller, authorizer, [Need(demand, lambda: no_such_project(project_id))])
    return project


def chosen_project(caller: Caller, rules: Rules) -> ProjectId:
    """The id of the project that the call names, else of the default project.

    Raises:
        Refusal: PROJECT_MISSING.
    """
    project_id = caller.project or rules.default_project
    if project_id is None:
        raise Refusal(
            Reason.REASON_PROJECT_MISSING, "no project was named and there is no default project; send x-project-id"
        )
    return project_id


async def open_warehouse(
    warehouse_id: WarehouseId,
    action: Action,
    *,
    caller: Caller,
    authorizer: Authorizer,
    warehouses: WarehouseStore,
    inactive_too: bool = False,
) -> Warehouse:
    """A warehouse on which the caller may take an action.

    Args:
        warehouse_id: which.
        action: of the warehouse.
        caller: who asks.
        authorizer: who decides.
        warehouses: where it is.
        inactive_too: an inactive one is there as well.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN.
    """
    warehouse = await find_warehouse(warehouse_id, warehouses=warehouses, inactive_too=inactive_too)
    await decide(caller, authorizer, warehouse_needs(warehouse, action, absent=_absent_warehouse(warehouse_id)))
    return warehouse


async def find_warehouse(
    warehouse_id: WarehouseId, *, warehouses: WarehouseStore, inactive_too: bool = False
) -> Warehouse:
    """A warehouse that nothing is decided of yet: `warehouse_needs` are to be asked for before anything is said of it.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE.
    """
    warehouse = await warehouses.find(warehouse_id)
    if warehouse is None or not (warehouse.active or inactive_too):
        raise no_such_warehouse(warehouse_id)
    return warehouse


async def open_namespace(
    warehouse_id: WarehouseId,
    ident: NamespaceIdent,
    *needed: Action,
    caller: Caller,
    authorizer: Authorizer,
    namespaces: NamespaceStore,
    on_warehouse: Sequence[Action] = (),
    asked: Sequence[Action] = (),
) -> OpenedNamespace:
    """A namespace on which the caller may take actions.

    Args:
        warehouse_id: of an active warehouse.
        ident: which namespace.
        *needed: actions of the namespace; at least one.
        caller: who asks.
        authorizer: who decides.
        namespaces: where it is.
        on_warehouse: actions of the warehouse that are needed too.
        asked: actions of the namespace that the use case wants to know of; denied ones are only left out.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN.
    """
    warehouse, namespace = await namespaces.find(warehouse_id, ident)
    found = _active(warehouse, warehouse_id)
    needs = warehouse_needs(found, *on_warehouse, absent=_absent_warehouse(warehouse_id))
    if namespace is None:
        await decide(caller, authorizer, needs)
        raise no_such_namespace(ident)
    ref = namespace_ref(found, namespace)
    needs += [Need(Demand(ref, action), lambda: no_such_namespace(ident)) for action in needed]
    allowed = await decide(caller, authorizer, needs, [Demand(ref, action) for action in asked])
    return OpenedNamespace(found, namespace, allowed)


async def open_tabular(
    warehouse_id: WarehouseId,
    ident: TabularIdent,
    kind: Kind,
    *needed: Action,
    caller: Caller,
    authorizer: Authorizer,
    tabulars: TabularStore,
    asked: Sequence[Action] = (),
    states: frozenset[State] = LIVE,
) -> OpenedTabular:
    """A tabular on which the caller may take actions; one point read and one question.

    Args:
        warehouse_id: of an active warehouse.
        ident: which tabular.
        kind: one of another kind is absent.
        *needed: actions of the kind; at least one.
        caller: who asks.
        authorizer: who decides.
        tabulars: where it is.
        asked: actions of the kind that the use case wants to know of; denied ones are only left out.
        states: one in another state is absent.

    Raises:
        Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE or NO_SUCH_VIEW, FORBIDDEN.
    """
    located = await tabulars.locate(warehouse_id, ident)
    return await open_located(
        located, warehouse_id, ident, kind, *needed, caller=caller, authorizer=authorizer, asked=asked, states=states
    )


async def open_located(
    located: Located,
    warehouse_id: WarehouseId,
    ident: TabularIdent,
    kind: Kind,
    *needed: Action,
    caller: Caller,
    authorizer: Authorizer,
    asked: Sequence[Action] = (),
    states: frozenset[State] = LIVE,
) -> OpenedTabular:
    """As `open_tabular`, for what was read already."""
    warehouse = _active(located.warehouse, warehouse_id)
    namespace, tabular = located.namespace, located.tabular
    needs = warehouse_needs(warehouse, absent=_absent_warehouse(warehouse_id))
    if namespace is None or tabular is None or tabular.kind is not kind or tabular.state not in states:
        await decide(caller, authorizer, needs)
        raise no_such_tabular(kind, ident)
    ref = tabular_ref(warehouse, tabular)
    needs += [Need(Demand(ref, action), lambda: no_such_tabular(kind, ident)) for action in needed]
    allowed = await decide(caller, authorizer, needs, [Demand(ref, action) for action in asked])
    return OpenedTabular(warehouse, namespace, tabular, allowed)


async def visibility(
    caller: Caller, authorizer: Authorizer, scope: ObjectRef, kind: ObjectKind, *, everything: bool = False
) -> Visibility:
    """What of a kind a listing of `scope` shows to the caller.

    Args:
        caller: who asks.
        authorizer: who decides.
        scope: what is listed.
        kind: which of its children.
        everything: it was decided already that all show.
    """
    if everything:
        return Visibility(everything=True)
    shown = await authorizer.visible(caller.principal, scope, kind)
    return Visibility(everything=shown.everything, containers=shown.containers, objects=shown.objects)


async def decide(
    caller: Caller, authorizer: Authorizer, needs: Sequence[Need], asked: Sequence[Demand] = ()
) -> frozenset[Action]:
    """Ask once; refuse for the first need that is not allowed; answer which of the asked actions are."""
    demands = [need.demand for need in needs]
    outcomes = await authorizer.decide(caller.principal, [*demands, *asked] if asked else demands)
    for need, outcome in zip(needs, outcomes, strict=not asked):
        refuse(need, outcome)
    if not asked:
        return _NOTHING
    extra = outcomes[len(needs) :]
    return frozenset(
        [demand.action for demand, outcome in zip(asked, extra, strict=True) if outcome is Outcome.ALLOWED]
    )


_NOTHING: Final[frozenset[Action]] = frozenset()


def _active(warehouse: Warehouse | None, warehouse_id: WarehouseId) -> Warehouse:
    if warehouse is None or not warehouse.active:
        raise no_such_warehouse(warehouse_id)
    return warehouse


def _absent_warehouse(shown: object) -> Callable[[], Refusal]:
    return lambda: no_such_warehouse(shown)
