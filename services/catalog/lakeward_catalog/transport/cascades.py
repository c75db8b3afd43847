"""CascadeService over gRPC."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.cascading.queueing import DropTree, TreeDrops
from lakeward_catalog.domain.model import Kind
from lakeward_catalog.transport import decode
from lakeward_protocol.catalog.v1 import cascades_pb2, cascades_pb2_grpc


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CascadeServicer(cascades_pb2_grpc.CascadeServiceServicer):
    """Drops with everything inside."""

    drops: TreeDrops

    async def DropTree(self, request: cascades_pb2.DropTreeRequest, caller: Caller) -> cascades_pb2.DropTreeResponse:
        """See the contract."""
        command = DropTree(
            decode.warehouse_id(request.warehouse_id),
            decode.namespace_id(request.namespace_id) if request.HasField("namespace_id") else None,
            force=request.force,
            purge=request.purge,
            dry_run=request.dry_run,
        )
        extent, task_id = await self.drops(command, caller=caller)
        return cascades_pb2.DropTreeResponse(
            task_id="" if task_id is None else str(task_id),
            namespaces=extent.namespaces,
            tables=extent.live.get(Kind.TABLE, 0),
            views=extent.live.get(Kind.VIEW, 0),
            generic_tables=extent.live.get(Kind.GENERIC_TABLE, 0),
            restorable=extent.restorable,
            protected=extent.protected,
        )
