"""What every method of the catalog's services answers to who may not see, may see and not do, and may do.

A method has one case or more; each is a request that succeeds in `a_house()` for who may do everything. The walk is in
tests/unit/catalog/test_denials.py. A new method is a new entry here.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any, Final

from lakeward_catalog.domain.model import Kind
from lakeward_catalog.domain.tasks import Queue
from lakeward_protocol.catalog.v1 import (
    names_pb2,
    namespaces_pb2,
    server_pb2,
    signing_pb2,
    tables_pb2,
    tabulars_pb2,
    tasks_pb2,
    types_pb2,
    views_pb2,
    warehouses_pb2,
)
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.errors import Reason
from lakeward_servicekit.rpc import refusal_of
from tests.support.catalog.house import (
    ADMINISTRATOR,
    SCHEMA,
    House,
    commit_body,
    context,
    ident,
    table_body,
    tabular,
    tabular_ref,
    view_body,
)

SERVER: Final = {ObjectKind.SERVER: Reason.REASON_FORBIDDEN}  # it is never absent
PROJECT: Final = {ObjectKind.PROJECT: Reason.REASON_NO_SUCH_PROJECT}
WAREHOUSE: Final = {ObjectKind.WAREHOUSE: Reason.REASON_NO_SUCH_WAREHOUSE}
NAMESPACE: Final = {**WAREHOUSE, ObjectKind.NAMESPACE: Reason.REASON_NO_SUCH_NAMESPACE}
TABLE: Final = {**WAREHOUSE, ObjectKind.TABLE: Reason.REASON_NO_SUCH_TABLE}
VIEW: Final = {**WAREHOUSE, ObjectKind.VIEW: Reason.REASON_NO_SUCH_VIEW}
TABLE_TASK: Final = {**WAREHOUSE, ObjectKind.TABLE: Reason.REASON_NO_SUCH_TASK}
VIEW_TASK: Final = {**WAREHOUSE, ObjectKind.VIEW: Reason.REASON_NO_SUCH_TASK}


@dataclasses.dataclass(frozen=True)
class Case:
    """One request of a method.

    Attributes:
        request: makes it, for a house as `a_house` builds it.
        needs: actions that it is refused without; None: every permission of the method's rule.
        shapes: actions without which it succeeds with less.
        gone: by the kind of what is hidden, the reason that it and its absence are refused with.
        target: the namespace that is removed to be absent.
        only_hidden: kinds whose absence is no refusal at all, such as what is overwritten.
        prepare: makes the house ready beyond `a_house`.
        unwrap: raises the refusal that is inside of a response.
    """

    request: Callable[[House], Any]
    gone: Mapping[ObjectKind, Reason.ValueType]
    needs: frozenset[Action] | None = None
    shapes: frozenset[Action] = frozenset()
    target: tuple[str, ...] = ("sales",)
    only_hidden: frozenset[ObjectKind] = frozenset()
    prepare: Callable[[House], Awaitable[None]] | None = None
    unwrap: Callable[[Any], None] = lambda response: None


async def _archive(house: House) -> None:
    await house.make_namespace("archive")


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


async def _staged_file(house: House) -> None:
    """A metadata file that nothing points to."""
    orders = house.tabular("orders")
    assert orders.metadata_location is not None
    document = json.loads(await house.parts.documents.plain(orders.warehouse_id, orders.metadata_id, references=False))
    document |= {"table-uuid": str(house.ids.uuid4()), "location": "s3://lake/demo/elsewhere"}
    house.files.stored["s3://lake/demo/elsewhere/metadata/v1.metadata.json"] = json.dumps(document).encode()


async def _dropped(house: House) -> None:
    """The table and the view, and both can be restored."""
    house.change_warehouse(restorable_for=timedelta(days=7))
    await house.tables.DropTable(
        tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "orders"))
    )
    await house.views.DropView(
        views_pb2.DropViewRequest(warehouse_id=house.warehouse_id, view=tabular("sales", "recent"))
    )


def _undrop(house: House, kind: Kind, name: str) -> tabulars_pb2.UndropTabularsRequest:
    return tabulars_pb2.UndropTabularsRequest(
        warehouse_id=house.warehouse_id, tabulars=[tabular_ref(kind, house.tabular(name).tabular_id)]
    )


async def _purged(house: House) -> None:
    """A table is gone, and its files wait to be."""
    await house.make_table("sales", "gone")
    await house.tables.DropTable(
        tables_pb2.DropTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "gone"))
    )


def _tasks_about(house: House, kind: Kind, name: str) -> tasks_pb2.ListTasksRequest:
    about = tasks_pb2.TaskEntities(tabulars=[tabular_ref(kind, house.tabular(name).tabular_id)])
    return tasks_pb2.ListTasksRequest(warehouse_id=house.warehouse_id, entities=about)


def _expiration(house: House, name: str) -> str:
    """The task that ends the retention of what was dropped."""
    tasks = house.catalog.rows.queued.items()
    return next(str(task_id) for task_id, task in tasks if task.path[-1] == name)


def _task(house: House, name: str) -> tasks_pb2.GetTaskRequest:
    return tasks_pb2.GetTaskRequest(warehouse_id=house.warehouse_id, task_id=_expiration(house, name))


def _cancel(house: House, name: str) -> tasks_pb2.ControlTasksRequest:
    return tasks_pb2.ControlTasksRequest(
        warehouse_id=house.warehouse_id,
        task_ids=[_expiration(house, name)],
        action=tasks_pb2.TASK_ACTION_CANCEL,
    )


def _first_item(response: tables_pb2.BatchLoadTablesResponse) -> None:
    (item,) = response.items
    if item.HasField("failure"):
        raise refusal_of(item.failure)


def _load(house: House) -> tables_pb2.LoadTableRequest:
    return tables_pb2.LoadTableRequest(warehouse_id=house.warehouse_id, table=tabular("sales", "orders"))


def _sign(house: House, method: str) -> signing_pb2.SignS3RequestRequest:
    return signing_pb2.SignS3RequestRequest(
        warehouse_id=house.warehouse_id,
        tabular_id=str(house.tabular("orders").tabular_id),
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


_PROPERTIES: Final = commit_body({"action": "set-properties", "updates": {"a": "b"}})
_CREATING: Final = commit_body(
    {"action": "add-schema", "schema": SCHEMA},
    {"action": "set-current-schema", "schema-id": -1},
    requirements=[{"type": "assert-create"}],
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
    "DropNamespace": (
        Case(
            lambda house: namespaces_pb2.DropNamespaceRequest(warehouse_id=house.warehouse_id, ident=ident("empty")),
            NAMESPACE,
            target=("empty",),
            prepare=_empty,
        ),
    ),
}
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
            {**NAMESPACE, **TABLE},
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
            unwrap=_first_item,
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
                warehouse_id=house.warehouse_id, table=tabular("sales", "orders"), body=_PROPERTIES
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
            prepare=_archive,
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
    ),
}
VIEW_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "ListViews": (
        Case(
            lambda house: views_pb2.ListViewsRequest(warehouse_id=house.warehouse_id, namespace=ident("sales")),
            NAMESPACE,
        ),
    ),
    "CreateView": (
        Case(
            lambda house: views_pb2.CreateViewRequest(
                warehouse_id=house.warehouse_id, namespace=ident("sales"), body=view_body("new")
            ),
            NAMESPACE,
        ),
    ),
    "LoadView": (
        Case(
            lambda house: views_pb2.LoadViewRequest(warehouse_id=house.warehouse_id, view=tabular("sales", "recent")),
            VIEW,
        ),
    ),
    "ViewExists": (
        Case(
            lambda house: views_pb2.ViewExistsRequest(warehouse_id=house.warehouse_id, view=tabular("sales", "recent")),
            VIEW,
        ),
    ),
    "CommitView": (
        Case(
            lambda house: views_pb2.CommitViewRequest(
                warehouse_id=house.warehouse_id, view=tabular("sales", "recent"), body=_PROPERTIES
            ),
            VIEW,
        ),
    ),
    "GetViewProtection": (
        Case(
            lambda house: views_pb2.GetViewProtectionRequest(
                warehouse_id=house.warehouse_id, tabular_id=str(house.tabular("recent").tabular_id)
            ),
            VIEW,
        ),
    ),
    "SetViewProtection": (
        Case(
            lambda house: views_pb2.SetViewProtectionRequest(
                warehouse_id=house.warehouse_id, tabular_id=str(house.tabular("recent").tabular_id), protected=True
            ),
            VIEW,
        ),
    ),
    "DropView": (
        Case(
            lambda house: views_pb2.DropViewRequest(warehouse_id=house.warehouse_id, view=tabular("sales", "recent")),
            VIEW,
        ),
    ),
    "RenameView": (
        Case(
            lambda house: views_pb2.RenameViewRequest(
                warehouse_id=house.warehouse_id,
                source=tabular("sales", "recent"),
                destination=tabular("archive", "recent"),
            ),
            {**NAMESPACE, **VIEW},
            target=("archive",),
            prepare=_archive,
        ),
    ),
}
TABULAR_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "ListDeletedTabulars": (
        Case(
            lambda house: tabulars_pb2.ListDeletedTabularsRequest(warehouse_id=house.warehouse_id),
            WAREHOUSE,
        ),
        Case(
            lambda house: tabulars_pb2.ListDeletedTabularsRequest(
                warehouse_id=house.warehouse_id, namespace_id=str(house.namespace("sales").namespace_id)
            ),
            NAMESPACE,
        ),
    ),
    "SearchTabulars": (
        Case(
            lambda house: tabulars_pb2.SearchTabularsRequest(warehouse_id=house.warehouse_id, search="orders"),
            WAREHOUSE,
        ),
    ),
    "UndropTabulars": (
        Case(
            lambda house: _undrop(house, Kind.TABLE, "orders"),
            TABLE,
            needs=frozenset({Action.TABLE_UNDROP}),
            prepare=_dropped,
        ),
        Case(
            lambda house: _undrop(house, Kind.VIEW, "recent"),
            VIEW,
            needs=frozenset({Action.VIEW_UNDROP}),
            prepare=_dropped,
        ),
    ),
}
NAME_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "FindByName": (
        Case(
            lambda house: names_pb2.FindByNameRequest(
                names=[
                    names_pb2.NamedObject(
                        warehouse_id=house.warehouse_id, namespace=types_pb2.NamespaceIdent(parts=["sales"])
                    )
                ]
            ),
            {},
        ),
    ),
}

TASK_SERVICE: Final[Mapping[str, tuple[Case, ...]]] = {
    "ListTasks": (
        Case(
            lambda house: tasks_pb2.ListTasksRequest(warehouse_id=house.warehouse_id),
            WAREHOUSE,
            needs=frozenset({Action.WAREHOUSE_GET_ALL_TASKS}),
        ),
        Case(
            lambda house: _tasks_about(house, Kind.TABLE, "orders"),
            TABLE,
            needs=frozenset({Action.TABLE_GET_TASKS}),
            only_hidden=frozenset({ObjectKind.TABLE}),
        ),
        Case(
            lambda house: _tasks_about(house, Kind.VIEW, "recent"),
            VIEW,
            needs=frozenset({Action.VIEW_GET_TASKS}),
            only_hidden=frozenset({ObjectKind.VIEW}),
        ),
    ),
    "GetTask": (
        Case(
            lambda house: tasks_pb2.GetTaskRequest(
                warehouse_id=house.warehouse_id, task_id=house.task_id(Queue.TABULAR_PURGE)
            ),
            WAREHOUSE,
            needs=frozenset({Action.WAREHOUSE_GET_ALL_TASKS}),
            prepare=_purged,
        ),
        Case(
            lambda house: _task(house, "orders"),
            TABLE_TASK,
            needs=frozenset({Action.TABLE_GET_TASKS}),
            only_hidden=frozenset({ObjectKind.TABLE}),
            prepare=_dropped,
        ),
        Case(
            lambda house: _task(house, "recent"),
            VIEW_TASK,
            needs=frozenset({Action.VIEW_GET_TASKS}),
            only_hidden=frozenset({ObjectKind.VIEW}),
            prepare=_dropped,
        ),
    ),
    "ControlTasks": (
        Case(
            lambda house: tasks_pb2.ControlTasksRequest(
                warehouse_id=house.warehouse_id,
                task_ids=[house.task_id(Queue.TABULAR_PURGE)],
                action=tasks_pb2.TASK_ACTION_CANCEL,
            ),
            WAREHOUSE,
            needs=frozenset({Action.WAREHOUSE_CONTROL_ALL_TASKS}),
            prepare=_purged,
        ),
        Case(
            lambda house: _cancel(house, "orders"),
            TABLE_TASK,
            needs=frozenset({Action.TABLE_CONTROL_TASKS}),
            only_hidden=frozenset({ObjectKind.TABLE}),
            prepare=_dropped,
        ),
        Case(
            lambda house: _cancel(house, "recent"),
            VIEW_TASK,
            needs=frozenset({Action.VIEW_CONTROL_TASKS}),
            only_hidden=frozenset({ObjectKind.VIEW}),
            prepare=_dropped,
        ),
    ),
    "GetQueueConfig": (
        Case(
            lambda house: tasks_pb2.GetQueueConfigRequest(warehouse_id=house.warehouse_id, queue="tabular_purge"),
            WAREHOUSE,
        ),
    ),
    "SetQueueConfig": (
        Case(
            lambda house: tasks_pb2.SetQueueConfigRequest(warehouse_id=house.warehouse_id, queue="tabular_purge"),
            WAREHOUSE,
        ),
    ),
}

EXPECTED: Final[Mapping[str, tuple[Case, ...]]] = {
    f"/lakeward.catalog.v1.{service}/{method}": cases
    for service, methods in {
        "ServerService": SERVER_SERVICE,
        "WarehouseService": WAREHOUSE_SERVICE,
        "NamespaceService": NAMESPACE_SERVICE,
        "TableService": TABLE_SERVICE,
        "SigningService": SIGNING_SERVICE,
        "ViewService": VIEW_SERVICE,
        "TabularService": TABULAR_SERVICE,
        "TaskService": TASK_SERVICE,
        "NameService": NAME_SERVICE,
    }.items()
    for method, cases in methods.items()
}
