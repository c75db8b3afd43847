"""Methods on tables, and on what is signed for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Final

from lakeward_protocol.catalog.v1 import (
    signing_pb2,
    tables_pb2,
)
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.errors import Reason
from tests.support.catalog.expectations.case import NAMESPACE, TABLE, WAREHOUSE, Case
from tests.support.catalog.expectations.grounds import SETS_PROPERTIES, archive, first_item, with_generic_table
from tests.support.catalog.house import (
    SCHEMA,
    House,
    commit_body,
    ident,
    table_body,
    tabular,
)


async def _staged_file(house: House) -> None:
    """A metadata file that nothing points to."""
    orders = house.tabular("orders")
    assert orders.metadata_location is not None
    document = json.loads(await house.parts.documents.plain(orders.warehouse_id, orders.metadata_id, references=False))
    document |= {"table-uuid": str(house.ids.uuid4()), "location": "s3://lake/demo/elsewhere"}
    house.files.stored["s3://lake/demo/elsewhere/metadata/v1.metadata.json"] = json.dumps(document).encode()


def _load(house: House) -> tables_pb2.LoadTableRequest:
    return tables_pb2.LoadTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "orders"))


def _sign(house: House, method: str, *, name: str = "orders") -> signing_pb2.SignS3RequestRequest:
    return signing_pb2.SignS3RequestRequest(
        warehouse_id=house.warehouse_id,
        tabular_id=str(house.tabular(name).tabular_id),
        method=method,
        uri="https://s3/lake/demo/file",
        region="eu",
    )


def _register(house: House, name: str, *, overwrite: bool) -> tables_pb2.RegisterTableRequest:
    return tables_pb2.RegisterTableRequest(
        warehouse_id=house.warehouse_id,
        namespace=ident("sales"),
        name=name,
        metadata_location="s3://lake/demo/elsewhere/metadata/v1.metadata.json",
        overwrite=overwrite,
    )


def _transaction(house: House) -> tables_pb2.CommitTransactionRequest:
    update = {"action": "set-properties", "updates": {"a": "b"}}
    change = {
        "identifier": {"namespace": ["sales"], "name": "orders"},
        "requirements": [],
        "updates": [update],
    }
    body = json.dumps({"table-changes": [change]}).encode()
    return tables_pb2.CommitTransactionRequest(warehouse_id=house.warehouse_id, body=body)


_CREATING: Final = commit_body(
    {"action": "add-schema", "schema": SCHEMA},
    {"action": "set-current-schema", "schema-id": -1},
    requirements=[{"type": "assert-create"}],
)

TABLE_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "ListTables": (
        Case(
            lambda house: tables_pb2.ListTablesRequest(warehouse_id=house.warehouse_id, namespace=ident("sales")),
            NAMESPACE,
        ),
    ),
    "CreateTable": (
        Case(
            lambda house: tables_pb2.CreateTableRequest(
                warehouse_id=house.warehouse_id, namespace=ident("sales"), body=table_body("new")
            ),
            NAMESPACE,
        ),
    ),
    "RegisterTable": (
        Case(
            lambda house: _register(house, "new", overwrite=False),
            NAMESPACE,
            needs=frozenset({Action.NAMESPACE_CREATE_TABLE}),
            prepare=_staged_file,
        ),
        Case(
            lambda house: _register(house, "orders", overwrite=True),
            {**NAMESPACE, ObjectKind.TABLE: Reason.REASON_TABULAR_EXISTS},
            only_hidden=frozenset({ObjectKind.TABLE}),
            prepare=_staged_file,
        ),
    ),
    "LoadTable": (Case(_load, TABLE, shapes=frozenset({Action.TABLE_READ_DATA, Action.TABLE_WRITE_DATA})),),
    "BatchLoadTables": (
        Case(
            lambda house: tables_pb2.BatchLoadTablesRequest(items=[_load(house)]),
            TABLE,
            shapes=frozenset({Action.TABLE_READ_DATA, Action.TABLE_WRITE_DATA}),
            unwrap=first_item,
        ),
    ),
    "TableExists": (
        Case(
            lambda house: tables_pb2.TableExistsRequest(
                warehouse_id=house.warehouse_id, table=tabular("sales", "orders")
            ),
            TABLE,
        ),
    ),
    "LoadCredentials": (
        Case(
            lambda house: tables_pb2.LoadCredentialsRequest(
                warehouse_id=house.warehouse_id, table=tabular("sales", "orders")
            ),
            TABLE,
            shapes=frozenset({Action.TABLE_WRITE_DATA}),
        ),
    ),
    "CommitTable": (
        Case(
            lambda house: tables_pb2.CommitTableRequest(
                warehouse_id=house.warehouse_id, table=tabular("sales", "orders"), body=SETS_PROPERTIES
            ),
            TABLE,
            needs=frozenset({Action.TABLE_COMMIT}),
        ),
        Case(
            lambda house: tables_pb2.CommitTableRequest(
                warehouse_id=house.warehouse_id, table=tabular("sales", "unstaged"), body=_CREATING
            ),
            NAMESPACE,
            needs=frozenset({Action.NAMESPACE_CREATE_TABLE}),
        ),
    ),
    "CommitTransaction": (Case(_transaction, TABLE),),
    "GetTableProtection": (
        Case(
            lambda house: tables_pb2.GetTableProtectionRequest(
                warehouse_id=house.warehouse_id, tabular_id=str(house.tabular("orders").tabular_id)
            ),
            TABLE,
        ),
    ),
    "SetTableProtection": (
        Case(
            lambda house: tables_pb2.SetTableProtectionRequest(
                warehouse_id=house.warehouse_id, tabular_id=str(house.tabular("orders").tabular_id), protected=True
            ),
            TABLE,
        ),
    ),
    "DropTable": (
        Case(
            lambda house: tables_pb2.DropTableRequest(
                warehouse_id=house.warehouse_id, table=tabular("sales", "orders")
            ),
            TABLE,
        ),
    ),
    "RenameTable": (
        Case(
            lambda house: tables_pb2.RenameTableRequest(
                warehouse_id=house.warehouse_id,
                source=tabular("sales", "orders"),
                destination=tabular("archive", "orders"),
            ),
            {**NAMESPACE, **TABLE},
            target=("archive",),
            prepare=archive,
        ),
    ),
    "ReportMetrics": (
        Case(
            lambda house: tables_pb2.ReportMetricsRequest(
                warehouse_id=house.warehouse_id,
                table=tabular("sales", "orders"),
                body=b'{"report-type": "scan-report"}',
            ),
            TABLE,
        ),
    ),
}

SIGNING_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "SignS3Request": (
        Case(lambda house: _sign(house, "GET"), TABLE, needs=frozenset({Action.TABLE_READ_DATA})),
        Case(lambda house: _sign(house, "PUT"), TABLE, needs=frozenset({Action.TABLE_WRITE_DATA})),
        *(
            Case(
                partial(_sign, method=method, name="vectors"),
                {**WAREHOUSE, ObjectKind.GENERIC_TABLE: Reason.REASON_NO_SUCH_TABLE},
                needs=frozenset({action}),
                prepare=with_generic_table,
            )
            for method, action in (("GET", Action.GENERIC_TABLE_READ_DATA), ("PUT", Action.GENERIC_TABLE_WRITE_DATA))
        ),
    ),
}
