"""How far events are behind, told in metrics.

Every process of a service tells what all of them share, so what several tell is one number, not a sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lakeward_servicekit.events.lag import COUNTED_MOST, LagReader
from lakeward_servicekit.settings.events import EventSettings
from lakeward_servicekit.telemetry.metrics import Gauge

WAITING: Final = Gauge(
    "lakeward_outbox_events",
    f"Events that nobody has put in order yet; {COUNTED_MOST:,} stands for more, too.",
    ("service",),
)
WAITING_FOR: Final = Gauge(
    "lakeward_outbox_oldest_seconds", "For how long the first of them has waited to be put in order.", ("service",)
)
LAG: Final = Gauge("lakeward_event_sink_lag_events", "Events that a sink has not taken.", ("service", "sink"))
LAG_FOR: Final = Gauge(
    "lakeward_event_sink_lag_seconds",
    "How long ago the first of them happened that a sink has not taken.",
    ("service", "sink"),
)


DEAD_LETTERS: Final = Gauge(
    "lakeward_event_sink_dead_letters", "Events that a sink refused, and that are set aside.", ("service", "sink")
)
LOG_BYTES: Final = Gauge(
    "lakeward_event_log_bytes", "What the log of events takes on the database's disk.", ("service",)
)
LOG_MOST: Final = Gauge(
    "lakeward_event_log_max_bytes", "What it may take at most: above, the oldest events are forgotten.", ("service",)
)
KEPT_FOR: Final = Gauge(
    "lakeward_event_kept_seconds",
    "For how long events are kept; what a sink lacks is kept for longer, while there is room.",
    ("service",),
)
_GIB: Final = 1 << 30
_DAY: Final = 86400


class Behind:
    """Tells how far the events of one service are behind, and what they may take.

    Args:
        lag: reads it.
        service: its name.
        sinks: names of those that its events go to.
        settings: how long events are kept, and how many.
    """

    def __init__(self, lag: LagReader, service: str, sinks: Sequence[str], settings: EventSettings) -> None:
        """See the class."""
        LOG_MOST.series(service).value = float(settings.log_max_gib * _GIB)
        KEPT_FOR.series(service).value = float(settings.kept_days * _DAY)
        self._lag: Final = lag
        self._names: Final = tuple(sinks)
        self._outbox: Final = WAITING.series(service), WAITING_FOR.series(service)
        self._log: Final = LOG_BYTES.series(service)
        self._sinks: Final = [
            (LAG.series(service, sink), LAG_FOR.series(service, sink), DEAD_LETTERS.series(service, sink))
            for sink in sinks
        ]

    async def __call__(self) -> None:
        """Look, and tell.

        Raises:
            Refusal: DATABASE_UNAVAILABLE.
        """
        lag = await self._lag.read(self._names)
        self._outbox[0].value, self._outbox[1].value = float(lag.unordered), max(0.0, lag.unordered_oldest_seconds)
        self._log.value = float(lag.log_bytes)
        for (events, seconds, letters), sink in zip(self._sinks, lag.sinks, strict=True):
            events.value, seconds.value = float(sink.events), max(0.0, sink.oldest_seconds)
            letters.value = float(sink.dead_letters)
