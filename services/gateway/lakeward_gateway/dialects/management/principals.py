"""Users and roles, as the management API names them in queries and in bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from lakeward_gateway.query import Parameter, Query, Text
from lakeward_protocol.authz.v1 import grants_pb2

_USER: Final = Text("principalUser", "A user's id; without it and without a role, the caller is meant.")
_ROLE: Final = Text("principalRole", "A role's id; without it and without a user, the caller is meant.")
PRINCIPAL: Final[Sequence[Parameter]] = (_USER, _ROLE)


class UserOrRole(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """A user or a role: exactly one of the two is given."""

    user: str | None = None
    role: str | None = None


def grantee_of(principal: UserOrRole) -> grants_pb2.Grantee:
    """Whom a body names; whether it names one is for authz to say."""
    return grants_pb2.Grantee(user_id=principal.user, role_id=principal.role)


def shown(grantee: grants_pb2.Grantee) -> UserOrRole:
    """A user or a role as a reply names it."""
    if grantee.HasField("role_id"):
        return UserOrRole(role=grantee.role_id)
    return UserOrRole(user=grantee.user_id)


def queried(query: Query) -> grants_pb2.Grantee | None:
    """Whom a query names; None where it names nobody."""
    user, role = _USER.read(query), _ROLE.read(query)
    if user is None and role is None:
        return None
    return grants_pb2.Grantee(user_id=user, role_id=role)
