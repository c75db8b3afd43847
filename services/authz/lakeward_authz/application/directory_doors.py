"""The way to what people manage here: found by the stores, decided by the authorizer, refused alike where absent or hidden."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from lakeward_authz.domain.roles import no_such_role
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.authorizer import Demand, Need, Outcome, forbidden, refuse
from lakeward_servicekit.authorization.objects import SERVER, ObjectRef
from lakeward_servicekit.errors import Reason, Refusal

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from uuid import UUID

    from lakeward_authz.application.caller import Caller
    from lakeward_authz.application.role_store import RoleStore
    from lakeward_authz.domain.roles import Role, RoleIdent
    from lakeward_servicekit.authorization.authorizer import Authorizer
    from lakeward_servicekit.authorization.principals import UserId


# What a provider does to its roles, and nobody else.
_BY_PROVIDER: Final = frozenset({Action.ROLE_UPDATE, Action.ROLE_UPDATE_SOURCE_SYSTEM, Action.ROLE_GRANT_ASSIGNEE})


@dataclasses.dataclass(frozen=True, slots=True)
class ManagedRoles:
    """Tells roles that a provider keeps from those that people do.

    Attributes:
        providers: that keep theirs themselves.
    """

    roles: RoleStore
    providers: Collection[str]

    async def check(self, role_id: UUID) -> None:
        """Return where people keep a role, or there is none.

        Raises:
            Refusal: ROLE_MANAGED.
        """
        role = await self.roles.find(role_id) if self.providers else None
        if role is not None:
            self.check_ident(role.ident, role_id=str(role_id))

    def check_ident(self, ident: RoleIdent, *, role_id: str) -> None:
        """The same for what a role is called.

        Raises:
            Refusal: ROLE_MANAGED.
        """
        if ident.provider_id in self.providers:
            raise Refusal(
                Reason.REASON_ROLE_MANAGED,
                f"who is in the roles of the provider {ident.provider_id!r} and what they are called is kept by that provider"
                " alone; change it there",
                provider=ident.provider_id,
                role=role_id,
            )


@dataclasses.dataclass(frozen=True, slots=True)
class DirectoryDoors:
    """Opens the server, projects, roles and users for a caller, or refuses.

    Attributes:
        managed: providers that keep their roles themselves.
    """

    authorizer: Authorizer
    roles: RoleStore
    managed: Collection[str] = frozenset()

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

    async def project_id(self, action: Action, *, caller: Caller, project_id: str | None = None) -> str:
        """A project's id: of the one that is given, else that the call names, else of the default one.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, FORBIDDEN.
        """
        project_id = project_id or caller.chosen_project
        demand = Demand(ObjectRef.project(project_id), action)
        await self._need(caller, Need(demand, lambda: no_such_project(project_id)))
        return project_id

    async def project_if_allowed(self, action: Action, *, caller: Caller) -> str | None:
        """The same for what an answer is only richer by; None where it is refused."""
        if caller.project is None:
            return None
        (outcome,) = await self.authorizer.decide(caller.principal, [Demand(ObjectRef.project(caller.project), action)])
        return caller.project if outcome is Outcome.ALLOWED else None

    async def role(self, role_id: UUID, action: Action, *, caller: Caller) -> Role:
        """A role of that project.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_ROLE, FORBIDDEN; ROLE_MANAGED, for what only its provider does to it.
        """
        role = await self._role(role_id, [action], caller=caller)
        if action in _BY_PROVIDER:
            self.check_free(role.ident, role_id=str(role_id))
        return role

    async def sourced_role(self, role_id: UUID, provider_id: str, needs: Sequence[Action], *, caller: Caller) -> Role:
        """A role of that project that a provider keeps, for what that one does to it.

        Raises:
            Refusal: PROJECT_MISSING, FORBIDDEN; NO_SUCH_ROLE, also for one that is not this provider's.
        """
        return await self._role(role_id, needs, caller=caller, provider_id=provider_id)

    def check_free(self, ident: RoleIdent, *, role_id: str = "") -> None:
        """Return where people may call a role so, and change one that is called so.

        Raises:
            Refusal: ROLE_MANAGED.
        """
        ManagedRoles(self.roles, self.managed).check_ident(ident, role_id=role_id)

    async def _role(
        self, role_id: UUID, needs: Sequence[Action], *, caller: Caller, provider_id: str | None = None
    ) -> Role:
        project_id = caller.chosen_project
        role = await self.roles.find(role_id)
        if role is None or role.project_id != project_id or provider_id not in {None, role.ident.provider_id}:
            raise no_such_role(role_id)
        for action in needs:
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
