"""FileService: the catalog's own object-store I/O."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lakeward_protocol.vending.v1 import vending_pb2 as pb
from lakeward_protocol.vending.v1 import vending_pb2_grpc
from lakeward_vending.application.files import ListFiles, ReadPart, WriteFile
from lakeward_vending.transport import decode

if TYPE_CHECKING:
    from lakeward_servicekit.permits import PermitVerifier
    from lakeward_servicekit.rpc import Call
    from lakeward_vending.application.files import (
        EmptinessChecks,
        FileDeletions,
        FileListings,
        FileReads,
        FileWrites,
        PagePurges,
        PartReads,
    )


@dataclasses.dataclass(frozen=True)
class FileServicer(vending_pb2_grpc.FileServiceServicer):
    """Acts on permits that `verifier` verifies."""

    verifier: PermitVerifier
    read_file: FileReads
    write_file: FileWrites
    delete_files: FileDeletions
    check_empty: EmptinessChecks
    purge_page: PagePurges
    list_files: FileListings
    read_part: PartReads

    async def ReadFile(self, request: pb.ReadFileRequest, context: Call) -> pb.ReadFileResponse:
        """See the contract."""
        del context
        permit = decode.permit(request.storage, self.verifier)
        return pb.ReadFileResponse(content=await self.read_file(request.location, permit=permit))

    async def WriteFile(self, request: pb.WriteFileRequest, context: Call) -> pb.WriteFileResponse:
        """See the contract."""
        del context
        permit = decode.permit(request.storage, self.verifier)
        file = WriteFile(request.location, request.content, request.content_type or None, inflate=request.inflate)
        await self.write_file(file, permit=permit)
        return pb.WriteFileResponse()

    async def DeleteFiles(self, request: pb.DeleteFilesRequest, context: Call) -> pb.DeleteFilesResponse:
        """See the contract."""
        del context
        permit = decode.permit(request.storage, self.verifier)
        await self.delete_files(tuple(request.locations), permit=permit)
        return pb.DeleteFilesResponse()

    async def CheckEmpty(self, request: pb.CheckEmptyRequest, context: Call) -> pb.CheckEmptyResponse:
        """See the contract."""
        del context
        permit = decode.permit(request.storage, self.verifier)
        return pb.CheckEmptyResponse(empty=await self.check_empty(permit=permit))

    async def PurgePage(self, request: pb.PurgePageRequest, context: Call) -> pb.PurgePageResponse:
        """See the contract."""
        del context
        purged = await self.purge_page(permit=decode.permit(request.storage, self.verifier))
        return pb.PurgePageResponse(deleted=purged.deleted, done=purged.done)

    async def ListFiles(self, request: pb.ListFilesRequest, context: Call) -> pb.ListFilesResponse:
        """See the contract."""
        del context
        permit = decode.permit(request.storage, self.verifier)
        listed = await self.list_files(ListFiles(request.below, request.after, request.limit), permit=permit)
        return pb.ListFilesResponse(files=[pb.ListedFile(path=path, size=size) for path, size in listed])

    async def ReadPart(self, request: pb.ReadPartRequest, context: Call) -> pb.ReadPartResponse:
        """See the contract."""
        del context
        permit = decode.permit(request.storage, self.verifier)
        part = ReadPart(request.location, request.offset, request.length)
        return pb.ReadPartResponse(content=await self.read_part(part, permit=permit))
