"""The catalog's services, built from its parts: which use case needs what is said here and nowhere else."""

from __future__ import annotations

from lakeward_catalog.application.server import Facts
from lakeward_catalog.composition_tabulars import life_cycle, signing, table_use_cases, view_use_cases
from lakeward_catalog.parts import Parts
from lakeward_catalog.transport.namespaces import NamespaceServicer
from lakeward_catalog.transport.server import ServerServicer
from lakeward_catalog.transport.signing import SigningServicer
from lakeward_catalog.transport.tables import TableServicer
from lakeward_catalog.transport.views import ViewServicer
from lakeward_catalog.transport.warehouses import WarehouseServicer
from lakeward_catalog.wiring.namespaces import namespace_use_cases
from lakeward_catalog.wiring.server import server_use_cases
from lakeward_catalog.wiring.warehouses import warehouse_use_cases
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
        ServerServicer(server_use_cases(parts), facts=facts, default_project=parts.rules.default_project),
    )
    host.add(
        warehouses_pb2_grpc.add_WarehouseServiceServicer_to_server,
        WarehouseServicer(warehouse_use_cases(parts)),
    )
    host.add(
        namespaces_pb2_grpc.add_NamespaceServiceServicer_to_server,
        NamespaceServicer(namespace_use_cases(parts)),
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
