"""What vending is told at start."""

from __future__ import annotations

import dataclasses

from lakeward.servicekit.settings.caches import CacheSettings
from lakeward.servicekit.settings.postgres import PostgresSettings
from lakeward.servicekit.settings.secret_store import SecretSettings
from lakeward.servicekit.settings.server import ServerSettings
from lakeward.servicekit.settings.storage import StorageSettings


@dataclasses.dataclass(frozen=True, slots=True)
class VendingSettings:
    """Everything that vending reads."""

    server: ServerSettings
    postgres: PostgresSettings
    secrets: SecretSettings
    storage: StorageSettings
    caches: CacheSettings
