"""The way to what people manage here: found by the stores, decided by the authorizer, refused alike where absent or hidden."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lakeward_authz.domain.roles import no_such_role
from lakeward_servicekit.authorization.authorizer import Demand, Need, Outcome, forbidden, refuse
from lakeward_servicekit.authorization.objects import SERVER, ObjectRef
from lakeward_servicekit.errors import Reason, Refusal

if TYPE_CHECKING:
    from uuid import UUID

    from lakeward_authz.application.caller import Caller
    from lakeward_authz.application.roles import RoleStore
    from lakeward_authz.domain.roles import Role
    from lakeward_servicekit.authorization.actions import Action
    from lakeward_servicekit.authorization.authorizer import Authorizer
    from lakeward_servicekit.authorization.principals import UserId


@dataclasses.dataclass(frozen=True, slots=True)
class DirectoryDoors:
    """Opens the server, projects, roles and users for a caller, or refuses."""

    authorizer: Authorizer
    roles: RoleStore

    async def server(self, action: Action, *, caller: Caller) -> None:
        """The server, which is there for everybody.

        Raises:
            Refusal: FORBIDDEN.
        """
        await self._need(caller, Need(Demand(SERVER, action), lambda: forbidden(action)))

    async def user(self, user_id: UserId, action: Action, *, caller: Caller) -> None:
        """A user: the caller itself, whatever role it assumes, or another one by a right on the server.

        Raises:
            Refusal: FORBIDDEN.
        """
        if caller.user_id != user_id:
            await self.server(action, caller=caller)

    async def project(self, action: Action, *, caller: Caller) -> str:
        """The project that the call names, else the default one; its id.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN.
        """
        project_id = caller.chosen_project
        demand = Demand(ObjectRef.project(project_id), action)
        await self._need(caller, Need(demand, lambda: no_such_project(project_id)))
        return project_id

    async def role(self, role_id: UUID, action: Action, *, caller: Caller) -> Role:
        """A role of that project.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_ROLE, FORBIDDEN.
        """
        project_id = caller.chosen_project
        role = await self.roles.find(role_id)
        if role is None or role.project_id != project_id:
            raise no_such_role(role_id)
        demand = Demand(ObjectRef.role(project_id, role_id), action)
        await self._need(caller, Need(demand, lambda: no_such_role(role_id)))
        return role

    async def _need(self, caller: Caller, need: Need) -> None:
        (outcome,) = await self.authorizer.decide(caller.principal, [need.demand])
        if outcome is not Outcome.ALLOWED:
            refuse(need, outcome)


def no_such_project(project_id: str) -> Refusal:
    """The refusal of a project that is absent or hidden."""
    return Refusal(
        Reason.REASON_NO_SUCH_PROJECT,
        f"there is no project {project_id!r} that you can see",
        project=project_id,
    )
