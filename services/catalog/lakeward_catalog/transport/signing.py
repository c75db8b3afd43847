"""SigningService over gRPC."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.ports.access import StorageRequest
from lakeward_catalog.application.tables.signing import SignStorageRequest, StorageSignings
from lakeward_catalog.transport import decode
from lakeward_protocol.catalog.v1 import signing_pb2, signing_pb2_grpc


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SigningServicer(signing_pb2_grpc.SigningServiceServicer):
    """Signs storage requests for clients."""

    sign: StorageSignings

    async def SignS3Request(
        self, request: signing_pb2.SignS3RequestRequest, caller: Caller
    ) -> signing_pb2.SignS3RequestResponse:
        """See the contract."""
        command = SignStorageRequest(
            decode.warehouse_id(request.warehouse_id),
            decode.tabular_id(request.tabular_id) if request.tabular_id else None,
            StorageRequest(
                request.method,
                request.uri,
                request.region,
                {name: tuple(values.values) for name, values in request.headers.items()},
                request.body if request.HasField("body") else None,
            ),
            request.scope,
        )
        signed = await self.sign(command, caller=caller)
        headers = {name: signing_pb2.HeaderValues(values=values) for name, values in signed.headers.items()}
        return signing_pb2.SignS3RequestResponse(uri=signed.uri, headers=headers, cacheable=signed.cacheable)
