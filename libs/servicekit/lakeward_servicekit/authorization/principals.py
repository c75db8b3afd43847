"""Who calls."""

from __future__ import annotations

import enum
import hashlib
from typing import Final, NewType

import msgspec

from lakeward_protocol.authz.v1 import principals_pb2 as pb

UserId = NewType("UserId", str)
RoleId = NewType("RoleId", str)


class PrincipalKind(enum.IntEnum):
    """How a caller came to be known; the numbers are the contract's."""

    ANONYMOUS = pb.PRINCIPAL_KIND_ANONYMOUS
    USER = pb.PRINCIPAL_KIND_USER
    ROLE = pb.PRINCIPAL_KIND_ROLE
    SERVICE = pb.PRINCIPAL_KIND_SERVICE


class Principal(msgspec.Struct, frozen=True, gc=False):
    """Who calls.

    Attributes:
        user_id: "<idp>~<subject>" for a user and for who assumed a role; "" for the others.
        role_id: the role that is assumed; "" otherwise.
        engines: names of trusted engines that the token was matched to.
        token_roles: of a user, what its token calls roles that it has, as "oidc~engineers", sorted.
    """

    kind: PrincipalKind
    user_id: UserId = UserId("")
    role_id: RoleId = RoleId("")
    engines: tuple[str, ...] = ()
    token_roles: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """One text per principal, equal for equal rights: it scopes idempotency keys, permits and caches.

        No two principals share it: a user id has a "~" with no space before it, and the other forms don't begin so.
        """
        match self.kind:
            case PrincipalKind.USER if self.token_roles:
                # a user id has no control characters, so no other principal's key has this in it
                return f"{self.user_id}\x1f{hashlib.sha256(repr(self.token_roles).encode()).hexdigest()[:32]}"
            case PrincipalKind.USER:
                return self.user_id
            case PrincipalKind.ROLE:
                return f"role {self.role_id} by {self.user_id}"
            case PrincipalKind.ANONYMOUS:
                return "anonymous"
            case PrincipalKind.SERVICE:
                return "service"


ANONYMOUS: Final = Principal(PrincipalKind.ANONYMOUS)
SERVICE: Final = Principal(PrincipalKind.SERVICE)


def user(user_id: str) -> Principal:
    """The user of an id that was validated."""
    return Principal(PrincipalKind.USER, UserId(user_id))
