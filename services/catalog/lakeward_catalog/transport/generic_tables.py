"""GenericTableService over gRPC."""

from __future__ import annotations

import dataclasses
from typing import Final

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.generic_tables.kind import tag_of
from lakeward_catalog.application.generic_tables.loading import GenericCredentialLoads
from lakeward_catalog.application.generic_tables.updating import GenericTableUpdates, UpdateGenericTable
from lakeward_catalog.application.payloads import Payload
from lakeward_catalog.application.tables.loading import LoadCredentials
from lakeward_catalog.application.tabulars.creating import CreateTabular, TabularCreations
from lakeward_catalog.application.tabulars.loaded import Loaded
from lakeward_catalog.application.tabulars.reading import ReadTabular, TabularReads
from lakeward_catalog.domain.generic.metadata import GenericMetadata, parse_generic
from lakeward_catalog.domain.model import Kind
from lakeward_catalog.transport import decode, encode
from lakeward_catalog.transport.batching import check_size, together, too_late
from lakeward_catalog.transport.chains import chain_of
from lakeward_catalog.transport.probing import looked_for
from lakeward_catalog.transport.tabulars import TabularMethods
from lakeward_protocol.catalog.v1 import generic_tables_pb2 as pb
from lakeward_protocol.catalog.v1 import generic_tables_pb2_grpc
from lakeward_servicekit.errors import Refusal
from lakeward_servicekit.remembering import remembered
from lakeward_servicekit.rpc import Settle, failure_of


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GenericTableServicer(generic_tables_pb2_grpc.GenericTableServiceServicer):
    """Generic tables.

    Attributes:
        referenced_by_max: a call for credentials may say that it was led by so many views.
    """

    tabulars: TabularMethods
    create: TabularCreations[GenericMetadata]
    register: TabularCreations[GenericMetadata]
    load: TabularReads[GenericMetadata]
    load_credentials: GenericCredentialLoads
    update: GenericTableUpdates
    referenced_by_max: int

    async def ListGenericTables(
        self, request: pb.ListGenericTablesRequest, caller: Caller
    ) -> pb.ListGenericTablesResponse:
        """See the contract."""
        found = await self.tabulars.page(request, caller)
        entries = found.page.entries
        return pb.ListGenericTablesResponse(
            namespace=encode.namespace_ident(found.namespace),
            names=[listed.name for listed in entries],
            ids=[str(listed.tabular_id) for listed in entries],
            formats=[listed.format or "" for listed in entries],
            next_page_token=found.page.next_token,
        )

    async def CreateGenericTable(
        self, request: pb.CreateGenericTableRequest, caller: Caller
    ) -> pb.CreateGenericTableResponse:
        """See the contract."""
        command = CreateTabular(
            decode.warehouse_id(request.warehouse_id),
            decode.namespace_ident(request.namespace),
            Payload(request.body),
        )
        make = self.register if request.register else self.create
        response = pb.CreateGenericTableResponse()
        _fill_loaded(response.table, await make(command, caller=caller))
        return response

    async def LoadGenericTable(
        self, request: pb.LoadGenericTableRequest, caller: Caller
    ) -> pb.LoadGenericTableResponse:
        """See the contract."""
        command = ReadTabular(decode.warehouse_id(request.warehouse_id), looked_for(Kind.GENERIC_TABLE, request.table))
        response = pb.LoadGenericTableResponse()
        _fill_loaded(response.table, await self.load(command, caller=caller))
        return response

    async def BatchLoadGenericTables(
        self, request: pb.BatchLoadGenericTablesRequest, settle: Settle[Caller]
    ) -> pb.BatchLoadGenericTablesResponse:
        """See the contract."""
        several = len(request.items) > 1
        items = await together(request.items, lambda item: self._item(item, settle, several=several), late=_LATE)
        return pb.BatchLoadGenericTablesResponse(items=items)

    async def _item(
        self, item: pb.LoadGenericTableRequest, settle: Settle[Caller], *, several: bool
    ) -> pb.BatchLoadGenericTablesItem:
        try:
            response = await self.LoadGenericTable(item, await settle(item.context))
            if several:
                check_size(response)
            return pb.BatchLoadGenericTablesItem(response=response)
        except Refusal as refusal:
            return pb.BatchLoadGenericTablesItem(failure=failure_of(refusal))

    async def GenericTableExists(
        self, request: pb.GenericTableExistsRequest, caller: Caller
    ) -> pb.GenericTableExistsResponse:
        """See the contract."""
        return pb.GenericTableExistsResponse(
            etag=tag_of(await self.tabulars.look(request.warehouse_id, request.table, caller))
        )

    async def LoadGenericTableCredentials(
        self, request: pb.LoadGenericTableCredentialsRequest, caller: Caller
    ) -> pb.LoadGenericTableCredentialsResponse:
        """See the contract."""
        command = LoadCredentials(
            decode.warehouse_id(request.warehouse_id),
            looked_for(Kind.GENERIC_TABLE, request.table),
            through=chain_of(request.referenced_by, caller, limit=self.referenced_by_max),
            min_validity=request.min_validity.ToTimedelta(),
        )
        given = await self.load_credentials(command, caller=caller)
        response = pb.LoadGenericTableCredentialsResponse(
            storage_credentials=[encode.credential(credential) for credential in given.credentials]
        )
        if given.expires_at is not None:
            response.expires_at.FromDatetime(given.expires_at)
        return response

    async def UpdateGenericTable(
        self, request: pb.UpdateGenericTableRequest, caller: Caller
    ) -> pb.UpdateGenericTableResponse:
        """See the contract."""
        command = UpdateGenericTable(
            decode.warehouse_id(request.warehouse_id),
            decode.tabular_ident(request.table),
            Payload(request.body),
            if_match=tuple(request.if_match),
        )
        response = pb.UpdateGenericTableResponse()
        _fill_loaded(response.table, await self.update(command, caller=caller))
        return response

    async def GetGenericTableProtection(
        self, request: pb.GetGenericTableProtectionRequest, caller: Caller
    ) -> pb.GetGenericTableProtectionResponse:
        """See the contract."""
        protected = await self.tabulars.is_protected(request, caller)
        return pb.GetGenericTableProtectionResponse(protected=protected)

    async def SetGenericTableProtection(
        self, request: pb.SetGenericTableProtectionRequest, caller: Caller
    ) -> pb.SetGenericTableProtectionResponse:
        """See the contract."""
        protected = await self.tabulars.protect(request, caller)
        return pb.SetGenericTableProtectionResponse(protected=protected)

    async def DropGenericTable(
        self, request: pb.DropGenericTableRequest, caller: Caller
    ) -> pb.DropGenericTableResponse:
        """See the contract."""
        await self.tabulars.drop(request, request.table, caller)
        return pb.DropGenericTableResponse()

    async def RenameGenericTable(
        self, request: pb.RenameGenericTableRequest, caller: Caller
    ) -> pb.RenameGenericTableResponse:
        """See the contract."""
        await self.tabulars.rename(request, caller)
        return pb.RenameGenericTableResponse()


_LATE: Final = pb.BatchLoadGenericTablesItem(failure=failure_of(too_late()))


_recorded: Final = remembered(entries=2048, longest=8192)(parse_generic)  # for many loads of one state


def _fill_loaded(message: pb.LoadedGenericTable, loaded: Loaded) -> None:
    """Write a loaded table into a message: a constructor that takes messages copies them."""
    tabular = loaded.tabular
    assert tabular is not None, "a reply about a generic table says which it is"
    assert isinstance(loaded.metadata, bytes), "its document is never carried compressed"
    recorded = _recorded(loaded.metadata)
    message.etag = loaded.etag
    table = message.table
    table.tabular_id = str(tabular.tabular_id)
    table.ident.name = tabular.ident.name
    table.ident.namespace.parts.extend(tabular.ident.namespace.parts)
    table.format = recorded.format
    table.location = tabular.location
    if recorded.doc is not None:
        table.doc = recorded.doc
    table.properties.update(recorded.properties)
    table.schema = recorded.schema
    table.statistics = recorded.statistics
    table.protected = tabular.protected
    table.registered = recorded.registered
    if loaded.config is not None:
        message.has_config = True
        message.config.update(loaded.config)
        for entry in loaded.credentials:
            message.storage_credentials.add(prefix=entry.prefix, config=entry.config)
        if loaded.expires_at is not None:
            message.expires_at.FromDatetime(loaded.expires_at)
