"""Names of the public server, its limits and its storage switches."""

from __future__ import annotations

from typing import Final

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Service, Setting, Support

_GATEWAY: Final = frozenset({Service.GATEWAY})
_CATALOG: Final = frozenset({Service.CATALOG})
_VENDING: Final = frozenset({Service.VENDING})
_LISTENERS: Final = frozenset({Service.GATEWAY, Service.CLI})
_PROJECTS: Final = frozenset({Service.GATEWAY, Service.CATALOG})

SETTINGS: Final = (
    Setting(
        "BASE_URI",
        kinds.HTTP_URL,
        None,
        "How clients reach the server; links in answers begin with it. Wins over every header.",
        services=_GATEWAY,
    ),
    Setting(
        "LISTEN_PORT", kinds.PORT, "8181", "Port of the public HTTP APIs; 0 takes a free one.", services=_LISTENERS
    ),
    Setting(
        "BIND_IP",
        kinds.IP,
        "0.0.0.0",  # noqa: S104 - the documented default of a drop-in; `lakeward up` listens on loopback
        "Address of the public HTTP APIs and of the metrics; :: for IPv4 and IPv6.",
        services=_LISTENERS,
    ),
    Setting(
        "USE_X_FORWARDED_HEADERS",
        kinds.BOOLEAN,
        "true",
        "Whether X-Forwarded-Host, -Proto, -Port and -Prefix count, where a trusted proxy sends them.",
        services=_GATEWAY,
    ),
    Setting(
        "ENABLE_DEFAULT_PROJECT",
        kinds.BOOLEAN,
        "true",
        "Whether a request that names no project means the default one.",
        services=_PROJECTS,
    ),
    Setting(
        "DEFAULT_PROJECT_ID",
        kinds.matching(r"[A-Za-z0-9_-]{1,64}", "a project id of 1 to 64 letters, digits, '-' and '_', such as a UUID"),
        "00000000-0000-0000-0000-000000000000",
        "Id of the default project.",
        services=_PROJECTS,
    ),
    Setting(
        "SERVE_SWAGGER_UI",
        kinds.BOOLEAN,
        "true",
        "Whether pages for people are served: the first one, Swagger UI and the OpenAPI documents.",
        services=_GATEWAY,
    ),
    Setting(
        "PREFIX_TEMPLATE",
        kinds.matching(r"[^\s{}]*\{warehouse_id\}[^\s{}]*", "text that holds {warehouse_id} once"),
        "{warehouse_id}",
        "The `prefix` that the configuration endpoint answers; what stands around {warehouse_id}, a proxy must strip.",
        services=_GATEWAY,
    ),
    Setting(
        "ALLOW_ORIGIN", kinds.LIST, None, "Origins that browsers may call from; * for every origin.", services=_GATEWAY
    ),
    Setting(
        "RESERVED_NAMESPACES",
        kinds.LIST,
        "",
        "First-level namespaces nobody may create, beside system, examples and information_schema.",
        services=_CATALOG,
    ),
    Setting(
        "MAX_REQUEST_BODY_SIZE",
        kinds.integer(minimum=1024, maximum=32 * 1024 * 1024),
        "33554432",
        "Longest request body in bytes; larger ones get 413.",
        services=_GATEWAY,
    ),
    Setting("MAX_REQUEST_TIME", kinds.DURATION, "30s", "Longest time one request may take.", services=_GATEWAY),
    Setting(
        "MAINTENANCE_MODE",
        kinds.word("off", "read-only", spellings={"readonly": "read-only"}),
        "off",
        "read-only refuses every change and stops the background work.",
    ),
    Setting(
        "PAGINATION_SIZE_DEFAULT",
        kinds.COUNT,
        "100",
        "Entries a page holds if no size is asked for.",
        services=_CATALOG,
    ),
    Setting("PAGINATION_SIZE_MAX", kinds.COUNT, "1000", "Most entries a page may hold.", services=_CATALOG),
    Setting(
        "HEALTH_CHECK_FREQUENCY_SECONDS",
        kinds.DURATION,
        "10",
        "How often a service asks whether what it needs is there.",
        support=Support.PLANNED,
    ),
    Setting(
        "ENDPOINT_STAT_FLUSH_INTERVAL",
        kinds.DURATION,
        "30s",
        "How often counts of calls are written to the database.",
        support=Support.PLANNED,
        services=_CATALOG,
    ),
    Setting(
        "SKIP_STORAGE_VALIDATION",
        kinds.BOOLEAN,
        "false",
        "Whether a warehouse's storage is accepted unseen; for tests.",
        services=_VENDING,
    ),
    Setting(
        "REFERENCED_BY__MAX_NESTING_DEPTH",
        kinds.INTEGER,
        "10",
        "Most views in a chain that a load may name as `referenced-by`.",
        services=_CATALOG,
    ),
    Setting(
        "ROLE__MAX_NESTING_DEPTH",
        kinds.INTEGER,
        "10",
        "Longest chain of roles within roles.",
        support=Support.PLANNED,
        services=frozenset({Service.AUTHZ}),
    ),
    Setting(
        "ENABLE_AWS_SYSTEM_CREDENTIALS",
        kinds.BOOLEAN,
        "false",
        "Whether warehouses may use the AWS identity of the vending process.",
        services=_VENDING,
    ),
    Setting(
        "S3_ENABLE_DIRECT_SYSTEM_CREDENTIALS",
        kinds.BOOLEAN,
        "false",
        "Whether they may use it without assuming a role.",
        services=_VENDING,
    ),
    Setting(
        "S3_REQUIRE_EXTERNAL_ID_FOR_SYSTEM_CREDENTIALS",
        kinds.BOOLEAN,
        "true",
        "Whether a role assumed with it needs an external id.",
        services=_VENDING,
    ),
    Setting(
        "ENABLE_AZURE_SYSTEM_CREDENTIALS",
        kinds.BOOLEAN,
        "false",
        "Whether warehouses may use the Azure identity of the vending process.",
        support=Support.PLANNED,
        services=_VENDING,
    ),
    Setting(
        "ENABLE_GCP_SYSTEM_CREDENTIALS",
        kinds.BOOLEAN,
        "false",
        "Whether warehouses may use the Google identity of the vending process.",
        support=Support.PLANNED,
        services=_VENDING,
    ),
)
