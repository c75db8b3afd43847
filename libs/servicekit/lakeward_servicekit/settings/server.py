"""What several services are told of the server as a whole."""

from __future__ import annotations

from datetime import timedelta
from typing import Final, Literal

from lakeward_servicekit.paging import PageSizes
from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Service
from lakeward_servicekit.settings.model import Contradiction, Settings, setting

_PROJECTS: Final = (Service.AUTHZ, Service.CATALOG, Service.VENDING)


class BindSettings(Settings):
    """Where processes listen."""

    bind_ip: str = setting(
        "BIND_IP",
        kinds.IP,
        "0.0.0.0",  # noqa: S104 - the documented default of a drop-in; `lakeward up` listens on loopback
        "Address of the public HTTP APIs and of the metrics; :: for IPv4 and IPv6.",
    )


class ServerSettings(BindSettings):
    """The server as a whole."""

    enable_default_project: bool = setting(
        "ENABLE_DEFAULT_PROJECT",
        kinds.BOOLEAN,
        "true",
        "Whether a request that names no project means the default one.",
        services=_PROJECTS,
    )
    default_project_id: str = setting(
        "DEFAULT_PROJECT_ID",
        kinds.matching(r"[A-Za-z0-9_-]{1,64}", "a project id of 1 to 64 letters, digits, '-' and '_', such as a UUID"),
        "00000000-0000-0000-0000-000000000000",
        "Id of the default project.",
        services=_PROJECTS,
    )
    maintenance_mode: Literal["off", "read-only"] = setting(
        "MAINTENANCE_MODE",
        kinds.word("off", "read-only", spellings={"readonly": "read-only"}),
        "off",
        "read-only refuses every change and stops the background work.",
    )


class PageSettings(Settings, read_by={Service.AUTHZ, Service.CATALOG}):
    """Pages of listings."""

    pagination_size_default: int = setting(
        "PAGINATION_SIZE_DEFAULT", kinds.COUNT, "100", "Entries a page holds if no size is asked for."
    )
    pagination_size_max: int = setting("PAGINATION_SIZE_MAX", kinds.COUNT, "1000", "Most entries a page may hold.")

    @property
    def sizes(self) -> PageSizes:
        """Both."""
        return PageSizes(self.pagination_size_default, self.pagination_size_max)

    def __post_init__(self) -> None:
        if self.pagination_size_default > self.pagination_size_max:
            raise Contradiction(
                (
                    "PAGINATION_SIZE_DEFAULT",
                    f"is {self.pagination_size_default}; it must not exceed the maximum of {self.pagination_size_max}",
                )
            )


class IdempotencySettings(Settings, read_by={Service.AUTHZ, Service.CATALOG}):
    """Idempotency keys. A row may be deleted after `lifetime` and `grace_period`."""

    enabled: bool = setting(
        "IDEMPOTENCY__ENABLED", kinds.BOOLEAN, "true", "Whether idempotency keys are kept and advertised."
    )
    lifetime: timedelta = setting(
        "IDEMPOTENCY__LIFETIME", kinds.DURATION, "PT30M", "How long a key's outcome is promised."
    )
    grace_period: timedelta = setting(
        "IDEMPOTENCY__GRACE_PERIOD", kinds.DURATION, "PT5M", "How much longer it is kept."
    )
    cleanup_timeout: timedelta = setting(
        "IDEMPOTENCY__CLEANUP_TIMEOUT",
        kinds.DURATION,
        "PT30S",
        "Longest time one cleaning takes.",
        services=(Service.CATALOG,),
    )

    def __post_init__(self) -> None:
        if self.enabled and self.lifetime <= timedelta(0):
            raise Contradiction(("IDEMPOTENCY__LIFETIME", "must be longer than nothing, such as PT30M"))
