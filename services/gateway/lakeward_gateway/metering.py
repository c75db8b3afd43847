"""Metrics of what the gateway answers, under upstream's names: how much, how long, and how much is under way.

A request looks its operation up once and adds to numbers; nothing is made for it but the first time that an operation answers
with a status.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from lakeward_gateway.operation import Operation
from lakeward_servicekit.telemetry.metrics import Counter, Gauge, Histogram, Labels, Number, Spread

DURATIONS: Final = Histogram(
    "axum_http_requests_duration_seconds",
    "How long requests took, from their head until their answer was ready.",
    ("method", "status", "endpoint"),
)
REQUESTS: Final = Counter(
    "axum_http_requests_total",
    "Requests that were answered, by route; `unmatched` is for those that no route is for.",
    ("method", "status", "endpoint"),
)
PENDING: Final = Gauge("axum_http_requests_pending", "Requests under way.", ("method", "endpoint"))
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_UNMATCHED: Final = "unmatched"


def _counted() -> Iterator[tuple[Labels, float]]:
    """What a histogram knows is counted once."""
    for labels, spread in DURATIONS.seen():
        yield labels, sum(spread.counts)


REQUESTS.always_read_from(_counted)


class Meter:
    """Of one operation.

    Attributes:
        pending: requests under way.
    """

    __slots__ = ("_by_status", "_endpoint", "_method", "pending")

    def __init__(self, method: str, endpoint: str) -> None:
        """Nothing answered yet."""
        self._method: Final = method
        self._endpoint: Final = endpoint
        self._by_status: Final[dict[int, Spread]] = {}
        self.pending: Final[Number] = PENDING.series(method, endpoint)

    def answered(self, status: int, seconds: float) -> None:
        """Take an answer in."""
        try:
            spread = self._by_status[status]
        except KeyError:
            spread = DURATIONS.series(self._method, str(status), self._endpoint)
            self._by_status[status] = spread
        spread.observe(seconds)


class Meters:
    """Of all operations, and of what no operation is for.

    Args:
        operations: that are served; they live as long as this does.
    """

    def __init__(self, operations: Iterable[Operation]) -> None:
        """See the class."""
        self._meters: Final = {id(each): Meter(each.method, each.path) for each in operations}
        self._unmatched: Final = {method: Meter(method, _UNMATCHED) for method in (*_METHODS, "other")}

    def of(self, operation: Operation) -> Meter:
        """The operation's own."""
        return self._meters[id(operation)]

    def unmatched(self, method: str) -> Meter:
        """For requests that no route is for; a method that HTTP has not is `other`."""
        return self._unmatched[method if method in _METHODS else "other"]
