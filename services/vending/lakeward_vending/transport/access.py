"""VendingService: credentials and signatures for clients."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lakeward_protocol.vending.v1 import vending_pb2 as pb
from lakeward_protocol.vending.v1 import vending_pb2_grpc
from lakeward_vending.domain.signing.request import SigningRequest
from lakeward_vending.transport import decode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from lakeward_servicekit.permits import PermitVerifier
    from lakeward_servicekit.rpc import Call
    from lakeward_vending.application.sign_request import SignedRequest
    from lakeward_vending.application.vend_access import ClientAccess


class VendingServicer(vending_pb2_grpc.VendingServiceServicer):
    """Acts on permits.

    Args:
        verifier: verifies them.
        vend_access: the use case, its ports filled.
        sign_request: the same.
    """

    def __init__(
        self,
        *,
        verifier: PermitVerifier,
        vend_access: Callable[..., Awaitable[ClientAccess]],
        sign_request: Callable[..., Awaitable[SignedRequest]],
    ) -> None:
        """Act on what `verifier` verifies."""
        self._permit = partial(decode.permit, verifier=verifier)
        self._vend_access = vend_access
        self._sign_request = sign_request

    async def VendAccess(self, request: pb.VendAccessRequest, context: Call) -> pb.VendAccessResponse:
        """See the contract."""
        del context
        storage = request.storage
        access = await self._vend_access(
            self._permit(storage), storage.profile, asked=decode.delegations(request.delegation)
        )
        response = pb.VendAccessResponse(
            config=access.config,
            credential=access.credential or {},
            sign_remotely=access.sign_remotely,
            refresh_property=access.refresh_property or "",
        )
        if access.expires_at is not None:
            response.expires_at.FromDatetime(access.expires_at)
        return response

    async def SignRequest(self, request: pb.SignRequestRequest, context: Call) -> pb.SignRequestResponse:
        """See the contract."""
        del context
        storage = request.storage
        asked = SigningRequest(
            method=request.method,
            uri=request.uri,
            region=request.region,
            headers={name: tuple(values.values) for name, values in request.headers.items()},
            body=request.body if request.HasField("body") else None,
        )
        signed = await self._sign_request(asked, permit=self._permit(storage), profile=storage.profile)
        return pb.SignRequestResponse(
            uri=request.uri,
            headers={name: pb.HeaderValues(values=values) for name, values in signed.headers.items()},
            cacheable=signed.cacheable,
        )
