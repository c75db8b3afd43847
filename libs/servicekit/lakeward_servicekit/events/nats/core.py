"""The sink that publishes to NATS without JetStream, as upstream does: whoever listens at the moment hears it.

A publication is acknowledged by nobody. But a server answers a ping once it has read what was sent before it, so an outage
is noticed, and what was under way comes again.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from lakeward_servicekit.events.nats.connection import (
    ConnectionEndedError,
    Denials,
    NatsAddress,
    close,
    connect,
    denial_of,
    failures,
    first,
    too_large,
)
from lakeward_servicekit.events.nats.messages import messages_of
from lakeward_servicekit.events.nats.wire import TOGETHER, put, send
from lakeward_servicekit.events.relay import EventRefusedError, LoggedEvent, SinkUnavailableError

if TYPE_CHECKING:
    from nats.aio.client import Client


class NatsCoreSink:
    """`Sink` on NATS without JetStream."""

    def __init__(self, address: NatsAddress) -> None:
        """Publish to `address`; nothing is connected yet."""
        importlib.import_module("nats.aio.client")  # now, and not at the first event
        self._address: Final = address
        self._tls: Final = address.tls()
        self._denials: Final = Denials()
        self._client: Client | None = None
        self._reaching: Final = asyncio.Lock()

    @property
    def name(self) -> str:
        """See `Sink`."""
        return "nats-core"

    async def position(self, stream: str) -> int:
        """A server keeps nothing, so it can't be asked."""
        del stream
        return 0

    async def publish(self, events: Sequence[LoggedEvent]) -> None:
        """See `Sink`. What stands behind an event that was refused may have been heard."""
        client = await self._reach()
        room = client.max_payload
        sent: list[frozenset[str]] = []
        written: list[bytes] = []
        refused: str | None = None
        try:
            with self._denials.watched("") as aside:
                for logged in events:
                    messages = messages_of(logged, topic=self._address.topic, room=room)
                    if (largest := max(message.size for message in messages)) > room:
                        refused = too_large(largest, room)
                        break
                    for message in messages:
                        put(written, message)
                    sent.append(frozenset(message.subject for message in messages))
                    if len(sent) % TOGETHER == 0:
                        await send(client, written, aside)
                await send(client, written, aside)
                # it answers behind everything, and behind what it says of it
                await first(client.flush(timeout=max(1, round(self._address.patience))), aside)
        except failures() as failure:
            if isinstance(failure, ConnectionEndedError):
                await self.close()
            raise SinkUnavailableError(str(failure) or type(failure).__name__) from failure
        for index, subjects in enumerate(sent):
            if denied := self._denials.taken(subjects):
                raise EventRefusedError(denial_of(denied), taken=index)
        if refused is not None:
            raise EventRefusedError(refused, taken=len(sent))

    async def close(self) -> None:
        """End the connection."""
        client, self._client = self._client, None
        if client is not None and not client.is_closed:
            await close(client, seconds=self._address.patience)

    async def _reach(self) -> Client:
        async with self._reaching:
            if self._client is None or self._client.is_closed:
                try:
                    self._client = await connect(self._address, self._tls, self._denials)
                except failures() as failure:
                    raise SinkUnavailableError(str(failure) or type(failure).__name__) from failure
            return self._client
