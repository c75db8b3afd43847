"""VendingService: credentials and signatures for clients."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lakeward_protocol.vending.v1 import vending_pb2 as pb
from lakeward_protocol.vending.v1 import vending_pb2_grpc
from lakeward_vending.domain.signing import SigningRequest
from lakeward_vending.transport import decode

if TYPE_CHECKING:
    from lakeward_servicekit.permits import PermitVerifier
    from lakeward_servicekit.rpc import Call
    from lakeward_vending.application.client_access import AccessVends, RequestSignatures


@dataclasses.dataclass(frozen=True)
class VendingServicer(vending_pb2_grpc.VendingServiceServicer):
    """Acts on permits that `verifier` verifies."""

    verifier: PermitVerifier
    vend_access: AccessVends
    sign_request: RequestSignatures

    async def VendAccess(self, request: pb.VendAccessRequest, context: Call) -> pb.VendAccessResponse:
        """See the contract."""
        del context
        permit = decode.permit(request.storage, self.verifier)
        access = await self.vend_access(
            decode.delegations(request.delegation), permit=permit, min_validity=request.min_validity.ToTimedelta()
        )
        response = pb.VendAccessResponse(config=access.config, sign_remotely=access.sign_remotely)
        if (vended := access.vended) is not None:
            response.credential.update(vended.properties)
            response.refresh_property = vended.refresh_property
            response.expires_at.FromDatetime(vended.expires_at)
        return response

    async def SignRequest(self, request: pb.SignRequestRequest, context: Call) -> pb.SignRequestResponse:
        """See the contract."""
        del context
        asked = SigningRequest(
            method=request.method,
            uri=request.uri,
            region=request.region,
            headers={name: tuple(values.values) for name, values in request.headers.items()},
            body=request.body if request.HasField("body") else None,
        )
        signed = await self.sign_request(asked, permit=decode.permit(request.storage, self.verifier))
        return pb.SignRequestResponse(
            uri=request.uri,
            headers={name: pb.HeaderValues(values=values) for name, values in signed.headers.items()},
            cacheable=signed.cacheable,
        )
