"""The role that use cases record callers through."""

from __future__ import annotations

from typing import Protocol

import msgspec

from lakeward_servicekit.authorization.principals import UserId


class Presented(msgspec.Struct, frozen=True, gc=False):
    """What a request presents to say who it comes from: for recording that caller, and for nothing else.

    Attributes:
        authorization: the `Authorization` value, scheme included; "" for none. A secret.
        request_id: the request's.
        traceparent: W3C trace context; "" for none.
    """

    authorization: str
    request_id: str = ""
    traceparent: str = ""

    def __repr__(self) -> str:
        """Without the secret."""
        return f"Presented(request_id={self.request_id!r}, traceparent={self.traceparent!r})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        """The same, for who prints in colour."""
        return [("request_id", self.request_id), ("traceparent", self.traceparent)]


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
