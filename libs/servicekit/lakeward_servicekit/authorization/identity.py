"""The role that transports ask whom a request comes from."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import Final, Protocol

from lakeward_protocol.common.v1.context_pb2 import RequestContext
from lakeward_servicekit.authorization.principals import Principal

# The revision of an answer that holds for every caller: no identity provider is configured, so everybody is anonymous.
OPEN_REVISION: Final = "open"


@dataclasses.dataclass(frozen=True, slots=True)
class Identified:
    """Who a request comes from.

    Attributes:
        display_name: a name for people, from the token; None where it gives none.
        expires_at: when the token ends, in UTC; None where it does not.
    """

    principal: Principal
    display_name: str | None = None
    expires_at: datetime | None = None


class Identity(Protocol):
    """Whom requests come from."""

    async def authenticate(self, context: RequestContext) -> Identified:
        """Who calls, by the context's `authorization` and `assumed_role`. With no identity provider, everybody is anonymous.

        Raises Refusal TOKEN_MISSING, TOKEN_REFUSED, IDENTITY_PROVIDER_UNAVAILABLE, INVALID_USER_ID, SERVICE_UNAVAILABLE,
        INVALID_ROLE_ID, ASSUMED_ROLE_UNKNOWN and ROLE_NOT_ASSUMABLE.
        """
        ...
