"""The way to an object: found by the stores, decided by authz, refused alike where it is absent or hidden.

Each door reads first and asks once, with every demand of the use case in one batch, and answers in the order warehouse,
namespace, tabular. A refusal of an absent object is made from what the caller wrote alone, so that it can't differ from that of
a hidden one. An inactive warehouse is absent, except where a door says otherwise.

A tabular is decided without its namespace: whoever sees a table may load it, though its namespace may not be listed to them. A
namespace that is absent makes a tabular's own refusal, because engines try `namespace.table.branch` as a table and go on when
there is no such *table*.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Final

import msgspec

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.ports.stores import (
    NamespaceStore,
    ServerStore,
    TabularStore,
    Visibility,
    WarehouseStore,
)
from lakeward_catalog.application.refs import namespace_ref, tabular_ref, warehouse_ref
from lakeward_catalog.domain.model import (
    Kind,
    Namespace,
    NamespaceId,
    Project,
    ProjectId,
    State,
    Tabular,
    TabularId,
    Warehouse,
    WarehouseId,
)
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_catalog.domain.wording import no_such_namespace, no_such_project, no_such_tabular, no_such_warehouse
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer, Demand, Need, Outcome, forbidden, refuse
from lakeward_servicekit.authorization.objects import SERVER, ObjectKind, ObjectRef
from lakeward_servicekit.errors import Reason, Refusal

LIVE: Final = frozenset({State.LIVE})
LIVE_OR_STAGED: Final = frozenset({State.LIVE, State.STAGED})


class OpenedNamespace(msgspec.Struct, frozen=True):
    """A namespace that the caller may act on.

    Attributes:
        allowed: those of the `asked` actions that are allowed.
    """

    warehouse: Warehouse
    namespace: Namespace
    allowed: frozenset[Action] = frozenset()


class OpenedTabular(msgspec.Struct, frozen=True):
    """A tabular that the caller may act on.

    Attributes:
        allowed: those of the `asked` actions that are allowed.
    """

    warehouse: Warehouse
    namespace: Namespace
    tabular: Tabular
    allowed: frozenset[Action] = frozenset()


class OpenedName(msgspec.Struct, frozen=True):
    """A name in a namespace in which the caller may make a tabular of it.

    Attributes:
        there: what has the name, live or staged; None where it is free.
    """

    warehouse: Warehouse
    namespace: Namespace
    there: Tabular | None


@dataclasses.dataclass(frozen=True, slots=True)
class Doors:
    """Opens the server, projects, warehouses, namespaces and tabulars for a caller, or refuses.

    Attributes:
        default_project: of calls that name none; None where no default project is on.
    """

    authorizer: Authorizer
    servers: ServerStore
    warehouses: WarehouseStore
    namespaces: NamespaceStore
    tabulars: TabularStore
    default_project: ProjectId | None

    async def server(self, action: Action, *, caller: Caller) -> None:
        """The server, which is there for everybody.

        Raises:
            Refusal: FORBIDDEN.
        """
        await self.decide(caller, [Need(Demand(SERVER, action), lambda: forbidden(action))])

    async def project(self, action: Action, *, caller: Caller, project_id: ProjectId | None = None) -> Project:
        """A project on which the caller may take an action.

        Args:
            action: of the project.
            caller: who asks.
            project_id: which; None: the one that the call names, else the default project.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN.
        """
        project_id = project_id or self.chosen_project(caller)
        project = await self.servers.project(project_id)
        if project is None:
            raise no_such_project(project_id)
        demand = Demand(ObjectRef.project(project_id), action)
        await self.decide(caller, [Need(demand, lambda: no_such_project(project_id))])
        return project

    def chosen_project(self, caller: Caller) -> ProjectId:
        """The id of the project that the call names, else of the default project; nothing is decided of it.

        Raises:
            Refusal: PROJECT_MISSING.
        """
        project_id = caller.project or self.default_project
        if project_id is None:
            raise Refusal(
                Reason.REASON_PROJECT_MISSING,
                "no project was named and there is no default project; send x-project-id",
            )
        return project_id

    async def warehouse(
        self, warehouse_id: WarehouseId, action: Action, *, caller: Caller, inactive_too: bool = False
    ) -> Warehouse:
        """A warehouse on which the caller may take an action.

        Args:
            warehouse_id: which.
            action: of the warehouse.
            caller: who asks.
            inactive_too: an inactive one is there as well.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN.
        """
        warehouse = await self.found_warehouse(warehouse_id, inactive_too=inactive_too)
        await self.decide(caller, warehouse_needs(warehouse, action, absent=absent_warehouse(warehouse_id)))
        return warehouse

    async def listed_warehouse(self, warehouse_id: WarehouseId, *, caller: Caller) -> tuple[Warehouse, bool]:
        """A warehouse whose namespaces the caller may list, and whether it was decided already that all of them show.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN.
        """
        warehouse = await self.found_warehouse(warehouse_id)
        needs = warehouse_needs(warehouse, Action.WAREHOUSE_LIST_NAMESPACES, absent=absent_warehouse(warehouse_id))
        allowed = await self.decide(caller, needs, [Demand(warehouse_ref(warehouse), Action.WAREHOUSE_LIST_EVERYTHING)])
        return warehouse, bool(allowed)

    async def found_warehouse(self, warehouse_id: WarehouseId, *, inactive_too: bool = False) -> Warehouse:
        """A warehouse that nothing is decided of yet: `warehouse_needs` are to be asked for before anything is said of it.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE.
        """
        warehouse = await self.warehouses.find(warehouse_id)
        if warehouse is None or not (warehouse.active or inactive_too):
            raise no_such_warehouse(warehouse_id)
        return warehouse

    async def still_used(self, warehouse_id: WarehouseId, *, caller: Caller) -> None:
        """Whether the caller may still use a warehouse in which a repeated request made its change.

        What it changed may be gone or have moved, so that nothing else is left to ask authz of.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE.
        """
        await self.warehouse(warehouse_id, Action.WAREHOUSE_USE, caller=caller)

    async def namespace(
        self,
        warehouse_id: WarehouseId,
        ident: NamespaceIdent,
        *needed: Action,
        caller: Caller,
        on_warehouse: Sequence[Action] = (),
        asked: Sequence[Action] = (),
    ) -> OpenedNamespace:
        """A namespace on which the caller may take actions.

        Args:
            warehouse_id: of an active warehouse.
            ident: which namespace.
            *needed: actions of the namespace; at least one.
            caller: who asks.
            on_warehouse: actions of the warehouse that are needed too.
            asked: actions of the namespace that the use case wants to know of; denied ones are only left out.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN.
        """
        warehouse, namespace = await self.namespaces.find(warehouse_id, ident)
        found = _active(warehouse, warehouse_id)
        needs = warehouse_needs(found, *on_warehouse, absent=absent_warehouse(warehouse_id))
        if namespace is None:
            await self.decide(caller, needs)
            raise no_such_namespace(ident)
        ref = namespace_ref(found, namespace)
        needs += [Need(Demand(ref, action), lambda: no_such_namespace(ident)) for action in needed]
        allowed = await self.decide(caller, needs, [Demand(ref, action) for action in asked])
        return OpenedNamespace(found, namespace, allowed)

    async def namespace_by_id(
        self, warehouse_id: WarehouseId, namespace_id: NamespaceId, needed: Action, *, caller: Caller
    ) -> Namespace:
        """A namespace that the caller named by its id, and on which it may take an action.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN.
        """
        found, namespace = await self.namespaces.find_by_id(warehouse_id, namespace_id)
        warehouse = _active(found, warehouse_id)
        needs = warehouse_needs(warehouse, absent=absent_warehouse(warehouse_id))
        if namespace is None:
            await self.decide(caller, needs)
            raise no_such_namespace(namespace_id)
        needs.append(Need(Demand(namespace_ref(warehouse, namespace), needed), lambda: no_such_namespace(namespace_id)))
        await self.decide(caller, needs)
        return namespace

    async def name(
        self, warehouse_id: WarehouseId, ident: TabularIdent, needed: Action, *, caller: Caller
    ) -> OpenedName:
        """A name for a new tabular, and what has it now; one point read and one question.

        Args:
            warehouse_id: of an active warehouse.
            ident: the name; one that nothing can have is free.
            needed: an action of the namespace.
            caller: who asks.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN.
        """
        located = await self.tabulars.locate(warehouse_id, ident)
        warehouse, namespace = _active(located.warehouse, warehouse_id), located.namespace
        needs = warehouse_needs(warehouse, absent=absent_warehouse(warehouse_id))
        if namespace is not None:
            demand = Demand(namespace_ref(warehouse, namespace), needed)
            needs.append(Need(demand, lambda: no_such_namespace(ident.namespace)))
        await self.decide(caller, needs)
        if namespace is None:
            raise no_such_namespace(ident.namespace)
        return OpenedName(warehouse, namespace, located.tabular)

    async def tabular(
        self,
        warehouse_id: WarehouseId,
        ident: TabularIdent,
        kind: Kind,
        needed: Action,
        *,
        caller: Caller,
        asked: Sequence[Action] = (),
        states: frozenset[State] = LIVE,
    ) -> OpenedTabular:
        """A tabular on which the caller may take actions; one point read and one question.

        Args:
            warehouse_id: of an active warehouse.
            ident: which tabular.
            kind: one of another kind is absent.
            needed: an action of the kind.
            caller: who asks.
            asked: actions of the kind that the use case wants to know of; denied ones are only left out.
            states: one in another state is absent.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE or NO_SUCH_VIEW, FORBIDDEN.
        """
        located = await self.tabulars.locate(warehouse_id, ident)
        warehouse = _active(located.warehouse, warehouse_id)
        namespace, tabular = located.namespace, located.tabular
        use = Demand(warehouse_ref(warehouse), Action.WAREHOUSE_USE)
        needs = [Need(use, lambda: no_such_warehouse(warehouse_id))]
        if namespace is None or tabular is None or tabular.kind is not kind or tabular.state not in states:
            await self.decide(caller, needs)
            raise no_such_tabular(kind, ident)
        ref = tabular_ref(warehouse, tabular)
        needs.append(Need(Demand(ref, needed), lambda: no_such_tabular(kind, ident)))
        allowed = await self.decide(caller, needs, [Demand(ref, action) for action in asked])
        return OpenedTabular(warehouse, namespace, tabular, allowed)

    async def tabular_by_id(
        self, warehouse_id: WarehouseId, tabular_id: TabularId, kind: Kind, needed: Action, *, caller: Caller
    ) -> Tabular:
        """A tabular of any state that the caller named by its public id, and on which it may take an action.

        Args:
            warehouse_id: of an active warehouse.
            tabular_id: which tabular.
            kind: one of another kind is absent.
            needed: an action of the kind.
            caller: who asks.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_TABLE or NO_SUCH_VIEW, FORBIDDEN.
        """
        warehouse, tabular = await asyncio.gather(
            self.found_warehouse(warehouse_id), self.tabulars.by_id(warehouse_id, tabular_id)
        )
        needs = warehouse_needs(warehouse, absent=absent_warehouse(warehouse_id))
        if tabular is None or tabular.kind is not kind:
            await self.decide(caller, needs)
            raise no_such_tabular(kind, tabular_id)
        needs.append(Need(Demand(tabular_ref(warehouse, tabular), needed), lambda: no_such_tabular(kind, tabular_id)))
        await self.decide(caller, needs)
        return tabular

    async def shown(
        self, container: ObjectRef, kind: ObjectKind, *, caller: Caller, everything: bool = False
    ) -> Visibility:
        """What of a kind a listing of `container` shows to the caller.

        Args:
            container: what is listed.
            kind: which of its children.
            caller: who asks.
            everything: it was decided already that all show.
        """
        if everything:
            return Visibility(everything=True)
        shown = await self.authorizer.visible(caller.principal, container, kind)
        return Visibility(everything=shown.everything, containers=shown.containers, objects=shown.objects)

    async def sees(self, warehouse: Warehouse, *, caller: Caller) -> bool:
        """Whether a warehouse that the caller did not name may be named to it."""
        demand = Demand(warehouse_ref(warehouse), Action.WAREHOUSE_USE)
        return (await self.authorizer.decide(caller.principal, [demand]))[0] is Outcome.ALLOWED

    async def decide(self, caller: Caller, needs: Sequence[Need], asked: Sequence[Demand] = ()) -> frozenset[Action]:
        """Ask once; refuse for the first need that is not allowed; answer which of the asked actions are."""
        demands = [*map(_DEMAND, needs), *asked]
        outcomes = await self.authorizer.decide(caller.principal, demands)
        for need, outcome in zip(needs, outcomes, strict=not asked):
            if outcome is not Outcome.ALLOWED:
                refuse(need, outcome)
        if not asked:
            return _NOTHING
        allowed: list[Action] = []
        for demand, outcome in zip(asked, outcomes[len(needs) :], strict=True):
            if outcome is Outcome.ALLOWED:
                allowed.append(demand.action)
        return frozenset(allowed)


def warehouse_needs(warehouse: Warehouse, *actions: Action, absent: Callable[[], Refusal]) -> list[Need]:
    """To see a warehouse, and actions on it."""
    ref = warehouse_ref(warehouse)
    return [Need(Demand(ref, action), absent) for action in (Action.WAREHOUSE_USE, *actions)]


def absent_warehouse(named: object) -> Callable[[], Refusal]:
    """Makes the refusal of a warehouse by what the caller called it, if it comes to that."""
    return lambda: no_such_warehouse(named)


_NOTHING: Final[frozenset[Action]] = frozenset()
_DEMAND: Final = attrgetter("demand")


def _active(warehouse: Warehouse | None, warehouse_id: WarehouseId) -> Warehouse:
    if warehouse is None or not warehouse.active:
        raise no_such_warehouse(warehouse_id)
    return warehouse
