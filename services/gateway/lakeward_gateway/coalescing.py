"""Loads that arrive together, sent to a catalog in another process as one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lakeward_gateway.peers import LoadTable
from lakeward_protocol.catalog.v1 import tables_pb2, tables_pb2_grpc
from lakeward_servicekit.coalescing import Coalescer
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc import refusal_of

_MAX_ITEMS: Final = 256
# As short as a loop's timers go, and less than a tenth of what a batch takes.
_REGATHER_SECONDS: Final = 0.001


class _Load:
    """A load, equal to those that differ in nothing but what names the request: they are told the same."""

    __slots__ = ("_likeness", "request")

    def __init__(self, request: tables_pb2.LoadTableRequest) -> None:
        self.request: Final = request
        alike = tables_pb2.LoadTableRequest()
        alike.CopyFrom(request)
        alike.context.ClearField("request_id")
        alike.context.ClearField("traceparent")
        self._likeness: Final = alike.SerializeToString(deterministic=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Load) and self._likeness == other._likeness

    def __hash__(self) -> int:
        return hash(self._likeness)


def coalesced_loads(tables: tables_pb2_grpc.TableServiceAsyncStub) -> LoadTable:
    """A `LoadTable` that joins calls which arrive together; those that are alike take one place.

    A reply that is too large to travel in a batch, the catalog refuses with TOO_LARGE, and it is then asked for alone.
    """

    async def ask(loads: Sequence[_Load]) -> Sequence[tables_pb2.LoadTableResponse | Exception]:
        if len(loads) == 1:
            return [await tables.LoadTable(loads[0].request)]
        batch = tables_pb2.BatchLoadTablesRequest(items=[load.request for load in loads])
        response = await tables.BatchLoadTables(batch)
        return [refusal_of(item.failure) if item.HasField("failure") else item.response for item in response.items]

    coalescer: Coalescer[_Load, tables_pb2.LoadTableResponse] = Coalescer(
        ask, max_items=_MAX_ITEMS, alike=True, regather=_REGATHER_SECONDS
    )

    async def load(request: tables_pb2.LoadTableRequest) -> tables_pb2.LoadTableResponse:
        try:
            return await coalescer(_Load(request))
        except Refusal as refusal:
            if refusal.reason != Reason.REASON_TOO_LARGE:
                raise
        return await tables.LoadTable(request)

    return load
