"""What authz is told at start."""

from __future__ import annotations

import dataclasses

from lakeward_servicekit.joints import Joints
from lakeward_servicekit.settings.authentication import AuthenticationSettings
from lakeward_servicekit.settings.authorization import AuthorizationSettings
from lakeward_servicekit.settings.postgres import PostgresSettings
from lakeward_servicekit.settings.services import AuthzEndpoint


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
