"""The way to an object: found by the stores, decided by authz, refused alike where it is absent or hidden.

Each door reads first and asks once (of a tabular beside the read, where what that finds is foreseen), with every demand of the
use case in one batch, and answers in the order warehouse, namespace, tabular. A refusal of an absent object is made from what the
caller wrote alone, so that it can't differ from that of a hidden one. An inactive warehouse is absent, except where a door says
otherwise.

A tabular is decided without its namespace: whoever sees a table may load it, though its namespace may not be listed to them. A
namespace that is absent makes a tabular's own refusal, because engines try `namespace.table.branch` as a table and go on when
there is no such *table*.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Final
from uuid import UUID

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.foresight import Foresight, Looked
from lakeward_catalog.application.opened import LIVE, OpenedListing, OpenedName, OpenedNamespace, OpenedTabular
from lakeward_catalog.application.ports.stores import (
    NamespaceStore,
    ServerStore,
    TabularStore,
    Visibility,
    WarehouseStore,
)
from lakeward_catalog.application.refs import (
    namespace_ref,
    nobodys_namespace,
    nobodys_tabular,
    tabular_ref,
    warehouse_ref,
)
from lakeward_catalog.domain.model import (
    NIL_PROJECT,
    Kind,
    ManagedBy,
    Namespace,
    NamespaceId,
    Project,
    ProjectId,
    State,
    Tabular,
    TabularId,
    TabularKey,
    Warehouse,
    WarehouseId,
)
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_catalog.domain.wording import (
    no_such_namespace,
    no_such_project,
    no_such_tabular,
    no_such_warehouse,
    warehouse_managed,
)
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer, Demand, Need, Outcome, forbidden, refuse
from lakeward_servicekit.authorization.objects import SERVER, ObjectKind, ObjectRef
from lakeward_servicekit.authorization.principals import PrincipalKind
from lakeward_servicekit.errors import Reason, Refusal


@dataclasses.dataclass(frozen=True, slots=True)
class Doors:
    """Opens the server, projects, warehouses, namespaces and tabulars for a caller, or refuses.

    Attributes:
        default_project: of calls that name none; None where no default project is on.
        instance_admins: ids of the users that administrate the instance.
        foresight: where it takes its time to ask authz; None: it is asked behind each read.
    """

    authorizer: Authorizer
    servers: ServerStore
    warehouses: WarehouseStore
    namespaces: NamespaceStore
    tabulars: TabularStore
    default_project: ProjectId | None
    instance_admins: frozenset[str] = frozenset()
    foresight: Foresight | None = None

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

    async def project_id(self, action: Action, *, caller: Caller, project_id: str | None = None) -> str:
        """The id of such a project.

        Raises:
            Refusal: as `project`.
        """
        named = None if project_id is None else ProjectId(project_id)
        return (await self.project(action, caller=caller, project_id=named)).project_id

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
        warehouse = await self.found_warehouse(warehouse_id, caller=caller, inactive_too=inactive_too)
        await self.decide(caller, warehouse_needs(warehouse, action, absent=absent_warehouse(warehouse_id)))
        return warehouse

    async def listed_warehouse(self, warehouse_id: WarehouseId, *, caller: Caller) -> tuple[Warehouse, bool]:
        """A warehouse whose namespaces the caller may list, and whether it was decided already that all of them show.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN.
        """
        warehouse = await self.found_warehouse(warehouse_id, caller=caller)
        needs = warehouse_needs(warehouse, Action.WAREHOUSE_LIST_NAMESPACES, absent=absent_warehouse(warehouse_id))
        allowed = await self.decide(caller, needs, [Demand(warehouse_ref(warehouse), Action.WAREHOUSE_LIST_EVERYTHING)])
        return warehouse, bool(allowed)

    async def specified(
        self, warehouse_id: WarehouseId, action: Action, *, caller: Caller, inactive_too: bool = False
    ) -> Warehouse:
        """As `warehouse`, for what changes what a warehouse is: who manages it has to let the caller.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, FORBIDDEN, WAREHOUSE_MANAGED.
        """
        warehouse = await self.warehouse(warehouse_id, action, caller=caller, inactive_too=inactive_too)
        self.check_manager(warehouse, caller=caller)
        return warehouse

    def check_manager(self, warehouse: Warehouse, *, caller: Caller) -> None:
        """Whether who manages a warehouse lets the caller change what it is; asked again of a row that is locked.

        Raises:
            Refusal: WAREHOUSE_MANAGED.
        """
        if warehouse.managed_by is ManagedBy.INSTANCE_ADMIN and not self.administrates(caller):
            raise warehouse_managed(warehouse.name)

    def administrates(self, caller: Caller) -> bool:
        """Whether the caller is an administrator of the instance; an assumed role is not its user."""
        principal = caller.principal
        return principal.kind is PrincipalKind.USER and principal.user_id in self.instance_admins

    async def found_warehouse(
        self, warehouse_id: WarehouseId, *, caller: Caller, inactive_too: bool = False
    ) -> Warehouse:
        """A warehouse that nothing is decided of yet: `warehouse_needs` are to be asked for before anything is said of it.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE.
        """
        warehouse = await self.warehouses.find(warehouse_id)
        return await self.present(
            warehouse, absent=absent_warehouse(warehouse_id), caller=caller, inactive_too=inactive_too
        )

    async def present(
        self,
        warehouse: Warehouse | None,
        *,
        absent: Callable[[], Refusal],
        caller: Caller,
        inactive_too: bool = False,
        asked: Sequence[Demand] = (),
    ) -> Warehouse:
        """A warehouse that was looked up; one that is not there is refused with the work that a hidden one takes.

        Args:
            warehouse: what was found.
            absent: makes the refusal.
            caller: who asks.
            inactive_too: an inactive one is there as well.
            asked: on what is nobody's, beside the warehouse: what would have been asked beside a hidden one.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE.
        """
        if warehouse is not None and (warehouse.active or inactive_too):
            return warehouse
        # How long an answer takes is not to say that there was nothing to decide of.
        await self.authorizer.decide(caller.principal, [_NOBODYS, *asked])
        raise absent()

    async def _active(self, warehouse: Warehouse | None, warehouse_id: WarehouseId, caller: Caller) -> Warehouse:
        return await self.present(warehouse, absent=absent_warehouse(warehouse_id), caller=caller)

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
        found = await self._active(warehouse, warehouse_id, caller)
        needs = warehouse_needs(found, *on_warehouse, absent=absent_warehouse(warehouse_id))
        if namespace is None:
            nobodys = nobodys_namespace(found)
            await self.decide(caller, needs, [Demand(nobodys, action) for action in (*needed, *asked)])
            raise no_such_namespace(ident)
        ref = namespace_ref(found, namespace)
        needs += [Need(Demand(ref, action), lambda: no_such_namespace(ident)) for action in needed]
        allowed = await self.decide(caller, needs, [Demand(ref, action) for action in asked])
        return OpenedNamespace(found, namespace, allowed)

    async def namespace_by_id(
        self, warehouse_id: WarehouseId, namespace_id: NamespaceId, needed: Action, *, caller: Caller
    ) -> OpenedNamespace:
        """A namespace that the caller named by its id, and on which it may take an action.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN.
        """
        found, namespace = await self.namespaces.find_by_id(warehouse_id, namespace_id)
        warehouse = await self._active(found, warehouse_id, caller)
        needs = warehouse_needs(warehouse, absent=absent_warehouse(warehouse_id))
        if namespace is None:
            await self.decide(caller, needs, [Demand(nobodys_namespace(warehouse), needed)])
            raise no_such_namespace(namespace_id)
        needs.append(Need(Demand(namespace_ref(warehouse, namespace), needed), lambda: no_such_namespace(namespace_id)))
        await self.decide(caller, needs)
        return OpenedNamespace(warehouse, namespace)

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
        warehouse, namespace = await self._active(located.warehouse, warehouse_id, caller), located.namespace
        needs = warehouse_needs(warehouse, absent=absent_warehouse(warehouse_id))
        if namespace is None:
            await self.decide(caller, needs, [Demand(nobodys_namespace(warehouse), needed)])
            raise no_such_namespace(ident.namespace)
        demand = Demand(namespace_ref(warehouse, namespace), needed)
        await self.decide(caller, [*needs, Need(demand, lambda: no_such_namespace(ident.namespace))])
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
        if self.foresight is None:
            looked = Looked(await self.tabulars.locate(warehouse_id, ident))
        else:
            looked = await self.foresight.locate(caller.principal, warehouse_id, ident, (needed, *asked))
        located = looked.located
        warehouse = await self._active(located.warehouse, warehouse_id, caller)
        namespace, tabular = located.namespace, located.tabular
        use = Demand(warehouse_ref(warehouse), Action.WAREHOUSE_USE)
        needs = [Need(use, lambda: no_such_warehouse(warehouse_id))]
        if namespace is None or tabular is None or tabular.kind is not kind or tabular.state not in states:
            nobodys = nobodys_tabular(warehouse, kind)
            await self.decide(caller, needs, [Demand(nobodys, action) for action in (needed, *asked)])
            raise no_such_tabular(kind, ident)
        ref = tabular_ref(warehouse, tabular)
        needs.append(Need(Demand(ref, needed), lambda: no_such_tabular(kind, ident)))
        also = [Demand(ref, action) for action in asked]
        if looked.outcomes is not None:
            return OpenedTabular(warehouse, namespace, tabular, _judged(needs, also, looked.outcomes))
        allowed = await self.decide(caller, needs, also)
        if self.foresight is not None and looked.wanted is not None:
            self.foresight.note(looked.wanted, located, [*map(_DEMAND, needs), *also])
        return OpenedTabular(warehouse, namespace, tabular, allowed)

    async def tabular_by_id(
        self, warehouse_id: WarehouseId, tabular_id: TabularId, kind: Kind, needed: Action, *, caller: Caller
    ) -> tuple[Warehouse, Tabular]:
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
            self.found_warehouse(warehouse_id, caller=caller), self.tabulars.by_id(warehouse_id, tabular_id)
        )
        needs = warehouse_needs(warehouse, absent=absent_warehouse(warehouse_id))
        if tabular is None or tabular.kind is not kind:
            await self.decide(caller, needs, [Demand(nobodys_tabular(warehouse, kind), needed)])
            raise no_such_tabular(kind, tabular_id)
        needs.append(_tabular_need(warehouse, tabular, needed))
        await self.decide(caller, needs)
        return warehouse, tabular

    async def tabulars_by_id(
        self,
        warehouse_id: WarehouseId,
        wanted: Sequence[TabularKey],
        needed: Callable[[Kind], Action],
        *,
        caller: Caller,
    ) -> tuple[Warehouse, Sequence[Tabular]]:
        """Tabulars of any state that the caller named by their public ids; one read and one question, however many.

        Args:
            warehouse_id: of an active warehouse.
            wanted: which; one of another kind is absent.
            needed: which action of a kind the caller must be allowed.
            caller: who asks.

        Returns:
            The warehouse, and one for each of `wanted`, in their order.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE; NO_SUCH_TABLE or NO_SUCH_VIEW, FORBIDDEN for the first that is refused.
        """
        warehouse, rows = await asyncio.gather(
            self.found_warehouse(warehouse_id, caller=caller),
            self.tabulars.by_ids(warehouse_id, [key.tabular_id for key in wanted]),
        )
        there = {TabularKey(row.kind, row.tabular_id): row for row in rows}
        needs = warehouse_needs(warehouse, absent=absent_warehouse(warehouse_id))
        for key in wanted:
            tabular, action = there.get(key), needed(key.kind)
            ref = nobodys_tabular(warehouse, key.kind) if tabular is None else tabular_ref(warehouse, tabular)
            needs.append(Need(Demand(ref, action), partial(no_such_tabular, *key)))
        await self.decide(caller, needs)
        for key in wanted:
            if key not in there:
                raise no_such_tabular(*key)  # where everything is allowed, what is nobody's is too
        return warehouse, [there[key] for key in wanted]

    async def listing(
        self, warehouse_id: WarehouseId, action: Action, *, namespace_id: NamespaceId | None = None, caller: Caller
    ) -> OpenedListing:
        """A warehouse whose tabulars the caller may list, and the namespace that it names, if any.

        Args:
            warehouse_id: of an active warehouse.
            action: of the warehouse.
            namespace_id: the one that the listing is narrowed to.
            caller: who asks.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE, NO_SUCH_NAMESPACE, FORBIDDEN.
        """
        namespace: Namespace | None = None
        if namespace_id is None:
            warehouse = await self.found_warehouse(warehouse_id, caller=caller)
        else:
            found, namespace = await self.namespaces.find_by_id(warehouse_id, namespace_id)
            warehouse = await self._active(found, warehouse_id, caller)
        needs = warehouse_needs(warehouse, action, absent=absent_warehouse(warehouse_id))
        asked = [Demand(warehouse_ref(warehouse), Action.WAREHOUSE_LIST_EVERYTHING)]
        if namespace is not None:
            ref = namespace_ref(warehouse, namespace)
            needs.append(Need(Demand(ref, Action.NAMESPACE_GET_METADATA), lambda: no_such_namespace(namespace_id)))
            asked.append(Demand(ref, Action.NAMESPACE_LIST_EVERYTHING))
        elif namespace_id is not None:
            nobodys = nobodys_namespace(warehouse)
            asked += [
                Demand(nobodys, each) for each in (Action.NAMESPACE_GET_METADATA, Action.NAMESPACE_LIST_EVERYTHING)
            ]
        allowed = await self.decide(caller, needs, asked)
        if namespace is None and namespace_id is not None:
            raise no_such_namespace(namespace_id)
        return OpenedListing(warehouse, namespace, bool(allowed))

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
        return Visibility(shown.everything, shown.containers, shown.objects, shown.projects)

    async def sees(self, warehouse: Warehouse, *, caller: Caller) -> bool:
        """Whether a warehouse that the caller did not name may be named to it."""
        demand = Demand(warehouse_ref(warehouse), Action.WAREHOUSE_USE)
        return (await self.authorizer.decide(caller.principal, [demand]))[0] is Outcome.ALLOWED

    async def decide(self, caller: Caller, needs: Sequence[Need], asked: Sequence[Demand] = ()) -> frozenset[Action]:
        """Ask once; refuse for the first need that is not allowed; answer which of the asked actions are."""
        demands = [*map(_DEMAND, needs), *asked]
        return _judged(needs, asked, await self.authorizer.decide(caller.principal, demands))


def _judged(needs: Sequence[Need], asked: Sequence[Demand], outcomes: Sequence[Outcome]) -> frozenset[Action]:
    """Refuse for the first need that is not allowed; answer which of the asked actions are."""
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


def _tabular_need(warehouse: Warehouse, tabular: Tabular, action: Action) -> Need:
    """An action on a tabular that the caller named by its id."""
    return Need(
        Demand(tabular_ref(warehouse, tabular), action), lambda: no_such_tabular(tabular.kind, tabular.tabular_id)
    )


def warehouse_needs(warehouse: Warehouse, *actions: Action, absent: Callable[[], Refusal]) -> list[Need]:
    """To see a warehouse, and actions on it."""
    ref = warehouse_ref(warehouse)
    return [Need(Demand(ref, action), absent) for action in (Action.WAREHOUSE_USE, *actions)]


def absent_warehouse(named: object) -> Callable[[], Refusal]:
    """Makes the refusal of a warehouse by what the caller called it, if it comes to that."""
    return lambda: no_such_warehouse(named)


_NOTHING: Final[frozenset[Action]] = frozenset()
_DEMAND: Final = attrgetter("demand")
# A question that takes what one about a warehouse takes, and is answered no.
_NOBODYS: Final = Demand(ObjectRef.warehouse(NIL_PROJECT, UUID(int=0)), Action.WAREHOUSE_USE)
