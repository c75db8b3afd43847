"""Users that are kept in memory."""

from __future__ import annotations

import dataclasses
from datetime import datetime

from lakeward_authz.application.users import Administrator, User
from lakeward_servicekit.authorization.principals import UserId


class FakeUsers:
    """The `UserStore` in memory."""

    def __init__(self) -> None:
        self.rows: dict[UserId, User] = {}
        self.first: Administrator | None = None

    async def find(self, user_id: UserId) -> User | None:
        return self.rows.get(user_id)

    async def add(self, user: User, *, at: datetime) -> bool:
        del at
        if user.user_id in self.rows:
            return False
        self.rows[user.user_id] = user
        return True

    async def complete(self, user: User, *, at: datetime) -> bool:
        del at
        found = self.rows.get(user.user_id)
        if found is None or found.deleted or found.profile.name is not None:
            return False
        self.rows[user.user_id] = dataclasses.replace(user, deleted=False)
        return True

    async def appoint_first(self, administrator: Administrator, *, at: datetime) -> Administrator:
        del at
        self.first = self.first or administrator
        return self.first
