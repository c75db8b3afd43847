"""What a process says about itself."""

from __future__ import annotations

import dataclasses
from typing import Literal

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Family
from lakeward_servicekit.settings.model import Settings, setting
from lakeward_servicekit.settings.server import BindSettings


class LogSettings(Settings):
    """The log. Format `auto` is text on a terminal and JSON lines elsewhere."""

    with_source: bool = setting(
        "DEBUG__EXTENDED_LOGS",
        kinds.BOOLEAN,
        "false",
        "Whether log lines name file and line.",
        family=Family.UPSTREAM_NEW,
    )
    level: Literal["debug", "info", "warning", "error"] = setting(
        "LOG__LEVEL",
        kinds.word("debug", "info", "warning", "error"),
        "info",
        "Least severe log line.",
        family=Family.OURS,
    )
    format: Literal["auto", "json", "text"] = setting(
        "LOG__FORMAT",
        kinds.word("auto", "json", "text"),
        "auto",
        "JSON lines, or text for people on a terminal.",
        family=Family.OURS,
    )


class MetricsSettings(BindSettings):
    """Metrics, which each process serves by itself."""

    enabled: bool = setting(
        "METRICS__ENABLED",
        kinds.BOOLEAN,
        "true",
        "Whether a process serves metrics.",
        family=Family.OURS,
    )
    port: int = setting(
        "METRICS__PORT",
        kinds.PORT,
        "9000",
        "Port of the metrics, of each process by itself; 0 takes a free one, which the log says. Workers count up from it.",
    )
    own_bind_ip: str | None = setting(
        "METRICS__BIND_IP",
        kinds.IP,
        None,
        "Address of the metrics, where it is not that of BIND_IP.",
        family=Family.OURS,
    )

    @property
    def host(self) -> str:
        """Where metrics are served."""
        return self.own_bind_ip or self.bind_ip


@dataclasses.dataclass(frozen=True)
class Observability:
    """What a process says about itself."""

    log: LogSettings
    metrics: MetricsSettings
