"""Methods on generic tables and their versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from lakeward_protocol.catalog.v1 import (
    generic_table_versions_pb2,
    generic_tables_pb2,
)
from lakeward_servicekit.authorization.actions import Action
from tests.support.catalog.expectations.case import GENERIC_TABLE, NAMESPACE, Case
from tests.support.catalog.expectations.grounds import first_item, with_generic_table
from tests.support.catalog.house import (
    House,
    generic_body,
    ident,
    tabular,
)

_MAY_READ: Final = frozenset({Action.GENERIC_TABLE_READ_DATA, Action.GENERIC_TABLE_WRITE_DATA})

_NAMED: Final[Callable[[House], dict[str, Any]]] = lambda house: {  # noqa: E731
    "warehouse_id": house.warehouse_id,
    "table": tabular("sales", "vectors"),
}

GENERIC_TABLE_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "ListGenericTables": (
        Case(
            lambda house: generic_tables_pb2.ListGenericTablesRequest(
                warehouse_id=house.warehouse_id, namespace=ident("sales")
            ),
            NAMESPACE,
        ),
    ),
    "CreateGenericTable": (
        Case(
            lambda house: generic_tables_pb2.CreateGenericTableRequest(
                warehouse_id=house.warehouse_id, namespace=ident("sales"), body=generic_body("new")
            ),
            NAMESPACE,
        ),
    ),
    "LoadGenericTable": (
        Case(
            lambda house: generic_tables_pb2.LoadGenericTableRequest(**_NAMED(house)),
            GENERIC_TABLE,
            shapes=_MAY_READ,
            prepare=with_generic_table,
        ),
    ),
    "BatchLoadGenericTables": (
        Case(
            lambda house: generic_tables_pb2.BatchLoadGenericTablesRequest(
                items=[generic_tables_pb2.LoadGenericTableRequest(**_NAMED(house))]
            ),
            GENERIC_TABLE,
            shapes=_MAY_READ,
            prepare=with_generic_table,
            unwrap=first_item,
        ),
    ),
    "GenericTableExists": (
        Case(
            lambda house: generic_tables_pb2.GenericTableExistsRequest(**_NAMED(house)),
            GENERIC_TABLE,
            prepare=with_generic_table,
        ),
    ),
    "LoadGenericTableCredentials": (
        Case(
            lambda house: generic_tables_pb2.LoadGenericTableCredentialsRequest(**_NAMED(house)),
            GENERIC_TABLE,
            shapes=_MAY_READ,
            prepare=with_generic_table,
        ),
    ),
    "UpdateGenericTable": (
        Case(
            lambda house: generic_tables_pb2.UpdateGenericTableRequest(**_NAMED(house), body=b'{"doc": "other"}'),
            GENERIC_TABLE,
            prepare=with_generic_table,
        ),
    ),
    "GetGenericTableProtection": (
        Case(
            lambda house: generic_tables_pb2.GetGenericTableProtectionRequest(
                warehouse_id=house.warehouse_id, tabular_id=str(house.tabular("vectors").tabular_id)
            ),
            GENERIC_TABLE,
            prepare=with_generic_table,
        ),
    ),
    "SetGenericTableProtection": (
        Case(
            lambda house: generic_tables_pb2.SetGenericTableProtectionRequest(
                warehouse_id=house.warehouse_id, tabular_id=str(house.tabular("vectors").tabular_id), protected=True
            ),
            GENERIC_TABLE,
            prepare=with_generic_table,
        ),
    ),
    "DropGenericTable": (
        Case(
            lambda house: generic_tables_pb2.DropGenericTableRequest(**_NAMED(house)),
            GENERIC_TABLE,
            prepare=with_generic_table,
        ),
    ),
    "RenameGenericTable": (
        Case(
            lambda house: generic_tables_pb2.RenameGenericTableRequest(
                warehouse_id=house.warehouse_id,
                source=tabular("sales", "vectors"),
                destination=tabular("archive", "vectors"),
            ),
            {**NAMESPACE, **GENERIC_TABLE},
            target=("archive",),
            prepare=with_generic_table,
        ),
    ),
}


async def _versioned(house: House) -> None:
    """A generic table with a version."""
    await with_generic_table(house)
    await house.versions.ClaimVersion(
        generic_table_versions_pb2.ClaimVersionRequest(**_NAMED(house), version=1, path="first")
    )


GENERIC_TABLE_VERSION_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "ClaimVersion": (
        Case(
            lambda house: generic_table_versions_pb2.ClaimVersionRequest(**_NAMED(house), version=0, path="a"),
            GENERIC_TABLE,
            prepare=with_generic_table,
        ),
    ),
    "GetVersion": (
        Case(
            lambda house: generic_table_versions_pb2.GetVersionRequest(**_NAMED(house)),
            GENERIC_TABLE,
            prepare=_versioned,
        ),
    ),
    "ListVersions": (
        Case(
            lambda house: generic_table_versions_pb2.ListVersionsRequest(**_NAMED(house)),
            GENERIC_TABLE,
            prepare=with_generic_table,
        ),
    ),
    "ForgetVersions": (
        Case(
            lambda house: generic_table_versions_pb2.ForgetVersionsRequest(**_NAMED(house), before=1),
            GENERIC_TABLE,
            prepare=_versioned,
        ),
    ),
}
