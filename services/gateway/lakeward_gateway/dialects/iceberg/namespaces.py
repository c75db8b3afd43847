"""Namespaces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import msgspec

from lakeward_gateway.dialects.iceberg import documents, links, paths
from lakeward_gateway.dialects.iceberg.errors import NAMESPACE_CREATED, RENDERED
from lakeward_gateway.dialects.iceberg.idents import namespace_of
from lakeward_gateway.dialects.iceberg.listing import PARAMETERS, RETURN_PROTECTION, RETURN_UUIDS, page_of
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import NO_CONTENT, Request, Response, json_response
from lakeward_gateway.operation import IDEMPOTENCY_KEY, Answer, Body, Operation
from lakeward_gateway.query import Flag, Text
from lakeward_protocol.catalog.v1 import namespaces_pb2, namespaces_pb2_grpc, types_pb2

_PARENT: Final = Text(
    "parent", "The namespace whose children are listed, its parts joined by 0x1F; empty: the top level."
)
_RETURN_UUID: Final = Flag("returnUuid", "Whether the namespace's id comes along.")
_RECURSIVE: Final = Flag("recursive", "With everything inside.")
_FORCE: Final = Flag("force", "Overrides protection; with `recursive` also soft deletion.")
_PURGE: Final = Flag("purge", "With `recursive`: the files of what was inside are removed later.")

_create_decoder: Final = msgspec.json.Decoder(documents.CreateNamespaceRequest)
_update_decoder: Final = msgspec.json.Decoder(documents.UpdateNamespacePropertiesRequest)


async def list_namespaces(request: Request, *, namespaces: namespaces_pb2_grpc.NamespaceServiceAsyncStub) -> Response:
    """The direct children of a namespace, or the top level."""
    query = request.query
    parent = _PARENT.read(query)
    with_ids = RETURN_UUIDS.read(query) or False
    with_protection = RETURN_PROTECTION.read(query) or False
    response = await namespaces.ListNamespaces(
        namespaces_pb2.ListNamespacesRequest(
            context=request.context,
            warehouse_id=request.arguments[0],
            parent=namespace_of(parent) if parent else None,
            page=page_of(query),
            with_ids=with_ids,
            with_protection=with_protection,
        )
    )
    return json_response(
        documents.ListNamespacesResponse(
            namespaces=[list(ident.parts) for ident in response.namespaces],
            namespace_uuids=list(response.namespace_ids) if with_ids else None,
            protection_status=list(response.protection) if with_protection else None,
            next_page_token=response.next_page_token or None,
        )
    )


async def create_namespace(request: Request, *, namespaces: namespaces_pb2_grpc.NamespaceServiceAsyncStub) -> Response:
    """Make a namespace."""
    document = await parsed(_create_decoder, request.body)
    response = await namespaces.CreateNamespace(
        namespaces_pb2.CreateNamespaceRequest(
            context=request.context,
            warehouse_id=request.arguments[0],
            ident=types_pb2.NamespaceIdent(parts=document.namespace),
            properties=document.properties,
        )
    )
    made = response.namespace
    return json_response(
        documents.CreateNamespaceResponse(namespace=list(made.ident.parts), properties=dict(made.properties))
    )


async def load_namespace(request: Request, *, namespaces: namespaces_pb2_grpc.NamespaceServiceAsyncStub) -> Response:
    """One namespace."""
    with_id = _RETURN_UUID.read(request.query)
    response = await namespaces.GetNamespace(_get(request))
    found = response.namespace
    return json_response(
        documents.GetNamespaceResponse(
            namespace=list(found.ident.parts),
            properties=dict(found.properties),
            namespace_uuid=found.namespace_id if with_id else None,
        )
    )


async def namespace_exists(request: Request, *, namespaces: namespaces_pb2_grpc.NamespaceServiceAsyncStub) -> Response:
    """Whether a namespace is there."""
    await namespaces.GetNamespace(_get(request))
    return NO_CONTENT


def _get(request: Request) -> namespaces_pb2.GetNamespaceRequest:
    warehouse, namespace = request.arguments
    return namespaces_pb2.GetNamespaceRequest(
        context=request.context, warehouse_id=warehouse, ident=namespace_of(namespace)
    )


async def update_properties(request: Request, *, namespaces: namespaces_pb2_grpc.NamespaceServiceAsyncStub) -> Response:
    """Set and remove properties."""
    warehouse, namespace = request.arguments
    document = await parsed(_update_decoder, request.body)
    response = await namespaces.UpdateNamespaceProperties(
        namespaces_pb2.UpdateNamespacePropertiesRequest(
            context=request.context,
            warehouse_id=warehouse,
            ident=namespace_of(namespace),
            updates=document.updates,
            removals=document.removals,
        )
    )
    return json_response(
        documents.UpdateNamespacePropertiesResponse(
            updated=list(response.updated), removed=list(response.removed), missing=list(response.missing) or None
        )
    )


async def drop_namespace(request: Request, *, namespaces: namespaces_pb2_grpc.NamespaceServiceAsyncStub) -> Response:
    """Drop a namespace."""
    warehouse, namespace = request.arguments
    query = request.query
    await namespaces.DropNamespace(
        namespaces_pb2.DropNamespaceRequest(
            context=request.context,
            warehouse_id=warehouse,
            ident=namespace_of(namespace),
            recursive=_RECURSIVE.read(query) or False,
            force=_FORCE.read(query) or False,
            purge=_PURGE.read(query) or False,
        )
    )
    return NO_CONTENT


def operations(namespaces: namespaces_pb2_grpc.NamespaceServiceAsyncStub) -> Sequence[Operation]:
    """Every operation on namespaces."""
    tag = "Namespaces"
    return (
        Operation(
            id="listNamespaces",
            method="GET",
            path=paths.NAMESPACES,
            summary="The namespaces directly below a parent, or at the top level.",
            handler=partial(list_namespaces, namespaces=namespaces),
            query=(*PARAMETERS, _PARENT),
            answers={200: Answer("Namespaces.", "ListNamespacesResponse", documents.ListNamespacesResponse)},
            renderings=RENDERED,
            tag=tag,
        ),
        Operation(
            id="createNamespace",
            method="POST",
            path=paths.NAMESPACES,
            summary="Make a namespace.",
            handler=partial(create_namespace, namespaces=namespaces),
            headers=(IDEMPOTENCY_KEY,),
            body=Body("CreateNamespaceRequest", documents.CreateNamespaceRequest),
            answers={
                200: Answer(
                    "The namespace.",
                    "CreateNamespaceResponse",
                    documents.CreateNamespaceResponse,
                    links=links.of_namespace(),
                )
            },
            renderings=NAMESPACE_CREATED,
            tag=tag,
        ),
        Operation(
            id="loadNamespaceMetadata",
            method="GET",
            path=paths.NAMESPACE,
            summary="A namespace with its properties.",
            handler=partial(load_namespace, namespaces=namespaces),
            query=(_RETURN_UUID,),
            answers={200: Answer("The namespace.", "GetNamespaceResponse", documents.GetNamespaceResponse)},
            renderings=RENDERED,
            tag=tag,
        ),
        Operation(
            id="namespaceExists",
            method="HEAD",
            path=paths.NAMESPACE,
            summary="Whether a namespace is there.",
            handler=partial(namespace_exists, namespaces=namespaces),
            answers={204: Answer("It is there.")},
            renderings=RENDERED,
            tag=tag,
        ),
        Operation(
            id="dropNamespace",
            method="DELETE",
            path=paths.NAMESPACE,
            summary="Drop a namespace.",
            handler=partial(drop_namespace, namespaces=namespaces),
            query=(_RECURSIVE, _FORCE, _PURGE),
            headers=(IDEMPOTENCY_KEY,),
            answers={204: Answer("It is gone.")},
            renderings=RENDERED,
            tag=tag,
        ),
        Operation(
            id="updateProperties",
            method="POST",
            path=f"{paths.NAMESPACE}/properties",
            summary="Set and remove properties of a namespace.",
            handler=partial(update_properties, namespaces=namespaces),
            headers=(IDEMPOTENCY_KEY,),
            body=Body("UpdateNamespacePropertiesRequest", documents.UpdateNamespacePropertiesRequest),
            answers={
                200: Answer(
                    "What changed.",
                    "UpdateNamespacePropertiesResponse",
                    documents.UpdateNamespacePropertiesResponse,
                )
            },
            renderings=RENDERED,
            tag=tag,
        ),
    )
