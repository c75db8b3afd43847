"""FileService: the catalog's own object-store I/O."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lakeward_protocol.vending.v1 import vending_pb2 as pb
from lakeward_protocol.vending.v1 import vending_pb2_grpc
from lakeward_vending.transport import decode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from lakeward_servicekit.permits import PermitVerifier
    from lakeward_servicekit.rpc import Call
    from lakeward_vending.application.files import Purged


class FileServicer(vending_pb2_grpc.FileServiceServicer):
    """Acts on permits.

    Args:
        verifier: verifies them.
        read_file: the use case, its ports filled.
        write_file: the same.
        delete_files: the same.
        is_empty: the same.
        purge_page: the same.
    """

    def __init__(
        self,
        *,
        verifier: PermitVerifier,
        read_file: Callable[..., Awaitable[bytes]],
        write_file: Callable[..., Awaitable[None]],
        delete_files: Callable[..., Awaitable[None]],
        is_empty: Callable[..., Awaitable[bool]],
        purge_page: Callable[..., Awaitable[Purged]],
    ) -> None:
        """Act on what `verifier` verifies."""
        self._permit = partial(decode.permit, verifier=verifier)
        self._read_file = read_file
        self._write_file = write_file
        self._delete_files = delete_files
        self._is_empty = is_empty
        self._purge_page = purge_page

    async def ReadFile(self, request: pb.ReadFileRequest, context: Call) -> pb.ReadFileResponse:
        """See the contract."""
        del context
        storage = request.storage
        content = await self._read_file(self._permit(storage), storage.profile, location=request.location)
        return pb.ReadFileResponse(content=content)

    async def WriteFile(self, request: pb.WriteFileRequest, context: Call) -> pb.WriteFileResponse:
        """See the contract."""
        del context
        storage = request.storage
        await self._write_file(
            self._permit(storage),
            storage.profile,
            location=request.location,
            content=request.content,
            content_type=request.content_type or None,
            inflate=request.inflate,
        )
        return pb.WriteFileResponse()

    async def DeleteFiles(self, request: pb.DeleteFilesRequest, context: Call) -> pb.DeleteFilesResponse:
        """See the contract."""
        del context
        storage = request.storage
        await self._delete_files(self._permit(storage), storage.profile, locations=tuple(request.locations))
        return pb.DeleteFilesResponse()

    async def CheckEmpty(self, request: pb.CheckEmptyRequest, context: Call) -> pb.CheckEmptyResponse:
        """See the contract."""
        del context
        storage = request.storage
        return pb.CheckEmptyResponse(empty=await self._is_empty(self._permit(storage), storage.profile))

    async def PurgePage(self, request: pb.PurgePageRequest, context: Call) -> pb.PurgePageResponse:
        """See the contract."""
        del context
        storage = request.storage
        purged = await self._purge_page(self._permit(storage), storage.profile)
        return pb.PurgePageResponse(deleted=purged.deleted, done=purged.done)
