"""Point reads that arrive together share a statement.

A call joins only a batch that has not been sent, so what it reads is never older than the call. While as many batches as are
allowed are under way the next one fills up: the busier the catalog is, the less each read costs.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from lakeward_catalog.adapters.postgres.tabulars import Key
from lakeward_catalog.application.ports.stores import After, Listed, Located, TabularStore, Visibility
from lakeward_catalog.domain.model import Kind, NamespaceId, Tabular, TabularId, WarehouseId
from lakeward_catalog.domain.names import TabularIdent
from lakeward_locations import Location
from lakeward_servicekit.errors import Refusal


class BatchingTabulars(TabularStore, Protocol):
    """A store that answers many point reads at once."""

    async def locate_many(self, keys: Sequence[Key]) -> Sequence[Located]:
        """What each key leads to, in the order of `keys`; as of a time after the call."""
        ...


class CoalescingTabulars:
    """`TabularStore` whose concurrent `locate` calls share statements; what else is asked goes straight through."""

    def __init__(self, store: BatchingTabulars, *, most_items: int = 128, most_batches: int = 2) -> None:
        """Send at most `most_items` different keys in a batch, and at most `most_batches` batches at a time."""
        self._store: Final = store
        self._most_items: Final = most_items
        self._most_batches: Final = most_batches
        self._waiting: dict[Key, list[asyncio.Future[Located]]] = {}
        self._sending = 0
        self._senders: Final[set[asyncio.Task[None]]] = set()

    async def locate(self, warehouse_id: WarehouseId, ident: TabularIdent) -> Located:
        """See `TabularStore`."""
        future: asyncio.Future[Located] = asyncio.get_running_loop().create_future()
        key = Key(warehouse_id, *ident.key)
        callers = self._waiting.get(key)
        if callers is None:
            self._waiting[key] = [future]
            if self._sending < self._most_batches:
                self._sending += 1
                # The task first runs after every caller that is ready now has had its turn.
                sender = asyncio.create_task(self._send())
                self._senders.add(sender)
                sender.add_done_callback(self._senders.discard)
        else:
            callers.append(future)
        return await future

    async def _send(self) -> None:
        try:
            while self._waiting:
                await self._send_one()
        finally:
            # Here and not when the task is collected: a caller in between would count on a sender that has ended.
            self._sending -= 1

    async def _send_one(self) -> None:
        if len(self._waiting) <= self._most_items:
            batch, self._waiting = self._waiting, {}
        else:
            batch = {key: self._waiting.pop(key) for key in [*self._waiting][: self._most_items]}
        try:
            found = await self._store.locate_many([*batch])
        except Exception as error:  # noqa: BLE001 - whatever it is, it is each caller's, and the next batch goes on
            _fail(batch.values(), error)
        except BaseException:
            _fail(batch.values(), asyncio.CancelledError())
            raise
        else:
            for callers, located in zip(batch.values(), found, strict=True):
                for caller in callers:
                    if not caller.done():
                        caller.set_result(located)

    async def by_id(self, warehouse_id: WarehouseId, tabular_id: TabularId) -> Tabular | None:
        """See `TabularStore`."""
        return await self._store.by_id(warehouse_id, tabular_id)

    async def by_location(self, warehouse_id: WarehouseId, location: Location) -> Tabular | None:
        """See `TabularStore`."""
        return await self._store.by_location(warehouse_id, location)

    async def list(
        self,
        warehouse_id: WarehouseId,
        namespace_id: NamespaceId,
        kind: Kind,
        *,
        visible: Visibility,
        after: After | None,
        limit: int,
    ) -> Sequence[Listed]:
        """See `TabularStore`."""
        return await self._store.list(warehouse_id, namespace_id, kind, visible=visible, after=after, limit=limit)


def _fail(batch: Iterable[Sequence[asyncio.Future[Located]]], error: BaseException) -> None:
    for callers in batch:
        for caller in callers:
            if not caller.done():
                # A refusal that is raised in many places would gather all their tracebacks.
                caller.set_exception(copy.copy(error) if isinstance(error, Refusal) else error)
