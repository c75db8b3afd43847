"""The table operations: paths, parameters, bodies and replies."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import Final

from lakeward_gateway.dialects.iceberg import documents, links, paths, schemas, tables
from lakeward_gateway.dialects.iceberg.errors import COMMITTED, PROBED, RENDERED
from lakeward_gateway.dialects.iceberg.listing import PARAMETERS
from lakeward_gateway.dialects.iceberg.tabulars import FORCE, PURGE_REQUESTED, REFERENCED_BY
from lakeward_gateway.operation import IDEMPOTENCY_KEY, Answer, Body, HeaderParameter, Operation
from lakeward_gateway.peers import LoadTable
from lakeward_gateway.query import Text
from lakeward_gateway.sharing import Shared
from lakeward_protocol.catalog.v1 import tables_pb2_grpc

DELEGATION: Final = HeaderParameter(
    "X-Iceberg-Access-Delegation",
    "How the client may reach the files: `vended-credentials`, `remote-signing`, `client-managed`, or several of them; "
    "unset: the server chooses.",
    {"type": "array", "items": {"type": "string", "enum": ["vended-credentials", "remote-signing", "client-managed"]}},
)
_IF_NONE_MATCH: Final = HeaderParameter("If-None-Match", "ETags of what the client has, or `*`.")
_ETAG: Final = {"ETag": "Names this representation of the table; for If-None-Match."}
_PLAN_ID: Final = Text("planId", "Ignored: no scan is planned here.")
_TAG: Final = "Tables"

_LOADED: Final = Answer("The table.", "LoadTableResult", schemas.LOADED_TABLE, _ETAG)


def operations(stub: tables_pb2_grpc.TableServiceAsyncStub, *, load: LoadTable) -> Sequence[Operation]:
    """Every operation on tables.

    Args:
        stub: answers them.
        load: answers loads.
    """
    return (*_making(stub), *_existing(stub, load=load), *_reporting(stub))


def _making(stub: tables_pb2_grpc.TableServiceAsyncStub) -> Sequence[Operation]:
    return (
        Operation(
            id="listTables",
            method="GET",
            path=paths.TABLES,
            summary="The tables of a namespace.",
            handler=partial(tables.list_tables, tables=stub),
            query=PARAMETERS,
            answers={200: Answer("Tables.", "ListTablesResponse", documents.ListTablesResponse)},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="createTable",
            method="POST",
            path=paths.TABLES,
            summary="Make a table, or stage one that a commit finishes.",
            handler=partial(tables.create_table, tables=stub),
            headers=(DELEGATION, IDEMPOTENCY_KEY),
            body=Body("CreateTableRequest", schemas.CREATE_TABLE),
            answers={200: dataclasses.replace(_LOADED, links=links.of_table())},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="registerTable",
            method="POST",
            path=f"{paths.NAMESPACE}/register",
            summary="Take a metadata file that exists as a table.",
            handler=partial(tables.register_table, tables=stub),
            headers=(DELEGATION, IDEMPOTENCY_KEY),
            body=Body("RegisterTableRequest", documents.RegisterTableRequest),
            answers={200: _LOADED},
            renderings=RENDERED,
            tag=_TAG,
        ),
    )


def _existing(stub: tables_pb2_grpc.TableServiceAsyncStub, *, load: LoadTable) -> Sequence[Operation]:
    return (
        Operation(
            id="loadTable",
            method="GET",
            path=paths.TABLE,
            summary="A table's metadata, and access to its files where that is asked for and allowed.",
            handler=Shared(partial(tables.load_table, load=load)),
            query=(tables.SNAPSHOTS, REFERENCED_BY),
            headers=(DELEGATION, _IF_NONE_MATCH),
            answers={200: _LOADED, 304: Answer("What the client has still holds.", headers=_ETAG)},
            renderings=PROBED,
            tag=_TAG,
        ),
        Operation(
            id="updateTable",
            method="POST",
            path=paths.TABLE,
            summary="Change a table if its requirements hold.",
            handler=partial(tables.update_table, tables=stub),
            headers=(IDEMPOTENCY_KEY,),
            body=Body("CommitTableRequest", schemas.COMMIT_TABLE),
            answers={200: Answer("The table.", "CommitTableResponse", schemas.COMMITTED_TABLE, _ETAG)},
            renderings=COMMITTED,
            tag=_TAG,
        ),
        Operation(
            id="dropTable",
            method="DELETE",
            path=paths.TABLE,
            summary="Take a table out of its namespace; its files are removed later unless that is declined.",
            handler=partial(tables.drop_table, tables=stub),
            query=(PURGE_REQUESTED, FORCE),
            headers=(IDEMPOTENCY_KEY,),
            answers={204: Answer("It is gone.")},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="tableExists",
            method="HEAD",
            path=paths.TABLE,
            summary="Whether a table is there.",
            handler=partial(tables.table_exists, tables=stub),
            answers={204: Answer("It is there.")},
            renderings=PROBED,
            tag=_TAG,
        ),
        Operation(
            id="loadCredentials",
            method="GET",
            path=f"{paths.TABLE}/credentials",
            summary="Access to a table's files alone.",
            handler=partial(tables.load_credentials, tables=stub),
            query=(_PLAN_ID, REFERENCED_BY),
            headers=(DELEGATION,),
            answers={
                200: Answer("Credentials.", "LoadCredentialsResponse", documents.LoadCredentialsResponse),
            },
            renderings=RENDERED,
            tag=_TAG,
        ),
    )


def _reporting(stub: tables_pb2_grpc.TableServiceAsyncStub) -> Sequence[Operation]:
    return (
        Operation(
            id="renameTable",
            method="POST",
            path="/catalog/v1/{prefix}/tables/rename",
            summary="Give a table another name, perhaps in another namespace.",
            handler=partial(tables.rename_table, tables=stub),
            headers=(IDEMPOTENCY_KEY,),
            body=Body("RenameTableRequest", documents.RenameTableRequest),
            answers={204: Answer("It has its new name.")},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="reportMetrics",
            method="POST",
            path=f"{paths.TABLE}/metrics",
            summary="Report on a scan or a commit.",
            handler=partial(tables.report_metrics, tables=stub),
            body=Body("ReportMetricsRequest", schemas.REPORT_METRICS),
            answers={204: Answer("It was taken.")},
            renderings=RENDERED,
            tag=_TAG,
        ),
        Operation(
            id="commitTransaction",
            method="POST",
            path="/catalog/v1/{prefix}/transactions/commit",
            summary="Change several tables, all or none.",
            handler=partial(tables.commit_transaction, tables=stub),
            headers=(IDEMPOTENCY_KEY,),
            body=Body("CommitTransactionRequest", schemas.COMMIT_TRANSACTION),
            answers={204: Answer("Every table was changed.")},
            renderings=COMMITTED,
            tag=_TAG,
        ),
    )
