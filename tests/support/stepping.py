"""`python -m tests.support.stepping gateway|catalog`: the service as it is, which comes by `tests.support.steps` on its way.

It is composed as `lakeward serve` composes it; the names that are replaced are of this process alone. The product has no step
to die at.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from functools import partial
from typing import Any, Final

from lakeward_catalog import __main__ as catalog_alone
from lakeward_catalog import background
from lakeward_catalog.adapters.postgres import changes
from lakeward_catalog.adapters.postgres.ledger import PostgresLedger
from lakeward_catalog.bootstrap import catalog
from lakeward_catalog.settings import CatalogSettings
from lakeward_gateway import __main__ as gateway_alone
from lakeward_gateway.bootstrap import gateway
from lakeward_gateway.peers import Peers
from lakeward_gateway.settings import GatewaySettings
from lakeward_servicekit.events import serving, sinks
from lakeward_servicekit.events.nats.sink import NatsSink
from lakeward_servicekit.events.postgres_log import PostgresEventLog, PostgresOutbox, moved
from lakeward_servicekit.events.relay import LoggedEvent
from lakeward_servicekit.leases import Lease, keep_holding
from lakeward_servicekit.postgres.pools import Connection
from lakeward_servicekit.rpc import Channel, Host
from tests.support.steps import passes

_COMMIT: Final = "/lakeward.catalog.v1.TableService/CommitTable"
_WRITE: Final = "/lakeward.vending.v1.FileService/WriteFile"
# Who lost the database waits for a third of it before it goes on.
_LIFETIME: Final = timedelta(seconds=1.5)
_commit = changes._commit


class _Stepping:
    """A channel, of which one method has a step on either side."""

    def __init__(self, channel: Channel, method: str, before: str, after: str) -> None:
        self._channel, self._method, self._before, self._after = channel, method, before, after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._channel, name)

    def unary_unary(self, method: str, *args: Any, **kwargs: Any) -> Any:
        call = self._channel.unary_unary(method, *args, **kwargs)
        if method != self._method:
            return call

        async def stepping(request: Any, **how: Any) -> Any:
            passes(self._before)
            reply = await call(request, **how)
            passes(self._after)
            return reply

        return stepping


class _Ledger(PostgresLedger):
    async def flush(self) -> None:
        if self.told_something:
            passes("the row is changed")
        await super().flush()
        if self.told_something:
            passes("the event is written")


class _Outbox(PostgresOutbox):
    async def move(self, lease: Lease, *, limit: int) -> int:
        async with self._pool.transaction() as connection:
            count = await moved(connection, lease, limit=limit)
            if count:
                passes("the events are moved")
        if count:
            passes("the move is committed")
        return count


class _Log(PostgresEventLog):
    async def take(self, sink: str, stream: str, sequence: int) -> None:
        await super().take(sink, stream, sequence)
        passes("the place is remembered")


class _Sink(NatsSink):
    async def position(self, stream: str) -> int:
        position = await super().position(stream)
        passes("the sink is asked where it stands")
        return position

    async def publish(self, events: Sequence[LoggedEvent]) -> None:
        publishing = asyncio.ensure_future(super().publish(events))
        await asyncio.sleep(0.001)  # some of it is on its way, or all, or none
        passes("a batch is on its way")
        await publishing
        passes("a batch is acknowledged")


async def _committing(connection: Connection) -> None:
    await _commit(connection)
    passes("the change is committed")


def _catalog(
    settings: CatalogSettings, *, vending: Channel, authz: Channel, **others: Any
) -> AbstractAsyncContextManager[Host]:
    steps = "the metadata file is asked for", "the metadata file is written"
    return catalog(settings, vending=_Stepping(vending, _WRITE, *steps), authz=authz, **others)


def _gateway(settings: GatewaySettings, *, peers: Peers, **others: Any) -> AbstractAsyncContextManager[Any]:
    stepping: Any = _Stepping(peers.catalog, _COMMIT, "a request has arrived", "the catalog has answered")
    return gateway(settings, peers=dataclasses.replace(peers, catalog=stepping), **others)


if __name__ == "__main__":
    catalog_alone.catalog = _catalog  # type: ignore[attr-defined, assignment]
    gateway_alone.gateway = _gateway  # type: ignore[attr-defined, assignment]
    background.keep_holding = partial(keep_holding, lifetime=_LIFETIME)  # type: ignore[attr-defined]
    changes._commit = _committing
    changes.PostgresLedger = _Ledger  # type: ignore[attr-defined]
    serving.PostgresOutbox = _Outbox  # type: ignore[attr-defined]
    serving.PostgresEventLog = _Log  # type: ignore[attr-defined]
    sinks.NatsSink = _Sink  # type: ignore[attr-defined]
    asyncio.run({"catalog": catalog_alone.serve, "gateway": gateway_alone.serve}[sys.argv[1]](os.environ))
