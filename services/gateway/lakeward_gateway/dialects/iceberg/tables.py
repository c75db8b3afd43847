"""Tables: loading, making and changing them, one message a request."""

from __future__ import annotations

from typing import Final

import msgspec

from lakeward_gateway.dialects.iceberg import documents
from lakeward_gateway.dialects.iceberg.etags import tags_of
from lakeward_gateway.dialects.iceberg.idents import (
    namespace_of,
    parts_of,
    references_of,
    spaced,
    tabular_of,
)
from lakeward_gateway.dialects.iceberg.replies import credentials_document, loaded_response, not_modified
from lakeward_gateway.dialects.iceberg.tabulars import (
    REFERENCED_BY,
    drop_request,
    list_request,
    listed,
    named,
    rename_request,
)
from lakeward_gateway.documents import parsed
from lakeward_gateway.http import NO_CONTENT, Request, Response, json_response
from lakeward_gateway.peers import LoadTable
from lakeward_gateway.query import Text
from lakeward_protocol.catalog.v1 import tables_pb2, tables_pb2_grpc
from lakeward_servicekit.errors import Reason, Refusal

SNAPSHOTS: Final = Text("snapshots", "`all`, or `refs` for those that a branch or tag points to; unset: all.")

_SHOWN: Final = {
    None: tables_pb2.SNAPSHOTS_UNSPECIFIED,
    "all": tables_pb2.SNAPSHOTS_ALL,
    "refs": tables_pb2.SNAPSHOTS_REFS,
}
_register_decoder: Final = msgspec.json.Decoder(documents.RegisterTableRequest)


async def load_table(request: Request, *, load: LoadTable) -> Response:
    """A table, or that nothing changed."""
    warehouse, namespace, name = request.arguments
    # field by field: the constructor with nested messages costs three times as much, and this is the hottest call there is
    message = tables_pb2.LoadTableRequest(warehouse_id=warehouse, accept_deflate=True)
    message.context.CopyFrom(request.context)
    table = message.table
    table.name = spaced(name)
    table.namespace.parts.extend(parts_of(namespace))
    query = request.query
    if query:
        message.snapshots = _snapshots(SNAPSHOTS.read(query))
        message.referenced_by.extend(references_of(REFERENCED_BY.read(query)))
    presented = request.headers.get(b"if-none-match")
    if presented:
        message.if_none_match.extend(tags_of(presented))
    response = await load(message)
    if response.HasField("table"):
        return await loaded_response(response.table, request)
    return not_modified(response.not_modified)


def _snapshots(value: str | None) -> tables_pb2.Snapshots.ValueType:
    try:
        return _SHOWN[value]
    except KeyError:
        shown = str(value)[:200]
        raise Refusal(
            Reason.REASON_INVALID_SNAPSHOTS, f"snapshots is {shown!r}; it is `all` or `refs`", value=shown
        ) from None


async def table_exists(request: Request, *, tables: tables_pb2_grpc.TableServiceAsyncStub) -> Response:
    """Whether a table is there."""
    warehouse, namespace, name = request.arguments
    await tables.TableExists(
        tables_pb2.TableExistsRequest(
            context=request.context, warehouse_id=warehouse, table=tabular_of(namespace, name)
        )
    )
    return NO_CONTENT


async def list_tables(request: Request, *, tables: tables_pb2_grpc.TableServiceAsyncStub) -> Response:
    """The tables of a namespace."""
    asked = list_request(request, tables_pb2.ListTablesRequest())
    return listed(await tables.ListTables(asked), asked)


async def create_table(request: Request, *, tables: tables_pb2_grpc.TableServiceAsyncStub) -> Response:
    """Make or stage a table."""
    warehouse, namespace = request.arguments
    response = await request.carried(
        tables.CreateTable,
        tables_pb2.CreateTableRequest(
            context=request.context,
            warehouse_id=warehouse,
            namespace=namespace_of(namespace),
            body=request.take_body(),
            accept_deflate=True,
        ),
    )
    return await loaded_response(response.table, request)


async def register_table(request: Request, *, tables: tables_pb2_grpc.TableServiceAsyncStub) -> Response:
    """Take a metadata file as a table."""
    warehouse, namespace = request.arguments
    document = await parsed(_register_decoder, request.body)
    response = await tables.RegisterTable(
        tables_pb2.RegisterTableRequest(
            context=request.context,
            warehouse_id=warehouse,
            namespace=namespace_of(namespace),
            name=document.name,
            metadata_location=document.metadata_location,
            overwrite=document.overwrite or False,
            accept_deflate=True,
        )
    )
    return await loaded_response(response.table, request)


async def update_table(request: Request, *, tables: tables_pb2_grpc.TableServiceAsyncStub) -> Response:
    """Change a table if its requirements hold."""
    warehouse, namespace, name = request.arguments
    response = await request.carried(
        tables.CommitTable,
        tables_pb2.CommitTableRequest(
            context=request.context,
            warehouse_id=warehouse,
            table=tabular_of(namespace, name),
            body=request.take_body(),
            accept_deflate=True,
        ),
    )
    return await loaded_response(response.table, request)


async def commit_transaction(request: Request, *, tables: tables_pb2_grpc.TableServiceAsyncStub) -> Response:
    """Change several tables, all or none."""
    await request.carried(
        tables.CommitTransaction,
        tables_pb2.CommitTransactionRequest(
            context=request.context, warehouse_id=request.arguments[0], body=request.take_body()
        ),
    )
    return NO_CONTENT


async def drop_table(request: Request, *, tables: tables_pb2_grpc.TableServiceAsyncStub) -> Response:
    """Take a table out of its namespace."""
    await tables.DropTable(drop_request(request, tables_pb2.DropTableRequest(table=named(request))))
    return NO_CONTENT


async def rename_table(request: Request, *, tables: tables_pb2_grpc.TableServiceAsyncStub) -> Response:
    """Give a table another name."""
    await tables.RenameTable(await rename_request(request, tables_pb2.RenameTableRequest()))
    return NO_CONTENT


async def report_metrics(request: Request, *, tables: tables_pb2_grpc.TableServiceAsyncStub) -> Response:
    """Take an engine's report."""
    warehouse, namespace, name = request.arguments
    await request.carried(
        tables.ReportMetrics,
        tables_pb2.ReportMetricsRequest(
            context=request.context, warehouse_id=warehouse, table=tabular_of(namespace, name), body=request.take_body()
        ),
    )
    return NO_CONTENT


async def load_credentials(request: Request, *, tables: tables_pb2_grpc.TableServiceAsyncStub) -> Response:
    """Access to a table's files alone."""
    warehouse, namespace, name = request.arguments
    response = await tables.LoadCredentials(
        tables_pb2.LoadCredentialsRequest(
            context=request.context,
            warehouse_id=warehouse,
            table=tabular_of(namespace, name),
            referenced_by=references_of(REFERENCED_BY.read(request.query)),
        )
    )
    vended = [credentials_document(entry) for entry in response.storage_credentials if entry.config]
    return json_response({"storage-credentials": vended})
