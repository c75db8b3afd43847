"""The catalog's services, built from its parts: which use case needs what is said here and nowhere else."""

from __future__ import annotations

from lakeward_catalog.application.config import ClientConfigs
from lakeward_catalog.application.namespaces.creating import NamespaceCreations
from lakeward_catalog.application.namespaces.dropping import NamespaceDrops
from lakeward_catalog.application.namespaces.listing import NamespaceListings
from lakeward_catalog.application.namespaces.properties import PropertiesUpdates
from lakeward_catalog.application.server import Facts, ServerBootstrap
from lakeward_catalog.application.warehouses.changing import WarehouseDeletions, WarehouseRenames, WarehouseSwitches
from lakeward_catalog.application.warehouses.creating import WarehouseCreations
from lakeward_catalog.application.warehouses.listing import WarehouseListings
from lakeward_catalog.application.warehouses.places import Places
from lakeward_catalog.application.warehouses.secrets import Secrets
from lakeward_catalog.application.warehouses.storage import StorageReplacements
from lakeward_catalog.composition_tabulars import life_cycle, signing, table_use_cases, view_use_cases
from lakeward_catalog.parts import Parts
from lakeward_catalog.transport.namespaces import NamespaceServicer
from lakeward_catalog.transport.server import ServerServicer
from lakeward_catalog.transport.signing import SigningServicer
from lakeward_catalog.transport.tables import TableServicer
from lakeward_catalog.transport.views import ViewServicer
from lakeward_catalog.transport.warehouses import WarehouseServicer
from lakeward_protocol.catalog.v1 import (
    namespaces_pb2_grpc,
    server_pb2_grpc,
    signing_pb2_grpc,
    tables_pb2_grpc,
    views_pb2_grpc,
    warehouses_pb2_grpc,
)
from lakeward_servicekit.rpc import Host


def add_servicers(host: Host, parts: Parts, facts: Facts) -> None:
    """Host every service of the catalog."""
    tabulars = life_cycle(parts)
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
        TableServicer(table_use_cases(parts), tabulars),
    )
    host.add(
        views_pb2_grpc.add_ViewServiceServicer_to_server,
        ViewServicer(view_use_cases(parts), tabulars, referenced_by_max=parts.rules.referenced_by_max),
    )
    host.add(signing_pb2_grpc.add_SigningServiceServicer_to_server, SigningServicer(signing(parts)))


def _server(parts: Parts, facts: Facts) -> ServerServicer:
    doors = parts.doors
    bootstrap = ServerBootstrap(doors, parts.registrar, parts.changes, parts.announcer, parts.clock, parts.rules)
    return ServerServicer(doors=doors, bootstrap=bootstrap, facts=facts)


def _warehouses(parts: Parts) -> WarehouseServicer:
    doors, changes, once, judge = parts.doors, parts.changes, parts.once, parts.storage
    announcer, clock, ids = parts.announcer, parts.clock, parts.ids
    places, secrets = Places(doors, judge, clock), Secrets(judge, doors.warehouses)
    return WarehouseServicer(
        doors=doors,
        config=ClientConfigs(doors, parts.registrar, parts.rules),
        create=WarehouseCreations(doors, changes, judge, places, secrets, once, announcer, clock, ids),
        list=WarehouseListings(doors),
        rename=WarehouseRenames(doors, changes, announcer, clock),
        switch=WarehouseSwitches(doors, changes, announcer, clock),
        delete=WarehouseDeletions(doors, changes, places, secrets, once, announcer, clock),
        replace_storage=StorageReplacements(doors, changes, judge, places, secrets, announcer, clock),
    )


def _namespaces(parts: Parts) -> NamespaceServicer:
    doors, changes, once, rules = parts.doors, parts.changes, parts.once, parts.rules
    announcer, clock = parts.announcer, parts.clock
    return NamespaceServicer(
        doors=doors,
        list=NamespaceListings(doors, rules),
        create=NamespaceCreations(doors, changes, once, announcer, clock, parts.ids, rules),
        update_properties=PropertiesUpdates(doors, changes, once, announcer, clock),
        drop=NamespaceDrops(doors, parts.documents, changes, once, announcer, clock, rules),
    )
