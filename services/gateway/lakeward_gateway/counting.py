"""Counts answers, cheaply: a look into a dictionary for each, and a call of the catalog every so often.

What is counted waits in a bounded map. Nobody waits for it: where the map is full, or the catalog does not take it, counts are
lost, and how many is told. An answer of 401 is nobody's, and not counted.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final, TypeAlias

from google.protobuf.timestamp_pb2 import Timestamp

from lakeward_gateway.operation import Operation
from lakeward_gateway.query import parse_query
from lakeward_protocol.catalog.v1 import statistics_pb2, statistics_pb2_grpc
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.remembering import remembered

_LOG: Final = logging.getLogger(__name__)
MOST: Final = 16_384
"""Keys that one flush may hold. The second half of them is kept for answers that were no refusals: a request that names what is
not there is refused, and so can't crowd out what is."""
_HOUR: Final = 3600
_UNAUTHENTICATED: Final = 401
_REFUSED: Final = 400
_LONGEST: Final = 128  # of what a request names
_WAREHOUSE: Final = frozenset({"{prefix}", "{warehouse_id}"})
_PARAMETER: Final = "warehouse"
_IN_QUERY: Final = -1
_COUNTED: Final = ("/catalog/", "/management/", "/lakekeeper/")

# The operation, the status, the hour, and what the request names: a warehouse, and a project.
Key: TypeAlias = tuple[str, int, int, str, bytes]


class Counts:
    """What was answered since the last flush.

    Args:
        now: seconds since 1970.
        most: keys that are held.
    """

    def __init__(self, *, now: Callable[[], float] = time.time, most: int = MOST) -> None:
        """Nothing yet."""
        self._now: Final = now
        self._most: Final = most
        self._counts: dict[Key, list[float]] = {}
        self._places: Final[dict[str, int | None]] = {}
        self.lost = 0

    def add(
        self, operation: Operation, arguments: Sequence[str], query: bytes, headers: Mapping[bytes, bytes], status: int
    ) -> None:
        """Count one answer.

        Args:
            operation: that answered.
            arguments: at the template's parameters.
            query: as it came.
            headers: by name.
            status: of the answer.
        """
        if operation.bare or status == _UNAUTHENTICATED or not operation.path.startswith(_COUNTED):
            return
        now = self._now()
        warehouse = ""
        try:
            place = self._places[operation.id]
        except KeyError:
            place = self._places[operation.id] = _place_of(operation)
        if place == _IN_QUERY:
            warehouse = _named(query) if query else ""
        elif place is not None and place < len(arguments):
            warehouse = arguments[place]
        project = headers.get(b"x-project-id") or headers.get(b"x-project-ident") or b""
        key = (operation.id, status, int(now) // _HOUR, warehouse[:_LONGEST], project[:_LONGEST])
        found = self._counts.get(key)
        if found is not None:
            found[0] += 1
            found[2] = now
        elif len(self._counts) < (self._most if status < _REFUSED else self._most // 2):
            self._counts[key] = [1, now, now]
        else:
            self.lost += 1

    def take(self, routes: Mapping[str, str]) -> Sequence[statistics_pb2.CallCount]:
        """What was counted, which is forgotten here; `routes` has method and path by the ids of operations."""
        counts, self._counts = self._counts, {}
        return [
            statistics_pb2.CallCount(
                route=routes[operation],
                status=status,
                warehouse=warehouse,
                project=project.decode("latin-1").strip(),
                count=int(count),
                first_at=_timestamp(first),
                last_at=_timestamp(last),
            )
            for (operation, status, _, warehouse, project), (count, first, last) in counts.items()
        ]


async def flush(
    counts: Counts,
    statistics: statistics_pb2_grpc.StatisticsServiceAsyncStub,
    *,
    operations: Sequence[Operation],
    every: timedelta,
) -> None:
    """Hand over what was counted again and again, until cancelled; then once more."""
    routes = {operation.id: f"{operation.method} {operation.path}" for operation in operations}
    try:
        while True:
            await asyncio.sleep(every.total_seconds())
            await flush_once(counts, statistics, routes)
    finally:
        await flush_once(counts, statistics, routes)


async def flush_once(
    counts: Counts, statistics: statistics_pb2_grpc.StatisticsServiceAsyncStub, routes: Mapping[str, str]
) -> None:
    """Hand over what was counted. What is not taken is lost: handed over again, it could count twice."""
    taken = counts.take(routes)
    if taken:
        try:
            await statistics.RecordCalls(statistics_pb2.RecordCallsRequest(counts=taken))
        except Refusal as refused:
            counts.lost += sum(each.count for each in taken)
            _LOG.info("counts of requests were not taken", extra={"refusal": str(refused)})
    if counts.lost:
        _LOG.warning("requests were not counted", extra={"requests": counts.lost})
        counts.lost = 0


def _place_of(operation: Operation) -> int | None:
    """Which of the template's parameters names a warehouse, or that one of the query does; None: nothing does."""
    if any(parameter.name == _PARAMETER for parameter in operation.query):
        return _IN_QUERY
    names = [segment for segment in operation.path.split("/") if segment.startswith("{")]
    return next((index for index, name in enumerate(names) if name in _WAREHOUSE), None)


@remembered(entries=1024, longest=256)
def _named(query: bytes) -> str:
    """The warehouse that a query names."""
    try:
        return (parse_query(query).get(_PARAMETER) or ("",))[0]
    except Refusal:
        return ""


def _timestamp(seconds: float) -> Timestamp:
    return Timestamp(seconds=int(seconds), nanos=int(seconds % 1 * 1_000_000) * 1000)
