"""Metadata files through vending; the role `Files`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lakeward_catalog.adapters.vending.permits import Permits
from lakeward_catalog.domain.iceberg.files import is_gzip_name
from lakeward_catalog.domain.model import Incarnation, Tabular, Warehouse
from lakeward_locations import Location
from lakeward_protocol.vending.v1 import permits_pb2, vending_pb2, vending_pb2_grpc
from lakeward_servicekit.deflated import Deflated, gzip_file
from lakeward_servicekit.rpc import Channel, stub

_SERVICE: Final = "service"
_PAGE: Final = 1000


class VendingFiles:
    """Files, read and written by vending within the permits that this signs."""

    def __init__(self, channel: Channel, permits: Permits) -> None:
        """Reach vending by `channel`."""
        self._stub: vending_pb2_grpc.FileServiceAsyncStub = stub(vending_pb2_grpc.FileServiceStub, channel)
        self._permits = permits

    async def read(self, warehouse: Warehouse, location: str, *, within: Location, principal: str) -> bytes:
        """See `Files`."""
        storage = self._permits.for_files(
            warehouse, incarnation=None, location=str(within), access=permits_pb2.ACCESS_READ, principal=principal
        )
        reply = await self._stub.ReadFile(vending_pb2.ReadFileRequest(storage=storage, location=location))
        return reply.content

    async def write(
        self, warehouse: Warehouse, tabular: Tabular, location: str, text: Deflated, *, principal: str
    ) -> None:
        """See `Files`."""
        storage = self._of(warehouse, tabular, permits_pb2.ACCESS_READ_WRITE, principal)
        await self._stub.WriteFile(
            vending_pb2.WriteFileRequest(
                storage=storage,
                location=location,
                content=gzip_file(text),
                content_type="application/json",
                inflate=not is_gzip_name(location),
            )
        )

    async def delete(self, warehouse: Warehouse, tabular: Tabular, locations: Sequence[str], *, principal: str) -> None:
        """See `Files`."""
        storage = self._of(warehouse, tabular, permits_pb2.ACCESS_READ_WRITE_DELETE, principal)
        for start in range(0, len(locations), _PAGE):
            page = locations[start : start + _PAGE]
            await self._stub.DeleteFiles(vending_pb2.DeleteFilesRequest(storage=storage, locations=page))

    async def is_empty(self, warehouse: Warehouse, location: Location, *, principal: str) -> bool:
        """See `Files`."""
        storage = self._permits.for_files(
            warehouse, incarnation=None, location=str(location), access=permits_pb2.ACCESS_READ, principal=principal
        )
        return (await self._stub.CheckEmpty(vending_pb2.CheckEmptyRequest(storage=storage))).empty

    async def purge_page(self, warehouse: Warehouse, incarnation: Incarnation, location: Location) -> tuple[int, bool]:
        """See `Files`."""
        storage = self._permits.storage(
            warehouse.warehouse_id,
            warehouse.storage,
            incarnation=incarnation,
            location=str(location),
            access=permits_pb2.ACCESS_READ_WRITE_DELETE,
            purpose=permits_pb2.PURPOSE_PURGE,
            principal=_SERVICE,
        )
        reply = await self._stub.PurgePage(vending_pb2.PurgePageRequest(storage=storage))
        return reply.deleted, reply.done

    async def list_files(
        self, warehouse: Warehouse, tabular: Tabular, *, below: str, after: str, limit: int
    ) -> Sequence[tuple[str, int]]:
        """See `adapters.formats.reading.Source`."""
        storage = self._of(warehouse, tabular, permits_pb2.ACCESS_READ, _SERVICE)
        reply = await self._stub.ListFiles(
            vending_pb2.ListFilesRequest(storage=storage, below=below, after=after, limit=limit)
        )
        return [(each.path, each.size) for each in reply.files]

    async def read_part(self, warehouse: Warehouse, tabular: Tabular, path: str, *, offset: int, length: int) -> bytes:
        """See `adapters.formats.reading.Source`."""
        storage = self._of(warehouse, tabular, permits_pb2.ACCESS_READ, _SERVICE)
        location = f"{tabular.location.rstrip('/')}/{path}"
        reply = await self._stub.ReadPart(
            vending_pb2.ReadPartRequest(storage=storage, location=location, offset=offset, length=length)
        )
        return reply.content

    def _of(
        self, warehouse: Warehouse, tabular: Tabular, access: permits_pb2.Access.ValueType, principal: str
    ) -> vending_pb2.Storage:
        return self._permits.for_files(
            warehouse,
            incarnation=tabular.incarnation,
            location=tabular.location,
            access=access,
            principal=principal,
        )
