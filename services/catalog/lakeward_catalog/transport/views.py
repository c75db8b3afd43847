"""ViewService over gRPC."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Sized
from typing import Final

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.dropping import DropTabular
from lakeward_catalog.application.listing import ListTabulars
from lakeward_catalog.application.paging import Page
from lakeward_catalog.application.payloads import Payload
from lakeward_catalog.application.renaming import RenameTabular
from lakeward_catalog.application.tables.loaded import Loaded
from lakeward_catalog.application.views.committing import ViewChange
from lakeward_catalog.application.views.creating import CreateView
from lakeward_catalog.domain.model import Kind, Tabular
from lakeward_catalog.transport import decode, encode
from lakeward_catalog.transport.pages import page_of
from lakeward_catalog.transport.probing import looked_for
from lakeward_protocol.catalog.v1 import views_pb2, views_pb2_grpc
from lakeward_servicekit.errors import Reason, Refusal


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ViewUseCases:
    """What ViewService does, each with its roles filled; every one takes `caller`."""

    list: Callable[..., Awaitable[Page[Tabular]]]
    create: Callable[..., Awaitable[Loaded]]
    load: Callable[..., Awaitable[Loaded]]
    check_exists: Callable[..., Awaitable[None]]
    commit: Callable[..., Awaitable[Loaded]]
    drop: Callable[..., Awaitable[None]]
    rename: Callable[..., Awaitable[None]]


class ViewServicer(views_pb2_grpc.ViewServiceServicer):
    """Iceberg views."""

    def __init__(self, use_cases: ViewUseCases, *, referenced_by_max: int) -> None:
        """Serve the use cases; a load may say that it was led by so many views."""
        self._do = use_cases
        self._referenced_by_max: Final = referenced_by_max

    async def ListViews(self, request: views_pb2.ListViewsRequest, caller: Caller) -> views_pb2.ListViewsResponse:
        """See the contract."""
        command = ListTabulars(
            decode.warehouse_id(request.warehouse_id),
            decode.namespace_ident(request.namespace),
            Kind.VIEW,
            page_of(request),
        )
        page = await self._do.list(command, caller=caller)
        response = views_pb2.ListViewsResponse(
            identifiers=[encode.tabular_ident(view.ident) for view in page.entries], next_page_token=page.next_token
        )
        if request.with_ids:
            response.ids.extend([str(view.tabular_id) for view in page.entries])
        if request.with_protection:
            response.protection.extend([view.protected for view in page.entries])
        return response

    async def CreateView(self, request: views_pb2.CreateViewRequest, caller: Caller) -> views_pb2.CreateViewResponse:
        """See the contract."""
        command = CreateView(
            decode.warehouse_id(request.warehouse_id),
            decode.namespace_ident(request.namespace),
            Payload(request.body),
        )
        return views_pb2.CreateViewResponse(view=encode.loaded(await self._do.create(command, caller=caller)))

    async def LoadView(self, request: views_pb2.LoadViewRequest, caller: Caller) -> views_pb2.LoadViewResponse:
        """See the contract."""
        check_depth(request.referenced_by, limit=self._referenced_by_max)
        warehouse_id = decode.warehouse_id(request.warehouse_id)
        loaded = await self._do.load(warehouse_id, looked_for(Kind.VIEW, request.view), caller=caller)
        return views_pb2.LoadViewResponse(view=encode.loaded(loaded))

    async def ViewExists(self, request: views_pb2.ViewExistsRequest, caller: Caller) -> views_pb2.ViewExistsResponse:
        """See the contract."""
        warehouse_id = decode.warehouse_id(request.warehouse_id)
        await self._do.check_exists(warehouse_id, looked_for(Kind.VIEW, request.view), Kind.VIEW, caller=caller)
        return views_pb2.ViewExistsResponse()

    async def CommitView(self, request: views_pb2.CommitViewRequest, caller: Caller) -> views_pb2.CommitViewResponse:
        """See the contract."""
        change = ViewChange(
            decode.warehouse_id(request.warehouse_id),
            decode.tabular_ident(request.view),
            Payload(request.body),
        )
        return views_pb2.CommitViewResponse(view=encode.loaded(await self._do.commit(change, caller=caller)))

    async def DropView(self, request: views_pb2.DropViewRequest, caller: Caller) -> views_pb2.DropViewResponse:
        """See the contract."""
        command = DropTabular(
            decode.warehouse_id(request.warehouse_id),
            decode.tabular_ident(request.view),
            Kind.VIEW,
            purge=request.purge if request.HasField("purge") else None,
            force=request.force,
        )
        await self._do.drop(command, caller=caller)
        return views_pb2.DropViewResponse()

    async def RenameView(self, request: views_pb2.RenameViewRequest, caller: Caller) -> views_pb2.RenameViewResponse:
        """See the contract."""
        command = RenameTabular(
            decode.warehouse_id(request.warehouse_id),
            Kind.VIEW,
            decode.tabular_ident(request.source),
            decode.tabular_ident(request.destination),
        )
        await self._do.rename(command, caller=caller)
        return views_pb2.RenameViewResponse()


def check_depth(referenced_by: Sized, *, limit: int) -> None:
    """Whether a chain of views is short enough, be it heeded or not.

    Raises:
        Refusal: REFERENCED_BY_TOO_DEEP.
    """
    depth = len(referenced_by)
    if depth > limit:
        raise Refusal(
            Reason.REASON_REFERENCED_BY_TOO_DEEP,
            f"the chain of views has {depth} members; at most {limit} are taken",
            depth=str(depth),
            limit=str(limit),
        )
