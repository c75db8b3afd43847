"""Publications as parts of the traces of the changes that they tell of."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Final

import msgspec

from lakeward_servicekit.events.relay import LoggedEvent, Sink, SinkError
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

    async def publish(self, events: Sequence[LoggedEvent]) -> None:
        """See `Sink`. Events that go together are each a part of its own trace, for as long as all of them took."""
        began, taken = perf_counter(), len(events)
        try:
            await self._sink.publish(events)
        except SinkError as error:
            taken = error.taken
            raise
        finally:
            self._record(events[:taken], perf_counter() - began)

    def _record(self, events: Sequence[LoggedEvent], seconds: float) -> None:
        for event in (logged.event for logged in events):
            attributes = {"messaging.system": self.name, "messaging.message.id": str(event.event_id)}
            with incoming(None, _TRACED.decode(event.body).traceparent):
                spans.ended(f"publish {event.kind}.{event.verb}", seconds, kind="producer", attributes=attributes)
