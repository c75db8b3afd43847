"""What the gateway is told from outside."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Final

from lakeward_servicekit.joints import Joints
from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Family, Service
from lakeward_servicekit.settings.kinds import Network
from lakeward_servicekit.settings.model import Contradiction, setting
from lakeward_servicekit.settings.provisioning import ScimSettings
from lakeward_servicekit.settings.server import ServerSettings

_LISTENERS = (Service.GATEWAY, Service.CLI)


class PublicSettings(ServerSettings, read_by={Service.GATEWAY}):
    """The public server: where it listens, what it allows, how its links begin."""

    base_uri: str | None = setting(
        "BASE_URI",
        kinds.HTTP_URL,
        None,
        "How clients reach the server; links in answers begin with it. Wins over every header.",
    )
    listen_port: int = setting(
        "LISTEN_PORT",
        kinds.PORT,
        "8181",
        "Port of the public HTTP APIs; 0 takes a free one.",
        services=_LISTENERS,
    )
    use_x_forwarded_headers: bool = setting(
        "USE_X_FORWARDED_HEADERS",
        kinds.BOOLEAN,
        "true",
        "Whether X-Forwarded-Host, -Proto, -Port and -Prefix count, where a trusted proxy sends them.",
    )
    trusted_proxies: tuple[Network, ...] = setting(
        "TRUSTED_PROXIES",
        kinds.NETWORKS,
        "127.0.0.0/8,::1/128",
        "Networks whose forwarded headers are believed.",
        family=Family.OURS,
    )
    serve_swagger_ui: bool = setting(
        "SERVE_SWAGGER_UI",
        kinds.BOOLEAN,
        "true",
        "Whether pages for people are served: the first one, Swagger UI and the OpenAPI documents.",
    )
    prefix_template: str = setting(
        "PREFIX_TEMPLATE",
        kinds.matching(r"[^\s{}]*\{warehouse_id\}[^\s{}]*", "text that holds {warehouse_id} once"),
        "{warehouse_id}",
        "The `prefix` that the configuration endpoint answers; what stands around {warehouse_id}, a proxy must strip.",
    )
    allow_origin: tuple[str, ...] | None = setting(
        "ALLOW_ORIGIN", kinds.LIST, None, "Origins that browsers may call from; * for every origin."
    )
    max_request_body_size: int = setting(
        "MAX_REQUEST_BODY_SIZE",
        kinds.integer(minimum=1024, maximum=32 * 1024 * 1024),
        "33554432",
        "Longest request body in bytes; larger ones get 413.",
    )
    max_request_time: timedelta = setting(
        "MAX_REQUEST_TIME", kinds.DURATION, "30s", "Longest time one request may take."
    )
    endpoint_stat_flush_interval: timedelta = setting(
        "ENDPOINT_STAT_FLUSH_INTERVAL",
        kinds.DURATION,
        "30s",
        "How often counts of requests are written to the database.",
    )
    body_memory: int = setting(
        "BODY_MEMORY",
        kinds.integer(minimum=1024 * 1024),
        "100663296",
        "Bytes of request bodies, inflated, that one process holds at once; more is refused with 429.",
        family=Family.OURS,
    )
    max_connections: int = setting(
        "MAX_CONNECTIONS",
        kinds.integer(minimum=16, maximum=1_000_000),
        "4096",
        "Connections that one process keeps; for a further one an idle one is closed, else it is refused with 429.",
        family=Family.OURS,
    )
    max_connections_per_client: int = setting(
        "MAX_CONNECTIONS_PER_CLIENT",
        kinds.integer(minimum=16, maximum=1_000_000),
        "1024",
        "The same, of one address; trusted proxies have no bound of their own.",
        family=Family.OURS,
    )

    def __post_init__(self) -> None:
        if self.max_request_time <= timedelta(0):
            raise Contradiction(("MAX_REQUEST_TIME", "must be longer than nothing"))
        if self.endpoint_stat_flush_interval < timedelta(seconds=1):
            raise Contradiction(("ENDPOINT_STAT_FLUSH_INTERVAL", "must be at least a second"))


NO_SCIM: Final = ScimSettings(enabled=False, idp_id="oidc", user_id="externalId")


@dataclasses.dataclass(frozen=True, slots=True)
class GatewaySettings:
    """The gateway's settings.

    Attributes:
        server: where it listens, what it allows, how its links begin.
        scim: whether SCIM is served.
    """

    server: PublicSettings
    scim: ScimSettings = NO_SCIM


@dataclasses.dataclass(frozen=True)
class Alone:
    """Of a process that hosts the gateway alone."""

    joints: Joints
    service: GatewaySettings
