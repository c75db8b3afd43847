"""What a process says about itself."""

from __future__ import annotations

from typing import Literal

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Family
from lakeward_servicekit.settings.model import Settings, setting


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
