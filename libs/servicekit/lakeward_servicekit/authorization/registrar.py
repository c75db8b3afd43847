"""The role that use cases record callers through."""

from __future__ import annotations

import dataclasses
from typing import Protocol

from lakeward_servicekit.authorization.principals import UserId


@dataclasses.dataclass(frozen=True, slots=True)
class Presented:
    """What a request presents to say who it comes from: for recording that caller, and for nothing else.

    Attributes:
        authorization: the `Authorization` value, scheme included; "" for none. A secret.
        request_id: the request's.
        traceparent: W3C trace context; "" for none.
    """

    authorization: str = dataclasses.field(repr=False)
    request_id: str = ""
    traceparent: str = ""


class Registrar(Protocol):
    """Records who calls.

    Each method raises Refusal TOKEN_MISSING, TOKEN_REFUSED, IDENTITY_PROVIDER_UNAVAILABLE, INVALID_USER_ID or
    SERVICE_UNAVAILABLE. With no identity provider, everybody is anonymous.
    """

    async def provision_user(self, presented: Presented) -> UserId | None:
        """Record the caller as a user where it never was; None for the anonymous caller, who is never recorded."""
        ...

    async def bootstrap_administrator(self, presented: Presented, *, is_operator: bool) -> None:
        """Record the caller as the first administrator; again, if it is.

        Also raises ALREADY_BOOTSTRAPPED where another caller was first.
        """
