"""TableService over gRPC: decode, call one use case, encode."""

from __future__ import annotations

import asyncio
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
from lakeward_catalog.transport.chains import chain_of
from lakeward_catalog.transport.probing import looked_for
from lakeward_catalog.transport.tabulars import TabularMethods
from lakeward_protocol.catalog.v1 import tables_pb2, tables_pb2_grpc
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.rpc import Settle, failure_of

MAX_BATCH: Final = 256
# A full batch of replies stays well within a frame only if none of them is large.
MAX_BATCHED_BYTES: Final = 128 * 1024
# A load that waits for a fresh credential, say, is not waited for by its neighbours; alone, it goes on where it was.
BATCH_SECONDS: Final = 0.05


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
        if len(request.items) > MAX_BATCH:
            raise Refusal(
                Reason.REASON_TOO_LARGE,
                f"the batch has {len(request.items)} items; at most {MAX_BATCH} are taken",
                what="batch",
                limit=str(MAX_BATCH),
            )
        if not request.items:
            return tables_pb2.BatchLoadTablesResponse()
        loads = [asyncio.create_task(self._item(item, settle)) for item in request.items]
        try:
            _, late = await asyncio.wait(loads, timeout=BATCH_SECONDS)
        finally:
            for load in loads:
                load.cancel()  # does nothing to what has ended
        items = [_LATE if load in late else load.result() for load in loads]
        return tables_pb2.BatchLoadTablesResponse(items=items)

    async def _item(self, item: tables_pb2.LoadTableRequest, settle: Settle[Caller]) -> tables_pb2.BatchLoadTablesItem:
        try:
            response = await self.LoadTable(item, await settle(item.context))
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


_LATE: Final = tables_pb2.BatchLoadTablesItem(
    failure=failure_of(
        Refusal(
            Reason.REASON_TOO_LARGE,
            f"the load takes longer than the {BATCH_SECONDS} s that a batch waits; ask for it alone",
            what="time of a batch item",
            limit=str(BATCH_SECONDS),
        )
    )
)


def check_size(response: tables_pb2.LoadTableResponse) -> None:
    """Whether a reply may travel in a batch.

    Raises:
        Refusal: TOO_LARGE; asked for alone, it comes.
    """
    if response.ByteSize() > MAX_BATCHED_BYTES:
        raise Refusal(
            Reason.REASON_TOO_LARGE,
            f"the table's metadata is over {MAX_BATCHED_BYTES} bytes; ask for it alone",
            what="batch item",
            limit=str(MAX_BATCHED_BYTES),
        )
