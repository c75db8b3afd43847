"""NamespaceService over gRPC."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.namespaces.creating import CreateNamespace
from lakeward_catalog.application.namespaces.dropping import DropNamespace
from lakeward_catalog.application.namespaces.properties import PropertiesUpdated, UpdateProperties, shown
from lakeward_catalog.application.namespaces.reading import ListNamespaces
from lakeward_catalog.application.paging import Page
from lakeward_catalog.domain.model import Namespace
from lakeward_catalog.transport import decode, encode
from lakeward_catalog.transport.pages import page_of
from lakeward_catalog.transport.probing import namespace_looked_for
from lakeward_protocol.catalog.v1 import namespaces_pb2, namespaces_pb2_grpc


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceUseCases:
    """What NamespaceService does, each with its roles filled; every one takes `caller`."""

    list: Callable[..., Awaitable[Page[Namespace]]]
    create: Callable[..., Awaitable[Namespace]]
    get: Callable[..., Awaitable[Namespace]]
    update_properties: Callable[..., Awaitable[PropertiesUpdated]]
    drop: Callable[..., Awaitable[None]]


class NamespaceServicer(namespaces_pb2_grpc.NamespaceServiceServicer):
    """Namespaces of a warehouse."""

    def __init__(self, use_cases: NamespaceUseCases) -> None:
        """Serve the use cases."""
        self._do = use_cases

    async def ListNamespaces(
        self, request: namespaces_pb2.ListNamespacesRequest, caller: Caller
    ) -> namespaces_pb2.ListNamespacesResponse:
        """See the contract."""
        command = ListNamespaces(
            decode.warehouse_id(request.warehouse_id),
            decode.namespace_ident(request.parent) if request.parent.parts else None,
            page_of(request),
        )
        page = await self._do.list(command, caller=caller)
        response = namespaces_pb2.ListNamespacesResponse(
            namespaces=[encode.namespace_ident(namespace.ident) for namespace in page.entries],
            next_page_token=page.next_token,
        )
        if request.with_ids:
            response.namespace_ids.extend([str(namespace.namespace_id) for namespace in page.entries])
        if request.with_protection:
            response.protection.extend([namespace.protected for namespace in page.entries])
        return response

    async def CreateNamespace(
        self, request: namespaces_pb2.CreateNamespaceRequest, caller: Caller
    ) -> namespaces_pb2.CreateNamespaceResponse:
        """See the contract."""
        command = CreateNamespace(
            decode.warehouse_id(request.warehouse_id), decode.namespace_ident(request.ident), dict(request.properties)
        )
        namespace = await self._do.create(command, caller=caller)
        return namespaces_pb2.CreateNamespaceResponse(namespace=_message(namespace))

    async def GetNamespace(
        self, request: namespaces_pb2.GetNamespaceRequest, caller: Caller
    ) -> namespaces_pb2.GetNamespaceResponse:
        """See the contract."""
        warehouse_id, ident = decode.warehouse_id(request.warehouse_id), namespace_looked_for(request.ident)
        return namespaces_pb2.GetNamespaceResponse(
            namespace=_message(await self._do.get(warehouse_id, ident, caller=caller))
        )

    async def UpdateNamespaceProperties(
        self, request: namespaces_pb2.UpdateNamespacePropertiesRequest, caller: Caller
    ) -> namespaces_pb2.UpdateNamespacePropertiesResponse:
        """See the contract."""
        command = UpdateProperties(
            decode.warehouse_id(request.warehouse_id),
            decode.namespace_ident(request.ident),
            dict(request.updates),
            tuple(request.removals),
        )
        result = await self._do.update_properties(command, caller=caller)
        return namespaces_pb2.UpdateNamespacePropertiesResponse(
            updated=result.updated, removed=result.removed, missing=result.missing
        )

    async def DropNamespace(
        self, request: namespaces_pb2.DropNamespaceRequest, caller: Caller
    ) -> namespaces_pb2.DropNamespaceResponse:
        """See the contract."""
        command = DropNamespace(
            decode.warehouse_id(request.warehouse_id),
            decode.namespace_ident(request.ident),
            recursive=request.recursive,
            force=request.force,
            purge=request.purge,
        )
        await self._do.drop(command, caller=caller)
        return namespaces_pb2.DropNamespaceResponse()


def _message(namespace: Namespace) -> namespaces_pb2.Namespace:
    return namespaces_pb2.Namespace(
        ident=encode.namespace_ident(namespace.ident),
        namespace_id=str(namespace.namespace_id),
        properties=shown(namespace),
        protected=namespace.protected,
    )
