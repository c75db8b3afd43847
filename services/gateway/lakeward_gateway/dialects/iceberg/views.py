"""Views."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import Final

import msgspec

from lakeward_gateway.dialects.iceberg import documents, links, paths, schemas
from lakeward_gateway.dialects.iceberg.errors import PROBED, RENDERED, VIEW_COMMITTED, VIEW_CREATED
from lakeward_gateway.dialects.iceberg.idents import namespace_of, references_of, tabular_from, tabular_of
from lakeward_gateway.dialects.iceberg.listing import (
    PARAMETERS,
    RETURN_PROTECTION,
    RETURN_UUIDS,
    page_of,
    tabulars_document,
)
from lakeward_gateway.dialects.iceberg.replies import loaded_response
from lakeward_gateway.dialects.iceberg.tables import FORCE, PURGE_REQUESTED, REFERENCED_BY
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import NO_CONTENT, Request, Response, json_response
from lakeward_gateway.operation import IDEMPOTENCY_KEY, Answer, Body, Operation
from lakeward_protocol.catalog.v1 import views_pb2, views_pb2_grpc

_TAG: Final = "Views"
_LOADED: Final = Answer("The view.", "LoadViewResult", schemas.LOADED_VIEW)
_rename_decoder: Final = msgspec.json.Decoder(documents.RenameTableRequest)


async def list_views(request: Request, *, views: views_pb2_grpc.ViewServiceAsyncStub) -> Response:
    """The views of a namespace."""
    warehouse, namespace = request.arguments
    query = request.query
    with_ids = RETURN_UUIDS.read(query) or False
    with_protection = RETURN_PROTECTION.read(query) or False
    response = await views.ListViews(
        views_pb2.ListViewsRequest(
            context=request.context,
            warehouse_id=warehouse,
            namespace=namespace_of(namespace),
            page=page_of(query),
            with_ids=with_ids,
            with_protection=with_protection,
            with_names=True,
        )
    )
    return json_response(tabulars_document(response, with_ids=with_ids, with_protection=with_protection))


async def create_view(request: Request, *, views: views_pb2_grpc.ViewServiceAsyncStub) -> Response:
    """Make a view."""
    warehouse, namespace = request.arguments
    response = await views.CreateView(
        views_pb2.CreateViewRequest(
            context=request.context, warehouse_id=warehouse, namespace=namespace_of(namespace), body=request.take_body()
        )
    )
    return await loaded_response(response.view, request, credentials=False)


async def load_view(request: Request, *, views: views_pb2_grpc.ViewServiceAsyncStub) -> Response:
    """A view."""
    warehouse, namespace, name = request.arguments
    response = await views.LoadView(
        views_pb2.LoadViewRequest(
            context=request.context,
            warehouse_id=warehouse,
            view=tabular_of(namespace, name),
            referenced_by=references_of(REFERENCED_BY.read(request.query)),
        )
    )
    return await loaded_response(response.view, request, credentials=False)


async def view_exists(request: Request, *, views: views_pb2_grpc.ViewServiceAsyncStub) -> Response:
    """Whether a view is there."""
    warehouse, namespace, name = request.arguments
    await views.ViewExists(
        views_pb2.ViewExistsRequest(context=request.context, warehouse_id=warehouse, view=tabular_of(namespace, name))
    )
    return NO_CONTENT


async def replace_view(request: Request, *, views: views_pb2_grpc.ViewServiceAsyncStub) -> Response:
    """Change a view if its requirements hold."""
    warehouse, namespace, name = request.arguments
    response = await views.CommitView(
        views_pb2.CommitViewRequest(
            context=request.context, warehouse_id=warehouse, view=tabular_of(namespace, name), body=request.take_body()
        )
    )
    return await loaded_response(response.view, request, credentials=False)


async def drop_view(request: Request, *, views: views_pb2_grpc.ViewServiceAsyncStub) -> Response:
    """Take a view out of its namespace."""
    warehouse, namespace, name = request.arguments
    query = request.query
    await views.DropView(
        views_pb2.DropViewRequest(
            context=request.context,
            warehouse_id=warehouse,
            view=tabular_of(namespace, name),
            purge=PURGE_REQUESTED.read(query),
            force=FORCE.read(query) or False,
        )
    )
    return NO_CONTENT


async def rename_view(request: Request, *, views: views_pb2_grpc.ViewServiceAsyncStub) -> Response:
    """Give a view another name."""
    document = await parsed(_rename_decoder, request.body)
    await views.RenameView(
        views_pb2.RenameViewRequest(
            context=request.context,
            warehouse_id=request.arguments[0],
            source=tabular_from(document.source),
            destination=tabular_from(document.destination),
        )
    )
    return NO_CONTENT


def operations(views: views_pb2_grpc.ViewServiceAsyncStub) -> Sequence[Operation]:
    """Every operation on views."""
    return (
        Operation(
            id="listViews",
            method="GET",
            path=paths.VIEWS,
            summary="The views of a namespace.",
            handler=partial(list_views, views=views),
            query=PARAMETERS,
            answers={200: Answer("Views.", "ListTablesResponse", documents.ListTablesResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="createView",
            method="POST",
            path=paths.VIEWS,
            summary="Make a view.",
            handler=partial(create_view, views=views),
            headers=(IDEMPOTENCY_KEY,),
            body=Body("CreateViewRequest", schemas.CREATE_VIEW),
            answers={200: dataclasses.replace(_LOADED, links=links.of_view())},
            renderings=VIEW_CREATED,
            tag=_TAG,
        ),
        Operation(
            id="loadView",
            method="GET",
            path=paths.VIEW,
            summary="A view's metadata.",
            handler=partial(load_view, views=views),
            query=(REFERENCED_BY,),
            answers={200: _LOADED},
            renderings=PROBED,
            tag=_TAG,
        ),
        Operation(
            id="replaceView",
            method="POST",
            path=paths.VIEW,
            summary="Change a view if its requirements hold.",
            handler=partial(replace_view, views=views),
            headers=(IDEMPOTENCY_KEY,),
            body=Body("CommitViewRequest", schemas.COMMIT_VIEW),
            answers={200: _LOADED},
            renderings=VIEW_COMMITTED,
            tag=_TAG,
        ),
        Operation(
            id="dropView",
            method="DELETE",
            path=paths.VIEW,
            summary="Take a view out of its namespace.",
            handler=partial(drop_view, views=views),
            query=(PURGE_REQUESTED, FORCE),
            headers=(IDEMPOTENCY_KEY,),
            answers={204: Answer("It is gone.")},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="viewExists",
            method="HEAD",
            path=paths.VIEW,
            summary="Whether a view is there.",
            handler=partial(view_exists, views=views),
            answers={204: Answer("It is there.")},
            renderings=PROBED,
            tag=_TAG,
        ),
        Operation(
            id="renameView",
            method="POST",
            path="/catalog/v1/{prefix}/views/rename",
            summary="Give a view another name, perhaps in another namespace.",
            handler=partial(rename_view, views=views),
            headers=(IDEMPOTENCY_KEY,),
            body=Body("RenameTableRequest", documents.RenameTableRequest),
            answers={204: Answer("It has its new name.")},
            renderings=RENDERED,
            tag=_TAG,
        ),
    )
