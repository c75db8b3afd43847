"""The settings that the catalog takes, each class once."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from pathlib import Path
from typing import Final

from lakeward_servicekit.joints import Joints
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.authorization import AuthorizationSettings
from lakeward_servicekit.settings.catalogue import Family, Service
from lakeward_servicekit.settings.model import Contradiction, Settings, setting
from lakeward_servicekit.settings.postgres import PostgresSettings
from lakeward_servicekit.settings.server import IdempotencySettings, PageSettings, ServerSettings
from lakeward_servicekit.settings.storage import SystemIdentitySettings

_CATALOG: Final = frozenset({Service.CATALOG})
LONGEST_RESTORABLE: Final = timedelta(days=3650)  # as domain/warehouse_rules.py has it; settings know no rules


class RequestSettings(ServerSettings, read_by=_CATALOG):
    """What requests mean, and how much one may ask for."""

    added_reserved_namespaces: tuple[str, ...] = setting(
        "RESERVED_NAMESPACES",
        kinds.LIST,
        "",
        "First-level namespaces nobody may create, beside system, examples and information_schema.",
    )
    referenced_by_max_nesting_depth: int = setting(
        "REFERENCED_BY__MAX_NESTING_DEPTH",
        kinds.INTEGER,
        "10",
        "Most views in a chain that a load may name as `referenced-by`.",
    )

    @property
    def reserved_namespaces(self) -> frozenset[str]:
        """First-level namespaces nobody may create, the fixed three among them, as written."""
        return frozenset({"system", "examples", "information_schema", *self.added_reserved_namespaces})


class TaskSettings(Settings, read_by=_CATALOG):
    """Background tasks: how often workers look, how many there are of each kind."""

    poll_interval: timedelta = setting(
        "TASK_POLL_INTERVAL", kinds.DURATION, "10s", "How often a worker looks for tasks."
    )
    soft_deletion_workers: int = setting(
        "TASK_SOFT_DELETION_WORKERS", kinds.INTEGER, "2", "Workers that end the retention of dropped tabulars."
    )
    tabular_purge_workers: int = setting("TASK_TABULAR_PURGE_WORKERS", kinds.INTEGER, "2", "Workers that delete files.")
    expiration_delay: timedelta = setting(
        "DEFAULT_TABULAR_EXPIRATION_DELAY_SECONDS",
        kinds.DURATION,
        "604800",
        "How long what is dropped can be restored, in a warehouse whose soft delete profile does not say; at most ten years.",
    )
    purge_delay: timedelta = setting(
        "PURGE_DELAY",
        kinds.DURATION,
        "60s",
        "How long the files of what was dropped are left alone; Spark's DROP TABLE ... PURGE reads and deletes them meanwhile.",
        family=Family.OURS,
    )

    def __post_init__(self) -> None:
        if not timedelta(0) <= self.expiration_delay <= LONGEST_RESTORABLE:
            raise Contradiction(
                (
                    "DEFAULT_TABULAR_EXPIRATION_DELAY_SECONDS",
                    f"is {self.expiration_delay}; it must be 0 to {LONGEST_RESTORABLE.days} days",
                )
            )


class EventSettings(Settings, read_by=_CATALOG):
    """Where events go. Without an address and a topic, NATS is off."""

    nats_address: str | None = setting(
        "NATS_ADDRESS",
        kinds.url("nats", "tls", "ws", "wss"),
        None,
        "NATS server with JetStream that events are published to.",
    )
    nats_topic: str | None = setting(
        "NATS_TOPIC", kinds.matching(r"[^\s*>]+", "a NATS subject"), None, "First part of events' subjects."
    )
    nats_creds_file: Path | None = setting("NATS_CREDS_FILE", kinds.PATH, None, "Credentials file (JWT and nkey seed).")
    nats_user: str | None = setting("NATS_USER", kinds.TEXT, None, "User.")
    nats_password: SecretStr | None = setting("NATS_PASSWORD", kinds.SECRET, None, "Password of the user.")
    nats_token: SecretStr | None = setting("NATS_TOKEN", kinds.SECRET, None, "Token.")
    log_cloudevents: bool = setting("LOG_CLOUDEVENTS", kinds.BOOLEAN, "false", "Whether each event is logged.")

    def __post_init__(self) -> None:
        wrong: list[tuple[str, str]] = []
        for one, other in (("NATS_ADDRESS", "NATS_TOPIC"), ("NATS_USER", "NATS_PASSWORD")):
            first, second = getattr(self, one.lower()), getattr(self, other.lower())
            if (first is None) != (second is None):
                missing, given = (one, other) if first is None else (other, one)
                wrong.append((missing, f"is missing; {given} is set and needs it"))
        if wrong:
            raise Contradiction(*wrong)


class CatalogEndpoint(Settings, read_by={Service.CATALOG, Service.CLI}):
    """The catalog's own listener."""

    listen: str = setting(
        "CATALOG__LISTEN", kinds.ENDPOINT, "127.0.0.1:8191", "Where catalog serves gRPC.", family=Family.OURS
    )


@dataclasses.dataclass(frozen=True)
class CatalogSettings:
    """The catalog's settings."""

    server: RequestSettings
    pages: PageSettings
    postgres: PostgresSettings
    idempotency: IdempotencySettings
    events: EventSettings
    tasks: TaskSettings
    storage: SystemIdentitySettings
    authorization: AuthorizationSettings


@dataclasses.dataclass(frozen=True)
class Alone:
    """Of a process that hosts the catalog alone."""

    joints: Joints
    endpoint: CatalogEndpoint
    service: CatalogSettings
