"""Names of audit, metrics and debugging."""

from __future__ import annotations

from typing import Final

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Family, Service, Setting, Support

_GATEWAY: Final = frozenset({Service.GATEWAY})
_CLI: Final = frozenset({Service.CLI})
_PLANNED: Final = Support.PLANNED

SETTINGS: Final = (
    Setting("AUDIT__TRACING__ENABLED", kinds.BOOLEAN, "true", "Whether decisions are logged.", support=_PLANNED),
    Setting(
        "METRICS__TOKIO__REPORT_INTERVAL",
        kinds.DURATION,
        "30s",
        "How often a runtime reported on itself that this server does not have.",
        support=Support.GONE,
    ),
    Setting(
        "DEBUG__LOG_REQUEST_BODIES",
        kinds.BOOLEAN,
        "false",
        "Whether bodies are logged; they hold secrets.",
        support=_PLANNED,
        services=_GATEWAY,
    ),
    Setting(
        "DEBUG__LOG_AUTHORIZATION_HEADER",
        kinds.BOOLEAN,
        "false",
        "Whether bearer tokens are logged; this server never does.",
        support=Support.GONE,
        services=_GATEWAY,
    ),
    Setting(
        "DEBUG__MIGRATE_BEFORE_SERVE",
        kinds.BOOLEAN,
        "false",
        "Whether serve migrates first.",
        family=Family.UPSTREAM_NEW,
        support=_PLANNED,
        services=_CLI,
    ),
    Setting(
        "DEBUG__AUTO_SERVE",
        kinds.BOOLEAN,
        "false",
        "Whether no subcommand means serve.",
        family=Family.UPSTREAM_NEW,
        support=_PLANNED,
        services=_CLI,
    ),
)
