"""What a process that hosts all services is told."""

from __future__ import annotations

import dataclasses

from lakeward_authz.settings import AuthzSettings
from lakeward_catalog.settings import CatalogSettings
from lakeward_gateway.settings import GatewaySettings
from lakeward_servicekit.settings.observability import Observability
from lakeward_vending.settings import VendingSettings


@dataclasses.dataclass(frozen=True)
class EverySetting:
    """Of a process that hosts all services."""

    observability: Observability
    catalog: CatalogSettings
    authz: AuthzSettings
    vending: VendingSettings
    gateway: GatewaySettings
