"""What vending is told at start."""

from __future__ import annotations

import dataclasses

from lakeward_servicekit.joints import Joints
from lakeward_servicekit.settings.caches import CacheSettings
from lakeward_servicekit.settings.postgres import PostgresSettings
from lakeward_servicekit.settings.secret_store import SecretSettings
from lakeward_servicekit.settings.server import ServerSettings
from lakeward_servicekit.settings.services import VendingEndpoint
from lakeward_servicekit.settings.storage import StorageSettings


@dataclasses.dataclass(frozen=True, slots=True)
class VendingSettings:
    """Everything that vending reads."""

    server: ServerSettings
    postgres: PostgresSettings
    secrets: SecretSettings
    storage: StorageSettings
    caches: CacheSettings


@dataclasses.dataclass(frozen=True)
class Alone:
    """Of a process that hosts vending alone."""

    joints: Joints
    endpoint: VendingEndpoint
    service: VendingSettings
