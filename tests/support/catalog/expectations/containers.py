"""Methods on the server, warehouses and namespaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lakeward_protocol.catalog.v1 import (
    namespaces_pb2,
    server_pb2,
    warehouses_pb2,
)
from lakeward_servicekit.authorization.actions import Action
from tests.support.catalog.expectations.case import NAMESPACE, PROJECT, SERVER, WAREHOUSE, Case
from tests.support.catalog.expectations.grounds import archive
from tests.support.catalog.house import (
    ADMINISTRATOR,
    House,
    context,
    ident,
)


async def _empty(house: House) -> None:
    await house.make_namespace("empty")


async def _inactive(house: House) -> None:
    house.change_warehouse(active=False)


async def _emptied(house: House) -> None:
    rows = house.catalog.rows
    rows.tabulars.clear()
    rows.namespaces.clear()


async def _without_warehouses(house: House) -> None:
    await _emptied(house)
    house.catalog.rows.warehouses.clear()


def _move(house: House, *path: str) -> namespaces_pb2.MoveNamespaceRequest:
    return namespaces_pb2.MoveNamespaceRequest(
        warehouse_id=house.warehouse_id,
        namespace_id=str(house.namespace("sales").namespace_id),
        destination=ident(*path),
    )


SERVER_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "GetServerInfo": (Case(lambda house: server_pb2.GetServerInfoRequest(), {}),),
    "Bootstrap": (Case(lambda house: server_pb2.BootstrapRequest(accept_terms_of_use=True), {}),),
    "GetProject": (Case(lambda house: server_pb2.GetProjectRequest(), PROJECT),),
    "ListProjects": (Case(lambda house: server_pb2.ListProjectsRequest(), {}),),
    "CreateProject": (
        Case(lambda house: server_pb2.CreateProjectRequest(name="second"), SERVER, only_hidden=frozenset(SERVER)),
    ),
    "RenameProject": (Case(lambda house: server_pb2.RenameProjectRequest(name="renamed"), PROJECT),),
    "DeleteProject": (Case(lambda house: server_pb2.DeleteProjectRequest(), PROJECT, prepare=_without_warehouses),),
}

WAREHOUSE_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "GetConfig": (Case(lambda house: warehouses_pb2.GetConfigRequest(warehouse="demo"), WAREHOUSE),),
    "CreateWarehouse": (
        Case(
            lambda house: warehouses_pb2.CreateWarehouseRequest(
                name="second", storage_profile=b'{"base": "s3://lake/second"}'
            ),
            PROJECT,
        ),
    ),
    "ValidateWarehouse": (
        Case(
            lambda house: warehouses_pb2.ValidateWarehouseRequest(
                warehouse=warehouses_pb2.CreateWarehouseRequest(
                    name="second", storage_profile=b'{"base": "s3://lake/second"}'
                )
            ),
            PROJECT,
        ),
    ),
    "ValidateWarehouseStorage": (
        Case(
            lambda house: warehouses_pb2.ValidateWarehouseStorageRequest(warehouse_id=house.warehouse_id),
            WAREHOUSE,
            needs=frozenset({Action.WAREHOUSE_MODIFY_STORAGE}),
        ),
        Case(
            lambda house: warehouses_pb2.ValidateWarehouseStorageRequest(
                warehouse_id=house.warehouse_id,
                credential=warehouses_pb2.UpdateStorageCredentialRequest(secret_id=str(house.ids.uuid4())),
            ),
            WAREHOUSE,
            needs=frozenset({Action.WAREHOUSE_MODIFY_STORAGE_CREDENTIAL}),
        ),
    ),
    "ListWarehouses": (Case(lambda house: warehouses_pb2.ListWarehousesRequest(), PROJECT),),
    "GetWarehouse": (
        Case(lambda house: warehouses_pb2.GetWarehouseRequest(warehouse_id=house.warehouse_id), WAREHOUSE),
    ),
    "GetWarehouseStatistics": (
        Case(lambda house: warehouses_pb2.GetWarehouseStatisticsRequest(warehouse_id=house.warehouse_id), WAREHOUSE),
    ),
    "RenameWarehouse": (
        Case(
            lambda house: warehouses_pb2.RenameWarehouseRequest(warehouse_id=house.warehouse_id, name="other"),
            WAREHOUSE,
        ),
    ),
    "ActivateWarehouse": (
        Case(
            lambda house: warehouses_pb2.ActivateWarehouseRequest(warehouse_id=house.warehouse_id),
            WAREHOUSE,
            prepare=_inactive,
        ),
    ),
    "DeactivateWarehouse": (
        Case(lambda house: warehouses_pb2.DeactivateWarehouseRequest(warehouse_id=house.warehouse_id), WAREHOUSE),
    ),
    "SetWarehouseProtection": (
        Case(
            lambda house: warehouses_pb2.SetWarehouseProtectionRequest(warehouse_id=house.warehouse_id, protected=True),
            WAREHOUSE,
        ),
    ),
    "SetDeleteProfile": (
        Case(
            lambda house: warehouses_pb2.SetDeleteProfileRequest(
                warehouse_id=house.warehouse_id, delete_profile=warehouses_pb2.DeleteProfile(restorable=True)
            ),
            WAREHOUSE,
        ),
    ),
    "SetFormatVersionPolicy": (
        Case(
            lambda house: warehouses_pb2.SetFormatVersionPolicyRequest(
                warehouse_id=house.warehouse_id, allowed_format_versions=[1, 2]
            ),
            WAREHOUSE,
        ),
    ),
    "SetManagedBy": (
        Case(
            lambda house: warehouses_pb2.SetManagedByRequest(
                context=context(authorization=ADMINISTRATOR),
                warehouse_id=house.warehouse_id,
                managed_by=warehouses_pb2.MANAGED_BY_INSTANCE_ADMIN,
            ),
            WAREHOUSE,
        ),
    ),
    "DeleteWarehouse": (
        Case(
            lambda house: warehouses_pb2.DeleteWarehouseRequest(warehouse_id=house.warehouse_id),
            WAREHOUSE,
            prepare=_emptied,
        ),
    ),
    "UpdateStorage": (
        Case(
            lambda house: warehouses_pb2.UpdateStorageRequest(
                warehouse_id=house.warehouse_id, storage_profile=b'{"base": "s3://lake/demo"}', keep_credential=True
            ),
            WAREHOUSE,
        ),
    ),
    "UpdateStorageCredential": (
        Case(
            lambda house: warehouses_pb2.UpdateStorageCredentialRequest(
                warehouse_id=house.warehouse_id, secret_id=str(house.ids.uuid4())
            ),
            WAREHOUSE,
        ),
    ),
}

NAMESPACE_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "ListNamespaces": (
        Case(
            lambda house: namespaces_pb2.ListNamespacesRequest(warehouse_id=house.warehouse_id, parent=ident("sales")),
            NAMESPACE,
        ),
        Case(
            lambda house: namespaces_pb2.ListNamespacesRequest(warehouse_id=house.warehouse_id),
            WAREHOUSE,
            needs=frozenset({Action.WAREHOUSE_LIST_NAMESPACES}),
        ),
    ),
    "CreateNamespace": (
        Case(
            lambda house: namespaces_pb2.CreateNamespaceRequest(
                warehouse_id=house.warehouse_id, ident=ident("sales", "eu")
            ),
            NAMESPACE,
            needs=frozenset({Action.NAMESPACE_CREATE_NAMESPACE}),
        ),
        Case(
            lambda house: namespaces_pb2.CreateNamespaceRequest(warehouse_id=house.warehouse_id, ident=ident("new")),
            WAREHOUSE,
            needs=frozenset({Action.WAREHOUSE_CREATE_NAMESPACE}),
        ),
    ),
    "GetNamespace": (
        Case(
            lambda house: namespaces_pb2.GetNamespaceRequest(warehouse_id=house.warehouse_id, ident=ident("sales")),
            NAMESPACE,
        ),
    ),
    "UpdateNamespaceProperties": (
        Case(
            lambda house: namespaces_pb2.UpdateNamespacePropertiesRequest(
                warehouse_id=house.warehouse_id, ident=ident("sales"), updates={"owner": "anna"}
            ),
            NAMESPACE,
        ),
    ),
    "GetNamespaceProtection": (
        Case(
            lambda house: namespaces_pb2.GetNamespaceProtectionRequest(
                warehouse_id=house.warehouse_id, namespace_id=str(house.namespace("sales").namespace_id)
            ),
            NAMESPACE,
        ),
    ),
    "SetNamespaceProtection": (
        Case(
            lambda house: namespaces_pb2.SetNamespaceProtectionRequest(
                warehouse_id=house.warehouse_id, namespace_id=str(house.namespace("sales").namespace_id), protected=True
            ),
            NAMESPACE,
        ),
    ),
    "MoveNamespace": (
        Case(
            lambda house: _move(house, "archive", "sales"),
            NAMESPACE,
            needs=frozenset(
                {
                    Action.NAMESPACE_MOVE,
                    Action.NAMESPACE_CREATE_NAMESPACE,
                    Action.NAMESPACE_ACCEPT_MOVED_NAMESPACE,
                }
            ),
            prepare=archive,
        ),
        Case(
            lambda house: _move(house, "moved"),
            NAMESPACE,
            needs=frozenset(
                {
                    Action.NAMESPACE_MOVE,
                    Action.WAREHOUSE_CREATE_NAMESPACE,
                    Action.WAREHOUSE_ACCEPT_MOVED_NAMESPACE,
                }
            ),
        ),
    ),
    "DropNamespace": (
        Case(
            lambda house: namespaces_pb2.DropNamespaceRequest(warehouse_id=house.warehouse_id, ident=ident("empty")),
            NAMESPACE,
            target=("empty",),
            prepare=_empty,
        ),
    ),
}
