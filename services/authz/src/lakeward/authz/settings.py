"""What authz is told at start."""

from __future__ import annotations

import dataclasses

from lakeward.servicekit.settings.authentication import AuthenticationSettings
from lakeward.servicekit.settings.authorization import AuthorizationSettings
from lakeward.servicekit.settings.postgres import PostgresSettings


@dataclasses.dataclass(frozen=True, slots=True)
class AuthzSettings:
    """Everything that authz reads."""

    postgres: PostgresSettings
    authentication: AuthenticationSettings
    authorization: AuthorizationSettings
