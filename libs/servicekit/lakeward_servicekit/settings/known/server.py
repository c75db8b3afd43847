"""Names of the server that have no effect yet."""

from __future__ import annotations

from typing import Final

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Setting, Support

SETTINGS: Final = (
    Setting(
        "HEALTH_CHECK_FREQUENCY_SECONDS",
        kinds.DURATION,
        "10",
        "How often a service asks whether what it needs is there.",
        support=Support.PLANNED,
    ),
)
