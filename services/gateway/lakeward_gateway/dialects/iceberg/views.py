"""Views."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import Final

from lakeward_gateway.dialects.iceberg import documents, links, paths, schemas
from lakeward_gateway.dialects.iceberg.errors import PROBED, RENDERED, VIEW_COMMITTED, VIEW_CREATED
from lakeward_gateway.dialects.iceberg.idents import namespace_of, references_of, tabular_of
from lakeward_gateway.dialects.iceberg.listing import PARAMETERS
from lakeward_gateway.dialects.iceberg.replies import loaded_response
from lakeward_gateway.dialects.iceberg.tabulars import (
    FORCE,
    PURGE_REQUESTED,
    REFERENCED_BY,
    drop_request,
    list_request,
    listed,
    named,
    rename_request,
)
from lakeward_gateway.http import NO_CONTENT, Request, Response
from lakeward_gateway.operation import IDEMPOTENCY_KEY, Answer, Body, Operation
from lakeward_protocol.catalog.v1 import views_pb2, views_pb2_grpc

_TAG: Final = "Views"
_LOADED: Final = Answer("The view.", "LoadViewResult", schemas.LOADED_VIEW)


async def list_views(request: Request, *, views: views_pb2_grpc.ViewServiceAsyncStub) -> Response:
    """The views of a namespace."""
    asked = list_request(request, views_pb2.ListViewsRequest())
    return listed(await views.ListViews(asked), asked)


async def create_view(request: Request, *, views: views_pb2_grpc.ViewServiceAsyncStub) -> Response:
    """Make a view."""
    warehouse, namespace = request.arguments
    response = await request.carried(
        views.CreateView,
        views_pb2.CreateViewRequest(
            context=request.context, warehouse_id=warehouse, namespace=namespace_of(namespace), body=request.take_body()
        ),
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
    response = await request.carried(
        views.CommitView,
        views_pb2.CommitViewRequest(
            context=request.context, warehouse_id=warehouse, view=tabular_of(namespace, name), body=request.take_body()
        ),
    )
    return await loaded_response(response.view, request, credentials=False)


async def drop_view(request: Request, *, views: views_pb2_grpc.ViewServiceAsyncStub) -> Response:
    """Take a view out of its namespace."""
    await views.DropView(drop_request(request, views_pb2.DropViewRequest(view=named(request))))
    return NO_CONTENT


async def rename_view(request: Request, *, views: views_pb2_grpc.ViewServiceAsyncStub) -> Response:
    """Give a view another name."""
    await views.RenameView(await rename_request(request, views_pb2.RenameViewRequest()))
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
