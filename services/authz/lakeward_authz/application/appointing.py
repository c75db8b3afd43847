"""Making somebody an administrator of the server by whoever operates it, without asking anybody who is one."""

from __future__ import annotations

import dataclasses

from lakeward_authz.application.permissions import Grant, GrantStore, Wanted
from lakeward_authz.domain.permissions.lakeward import ADMIN, OPERATOR
from lakeward_authz.domain.permissions.objects import SERVER, user_subject
from lakeward_authz.domain.user_ids import parse_user_id
from lakeward_servicekit.authorization.principals import UserId


@dataclasses.dataclass(frozen=True, slots=True)
class Appointed:
    """An administrator.

    Attributes:
        anew: whether it was none before.
    """

    user_id: UserId
    anew: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Appointments:
    """Appoints administrators. No permission: it is reached by no call, only by who holds the database.

    The right is a grant like any other: it is told to OpenFGA, shown among the grants of the server, and taken back there.
    """

    grants: GrantStore

    async def __call__(self, user: str, *, operator: bool) -> Appointed:
        """Give a user the server's `admin`, or its `operator`; nothing changes where it has it.

        Args:
            user: an id; of somebody who never called, too.
            operator: may do everything, where an administrator only gives rights, projects and users.

        Raises:
            Refusal: INVALID_USER_ID, DATABASE_UNAVAILABLE.
        """
        user_id = parse_user_id(user)
        grant = Grant(user_subject(user_id), OPERATOR if operator else ADMIN)
        held = await self.grants.on(SERVER, Wanted(subject=grant.subject, relations=[grant.relation]))
        if not held:
            await self.grants.change(SERVER, writes=[grant], deletes=[])
        return Appointed(user_id, anew=not held)
