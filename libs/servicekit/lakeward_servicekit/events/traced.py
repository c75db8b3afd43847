"""Publications as parts of the traces of the changes that they tell of."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Final

import msgspec

from lakeward_servicekit.events.relay import LoggedEvent, Sink
from lakeward_servicekit.telemetry import incoming, spans


class _Traced(msgspec.Struct):
    traceparent: str = ""


_TRACED: Final = msgspec.json.Decoder(_Traced)


class TracedSink:
    """A `Sink` whose publications are spans; for processes that record any."""

    def __init__(self, sink: Sink) -> None:
        """Stand before `sink`."""
        self._sink: Final = sink

    @property
    def name(self) -> str:
        """See `Sink`."""
        return self._sink.name

    async def position(self, stream: str) -> int:
        """See `Sink`."""
        return await self._sink.position(stream)

    async def publish(self, logged: LoggedEvent) -> None:
        """See `Sink`."""
        event = logged.event
        attributes = {"messaging.system": self.name, "messaging.message.id": str(event.event_id)}
        with ExitStack() as stack:
            stack.enter_context(incoming(None, _TRACED.decode(event.body).traceparent))
            stack.enter_context(
                spans.inner(f"publish {event.kind}.{event.verb}", kind="producer", attributes=attributes)
            )
            await self._sink.publish(logged)
