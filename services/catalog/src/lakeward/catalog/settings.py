"""The settings that the catalog takes, each class once."""

from __future__ import annotations

import dataclasses

from lakeward.servicekit.settings.authorization import AuthorizationSettings
from lakeward.servicekit.settings.events import EventSettings
from lakeward.servicekit.settings.idempotency import IdempotencySettings
from lakeward.servicekit.settings.postgres import PostgresSettings
from lakeward.servicekit.settings.server import ServerSettings
from lakeward.servicekit.settings.storage import StorageSettings
from lakeward.servicekit.settings.tasks import TaskSettings


@dataclasses.dataclass(frozen=True)
class CatalogSettings:
    """The catalog's settings."""

    server: ServerSettings
    postgres: PostgresSettings
    idempotency: IdempotencySettings
    events: EventSettings
    tasks: TaskSettings
    storage: StorageSettings
    authorization: AuthorizationSettings
