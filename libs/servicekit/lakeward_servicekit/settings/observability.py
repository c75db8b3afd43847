"""What a process says about itself."""

from __future__ import annotations

from typing import Literal

from lakeward_servicekit.settings.model import Settings, named


class LogSettings(Settings):
    """The log. Format `auto` is text on a terminal and JSON lines elsewhere."""

    level: Literal["debug", "info", "warning", "error"] = named("LOG__LEVEL")
    format: Literal["auto", "json", "text"] = named("LOG__FORMAT")
    with_source: bool = named("DEBUG__EXTENDED_LOGS")


class MetricsSettings(Settings):
    """The metrics listener."""

    port: int = named("METRICS__PORT")
