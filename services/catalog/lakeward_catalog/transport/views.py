"""ViewService over gRPC."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.payloads import Payload
from lakeward_catalog.application.tabulars.committing import CommitTabular
from lakeward_catalog.application.tabulars.creating import CreateTabular, TabularCreations
from lakeward_catalog.application.tabulars.reading import ReadTabular, TabularReads
from lakeward_catalog.application.views.committing import ViewCommits
from lakeward_catalog.domain.iceberg.views.metadata import ViewMetadata
from lakeward_catalog.domain.model import Kind
from lakeward_catalog.transport import decode, encode
from lakeward_catalog.transport.chains import chain_of
from lakeward_catalog.transport.probing import looked_for
from lakeward_catalog.transport.tabulars import TabularMethods
from lakeward_protocol.catalog.v1 import views_pb2, views_pb2_grpc


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ViewServicer(views_pb2_grpc.ViewServiceServicer):
    """Iceberg views.

    Attributes:
        referenced_by_max: a load may say that it was led by so many views.
    """

    tabulars: TabularMethods
    create: TabularCreations[ViewMetadata]
    load: TabularReads[ViewMetadata]
    commit: ViewCommits
    referenced_by_max: int

    async def ListViews(self, request: views_pb2.ListViewsRequest, caller: Caller) -> views_pb2.ListViewsResponse:
        """See the contract."""
        return await self.tabulars.list(request, views_pb2.ListViewsResponse(), caller)

    async def CreateView(self, request: views_pb2.CreateViewRequest, caller: Caller) -> views_pb2.CreateViewResponse:
        """See the contract."""
        command = CreateTabular(
            decode.warehouse_id(request.warehouse_id),
            decode.namespace_ident(request.namespace),
            Payload(request.body),
        )
        return views_pb2.CreateViewResponse(view=encode.loaded(await self.create(command, caller=caller)))

    async def LoadView(self, request: views_pb2.LoadViewRequest, caller: Caller) -> views_pb2.LoadViewResponse:
        """See the contract."""
        command = ReadTabular(
            decode.warehouse_id(request.warehouse_id),
            looked_for(Kind.VIEW, request.view),
            through=chain_of(request.referenced_by, caller, limit=self.referenced_by_max),
        )
        return views_pb2.LoadViewResponse(view=encode.loaded(await self.load(command, caller=caller)))

    async def ViewExists(self, request: views_pb2.ViewExistsRequest, caller: Caller) -> views_pb2.ViewExistsResponse:
        """See the contract."""
        await self.tabulars.look(request.warehouse_id, request.view, caller)
        return views_pb2.ViewExistsResponse()

    async def CommitView(self, request: views_pb2.CommitViewRequest, caller: Caller) -> views_pb2.CommitViewResponse:
        """See the contract."""
        command = CommitTabular(
            decode.warehouse_id(request.warehouse_id),
            decode.tabular_ident(request.view),
            Payload(request.body),
        )
        return views_pb2.CommitViewResponse(view=encode.loaded(await self.commit(command, caller=caller)))

    async def GetViewProtection(
        self, request: views_pb2.GetViewProtectionRequest, caller: Caller
    ) -> views_pb2.GetViewProtectionResponse:
        """See the contract."""
        protected = await self.tabulars.is_protected(request, caller)
        return views_pb2.GetViewProtectionResponse(protected=protected)

    async def SetViewProtection(
        self, request: views_pb2.SetViewProtectionRequest, caller: Caller
    ) -> views_pb2.SetViewProtectionResponse:
        """See the contract."""
        protected = await self.tabulars.protect(request, caller)
        return views_pb2.SetViewProtectionResponse(protected=protected)

    async def DropView(self, request: views_pb2.DropViewRequest, caller: Caller) -> views_pb2.DropViewResponse:
        """See the contract."""
        await self.tabulars.drop(request, request.view, caller)
        return views_pb2.DropViewResponse()

    async def RenameView(self, request: views_pb2.RenameViewRequest, caller: Caller) -> views_pb2.RenameViewResponse:
        """See the contract."""
        await self.tabulars.rename(request, caller)
        return views_pb2.RenameViewResponse()
