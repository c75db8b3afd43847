"""What tables and views are asked for alike, written once: pages of them, drops and renames."""

from __future__ import annotations

from typing import Final, TypeVar

import msgspec

from lakeward_gateway.dialects.iceberg import documents
from lakeward_gateway.dialects.iceberg.idents import namespace_of, tabular_from, tabular_of
from lakeward_gateway.dialects.iceberg.listing import RETURN_PROTECTION, RETURN_UUIDS, page_of, tabulars_document
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import Request, Response, json_response
from lakeward_gateway.query import Flag, Text
from lakeward_protocol.catalog.v1 import generic_tables_pb2, tables_pb2, types_pb2, views_pb2

REFERENCED_BY: Final = Text(
    "referenced-by", "The chain of views through which it is read, outermost first; heeded from trusted engines."
)
PURGE_REQUESTED: Final = Flag(
    "purgeRequested", "Whether the files are removed later; unset: true, but for a table with gc.enabled=false."
)
FORCE: Final = Flag("force", "Overrides protection and soft deletion.")

_rename_decoder: Final = msgspec.json.Decoder(documents.RenameTableRequest)

ListRequest = TypeVar("ListRequest", tables_pb2.ListTablesRequest, views_pb2.ListViewsRequest)
DropRequest = TypeVar(
    "DropRequest", tables_pb2.DropTableRequest, views_pb2.DropViewRequest, generic_tables_pb2.DropGenericTableRequest
)
RenameRequest = TypeVar(
    "RenameRequest",
    tables_pb2.RenameTableRequest,
    views_pb2.RenameViewRequest,
    generic_tables_pb2.RenameGenericTableRequest,
)


def named(request: Request) -> types_pb2.TabularIdent:
    """What the path names: /{prefix}/namespaces/{namespace}/.../{name}."""
    _, namespace, name = request.arguments
    return tabular_of(namespace, name)


def list_request(request: Request, message: ListRequest) -> ListRequest:
    """Ask for a page of what is in a namespace."""
    message.warehouse_id, namespace = request.arguments
    message.context.CopyFrom(request.context)
    message.namespace.CopyFrom(namespace_of(namespace))
    page = page_of(request.query)
    if page is not None:
        message.page.CopyFrom(page)
    message.with_ids = RETURN_UUIDS.read(request.query) or False
    message.with_protection = RETURN_PROTECTION.read(request.query) or False
    message.with_names = True
    return message


def listed(
    response: tables_pb2.ListTablesResponse | views_pb2.ListViewsResponse,
    asked: tables_pb2.ListTablesRequest | views_pb2.ListViewsRequest,
) -> Response:
    """The page that was asked for."""
    return json_response(tabulars_document(response, with_ids=asked.with_ids, with_protection=asked.with_protection))


def drop_request(request: Request, message: DropRequest) -> DropRequest:
    """Ask to take something out of its namespace; what, `message` says already."""
    message.warehouse_id = request.arguments[0]
    message.context.CopyFrom(request.context)
    purge = PURGE_REQUESTED.read(request.query)
    if purge is not None:
        message.purge = purge
    message.force = FORCE.read(request.query) or False
    return message


async def rename_request(request: Request, message: RenameRequest) -> RenameRequest:
    """Ask for another name."""
    document = await parsed(_rename_decoder, request.body)
    message.warehouse_id = request.arguments[0]
    message.context.CopyFrom(request.context)
    message.source.CopyFrom(tabular_from(document.source))
    message.destination.CopyFrom(tabular_from(document.destination))
    return message
