"""TableService over gRPC: decode, call one use case, encode."""

from __future__ import annotations

import dataclasses
from typing import Final

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.payloads import Payload
from lakeward_catalog.application.tables.committing import CommitTransaction, TableCommits, TableTransactions
from lakeward_catalog.application.tables.loading import (
    CredentialLoads,
    LoadCredentials,
    LoadTable,
    NotModified,
    TableLoads,
)
from lakeward_catalog.application.tables.registering import RegisterTable, TableRegistrations
from lakeward_catalog.application.tables.reporting import MetricsReports, ReportMetrics
from lakeward_catalog.application.tabulars.committing import CommitTabular
from lakeward_catalog.application.tabulars.creating import CreateTabular, TabularCreations
from lakeward_catalog.domain.iceberg.table import TableMetadata
from lakeward_catalog.domain.model import Kind
from lakeward_catalog.domain.names import TabularIdent
from lakeward_catalog.transport import decode, encode
from lakeward_catalog.transport.batching import check_size, together, too_late
from lakeward_catalog.transport.chains import chain_of
from lakeward_catalog.transport.probing import looked_for
from lakeward_catalog.transport.tabulars import TabularMethods
from lakeward_protocol.catalog.v1 import tables_pb2, tables_pb2_grpc
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.rpc import Settle, failure_of


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TableServicer(tables_pb2_grpc.TableServiceServicer):
    """Iceberg tables.

    Attributes:
        referenced_by_max: a load may say that it was led by so many views.
    """

    tabulars: TabularMethods
    load: TableLoads
    load_credentials: CredentialLoads
    create: TabularCreations[TableMetadata]
    register: TableRegistrations
    commit: TableCommits
    commit_transaction: TableTransactions
    report_metrics: MetricsReports
    referenced_by_max: int

    async def ListTables(self, request: tables_pb2.ListTablesRequest, caller: Caller) -> tables_pb2.ListTablesResponse:
        """See the contract."""
        return await self.tabulars.list(request, tables_pb2.ListTablesResponse(), caller)

    async def LoadTable(self, request: tables_pb2.LoadTableRequest, caller: Caller) -> tables_pb2.LoadTableResponse:
        """See the contract."""
        loaded = await self.load(
            LoadTable(
                decode.warehouse_id(request.warehouse_id),
                decode.tabular_ident(request.table),
                references=request.snapshots == tables_pb2.SNAPSHOTS_REFS,
                if_none_match=request.if_none_match,
                deflated=request.accept_deflate,
                through=self._through(request, caller),
            ),
            caller=caller,
        )
        if isinstance(loaded, NotModified):
            return tables_pb2.LoadTableResponse(not_modified=loaded.etag)
        response = tables_pb2.LoadTableResponse()
        encode.fill_loaded(response.table, loaded)
        return response

    async def BatchLoadTables(
        self, request: tables_pb2.BatchLoadTablesRequest, settle: Settle[Caller]
    ) -> tables_pb2.BatchLoadTablesResponse:
        """See the contract."""
        several = len(request.items) > 1
        items = await together(request.items, lambda item: self._item(item, settle, several=several), late=_LATE)
        return tables_pb2.BatchLoadTablesResponse(items=items)

    async def _item(
        self, item: tables_pb2.LoadTableRequest, settle: Settle[Caller], *, several: bool
    ) -> tables_pb2.BatchLoadTablesItem:
        try:
            response = await self.LoadTable(item, await settle(item.context))
            if several:
                check_size(response)
            return tables_pb2.BatchLoadTablesItem(response=response)
        except Refusal as refusal:
            return tables_pb2.BatchLoadTablesItem(failure=failure_of(refusal))

    async def LoadCredentials(
        self, request: tables_pb2.LoadCredentialsRequest, caller: Caller
    ) -> tables_pb2.LoadCredentialsResponse:
        """See the contract."""
        command = LoadCredentials(
            decode.warehouse_id(request.warehouse_id),
            decode.tabular_ident(request.table),
            through=self._through(request, caller),
        )
        credentials = await self.load_credentials(command, caller=caller)
        return tables_pb2.LoadCredentialsResponse(
            storage_credentials=[encode.credential(credential) for credential in credentials]
        )

    def _through(
        self, request: tables_pb2.LoadTableRequest | tables_pb2.LoadCredentialsRequest, caller: Caller
    ) -> tuple[TabularIdent, ...]:
        chain = request.referenced_by
        return chain_of(chain, caller, limit=self.referenced_by_max) if chain else ()

    async def CreateTable(
        self, request: tables_pb2.CreateTableRequest, caller: Caller
    ) -> tables_pb2.CreateTableResponse:
        """See the contract."""
        command = CreateTabular(
            decode.warehouse_id(request.warehouse_id),
            decode.namespace_ident(request.namespace),
            Payload(request.body),
            deflated=request.accept_deflate,
        )
        return tables_pb2.CreateTableResponse(table=encode.loaded(await self.create(command, caller=caller)))

    async def RegisterTable(
        self, request: tables_pb2.RegisterTableRequest, caller: Caller
    ) -> tables_pb2.RegisterTableResponse:
        """See the contract."""
        command = RegisterTable(
            decode.warehouse_id(request.warehouse_id),
            decode.namespace_ident(request.namespace),
            request.name,
            request.metadata_location,
            overwrite=request.overwrite,
            deflated=request.accept_deflate,
        )
        return tables_pb2.RegisterTableResponse(table=encode.loaded(await self.register(command, caller=caller)))

    async def CommitTable(
        self, request: tables_pb2.CommitTableRequest, caller: Caller
    ) -> tables_pb2.CommitTableResponse:
        """See the contract."""
        command = CommitTabular(
            decode.warehouse_id(request.warehouse_id),
            decode.tabular_ident(request.table),
            Payload(request.body),
            deflated=request.accept_deflate,
        )
        loaded = await self.commit(command, caller=caller)
        response = tables_pb2.CommitTableResponse()
        encode.fill_loaded(response.table, loaded)
        return response

    async def CommitTransaction(
        self, request: tables_pb2.CommitTransactionRequest, caller: Caller
    ) -> tables_pb2.CommitTransactionResponse:
        """See the contract."""
        command = CommitTransaction(decode.warehouse_id(request.warehouse_id), Payload(request.body))
        await self.commit_transaction(command, caller=caller)
        return tables_pb2.CommitTransactionResponse()

    async def TableExists(
        self, request: tables_pb2.TableExistsRequest, caller: Caller
    ) -> tables_pb2.TableExistsResponse:
        """See the contract."""
        await self.tabulars.look(request.warehouse_id, request.table, caller)
        return tables_pb2.TableExistsResponse()

    async def GetTableProtection(
        self, request: tables_pb2.GetTableProtectionRequest, caller: Caller
    ) -> tables_pb2.GetTableProtectionResponse:
        """See the contract."""
        protected = await self.tabulars.is_protected(request, caller)
        return tables_pb2.GetTableProtectionResponse(protected=protected)

    async def SetTableProtection(
        self, request: tables_pb2.SetTableProtectionRequest, caller: Caller
    ) -> tables_pb2.SetTableProtectionResponse:
        """See the contract."""
        protected = await self.tabulars.protect(request, caller)
        return tables_pb2.SetTableProtectionResponse(protected=protected)

    async def DropTable(self, request: tables_pb2.DropTableRequest, caller: Caller) -> tables_pb2.DropTableResponse:
        """See the contract."""
        await self.tabulars.drop(request, request.table, caller)
        return tables_pb2.DropTableResponse()

    async def RenameTable(
        self, request: tables_pb2.RenameTableRequest, caller: Caller
    ) -> tables_pb2.RenameTableResponse:
        """See the contract."""
        await self.tabulars.rename(request, caller)
        return tables_pb2.RenameTableResponse()

    async def ReportMetrics(
        self, request: tables_pb2.ReportMetricsRequest, caller: Caller
    ) -> tables_pb2.ReportMetricsResponse:
        """See the contract."""
        command = ReportMetrics(
            decode.warehouse_id(request.warehouse_id), looked_for(Kind.TABLE, request.table), Payload(request.body)
        )
        await self.report_metrics(command, caller=caller)
        return tables_pb2.ReportMetricsResponse()


_LATE: Final = tables_pb2.BatchLoadTablesItem(failure=failure_of(too_late()))
