"""Generic tables: one message a request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lakeward_gateway.dialects.generic import documents
from lakeward_gateway.dialects.iceberg.etags import tags_of
from lakeward_gateway.dialects.iceberg.idents import namespace_of, parts_of, references_of, spaced
from lakeward_gateway.dialects.iceberg.listing import page_of
from lakeward_gateway.dialects.iceberg.tabulars import REFERENCED_BY, drop_request, named, rename_request
from lakeward_gateway.http import NO_CONTENT, Header, Request, Response, json_response
from lakeward_gateway.peers import LoadGenericTable
from lakeward_gateway.query import Milliseconds
from lakeward_protocol.catalog.v1 import generic_tables_pb2 as pb
from lakeward_protocol.catalog.v1 import generic_tables_pb2_grpc

MIN_VALIDITY: Final = Milliseconds(
    "min-validity-ms",
    "How long credentials should last at least; those that would not are made anew, and none lasts longer than new ones do.",
)


async def list_tables(request: Request, *, tables: generic_tables_pb2_grpc.GenericTableServiceAsyncStub) -> Response:
    """The generic tables of a namespace."""
    warehouse, namespace = request.arguments
    asked = pb.ListGenericTablesRequest(
        context=request.context, warehouse_id=warehouse, namespace=namespace_of(namespace)
    )
    page = page_of(request.query)
    if page is not None:
        asked.page.CopyFrom(page)
    found = await tables.ListGenericTables(asked)
    path = list(found.namespace.parts)
    return json_response(
        documents.ListGenericTablesResponse(
            [
                documents.GenericTableIdentifier(path, name, tabular_id, table_format)
                for name, tabular_id, table_format in zip(found.names, found.ids, found.formats, strict=True)
            ],
            found.next_page_token or None,
        )
    )


async def create_table(
    request: Request, *, tables: generic_tables_pb2_grpc.GenericTableServiceAsyncStub, register: bool = False
) -> Response:
    """Make a generic table, or take what lies at a place as one."""
    warehouse, namespace = request.arguments
    response = await request.carried(
        tables.CreateGenericTable,
        pb.CreateGenericTableRequest(
            context=request.context,
            warehouse_id=warehouse,
            namespace=namespace_of(namespace),
            body=request.take_body(),
            register=register,
        ),
    )
    return _loaded(response.table)


async def load_table(request: Request, *, load: LoadGenericTable) -> Response:
    """A generic table, and access to its files."""
    warehouse, namespace, name = request.arguments
    # field by field, as a table's load: the constructor with nested messages costs three times as much
    message = pb.LoadGenericTableRequest(warehouse_id=warehouse)
    message.context.CopyFrom(request.context)
    message.table.name = spaced(name)
    message.table.namespace.parts.extend(parts_of(namespace))
    response = await load(message)
    return _loaded(response.table)


async def table_exists(request: Request, *, tables: generic_tables_pb2_grpc.GenericTableServiceAsyncStub) -> Response:
    """Whether a generic table is there, and in which state."""
    response = await tables.GenericTableExists(
        pb.GenericTableExistsRequest(context=request.context, warehouse_id=request.arguments[0], table=named(request))
    )
    return Response(204, headers=_tagged((), response.etag))


async def load_credentials(
    request: Request, *, tables: generic_tables_pb2_grpc.GenericTableServiceAsyncStub
) -> Response:
    """Access to a generic table's files alone."""
    asked = pb.LoadGenericTableCredentialsRequest(
        context=request.context,
        warehouse_id=request.arguments[0],
        table=named(request),
        referenced_by=references_of(REFERENCED_BY.read(request.query)),
    )
    if min_validity := MIN_VALIDITY.read(request.query):
        asked.min_validity.FromTimedelta(min_validity)
    response = await tables.LoadGenericTableCredentials(asked)
    return json_response(documents.credentials_reply(response))


async def update_table(request: Request, *, tables: generic_tables_pb2_grpc.GenericTableServiceAsyncStub) -> Response:
    """Change what is recorded of a generic table."""
    presented = request.headers.get(b"if-match")
    response = await request.carried(
        tables.UpdateGenericTable,
        pb.UpdateGenericTableRequest(
            context=request.context,
            warehouse_id=request.arguments[0],
            table=named(request),
            body=request.take_body(),
            # a header that holds no tag at all is one that nothing matches
            if_match=() if presented is None else tags_of(presented) or [presented.decode("latin-1")],
        ),
    )
    return _loaded(response.table)


async def drop_table(request: Request, *, tables: generic_tables_pb2_grpc.GenericTableServiceAsyncStub) -> Response:
    """Take a generic table out of its namespace."""
    await tables.DropGenericTable(drop_request(request, pb.DropGenericTableRequest(table=named(request))))
    return NO_CONTENT


async def rename_table(request: Request, *, tables: generic_tables_pb2_grpc.GenericTableServiceAsyncStub) -> Response:
    """Give a generic table another name."""
    await tables.RenameGenericTable(await rename_request(request, pb.RenameGenericTableRequest()))
    return NO_CONTENT


def _loaded(loaded: pb.LoadedGenericTable) -> Response:
    return json_response(documents.loaded_document(loaded), headers=_tagged((), loaded.etag))


def _tagged(headers: Sequence[Header], etag: str) -> Sequence[Header]:
    return (*headers, (b"etag", etag.encode("latin-1")))
