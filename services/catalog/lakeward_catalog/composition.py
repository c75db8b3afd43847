"""The catalog's services, built from its parts: which use case needs what is said here and nowhere else."""

from __future__ import annotations

from functools import partial

from lakeward_catalog.application.config import ClientConfiguration
from lakeward_catalog.application.namespaces.creating import NamespaceCreation
from lakeward_catalog.application.namespaces.dropping import NamespaceDrop
from lakeward_catalog.application.namespaces.listing import NamespaceListing
from lakeward_catalog.application.namespaces.properties import PropertiesUpdate
from lakeward_catalog.application.server import Facts, ServerBootstrap
from lakeward_catalog.application.tables.signing import sign_storage_request
from lakeward_catalog.application.warehouses.changing import WarehouseDeletion, WarehouseRenaming, WarehouseServing
from lakeward_catalog.application.warehouses.creating import WarehouseCreation
from lakeward_catalog.application.warehouses.listing import WarehouseListing
from lakeward_catalog.application.warehouses.places import Places
from lakeward_catalog.application.warehouses.secrets import Secrets
from lakeward_catalog.application.warehouses.storage import StorageReplacement
from lakeward_catalog.parts import Parts
from lakeward_catalog.transport.namespaces import NamespaceServicer
from lakeward_catalog.transport.server import ServerServicer
from lakeward_catalog.transport.signing import SigningServicer
from lakeward_catalog.transport.table_lifecycle import TableLifecycleMethods, TableLifecycleUseCases
from lakeward_catalog.transport.tables import TableMetadataMethods, TableUseCases
from lakeward_catalog.transport.views import ViewServicer
from lakeward_catalog.transport.warehouses import WarehouseServicer
from lakeward_catalog.wiring.table_lifecycle import table_lifecycle_use_cases
from lakeward_catalog.wiring.tables import table_use_cases
from lakeward_catalog.wiring.views import view_use_cases
from lakeward_protocol.catalog.v1 import (
    namespaces_pb2_grpc,
    server_pb2_grpc,
    signing_pb2_grpc,
    tables_pb2_grpc,
    views_pb2_grpc,
    warehouses_pb2_grpc,
)
from lakeward_servicekit.rpc import Host


class TableServicer(TableMetadataMethods, TableLifecycleMethods):
    """TableService whole."""

    def __init__(self, metadata: TableUseCases, lifecycle: TableLifecycleUseCases) -> None:
        """Serve the use cases."""
        TableMetadataMethods.__init__(self, metadata)
        TableLifecycleMethods.__init__(self, lifecycle)


def add_servicers(host: Host, parts: Parts, facts: Facts) -> None:
    """Host every service of the catalog."""
    host.add(
        server_pb2_grpc.add_ServerServiceServicer_to_server,
        _server(parts, facts),
    )
    host.add(
        warehouses_pb2_grpc.add_WarehouseServiceServicer_to_server,
        _warehouses(parts),
    )
    host.add(
        namespaces_pb2_grpc.add_NamespaceServiceServicer_to_server,
        _namespaces(parts),
    )
    host.add(
        tables_pb2_grpc.add_TableServiceServicer_to_server,
        TableServicer(table_use_cases(parts), table_lifecycle_use_cases(parts)),
    )
    host.add(
        views_pb2_grpc.add_ViewServiceServicer_to_server,
        ViewServicer(view_use_cases(parts), referenced_by_max=parts.rules.referenced_by_max),
    )
    host.add(signing_pb2_grpc.add_SigningServiceServicer_to_server, _signing(parts))


def _server(parts: Parts, facts: Facts) -> ServerServicer:
    bootstrap = ServerBootstrap(
        parts.registrar, parts.servers, parts.changes, parts.announcer, parts.clock, parts.rules
    )
    return ServerServicer(doors=parts.doors, servers=parts.servers, bootstrap=bootstrap, facts=facts)


def _warehouses(parts: Parts) -> WarehouseServicer:
    doors, warehouses, judge, once = parts.doors, parts.warehouses, parts.storage, parts.once
    changes, announcer, clock, ids = parts.changes, parts.announcer, parts.clock, parts.ids
    places = Places(doors, judge, parts.servers, warehouses, clock)
    secrets = Secrets(judge, warehouses)
    return WarehouseServicer(
        doors=doors,
        config=ClientConfiguration(doors, warehouses, parts.registrar, parts.rules),
        create=WarehouseCreation(doors, warehouses, changes, judge, places, secrets, once, announcer, clock, ids),
        listing=WarehouseListing(doors, warehouses),
        rename=WarehouseRenaming(doors, changes, announcer, clock),
        serve=WarehouseServing(doors, changes, announcer, clock),
        delete=WarehouseDeletion(doors, changes, places, secrets, once, announcer, clock),
        replace_storage=StorageReplacement(doors, changes, judge, places, secrets, announcer, clock),
    )


def _namespaces(parts: Parts) -> NamespaceServicer:
    doors, namespaces, once, rules = parts.doors, parts.namespaces, parts.once, parts.rules
    changes, announcer, clock = parts.changes, parts.announcer, parts.clock
    return NamespaceServicer(
        doors=doors,
        listing=NamespaceListing(doors, namespaces, rules),
        create=NamespaceCreation(doors, namespaces, changes, once, announcer, clock, parts.ids, rules),
        update_properties=PropertiesUpdate(doors, changes, once, announcer, clock),
        drop=NamespaceDrop(doors, parts.documents, changes, once, announcer, clock, rules),
    )


def _signing(parts: Parts) -> SigningServicer:
    return SigningServicer(
        partial(
            sign_storage_request,
            authorizer=parts.authorizer,
            warehouses=parts.warehouses,
            tabulars=parts.tabulars,
            access=parts.access,
            scopes=parts.scopes,
        ),
    )
