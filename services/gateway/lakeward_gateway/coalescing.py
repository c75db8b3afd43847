"""Loads that arrive together, sent to a catalog in another process as one call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

from lakeward_gateway.peers import LoadGenericTable, LoadTable
from lakeward_protocol.catalog.v1 import generic_tables_pb2, generic_tables_pb2_grpc, tables_pb2, tables_pb2_grpc
from lakeward_servicekit.coalescing import Coalescer
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc import refusal_of
from lakeward_servicekit.rpc.lanes import SPREAD

_MAX_ITEMS: Final = 256
# With one batch under way, gateway, catalog and authz take turns, and a third of two cores had nothing to do. While several are,
# one process reads and writes for a batch as another decides on the next. There are no more than calls that stay open: a batch
# beyond them would go by a call of its own, which costs several times as much.
_BATCHES: Final = SPREAD


Request = TypeVar("Request", tables_pb2.LoadTableRequest, generic_tables_pb2.LoadGenericTableRequest)
Response = TypeVar("Response")


class _Load(Generic[Request]):
    """A load, equal to those that differ in nothing but what names the request: they are told the same."""

    __slots__ = ("_likeness", "request")

    def __init__(self, request: Request) -> None:
        self.request: Final[Request] = request
        alike = type(request)()
        alike.CopyFrom(request)
        alike.context.ClearField("request_id")
        alike.context.ClearField("traceparent")
        self._likeness: Final = alike.SerializeToString(deterministic=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Load) and self._likeness == other._likeness

    def __hash__(self) -> int:
        return hash(self._likeness)


class _Coalesced(Generic[Request, Response]):
    """Joins loads which arrive together; those that are alike take one place.

    A reply that is too large to travel in a batch, the catalog refuses with TOO_LARGE, and it is then asked for alone.
    """

    def __init__(
        self,
        alone: Callable[[Request], Awaitable[Response]],
        together: Callable[[Sequence[Request]], Awaitable[Sequence[Response | Exception]]],
    ) -> None:
        """Ask by `together`, which answers in the order of its questions, and by `alone` for what is too large for that."""
        self._alone: Final[Callable[[Request], Awaitable[Response]]] = alone
        self._together: Final[Callable[[Sequence[Request]], Awaitable[Sequence[Response | Exception]]]] = together
        self._coalescer: Final[Coalescer[_Load[Request], Response]] = Coalescer(
            self._ask, max_items=_MAX_ITEMS, at_once=_BATCHES, alike=True, beside=False
        )

    async def __call__(self, request: Request, /) -> Response:
        try:
            return await self._coalescer(_Load(request))
        except Refusal as refusal:
            if refusal.reason != Reason.REASON_TOO_LARGE:
                raise
        return await self._alone(request)

    async def _ask(self, loads: Sequence[_Load[Request]]) -> Sequence[Response | Exception]:
        return await self._together([load.request for load in loads])


def coalesced_loads(tables: tables_pb2_grpc.TableServiceAsyncStub) -> LoadTable:
    """A `LoadTable` that joins calls which arrive together."""

    async def alone(request: tables_pb2.LoadTableRequest) -> tables_pb2.LoadTableResponse:
        return await tables.LoadTable(request)

    async def together(
        requests: Sequence[tables_pb2.LoadTableRequest],
    ) -> Sequence[tables_pb2.LoadTableResponse | Exception]:
        response = await tables.BatchLoadTables(tables_pb2.BatchLoadTablesRequest(items=requests))
        return [refusal_of(item.failure) if item.HasField("failure") else item.response for item in response.items]

    return _Coalesced(alone, together)


def coalesced_generic_loads(tables: generic_tables_pb2_grpc.GenericTableServiceAsyncStub) -> LoadGenericTable:
    """A `LoadGenericTable` that joins calls which arrive together."""

    async def alone(
        request: generic_tables_pb2.LoadGenericTableRequest,
    ) -> generic_tables_pb2.LoadGenericTableResponse:
        return await tables.LoadGenericTable(request)

    async def together(
        requests: Sequence[generic_tables_pb2.LoadGenericTableRequest],
    ) -> Sequence[generic_tables_pb2.LoadGenericTableResponse | Exception]:
        batch = generic_tables_pb2.BatchLoadGenericTablesRequest(items=requests)
        response = await tables.BatchLoadGenericTables(batch)
        return [refusal_of(item.failure) if item.HasField("failure") else item.response for item in response.items]

    return _Coalesced(alone, together)
