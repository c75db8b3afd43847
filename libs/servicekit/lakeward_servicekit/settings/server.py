"""The public server: where it listens, what it allows, how its links begin."""

from __future__ import annotations

import ipaddress
from datetime import timedelta
from typing import Literal, Self

from pydantic import model_validator

from lakeward_servicekit.settings.model import Contradiction, Settings, named


class ServerSettings(Settings):
    """The public server."""

    base_uri: str | None = named("BASE_URI")
    listen_port: int = named("LISTEN_PORT")
    bind_ip: str = named("BIND_IP")
    use_x_forwarded_headers: bool = named("USE_X_FORWARDED_HEADERS")
    trusted_proxies: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = named("TRUSTED_PROXIES")
    enable_default_project: bool = named("ENABLE_DEFAULT_PROJECT")
    default_project_id: str = named("DEFAULT_PROJECT_ID")
    serve_swagger_ui: bool = named("SERVE_SWAGGER_UI")
    prefix_template: str = named("PREFIX_TEMPLATE")
    allow_origin: tuple[str, ...] | None = named("ALLOW_ORIGIN")
    added_reserved_namespaces: tuple[str, ...] = named("RESERVED_NAMESPACES")
    max_request_body_size: int = named("MAX_REQUEST_BODY_SIZE")
    max_request_time: timedelta = named("MAX_REQUEST_TIME")
    body_memory: int = named("BODY_MEMORY")
    max_connections: int = named("MAX_CONNECTIONS")
    max_connections_per_client: int = named("MAX_CONNECTIONS_PER_CLIENT")
    maintenance_mode: Literal["off", "read-only"] = named("MAINTENANCE_MODE")
    pagination_size_default: int = named("PAGINATION_SIZE_DEFAULT")
    pagination_size_max: int = named("PAGINATION_SIZE_MAX")
    referenced_by_max_nesting_depth: int = named("REFERENCED_BY__MAX_NESTING_DEPTH")

    @property
    def reserved_namespaces(self) -> frozenset[str]:
        """First-level namespaces nobody may create, the fixed three among them, as written."""
        return frozenset({"system", "examples", "information_schema", *self.added_reserved_namespaces})

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.pagination_size_default > self.pagination_size_max:
            raise Contradiction(
                (
                    "PAGINATION_SIZE_DEFAULT",
                    f"is {self.pagination_size_default}; it must not exceed the maximum of {self.pagination_size_max}",
                )
            )
        if self.max_request_time <= timedelta(0):
            raise Contradiction(("MAX_REQUEST_TIME", "must be longer than nothing"))
        return self
