"""TabularService over gRPC: what concerns tables and views alike."""

from __future__ import annotations

import dataclasses

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.ports.stores import Deleted
from lakeward_catalog.application.tabulars.restoring import (
    DeletedListings,
    ListDeleted,
    TabularUndrops,
    UndropTabulars,
)
from lakeward_catalog.application.tabulars.searching import SearchTabulars, TabularSearches
from lakeward_catalog.transport import decode, encode
from lakeward_protocol.catalog.v1 import tabulars_pb2, tabulars_pb2_grpc
from lakeward_servicekit.rpc.pages import page_of


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TabularServicer(tabulars_pb2_grpc.TabularServiceServicer):
    """Tabulars of every kind."""

    deleted: DeletedListings
    search: TabularSearches
    undrop: TabularUndrops

    async def ListDeletedTabulars(
        self, request: tabulars_pb2.ListDeletedTabularsRequest, caller: Caller
    ) -> tabulars_pb2.ListDeletedTabularsResponse:
        """See the contract."""
        command = ListDeleted(
            decode.warehouse_id(request.warehouse_id),
            decode.namespace_id(request.namespace_id) if request.namespace_id else None,
            page_of(request),
        )
        page = await self.deleted(command, caller=caller)
        return tabulars_pb2.ListDeletedTabularsResponse(
            tabulars=[_deleted(entry) for entry in page.entries], next_page_token=page.next_token
        )

    async def SearchTabulars(
        self, request: tabulars_pb2.SearchTabularsRequest, caller: Caller
    ) -> tabulars_pb2.SearchTabularsResponse:
        """See the contract."""
        command = SearchTabulars(decode.warehouse_id(request.warehouse_id), request.search)
        found = await self.search(command, caller=caller)
        return tabulars_pb2.SearchTabularsResponse(
            matches=[
                tabulars_pb2.TabularMatch(
                    tabular=encode.tabular_ref(*each.tabular),
                    ident=encode.tabular_ident(each.ident),
                    distance=each.distance,
                )
                for each in found
            ]
        )

    async def UndropTabulars(
        self, request: tabulars_pb2.UndropTabularsRequest, caller: Caller
    ) -> tabulars_pb2.UndropTabularsResponse:
        """See the contract."""
        wanted = tuple(decode.tabular_key(each) for each in request.tabulars)
        await self.undrop(UndropTabulars(decode.warehouse_id(request.warehouse_id), wanted), caller=caller)
        return tabulars_pb2.UndropTabularsResponse()


def _deleted(entry: Deleted) -> tabulars_pb2.DeletedTabular:
    tabular = entry.tabular
    message = tabulars_pb2.DeletedTabular(
        tabular=encode.tabular_ref(tabular.kind, tabular.tabular_id), ident=encode.tabular_ident(tabular.ident)
    )
    message.created_at.FromDatetime(tabular.created_at)
    message.deleted_at.FromDatetime(entry.dropped_at)
    if tabular.expires_at is not None:
        message.expires_at.FromDatetime(tabular.expires_at)
    return message
