"""Services that answer what a test told them to, and an HTTP client of a gateway over them."""

from __future__ import annotations

import dataclasses
import ipaddress
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from lakeward_gateway.bootstrap import gateway
from lakeward_gateway.health import Probe
from lakeward_gateway.peers import Peers
from lakeward_gateway.settings import GatewaySettings, PublicSettings
from lakeward_protocol.authz.v1 import audit_pb2_grpc as authz_audit_pb2_grpc
from lakeward_protocol.authz.v1 import events_pb2_grpc as authz_events_pb2_grpc
from lakeward_protocol.authz.v1 import grants_pb2_grpc, provisioning_pb2_grpc, roles_pb2_grpc, users_pb2_grpc
from lakeward_protocol.catalog.v1 import (
    audit_pb2_grpc,
    cascades_pb2_grpc,
    contracts_pb2_grpc,
    events_pb2_grpc,
    generic_table_versions_pb2_grpc,
    generic_tables_pb2_grpc,
    names_pb2_grpc,
    namespaces_pb2_grpc,
    project_tasks_pb2_grpc,
    server_pb2_grpc,
    signing_pb2_grpc,
    statistics_pb2_grpc,
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
from lakeward_servicekit.rpc import Caller, Host
from tests.support.settling import as_it_came

WAREHOUSE = "0198e000-0000-7000-8000-000000000001"
PREFIXED = f"/catalog/v1/{WAREHOUSE}"


class Service:
    """Stands in for a servicer: answers by method, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.answers: dict[str, Any] = {}

    def __getattr__(self, method: str) -> Callable[[Any, Any], Any]:
        async def answer(request: Any, call: Any) -> Any:
            del call
            self.asked.append(request)
            answer = self.answers[method]
            if isinstance(answer, BaseException):
                raise answer
            return await answer(request) if callable(answer) else answer

        if not method[:1].isupper():
            raise AttributeError(method)
        return answer


@dataclasses.dataclass
class World:
    """A gateway, and the services behind it.

    Attributes:
        client: speaks HTTP to the gateway.
        authz: every service of authz that the gateway calls.
        catalog: every service of catalog.
        vending: every service of vending that the gateway calls.
        probes: what readiness says.
    """

    client: httpx.AsyncClient
    authz: Service
    catalog: Service
    vending: Service
    probes: list[Probe]

    @property
    def asked(self) -> Any:
        """The one message that the catalog got."""
        (message,) = self.catalog.asked
        return message


def hosts(authz: Any, catalog: Any, vending: Any) -> tuple[Host, Host, Host]:
    """Hosts for servicers that answer every service's methods: of authz, of catalog and of vending."""
    authz_host = Host("authz", settle=as_it_came)
    authz_host.add(authz_audit_pb2_grpc.add_AuditServiceServicer_to_server, authz)
    authz_host.add(authz_events_pb2_grpc.add_EventServiceServicer_to_server, authz)
    authz_host.add(grants_pb2_grpc.add_GrantServiceServicer_to_server, authz)
    authz_host.add(provisioning_pb2_grpc.add_ProvisioningServiceServicer_to_server, authz)
    authz_host.add(roles_pb2_grpc.add_RoleServiceServicer_to_server, authz)
    authz_host.add(users_pb2_grpc.add_UserServiceServicer_to_server, authz)
    catalog_host = Host("catalog", settle=as_it_came)
    for register in (
        generic_table_versions_pb2_grpc.add_GenericTableVersionServiceServicer_to_server,
        generic_tables_pb2_grpc.add_GenericTableServiceServicer_to_server,
        audit_pb2_grpc.add_AuditServiceServicer_to_server,
        cascades_pb2_grpc.add_CascadeServiceServicer_to_server,
        contracts_pb2_grpc.add_ContractServiceServicer_to_server,
        events_pb2_grpc.add_EventServiceServicer_to_server,
        names_pb2_grpc.add_NameServiceServicer_to_server,
        namespaces_pb2_grpc.add_NamespaceServiceServicer_to_server,
        server_pb2_grpc.add_ServerServiceServicer_to_server,
        signing_pb2_grpc.add_SigningServiceServicer_to_server,
        statistics_pb2_grpc.add_StatisticsServiceServicer_to_server,
        tables_pb2_grpc.add_TableServiceServicer_to_server,
        tabulars_pb2_grpc.add_TabularServiceServicer_to_server,
        tags_pb2_grpc.add_TagServiceServicer_to_server,
        tasks_pb2_grpc.add_TaskServiceServicer_to_server,
        project_tasks_pb2_grpc.add_ProjectTaskServiceServicer_to_server,
        views_pb2_grpc.add_ViewServiceServicer_to_server,
        warehouses_pb2_grpc.add_WarehouseServiceServicer_to_server,
    ):
        catalog_host.add(register, catalog)
    vending_host = Host("vending", settle=as_it_came)
    vending_host.add(vending_audit_pb2_grpc.add_AuditServiceServicer_to_server, vending)
    vending_host.add(vending_events_pb2_grpc.add_EventServiceServicer_to_server, vending)
    vending_host.add(vending_pb2_grpc.add_StorageServiceServicer_to_server, vending)
    return authz_host, catalog_host, vending_host


def server_settings(**changes: Any) -> PublicSettings:
    """Settings as an empty environment gives them, with changes."""
    values: dict[str, Any] = {
        "base_uri": None,
        "listen_port": 0,
        "bind_ip": "127.0.0.1",
        "use_x_forwarded_headers": True,
        "trusted_proxies": (ipaddress.ip_network("127.0.0.0/8"),),
        "enable_default_project": True,
        "default_project_id": "00000000-0000-0000-0000-000000000000",
        "serve_swagger_ui": True,
        "prefix_template": "{warehouse_id}",
        "allow_origin": None,
        "max_request_body_size": 64 * 1024,
        "max_request_time": timedelta(seconds=5),
        "body_memory": 1024 * 1024,
        "max_connections": 100,
        "max_connections_per_client": 50,
        "maintenance_mode": "off",
    }
    return PublicSettings(**{**values, **changes})


@asynccontextmanager
async def world(
    *, client_address: str = "203.0.113.7", max_in_flight: int = 100, **settings: Any
) -> AsyncIterator[World]:
    """A gateway over fake services, and a client of it.

    Args:
        client_address: where the client seems to be.
        max_in_flight: see `gateway`.
        settings: changes of the server's settings.
    """
    authz, catalog, vending = Service(), Service(), Service()
    authz_host, catalog_host, vending_host = hosts(authz, catalog, vending)
    probes = [Probe("catalog", "database", healthy=True, checked_at=datetime(2026, 1, 1, tzinfo=UTC))]

    async def readiness() -> list[Probe]:
        return probes

    peers = Peers(
        authz=authz_host.channel(caller=Caller.CALLER_GATEWAY),
        catalog=catalog_host.channel(caller=Caller.CALLER_GATEWAY),
        vending=vending_host.channel(caller=Caller.CALLER_GATEWAY),
    )
    async with gateway(
        GatewaySettings(server_settings(**settings)), peers=peers, readiness=readiness, max_in_flight=max_in_flight
    ) as application:
        transport = httpx.ASGITransport(application, client=(client_address, 5))  # type: ignore[arg-type]
        async with httpx.AsyncClient(
            transport=transport, base_url="http://lake.test", headers={"accept-encoding": "identity"}
        ) as client:
            yield World(client, authz, catalog, vending, probes)


def error_of(response: httpx.Response) -> Mapping[str, Any]:
    """The envelope's inside, after a look at the envelope."""
    document = response.json()
    assert document.keys() == {"error"}
    error: Mapping[str, Any] = document["error"]
    assert error.keys() == {"message", "type", "code", "stack"}
    assert error["code"] == response.status_code
    assert response.headers["content-type"] == "application/json"
    return error
