"""What the gateway is told from outside."""

from __future__ import annotations

import dataclasses

from lakeward_servicekit.settings.server import ServerSettings


@dataclasses.dataclass(frozen=True, slots=True)
class GatewaySettings:
    """The gateway's settings.

    Attributes:
        server: where it listens, what it allows, how its links begin.
    """

    server: ServerSettings
