"""Who calls: the roles that know whose a token is and who holds which role, and the use case that asks them."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from lakeward_authz.domain.claims import refused
from lakeward_authz.domain.profiles import Profile
from lakeward_authz.domain.tokens import Unverified, bearer_of, read
from lakeward_servicekit.authorization.identity import OPEN_REVISION
from lakeward_servicekit.authorization.principals import ANONYMOUS, Principal, PrincipalKind, RoleId, UserId
from lakeward_servicekit.errors import Reason, Refusal


@dataclasses.dataclass(frozen=True, slots=True)
class Identification:
    """Whom a token belongs to.

    Attributes:
        profile: None for the anonymous caller.
        expires_at: when the token ends; None: it does not.
        revision: which configuration and keys this came from.
    """

    principal: Principal
    profile: Profile | None
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


class Fit(enum.Enum):
    """Whether a token is one provider's to judge."""

    ANOTHERS = enum.auto()
    # Of its issuer, and for an audience that is not ours.
    FOR_OTHERS = enum.auto()
    # It was never reached, so which issuers are its own is not known.
    UNKNOWN = enum.auto()
    ITS_OWN = enum.auto()


class IdentityProvider(Protocol):
    """An authority whose tokens count."""

    @property
    def trusts(self) -> str:
        """Whose tokens it takes, and for whom, for people: "https://idp (audience lake)". No secret."""
        ...

    @property
    def fingerprint(self) -> str:
        """Equal for equal configuration and keys, in every process."""
        ...

    def fit(self, token: Unverified) -> Fit:
        """Whether a token is its own to judge, by what the token says; asks nobody."""
        ...

    async def identify(self, token: Unverified) -> Identification:
        """Whose one of its own tokens is, once it holds; `revision` is left empty.

        What is answered was found out under the fingerprint that stands when it returns.

        Raises:
            Refusal: TOKEN_REFUSED, INVALID_USER_ID; IDENTITY_PROVIDER_UNAVAILABLE where it is not known.
        """
        ...

    def unavailable(self) -> Refusal:
        """The refusal of whatever needs it while it is away."""
        ...


class TrustedProviders:
    """The `Authenticator` over several providers: the first that a token fits has the only say about it.

    Args:
        providers: in the order in which they are asked; at least one.
    """

    def __init__(self, providers: Sequence[IdentityProvider]) -> None:
        """Ask `providers`; see the class."""
        self._providers: Final = tuple(providers)

    async def identify(self, authorization: str) -> Identification:
        """See `Authenticator`."""
        token = read(bearer_of(authorization))
        identification = await self._owner(token).identify(token)
        # Nothing is awaited in between: this is the state that the answer came from.
        return dataclasses.replace(identification, revision=self._revision())

    def _owner(self, token: Unverified) -> IdentityProvider:
        away: IdentityProvider | None = None
        strict: list[IdentityProvider] = []
        for provider in self._providers:
            match provider.fit(token):
                case Fit.ITS_OWN:
                    return provider
                case Fit.FOR_OTHERS:
                    strict.append(provider)
                case Fit.UNKNOWN:
                    away = away or provider
                case Fit.ANOTHERS:
                    pass
        if strict:
            expected = "; ".join(provider.trusts for provider in strict)
            raise refused("audience", f"it is not for this server, which takes tokens of {expected}")
        if away is not None:
            # A provider that was never reached may use this issuer: that it does not is not known.
            raise away.unavailable()
        trusted = "; ".join(provider.trusts for provider in self._providers)
        raise refused("issuer", f"its issuer {token.issuer[:200]!r} is not one that this server trusts: {trusted}")

    def _revision(self) -> str:
        state = "\n".join(provider.fingerprint for provider in self._providers)
        return f"providers-{hashlib.sha256(state.encode()).hexdigest()[:16]}"


class Everybody:
    """No identity provider is configured: whatever token comes, the caller is anonymous."""

    _IDENTIFIED = Identification(ANONYMOUS, profile=None, expires_at=None, revision=OPEN_REVISION)

    async def identify(self, authorization: str) -> Identification:
        """See `Authenticator`."""
        del authorization
        return self._IDENTIFIED


class RoleMembership(Protocol):
    """Which roles there are, and who holds them."""

    async def may_assume(self, user_id: UserId, role_id: RoleId, *, token_roles: Sequence[str] = ()) -> bool | None:
        """Whether a user holds a role, directly or through roles, or owns it; None where there is no such role.

        It holds the roles of the role's project, too, that are bound to one of `token_roles`.

        Raises:
            Refusal: DATABASE_UNAVAILABLE; never a guess.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Authenticate:
    """Says who calls.

    Attributes:
        authenticator: says whom the token belongs to.
        roles: who holds which.
    """

    authenticator: Authenticator
    roles: RoleMembership

    async def __call__(self, authorization: str, *, assumed_role: str = "") -> Identification:
        """Whom an `Authorization` value belongs to, as the principal that the request acts as.

        Args:
            authorization: as in `Authenticator.identify`.
            assumed_role: UUID of the role that the user wants to act as; "" to act with the user's own rights.

        Raises:
            Refusal: as `Authenticator`; INVALID_ROLE_ID, ASSUMED_ROLE_UNKNOWN, ROLE_NOT_ASSUMABLE.
        """
        identification = await self.authenticator.identify(authorization)
        if not assumed_role:
            return identification
        return dataclasses.replace(
            identification, principal=await self._as_role(identification.principal, _role_id(assumed_role))
        )

    async def _as_role(self, principal: Principal, role_id: RoleId) -> Principal:
        if principal.kind is not PrincipalKind.USER:
            raise _not_assumable(role_id, "nobody is asked who they are here, so nobody holds a role")
        may = await self.roles.may_assume(principal.user_id, role_id, token_roles=principal.token_roles)
        if may is None:
            raise Refusal(
                Reason.REASON_ASSUMED_ROLE_UNKNOWN, f"there is no role {role_id}, so it can't be assumed", role=role_id
            )
        if not may:
            raise _not_assumable(role_id, "you do not hold it")
        return Principal(PrincipalKind.ROLE, principal.user_id, role_id, principal.engines)


def _role_id(text: str) -> RoleId:
    """One text for one role, however its UUID was spelled: principals are told apart by it."""
    try:
        return RoleId(str(UUID(text)))
    except ValueError as error:
        shown = text[:64]
        raise Refusal(
            Reason.REASON_INVALID_ROLE_ID, f"the role to assume is {shown!r}; it must be a role's UUID", role=shown
        ) from error


def _not_assumable(role_id: RoleId, why: str) -> Refusal:
    return Refusal(
        Reason.REASON_ROLE_NOT_ASSUMABLE,
        f"the role {role_id} is not one that you may assume: {why}; leave x-assume-role out to act with your own rights",
        role=role_id,
    )
