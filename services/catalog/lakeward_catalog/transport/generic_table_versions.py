"""GenericTableVersionService over gRPC."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.generic_tables.versions import (
    ClaimVersion,
    ReadVersions,
    VersionClaims,
    VersionReads,
    VersionRemovals,
)
from lakeward_catalog.domain.generic.versions import TableVersion
from lakeward_catalog.domain.model import Kind
from lakeward_catalog.transport import decode
from lakeward_catalog.transport.probing import looked_for
from lakeward_protocol.catalog.v1 import generic_table_versions_pb2 as pb
from lakeward_protocol.catalog.v1 import generic_table_versions_pb2_grpc


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GenericTableVersionServicer(generic_table_versions_pb2_grpc.GenericTableVersionServiceServicer):
    """Versions of generic tables."""

    claim: VersionClaims
    read: VersionReads
    forget: VersionRemovals

    async def ClaimVersion(self, request: pb.ClaimVersionRequest, caller: Caller) -> pb.ClaimVersionResponse:
        """See the contract."""
        command = ClaimVersion(
            decode.warehouse_id(request.warehouse_id),
            looked_for(Kind.GENERIC_TABLE, request.table),
            request.version,
            request.path,
            request.size if request.HasField("size") else None,
            dict(request.properties),
        )
        return pb.ClaimVersionResponse(version=_message(await self.claim(command, caller=caller)))

    async def GetVersion(self, request: pb.GetVersionRequest, caller: Caller) -> pb.GetVersionResponse:
        """See the contract."""
        found = await self.read.one(
            decode.warehouse_id(request.warehouse_id),
            looked_for(Kind.GENERIC_TABLE, request.table),
            request.version if request.HasField("version") else None,
            caller=caller,
        )
        return pb.GetVersionResponse(version=_message(found))

    async def ListVersions(self, request: pb.ListVersionsRequest, caller: Caller) -> pb.ListVersionsResponse:
        """See the contract."""
        command = ReadVersions(
            decode.warehouse_id(request.warehouse_id),
            looked_for(Kind.GENERIC_TABLE, request.table),
            before=request.before if request.HasField("before") else None,
            limit=request.limit if request.HasField("limit") else 100,
        )
        return pb.ListVersionsResponse(versions=map(_message, await self.read(command, caller=caller)))

    async def ForgetVersions(self, request: pb.ForgetVersionsRequest, caller: Caller) -> pb.ForgetVersionsResponse:
        """See the contract."""
        await self.forget(
            decode.warehouse_id(request.warehouse_id),
            looked_for(Kind.GENERIC_TABLE, request.table),
            before=request.before,
            caller=caller,
        )
        return pb.ForgetVersionsResponse()


def _message(version: TableVersion) -> pb.TableVersion:
    message = pb.TableVersion(
        version=version.version, path=version.path, size=version.size, properties=version.properties
    )
    message.claimed_at.FromDatetime(version.claimed_at)
    return message
