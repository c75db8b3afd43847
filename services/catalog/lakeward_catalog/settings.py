"""The settings that the catalog takes, each class once."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final
from uuid import UUID

from lakeward_servicekit.joints import Joints
from lakeward_servicekit.secrecy import SecretStr
from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.authorization import AuthorizationSettings
from lakeward_servicekit.settings.catalogue import Family, Service
from lakeward_servicekit.settings.events import EventSettings
from lakeward_servicekit.settings.model import Contradiction, Settings, level, setting
from lakeward_servicekit.settings.postgres import PostgresSettings
from lakeward_servicekit.settings.server import IdempotencySettings, PageSettings, ServerSettings
from lakeward_servicekit.settings.storage import SystemIdentitySettings

_CATALOG: Final = frozenset({Service.CATALOG})
_SHORTEST_SILENCE: Final = timedelta(seconds=10)  # as application/tasks/controlling.py has both
_LONGEST_SILENCE: Final = timedelta(days=1)
_LONGEST_CHECK: Final = timedelta(seconds=20)  # within what a request may take
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


class IdentitySettings(Settings, read_by={Service.CATALOG, Service.CLI}):
    """Which server this is."""

    server_id: UUID | None = setting(
        "SERVER_ID",
        kinds.UUID,
        None,
        "Id that the first migration gives the server, the nil UUID if unset; a start that names another than it has is refused.",
    )


class TaskSettings(Settings, read_by=_CATALOG):
    """Background tasks: how often workers look, how many there are of each kind, and when they are given up."""

    poll_interval: timedelta = setting(
        "TASK_POLL_INTERVAL", kinds.DURATION, "10s", "How often a worker looks for tasks."
    )
    soft_deletion_workers: int = setting(
        "TASK_SOFT_DELETION_WORKERS", kinds.INTEGER, "2", "Workers that end the retention of dropped tabulars."
    )
    tabular_purge_workers: int = setting("TASK_TABULAR_PURGE_WORKERS", kinds.INTEGER, "2", "Workers that delete files.")
    log_cleanup_workers: int = setting("TASK_LOG_CLEANUP_WORKERS", kinds.INTEGER, "2", "Workers that forget old tasks.")
    statistics_workers: int = setting(
        "TASK_STATISTICS_WORKERS", kinds.INTEGER, "1", "Workers that count what warehouses have.", family=Family.OURS
    )
    generic_statistics_workers: int = setting(
        "TASK_GENERIC_STATISTICS_WORKERS",
        kinds.INTEGER,
        "1",
        "Workers that record how much generic tables hold.",
        family=Family.OURS,
    )
    max_attempts: int = setting(
        "TASK_MAX_ATTEMPTS",
        kinds.INTEGER,
        "5",
        "How often a task is begun before it is left as failed; at least once.",
        family=Family.OURS,
    )
    max_silence: timedelta | None = setting(
        "TASK_MAX_SILENCE",
        kinds.DURATION,
        None,
        "After which silence a worker is given up, where the warehouse does not say; unset: as each queue has it.",
        family=Family.OURS,
    )
    cascade_workers: int = setting(
        "TASK_CASCADE_WORKERS",
        kinds.INTEGER,
        "1",
        "Workers that drop namespaces with what is inside, and as many that drop warehouses.",
        family=Family.OURS,
    )
    endpoint_statistics_kept: timedelta = setting(
        "ENDPOINT_STAT_RETENTION",
        kinds.DURATION,
        "P90D",
        "How long counts of requests are kept, by project, warehouse, endpoint, status and hour.",
        family=Family.OURS,
    )
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
        wrong: list[tuple[str, str]] = []
        if not timedelta(0) <= self.expiration_delay <= LONGEST_RESTORABLE:
            name = "DEFAULT_TABULAR_EXPIRATION_DELAY_SECONDS"
            wrong.append((name, f"is {self.expiration_delay}; it must be 0 to {LONGEST_RESTORABLE.days} days"))
        if self.max_silence is not None and not _SHORTEST_SILENCE <= self.max_silence <= _LONGEST_SILENCE:
            wrong.append(("TASK_MAX_SILENCE", f"is {self.max_silence}; it must be 10 seconds to a day"))
        if wrong:
            raise Contradiction(*wrong)


class CheckerSettings(Settings, read_by=_CATALOG):
    """A service that contracts may name as their checker."""

    url: str | None = setting(
        "CONTRACT_CHECKERS__<NAME>__URL",
        kinds.url("http", "https", "grpc", "grpcs"),
        None,
        "Where a checker that contracts name is asked about changes: by a POST to a URL, or by gRPC at grpc(s)://host:port.",
        family=Family.OURS,
    )
    token: SecretStr | None = setting(
        "CONTRACT_CHECKERS__<NAME>__TOKEN",
        kinds.SECRET,
        None,
        "Bearer token that the checker is asked with.",
        family=Family.OURS,
    )
    timeout: timedelta = setting(
        "CONTRACT_CHECKERS__<NAME>__TIMEOUT",
        kinds.DURATION,
        "2s",
        "Longest wait for the checker's answer; at most 20 seconds.",
        family=Family.OURS,
    )
    on_failure: str = setting(
        "CONTRACT_CHECKERS__<NAME>__ON_FAILURE",
        kinds.word("refuse", "allow"),
        "refuse",
        "What becomes of a change that the checker gives no answer to.",
        family=Family.OURS,
    )
    ca_file: Path | None = setting(
        "CONTRACT_CHECKERS__<NAME>__CA_FILE",
        kinds.PATH,
        None,
        "PEM file with the authorities that the checker's certificate may come from.",
        family=Family.OURS,
    )


class ContractSettings(Settings, read_by=_CATALOG):
    """Who is asked about changes."""

    checkers: Mapping[str, CheckerSettings] = level("CONTRACT_CHECKERS__<NAME>", CheckerSettings)

    def __post_init__(self) -> None:
        wrong: list[tuple[str, str]] = []
        for name, checker in self.checkers.items():
            prefix = f"CONTRACT_CHECKERS__{name.upper()}__"
            if checker.url is None:
                wrong.append((f"{prefix}URL", "is missing; a checker needs it"))
            if not timedelta(0) < checker.timeout <= _LONGEST_CHECK:
                wrong.append(
                    (f"{prefix}TIMEOUT", f"is {checker.timeout}; it must be above zero, and at most 20 seconds")
                )
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

    identity: IdentitySettings
    server: RequestSettings
    pages: PageSettings
    postgres: PostgresSettings
    idempotency: IdempotencySettings
    events: EventSettings
    tasks: TaskSettings
    storage: SystemIdentitySettings
    authorization: AuthorizationSettings
    contracts: ContractSettings


@dataclasses.dataclass(frozen=True)
class Alone:
    """Of a process that hosts the catalog alone."""

    joints: Joints
    endpoint: CatalogEndpoint
    service: CatalogSettings
