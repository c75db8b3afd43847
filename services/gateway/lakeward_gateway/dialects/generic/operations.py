"""Everything that the generic-table API serves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from lakeward_gateway.dialects.generic import documents, tables, versions
from lakeward_gateway.dialects.generic.errors import CREATED, RENAMED, RENDERED, UPDATED
from lakeward_gateway.dialects.iceberg import prefixless
from lakeward_gateway.dialects.iceberg.documents import RenameTableRequest
from lakeward_gateway.dialects.iceberg.listing import PAGE_SIZE, PAGE_TOKEN
from lakeward_gateway.dialects.iceberg.table_operations import DELEGATION
from lakeward_gateway.dialects.iceberg.tabulars import FORCE, REFERENCED_BY
from lakeward_gateway.operation import IDEMPOTENCY_KEY, Answer, Body, HeaderParameter, Operation
from lakeward_gateway.peers import LoadGenericTable, Stubs
from lakeward_gateway.query import Flag
from lakeward_gateway.sharing import Shared
from lakeward_protocol.catalog.v1 import generic_tables_pb2_grpc

_WAREHOUSE: Final = "/lakekeeper/v1/{prefix}"
_NAMESPACE: Final = _WAREHOUSE + "/namespaces/{namespace}"
_TABLES: Final = _NAMESPACE + "/generic-tables"
_TABLE: Final = _TABLES + "/{table}"
_TAG: Final = "generic-table"
_PURGE_REQUESTED: Final = Flag(
    "purgeRequested", "Whether the files are removed later; unset: true, unless they lay there before the table."
)
_IF_MATCH: Final = HeaderParameter(
    "If-Match", "ETags of what is recorded of the table, of which one must still hold, or `*`; unset: none has to."
)
_ETAG: Final = {"ETag": "Names the state of what is recorded of the table, whoever asks; for If-Match."}
_LOADED: Final = Answer("The table.", "LoadGenericTableResponse", documents.LOADED, _ETAG)


def generic_operations(stubs: Stubs) -> Sequence[Operation]:
    """The operations, and a refusal for each path that lacks its prefix."""
    stub = stubs.generic_tables
    served = (
        *_making(stub),
        *_existing(stub, load=stubs.load_generic_table),
        *versions.operations(_TABLE, stubs.generic_table_versions, tag=_TAG),
    )
    return (*served, *prefixless.refusals(served))


def documented(operations: Sequence[Operation]) -> Sequence[Operation]:
    """Those that clients are told of."""
    return [operation for operation in operations if operation.documented]


def _making(stub: generic_tables_pb2_grpc.GenericTableServiceAsyncStub) -> Sequence[Operation]:
    return (
        Operation(
            id="list_generic_tables",
            method="GET",
            path=_TABLES,
            summary="The generic tables of a namespace.",
            handler=partial(tables.list_tables, tables=stub),
            query=(PAGE_TOKEN, PAGE_SIZE),
            answers={200: Answer("Generic tables.", "ListGenericTablesResponse", documents.ListGenericTablesResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="create_generic_table",
            method="POST",
            path=_TABLES,
            summary="Make a generic table. Files may lie at a base-location that is given.",
            handler=partial(tables.create_table, tables=stub),
            headers=(DELEGATION, IDEMPOTENCY_KEY),
            body=Body("CreateGenericTableRequest", documents.CREATE),
            answers={200: _LOADED},
            renderings=CREATED,
            tag=_TAG,
        ),
        Operation(
            id="register_generic_table",
            method="POST",
            path=f"{_NAMESPACE}/register-generic-table",
            summary="Take the files at a base-location as a generic table. No drop removes them unless that is asked for.",
            handler=partial(tables.create_table, tables=stub, register=True),
            headers=(DELEGATION, IDEMPOTENCY_KEY),
            body=Body("CreateGenericTableRequest", documents.CREATE),
            answers={200: _LOADED},
            renderings=CREATED,
            tag=_TAG,
        ),
        Operation(
            id="rename_generic_table",
            method="POST",
            path=f"{_WAREHOUSE}/generic-tables/rename",
            summary="Give a generic table another name, perhaps in another namespace; its files stay where they are.",
            handler=partial(tables.rename_table, tables=stub),
            headers=(IDEMPOTENCY_KEY,),
            body=Body("RenameTableRequest", RenameTableRequest),
            answers={204: Answer("It has its new name.")},
            renderings=RENAMED,
            tag=_TAG,
        ),
    )


def _existing(
    stub: generic_tables_pb2_grpc.GenericTableServiceAsyncStub, *, load: LoadGenericTable
) -> Sequence[Operation]:
    return (
        Operation(
            id="load_generic_table",
            method="GET",
            path=_TABLE,
            summary="What is recorded of a generic table, and access to its files as far as that is allowed.",
            handler=Shared(partial(tables.load_table, load=load)),
            headers=(DELEGATION,),
            answers={200: _LOADED},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="generic_table_exists",
            method="HEAD",
            path=_TABLE,
            summary="Whether a generic table is there, and in which state.",
            handler=partial(tables.table_exists, tables=stub),
            answers={204: Answer("It is there.", headers=_ETAG)},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="update_generic_table",
            method="POST",
            path=_TABLE,
            summary="Change what is recorded of a generic table: its properties, doc, schema or statistics.",
            handler=partial(tables.update_table, tables=stub),
            headers=(_IF_MATCH, IDEMPOTENCY_KEY),
            body=Body("UpdateGenericTableRequest", documents.UPDATE),
            answers={200: _LOADED, 412: Answer("What is recorded is in another state by now; nothing was changed.")},
            renderings=UPDATED,
            tag=_TAG,
        ),
        Operation(
            id="drop_generic_table",
            method="DELETE",
            path=_TABLE,
            summary="Take a generic table out of its namespace; its files are removed later unless that is declined.",
            handler=partial(tables.drop_table, tables=stub),
            query=(_PURGE_REQUESTED, FORCE),
            headers=(IDEMPOTENCY_KEY,),
            answers={204: Answer("It is gone.")},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="load_generic_table_credentials",
            method="GET",
            path=f"{_TABLE}/credentials",
            summary="Access to a generic table's files alone.",
            handler=partial(tables.load_credentials, tables=stub),
            query=(REFERENCED_BY, tables.MIN_VALIDITY),
            headers=(DELEGATION,),
            answers={
                200: Answer("Credentials.", "LoadGenericTableCredentialsResponse", documents.CREDENTIALS),
            },
            renderings=RENDERED,
            tag=_TAG,
        ),
    )
