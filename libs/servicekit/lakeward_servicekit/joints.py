"""What a process that hosts one service is told of the others."""

from __future__ import annotations

import dataclasses

from lakeward_servicekit.settings.observability import Observability
from lakeward_servicekit.settings.services import PeerSettings, TlsSettings, WorkloadSettings


@dataclasses.dataclass(frozen=True)
class Joints:
    """What joins a process that hosts one service to the others."""

    observability: Observability
    peers: PeerSettings
    tls: TlsSettings
    workload: WorkloadSettings
