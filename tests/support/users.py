"""Users that are kept in memory."""

from __future__ import annotations

import dataclasses
from datetime import datetime

from lakeward.authz.application.users import Administrator, User
from lakeward.authz.domain.events import Event
from lakeward.servicekit.authorization.principals import UserId


class FakeUsers:
    """The `UserStore` in memory; `events` holds what its outbox would."""

    def __init__(self) -> None:
        self.rows: dict[UserId, User] = {}
        self.events: list[Event] = []
        self.first: Administrator | None = None

    async def find(self, user_id: UserId) -> User | None:
        return self.rows.get(user_id)

    async def add(self, user: User, *, at: datetime, event: Event) -> bool:
        del at
        if user.user_id in self.rows:
            return False
        self.rows[user.user_id] = user
        self.events.append(event)
        return True

    async def complete(self, user: User, *, at: datetime, event: Event) -> bool:
        del at
        found = self.rows.get(user.user_id)
        if found is None or found.deleted or found.profile.name is not None:
            return False
        self.rows[user.user_id] = dataclasses.replace(user, deleted=False)
        self.events.append(event)
        return True

    async def appoint_first(self, administrator: Administrator, *, at: datetime) -> Administrator:
        del at
        self.first = self.first or administrator
        return self.first
