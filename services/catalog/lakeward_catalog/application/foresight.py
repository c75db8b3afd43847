"""Asks authz beside the point read, and not behind it, of what was there and allowed the last two times.

Between pods the question takes as long as the read. It can be put at once where what it is about is foreseen, and its answer
counts only where the read then finds what was foreseen, row version for row version: that was there while authz decided, so it
is as if both had happened at that moment, one behind the other. Whatever else comes of the two, the door goes on as if nothing
had been foreseen: it asks of what the read found.

It is foreseen for whom it was allowed, and for nobody else: of a name that is hidden from a caller nothing is asked early, as of
one that is not there, and no time tells the one from the other. Twice, since what a caller changes itself is another each time.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec

from lakeward_catalog.application.ports.stores import Located, TabularStore
from lakeward_catalog.domain.model import WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Authorizer, Demand, Outcome
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.keeping import Kept

ENTRIES: Final = 8192
"""What is remembered, about 1 KB each."""
CALM: Final = 8
"""Reads under way at once, up to which authz is asked early. Where there are more the processes are busy, and questions that come
behind the reads, as many together as were read together, are cheaper than others that come before."""


class Wanted(NamedTuple):
    """Who wants to do what with what is at a path; `caller` is the principal's key."""

    caller: str
    warehouse_id: WarehouseId
    ident: TabularIdent
    actions: tuple[Action, ...]


class Looked(msgspec.Struct, frozen=True):
    """What a look found.

    Attributes:
        wanted: under which it is to be noted, if what is needed is allowed; None: it is not.
        outcomes: of the demands that were noted with it, those that are needed ALLOWED; None: authz is to be asked.
    """

    located: Located
    wanted: Wanted | None = None
    outcomes: Sequence[Outcome] | None = None


class _Seen(msgspec.Struct, frozen=True):
    """What was there the last time; and what is to be asked of it at once, if it was there the time before, too."""

    located: Located
    demands: Sequence[Demand] = ()


class Foresight:
    """Remembers what was there and allowed, to ask for it again at once.

    Args:
        authorizer: one that takes its time.
        tabulars: what has not changed, it gives as the object that it gave before.
        is_known: whether the authorizer takes no time now; then it is asked behind the read.
        entries: that are remembered at most.
    """

    def __init__(
        self,
        authorizer: Authorizer,
        tabulars: TabularStore,
        *,
        is_known: Callable[[], bool] = lambda: False,
        entries: int = ENTRIES,
    ) -> None:
        """Foresee nothing yet."""
        self._is_known: Final = is_known
        self._authorizer: Final = authorizer
        self._tabulars: Final = tabulars
        self._seen: Final = Kept[Wanted, _Seen](entries)
        # the most that were under way since one was alone, and since one was before that
        self._under_way = self._crowd = self._crowd_before = 0

    async def locate(
        self, principal: Principal, warehouse_id: WarehouseId, ident: TabularIdent, actions: tuple[Action, ...]
    ) -> Looked:
        """What is at a path, and what authz says now of the demands that were noted with it.

        Raises:
            Refusal: AUTHORIZATION_UNAVAILABLE.
        """
        self._under_way += 1
        if self._under_way == 1:
            self._crowd, self._crowd_before = 1, self._crowd
        elif self._under_way > self._crowd:
            self._crowd = self._under_way
        try:
            if self._crowd > CALM or self._crowd_before > CALM or self._is_known():
                return Looked(await self._tabulars.locate(warehouse_id, ident))
            return await self._early(principal, Wanted(principal.key, warehouse_id, ident, actions))
        finally:
            self._under_way -= 1

    async def _early(self, principal: Principal, wanted: Wanted) -> Looked:
        seen = self._seen.look(wanted)
        if seen is None or not seen.demands:
            return Looked(await self._tabulars.locate(wanted.warehouse_id, wanted.ident), wanted)
        self._seen.used(wanted)
        asking = asyncio.create_task(self._authorizer.decide(principal, seen.demands))
        try:
            located = await self._tabulars.locate(wanted.warehouse_id, wanted.ident)
        except BaseException:
            asking.cancel()  # and what it failed with, if it has, is nobody's
            raise
        if _is_same(located, seen.located):
            outcomes = await asking
            if outcomes[0] is outcomes[1] is Outcome.ALLOWED:
                return Looked(located, wanted, outcomes)
        else:
            # It decides nothing, not even by failing, and is waited for: what is gone takes as long as what was taken away.
            with contextlib.suppress(Refusal):
                await asking
        self._seen.discard(wanted)
        return Looked(located, wanted)

    def note(self, wanted: Wanted, located: Located, demands: Sequence[Demand]) -> None:
        """What was there and allowed; of `demands` the first two are needed, and the others only asked."""
        before = self._seen.look(wanted)
        again = before is not None and _is_same(before.located, located)
        self._seen.put(wanted, _Seen(located, demands if again else ()))


def _is_same(one: Located, other: Located) -> bool:
    return one.tabular is other.tabular and one.namespace is other.namespace and one.warehouse is other.warehouse
