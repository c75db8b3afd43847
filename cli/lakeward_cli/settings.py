"""What a process is told: the settings of the services that it hosts, and of what joins them."""

from __future__ import annotations

import dataclasses

from lakeward_authz.settings import AuthzSettings
from lakeward_catalog.settings import CatalogSettings
from lakeward_gateway.settings import GatewaySettings
from lakeward_servicekit.settings.observability import LogSettings
from lakeward_servicekit.settings.services import (
    AuthzEndpoint,
    CatalogEndpoint,
    PeerSettings,
    TlsSettings,
    VendingEndpoint,
    WorkloadSettings,
)
from lakeward_vending.settings import VendingSettings


@dataclasses.dataclass(frozen=True)
class EverySetting:
    """Of a process that hosts all services."""

    log: LogSettings
    catalog: CatalogSettings
    authz: AuthzSettings
    vending: VendingSettings
    gateway: GatewaySettings


@dataclasses.dataclass(frozen=True)
class Joints:
    """What joins a process that hosts one service to the others."""

    log: LogSettings
    peers: PeerSettings
    tls: TlsSettings
    workload: WorkloadSettings


@dataclasses.dataclass(frozen=True)
class CatalogAlone:
    """Of a process that hosts the catalog."""

    joints: Joints
    endpoint: CatalogEndpoint
    service: CatalogSettings


@dataclasses.dataclass(frozen=True)
class AuthzAlone:
    """Of a process that hosts authz."""

    joints: Joints
    endpoint: AuthzEndpoint
    service: AuthzSettings


@dataclasses.dataclass(frozen=True)
class VendingAlone:
    """Of a process that hosts vending."""

    joints: Joints
    endpoint: VendingEndpoint
    service: VendingSettings


@dataclasses.dataclass(frozen=True)
class GatewayAlone:
    """Of a process that hosts the gateway."""

    joints: Joints
    service: GatewaySettings
