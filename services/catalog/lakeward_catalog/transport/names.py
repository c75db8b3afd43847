"""NameService over gRPC: which ids names have."""

from __future__ import annotations

import dataclasses
from typing import Final

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.naming import Name, NameLookups
from lakeward_catalog.domain.names import ImpossiblePath
from lakeward_catalog.transport import decode
from lakeward_protocol.catalog.v1 import names_pb2, names_pb2_grpc
from lakeward_servicekit.errors import invalid_field

MOST: Final = 1000


@dataclasses.dataclass(frozen=True, slots=True)
class NameServicer(names_pb2_grpc.NameServiceServicer):
    """Finds by name."""

    find: NameLookups

    async def FindByName(self, request: names_pb2.FindByNameRequest, caller: Caller) -> names_pb2.FindByNameResponse:
        """See the contract."""
        del caller  # it is known, and nothing is decided here
        if not 1 <= len(request.names) <= MOST:
            raise invalid_field("names", f"{len(request.names)} names", f"1 to {MOST}")
        found = await self.find([_name(each) for each in request.names])
        return names_pb2.FindByNameResponse(ids=["" if each is None else str(each) for each in found])


def _name(message: names_pb2.NamedObject) -> Name | None:
    warehouse_id = decode.warehouse_id(message.warehouse_id)
    try:
        namespace = decode.namespace_ident(message.namespace)
    except ImpossiblePath:
        return None
    tabular = (message.name, decode.tabular_kind(message.kind)) if message.HasField("name") else None
    return Name(warehouse_id, namespace, tabular)
