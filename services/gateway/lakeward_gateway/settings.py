"""What the gateway is told from outside."""

from __future__ import annotations

import dataclasses

from lakeward_servicekit.joints import Joints
from lakeward_servicekit.settings.server import ServerSettings


@dataclasses.dataclass(frozen=True, slots=True)
class GatewaySettings:
    """The gateway's settings.

    Attributes:
        server: where it listens, what it allows, how its links begin.
    """

    server: ServerSettings


@dataclasses.dataclass(frozen=True)
class Alone:
    """Of a process that hosts the gateway alone."""

    joints: Joints
    service: GatewaySettings
