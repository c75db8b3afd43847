"""What authz is told at start."""

from __future__ import annotations

import dataclasses

from lakeward_servicekit.joints import Joints
from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.authentication import AuthenticationSettings
from lakeward_servicekit.settings.authorization import AuthorizationSettings
from lakeward_servicekit.settings.catalogue import Family, Service
from lakeward_servicekit.settings.model import Settings, setting
from lakeward_servicekit.settings.postgres import PostgresSettings


class AuthzEndpoint(Settings, read_by={Service.AUTHZ, Service.CLI}):
    """Authz's own listener."""

    listen: str = setting(
        "AUTHZ__LISTEN", kinds.ENDPOINT, "127.0.0.1:8192", "Where authz serves gRPC.", family=Family.OURS
    )


@dataclasses.dataclass(frozen=True, slots=True)
class AuthzSettings:
    """Everything that authz reads."""

    postgres: PostgresSettings
    authentication: AuthenticationSettings
    authorization: AuthorizationSettings


@dataclasses.dataclass(frozen=True)
class Alone:
    """Of a process that hosts authz alone."""

    joints: Joints
    endpoint: AuthzEndpoint
    service: AuthzSettings
