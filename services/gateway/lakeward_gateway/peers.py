"""The services behind the gateway, as it calls them."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from typing import TypeAlias, cast

import grpc.aio

from lakeward_protocol.authz.v1 import audit_pb2_grpc as authz_audit_pb2_grpc
from lakeward_protocol.authz.v1 import events_pb2_grpc as authz_events_pb2_grpc
from lakeward_protocol.authz.v1 import grants_pb2_grpc, provisioning_pb2_grpc, roles_pb2_grpc, users_pb2_grpc
from lakeward_protocol.catalog.v1 import (
    audit_pb2_grpc,
    cascades_pb2_grpc,
    contracts_pb2_grpc,
    events_pb2_grpc,
    generic_table_versions_pb2_grpc,
    generic_tables_pb2,
    generic_tables_pb2_grpc,
    names_pb2_grpc,
    namespaces_pb2_grpc,
    project_tasks_pb2_grpc,
    server_pb2_grpc,
    signing_pb2_grpc,
    statistics_pb2_grpc,
    tables_pb2,
    tables_pb2_grpc,
    tabulars_pb2_grpc,
    tags_pb2_grpc,
    tasks_pb2_grpc,
    views_pb2_grpc,
    warehouses_pb2_grpc,
)
from lakeward_protocol.vending.v1 import audit_pb2_grpc as vending_audit_pb2_grpc
from lakeward_protocol.vending.v1 import events_pb2_grpc as vending_events_pb2_grpc
from lakeward_protocol.vending.v1 import vending_pb2_grpc
from lakeward_servicekit.rpc import Channel

LoadTable: TypeAlias = Callable[[tables_pb2.LoadTableRequest], Awaitable[tables_pb2.LoadTableResponse]]
LoadGenericTable: TypeAlias = Callable[
    [generic_tables_pb2.LoadGenericTableRequest], Awaitable[generic_tables_pb2.LoadGenericTableResponse]
]


@dataclasses.dataclass(frozen=True, slots=True)
class Peers:
    """Channels to the services that the gateway calls, to pods or into this process.

    Attributes:
        authz: to authz; users, roles and grants are kept there. Who may do what is never asked from here.
        catalog: to catalog.
        vending: to vending; credentials are staged there, and their events and audit are read.
    """

    authz: Channel
    catalog: Channel
    vending: Channel


class Stubs:
    """What the dialects call.

    Args:
        peers: where the services are.
        load_table: loads a table; None: a call of its own for each.
        load_generic_table: the same of a generic table.
    """

    def __init__(
        self,
        peers: Peers,
        *,
        load_table: LoadTable | None = None,
        load_generic_table: LoadGenericTable | None = None,
    ) -> None:
        """See the class."""
        authz = cast("grpc.aio.Channel", peers.authz)
        catalog = cast("grpc.aio.Channel", peers.catalog)
        vending = cast("grpc.aio.Channel", peers.vending)
        self.users: users_pb2_grpc.UserServiceAsyncStub = users_pb2_grpc.UserServiceStub(authz)
        self.provisioning: provisioning_pb2_grpc.ProvisioningServiceAsyncStub = (
            provisioning_pb2_grpc.ProvisioningServiceStub(authz)
        )
        self.roles: roles_pb2_grpc.RoleServiceAsyncStub = roles_pb2_grpc.RoleServiceStub(authz)
        self.namespaces: namespaces_pb2_grpc.NamespaceServiceAsyncStub = namespaces_pb2_grpc.NamespaceServiceStub(
            catalog
        )
        self.names: names_pb2_grpc.NameServiceAsyncStub = names_pb2_grpc.NameServiceStub(catalog)
        self.tables: tables_pb2_grpc.TableServiceAsyncStub = tables_pb2_grpc.TableServiceStub(catalog)
        self.generic_tables: generic_tables_pb2_grpc.GenericTableServiceAsyncStub = (
            generic_tables_pb2_grpc.GenericTableServiceStub(catalog)
        )
        self.generic_table_versions: generic_table_versions_pb2_grpc.GenericTableVersionServiceAsyncStub = (
            generic_table_versions_pb2_grpc.GenericTableVersionServiceStub(catalog)
        )
        self.tabulars: tabulars_pb2_grpc.TabularServiceAsyncStub = tabulars_pb2_grpc.TabularServiceStub(catalog)
        self.tags: tags_pb2_grpc.TagServiceAsyncStub = tags_pb2_grpc.TagServiceStub(catalog)
        self.tasks: tasks_pb2_grpc.TaskServiceAsyncStub = tasks_pb2_grpc.TaskServiceStub(catalog)
        self.project_tasks: project_tasks_pb2_grpc.ProjectTaskServiceAsyncStub = (
            project_tasks_pb2_grpc.ProjectTaskServiceStub(catalog)
        )
        self.audit: audit_pb2_grpc.AuditServiceAsyncStub = audit_pb2_grpc.AuditServiceStub(catalog)
        self.authz_audit: authz_audit_pb2_grpc.AuditServiceAsyncStub = authz_audit_pb2_grpc.AuditServiceStub(authz)
        self.contracts: contracts_pb2_grpc.ContractServiceAsyncStub = contracts_pb2_grpc.ContractServiceStub(catalog)
        self.cascades: cascades_pb2_grpc.CascadeServiceAsyncStub = cascades_pb2_grpc.CascadeServiceStub(catalog)
        self.events: events_pb2_grpc.EventServiceAsyncStub = events_pb2_grpc.EventServiceStub(catalog)
        self.authz_events: authz_events_pb2_grpc.EventServiceAsyncStub = authz_events_pb2_grpc.EventServiceStub(authz)
        self.vending_events: vending_events_pb2_grpc.EventServiceAsyncStub = vending_events_pb2_grpc.EventServiceStub(
            vending
        )
        self.vending_audit: vending_audit_pb2_grpc.AuditServiceAsyncStub = vending_audit_pb2_grpc.AuditServiceStub(
            vending
        )
        self.statistics: statistics_pb2_grpc.StatisticsServiceAsyncStub = statistics_pb2_grpc.StatisticsServiceStub(
            catalog
        )
        self.views: views_pb2_grpc.ViewServiceAsyncStub = views_pb2_grpc.ViewServiceStub(catalog)
        self.warehouses: warehouses_pb2_grpc.WarehouseServiceAsyncStub = warehouses_pb2_grpc.WarehouseServiceStub(
            catalog
        )
        self.server: server_pb2_grpc.ServerServiceAsyncStub = server_pb2_grpc.ServerServiceStub(catalog)
        self.signing: signing_pb2_grpc.SigningServiceAsyncStub = signing_pb2_grpc.SigningServiceStub(catalog)
        self.grants: grants_pb2_grpc.GrantServiceAsyncStub = grants_pb2_grpc.GrantServiceStub(
            cast("grpc.aio.Channel", peers.authz)
        )
        self.storage: vending_pb2_grpc.StorageServiceAsyncStub = vending_pb2_grpc.StorageServiceStub(vending)
        self.load_table: LoadTable = load_table or self.tables.LoadTable
        self.load_generic_table: LoadGenericTable = load_generic_table or self.generic_tables.LoadGenericTable
