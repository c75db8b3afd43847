"""Tabulars of a warehouse, whatever their kind and namespace: searching them, and what was dropped and can be restored."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import msgspec

from lakeward_gateway.dialects.management import documents, paging
from lakeward_gateway.dialects.management.errors import RENDERED
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import NO_CONTENT, Request, Response, json_response
from lakeward_gateway.operation import IDEMPOTENCY_KEY, Answer, Body, Operation
from lakeward_gateway.query import Text
from lakeward_protocol.catalog.v1 import tabulars_pb2, tabulars_pb2_grpc

NAMESPACE: Final = Text("namespaceId", "Only what was dropped from this namespace.")
KINDS: Final[dict[documents.TabularType, tabulars_pb2.TabularKind.ValueType]] = {
    "table": tabulars_pb2.TABULAR_KIND_TABLE,
    "view": tabulars_pb2.TABULAR_KIND_VIEW,
    "generic-table": tabulars_pb2.TABULAR_KIND_GENERIC_TABLE,
}
TYPES: Final[dict[tabulars_pb2.TabularKind.ValueType, documents.TabularType]] = {
    kind: word for word, kind in KINDS.items()
}

_TAG: Final = "warehouse"
_WAREHOUSE: Final = "/management/v1/warehouse/{warehouse_id}"
_search_decoder: Final = msgspec.json.Decoder(documents.SearchTabularRequest)
_undrop_decoder: Final = msgspec.json.Decoder(documents.UndropTabularsRequest)


async def list_deleted(request: Request, *, tabulars: tabulars_pb2_grpc.TabularServiceAsyncStub) -> Response:
    """A page of what was dropped."""
    warehouse_id, query = request.arguments[0], request.query
    response = await tabulars.ListDeletedTabulars(
        tabulars_pb2.ListDeletedTabularsRequest(
            context=request.context,
            warehouse_id=warehouse_id,
            namespace_id=NAMESPACE.read(query) or "",
            page=paging.page_of(query),
        )
    )
    return json_response(
        documents.ListDeletedTabularsResponse(
            [_deleted(entry, warehouse_id) for entry in response.tabulars], response.next_page_token or None
        )
    )


def _deleted(entry: tabulars_pb2.DeletedTabular, warehouse_id: str) -> documents.DeletedTabularResponse:
    return documents.DeletedTabularResponse(
        id=entry.tabular.tabular_id,
        name=entry.ident.name,
        namespace=list(entry.ident.namespace.parts),
        typ=TYPES[entry.tabular.kind],
        warehouse_id=warehouse_id,
        created_at=documents.time_text(entry.created_at),
        deleted_at=documents.time_text(entry.deleted_at),
        expiration_date=documents.time_text(entry.expires_at),
    )


async def search(request: Request, *, tabulars: tabulars_pb2_grpc.TabularServiceAsyncStub) -> Response:
    """The best matches for a text."""
    document = await parsed(_search_decoder, request.body)
    response = await tabulars.SearchTabulars(
        tabulars_pb2.SearchTabularsRequest(
            context=request.context, warehouse_id=request.arguments[0], search=document.search
        )
    )
    return json_response(documents.SearchTabularResponse([_match(each) for each in response.matches]))


def _match(match: tabulars_pb2.TabularMatch) -> documents.SearchTabular:
    return documents.SearchTabular(
        namespace_name=list(match.ident.namespace.parts),
        tabular_name=match.ident.name,
        tabular_id=documents.TabularIdent(TYPES[match.tabular.kind], match.tabular.tabular_id),
        distance=match.distance if match.HasField("distance") else None,
    )


async def undrop(request: Request, *, tabulars: tabulars_pb2_grpc.TabularServiceAsyncStub) -> Response:
    """Restore what was dropped."""
    document = await parsed(_undrop_decoder, request.body)
    await tabulars.UndropTabulars(
        tabulars_pb2.UndropTabularsRequest(
            context=request.context,
            warehouse_id=request.arguments[0],
            tabulars=[tabulars_pb2.TabularRef(kind=KINDS[each.type], tabular_id=each.id) for each in document.targets],
        )
    )
    return NO_CONTENT


def operations(tabulars: tabulars_pb2_grpc.TabularServiceAsyncStub) -> Sequence[Operation]:
    """Every operation on tabulars of all kinds that is served."""
    return (
        Operation(
            id="list_deleted_tabulars",
            method="GET",
            path=f"{_WAREHOUSE}/deleted-tabulars",
            summary="What was dropped and can be restored, as far as the caller may see it, in the order of dropping.",
            handler=partial(list_deleted, tabulars=tabulars),
            query=(NAMESPACE, *paging.PARAMETERS),
            answers={
                200: Answer("A page.", "ListDeletedTabularsResponse", documents.ListDeletedTabularsResponse),
            },
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="search_tabular",
            method="POST",
            path=f"{_WAREHOUSE}/search-tabular",
            summary="The best matches for a name, in spite of typos, or for an id, among what the caller may see.",
            handler=partial(search, tabulars=tabulars),
            body=Body("SearchTabularRequest", documents.SearchTabularRequest),
            answers={200: Answer("Matches.", "SearchTabularResponse", documents.SearchTabularResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="undrop_tabulars",
            method="POST",
            path=f"{_WAREHOUSE}/deleted-tabulars/undrop",
            summary="Restore what was dropped, all or nothing.",
            handler=partial(undrop, tabulars=tabulars),
            headers=(IDEMPOTENCY_KEY,),
            body=Body("UndropTabularsRequest", documents.UndropTabularsRequest),
            answers={204: Answer("It is back.")},
            renderings=RENDERED,
            tag=_TAG,
        ),
    )
