"""Changing projects."""

from __future__ import annotations

from typing import Final

import asyncpg

from lakeward_catalog.adapters.postgres.growth import Growth
from lakeward_catalog.adapters.postgres.rows import PROJECT, project_of
from lakeward_catalog.domain.model import Project, ProjectId
from lakeward_catalog.domain.wording import project_exists, project_not_empty
from lakeward_servicekit.authorization.principals import Principal
from lakeward_servicekit.postgres.pools import Connection

# Not for update: warehouses may be made meanwhile, whose foreign key needs the row to stay.
LOCK: Final = f"select {PROJECT} from project p where p.project_id = $1 for no key update"
INSERT: Final = "insert into project (project_id, name) values ($1, $2)"
FORGET_TASKS: Final = "delete from task_log where in_project = $1"
DELETE: Final = "delete from project where project_id = $1"
RENAME: Final = "update project set name = $2 where project_id = $1"


class PostgresProjectChanges:
    """`ProjectChanges` on a connection in a transaction."""

    def __init__(self, connection: Connection, growth: Growth) -> None:
        """Change through `connection`, whose transaction someone else ends; `growth` takes what authz is told."""
        self._connection: Final = connection
        self._growth: Final = growth

    async def insert(self, project: Project, *, owner: Principal) -> None:
        """See `ProjectChanges`."""
        try:
            await self._connection.execute(INSERT, project.project_id, project.name)
        except asyncpg.UniqueViolationError:
            raise project_exists(project.project_id) from None
        self._growth.project_made(project, owner=owner)

    async def lock(self, project_id: ProjectId) -> Project | None:
        """See `ProjectChanges`."""
        row = await self._connection.fetchrow(LOCK, project_id)
        return None if row is None else project_of(row)

    async def rename(self, project_id: ProjectId, name: str) -> None:
        """See `ProjectChanges`."""
        await self._connection.execute(RENAME, project_id, name)

    async def delete(self, project_id: ProjectId) -> None:
        """See `ProjectChanges`."""
        try:
            await self._connection.execute(DELETE, project_id)
        except asyncpg.ForeignKeyViolationError:
            raise project_not_empty(project_id) from None
        await self._connection.execute(FORGET_TASKS, project_id)
        self._growth.project_gone(project_id)
