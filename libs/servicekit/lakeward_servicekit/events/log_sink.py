"""Events in the service's own log."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from lakeward_servicekit.events.relay import LoggedEvent

_LOG: Final = logging.getLogger("lakeward_servicekit.events")


class LogSink:
    """`Sink` that writes each event as a line, under upstream's message and field."""

    @property
    def name(self) -> str:
        """See `Sink`."""
        return "log"

    async def position(self, stream: str) -> int:
        """A log can't be asked."""
        del stream
        return 0

    async def publish(self, events: Sequence[LoggedEvent]) -> None:
        """Write a line each."""
        for logged in events:
            _LOG.info("CloudEvent", extra={"event": logged.event.body.decode()})
