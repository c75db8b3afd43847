"""The settings that the catalog takes, each class once."""

from __future__ import annotations

import dataclasses

from lakeward_servicekit.joints import Joints
from lakeward_servicekit.settings.authorization import AuthorizationSettings
from lakeward_servicekit.settings.events import EventSettings
from lakeward_servicekit.settings.idempotency import IdempotencySettings
from lakeward_servicekit.settings.postgres import PostgresSettings
from lakeward_servicekit.settings.server import ServerSettings
from lakeward_servicekit.settings.services import CatalogEndpoint
from lakeward_servicekit.settings.storage import StorageSettings
from lakeward_servicekit.settings.tasks import TaskSettings


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


@dataclasses.dataclass(frozen=True)
class Alone:
    """Of a process that hosts the catalog alone."""

    joints: Joints
    endpoint: CatalogEndpoint
    service: CatalogSettings
