"""NamespaceService over gRPC."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.namespaces.creating import CreateNamespace, NamespaceCreations
from lakeward_catalog.application.namespaces.dropping import DropNamespace, NamespaceDrops
from lakeward_catalog.application.namespaces.listing import ListNamespaces, NamespaceListings
from lakeward_catalog.application.namespaces.moving import MoveNamespace, NamespaceMoves
from lakeward_catalog.application.namespaces.properties import PropertiesUpdates, UpdateProperties, shown
from lakeward_catalog.application.namespaces.protecting import NamespaceProtections, ProtectNamespace
from lakeward_catalog.domain.model import Namespace
from lakeward_catalog.transport import decode, encode
from lakeward_catalog.transport.probing import namespace_looked_for
from lakeward_protocol.catalog.v1 import namespaces_pb2, namespaces_pb2_grpc
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.rpc.pages import page_of


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceServicer(namespaces_pb2_grpc.NamespaceServiceServicer):
    """Namespaces of a warehouse."""

    doors: Doors
    list: NamespaceListings
    create: NamespaceCreations
    update_properties: PropertiesUpdates
    protect: NamespaceProtections
    drop: NamespaceDrops
    move: NamespaceMoves

    async def ListNamespaces(
        self, request: namespaces_pb2.ListNamespacesRequest, caller: Caller
    ) -> namespaces_pb2.ListNamespacesResponse:
        """See the contract."""
        command = ListNamespaces(
            decode.warehouse_id(request.warehouse_id),
            decode.namespace_ident(request.parent) if request.parent.parts else None,
            page_of(request),
        )
        page = await self.list(command, caller=caller)
        response = namespaces_pb2.ListNamespacesResponse(next_page_token=page.next_token)
        add = response.namespaces.add
        for listed in page.entries:
            add().parts.extend(listed.path)
        if request.with_ids:
            response.namespace_ids.extend([str(listed.namespace_id) for listed in page.entries])
        if request.with_protection:
            response.protection.extend([listed.protected for listed in page.entries])
        return response

    async def CreateNamespace(
        self, request: namespaces_pb2.CreateNamespaceRequest, caller: Caller
    ) -> namespaces_pb2.CreateNamespaceResponse:
        """See the contract."""
        command = CreateNamespace(
            decode.warehouse_id(request.warehouse_id), decode.namespace_ident(request.ident), dict(request.properties)
        )
        namespace = await self.create(command, caller=caller)
        return namespaces_pb2.CreateNamespaceResponse(namespace=_message(namespace))

    async def GetNamespace(
        self, request: namespaces_pb2.GetNamespaceRequest, caller: Caller
    ) -> namespaces_pb2.GetNamespaceResponse:
        """See the contract."""
        warehouse_id, ident = decode.warehouse_id(request.warehouse_id), namespace_looked_for(request.ident)
        opened = await self.doors.namespace(warehouse_id, ident, Action.NAMESPACE_GET_METADATA, caller=caller)
        return namespaces_pb2.GetNamespaceResponse(namespace=_message(opened.namespace))

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
        result = await self.update_properties(command, caller=caller)
        return namespaces_pb2.UpdateNamespacePropertiesResponse(
            updated=result.updated, removed=result.removed, missing=result.missing
        )

    async def GetNamespaceProtection(
        self, request: namespaces_pb2.GetNamespaceProtectionRequest, caller: Caller
    ) -> namespaces_pb2.GetNamespaceProtectionResponse:
        """See the contract."""
        warehouse_id, namespace_id = (
            decode.warehouse_id(request.warehouse_id),
            decode.namespace_id(request.namespace_id),
        )
        needed = Action.NAMESPACE_GET_METADATA
        namespace = (await self.doors.namespace_by_id(warehouse_id, namespace_id, needed, caller=caller)).namespace
        return namespaces_pb2.GetNamespaceProtectionResponse(protected=namespace.protected)

    async def SetNamespaceProtection(
        self, request: namespaces_pb2.SetNamespaceProtectionRequest, caller: Caller
    ) -> namespaces_pb2.SetNamespaceProtectionResponse:
        """See the contract."""
        command = ProtectNamespace(
            decode.warehouse_id(request.warehouse_id), decode.namespace_id(request.namespace_id), request.protected
        )
        await self.protect(command, caller=caller)
        return namespaces_pb2.SetNamespaceProtectionResponse(protected=command.protected)

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
        await self.drop(command, caller=caller)
        return namespaces_pb2.DropNamespaceResponse()

    async def MoveNamespace(
        self, request: namespaces_pb2.MoveNamespaceRequest, caller: Caller
    ) -> namespaces_pb2.MoveNamespaceResponse:
        """See the contract."""
        command = MoveNamespace(
            decode.warehouse_id(request.warehouse_id),
            decode.namespace_id(request.namespace_id),
            decode.namespace_ident(request.destination),
            force=request.force,
        )
        moved = await self.move(command, caller=caller)
        return namespaces_pb2.MoveNamespaceResponse(
            ident=encode.namespace_ident(moved.ident),
            namespace_id=str(moved.namespace_id),
            parent_id="" if moved.parent_id is None else str(moved.parent_id),
        )


def _message(namespace: Namespace) -> namespaces_pb2.Namespace:
    return namespaces_pb2.Namespace(
        ident=encode.namespace_ident(namespace.ident),
        namespace_id=str(namespace.namespace_id),
        properties=shown(namespace),
        protected=namespace.protected,
    )
