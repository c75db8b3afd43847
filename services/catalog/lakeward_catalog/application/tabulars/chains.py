"""Reading through views: as whom a trusted engine reads what a chain of views leads to.

The walk begins as the caller. Each view must be there for whoever reads at that point, and be theirs to select from; behind a
view that names its owner, the owner reads. What is not so is refused like an absent view, whatever the reason, because who may
not go on is not to learn what lies on the way. All of it is one question to authz, as one read of the views finds it.

Who says that it is an engine's token says nothing here: an engine is trusted by the settings, and a token is matched to it where
it is verified. Of others a chain is not even looked at.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain as joined
from typing import Protocol

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors, absent_warehouse, warehouse_needs
from lakeward_catalog.application.opened import LIVE, OpenedTabular, Through
from lakeward_catalog.application.payloads import beside
from lakeward_catalog.application.ports.stores import ReadView
from lakeward_catalog.application.refs import tabular_ref
from lakeward_catalog.application.tabulars.demands import DEMANDS
from lakeward_catalog.domain.bodies import text_of
from lakeward_catalog.domain.model import Kind, State, Warehouse, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_catalog.domain.view_owners import OwnerProperties, owner_of
from lakeward_catalog.domain.wording import no_such_tabular, no_such_view_between
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Need, Outcome, Turn, refuse
from lakeward_servicekit.authorization.principals import Principal, UserId, user
from lakeward_servicekit.errors import Refusal


class TabularDoor(Protocol):
    """`Doors.tabular`."""

    async def __call__(
        self,
        warehouse_id: WarehouseId,
        ident: TabularIdent,
        kind: Kind,
        needed: Action,
        /,
        *,
        caller: Caller,
        asked: Sequence[Action] = (),
        states: frozenset[State] = LIVE,
    ) -> OpenedTabular:
        """A tabular on which the caller, or whoever reads it for the caller, may take actions."""
        ...


class Chained:
    """What has to be allowed along a chain, in its order, and to whom.

    Args:
        caller: who begins.
        warehouse: that all of it is in.
    """

    def __init__(self, caller: Principal, warehouse: Warehouse) -> None:
        """Begin as `caller`, who has to see the warehouse."""
        self.needs = warehouse_needs(warehouse, absent=absent_warehouse(warehouse.warehouse_id))
        self.views = range(len(self.needs), len(self.needs))  # which of the needs are of views
        self._turns = [Turn(caller, [need.demand for need in self.needs])]

    @property
    def reader(self) -> Turn:
        """Who reads at this point, with what they do on the way."""
        return self._turns[-1]

    def view(self, demands: Iterable[Demand], ident: TabularIdent) -> None:
        """The next view; whoever reads now has to be allowed all of it."""
        for demand in demands:
            self.needs.append(Need(demand, partial(no_such_view_between, ident)))
            self._ask([demand])
        self.views = range(self.views.start, len(self.needs))

    def become(self, owner: UserId) -> None:
        """From here on it is read as an owner."""
        reader = user(owner)
        if not (self.reader.as_owner and self.reader.principal == reader):
            self._turns.append(Turn(reader, (), as_owner=True))

    def target(self, need: Need, asked: Sequence[Demand]) -> None:
        """What the chain leads to."""
        self.needs.append(need)
        self._ask([need.demand, *asked])

    @property
    def turns(self) -> Sequence[Turn]:
        """What to ask, together: what each reader does on the way."""
        return [turn for turn in self._turns if turn.demands]

    def settle(self, answers: Sequence[Sequence[Outcome]]) -> Sequence[Outcome]:
        """The outcomes of what was asked beside the needs.

        Raises:
            Refusal: of the first need that is not allowed; a view's is always that of an absent one.
        """
        outcomes = [*joined.from_iterable(answers)]
        for place, need in enumerate(self.needs):
            outcome = outcomes[place]
            if outcome is not Outcome.ALLOWED:
                refuse(need, Outcome.HIDDEN if place in self.views else outcome)
        return outcomes[len(self.needs) :]

    def _ask(self, demands: Sequence[Demand]) -> None:
        reader = self._turns[-1]
        self._turns[-1] = Turn(reader.principal, [*reader.demands, *demands], as_owner=reader.as_owner)


@dataclasses.dataclass(frozen=True, slots=True)
class ChainDoor:
    """The door to what is read through views; a `TabularDoor`.

    Attributes:
        views: outermost first; at least one.
        owned: the properties that name owners to the engine that reads.
    """

    doors: Doors
    views: tuple[TabularIdent, ...]
    owned: frozenset[str]

    async def __call__(
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
        """As `Doors.tabular`, through views: two reads at once and one question.

        Raises:
            Refusal: NO_SUCH_WAREHOUSE; NO_SUCH_VIEW of the first view that is not there, or not for whoever reads it;
                VIEW_OWNER_UNCLEAR; NO_SUCH_TABLE or NO_SUCH_VIEW, FORBIDDEN.
        """
        located, rows = await asyncio.gather(
            self.doors.tabulars.locate(warehouse_id, ident), self.doors.tabulars.views(warehouse_id, self.views)
        )
        absent = absent_warehouse(warehouse_id)
        warehouse = await self.doors.present(located.warehouse, absent=absent, caller=caller)
        chained = Chained(caller.principal, warehouse)
        # what ends the chain is only said once all before it was allowed
        ends = await self._walk(chained, warehouse, rows)
        namespace, tabular = located.namespace, located.tabular
        there = ends is None and tabular is not None and tabular.kind is kind and tabular.state in states
        if namespace is None or tabular is None or not there:
            chained.settle(await self.doors.authorizer.decide_each(chained.turns))
            raise ends or no_such_tabular(kind, ident)
        ref = tabular_ref(warehouse, tabular)
        demands = [Demand(ref, action) for action in asked]
        chained.target(Need(Demand(ref, needed), lambda: no_such_tabular(kind, ident)), demands)
        reader = chained.reader
        outcomes = chained.settle(await self.doors.authorizer.decide_each(chained.turns))
        allowed = frozenset(
            demand.action for demand, outcome in zip(demands, outcomes, strict=True) if outcome is Outcome.ALLOWED
        )
        through = Through(self.views, reader.principal, reader.as_owner)
        return OpenedTabular(warehouse, namespace, tabular, allowed, through)

    async def _walk(self, chained: Chained, warehouse: Warehouse, rows: Sequence[ReadView | None]) -> Refusal | None:
        """Take a chain's views into account, and answer what ends it before what it leads to; None where nothing does."""
        provider, _, _ = chained.reader.principal.user_id.partition("~")
        demands = DEMANDS[Kind.VIEW]
        for ident, row in zip(self.views, rows, strict=True):
            if row is None:
                return no_such_view_between(ident)
            ref = tabular_ref(warehouse, row.view)
            chained.view([Demand(ref, action) for action in (demands.see, *demands.data)], ident)
            text = await beside(row.document.size, partial(text_of, row.document))
            try:
                owner = owner_of(ident, text, self.owned, provider=provider)
            except Refusal as unclear:
                return unclear
            if owner is not None:
                chained.become(owner)
        return None


@dataclasses.dataclass(frozen=True, slots=True)
class ViewChains:
    """Opens tabulars that are read through views."""

    doors: Doors
    owners: OwnerProperties

    def door(self, views: Sequence[TabularIdent], caller: Caller) -> TabularDoor:
        """The door to what is read through views, outermost first; for whom no engine vouches, the one without any."""
        owned = self.owners.of(caller.principal.engines)
        return ChainDoor(self.doors, tuple(views), owned) if views and owned else self.doors.tabular
