"""Access to files for clients, through vending; the role `ClientAccess`."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Final

from lakeward_catalog.adapters.vending.permits import Permits
from lakeward_catalog.application.caller import Delegation
from lakeward_catalog.application.ports.access import Access, Folder, SignedRequest, StorageRequest, Vended
from lakeward_catalog.domain.model import Tabular, Warehouse
from lakeward_protocol.common.v1 import context_pb2
from lakeward_protocol.vending.v1 import permits_pb2, vending_pb2, vending_pb2_grpc
from lakeward_servicekit.rpc import Channel, stub
from lakeward_servicekit.system import Ids

if TYPE_CHECKING:
    from uuid import UUID

_ACCESS: Final = {
    Access.READ: permits_pb2.ACCESS_READ,
    Access.READ_WRITE_DELETE: permits_pb2.ACCESS_READ_WRITE_DELETE,
}
_DELEGATION: Final = {
    Delegation.VENDED_CREDENTIALS: context_pb2.DELEGATION_VENDED_CREDENTIALS,
    Delegation.REMOTE_SIGNING: context_pb2.DELEGATION_REMOTE_SIGNING,
    Delegation.CLIENT_MANAGED: context_pb2.DELEGATION_CLIENT_MANAGED,
}


class VendingAccess:
    """Credentials and signatures, made by vending within the permits that this signs."""

    def __init__(self, channel: Channel, permits: Permits, ids: Ids) -> None:
        """Reach vending by `channel`."""
        self._stub: vending_pb2_grpc.VendingServiceAsyncStub = stub(vending_pb2_grpc.VendingServiceStub, channel)
        self._permits = permits
        self._ids = ids

    async def vend(
        self,
        warehouse: Warehouse,
        tabular: Tabular,
        level: Access,
        *,
        delegation: frozenset[Delegation],
        principal: str,
        min_validity: timedelta = timedelta(0),
    ) -> Vended:
        """See `ClientAccess`."""
        storage = self._permits.storage(
            warehouse.warehouse_id,
            warehouse.storage,
            incarnation=tabular.incarnation,
            location=tabular.location,
            access=_ACCESS[level],
            purpose=permits_pb2.PURPOSE_VEND,
            principal=principal,
        )
        request = vending_pb2.VendAccessRequest(storage=storage, delegation=[_DELEGATION[word] for word in delegation])
        if min_validity:
            request.min_validity.FromTimedelta(min_validity)
        reply = await self._stub.VendAccess(request)
        return Vended(
            config=dict(reply.config),
            credential=dict(reply.credential),
            expires_at=reply.expires_at.ToDatetime(tzinfo=UTC) if reply.HasField("expires_at") else None,
            sign_remotely=reply.sign_remotely,
            refresh_property=reply.refresh_property,
        )

    async def sign(
        self, warehouse: Warehouse, folder: Folder | None, level: Access, request: StorageRequest, *, principal: str
    ) -> SignedRequest:
        """See `ClientAccess`."""
        incarnation: UUID | None = None
        if folder is None:
            # a place that nothing can lie at: vending answers where the request lies instead
            location = f"{warehouse.storage.base_location}/{self._ids.uuid4()}"
        else:
            location, incarnation = folder.location, folder.incarnation
        storage = self._permits.storage(
            warehouse.warehouse_id,
            warehouse.storage,
            incarnation=incarnation,
            location=location,
            access=_ACCESS[level],
            purpose=permits_pb2.PURPOSE_SIGN,
            principal=principal,
        )
        reply = await self._stub.SignRequest(
            vending_pb2.SignRequestRequest(
                storage=storage,
                method=request.method,
                uri=request.uri,
                region=request.region,
                headers={name: vending_pb2.HeaderValues(values=values) for name, values in request.headers.items()},
                body=request.body,
            )
        )
        headers = {name: tuple(values.values) for name, values in reply.headers.items()}
        return SignedRequest(reply.uri, headers, reply.cacheable)
