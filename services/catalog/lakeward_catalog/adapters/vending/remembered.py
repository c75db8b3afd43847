"""Access that vending gave a moment ago, given again without asking.

A client's loads of one table come many a second, and what vending answers to them is the same: properties of the warehouse,
and a credential that it keeps for half of its life. The caller's rights are decided before each load, so nothing here is a
decision. What is remembered is keyed by all that a permit names, and for no longer than a permit is handed out again: a
warehouse whose storage or secret changes has another key at once. Who brings credentials of its own and asks for nothing else is
told what the warehouse's storage says of itself, the same for each table and caller, so that is keyed by the storage alone; an
answer with a credential never is.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from lakeward_catalog.application.caller import Delegation
from lakeward_catalog.application.ports.access import (
    Access,
    ClientAccess,
    Folder,
    SignedRequest,
    StorageRequest,
    Vended,
)
from lakeward_catalog.domain.model import Tabular, Warehouse
from lakeward_servicekit.keeping import Kept
from lakeward_servicekit.system import Clock
from lakeward_servicekit.telemetry.caches import told

_LONGEST: Final = timedelta(seconds=30)
_CAPACITY: Final = 8192
_BY_ITSELF: Final = frozenset({Delegation.CLIENT_MANAGED})


class RememberedAccess:
    """`ClientAccess` that remembers what was vended for half a minute, never past half of what is left of a credential's life.

    Args:
        access: asked for what is not remembered.
        clock: the time.
        capacity: answers that are remembered at most.
    """

    def __init__(self, access: ClientAccess, clock: Clock, *, capacity: int = _CAPACITY) -> None:
        """Stand before `access`; see the class."""
        self._access: Final = access
        self._clock: Final = clock
        self._remembered: Final = told("access", Kept[object, tuple[Vended, datetime]](capacity))

    async def vend(
        self,
        warehouse: Warehouse,
        tabular: Tabular,
        level: Access,
        *,
        delegation: frozenset[Delegation],
        principal: str,
        min_validity: timedelta = timedelta(0),
    ) -> Vended:
        """See `ClientAccess`."""
        key: tuple[object, ...] = (warehouse.warehouse_id, warehouse.storage.secret_id, warehouse.storage.profile)
        of_storage = delegation == _BY_ITSELF
        if not of_storage:
            key += (tabular.incarnation, tabular.location, level, delegation, principal)
        now = self._clock.now()
        kept = self._remembered.look(key)
        if kept is not None and now < kept[1] and _lasts(kept[0], now, min_validity):
            self._remembered.hits += 1
            return kept[0]
        self._remembered.misses += 1
        vended = await self._access.vend(
            warehouse, tabular, level, delegation=delegation, principal=principal, min_validity=min_validity
        )
        if of_storage and (vended.credential or vended.expires_at is not None):
            return vended
        lasts = _LONGEST if vended.expires_at is None else min(_LONGEST, (vended.expires_at - now) / 2)
        self._remembered.put(key, (vended, now + lasts))
        return vended

    async def sign(
        self, warehouse: Warehouse, folder: Folder | None, level: Access, request: StorageRequest, *, principal: str
    ) -> SignedRequest:
        """See `ClientAccess`; never remembered."""
        return await self._access.sign(warehouse, folder, level, request, principal=principal)


def _lasts(vended: Vended, now: datetime, min_validity: timedelta) -> bool:
    return vended.expires_at is None or vended.expires_at - now >= min_validity
