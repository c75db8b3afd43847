"""The methods of TableService that don't read or write metadata."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.dropping import DropTabular
from lakeward_catalog.application.listing import ListTabulars
from lakeward_catalog.application.paging import Page
from lakeward_catalog.application.payloads import Payload
from lakeward_catalog.application.renaming import RenameTabular
from lakeward_catalog.domain.model import Kind, Tabular
from lakeward_catalog.transport import decode, encode
from lakeward_catalog.transport.pages import page_of
from lakeward_catalog.transport.probing import looked_for
from lakeward_protocol.catalog.v1 import tables_pb2, tables_pb2_grpc


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TableLifecycleUseCases:
    """What these methods do, each with its roles filled; every one takes `caller`."""

    list: Callable[..., Awaitable[Page[Tabular]]]
    check_exists: Callable[..., Awaitable[None]]
    drop: Callable[..., Awaitable[None]]
    rename: Callable[..., Awaitable[None]]
    report_metrics: Callable[..., Awaitable[None]]


class TableLifecycleMethods(tables_pb2_grpc.TableServiceServicer):
    """Which tables there are, and the ends of their lives."""

    def __init__(self, use_cases: TableLifecycleUseCases) -> None:
        """Serve the use cases."""
        self._lifecycle = use_cases

    async def ListTables(self, request: tables_pb2.ListTablesRequest, caller: Caller) -> tables_pb2.ListTablesResponse:
        """See the contract."""
        command = ListTabulars(
            decode.warehouse_id(request.warehouse_id),
            decode.namespace_ident(request.namespace),
            Kind.TABLE,
            page_of(request),
        )
        page = await self._lifecycle.list(command, caller=caller)
        response = tables_pb2.ListTablesResponse(
            identifiers=[encode.tabular_ident(table.ident) for table in page.entries], next_page_token=page.next_token
        )
        if request.with_ids:
            response.ids.extend([str(table.tabular_id) for table in page.entries])
        if request.with_protection:
            response.protection.extend([table.protected for table in page.entries])
        return response

    async def TableExists(
        self, request: tables_pb2.TableExistsRequest, caller: Caller
    ) -> tables_pb2.TableExistsResponse:
        """See the contract."""
        warehouse_id = decode.warehouse_id(request.warehouse_id)
        await self._lifecycle.check_exists(
            warehouse_id, looked_for(Kind.TABLE, request.table), Kind.TABLE, caller=caller
        )
        return tables_pb2.TableExistsResponse()

    async def DropTable(self, request: tables_pb2.DropTableRequest, caller: Caller) -> tables_pb2.DropTableResponse:
        """See the contract."""
        command = DropTabular(
            decode.warehouse_id(request.warehouse_id),
            decode.tabular_ident(request.table),
            Kind.TABLE,
            purge=request.purge if request.HasField("purge") else None,
            force=request.force,
        )
        await self._lifecycle.drop(command, caller=caller)
        return tables_pb2.DropTableResponse()

    async def RenameTable(
        self, request: tables_pb2.RenameTableRequest, caller: Caller
    ) -> tables_pb2.RenameTableResponse:
        """See the contract."""
        command = RenameTabular(
            decode.warehouse_id(request.warehouse_id),
            Kind.TABLE,
            decode.tabular_ident(request.source),
            decode.tabular_ident(request.destination),
        )
        await self._lifecycle.rename(command, caller=caller)
        return tables_pb2.RenameTableResponse()

    async def ReportMetrics(
        self, request: tables_pb2.ReportMetricsRequest, caller: Caller
    ) -> tables_pb2.ReportMetricsResponse:
        """See the contract."""
        warehouse_id, ident = decode.warehouse_id(request.warehouse_id), looked_for(Kind.TABLE, request.table)
        await self._lifecycle.report_metrics(warehouse_id, ident, Payload(request.body), caller=caller)
        return tables_pb2.ReportMetricsResponse()
