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


def coalesced_loads(tables: tables_pb2_grpc.TableServiceAsyncStub) -> LoadTable:
    """A `LoadTable` that joins calls which arrive together.

    A reply that is too large to travel in a batch, the catalog refuses with TOO_LARGE, and it is then asked for alone.
    """

    async def ask(items: Sequence[tables_pb2.LoadTableRequest]) -> Sequence[tables_pb2.LoadTableResponse | Exception]:
        if len(items) == 1:
            return [await tables.LoadTable(items[0])]
        response = await tables.BatchLoadTables(tables_pb2.BatchLoadTablesRequest(items=items))
        return [refusal_of(item.failure) if item.HasField("failure") else item.response for item in response.items]

    coalescer: Coalescer[tables_pb2.LoadTableRequest, tables_pb2.LoadTableResponse] = Coalescer(
        ask, max_items=_MAX_ITEMS
    )

    async def load(request: tables_pb2.LoadTableRequest) -> tables_pb2.LoadTableResponse:
        try:
            return await coalescer(request)
        except Refusal as refusal:
            if refusal.reason != Reason.REASON_TOO_LARGE:
                raise
        return await tables.LoadTable(request)

    return load
