"""Changing the installation."""

from __future__ import annotations

from typing import Final

from lakeward_catalog.adapters.postgres.growth import Growth
from lakeward_catalog.domain.model import Project
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.postgres.pools import Connection

CLOSE_BOOTSTRAP: Final = "update server set bootstrapped = true where not bootstrapped returning server_id"
INSERT_PROJECT: Final = """
insert into project (project_id, name) values ($1, $2) on conflict (project_id) do nothing returning true
"""


class PostgresServerChanges:
    """`ServerChanges` on a connection in a transaction."""

    def __init__(self, connection: Connection, growth: Growth) -> None:
        """Change through `connection`, whose transaction someone else ends; `growth` takes what authz is told."""
        self._connection: Final = connection
        self._growth: Final = growth

    async def bootstrap(self, *, default_project: Project | None, owner: Principal) -> bool:
        """See `ServerChanges`."""
        if await self._connection.fetchval(CLOSE_BOOTSTRAP) is None:
            return False
        if default_project is not None:
            made = await self._connection.fetchval(INSERT_PROJECT, default_project.project_id, default_project.name)
            if made is not None:
                self._growth.project_made(default_project, owner=owner)
        return True
