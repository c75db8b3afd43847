"""What authz is told at start."""

from __future__ import annotations

import dataclasses

from lakeward_servicekit.settings.authentication import AuthenticationSettings
from lakeward_servicekit.settings.authorization import AuthorizationSettings
from lakeward_servicekit.settings.postgres import PostgresSettings


@dataclasses.dataclass(frozen=True, slots=True)
class AuthzSettings:
    """Everything that authz reads."""

    postgres: PostgresSettings
    authentication: AuthenticationSettings
    authorization: AuthorizationSettings
