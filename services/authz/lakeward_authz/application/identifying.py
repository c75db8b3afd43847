"""The role that says whom a token belongs to, and the use case that asks it."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import Protocol
from uuid import UUID

from lakeward_authz.domain.profiles import Profile
from lakeward_servicekit.authorization.identity import OPEN_REVISION
from lakeward_servicekit.authorization.principals import ANONYMOUS, Principal
from lakeward_servicekit.errors import Reason, Refusal


@dataclasses.dataclass(frozen=True, slots=True)
class Identification:
    """Whom a token belongs to.

    Attributes:
        profile: None for the anonymous caller.
        roles: names that the token gives for the user's roles, as the provider spells them.
        expires_at: when the token ends; None: it does not.
        revision: which configuration and keys this came from.
    """

    principal: Principal
    profile: Profile | None
    roles: tuple[str, ...]
    expires_at: datetime | None
    revision: str


class Authenticator(Protocol):
    """Says whom a token belongs to."""

    async def identify(self, authorization: str) -> Identification:
        """Verify an `Authorization` value, scheme included, or "" where there is none.

        Raises:
            Refusal: TOKEN_MISSING, TOKEN_REFUSED, INVALID_USER_ID; IDENTITY_PROVIDER_UNAVAILABLE where it is not known.
        """
        ...


class Everybody:
    """No identity provider is configured: whatever token comes, the caller is anonymous."""

    _IDENTIFIED = Identification(ANONYMOUS, profile=None, roles=(), expires_at=None, revision=OPEN_REVISION)

    async def identify(self, authorization: str) -> Identification:
        """See `Authenticator`."""
        del authorization
        return self._IDENTIFIED


async def authenticate(authorization: str, assumed_role: str, *, authenticator: Authenticator) -> Identification:
    """Who calls.

    Raises:
        Refusal: as `Authenticator`; INVALID_ROLE_ID, ROLE_NOT_ASSUMABLE.
    """
    identification = await authenticator.identify(authorization)
    if assumed_role:
        _refuse_role(assumed_role)
    return identification


def _refuse_role(role: str) -> None:
    shown = role[:64]
    try:
        UUID(role)
    except ValueError as error:
        raise Refusal(
            Reason.REASON_INVALID_ROLE_ID, f"the role to assume is {shown!r}; it must be a role's UUID", role=shown
        ) from error
    raise Refusal(
        Reason.REASON_ROLE_NOT_ASSUMABLE,
        f"the role {shown} is not one that you may assume; leave x-assume-role out to act with your own rights",
        role=shown,
    )
